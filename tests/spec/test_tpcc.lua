-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The random values of tpcc (tests/lua/sb/tpcc.lua) against the distributions
-- of the specification, clause 2.1.6.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")
local tpcc = require("sb.tpcc")

local DRAWS = 300000

-- Returns the probabilities of (((0..a | x..y) + c) % (y - x + 1)) + x, by all
-- pairs.
local function probabilities(a, x, y, c)
   local p, pairs_of_values = {}, (a + 1) * (y - x + 1)
   for v = x, y do
      p[v] = 0
   end
   for i = 0, a do
      for j = x, y do
         local v = (bit.bor(i, j) + c) % (y - x + 1) + x
         p[v] = p[v] + 1 / pairs_of_values
      end
   end
   return p
end

-- Pearson's test: compares counts with the expected ones. Values with a small
-- expected count are one class.
local function fits(what, counts, p, x, y)
   local chi, classes, rest, rest_expected = 0, 0, 0, 0
   local function class(count, expected)
      chi = chi + (count - expected) ^ 2 / expected
      classes = classes + 1
   end
   for v = x, y do
      local expected, count = p[v] * DRAWS, counts[v] or 0
      if expected >= 10 then
         class(count, expected)
      else
         rest, rest_expected = rest + count, rest_expected + expected
      end
   end
   if rest_expected >= 10 then
      class(rest, rest_expected)
   end
   local freedom = classes - 1
   local limit = freedom + 4.5 * math.sqrt(2 * freedom)
   tap.ok(chi < limit, what .. " have their distribution",
          string.format("chi-square %.1f of %d classes, limit %.1f", chi,
                        classes, limit))
end

local function non_uniform(what, draw, a, x, y, c)
   local counts, outside = {}, 0
   for _ = 1, DRAWS do
      local v = draw()
      counts[v] = (counts[v] or 0) + 1
      outside = outside + ((v < x or v > y) and 1 or 0)
   end
   tap.is(outside, 0, what .. " are in their range")
   fits(what, counts, probabilities(a, x, y, c), x, y)
end

local function numbers()
   local opt = {customers = 3000, items = 2000}
   for _, c in ipairs{{0, 0, 0}, {255, 1023, 8191}, {90, 333, 4567}} do
      local constants = {name = c[1], customer = c[2], item = c[3]}
      non_uniform("customers", function()
         return tpcc.draw_customer(opt, constants)
      end, 1023, 1, 3000, c[2])
      non_uniform("items", function()
         return tpcc.draw_item(opt, constants)
      end, 8191, 1, 2000, c[3])
   end
end

local function last_names()
   tap.is(tpcc.last_name(371), "PRICALLYOUGHT",
          "the last name of the specification's example")
   tap.is(tpcc.last_name(40), "BARPRESBAR", "a last name with leading zeros")
   local number = {}
   for i = 0, 999 do
      number[tpcc.last_name(i)] = i
   end
   non_uniform("last names", function()
      return number[tpcc.draw_last_name({customers = 3000}, 123)]
   end, 255, 0, 999, 123)
   tap.is(tpcc.loaded_last_name({customers = 3000}, 1000), "EINGEINGEING",
          "the last of the first 1000 customers")
end

-- Clause 2.1.6.1: the constant of a run differs from that of prepare by 65 to
-- 119, but not by 96 or 112.
local function constants()
   local seen, different, wrong = {}, 0, 0
   for stream = 100000, 103000 do
      local name = tpcc.run_constants(stream).name
      local delta = math.abs(name - 157)
      if delta < 65 or delta > 119 or delta == 96 or delta == 112 or
         name < 0 or name > 255
      then
         wrong = wrong + 1
      end
      different = different + (seen[name] and 0 or 1)
      seen[name] = true
   end
   tap.is(wrong, 0, "constants of runs have a valid difference")
   tap.is(different, 86, "all valid constants are drawn")
   local a, b = tpcc.run_constants(0), tpcc.run_constants(0)
   tap.ok(a.name == b.name and a.customer == b.customer and a.item == b.item,
          "all users draw the same constants")
end

function event()
   tap.run(function()
      numbers()
      last_names()
      constants()
   end)
   return true
end
