-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.rand: random numbers of this user. Ranges are inclusive.

local sb = ...
local ffi, C = sb.ffi, sb.C

sb.cdef("random")

local r = ffi.cast("struct sb_random *", sb.random)
local buffer, size = nil, 0
local rand = {}

local function room(n)
   if n > size then
      size = math.max(256, 2 * n)
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

function rand.gaussian(a, b)
   return C.sb_random_gaussian(r, a, b)
end

function rand.special(a, b)
   return C.sb_random_special(r, a, b)
end

function rand.pareto(a, b)
   return C.sb_random_pareto(r, a, b)
end

function rand.zipfian(a, b)
   return C.sb_random_zipfian(r, a, b)
end

function rand.unique()
   return C.sb_random_unique(r)
end

function rand.uniform_uint64()
   return C.sb_random_uint64(r)
end

function rand.uniform_double()
   return C.sb_random_double(r)
end

function rand.string(format)
   local n = #format
   local out = room(n)
   C.sb_random_string(r, format, n, out)
   return ffi.string(out, n)
end

function rand.varstring(min, max)
   local out = room(math.max(min, max))
   return ffi.string(out, C.sb_random_varstring(r, min, max, out))
end

-- From here on numbers depend on the seed, the table and the row only ...
function rand.row(table, id)
   C.sb_random_row(r, table, id)
end

-- ... until here.
function rand.resume()
   C.sb_random_resume(r)
end

sb.random_ptr = r

return rand
