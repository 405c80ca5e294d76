-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.rand: random numbers of this user. Ranges are inclusive.

local sb = ...
local ffi, C = sb.ffi, sb.C

-- Other functions are in random_*.lua, because declarations and code use memory
-- in every user.
sb.cdef("random", "sb_random_default sb_random_uniform sb_random_unique " ..
        "sb_random_string")

local r = ffi.cast("struct sb_random *", sb.random)
local buffer, size = nil, 0
local rand = {}

local function room(n)
   if n > size then
      size = 2 * n > 256 and 2 * n or 256
      buffer = ffi.new("char[?]", size)
   end
   return buffer
end

function rand.default(a, b)
   return C.sb_random_default(r, a, b)
end

function rand.uniform(a, b)
   return C.sb_random_uniform(r, a, b)
end

function rand.unique()
   return C.sb_random_unique(r)
end

function rand.string(format)
   local n = #format
   local out = room(n)
   C.sb_random_string(r, format, n, out)
   return ffi.string(out, n)
end

sb.random_ptr, sb.random_room = r, room

return setmetatable(rand, sb.extended{
   [rand] = "random_dist random_key random_text"
})
