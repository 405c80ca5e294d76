-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Functions of sysbench.rand: texts of random length.

local sb = ...
local ffi, C = sb.ffi, sb.C
local r, room = sb.random_ptr, sb.random_room
local rand = sb.module("random")

sb.cdef("random", "sb_random_varstring sb_random_alphanumeric")

-- Raises an error unless both can be lengths.
local function check(name, min, max)
   if not (min >= 0 and max >= 0) then
      error(("%s(%s, %s): a length is negative"):format(name, min, max), 3)
   end
end

function rand.varstring(min, max)
   check("varstring", min, max)
   local out = room(math.max(min, max))
   return ffi.string(out, C.sb_random_varstring(r, min, max, out))
end

-- Returns min to max digits and letters.
function rand.alphanumeric(min, max)
   check("alphanumeric", min, max)
   local n = C.sb_random_uniform(r, min, max)
   local out = room(n)
   C.sb_random_alphanumeric(r, n, out)
   return ffi.string(out, n)
end
