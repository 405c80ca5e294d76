-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Functions of sysbench.rand whose results depend on a key: a row, a number.

local sb = ...
local C = sb.C
local r, rand = sb.random_ptr, sb.module("random")

sb.cdef("random", "sb_random_row sb_random_resume sb_random_fnv " ..
        "sb_random_scatter sb_random_unique_in")

-- Until rand.resume(), numbers depend only on the seed, the table and the
-- row.
function rand.row(table, id)
   C.sb_random_row(r, table, id)
end

-- Continues the user's own stream.
function rand.resume()
   C.sb_random_resume(r)
end

-- For sb_rand_uniq() of 0.5.
function rand.unique_in(a, b)
   return C.sb_random_unique_in(r, a, b)
end

-- The hash of YCSB.
function rand.fnv(v)
   return C.sb_random_fnv(v)
end

-- Returns the value that replaces v in a permutation of [a, b].
function rand.scatter(v, a, b, key)
   return C.sb_random_scatter(r, v, a, b, key or 0)
end
