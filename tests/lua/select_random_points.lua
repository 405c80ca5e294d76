#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- One SELECT per event, with --random-points values of k in an IN list. It was
-- written to test how segmented key caches scale.

require("oltp_common")
local segments = require("sb.segments")

segments.declare{
   random_points = {"Number of values in the IN list", 10,
      sysbench.cmdline.ARG_INT, min = 1},
}

segments.run("random_points", function(opt)
   return "SELECT id, k, c, pad FROM sbtest1 WHERE k IN (" ..
      ("?, "):rep(opt.random_points - 1) .. "?)"
end, function(points, first, last)
   for i = 1, #points do
      points[i]:set(sysbench.rand.default(first, last))
   end
end)
