#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One SELECT per event that counts the rows in --number-of-ranges ranges of k.
-- It was written to test how segmented key caches scale.

require("oltp_common")
local segments = require("sb.segments")

local int = sysbench.cmdline.ARG_INT

segments.declare{
   number_of_ranges = {"Number of ranges in the WHERE clause", 10, int,
      min = 1},
   delta = {"Last value of a range minus its first", 5, int, min = 0},
}

segments.run("random_ranges", function(opt)
   return "SELECT count(k) FROM sbtest1 WHERE " ..
      ("k BETWEEN ? AND ? OR "):rep(opt.number_of_ranges - 1) ..
      "k BETWEEN ? AND ?"
end, function(edges, first, last)
   for i = 1, #edges, 2 do
      local from = sysbench.rand.default(first, last)
      edges[i]:set(from)
      edges[i + 1]:set(from + sysbench.opt.delta)
   end
end)
