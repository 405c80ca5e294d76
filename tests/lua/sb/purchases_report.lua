-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- iibench: its lines in the reports.

local purchases = require("sb.purchases")

local M = {}

local before = 0 -- rows inserted before this interval

local function size(opt)
   local rows = 0
   for n = 1, opt.tables do
      local inserted, deleted, _, gaps = purchases.size_of(opt, n)
      rows = rows + inserted:last() - deleted:last() - gaps:last()
   end
   return rows
end

-- Returns the label of a size that is computed from ids instead of counted.
local function by(s)
   return s.guessed:last() > 0 and " by ids" or ""
end

-- Returns the line for an interval or for the final report.
function M.line(stat, final)
   local opt = sysbench.opt
   local s = purchases.sequences()
   local inserted, deleted = s.inserted:last(), s.deleted:last()
   if final then
      return string.format("Rows inserted: %.0f (%.2f per sec.), deleted: " ..
         "%.0f, in the tables%s: %.0f", inserted,
         inserted / math.max(stat.time_total + opt.warmup_time, 1e-9), deleted,
         by(s), size(opt))
   end
   local rate = (inserted - before) / math.max(stat.time_interval, 1e-9)
   before = inserted
   return string.format("rows/s: %.2f rows%s: %.0f", rate, by(s),
      size(opt))
end

return M
