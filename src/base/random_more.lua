-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Functions of sysbench.rand that few scripts call.

local sb = ...
local ffi, C = sb.ffi, sb.C
local r, room = sb.random_ptr, sb.random_room

sb.cdef("random")

return function(rand)
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

   -- The distributions and the hash of YCSB.
   function rand.scrambled_zipfian(a, b)
      return C.sb_random_scrambled_zipfian(r, a, b)
   end

   function rand.latest(a, b)
      return C.sb_random_latest(r, a, b)
   end

   function rand.fnv(v)
      return C.sb_random_fnv(v)
   end

   -- Returns the value that replaces v in a permutation of [a, b].
   function rand.scatter(v, a, b, key)
      return C.sb_random_scatter(r, v, a, b, key or 0)
   end

   function rand.uniform_uint64()
      return C.sb_random_uint64(r)
   end

   function rand.uniform_double()
      return C.sb_random_double(r)
   end

   function rand.varstring(min, max)
      local out = room(math.max(min, max))
      return ffi.string(out, C.sb_random_varstring(r, min, max, out))
   end

   -- Returns min to max digits and letters.
   function rand.alphanumeric(min, max)
      local n = C.sb_random_uniform(r, min, max)
      local out = room(n)
      C.sb_random_alphanumeric(r, n, out)
      return ffi.string(out, n)
   end

   -- Until rand.resume(), numbers depend only on the seed, the table and the
   -- row.
   function rand.row(table, id)
      C.sb_random_row(r, table, id)
   end

   -- Continues the user's own stream.
   function rand.resume()
      C.sb_random_resume(r)
   end
end
