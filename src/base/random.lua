-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.rand: random numbers of this user. Ranges are inclusive.

local sb = ...
local ffi, C, turn = sb.ffi, sb.C, sb.turn

sb.cdef("random")

local buffer, size = nil, 0
local rand = {}

-- Distributions -----------------------------------------------------------

function rand.default(a, b)
   return C.sb_random_default(turn.random, a, b)
end

function rand.uniform(a, b)
   return C.sb_random_uniform(turn.random, a, b)
end

function rand.gaussian(a, b)
   return C.sb_random_gaussian(turn.random, a, b)
end

function rand.special(a, b)
   return C.sb_random_special(turn.random, a, b)
end

function rand.pareto(a, b)
   return C.sb_random_pareto(turn.random, a, b)
end

function rand.zipfian(a, b)
   return C.sb_random_zipfian(turn.random, a, b)
end

-- Distributions of YCSB.
function rand.scrambled_zipfian(a, b)
   return C.sb_random_scrambled_zipfian(turn.random, a, b)
end

function rand.latest(a, b)
   return C.sb_random_latest(turn.random, a, b)
end

function rand.unique()
   return C.sb_random_unique(turn.random)
end

-- For sb_rand_uniq() of 0.5.
function rand.unique_in(a, b)
   return C.sb_random_unique_in(turn.random, a, b)
end

function rand.uniform_uint64()
   return C.sb_random_uint64(turn.random)
end

function rand.uniform_double()
   return C.sb_random_double(turn.random)
end

-- Numbers that depend on a key: a row, a number ---------------------------

-- Until rand.resume(), numbers depend only on the seed, the table and the
-- row.
function rand.row(table, id)
   C.sb_random_row(turn.random, table, id)
end

-- Continues the user's own stream.
function rand.resume()
   C.sb_random_resume(turn.random)
end

-- The hash of YCSB.
function rand.fnv(v)
   return C.sb_random_fnv(v)
end

-- Returns the value that replaces v in a permutation of [a, b].
function rand.scatter(v, a, b, key)
   return C.sb_random_scatter(turn.random, v, a, b, key or 0)
end

-- Texts -------------------------------------------------------------------

local function room(n)
   if n > size then
      size = 2 * n > 256 and 2 * n or 256
      buffer = ffi.new("char[?]", size)
   end
   return buffer
end

function rand.string(format)
   local n = #format
   local out = room(n)
   C.sb_random_string(turn.random, format, n, out)
   return ffi.string(out, n)
end

-- Raises an error unless both can be lengths.
local function check(name, min, max)
   if not (min >= 0 and max >= 0) then
      error(("%s(%s, %s): a length is negative"):format(name, min, max), 3)
   end
end

function rand.varstring(min, max)
   check("varstring", min, max)
   local out = room(math.max(min, max))
   return ffi.string(out, C.sb_random_varstring(turn.random, min, max, out))
end

-- Returns min to max digits and letters.
function rand.alphanumeric(min, max)
   check("alphanumeric", min, max)
   local n = C.sb_random_uniform(turn.random, min, max)
   local out = room(n)
   C.sb_random_alphanumeric(turn.random, n, out)
   return ffi.string(out, n)
end

return rand
