-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- tpcc: creates, fills and drops its tables, and checks them before a run. The
-- users of a run never load this.

local build = require("sb.build")
local databases = require("sb.databases")
local dialect = require("sb.dialect")
local parallel = require("sb.prepare")
local tpcc = require("sb.tpcc")

local print_line = build.print_line
local rand, floor = sysbench.rand, math.floor
local DISTRICTS, TABLES = tpcc.DISTRICTS, #tpcc.tables

-- Schema (clause 1.3) --------------------------------------------------------

-- Columns, without NOT NULL; `nullable` may be NULL. foreign: {columns, table,
-- its columns}; index: columns of a secondary index.
local function address(prefix)
   local text = "$_street_1 VARCHAR(20), $_street_2 VARCHAR(20), " ..
      "$_city VARCHAR(20), $_state CHAR(2), $_zip CHAR(9)"
   return (text:gsub("%$", prefix))
end

local function dist_columns()
   local list = {}
   for i = 1, DISTRICTS do
      list[i] = string.format("s_dist_%02d CHAR(24)", i)
   end
   return table.concat(list, ", ")
end

local schema = {
   warehouse = {
      columns = "w_id INTEGER, w_name VARCHAR(10), " .. address("w") ..
         ", w_tax DECIMAL(4,4), w_ytd DECIMAL(12,2)",
      key = "w_id",
   },
   district = {
      columns = "d_id INTEGER, d_w_id INTEGER, d_name VARCHAR(10), " ..
         address("d") .. ", d_tax DECIMAL(4,4), d_ytd DECIMAL(12,2), " ..
         "d_next_o_id INTEGER",
      key = "d_w_id, d_id",
      foreign = {{"d_w_id", "warehouse", "w_id"}},
   },
   customer = {
      columns = "c_id INTEGER, c_d_id INTEGER, c_w_id INTEGER, " ..
         "c_first VARCHAR(16), c_middle CHAR(2), c_last VARCHAR(16), " ..
         address("c") .. ", c_phone CHAR(16), c_since $datetime, " ..
         "c_credit CHAR(2), c_credit_lim DECIMAL(12,2), " ..
         "c_discount DECIMAL(4,4), c_balance DECIMAL(12,2), " ..
         "c_ytd_payment DECIMAL(12,2), c_payment_cnt INTEGER, " ..
         "c_delivery_cnt INTEGER, c_data VARCHAR(500)",
      key = "c_w_id, c_d_id, c_id",
      index = "c_w_id, c_d_id, c_last, c_first",
      foreign = {{"c_w_id, c_d_id", "district", "d_w_id, d_id"}},
   },
   history = {
      columns = "h_c_id INTEGER, h_c_d_id INTEGER, h_c_w_id INTEGER, " ..
         "h_d_id INTEGER, h_w_id INTEGER, h_date $datetime, " ..
         "h_amount DECIMAL(6,2), h_data VARCHAR(24)",
      foreign = {{"h_c_w_id, h_c_d_id, h_c_id", "customer",
         "c_w_id, c_d_id, c_id"}, {"h_w_id, h_d_id", "district",
         "d_w_id, d_id"}},
   },
   item = {
      columns = "i_id INTEGER, i_im_id INTEGER, i_name VARCHAR(24), " ..
         "i_price DECIMAL(5,2), i_data VARCHAR(50)",
      key = "i_id",
   },
   stock = {
      columns = "s_i_id INTEGER, s_w_id INTEGER, s_quantity INTEGER, " ..
         dist_columns() .. ", s_ytd INTEGER, s_order_cnt INTEGER, " ..
         "s_remote_cnt INTEGER, s_data VARCHAR(50)",
      key = "s_w_id, s_i_id",
      foreign = {{"s_w_id", "warehouse", "w_id"}, {"s_i_id", "item", "i_id"}},
   },
   orders = {
      columns = "o_id INTEGER, o_d_id INTEGER, o_w_id INTEGER, " ..
         "o_c_id INTEGER, o_entry_d $datetime, o_carrier_id INTEGER, " ..
         "o_ol_cnt INTEGER, o_all_local INTEGER",
      nullable = "o_carrier_id",
      key = "o_w_id, o_d_id, o_id",
      index = "o_w_id, o_d_id, o_c_id, o_id",
      foreign = {{"o_w_id, o_d_id, o_c_id", "customer",
         "c_w_id, c_d_id, c_id"}},
   },
   new_orders = {
      columns = "no_o_id INTEGER, no_d_id INTEGER, no_w_id INTEGER",
      key = "no_w_id, no_d_id, no_o_id",
      foreign = {{"no_w_id, no_d_id, no_o_id", "orders",
         "o_w_id, o_d_id, o_id"}},
   },
   order_line = {
      columns = "ol_o_id INTEGER, ol_d_id INTEGER, ol_w_id INTEGER, " ..
         "ol_number INTEGER, ol_i_id INTEGER, ol_supply_w_id INTEGER, " ..
         "ol_delivery_d $datetime, ol_quantity INTEGER, " ..
         "ol_amount DECIMAL(6,2), ol_dist_info CHAR(24)",
      nullable = "ol_delivery_d",
      key = "ol_w_id, ol_d_id, ol_o_id, ol_number",
      foreign = {{"ol_w_id, ol_d_id, ol_o_id", "orders",
         "o_w_id, o_d_id, o_id"}, {"ol_supply_w_id, ol_i_id", "stock",
         "s_w_id, s_i_id"}},
   },
}

-- Returns the set of table n of a database, and its name in the schema.
local function table_of(n)
   return floor((n - 1) / TABLES) + 1, tpcc.tables[(n - 1) % TABLES + 1]
end

local function name_of(_, n)
   return tpcc.name(table_of(n))
end

-- Returns the number of a table: the inverse of table_of().
local function number_of(set, name)
   for i, other in ipairs(tpcc.tables) do
      if other == name then
         return (set - 1) * TABLES + i
      end
   end
end

local function index_name(table_name)
   return table_name .. "_i"
end

local function foreign_key(set, foreign)
   return string.format("FOREIGN KEY (%s) REFERENCES %s (%s)", foreign[1],
      tpcc.name(set, foreign[2]), foreign[3])
end

-- Returns an array of the definitions of columns. The type of a column contains
-- no blank after a comma.
local function columns_of(opt, name)
   local list = {}
   if name == "history" and opt.history_key then
      list[1] = "h_id $key"
   end
   for column in (schema[name].columns .. ", "):gmatch("(.-), ") do
      list[#list + 1] = column
   end
   return list
end

local function key_of_table(opt, name)
   return name == "history" and opt.history_key and "h_id" or schema[name].key
end

local function definition(d, opt, n)
   local set, name = table_of(n)
   local def, parts = schema[name], columns_of(opt, name)
   for i, column in ipairs(parts) do
      local nullable = column:match("^[%w_]+") == def.nullable
      parts[i] = column:gsub("$datetime", d.datetime) ..
         (nullable and "" or " NOT NULL")
      parts[i] = parts[i]:gsub("$key NOT NULL", d.big_id_auto)
   end
   local key = key_of_table(opt, name)
   if key and not d.key_after_rows then
      parts[#parts + 1] = "PRIMARY KEY (" .. key .. ")"
   end
   if opt.foreign_keys and d.foreign_keys_inline then
      for _, foreign in ipairs(def.foreign or {}) do
         parts[#parts + 1] = foreign_key(set, foreign)
      end
   end
   return string.format("CREATE TABLE %s(%s) %s", name_of(opt, n),
      table.concat(parts, ", "), d.table_options(opt))
end

-- Values (clause 4.3) --------------------------------------------------------

-- Date and time of the orders, payments and customers that prepare creates. A
-- constant, so that the same seed creates the same rows.
local LOADED = "2026-01-01 00:00:00"

-- Returns warehouse, district and the rest of a number that counts
-- `per_district` rows in each district.
local function place(id, per_district)
   local district = floor((id - 1) / per_district)
   return floor(district / DISTRICTS) + 1, district % DISTRICTS + 1,
      (id - 1) % per_district + 1
end

local function put_address(ld)
   ld:random_alphanumeric(10, 20)
   ld:random_alphanumeric(10, 20)
   ld:random_alphanumeric(10, 20)
   ld:random_text("@@")
   ld:random_text("####11111") -- clause 4.3.2.7
end

local function put_tax(ld)
   ld:double(rand.uniform(0, 2000) / 10000)
end

-- 26 to 50 characters; 10 % of these texts contain ORIGINAL.
local function put_data(ld)
   if rand.uniform(1, 10) > 1 then
      return ld:random_alphanumeric(26, 50)
   end
   local text = rand.alphanumeric(26, 50)
   local at = rand.uniform(0, #text - 8)
   ld:text(text:sub(1, at) .. "ORIGINAL" .. text:sub(at + 9))
end

-- put[name](ld, opt, id, n): adds row `id` of table n.
local put = {}

function put.warehouse(ld, opt, id)
   ld:int(id)
   ld:random_alphanumeric(6, 10)
   put_address(ld)
   put_tax(ld)
   ld:int(DISTRICTS * opt.customers * 10) -- 300000 by the specification
end

function put.district(ld, opt, id)
   local w, d = place(id, 1)
   ld:int(d)
   ld:int(w)
   ld:random_alphanumeric(6, 10)
   put_address(ld)
   put_tax(ld)
   ld:int(opt.customers * 10) -- 30000
   ld:int(opt.customers + 1)
end

function put.customer(ld, opt, id)
   local w, d, c = place(id, opt.customers)
   ld:int(c)
   ld:int(d)
   ld:int(w)
   ld:random_alphanumeric(8, 16)
   ld:text("OE")
   ld:text(tpcc.loaded_last_name(opt, c))
   put_address(ld)
   ld:random_text("################")
   ld:text(LOADED)
   ld:text(rand.uniform(1, 10) == 1 and "BC" or "GC")
   ld:int(50000)
   ld:double(rand.uniform(0, 5000) / 10000)
   ld:int(-10)
   ld:int(10)
   ld:int(1)
   ld:int(0)
   ld:random_alphanumeric(300, 500)
end

function put.history(ld, opt, id)
   local w, d, c = place(id, opt.customers)
   if opt.history_key then
      ld:int(id)
   end
   ld:int(c)
   ld:int(d)
   ld:int(w)
   ld:int(d)
   ld:int(w)
   ld:text(LOADED)
   ld:int(10)
   ld:random_alphanumeric(12, 24)
end

function put.item(ld, _, id)
   ld:int(id)
   ld:int(rand.uniform(1, 10000))
   ld:random_alphanumeric(14, 24)
   ld:double(rand.uniform(100, 10000) / 100)
   put_data(ld)
end

function put.stock(ld, opt, id)
   ld:int((id - 1) % opt.items + 1)
   ld:int(floor((id - 1) / opt.items) + 1)
   ld:int(rand.uniform(10, 100))
   for _ = 1, DISTRICTS do
      ld:random_alphanumeric(24, 24)
   end
   ld:int(0)
   ld:int(0)
   ld:int(0)
   put_data(ld)
end

-- The first value of an order's random stream.
local function draw_lines()
   return rand.uniform(tpcc.LINES_MIN, tpcc.LINES_MAX)
end

-- Returns the key of a district's order of customers, as a permutation.
local function permutation(id, per_district, n)
   rand.row(n, -floor((id - 1) / per_district) - 1)
   return rand.uniform(1, 2 ^ 50)
end

local order_key, key_of -- the last result of permutation(), its district

function put.orders(ld, opt, id, n)
   local size = opt.customers
   local w, d, o = place(id, size)
   local district = n .. "/" .. w .. "/" .. d
   if key_of ~= district then
      order_key, key_of = permutation(id, size, n), district
      rand.row(n, id)
   end
   local lines = draw_lines()
   ld:int(o)
   ld:int(d)
   ld:int(w)
   ld:int(rand.scatter(o, 1, size, order_key))
   ld:text(LOADED)
   if o <= tpcc.delivered(opt) then
      ld:int(rand.uniform(1, 10))
   else
      ld:null()
   end
   ld:int(lines)
   ld:int(1)
end

function put.new_orders(ld, opt, id)
   local first = tpcc.delivered(opt)
   local w, d, o = place(id, opt.customers - first)
   ld:int(first + o)
   ld:int(d)
   ld:int(w)
end

-- Adds all lines of order `id` and returns their number.
function put.order_line(ld, opt, id, n)
   local w, d, o = place(id, opt.customers)
   rand.row(number_of((table_of(n)), "orders"), id)
   local lines = draw_lines()
   rand.row(n, id)
   for number = 1, lines do
      ld:int(o)
      ld:int(d)
      ld:int(w)
      ld:int(number)
      ld:int(rand.uniform(1, opt.items))
      ld:int(w)
      if o <= tpcc.delivered(opt) then
         ld:text(LOADED)
         ld:int(5)
         ld:int(0)
      else
         ld:null()
         ld:int(5)
         ld:double(rand.uniform(1, 999999) / 100)
      end
      ld:random_alphanumeric(24, 24)
   end
   return lines
end

-- Tables for sb/prepare.lua --------------------------------------------------

-- The functions that sb/prepare.lua calls; the others are those of
-- sb/build.lua. opt.tables is the number of all tables.
local tables = setmetatable({name = name_of, analyze = true},
   {__index = build})

local ROWS_LOADED = "tpcc rows loaded" -- a counter of all users

-- Returns the number of rows of table n; of order_line, that of its orders.
function tables.rows(opt, n)
   local _, name = table_of(n)
   local w, districts = opt.warehouses, opt.warehouses * DISTRICTS
   local new = opt.customers - tpcc.delivered(opt)
   return name == "warehouse" and w or name == "district" and districts or
      name == "item" and opt.items or name == "stock" and w * opt.items or
      name == "new_orders" and districts * new or districts * opt.customers
end

-- The load of a table takes about as long as that of this many rows.
function tables.weight(opt, n)
   local _, name = table_of(n)
   return tables.rows(opt, n) * (name == "order_line" and 10 or 1)
end

function tables.announce_rows(opt, n)
   local _, name = table_of(n)
   print_line("Inserting %.0f %s into '%s'", tables.rows(opt, n),
      name == "order_line" and "orders' lines" or "rows", name_of(opt, n))
end

function tables.loader(con, opt, n)
   local _, name = table_of(n)
   local names = columns_of(opt, name)
   for i, column in ipairs(names) do
      names[i] = column:match("^[%w_]+")
   end
   return con:load(name_of(opt, n), table.concat(names, ","))
end

function tables.create(con, d, opt, n)
   local name = name_of(opt, n)
   build.refuse_existing(con, d, name)
   print_line("Creating table '%s'...", name)
   con:query(definition(d, opt, n))
   if d.check_table then
      d.check_table(con, opt, name)
   end
end

-- The loop over the rows of a table. Each table has a copy of this code:
-- LuaJIT compiles the loop for the first function that it calls, and would
-- interpret those of most other tables.
local LOOP = [[
local put, row = ...
return function(ld, opt, n, first, last)
   local rows = 0
   for id = first, last do
      row(n, id)
      rows = rows + (put(ld, opt, id, n) or 1)
   end
   return rows
end]]

local fill = {} -- by name

for name, f in pairs(put) do
   fill[name] = assert(loadstring(LOOP, "=fill " .. name))(f, rand.row)
end

function tables.fill(ld, opt, n, first, last)
   local _, name = table_of(n)
   local rows = fill[name](ld, opt, n, first, last)
   rand.resume()
   sysbench.parallel.add(ROWS_LOADED, rows)
end

function tables.finish(con, d, opt, n)
   local _, short = table_of(n)
   local key, name = key_of_table(opt, short), name_of(opt, n)
   if d.key_after_rows and key then
      con:query(string.format("ALTER TABLE %s ADD PRIMARY KEY (%s)", name,
         key))
   end
   if key == "h_id" and d.set_sequence then
      con:query(d.set_sequence:format(name, key, key, name))
   end
   if schema[short].index then
      print_line("Creating an index on '%s'...", name)
      con:query(string.format("CREATE INDEX %s ON %s(%s)", index_name(name),
         name, schema[short].index))
   end
end

-- Creates the foreign keys of table n, after the keys of all tables. In one
-- statement, because MySQL copies the table for each.
function tables.link(con, d, opt, n)
   if not opt.foreign_keys or d.foreign_keys_inline then
      return
   end
   local set, name = table_of(n)
   local list = {}
   for i, foreign in ipairs(schema[name].foreign or {}) do
      list[i] = "ADD " .. foreign_key(set, foreign)
   end
   if #list > 0 then
      con:query(string.format("ALTER TABLE %s %s", name_of(opt, n),
         table.concat(list, ", ")))
   end
end

function tables.discard(con, opt, n)
   pcall(con.reset, con)
   return (pcall(function()
      local d = dialect.of(sysbench.sql.driver())
      for _, statement in ipairs(d.drop_referenced) do
         con:query(statement:format(name_of(opt, n)))
      end
   end))
end

-- Returns the options for sb/prepare.lua: the tables of all sets are counted.
local function for_tables(opt)
   return setmetatable({tables = opt.tables * TABLES}, {__index = opt})
end

-- Commands -------------------------------------------------------------------

local WARM_KEY = 20 -- counter of sysbench.parallel.ticket()

local M = {}

function M.prepare(opt)
   local own = for_tables(opt)
   databases.each(function(con, _, drv, name)
      local d = dialect.of(drv)
      if d.check_engine then
         d.check_engine(con, opt)
      end
      local before = sysbench.parallel.add(ROWS_LOADED, 0)
      tables.loaded = function()
         return sysbench.parallel.add(ROWS_LOADED, 0) - before
      end
      return parallel.prepare(con, d, own, nil, nil, tables, name)
   end)
end

function M.cleanup(opt)
   local own = for_tables(opt)
   databases.each(function(con)
      for n = own.tables, 1, -1 do -- those with foreign keys first
         print_line("Dropping table '%s'...", name_of(own, n))
         con:query("DROP TABLE IF EXISTS " .. name_of(own, n))
      end
   end)
end

-- Reads a long column and all keys.
function M.warmup(opt)
   local own = for_tables(opt)
   databases.each(function(con)
      parallel.share(WARM_KEY, own.tables, function(n)
         local _, name = table_of(n)
         local names = columns_of(opt, name)
         print_line("Preloading table '%s'", name_of(own, n))
         con:query(string.format("SELECT COUNT(*), MAX(%s) FROM %s",
            names[#names]:match("^[%w_]+"), name_of(own, n)))
         local key = key_of_table(opt, name)
         if key then
            con:query(string.format("SELECT COUNT(*) FROM %s WHERE %s > 0",
               name_of(own, n), key:match("^[%w_]+")))
         end
      end)
   end)
end

M.prewarm = M.warmup

-- Raises an error unless all tables exist.
local function require_tables(con, opt)
   local own = for_tables(opt)
   require("sb.check_tables").require_tables(con,
      dialect.of(sysbench.sql.driver()), own.tables,
      function(n) return name_of(own, n) end)
end

-- The check command.
function M.check(opt)
   require("sb.tpcc_check")(opt, require_tables)
end

-- Raises an error if the tables have another size than the options.
local function check_size(con, opt, set)
   for _, c in ipairs{{"warehouses", "w_id", "warehouse"},
      {"items", "i_id", "item"}, {"customers", "c_id", "customer WHERE " ..
      "c_w_id = 1 AND c_d_id = 1"}}
   do
      local largest = con:query_row(tpcc.sql(set, string.format(
         "SELECT MAX(%s) FROM $%s", c[2], c[3])))
      if largest and tonumber(largest) ~= opt[c[1]] then
         error(string.format("--%s is %d, but prepare created %s", c[1],
            opt[c[1]], largest), 0)
      end
   end
end

-- Raises an error if an index is missing: prepare creates them after the rows.
local function check_indexes(con, d, opt)
   local list = {}
   for n = 1, opt.tables * TABLES do
      local _, short = table_of(n)
      local key, name = key_of_table(opt, short), name_of(opt, n)
      if d.key_after_rows and key then
         list[#list + 1] = {table = name, column = key:match("^[%w_]+")}
      end
      if schema[short].index then
         list[#list + 1] = {table = name, index = index_name(name)}
      end
   end
   require("sb.check_tables").require_indexes(con, d, list)
end

-- Without pauses, users wait for each other's locks on the row of a warehouse.
local function warn_of_waits(opt)
   local rows = opt.tables * opt.warehouses
   if opt.threads > rows and opt.payment > 0 and
      opt.terminal_keying + opt.terminal_thinking == 0
   then
      sysbench.warning(string.format("%d threads share %d warehouse(s): the " ..
         "result is mainly the time that payments wait for each other",
         opt.threads, rows))
   end
end

-- Checks the tables before a run; in the main state.
function M.check_tables(opt)
   warn_of_waits(opt)
   local drv = sysbench.sql.driver()
   if not opt.check_tables or not dialect.of(drv).find_table then
      return -- the null driver, or an unknown database
   end
   databases.visit(drv, function(con)
      require_tables(con, opt)
      for set = 1, opt.tables do
         check_size(con, opt, set)
      end
      check_indexes(con, dialect.of(drv), opt)
   end)
end

return M
