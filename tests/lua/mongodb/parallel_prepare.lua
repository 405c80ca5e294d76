#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Prepares collections by the run command, as old scripts did:
--
--    sysbench --test=mongodb/parallel_prepare.lua --num-threads=N
--        --max-requests=N --oltp-tables-count=T run
--
-- Thread t makes collections t + 1, t + 1 + N and so on. The prepare command,
-- here and in all other scripts, shares the work better.

require("sb.doc_workload").declare{
   commands = "sb.doc_oltp_commands",
   options = function() return {} end,
}

local done = false

local function build()
   if done then
      return
   end
   done = true
   local opt = require("sb.doc_options").settle(sysbench.opt)
   require("sb.doc_commands").build(require("sb.doc_tables").derive{}, opt,
      sysbench.tid + 1, opt.threads)
end

function init()
end

function thread_init()
end

-- One event a thread.
function event()
   if done then
      return true
   end
   build()
end

-- For a thread that another one left no event for.
function thread_done()
   build()
end
