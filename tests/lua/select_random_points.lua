#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One SELECT per event, with --random-points values of k in an IN list. It was
-- written to test how segmented key caches scale.

require("oltp_common")

local mix = require("sb.mix")
local segments = require("sb.segments")

segments.declare{
   random_points = {"Number of values in the IN list", 10,
      sysbench.cmdline.ARG_INT},
}

local select_points, points, first, last

function thread_init()
   local opt = segments.settings()
   drv = sysbench.sql.driver()
   con = drv:connect()
   local types = {}
   for i = 1, opt.random_points do
      types[i] = {type = sysbench.sql.type.INT}
   end
   select_points, points = mix.prepared(con,
      "SELECT id, k, c, pad FROM sbtest1 WHERE k IN ("
      .. ("?, "):rep(opt.random_points - 1) .. "?)", types, "random_points")
   first, last = segments.bounds(opt)
   if opt.pipeline then
      require("sb.pipelined").wrap()
   end
end

function thread_done()
   select_points:close()
   con:disconnect()
end

function event()
   for i = 1, #points do
      points[i]:set(sysbench.rand.default(first, last))
   end
   select_points:execute()
end
