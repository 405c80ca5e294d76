-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- tpcc: its options, the names of its tables, and the random values of its
-- specification, TPC-C 5.11. The clauses are named in comments. Used by
-- tests/lua/tpcc.lua and by sb/tpcc_commands.lua.

local rand = sysbench.rand

local M = {
   DISTRICTS = 10,   -- per warehouse
   DELIVERED = 0.7,  -- share of the first orders that are delivered
   LINES_MIN = 5, LINES_MAX = 15, -- lines per order
}

-- In this order, tables that a foreign key refers to precede those with the
-- key.
M.tables = {"warehouse", "district", "customer", "history", "item", "stock",
   "orders", "new_orders", "order_line"}

-- Types of transactions in the order of clause 5.2.3. limit: of the 90th
-- percentile of the response time, in seconds; share: the minimum share of the
-- mix, in percent; keying and thinking: times in seconds (clause 5.2.5).
M.transactions = {
   {name = "new_order", weight = 10, limit = 5, keying = 18, thinking = 12},
   {name = "payment", weight = 10, limit = 5, share = 43, keying = 3,
      thinking = 12},
   {name = "order_status", weight = 1, limit = 5, share = 4, keying = 2,
      thinking = 10},
   {name = "delivery", weight = 1, limit = 5, share = 4, keying = 2,
      thinking = 5},
   {name = "stock_level", weight = 1, limit = 20, share = 4, keying = 2,
      thinking = 5},
}

-- Options --------------------------------------------------------------------

-- name = {help, default, min, max}
local integers = {
   tables = {"Number of sets of the nine tables", 1, 1, 1000},
   warehouses = {"Warehouses per set of tables", 1, 1, 1e5},
   items = {"Items, and stocks per warehouse; the specification has 100000",
      100000, 100, 1e6},
   customers = {"Customers per district, and orders per district that " ..
      "prepare creates; the specification has 3000", 3000, 10, 1e5},
}

local numbers = {
   terminal_keying = {"Keying times of the specification, multiplied by " ..
      "this; 0: none", 0, 0, 1000},
   terminal_thinking = {"Think times of the specification, multiplied by " ..
      "this; 0: none", 0, 0, 1000},
}

for _, t in ipairs(M.transactions) do
   numbers[t.name] = {"Weight of " .. t.name:gsub("_", "-") ..
      " transactions in the mix", t.weight, 0, 1e6}
end

local function declare()
   local cmdline = sysbench.cmdline
   local options = {
      home = {"Home warehouse of a user: random (drawn for each " ..
         "transaction) or fixed (user n has warehouse n)", "random",
         cmdline.ARG_STRING},
      foreign_keys = {"Create and use the foreign keys", false,
         cmdline.ARG_BOOL},
      check = {"Check the consistency conditions after a run, as the " ..
         "command check does", false, cmdline.ARG_BOOL},
      pipeline = {"Send statements that do not depend on each other " ..
         "together, as far as the client library supports it", false,
         cmdline.ARG_BOOL},
      table_prefix = {"Beginning of the names of the tables", "tpcc",
         cmdline.ARG_STRING},
      history_key = {"Give the table history a primary key, which the " ..
         "specification does not have: for servers that require one", false,
         cmdline.ARG_BOOL},
   }
   require("sb.settings").declare(options, integers)
   for name, o in pairs(numbers) do
      options[name] = {o[1], o[2], cmdline.ARG_DOUBLE}
   end
   return options
end

-- Returns the value for sysbench.cmdline.options; only that of the main state
-- is used.
function M.declarations()
   return sysbench.cmdline.main_state and declare() or {}
end

local prefix = "tpcc" -- of the names of tables

-- Raises an error if an option has an invalid value. Returns opt.
function M.normalize(opt)
   local bounds, total = {}, 0
   for _, list in ipairs{integers, numbers} do
      for name, o in pairs(list) do
         bounds[name] = {o[3], o[4]}
      end
   end
   local checks = require("sb.bounds")
   checks.check(opt, bounds)
   checks.one_of(opt, "home", {"random", "fixed"})
   if not opt.table_prefix:match("^[%a_][%w_]*$") then
      error("--table-prefix must consist of letters, digits and '_', and " ..
         "not begin with a digit, not '" .. opt.table_prefix .. "'", 0)
   end
   prefix = opt.table_prefix
   for _, t in ipairs(M.transactions) do
      total = total + opt[t.name]
   end
   if total == 0 then
      error("the weights of all five kinds of transactions are 0", 0)
   end
   return opt
end

local DECK_MAX = 1000 -- cards

-- Returns whether transactions are drawn from a deck: if the weights are
-- numbers of cards.
function M.has_deck(opt)
   local cards, whole = 0, true
   for _, t in ipairs(M.transactions) do
      cards = cards + opt[t.name]
      whole = whole and opt[t.name] % 1 == 0
   end
   return whole and cards <= DECK_MAX
end

-- Returns the number of orders per district that are delivered when prepare has
-- completed: 2100 of 3000.
function M.delivered(opt)
   return math.floor(opt.customers * M.DELIVERED)
end

function M.set_name(n)
   return prefix .. n
end

-- Returns the name of a table of set n.
function M.name(n, name)
   return prefix .. n .. "_" .. name
end

-- Replaces each $name in a statement by the name of that table of set n.
function M.sql(n, text)
   return (text:gsub("%$([%a_]+)", function(name)
      return M.name(n, name)
   end))
end

-- Random values --------------------------------------------------------------

-- Clause 2.1.6: the range A of the non-uniform random numbers.
local A_NAME, A_CUSTOMER, A_ITEM = 255, 1023, 8191

-- Their constants C. C_LOAD is that of the last names that prepare draws;
-- M.run_constants() draws those of a run.
local C_LOAD = 157

-- Clause 2.1.6: the non-uniform random number of the range [x, y].
local function nurand(a, x, y, c)
   local v = bit.bor(rand.uniform(0, a), rand.uniform(x, y))
   return (v + c) % (y - x + 1) + x
end

-- Clause 2.1.6.1: the difference from C_LOAD is 65 to 119, but not 96 or 112.
local function valid_delta(delta)
   return delta >= 65 and delta <= 119 and delta ~= 96 and delta ~= 112
end

-- Draws the constants of a run, the same for all users. set: the number of a
-- random stream that no table uses.
function M.run_constants(stream)
   local name
   rand.row(stream, 1)
   repeat
      name = rand.uniform(0, A_NAME)
   until valid_delta(math.abs(name - C_LOAD))
   local constants = {name = name, customer = rand.uniform(0, A_CUSTOMER),
      item = rand.uniform(0, A_ITEM)}
   rand.resume()
   return constants
end

local SYLLABLES = {"BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI",
   "CALLY", "ATION", "EING"}

local names = {}

-- Clause 4.3.2.3: the last name of a number from 0 to 999.
function M.last_name(n)
   local name = names[n]
   if not name then
      name = SYLLABLES[math.floor(n / 100) + 1] ..
         SYLLABLES[math.floor(n / 10) % 10 + 1] .. SYLLABLES[n % 10 + 1]
      names[n] = name
   end
   return name
end

-- Returns the last name of a customer: prepare gives each of the first 1000 of
-- a district another one.
function M.draw_last_name(opt, c)
   return M.last_name(nurand(A_NAME, 0, math.min(opt.customers, 1000) - 1, c))
end

-- The last name of customer `id` of a district, for prepare.
function M.loaded_last_name(opt, id)
   return id <= 1000 and M.last_name(id - 1) or M.draw_last_name(opt, C_LOAD)
end

function M.draw_customer(opt, constants)
   return nurand(A_CUSTOMER, 1, opt.customers, constants.customer)
end

function M.draw_item(opt, constants)
   return nurand(A_ITEM, 1, opt.items, constants.item)
end

return M
