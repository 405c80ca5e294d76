-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.sequence(): sequences that all states of a script share.

local sb = ...
local ffi, C = sb.ffi, sb.C

sb.cdef("sequence")

local all = ffi.cast("struct sb_sequences *", sb.sequences)
local sequence = {}

-- nil would be a null pointer in C.
local function own(self, name)
   if type(self) ~= "cdata" then
      error(("%s() was called without a sequence: write seq:%s(...), " ..
         "with a colon"):format(name, name), 3)
   end
end

-- Takes n numbers and returns the first.
function sequence:next(n)
   own(self, "next")
   n = n or 1
   if n < 1 or n ~= n then
      error("sequence:next(): the minimum is 1 number", 2)
   end
   return C.sb_sequence_next(self, n)
end

function sequence:last()
   own(self, "last")
   return C.sb_sequence_last(self)
end

ffi.metatype("struct sb_sequence", {
   __index = sequence,
   __tostring = function() return "<sequence>" end
})

-- name: any text. after: the sequence returns only greater numbers from now on.
return function(name, after)
   if type(name) ~= "string" then
      error("the name of a sequence must be a string", 2)
   end
   local q = C.sb_sequence_get(all, name, after or 0)
   if q == nil then
      error("out of memory", 2)
   end
   return q
end
