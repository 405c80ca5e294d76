-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Functions of sysbench.rand: distributions.

local sb = ...
local C = sb.C
local r, rand = sb.random_ptr, sb.module("random")

sb.cdef("random", "sb_random_gaussian sb_random_special sb_random_pareto " ..
        "sb_random_zipfian sb_random_scrambled_zipfian sb_random_latest " ..
        "sb_random_uint64 sb_random_double")

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

-- Distributions of YCSB.
function rand.scrambled_zipfian(a, b)
   return C.sb_random_scrambled_zipfian(r, a, b)
end

function rand.latest(a, b)
   return C.sb_random_latest(r, a, b)
end

function rand.uniform_uint64()
   return C.sb_random_uint64(r)
end

function rand.uniform_double()
   return C.sb_random_double(r)
end
