-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.sequence(): numbers that all states of a script share.

local sb = ...
local ffi, C = sb.ffi, sb.C

sb.cdef("sequence")

local all = ffi.cast("struct sb_sequences *", sb.sequences)
local sequence = {}

-- The first of n numbers.
function sequence:next(n)
   n = n or 1
   if n < 1 or n ~= n then
      error("a sequence gives 1 number at least", 2)
   end
   return C.sb_sequence_next(self, n)
end

function sequence:last()
   return C.sb_sequence_last(self)
end

ffi.metatype("struct sb_sequence", {
   __index = sequence,
   __tostring = function() return "<sequence>" end
})

-- name: any text. after: no number up to it is given out from now on.
return function(name, after)
   local q = C.sb_sequence_get(all, name, after or 0)
   if q == nil then
      error("not enough memory", 2)
   end
   return q
end
