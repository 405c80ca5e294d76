-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The functions of sysbench.rand that draw an integer from a to b. All types of
-- --rand-type are among them (tests/spec/test_rand.lua).

return {"default", "uniform", "gaussian", "special", "pareto", "zipfian",
   "scrambled_zipfian", "latest"}
