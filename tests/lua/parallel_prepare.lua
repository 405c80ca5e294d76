#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Prepares tables by the run command, as in sysbench 0.5:
--
--    sysbench --test=parallel_prepare.lua --num-threads=N --max-requests=N
--        --oltp-tables-count=T run
--
-- Thread t makes tables t + 1, t + 1 + N and so on. The prepare command, here
-- and in all other scripts, shares the work better.

require("sb.legacy").declare{event = function() end}

local dialect = require("sb.dialect")
local old_names = require("sb.old_names")
local tables = require("sb.build")

require("sb.once").declare(function()
   local opt = old_names.from_old(sysbench.opt)
   if opt.pipeline then
      error("parallel_prepare loads its rows in bulk, which a pipeline " ..
         "has no part in: leave out --oltp-pipeline", 0)
   end
   local drv = sysbench.sql.driver()
   require("sb.databases").visit(drv, function(con)
      for n = sysbench.tid + 1, opt.tables, sysbench.opt.threads do
         tables.build(con, dialect.of(drv), opt, n)
      end
   end)
end)
