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

require("sb.legacy").declare{event = function() end}

local dialect = require("sb.dialect")
local old_names = require("sb.old_names")
local tables = require("sb.build")

require("sb.once").declare(function()
   local opt = old_names.from_old(sysbench.opt)
   if opt.pipeline then
      error("parallel_prepare cannot be used with --oltp-pipeline: bulk " ..
         "loads are not pipelined", 0)
   end
   local drv = sysbench.sql.driver()
   require("sb.databases").visit(drv, function(con)
      for n = sysbench.tid + 1, opt.tables, sysbench.opt.threads do
         tables.build(con, dialect.of(drv), opt, n)
      end
   end)
end)
