#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Prepares tables with the run command, as in sysbench 0.5:
--
--    sysbench --test=parallel_prepare.lua --num-threads=N --max-requests=N
--        --oltp-tables-count=T run
--
-- Thread t creates tables t + 1, t + 1 + N and so on. The prepare command, here
-- and in all other scripts, distributes the work better.

local dialect = require("sb.dialect")
local legacy = require("sb.legacy")
local old_names = require("sb.old_names")
local sbtest = require("sb.sbtest")
local tables = require("sb.tables")

local done = false

local function create_tables()
   done = true
   local opt = old_names.from_old(sysbench.opt)
   if opt.pipeline then
      error("parallel_prepare cannot be used with --oltp-pipeline: bulk " ..
         "loads are not pipelined", 0)
   end
   local drv = sysbench.sql.driver()
   tables.connect_to_each_database(drv, function(con)
      for n = sysbench.tid + 1, opt.tables, sysbench.opt.threads do
         tables.build(con, dialect.of(drv), opt, sbtest.description(), n)
      end
   end)
end

legacy.declare{event = function() end} -- options and commands

function thread_init()
end

-- Each thread creates its tables as its event, or at its end if other threads
-- executed all events.
function event()
   if done then
      return true
   end
   create_tables()
end

function thread_done()
   if not done then
      create_tables()
   end
end
