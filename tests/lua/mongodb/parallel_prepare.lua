#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Prepares collections with the run command, as old scripts did:
--
--    sysbench --test=mongodb/parallel_prepare.lua --num-threads=N
--        --max-requests=N --oltp-tables-count=T run
--
-- Thread t creates collections t + 1, t + 1 + N and so on. The prepare command,
-- here and in all other scripts, distributes the work better.

local collections = require("sb.mongodb.collections")

sysbench.cmdline.options = collections.options{}

local documents = collections.describe{}
collections.declare_commands(documents)

local done = false

local function create_collections()
   done = true
   collections.build(documents, collections.settings(), sysbench.tid + 1,
      sysbench.opt.threads)
end

function thread_init()
end

-- Each thread creates its collections as its event, or at its end if other
-- threads executed all events.
function event()
   if done then
      return true
   end
   create_collections()
end

function thread_done()
   if not done then
      create_collections()
   end
end
