#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Order entry of a wholesale supplier: the tables and the five transactions of
-- TPC-C 5.11, whose clauses the comments name. Results are not TPC-C results:
-- see docs/workloads/tpcc.md.
--
-- A set of tables (tpcc1_warehouse, tpcc1_district ...) has --warehouses with
-- 10 districts each. A district has --customers, who order some of the --items
-- and pay for them. An event is one transaction: new_order, payment,
-- order_status, delivery or stock_level.

local check = require("sb.check")
local dialect = require("sb.dialect")
local options = require("sb.options")
local retry = require("sb.retry")
local tables = require("sb.tables")
local weights = require("sb.weights")

local rand, floor, format = sysbench.rand, math.floor, string.format

local DISTRICTS = 10 -- per warehouse
local LINES_MIN, LINES_MAX = 5, 15 -- per order

-- The transactions in the order of clause 5.2.3. weight: in the mix; share: its
-- minimum in percent; limit: of the 90th percentile of the response time, in
-- seconds; keying and thinking: times in seconds (clause 5.2.5).
local transactions = {
   {name = "new_order", weight = 10, limit = 5, keying = 18, thinking = 12},
   {name = "payment", weight = 10, share = 43, limit = 5, keying = 3,
      thinking = 12},
   {name = "order_status", weight = 1, share = 4, limit = 5, keying = 2,
      thinking = 10},
   {name = "delivery", weight = 1, share = 4, limit = 5, keying = 2,
      thinking = 5},
   {name = "stock_level", weight = 1, share = 4, limit = 20, keying = 2,
      thinking = 5},
}
local new_order, payment, order_status, delivery, stock_level =
   unpack(transactions)

-- Options --------------------------------------------------------------------

local int, double = sysbench.cmdline.ARG_INT, sysbench.cmdline.ARG_DOUBLE

local function validate_prefix(_, value)
   if not value:match("^[%a_][%w_]*$") then
      error("--table-prefix must consist of letters, digits and '_', and " ..
         "not begin with a digit, not '" .. value .. "'", 0)
   end
   return true
end

sysbench.cmdline.options = options.with_table_options{
   tables = {"Number of sets of the nine tables", 1, int, min = 1, max = 1000},
   warehouses = {"Warehouses per set of tables", 1, int, min = 1, max = 1e5},
   items = {"Items, and stocks per warehouse; the specification has 100000",
      100000, int, min = 100, max = 1e6},
   customers = {"Customers per district, and orders per district that " ..
      "prepare creates; the specification has 3000", 3000, int, min = 10,
      max = 1e5},
   home = {"Home warehouse of a user: random (drawn for each transaction) " ..
      "or fixed (user n has warehouse n)", "random",
      values = {"random", "fixed"}},
   terminal_keying = {"Keying times of the specification, multiplied by " ..
      "this; 0: none", 0, double, min = 0, max = 1000},
   terminal_thinking = {"Think times of the specification, multiplied by " ..
      "this; 0: none", 0, double, min = 0, max = 1000},
   foreign_keys = {"Create and use the foreign keys", false},
   check = {"Check the consistency conditions after a run, as the command " ..
      "check does", false},
   pipeline = {"Send statements that do not depend on each other together, " ..
      "as far as the client library supports it", false},
   table_prefix = {"Beginning of the names of the tables", "tpcc",
      sysbench.cmdline.ARG_STRING, validate_prefix},
   history_key = {"Give the table history a primary key, which the " ..
      "specification does not have: for servers that require one", false},
}

sysbench.results = {
   new_orders_per_minute = {better = "higher", unit = "/min", headline = true},
   limits_missed = {better = "lower"}, -- minimum shares, and limits
}

for _, t in ipairs(transactions) do
   sysbench.cmdline.options[t.name] = {"Weight of " ..
      t.name:gsub("_", "-") .. " transactions in the mix", t.weight, double,
      min = 0, max = 1e6}
end

local opt -- sysbench.opt, after read_options()

local function read_options()
   opt = sysbench.opt
   local total = 0
   for _, t in ipairs(transactions) do
      total = total + opt[t.name]
   end
   if total == 0 then
      error("the weights of all five kinds of transactions are 0", 0)
   end
end

-- Random values --------------------------------------------------------------

-- Clause 2.1.6: the ranges of the non-uniform random numbers.
local A_LAST_NAME, A_CUSTOMER, A_ITEM = 255, 1023, 8191

-- Clause 2.1.6.1: the constants that are added to these numbers.
local C_LOAD = 157 -- for the last names that prepare creates
local c_last_name, c_customer, c_item -- for the transactions of this run

-- Clause 2.1.6: returns a non-uniform random number of the range [x, y].
local function nurand(a, x, y, c)
   local v = bit.bor(rand.uniform(0, a), rand.uniform(x, y))
   return (v + c) % (y - x + 1) + x
end

-- Draws the constants of this run, the same for all users.
local function draw_constants()
   rand.row(0, 1) -- a random stream that no table uses
   local difference
   repeat -- clause 2.1.6.1
      c_last_name = rand.uniform(0, A_LAST_NAME)
      difference = math.abs(c_last_name - C_LOAD)
   until difference >= 65 and difference <= 119 and difference ~= 96 and
      difference ~= 112
   c_customer = rand.uniform(0, A_CUSTOMER)
   c_item = rand.uniform(0, A_ITEM)
   rand.resume()
end

local SYLLABLES = {"BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI",
   "CALLY", "ATION", "EING"}

-- Clause 4.3.2.3: returns the last name of a number from 0 to 999.
local function last_name(n)
   return SYLLABLES[floor(n / 100) + 1] .. SYLLABLES[floor(n / 10) % 10 + 1] ..
      SYLLABLES[n % 10 + 1]
end

-- Returns the last name of a customer. c: C_LOAD or c_last_name. A district
-- with fewer than 1000 customers has only as many names.
local function draw_last_name(c)
   return last_name(nurand(A_LAST_NAME, 0, math.min(opt.customers, 1000) - 1,
      c))
end

-- Tables (clause 1.3) --------------------------------------------------------

-- Tables that a foreign key refers to precede those with the key.
local TABLES = {"warehouse", "district", "customer", "history", "item",
   "stock", "orders", "new_orders", "order_line"}

-- columns: without NOT NULL, which all but `nullable` have; key: the columns of
-- the primary key; index: the columns of a secondary index; foreign: the
-- foreign keys. $district is the name of the table district of the set, and
-- {datetime} an entry of the dialect (sb/dialect/generic.lua).
local schema = {
   warehouse = {key = "w_id", columns = [[
      w_id INTEGER, w_name VARCHAR(10), w_street_1 VARCHAR(20),
      w_street_2 VARCHAR(20), w_city VARCHAR(20), w_state CHAR(2),
      w_zip CHAR(9), w_tax DECIMAL(4,4), w_ytd DECIMAL(12,2)]]},
   district = {key = "d_w_id, d_id",
      foreign = {"(d_w_id) REFERENCES $warehouse (w_id)"}, columns = [[
      d_id INTEGER, d_w_id INTEGER, d_name VARCHAR(10),
      d_street_1 VARCHAR(20), d_street_2 VARCHAR(20), d_city VARCHAR(20),
      d_state CHAR(2), d_zip CHAR(9), d_tax DECIMAL(4,4),
      d_ytd DECIMAL(12,2), d_next_o_id INTEGER]]},
   customer = {key = "c_w_id, c_d_id, c_id",
      index = "c_w_id, c_d_id, c_last, c_first",
      foreign = {"(c_w_id, c_d_id) REFERENCES $district (d_w_id, d_id)"},
      columns = [[
      c_id INTEGER, c_d_id INTEGER, c_w_id INTEGER, c_first VARCHAR(16),
      c_middle CHAR(2), c_last VARCHAR(16), c_street_1 VARCHAR(20),
      c_street_2 VARCHAR(20), c_city VARCHAR(20), c_state CHAR(2),
      c_zip CHAR(9), c_phone CHAR(16), c_since {datetime}, c_credit CHAR(2),
      c_credit_lim DECIMAL(12,2), c_discount DECIMAL(4,4),
      c_balance DECIMAL(12,2), c_ytd_payment DECIMAL(12,2),
      c_payment_cnt INTEGER, c_delivery_cnt INTEGER, c_data VARCHAR(500)]]},
   history = {foreign = {"(h_c_w_id, h_c_d_id, h_c_id) " ..
         "REFERENCES $customer (c_w_id, c_d_id, c_id)",
         "(h_w_id, h_d_id) REFERENCES $district (d_w_id, d_id)"}, columns = [[
      h_c_id INTEGER, h_c_d_id INTEGER, h_c_w_id INTEGER, h_d_id INTEGER,
      h_w_id INTEGER, h_date {datetime}, h_amount DECIMAL(6,2),
      h_data VARCHAR(24)]]},
   item = {key = "i_id", columns = [[
      i_id INTEGER, i_im_id INTEGER, i_name VARCHAR(24),
      i_price DECIMAL(5,2), i_data VARCHAR(50)]]},
   stock = {key = "s_w_id, s_i_id",
      foreign = {"(s_w_id) REFERENCES $warehouse (w_id)",
         "(s_i_id) REFERENCES $item (i_id)"}, columns = [[
      s_i_id INTEGER, s_w_id INTEGER, s_quantity INTEGER,
      s_dist_01 CHAR(24), s_dist_02 CHAR(24), s_dist_03 CHAR(24),
      s_dist_04 CHAR(24), s_dist_05 CHAR(24), s_dist_06 CHAR(24),
      s_dist_07 CHAR(24), s_dist_08 CHAR(24), s_dist_09 CHAR(24),
      s_dist_10 CHAR(24), s_ytd INTEGER, s_order_cnt INTEGER,
      s_remote_cnt INTEGER, s_data VARCHAR(50)]]},
   orders = {key = "o_w_id, o_d_id, o_id",
      index = "o_w_id, o_d_id, o_c_id, o_id", nullable = "o_carrier_id",
      foreign = {"(o_w_id, o_d_id, o_c_id) " ..
         "REFERENCES $customer (c_w_id, c_d_id, c_id)"}, columns = [[
      o_id INTEGER, o_d_id INTEGER, o_w_id INTEGER, o_c_id INTEGER,
      o_entry_d {datetime}, o_carrier_id INTEGER, o_ol_cnt INTEGER,
      o_all_local INTEGER]]},
   new_orders = {key = "no_w_id, no_d_id, no_o_id",
      foreign = {"(no_w_id, no_d_id, no_o_id) " ..
         "REFERENCES $orders (o_w_id, o_d_id, o_id)"}, columns = [[
      no_o_id INTEGER, no_d_id INTEGER, no_w_id INTEGER]]},
   order_line = {key = "ol_w_id, ol_d_id, ol_o_id, ol_number",
      nullable = "ol_delivery_d",
      foreign = {"(ol_w_id, ol_d_id, ol_o_id) " ..
         "REFERENCES $orders (o_w_id, o_d_id, o_id)",
         "(ol_supply_w_id, ol_i_id) REFERENCES $stock (s_w_id, s_i_id)"},
      columns = [[
      ol_o_id INTEGER, ol_d_id INTEGER, ol_w_id INTEGER, ol_number INTEGER,
      ol_i_id INTEGER, ol_supply_w_id INTEGER, ol_delivery_d {datetime},
      ol_quantity INTEGER, ol_amount DECIMAL(6,2), ol_dist_info CHAR(24)]]},
}

local function set_name(set)
   return opt.table_prefix .. set
end

-- Returns a statement on the tables of a set, in one line: $kind is replaced by
-- the name of that table, {word} by words[word].
local function expand(sql, set, words)
   sql = sql:gsub("%$([%a_]+)", set_name(set) .. "_%1")
   return (sql:gsub("{([%a_]+)}", words or {}):gsub("%s+", " "))
end

-- The tables of all sets are numbered 1, 2 ...: returns table n as in `schema`,
-- with its set, its kind (its key in `schema`), its name and the first column
-- of its primary key.
local function table_of(n)
   local set, kind = floor((n - 1) / #TABLES) + 1, TABLES[(n - 1) % #TABLES + 1]
   local t = schema[kind]
   local key = kind == "history" and opt.history_key and "h_id" or t.key
   return {set = set, kind = kind, name = set_name(set) .. "_" .. kind,
      columns = t.columns, nullable = t.nullable, key = key, index = t.index,
      foreign = t.foreign, first_key = key and key:match("^[%w_]+")}
end

local function count_tables()
   return opt.tables * #TABLES
end

-- Returns arrays of the names of columns and of their definitions.
local function columns_of(t)
   local names, definitions = {}, {}
   if t.key == "h_id" then
      names[1], definitions[1] = "h_id", "h_id {big_id_auto}"
   end
   for column in (t.columns .. ", "):gmatch("%s*(.-),%s") do
      local name = column:match("^[%w_]+")
      names[#names + 1] = name
      definitions[#names] = column ..
         (name == t.nullable and "" or " NOT NULL")
   end
   return names, definitions
end

-- Returns the text of CREATE TABLE.
local function definition(d, t)
   local _, parts = columns_of(t)
   if t.key and not d.key_after_rows then
      parts[#parts + 1] = "PRIMARY KEY (" .. t.key .. ")"
   end
   for _, foreign in ipairs(opt.foreign_keys and d.foreign_keys_inline and
      t.foreign or {})
   do
      parts[#parts + 1] = "FOREIGN KEY " .. foreign
   end
   return expand("CREATE TABLE " .. t.name .. "(" ..
      table.concat(parts, ", ") .. ")", t.set, d) .. " " .. d.table_options(opt)
end

-- Rows (clause 4.3) ----------------------------------------------------------

-- Date and time of the orders, payments and customers that prepare creates. A
-- constant, so that the same seed creates the same rows.
local LOAD_TIME = "2026-01-01 00:00:00"

-- Returns how many of the first orders of a district prepare delivers: 2100 of
-- 3000.
local function delivered_orders()
   return floor(opt.customers * 0.7)
end

-- Rows are numbered 1, 2 ... through all districts, `per_district` in each.
-- Returns the warehouse and the district of row `id`, and its number there.
local function place_of(id, per_district)
   local district = floor((id - 1) / per_district)
   return floor(district / DISTRICTS) + 1, district % DISTRICTS + 1,
      (id - 1) % per_district + 1
end

local function add_address(loader)
   loader:random_alphanumeric(10, 20) -- two streets and the city
   loader:random_alphanumeric(10, 20)
   loader:random_alphanumeric(10, 20)
   loader:random_text("@@")
   loader:random_text("####11111") -- clause 4.3.2.7
end

local function add_tax(loader)
   loader:double(rand.uniform(0, 2000) / 10000)
end

-- 26 to 50 characters; 10 % of these texts contain ORIGINAL.
local function add_data(loader)
   if rand.uniform(1, 10) > 1 then
      return loader:random_alphanumeric(26, 50)
   end
   local text = rand.alphanumeric(26, 50)
   local at = rand.uniform(0, #text - 8)
   loader:text(text:sub(1, at) .. "ORIGINAL" .. text:sub(at + 9))
end

local function add_ints(loader, a, b, c)
   loader:int(a)
   loader:int(b)
   loader:int(c)
end

-- fill.KIND(loader, n, first, last) adds the rows first..last of table n. The
-- values of a row depend on the table and the row only: rand.row(n, id). Each
-- function has its own loop, because LuaJIT would compile a common one for the
-- first table only (prepare of 10 warehouses: 4.3 s of processor time, not
-- 1.8 s).
local fill = {}

function fill.warehouse(loader, n, first, last)
   for id = first, last do
      rand.row(n, id)
      loader:int(id)
      loader:random_alphanumeric(6, 10)
      add_address(loader)
      add_tax(loader)
      loader:int(DISTRICTS * opt.customers * 10) -- 300000 by the specification
   end
end

function fill.district(loader, n, first, last)
   for id = first, last do
      local w, d = place_of(id, 1)
      rand.row(n, id)
      loader:int(d)
      loader:int(w)
      loader:random_alphanumeric(6, 10)
      add_address(loader)
      add_tax(loader)
      loader:int(opt.customers * 10) -- 30000 by the specification
      loader:int(opt.customers + 1)
   end
end

function fill.customer(loader, n, first, last)
   for id = first, last do
      local w, d, c = place_of(id, opt.customers)
      rand.row(n, id)
      add_ints(loader, c, d, w)
      loader:random_alphanumeric(8, 16)
      loader:text("OE")
      loader:text(c <= 1000 and last_name(c - 1) or draw_last_name(C_LOAD))
      add_address(loader)
      loader:random_text("################")
      loader:text(LOAD_TIME)
      loader:text(rand.uniform(1, 10) == 1 and "BC" or "GC")
      loader:int(50000)
      loader:double(rand.uniform(0, 5000) / 10000)
      add_ints(loader, -10, 10, 1)
      loader:int(0)
      loader:random_alphanumeric(300, 500)
   end
end

function fill.history(loader, n, first, last)
   for id = first, last do
      local w, d, c = place_of(id, opt.customers)
      rand.row(n, id)
      if opt.history_key then
         loader:int(id)
      end
      add_ints(loader, c, d, w)
      loader:int(d)
      loader:int(w)
      loader:text(LOAD_TIME)
      loader:int(10)
      loader:random_alphanumeric(12, 24)
   end
end

function fill.item(loader, n, first, last)
   for id = first, last do
      rand.row(n, id)
      loader:int(id)
      loader:int(rand.uniform(1, 10000))
      loader:random_alphanumeric(14, 24)
      loader:double(rand.uniform(100, 10000) / 100)
      add_data(loader)
   end
end

function fill.stock(loader, n, first, last)
   for id = first, last do
      rand.row(n, id)
      local item, w = (id - 1) % opt.items + 1, floor((id - 1) / opt.items) + 1
      add_ints(loader, item, w, rand.uniform(10, 100))
      for _ = 1, DISTRICTS do
         loader:random_alphanumeric(24, 24)
      end
      add_ints(loader, 0, 0, 0)
      add_data(loader)
   end
end

-- Returns the number of lines of order `id`. n: the number of the table orders
-- of the set. The number of lines is the first random value of the order's row,
-- so fill.orders() and fill.order_line() draw the same one.
local function draw_order_size(n, id)
   rand.row(n, id)
   return rand.uniform(LINES_MIN, LINES_MAX)
end

function fill.orders(loader, n, first, last)
   local delivered = delivered_orders()
   -- Each customer of a district has one order. rand.scatter() shuffles the
   -- customers; scatter_key, a key for each district, selects how.
   local scatter_key, district
   for id = first, last do
      local w, d, o = place_of(id, opt.customers)
      if district ~= d then
         -- A random stream for the district: no row has a negative number.
         rand.row(n, -((w - 1) * DISTRICTS + d))
         scatter_key, district = rand.uniform(1, 2 ^ 50), d
      end
      local size = draw_order_size(n, id)
      add_ints(loader, o, d, w)
      loader:int(rand.scatter(o, 1, opt.customers, scatter_key))
      loader:text(LOAD_TIME)
      if o <= delivered then
         loader:int(rand.uniform(1, 10))
      else
         loader:null()
      end
      loader:int(size)
      loader:int(1)
   end
end

function fill.new_orders(loader, _, first, last)
   local delivered = delivered_orders()
   for id = first, last do
      local w, d, o = place_of(id, opt.customers - delivered)
      add_ints(loader, delivered + o, d, w)
   end
end

-- Adds the lines of the orders first..last; returns their number.
function fill.order_line(loader, n, first, last)
   local delivered, rows = delivered_orders(), 0
   local orders = n - 2 -- the number of that table; see TABLES
   for id = first, last do
      local w, d, o = place_of(id, opt.customers)
      local size = draw_order_size(orders, id)
      rand.row(n, id)
      for number = 1, size do
         add_ints(loader, o, d, w)
         add_ints(loader, number, rand.uniform(1, opt.items), w)
         if o <= delivered then
            loader:text(LOAD_TIME)
            loader:int(5)
            loader:int(0)
         else
            loader:null()
            loader:int(5)
            loader:double(rand.uniform(1, 999999) / 100)
         end
         loader:random_alphanumeric(24, 24)
      end
      rows = rows + size
   end
   return rows
end

-- Prepare and cleanup --------------------------------------------------------

local ROWS_LOADED = "tpcc rows loaded" -- a counter of all users

-- The description of the tables of all sets for tables.prepare(), which calls
-- these functions with sysbench.opt and the number of a table: create, loader,
-- fill for block after block, finish, then link when all tables are finished;
-- drop after an error. analyze: tables.prepare() then has the server compute
-- its statistics for the optimizer.
local all_tables = {analyze = true}

function all_tables.name(_, n)
   return table_of(n).name
end

-- Returns the number of rows of table n; for order_line, the number of orders,
-- whose lines fill() adds.
function all_tables.rows(_, n)
   local warehouses, districts = opt.warehouses, opt.warehouses * DISTRICTS
   local rows = {warehouse = warehouses, district = districts,
      item = opt.items, stock = warehouses * opt.items,
      new_orders = districts * (opt.customers - delivered_orders())}
   return rows[table_of(n).kind] or districts * opt.customers
end

-- Returns a number proportional to the time that the load of table n takes.
function all_tables.weight(_, n)
   return all_tables.rows(opt, n) *
      (table_of(n).kind == "order_line" and 10 or 1)
end

function all_tables.create(con, d, _, n)
   local t = table_of(n)
   tables.refuse_existing(con, d, t.name)
   tables.print("Creating table '%s'...", t.name)
   con:query(definition(d, t))
   if d.check_table then
      d.check_table(con, opt, t.name)
   end
end

function all_tables.announce_rows(_, n)
   local t = table_of(n)
   tables.print("Inserting %.0f %s into '%s'", all_tables.rows(opt, n),
      t.kind == "order_line" and "orders' lines" or "rows", t.name)
end

function all_tables.loader(con, _, n)
   local t = table_of(n)
   return con:load(t.name, table.concat(columns_of(t), ","))
end

function all_tables.fill(loader, _, n, first, last)
   local lines = fill[table_of(n).kind](loader, n, first, last)
   rand.resume()
   sysbench.parallel.add(ROWS_LOADED, lines or last - first + 1)
end

-- Creates the keys and the index of a table after its rows.
function all_tables.finish(con, d, _, n)
   local t = table_of(n)
   if t.key and d.key_after_rows then
      con:query(format("ALTER TABLE %s ADD PRIMARY KEY (%s)", t.name, t.key))
   end
   if t.key == "h_id" and d.set_sequence then
      con:query(d.set_sequence:format(t.name, t.key, t.key, t.name))
   end
   if t.index then
      tables.print("Creating an index on '%s'...", t.name)
      con:query(format("CREATE INDEX %s_i ON %s(%s)", t.name, t.name, t.index))
   end
end

-- Creates the foreign keys of a table, after the keys of all tables. In one
-- statement, because MySQL copies the table for each.
function all_tables.link(con, d, _, n)
   local t = table_of(n)
   if opt.foreign_keys and not d.foreign_keys_inline and t.foreign then
      con:query(expand("ALTER TABLE " .. t.name .. " ADD FOREIGN KEY " ..
         table.concat(t.foreign, ", ADD FOREIGN KEY "), t.set))
   end
end

-- Drops a table to which foreign keys may refer, after an error.
function all_tables.drop(con, _, n)
   local d = dialect.of(sysbench.sql.driver())
   for _, sql in ipairs(d.drop_referenced) do
      con:query(sql:format(table_of(n).name))
   end
end

tables.describe(all_tables)

local commands = {}

function commands.prepare()
   -- The option --tables is the number of sets, but tables.prepare() needs the
   -- number of all tables.
   local all_opt = setmetatable({tables = count_tables()}, {__index = opt})
   tables.command_on_each_database(function(con, d, _, database)
      if d.check_engine then
         d.check_engine(con, opt)
      end
      local before = sysbench.parallel.add(ROWS_LOADED, 0)
      function all_tables.loaded() -- rows of this database, for the summary
         return sysbench.parallel.add(ROWS_LOADED, 0) - before
      end
      return tables.prepare(con, d, all_opt, all_tables, database)
   end)
end

function commands.cleanup()
   tables.command_on_each_database(function(con)
      for n = count_tables(), 1, -1 do -- tables with foreign keys first
         local name = table_of(n).name
         tables.print("Dropping table '%s'...", name)
         con:query("DROP TABLE IF EXISTS " .. name)
      end
   end)
end

-- Reads all rows and the primary keys into the caches of the server. For MAX()
-- of the last column, the server must read the rows: it is in no index (except
-- in new_orders, whose columns are all in the key).
function commands.warmup()
   tables.command_on_each_database(function(con)
      tables.divide_work("tables to preload", count_tables(), function(n)
         local t = table_of(n)
         local columns = columns_of(t)
         tables.print("Preloading table '%s'", t.name)
         con:query(format("SELECT COUNT(*), MAX(%s) FROM %s",
            columns[#columns], t.name))
         if t.key then
            con:query(format("SELECT COUNT(*) FROM %s WHERE %s > 0", t.name,
               t.first_key))
         end
      end)
   end)
end

-- Statements -----------------------------------------------------------------
--
-- A transaction sends statements and receives the rows of its queries:
--
--    send(district_next, w, d)
--    local o_id = receive_number(district_next)
--
-- Without --pipeline, send() executes the statement and reads its row. With
-- --pipeline, send() only collects statements; receive() sends them together
-- and reads all rows, if that was not done before; complete() sends the last
-- statements of a transaction. Rows that are not received are read, too.
--
-- Statements that lock rows precede the others of a transaction: the first
-- other statement creates the snapshot of a transaction in MySQL, and a row
-- changed by another transaction later has its old values (REPEATABLE READ) or
-- cannot be locked (innodb_snapshot_isolation).

local connection, sql_dialect -- of this user

-- Of the transaction in progress: the set of tables, warehouse w, district d.
local home = {}

-- Types of parameters, by letter.
local types = {
   i = {sysbench.sql.type.INT},
   n = {sysbench.sql.type.DOUBLE},
   t = {sysbench.sql.type.VARCHAR, 500},
}

-- Declares a statement without rows. name: in the report of operations;
-- parameters: a letter for the type of each. In sql, $district is the name of a
-- table, {for_update} an entry of the dialect.
local function statement(name, parameters, sql)
   return {name = name, parameters = parameters, sql = sql}
end

local queries = {} -- the statements with rows

local function raise_no_row(query)
   error(format("%s lacks a required row: use the same --warehouses, " ..
      "--items and --customers as for prepare",
      expand(query.sql:match("FROM (%$[%a_]+)"), home.set)), 0)
end

-- The row if a query has no result (the null driver, --mysql-dry-run).
local INVENTED_ROW = {"1", "1", "1"}

local function first_row_or_nil(rs)
   return not rs and INVENTED_ROW or rs:fetch_row()
end

local function first_row(rs, query)
   local row = first_row_or_nil(rs)
   if not row then
      raise_no_row(query)
   end
   return row
end

-- Declares a statement with rows. row_of(rs, query) returns the row that the
-- transaction receives; by default first_row(). rs: nil if there is no result.
local function query(name, parameters, sql, row_of)
   local q = statement(name, parameters, sql)
   q.row_of = row_of or first_row
   q.rows, q.arrived, q.received = {}, 0, 0
   queries[#queries + 1] = q
   return q
end

-- Prepares a statement on the tables of the home's set. Returns it with its
-- parameters, and keeps it: s[n] is the statement on set n.
local function prepare_statement(s)
   local stmt = connection:prepare(expand(s.sql, home.set, sql_dialect), s.name)
   local prepared = {stmt = stmt}
   for letter in s.parameters:gmatch(".") do
      prepared[#prepared + 1] = stmt:bind_create(unpack(types[letter]))
   end
   stmt:bind_param(unpack(prepared))
   s[home.set] = prepared
   return prepared
end

local collected = 0 -- number of statements for the next pipeline
local pipeline = {} -- these statements

local function read_row(q, rs)
   q.arrived = q.arrived + 1
   q.rows[q.arrived] = q.row_of(rs, q) or false
end

-- Executes a statement with these values, or adds it to the pipeline. Because
-- of the loop, LuaJIT does not compile a copy of this function into each
-- transaction for each statement. With nine parameters instead of the loop,
-- there were four times as many traces, which took a third more processor time.
local function send(s, ...)
   local prepared = s[home.set] or prepare_statement(s)
   for i = 1, select("#", ...) do
      prepared[i]:set((select(i, ...)))
   end
   if not opt.pipeline then
      local rs = prepared.stmt:execute()
      if s.row_of then
         read_row(s, rs)
      end
      return
   end
   if collected == 0 then
      connection:pipeline_begin()
   end
   prepared.stmt:execute()
   collected = collected + 1
   pipeline[collected] = s
end

-- Sends what send() has collected, and reads all rows.
local function complete()
   local n = collected
   if n == 0 then
      return
   end
   collected = 0
   connection:pipeline_send()
   for i = 1, n do
      local s, rs = pipeline[i], connection:pipeline_next()
      if s.row_of then
         read_row(s, rs)
      end
   end
end

-- Returns the first three columns of the row of a query. If it was sent several
-- times, its rows are received in that order.
local function receive(q)
   if q.received == q.arrived then
      complete()
   end
   local i = q.received + 1
   local row = q.rows[i]
   q.rows[i], q.received = false, i
   if row then
      return row[1], row[2], row[3]
   end
end

local function receive_number(q)
   return tonumber((receive(q)))
end

-- Removes the rows that the last transaction did not receive, and the
-- statements that it did not send because it failed.
local function reset_queries()
   collected = 0
   for i = 1, #queries do
      queries[i].arrived, queries[i].received = 0, 0
   end
end

local begin_read = statement("begin", "", "{begin}")
local begin_write = statement("begin", "", "{begin_write}")
local commit = statement("commit", "", "{commit}")
local rollback = statement("rollback", "", "ROLLBACK")

-- New-order (clause 2.4) -----------------------------------------------------

local district_next = query("district_next", "ii", [[
   SELECT d_next_o_id, d_tax FROM $district
   WHERE d_w_id = ? AND d_id = ? {for_update}]])
local district_increment = statement("district_increment", "ii", [[
   UPDATE $district SET d_next_o_id = d_next_o_id + 1
   WHERE d_w_id = ? AND d_id = ?]])
local select_stock = {} -- by district: each has its own column of stock
for i = 1, DISTRICTS do
   select_stock[i] = query("stock", "ii", format([[
      SELECT s_quantity, s_dist_%02d, s_data FROM $stock
      WHERE s_w_id = ? AND s_i_id = ? {for_update}]], i), first_row_or_nil)
end
local warehouse_tax = query("warehouse_tax", "i", [[
   SELECT w_tax FROM $warehouse WHERE w_id = ?]])
local customer_discount = query("customer_discount", "iii", [[
   SELECT c_discount, c_last, c_credit FROM $customer
   WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?]])
local select_item = query("item", "i", [[
   SELECT i_price, i_name, i_data FROM $item WHERE i_id = ?]],
   first_row_or_nil)
local order_insert = statement("order_insert", "iiiiii", [[
   INSERT INTO $orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt,
      o_all_local) VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)]])
local new_order_insert = statement("new_order_insert", "iii", [[
   INSERT INTO $new_orders (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)]])
local stock_update = statement("stock_update", "iiiii", [[
   UPDATE $stock SET s_quantity = ?, s_ytd = s_ytd + ?,
      s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + ?
   WHERE s_w_id = ? AND s_i_id = ?]])
local order_line_insert = statement("order_line_insert", "iiiiiiint", [[
   INSERT INTO $order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id,
      ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)]])

local new_order_count, rollback_count -- metrics

-- Returns a warehouse other than the home, or the home if it is the only one.
local function draw_other_warehouse()
   if opt.warehouses == 1 then
      return 1
   end
   local w = rand.uniform(1, opt.warehouses - 1)
   return w < home.w and w or w + 1
end

local function draw_customer()
   return nurand(A_CUSTOMER, 1, opt.customers, c_customer)
end

-- Sorts the lines of an order by warehouse and item, so that all users lock
-- rows of the table stock in the same order.
local function sort_lines(order)
   for i = 2, order.size do
      local line, at = order[i], i
      while at > 1 and (order[at - 1].supply_w > line.supply_w or
         order[at - 1].supply_w == line.supply_w and
         order[at - 1].item_id > line.item_id)
      do
         order[at] = order[at - 1]
         at = at - 1
      end
      order[at] = line
   end
end

-- One for all orders of a user. With new tables for each, 1,000 users of a
-- worker took a third more memory.
local reused_order = {}
for i = 1, LINES_MAX do
   reused_order[i] = {}
end

-- Each transaction has draw(), which returns its random input, and
-- execute(input), which is called again after a deadlock, for example.
function new_order.draw()
   local order = reused_order
   order.customer_id = draw_customer()
   order.size = rand.uniform(LINES_MIN, LINES_MAX)
   order.all_local = 1
   local invalid = rand.uniform(1, 100) == 1 -- clause 2.4.1.4
   for i = 1, order.size do
      local line = order[i]
      line.item_id = nurand(A_ITEM, 1, opt.items, c_item)
      line.supply_w, line.remote = home.w, 0
      if rand.uniform(1, 100) == 1 then -- clause 2.4.1.5
         line.supply_w = draw_other_warehouse()
      end
      if line.supply_w ~= home.w then
         line.remote, order.all_local = 1, 0
      end
      line.quantity = rand.uniform(1, 10)
   end
   if invalid then
      order[order.size].item_id = opt.items + 1 -- no item has this number
   end
   sort_lines(order)
   return order
end

-- Updates the stock of each line whose item exists, and inserts the line.
-- Returns whether all items exist.
local function insert_lines(order, o_id)
   local w, d, all_exist = home.w, home.d, true
   local left -- s_quantity after the last line of the same stock
   for i = 1, order.size do
      local line, previous = order[i], order[i - 1]
      local quantity, info = receive(select_stock[d])
      local price = receive_number(select_item)
      if not price and line.item_id > opt.items then
         all_exist = false
      elseif not price or not quantity then
         raise_no_row(price and select_stock[d] or select_item)
      else
         if not (previous and previous.item_id == line.item_id and
            previous.supply_w == line.supply_w)
         then
            left = tonumber(quantity)
         end
         left = left - line.quantity -- clause 2.4.2.2
         if left < 10 then
            left = left + 91
         end
         send(stock_update, left, line.quantity, line.remote, line.supply_w,
            line.item_id)
         send(order_line_insert, o_id, d, w, i, line.item_id, line.supply_w,
            line.quantity, floor(line.quantity * price * 100 + 0.5) / 100, info)
      end
   end
   return all_exist
end

function new_order.execute(order)
   local w, d = home.w, home.d
   send(begin_write)
   send(district_next, w, d)
   send(district_increment, w, d)
   for i = 1, order.size do
      send(select_stock[d], order[i].supply_w, order[i].item_id)
   end
   send(warehouse_tax, w)
   send(customer_discount, w, d, order.customer_id)
   for i = 1, order.size do
      send(select_item, order[i].item_id)
   end
   local o_id = receive_number(district_next)
   send(order_insert, o_id, d, w, order.customer_id, order.size,
      order.all_local)
   send(new_order_insert, o_id, d, w)
   local all_exist = insert_lines(order, o_id)
   send(all_exist and commit or rollback)
   complete()
   new_order_count:add()
   if not all_exist then
      rollback_count:add()
   end
end

-- Customers by number or by name (payment, order-status) ---------------------

-- Clauses 2.5.1.2 and 2.6.1.2: 60 % of the customers are found by last name.
-- Returns a number, or nil and a name.
local function draw_customer_or_name()
   if rand.uniform(1, 100) <= 60 then
      return nil, draw_last_name(c_last_name)
   end
   return draw_customer()
end

-- Clauses 2.5.2.2 and 2.6.2.2: of several customers with this name, the one in
-- the middle.
local function middle_row(rs, q)
   local row = first_row(rs, q)
   for _ = 2, rs and math.ceil(rs.nrows / 2) or 0 do
      row = rs:fetch_row()
   end
   return row
end

-- Payment (clause 2.5) -------------------------------------------------------

local warehouse_pay = statement("warehouse_pay", "ni", [[
   UPDATE $warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?]])
local district_pay = statement("district_pay", "nii", [[
   UPDATE $district SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?]])
local SELECT_PAYER = [[
   SELECT c_id, c_credit, c_data, c_balance, c_discount, c_first, c_middle,
      c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since,
      c_credit_lim FROM $customer WHERE c_w_id = ? AND c_d_id = ? AND ]]
local payer_by_id = query("customer_by_id", "iii", SELECT_PAYER .. [[
   c_id = ? {for_update}]])
local payer_by_name = query("customer_by_name", "iit", SELECT_PAYER .. [[
   c_last = ? ORDER BY c_first {for_update}]], middle_row)
local warehouse_address = query("warehouse_address", "i", [[
   SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip
   FROM $warehouse WHERE w_id = ?]])
local district_address = query("district_address", "ii", [[
   SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip
   FROM $district WHERE d_w_id = ? AND d_id = ?]])
local customer_update = statement("customer_update", "nniii", [[
   UPDATE $customer SET c_balance = c_balance - ?,
      c_ytd_payment = c_ytd_payment + ?, c_payment_cnt = c_payment_cnt + 1
   WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?]])
local customer_update_data = statement("customer_update_data", "nntiii", [[
   UPDATE $customer SET c_balance = c_balance - ?,
      c_ytd_payment = c_ytd_payment + ?, c_payment_cnt = c_payment_cnt + 1,
      c_data = ? WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?]])
local history_insert = statement("history_insert", "iiiiint", [[
   INSERT INTO $history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date,
      h_amount, h_data) VALUES (?, ?, ?, ?, ?, CURRENT_TIMESTAMP, ?, ?)]])

local DATA_LENGTH = 500 -- of c_data

function payment.draw()
   local id, name = draw_customer_or_name()
   local amount = rand.uniform(100, 500000) / 100
   local payer = {id = id, name = name, w = home.w, d = home.d, amount = amount}
   if rand.uniform(1, 100) > 85 then -- clause 2.5.1.2
      payer.w = draw_other_warehouse()
      payer.d = rand.uniform(1, DISTRICTS)
   end
   return payer
end

function payment.execute(payer)
   local w, d, amount = home.w, home.d, payer.amount
   local select_payer = payer.name and payer_by_name or payer_by_id
   send(begin_write)
   send(warehouse_pay, amount, w)
   send(district_pay, amount, w, d)
   send(select_payer, payer.w, payer.d, payer.name or payer.id)
   send(warehouse_address, w)
   send(district_address, w, d)
   local id, credit, data = receive(select_payer)
   id = tonumber(id)
   if credit == "BC" then -- clause 2.5.2.2: the data begins with this payment
      data = format("%d %d %d %d %d %.2f|%s", id, payer.d, payer.w, d, w,
         amount, data):sub(1, DATA_LENGTH)
      send(customer_update_data, amount, amount, data, payer.w, payer.d, id)
   else
      send(customer_update, amount, amount, payer.w, payer.d, id)
   end
   local w_name, d_name = receive(warehouse_address), receive(district_address)
   send(history_insert, id, payer.d, payer.w, d, w, amount,
      w_name .. "    " .. d_name)
   send(commit)
   complete()
end

-- Order-status (clause 2.6) --------------------------------------------------

local function read_all_rows(rs)
   for _ = 1, rs and rs.nrows or 0 do
      rs:fetch_row()
   end
end

local customer_by_id = query("customer_by_id", "iii", [[
   SELECT c_id, c_balance, c_first, c_middle, c_last FROM $customer
   WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?]])
local customer_by_name = query("customer_by_name", "iit", [[
   SELECT c_id, c_balance, c_first, c_middle, c_last FROM $customer
   WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first]],
   middle_row)
local last_order = query("last_order", "iii", [[
   SELECT o_id, o_entry_d, o_carrier_id FROM $orders
   WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? ORDER BY o_id DESC LIMIT 1]])
local order_lines = query("order_lines", "iii", [[
   SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
   FROM $order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?]],
   read_all_rows)

function order_status.draw()
   local id, name = draw_customer_or_name()
   return {id = id, name = name}
end

function order_status.execute(customer)
   local w, d, id = home.w, home.d, customer.id
   send(begin_read)
   if id then
      send(customer_by_id, w, d, id)
   else
      send(customer_by_name, w, d, customer.name)
      id = receive_number(customer_by_name)
   end
   send(last_order, w, d, id)
   send(order_lines, w, d, receive_number(last_order))
   send(commit)
   complete()
end

-- Delivery (clause 2.7) ------------------------------------------------------

-- A district may have no new order; with the null driver, none has one.
local function new_order_row(rs)
   return rs and rs:fetch_row()
end

-- {current_rows}: the query reads the rows that are committed now, not those in
-- the snapshot of the transaction.
local new_order_first = query("new_order_first", "ii", [[
   SELECT no_o_id FROM $new_orders WHERE no_w_id = ? AND no_d_id = ?
   ORDER BY no_o_id LIMIT 1 {for_update}]], new_order_row)
local new_order_delete = statement("new_order_delete", "iii", [[
   DELETE FROM $new_orders
   WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?]])
local order_customer = query("order_customer", "iii", [[
   SELECT o_c_id FROM $orders
   WHERE o_w_id = ? AND o_d_id = ? AND o_id = ? {current_rows}]])
local order_carrier = statement("order_carrier", "iiii", [[
   UPDATE $orders SET o_carrier_id = ?
   WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?]])
local lines_delivered = statement("lines_delivered", "iii", [[
   UPDATE $order_line SET ol_delivery_d = CURRENT_TIMESTAMP
   WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?]])
local lines_amount = query("lines_amount", "iii", [[
   SELECT SUM(ol_amount) FROM $order_line
   WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ? {current_rows}]])
local customer_deliver = statement("customer_deliver", "niii", [[
   UPDATE $customer SET c_balance = c_balance + ?,
      c_delivery_cnt = c_delivery_cnt + 1
   WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?]])

local skipped_count -- metric

function delivery.draw()
   return rand.uniform(1, 10) -- the carrier
end

function delivery.execute(carrier)
   local w, skipped = home.w, 0
   local orders = {} -- by district: the id of its oldest new order, or false
   send(begin_write)
   for d = 1, DISTRICTS do
      send(new_order_first, w, d)
   end
   for d = 1, DISTRICTS do
      orders[d] = receive_number(new_order_first) or false
   end
   for d, o_id in ipairs(orders) do
      if o_id then
         send(new_order_delete, w, d, o_id)
         send(order_customer, w, d, o_id)
         send(order_carrier, carrier, w, d, o_id)
         send(lines_delivered, w, d, o_id)
         send(lines_amount, w, d, o_id)
      else
         skipped = skipped + 1
      end
   end
   for d, o_id in ipairs(orders) do
      if o_id then
         local customer_id = receive_number(order_customer)
         local amount = receive_number(lines_amount) or 0
         send(customer_deliver, amount, w, d, customer_id)
      end
   end
   send(commit)
   complete()
   if skipped > 0 then
      skipped_count:add(skipped)
   end
end

-- Stock-level (clause 2.8) ---------------------------------------------------

local district_last = query("district_last", "ii", [[
   SELECT d_next_o_id FROM $district WHERE d_w_id = ? AND d_id = ?]])
local stock_count = query("stock_count", "iiiiii", [[
   SELECT COUNT(DISTINCT s_i_id) FROM $order_line, $stock
   WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id < ? AND ol_o_id >= ? AND
      s_w_id = ? AND s_i_id = ol_i_id AND s_quantity < ?]])

local terminal -- number of this user

function stock_level.draw()
   local threshold = rand.uniform(10, 20)
   if opt.home == "fixed" then -- clause 2.8.1.1
      local n = floor(terminal / (opt.tables * opt.warehouses))
      home.d = n % DISTRICTS + 1
   end
   return threshold
end

function stock_level.execute(threshold)
   local w, d = home.w, home.d
   send(begin_read)
   send(district_last, w, d)
   local next_id = receive_number(district_last)
   send(stock_count, w, d, next_id, next_id - 20, w, threshold)
   send(commit)
   complete()
end

-- Events ---------------------------------------------------------------------

local DECK_MAX = 1000 -- cards

-- Returns a function that draws the next transaction: from a deck if the
-- weights are numbers of cards (clause 5.2.4.2), otherwise by weight.
local function by_deck_or_weight()
   local list, total, all_whole = {}, 0, true
   for i, t in ipairs(transactions) do
      list[i] = opt[t.name]
      total = total + list[i]
      all_whole = all_whole and list[i] % 1 == 0
   end
   if not all_whole or total > DECK_MAX then
      local choose = weights.chooser(list)
      return function()
         return transactions[choose()]
      end
   end
   local deck = {}
   for i, t in ipairs(transactions) do
      for _ = 1, list[i] do
         deck[#deck + 1] = t
      end
   end
   return weights.deck(deck)
end

local draw_transaction -- the function that by_deck_or_weight() returned
local current  -- the transaction in progress, or the next one
local input    -- of its execute()
local started  -- the start of its measurement, which covers all tries

-- is_retry() returns whether the event is another try of the last one.
local is_retry = retry.watch()

-- Clause 5.2.5.4: think times are exponential, at most ten times the mean.
local function think_time(mean)
   return math.min(-math.log(1 - rand.uniform_double()), 10) * mean
end

-- Pauses for the think time after the last transaction and the keying time
-- before the next one.
local function pause(last, next_one)
   local seconds = next_one.keying * opt.terminal_keying
   if opt.terminal_thinking > 0 then
      seconds = seconds + think_time(last.thinking) * opt.terminal_thinking
   end
   if seconds > 0 then
      sysbench.user.think(seconds)
   end
end

local function draw_home()
   local n = terminal % (opt.tables * opt.warehouses)
   if opt.home == "random" then
      n = rand.uniform(0, opt.tables * opt.warehouses - 1)
   end
   home.set = floor(n / opt.warehouses) + 1
   home.w = n % opt.warehouses + 1
   home.d = rand.uniform(1, DISTRICTS)
end

function thread_init(id)
   read_options()
   local drv = sysbench.sql.driver()
   connection, sql_dialect = drv:connect(), dialect.of(drv)
   if opt.foreign_keys and sql_dialect.use_foreign_keys then
      connection:query(sql_dialect.use_foreign_keys)
   end
   terminal = id
   draw_constants()
   new_order_count = sysbench.metric("new_orders")
   rollback_count = sysbench.metric("rolled_back")
   skipped_count = sysbench.metric("deliveries_skipped")
   for _, t in ipairs(transactions) do
      t.operation = opt[t.name] > 0 and sysbench.op(t.name)
   end
   draw_transaction = by_deck_or_weight()
   current = draw_transaction()
end

function event()
   if not is_retry() then
      draw_home()
      input = current.draw()
      started = current.operation:start()
   end
   reset_queries()
   current.execute(input)
   current.operation:finish(started)
   local last = current
   current = draw_transaction()
   pause(last, current)
end

function thread_done()
   connection:disconnect()
end

-- Check before a run ---------------------------------------------------------

local function require_tables(con)
   check.require_tables(con, dialect.of(sysbench.sql.driver()),
      count_tables(), function(n) return table_of(n).name end)
end

-- By option: the query for its value when prepare created the tables.
local SIZES = {
   {"warehouses", "SELECT COALESCE(MAX(w_id), 0) FROM $warehouse"},
   {"items", "SELECT COALESCE(MAX(i_id), 0) FROM $item"},
   {"customers", "SELECT COALESCE(MAX(c_id), 0) FROM $customer WHERE " ..
      "c_w_id = 1 AND c_d_id = 1"},
}

-- Raises an error if the tables of a set are empty, or have another size than
-- the options say.
local function require_sizes(con, set)
   for _, size_of in ipairs(SIZES) do
      local option, sql = size_of[1], size_of[2]
      local size = con:query_row(expand(sql, set))
      if size and tonumber(size) ~= opt[option] then -- nil: --mysql-dry-run
         error(format("--%s is %d, but prepare created %s", option,
            opt[option], size), 0)
      end
   end
end

-- Raises an error if an index is missing: prepare creates them after the rows.
local function require_indexes(con, d)
   local list = {}
   for n = 1, count_tables() do
      local t = table_of(n)
      if d.key_after_rows and t.key then
         list[#list + 1] = {table = t.name, column = t.first_key}
      end
      if t.index then
         list[#list + 1] = {table = t.name, index = t.name .. "_i"}
      end
   end
   check.require_indexes(con, d, list)
end

-- Without pauses, users wait for each other's locks on the row of a warehouse.
local function warn_of_waits()
   local rows = opt.tables * opt.warehouses
   if opt.threads > rows and opt.payment > 0 and
      opt.terminal_keying + opt.terminal_thinking == 0
   then
      sysbench.warning(format("%d threads share %d warehouse(s): the " ..
         "result mainly measures lock waits of payments",
         opt.threads, rows))
   end
end

function sysbench.hooks.check_tables()
   read_options()
   warn_of_waits()
   local drv = sysbench.sql.driver()
   local d = dialect.of(drv)
   if not opt.check_tables or not d.find_table then
      return -- the null driver, or an unknown database
   end
   tables.connect_to_each_database(drv, function(con)
      require_tables(con)
      require_indexes(con, d)
      for set = 1, opt.tables do
         require_sizes(con, set)
      end
   end)
end

-- The command check: consistency (clause 3.3.2) ------------------------------

local conditions = {}

-- Declares a condition. sql returns a row for each violation, ordered, with the
-- values for the message. {warehouses}, {items} and {customers} are numbers, as
-- is {delivered}, the orders per district that prepare delivered. {in column}:
-- the warehouse in this column is one of those to be checked. Sums are compared
-- with a tolerance, because SQLite has no decimal numbers.
local function condition(clause, message, sql)
   conditions[#conditions + 1] = {clause = clause, message = message,
      sql = sql}
end

-- The numbers of rows of the tables that do not grow: no clause requires this.
local ROWS = "the numbers of rows"

condition(ROWS, "warehouse has %s rows and not %s", [[
   SELECT n, {warehouses} FROM (SELECT COUNT(*) AS n FROM $warehouse) AS t
   WHERE n <> {warehouses}]])
condition(ROWS, "item has %s rows and not %s", [[
   SELECT n, {items} FROM (SELECT COUNT(*) AS n FROM $item) AS t
   WHERE n <> {items}]])
condition(ROWS, "warehouse %s has %s districts and not 10", [[
   SELECT w_id, COUNT(d_id) FROM $warehouse LEFT JOIN $district
      ON d_w_id = w_id
   WHERE {in w_id} GROUP BY w_id HAVING COUNT(d_id) <> 10 ORDER BY 1]])
condition(ROWS, "warehouse %s has %s rows of stock and not %s", [[
   SELECT w_id, COUNT(s_i_id), {items} FROM $warehouse LEFT JOIN $stock
      ON s_w_id = w_id
   WHERE {in w_id} GROUP BY w_id HAVING COUNT(s_i_id) <> {items} ORDER BY 1]])
condition(ROWS, "warehouse %s, district %s has %s customers and not %s", [[
   SELECT d_w_id, d_id, COUNT(c_id), {customers} FROM $district
   LEFT JOIN $customer ON c_w_id = d_w_id AND c_d_id = d_id
   WHERE {in d_w_id} GROUP BY d_w_id, d_id HAVING COUNT(c_id) <> {customers}
   ORDER BY 1, 2]])
condition("3.3.2.1", "warehouse %s: w_ytd is %s, the sum of d_ytd is %s", [[
   SELECT w_id, w_ytd, s FROM $warehouse
   LEFT JOIN (SELECT d_w_id, SUM(d_ytd) AS s FROM $district
      WHERE {in d_w_id} GROUP BY d_w_id) AS t ON d_w_id = w_id
   WHERE {in w_id} AND (s IS NULL OR ABS(w_ytd - s) >= 0.005) ORDER BY w_id]])
condition("3.3.2.2", "warehouse %s, district %s: d_next_o_id - 1 is %s, " ..
   "the greatest o_id is %s, the greatest no_o_id is %s", [[
   SELECT d_w_id, d_id, d_next_o_id - 1, o, n FROM $district
   LEFT JOIN (SELECT o_w_id, o_d_id, MAX(o_id) AS o FROM $orders
      WHERE {in o_w_id} GROUP BY o_w_id, o_d_id) AS t
      ON o_w_id = d_w_id AND o_d_id = d_id
   LEFT JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) AS n FROM $new_orders
      WHERE {in no_w_id} GROUP BY no_w_id, no_d_id) AS u
      ON no_w_id = d_w_id AND no_d_id = d_id
   WHERE {in d_w_id} AND (o IS NULL OR d_next_o_id - 1 <> o OR n <> o)
   ORDER BY d_w_id, d_id]])
condition("3.3.2.3", "warehouse %s, district %s: the range of no_o_id has " ..
   "%s numbers and %s rows", [[
   SELECT no_w_id, no_d_id, MAX(no_o_id) - MIN(no_o_id) + 1, COUNT(*)
   FROM $new_orders WHERE {in no_w_id} GROUP BY no_w_id, no_d_id
   HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*) ORDER BY 1, 2]])
condition("3.3.2.4", "warehouse %s, district %s: the sum of o_ol_cnt is " ..
   "%s, but there are %s order lines", [[
   SELECT d_w_id, d_id, COALESCE(s, 0), COALESCE(n, 0) FROM $district
   LEFT JOIN (SELECT o_w_id, o_d_id, SUM(o_ol_cnt) AS s FROM $orders
      WHERE {in o_w_id} GROUP BY o_w_id, o_d_id) AS t
      ON o_w_id = d_w_id AND o_d_id = d_id
   LEFT JOIN (SELECT ol_w_id, ol_d_id, COUNT(*) AS n FROM $order_line
      WHERE {in ol_w_id} GROUP BY ol_w_id, ol_d_id) AS u
      ON ol_w_id = d_w_id AND ol_d_id = d_id
   WHERE {in d_w_id} AND COALESCE(s, 0) <> COALESCE(n, 0)
   ORDER BY d_w_id, d_id]])
condition("3.3.2.5", "warehouse %s, district %s, order %s: o_carrier_id is " ..
   "%s, and the order is%s in new_orders", [[
   SELECT o_w_id, o_d_id, o_id, COALESCE(o_carrier_id, 0),
      CASE WHEN no_o_id IS NULL THEN ' not' ELSE '' END
   FROM $orders LEFT JOIN $new_orders
      ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
   WHERE {in o_w_id} AND (o_carrier_id IS NULL) = (no_o_id IS NULL)
   ORDER BY o_w_id, o_d_id, o_id]])
condition("3.3.2.5", "warehouse %s, district %s, order %s is in new_orders " ..
   "and not in orders", [[
   SELECT no_w_id, no_d_id, no_o_id FROM $new_orders LEFT JOIN $orders
      ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
   WHERE {in no_w_id} AND o_id IS NULL ORDER BY no_w_id, no_d_id, no_o_id]])
condition("3.3.2.6", "warehouse %s, district %s, order %s: o_ol_cnt is %s, " ..
   "but there are %s order lines", [[
   SELECT o_w_id, o_d_id, o_id, o_ol_cnt, COALESCE(n, 0) FROM $orders
   LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS n
      FROM $order_line WHERE {in ol_w_id}
      GROUP BY ol_w_id, ol_d_id, ol_o_id) AS t
      ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
   WHERE {in o_w_id} AND o_ol_cnt <> COALESCE(n, 0)
   ORDER BY o_w_id, o_d_id, o_id]])
condition("3.3.2.7", "warehouse %s, district %s, order %s, line %s: " ..
   "ol_delivery_d is%s null, but o_carrier_id is%s null", [[
   SELECT ol_w_id, ol_d_id, ol_o_id, ol_number,
      CASE WHEN ol_delivery_d IS NULL THEN '' ELSE ' not' END,
      CASE WHEN o_carrier_id IS NULL THEN '' ELSE ' not' END
   FROM $order_line JOIN $orders
      ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id
   WHERE {in ol_w_id} AND (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)
   ORDER BY ol_w_id, ol_d_id, ol_o_id, ol_number]])
condition("3.3.2.8", "warehouse %s: w_ytd is %s, the sum of h_amount is %s", [[
   SELECT w_id, w_ytd, s FROM $warehouse
   LEFT JOIN (SELECT h_w_id, SUM(h_amount) AS s FROM $history
      WHERE {in h_w_id} GROUP BY h_w_id) AS t ON h_w_id = w_id
   WHERE {in w_id} AND (s IS NULL OR ABS(w_ytd - s) >= 0.005) ORDER BY w_id]])
condition("3.3.2.9", "warehouse %s, district %s: d_ytd is %s, the sum of " ..
   "h_amount is %s", [[
   SELECT d_w_id, d_id, d_ytd, s FROM $district
   LEFT JOIN (SELECT h_w_id, h_d_id, SUM(h_amount) AS s FROM $history
      WHERE {in h_w_id} GROUP BY h_w_id, h_d_id) AS t
      ON h_w_id = d_w_id AND h_d_id = d_id
   WHERE {in d_w_id} AND (s IS NULL OR ABS(d_ytd - s) >= 0.005)
   ORDER BY d_w_id, d_id]])

-- a: the amount of the delivered orders of a customer.
local JOIN_DELIVERED = [[
   LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS a FROM $orders
      JOIN $order_line
         ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
      WHERE {in o_w_id} AND ol_delivery_d IS NOT NULL
      GROUP BY o_w_id, o_d_id, o_c_id) AS t
      ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id ]]

condition("3.3.2.10", "warehouse %s, district %s, customer %s: c_balance is " ..
   "%s, but delivered orders minus payments are %s", [[
   SELECT c_w_id, c_d_id, c_id, c_balance, COALESCE(a, 0) - COALESCE(p, 0)
   FROM $customer ]] .. JOIN_DELIVERED .. [[
   LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS p
      FROM $history WHERE {in h_c_w_id}
      GROUP BY h_c_w_id, h_c_d_id, h_c_id) AS v
      ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id
   WHERE {in c_w_id} AND
      ABS(c_balance - (COALESCE(a, 0) - COALESCE(p, 0))) >= 0.005
   ORDER BY c_w_id, c_d_id, c_id]])
condition("3.3.2.11", "warehouse %s, district %s: %s orders are not in " ..
   "new_orders, but %s were delivered", [[
   SELECT d_w_id, d_id, COALESCE(o, 0) - COALESCE(n, 0),
      {delivered} + COALESCE(c, 0) FROM $district
   LEFT JOIN (SELECT o_w_id, o_d_id, COUNT(*) AS o FROM $orders
      WHERE {in o_w_id} GROUP BY o_w_id, o_d_id) AS t
      ON o_w_id = d_w_id AND o_d_id = d_id
   LEFT JOIN (SELECT no_w_id, no_d_id, COUNT(*) AS n FROM $new_orders
      WHERE {in no_w_id} GROUP BY no_w_id, no_d_id) AS u
      ON no_w_id = d_w_id AND no_d_id = d_id
   LEFT JOIN (SELECT c_w_id, c_d_id, SUM(c_delivery_cnt) AS c FROM $customer
      WHERE {in c_w_id} GROUP BY c_w_id, c_d_id) AS v
      ON c_w_id = d_w_id AND c_d_id = d_id
   WHERE {in d_w_id} AND
      COALESCE(o, 0) - COALESCE(n, 0) <> {delivered} + COALESCE(c, 0)
   ORDER BY d_w_id, d_id]])
condition("3.3.2.12", "warehouse %s, district %s, customer %s: c_balance + " ..
   "c_ytd_payment is %s, but delivered orders are %s", [[
   SELECT c_w_id, c_d_id, c_id, c_balance + c_ytd_payment, COALESCE(a, 0)
   FROM $customer ]] .. JOIN_DELIVERED .. [[
   WHERE {in c_w_id} AND
      ABS((c_balance + c_ytd_payment) - COALESCE(a, 0)) >= 0.005
   ORDER BY c_w_id, c_d_id, c_id]])

-- Returns the number of warehouses in a range. One user checks a range: there
-- are about as many ranges as users, so that all users have work. After a run
-- (--check), the main state checks alone and reads each table as a whole.
local function range_size()
   local users = sysbench.cmdline.main_state and 1 or opt.threads
   return math.ceil(opt.warehouses / users)
end

-- Returns SQL: the warehouse in the column is in this range (1, 2 ...). The
-- first and the last range include numbers below 1 and above --warehouses.
local function in_range(range, column)
   local first, last = (range - 1) * range_size() + 1, range * range_size()
   local text = "1 = 1"
   if range > 1 then
      text = text .. format(" AND %s >= %d", column, first)
   end
   if last < opt.warehouses then
      text = text .. format(" AND %s <= %d", column, last)
   end
   return text
end

-- Returns the message about a condition (an element of `conditions`) that is
-- violated in a range of a set's warehouses, or nil.
local function violation(con, set, range, c)
   if range > 1 and not c.sql:find("{in ", 1, true) then
      return nil -- it is about the whole table
   end
   local sql = c.sql:gsub("{in (.-)}", function(column)
      return in_range(range, column)
   end)
   sql = expand(sql, set, {warehouses = opt.warehouses, items = opt.items,
      customers = opt.customers, delivered = delivered_orders()})
   -- Counted without a limit: for LIMIT 1, PostgreSQL chooses a plan that
   -- finds one row soon, but takes minutes if no row matches.
   local count = tonumber((con:query_row("SELECT COUNT(*) FROM (" ..
      sql .. ") AS violations")))
   if count == 0 then
      return nil
   end
   local rs = con:query(sql .. (count > 1000 and " LIMIT 1" or ""))
   local values = rs:fetch_row()
   for i = 1, rs.nfields do
      values[i] = values[i] or "NULL"
   end
   rs:free()
   return format("%s: %s: %s%s", set_name(set), c.clause,
      c.message:format(unpack(values)),
      count > 1 and format(" (and %d more)", count - 1) or "")
end

local VIOLATIONS = "violations" -- a counter of all users

-- All users call this; each checks some conditions on some ranges of
-- warehouses. The user that finds the first violation raises the error.
function commands.check()
   local ranges = math.ceil(opt.warehouses / range_size()) -- per set
   local first -- the first violation of all users, if this user found it
   tables.command_on_each_database(function(con, _, _, database)
      require_tables(con)
      local count = opt.tables * ranges * #conditions
      tables.divide_work("conditions to check", count, function(i)
         local part = floor((i - 1) / #conditions) -- a range of a set, from 0
         local found = violation(con, floor(part / ranges) + 1,
            part % ranges + 1, conditions[(i - 1) % #conditions + 1])
         if not found then
            return
         end
         found = database and database .. ": " .. found or found
         tables.print("%s", found)
         if sysbench.parallel.ticket(VIOLATIONS) == 0 then
            first = found
         end
      end)
   end)
   sysbench.parallel.barrier()
   local n = sysbench.parallel.add(VIOLATIONS, 0)
   if first then
      error(n == 1 and first or format("%d conditions are violated, the " ..
         "first is %s", n, first), 0)
   elseif n == 0 and sysbench.tid == 0 then
      tables.print("All consistency conditions (3.3.2.1 to 3.3.2.12) are met")
   end
end

tables.declare_commands(commands, read_options)

-- Called when the run has ended: violations are a verdict on it.
function done()
   if not sysbench.opt.check then
      return
   end
   read_options()
   local ok, why = pcall(commands.check)
   if not ok and sysbench.parallel.add(VIOLATIONS, 0) == 0 then
      error(why, 0)
   end
   sysbench.verdict(ok, ok and "all consistency conditions are met" or
      why, "consistency")
end

-- Reports --------------------------------------------------------------------

local function new_orders_per_minute(stat)
   local m = stat.metrics.new_orders
   return m and stat.time_interval > 0 and m.sum * 60 / stat.time_interval or 0
end

-- Returns the line of a kind of transaction. op: its operation of the run;
-- total: the number of all transactions.
local function transaction_line(t, op, total)
   local p90 = op.percentile(90)
   return format("%-14s %10.0f %8.2f %6s %10.3f %10.3f %10.3f %8.0f %5s",
      t.name, op.count, 100 * op.count / total, t.share and ">= " .. t.share or
      "", op.avg * 1000, p90 * 1000, op.max * 1000, t.limit * 1000,
      p90 <= t.limit and "yes" or "no")
end

local function how_sent()
   if not sysbench.opt.pipeline then
      return "one by one (--pipeline=off)"
   elseif not dialect.of(sysbench.sql.driver()).pipelines then
      return "one by one (this database has no pipelines)"
   end
   return "sent together (--pipeline)"
end

local function report_results(stat, missed)
   sysbench.result("new_orders_per_minute", new_orders_per_minute(stat))
   sysbench.result("limits_missed", missed)
end

local function final_report(stat)
   local operations, metrics = stat.operations or {}, stat.metrics
   local total, missed = 0, {}
   local lines = {format("%-14s %10s %8s %6s %10s %10s %10s %8s %5s",
      "Transaction", "count", "share %", "spec", "avg ms", "90% ms", "max ms",
      "limit", "kept")}
   for _, t in ipairs(transactions) do
      total = total + (operations[t.name] and operations[t.name].count or 0)
   end
   for _, t in ipairs(transactions) do
      local op = operations[t.name]
      local count = op and op.count or 0
      if count > 0 then
         lines[#lines + 1] = transaction_line(t, op, total)
      end
      if t.share and total > 0 and 100 * count / total < t.share then
         missed[#missed + 1] = "share of " .. t.name
      end
      if count > 0 and op.percentile(90) > t.limit then
         missed[#missed + 1] = "limit of " .. t.name
      end
   end
   lines[#lines + 1] = "Minimum shares and limits: " .. (#missed == 0 and
      "kept" or "missed the " .. table.concat(missed, ", the "))
   lines[#lines + 1] = "Statements: " .. how_sent()
   report_results(stat, #missed)
   local orders = metrics.new_orders and metrics.new_orders.sum or 0
   local rollbacks = metrics.rolled_back and metrics.rolled_back.sum or 0
   lines[#lines + 1] = format("New orders: %.0f, of which %.0f (%.2f %%) " ..
      "were rolled back as specified", orders, rollbacks,
      orders > 0 and 100 * rollbacks / orders or 0)
   lines[#lines + 1] = "This is not a TPC-C result, which needs an audit."
   return table.concat(lines, "\n")
end

function sysbench.hooks.report_line(stat, final)
   return final and final_report(stat) or
      format("new orders/min: %.2f", new_orders_per_minute(stat))
end
