-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.histogram: a histogram of a script's own values, in buckets that
-- grow by a constant factor from min to max. Values out of range are counted
-- in the first or last bucket.

local sb = ...
local ffi = sb.ffi
local histogram, methods = {}, {}
local meta = { __index = methods }
local floor, log, exp, max, min = math.floor, math.log, math.exp, math.max,
   math.min

function histogram.new(size, range_min, range_max)
   if size < 2 or range_min <= 0 or range_max <= range_min then
      error("histogram.new(buckets, min, max) requires buckets >= 2 and " ..
         "0 < min < max", 2)
   end
   local low = log(range_min)
   return setmetatable({
      size = size, low = low, factor = (size - 1) / (log(range_max) - low),
      counts = ffi.new("double[?]", size)
   }, meta)
end

function methods:update(value)
   local i = 0
   if value > 0 then
      i = floor((log(value) - self.low) * self.factor + 0.5)
   end
   i = max(0, min(self.size - 1, i))
   self.counts[i] = self.counts[i] + 1
end

function methods:print()
   local counts, top = self.counts, 0
   for i = 0, self.size - 1 do
      top = max(top, counts[i])
   end
   if top == 0 then
      return
   end
   print("       value  ------------- distribution ------------- count")
   for i = 0, self.size - 1 do
      if counts[i] > 0 then
         local stars = ("*"):rep(floor(counts[i] / top * 40 + 0.5))
         print(("%12.3f |%-40s %.0f"):format(
               exp(i / self.factor + self.low), stars, counts[i]))
      end
   end
end

return histogram
