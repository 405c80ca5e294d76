#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One SELECT per event that counts the rows in --number-of-ranges ranges of k.
-- It was written to test how segmented key caches scale.

require("oltp_common")

local mix = require("sb.mix")
local segments = require("sb.segments")

segments.declare{
   number_of_ranges = {"Number of ranges in the WHERE clause", 10,
      sysbench.cmdline.ARG_INT},
   delta = {"Last value of a range minus its first", 5,
      sysbench.cmdline.ARG_INT},
}

local select_ranges, edges, first, last

function thread_init()
   local opt = segments.settings()
   drv = sysbench.sql.driver()
   con = drv:connect()
   local types = {}
   for i = 1, opt.number_of_ranges * 2 do
      types[i] = {type = sysbench.sql.type.INT}
   end
   select_ranges, edges = mix.prepared(con,
      "SELECT count(k) FROM sbtest1 WHERE "
      .. ("k BETWEEN ? AND ? OR "):rep(opt.number_of_ranges - 1)
      .. "k BETWEEN ? AND ?", types, "random_ranges")
   first, last = segments.bounds(opt)
   if opt.pipeline then
      require("sb.pipelined").wrap()
   end
end

function thread_done()
   select_ranges:close()
   con:disconnect()
end

function event()
   local delta = sysbench.opt.delta
   for i = 1, #edges, 2 do
      local from = sysbench.rand.default(first, last)
      edges[i]:set(from)
      edges[i + 1]:set(from + delta)
   end
   select_ranges:execute()
end
