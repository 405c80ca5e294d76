-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The random values of tpcc (tests/lua/tpcc.lua) against the distributions of
-- the specification, clause 2.1.6: the workload runs on a driver that records
-- the parameters of statements.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")

-- The driver -----------------------------------------------------------------

local received = {} -- functions by operation: get the values of parameters

local statement = {}
statement.__index = statement

function statement.bind_create()
   return {set = function(parameter, value) parameter.value = value end}
end

function statement:bind_param(...)
   self.parameters = {...}
end

function statement:execute()
   local f = received[self.operation]
   if f then
      local p = self.parameters
      f(p[1].value, p[2] and p[2].value, p[3] and p[3].value)
   end
end

local connection = {disconnect = function() end}

function connection.prepare(_, _, operation)
   return setmetatable({operation = operation}, statement)
end

local driver = {
   dialect = function() return "null" end,
   connect = function() return connection end,
}

-- The workload ---------------------------------------------------------------

local workload = os.getenv("SB_SRCDIR") .. "/tests/lua/tpcc.lua"
local uniform, row = sysbench.rand.uniform, sysbench.rand.row

-- Loads the workload and sets its options: the defaults, and those given.
local function load_workload(options)
   sysbench.sql.driver = function() return driver end
   sysbench.cmdline.options = {}
   dofile(workload)
   for name, option in pairs(sysbench.cmdline.options) do
      sysbench.opt[name] = option[2]
   end
   for name, value in pairs(options) do
      sysbench.opt[name] = value
   end
end

local start, one_event -- thread_init() and event() of the workload

-- Only transactions of this kind, with these constants of the non-uniform
-- random numbers.
local function open(kind, options, constants)
   load_workload(options)
   for _, name in ipairs{"new_order", "payment", "order_status", "delivery",
      "stock_level"}
   do
      sysbench.opt[name] = name == kind and 1 or 0
   end
   start, one_event = thread_init, event
   local left = {unpack(constants or {})}
   function sysbench.rand.uniform(a, b)
      return table.remove(left, 1) or uniform(a, b)
   end
   start(0)
   sysbench.rand.uniform = uniform
end

-- Distributions --------------------------------------------------------------

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
local function fits(what, counts, draws, p, x, y)
   local chi, classes, rest, rest_expected = 0, 0, 0, 0
   local function class(count, expected)
      chi = chi + (count - expected) ^ 2 / expected
      classes = classes + 1
   end
   for v = x, y do
      local expected, count = p[v] * draws, counts[v] or 0
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

-- Returns an object that counts values, and checks them: their range is x to y.
local function counter(what, a, x, y, c)
   local counts, draws, outside = {}, 0, 0
   return {
      add = function(v)
         draws = draws + 1
         if v and v >= x and v <= y then
            counts[v] = (counts[v] or 0) + 1
         else
            outside = outside + 1
         end
      end,
      check = function()
         tap.ok(draws > 50000, "enough " .. what, draws)
         tap.is(outside, 0, what .. " are in their range")
         fits(what, counts, draws, probabilities(a, x, y, c), x, y)
      end,
   }
end

local function customers_and_items(c_name, c_customer, c_item)
   open("new_order", {customers = 3000, items = 2000},
      {c_name, c_customer, c_item})
   local customers = counter("customers", 1023, 1, 3000, c_customer)
   local items = counter("items", 8191, 1, 2000, c_item)
   received = {
      customer_discount = function(_, _, id) customers.add(id) end,
      item = function(id)
         if id ~= 2001 then -- the item that does not exist
            items.add(id)
         end
      end,
   }
   for _ = 1, 60000 do
      one_event(0)
   end
   received = {}
   customers.check()
   items.check()
end

-- Clause 4.3.2.3.
local function numbers_of_names()
   local syllables = {[0] = "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE",
      "ANTI", "CALLY", "ATION", "EING"}
   local list = {}
   for i = 0, 9 do
      for j = 0, 9 do
         for k = 0, 9 do
            list[syllables[i] .. syllables[j] .. syllables[k]] =
               i * 100 + j * 10 + k
         end
      end
   end
   return list
end

local function last_names(c_name, c_customer)
   open("order_status", {customers = 3000, items = 2000},
      {c_name, c_customer, 0})
   local number_of = numbers_of_names()
   tap.is(number_of.PRICALLYOUGHT, 371, "the specification's example")
   local names = counter("last names", 255, 0, 999, c_name)
   local ids = counter("customers by number", 1023, 1, 3000, c_customer)
   received = {
      customer_by_name = function(_, _, name) names.add(number_of[name]) end,
      customer_by_id = function(_, _, id) ids.add(id) end,
   }
   for _ = 1, 200000 do
      one_event(0)
   end
   received = {}
   names.check()
   ids.check()
end

-- Constants ------------------------------------------------------------------

-- Returns the constants that a user draws if the stream of random numbers for
-- them is another one.
local function constants_of(stream)
   local drawn = {}
   function sysbench.rand.row(_, id)
      row(stream, id)
   end
   function sysbench.rand.uniform(a, b)
      local v = uniform(a, b)
      drawn[b] = drawn[b] or {}
      drawn[b].last = v
      return v
   end
   start(0)
   sysbench.rand.row, sysbench.rand.uniform = row, uniform
   return drawn[255].last, drawn[1023].last, drawn[8191].last
end

-- Clause 2.1.6.1: the constant of a run differs from that of prepare by 65 to
-- 119, but not by 96 or 112.
local function constants()
   open("payment", {})
   local seen, different, wrong = {}, 0, 0
   for stream = 100000, 103000 do
      local name = constants_of(stream)
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
   local name, customer, item = constants_of(0)
   uniform(1, 10)
   local name_2, customer_2, item_2 = constants_of(0)
   tap.ok(name == name_2 and customer == customer_2 and item == item_2,
          "all users draw the same constants")
end

function event()
   tap.run(function()
      customers_and_items(92, 0, 0)
      customers_and_items(250, 1023, 8191)
      customers_and_items(90, 333, 4567)
      last_names(80, 333)
      constants()
   end)
   return true
end
