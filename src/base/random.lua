-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.rand: random numbers of this user. Ranges are inclusive.

local sb = ...
local ffi, C, turn = sb.ffi, sb.C, sb.turn

sb.cdef("random")

local buffer, size = nil, 0
local rand = {}

-- Raises an error if one of the arguments is neither a number nor a 64-bit
-- integer. level: as in error(). Callers ask are_numbers() first, which costs
-- nothing in compiled code.
local function require_numbers(name, level, ...)
   for i = 1, select("#", ...) do
      local value = (select(i, ...))
      local kind = type(value)
      if kind ~= "number" and not (kind == "cdata" and tonumber(value)) then
         error(("%s() requires a number as argument %d, not %s"):format(name, i,
            kind == "string" and "the string '" .. value .. "'" or
            value == nil and "nil" or "a " .. kind), level)
      end
   end
end

local function are_numbers(a, b)
   return type(a) == "number" and type(b) == "number"
end

-- Distributions -----------------------------------------------------------

function rand.default(a, b)
   if not are_numbers(a, b) then
      require_numbers("default", 3, a, b)
   end
   return C.sb_random_default(turn.random, a, b)
end

function rand.uniform(a, b)
   if not are_numbers(a, b) then
      require_numbers("uniform", 3, a, b)
   end
   return C.sb_random_uniform(turn.random, a, b)
end

function rand.gaussian(a, b)
   if not are_numbers(a, b) then
      require_numbers("gaussian", 3, a, b)
   end
   return C.sb_random_gaussian(turn.random, a, b)
end

function rand.special(a, b)
   if not are_numbers(a, b) then
      require_numbers("special", 3, a, b)
   end
   return C.sb_random_special(turn.random, a, b)
end

function rand.pareto(a, b)
   if not are_numbers(a, b) then
      require_numbers("pareto", 3, a, b)
   end
   return C.sb_random_pareto(turn.random, a, b)
end

function rand.zipfian(a, b)
   if not are_numbers(a, b) then
      require_numbers("zipfian", 3, a, b)
   end
   return C.sb_random_zipfian(turn.random, a, b)
end

-- Distributions of YCSB.
function rand.scrambled_zipfian(a, b)
   if not are_numbers(a, b) then
      require_numbers("scrambled_zipfian", 3, a, b)
   end
   return C.sb_random_scrambled_zipfian(turn.random, a, b)
end

function rand.latest(a, b)
   if not are_numbers(a, b) then
      require_numbers("latest", 3, a, b)
   end
   return C.sb_random_latest(turn.random, a, b)
end

function rand.unique()
   return C.sb_random_unique(turn.random)
end

-- For sb_rand_uniq() of 0.5.
function rand.unique_in(a, b)
   if not are_numbers(a, b) then
      require_numbers("unique_in", 3, a, b)
   end
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
   if not are_numbers(table, id) then
      require_numbers("row", 3, table, id)
   end
   C.sb_random_row(turn.random, table, id)
end

-- Continues the user's own stream.
function rand.resume()
   C.sb_random_resume(turn.random)
end

-- The hash of YCSB.
function rand.fnv(v)
   if type(v) ~= "number" then
      require_numbers("fnv", 3, v)
   end
   return C.sb_random_fnv(v)
end

-- Returns the value that replaces v in a permutation of [a, b].
function rand.scatter(v, a, b, key)
   key = key or 0
   if not (are_numbers(v, a) and are_numbers(b, key)) then
      require_numbers("scatter", 3, v, a, b, key)
   end
   return C.sb_random_scatter(turn.random, v, a, b, key)
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
   if type(format) ~= "string" then
      error("string() requires a string, not " ..
               (format == nil and "nil" or "a " .. type(format)), 2)
   end
   local n = #format
   local out = room(n)
   C.sb_random_string(turn.random, format, n, out)
   return ffi.string(out, n)
end

-- Raises an error unless both can be lengths.
local function check(name, min, max)
   if not are_numbers(min, max) then
      require_numbers(name, 4, min, max)
   end
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
