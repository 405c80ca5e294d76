-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- iibench: creates, fills, checks and drops its tables.

local build = require("sb.build")
local iibench = require("sb.iibench")
local own_tables = require("sb.own_tables")

local print_line = build.print_line

-- The functions that sb/prepare.lua calls; the others are those of
-- sb/build.lua.
local tables = setmetatable({name = iibench.name}, {__index = build})

function tables.loader(con, opt, n)
   return con:load(iibench.name(opt, n), "transactionid,dateandtime," ..
      "cashregisterid,customerid,productid,price,data")
end

function tables.announce_rows(opt, n)
   print_line("Inserting %.0f records into '%s'", opt.table_size,
      iibench.name(opt, n))
end

local function create_indexes(con, opt, n)
   local name = iibench.name(opt, n)
   for i = 1, opt.num_secondary_indexes do
      local index = iibench.indexes[i]
      local index_name = iibench.index_name(opt, n, index)
      print_line("Creating index '%s' on '%s'...", index_name, name)
      con:query(string.format("CREATE INDEX %s ON %s (%s)", index_name, name,
         index.columns))
   end
end

-- Returns whether the primary key is created after loading the rows, like the
-- secondary indexes.
local function key_late(d, opt)
   return d.key_after_rows and opt.secondary_at_end
end

local function create(con, d, opt, n)
   local name = iibench.name(opt, n)
   print_line("Creating table '%s'...", name)
   con:query(string.format("CREATE TABLE %s(transactionid %s, " ..
      "dateandtime %s NOT NULL, cashregisterid INTEGER NOT NULL, " ..
      "customerid INTEGER NOT NULL, productid INTEGER NOT NULL, " ..
      "price FLOAT NOT NULL, data VARCHAR(%d) NOT NULL%s) %s", name,
      d.big_id_auto, d.datetime, math.max(opt.data_length_max, 4000),
      key_late(d, opt) and "" or ", PRIMARY KEY (transactionid)",
      d.table_options(opt)))
   if d.check_table then
      d.check_table(con, opt, name)
   end
   if not opt.secondary_at_end then
      create_indexes(con, opt, n)
   end
end

function tables.create(con, d, opt, n)
   build.refuse_existing(con, d, iibench.name(opt, n))
   local ok, err = pcall(create, con, d, opt, n)
   if not ok then
      tables.discard(con, opt, n)
      error(err, 0)
   end
end

local function time_of(id)
   return os.date("!%Y-%m-%d %H:%M:%S", iibench.time_of(id))
end

function tables.fill(loader, opt, n, first, last)
   local rand = sysbench.rand
   local format = iibench.data_formats(opt)
   local time = time_of(first)
   for id = first, last do
      rand.row(n, id)
      if id % iibench.ROWS_PER_SECOND == 0 then
         time = time_of(id)
      end
      local customer, cents = iibench.customer_and_price(opt)
      loader:int(id)
      loader:text(time)
      loader:int(rand.uniform(0, opt.cashregisters - 1))
      loader:int(customer)
      loader:int(rand.uniform(0, opt.products - 1))
      loader:double(cents / 100)
      loader:random_text(format())
   end
   rand.resume()
end

function tables.finish(con, d, opt, n)
   local name, key = iibench.name(opt, n), iibench.key
   if key_late(d, opt) then
      con:query(string.format("ALTER TABLE %s ADD PRIMARY KEY (%s)", name, key))
   end
   if d.set_sequence and opt.table_size > 0 then
      con:query(d.set_sequence:format(name, key, key, name))
   end
   if opt.secondary_at_end then
      create_indexes(con, opt, n)
   end
end

local function drop(con, opt, n)
   con:query("DROP TABLE IF EXISTS " .. iibench.name(opt, n))
end

function tables.discard(con, opt, n)
   pcall(con.reset, con)
   return (pcall(drop, con, opt, n))
end

-- Checking -------------------------------------------------------------------

-- Returns the condition for values that iibench never writes with these
-- options.
local function impossible(opt)
   return string.format("cashregisterid < 0 OR cashregisterid >= %d OR " ..
      "customerid < 0 OR customerid >= %d OR " ..
      "productid < 0 OR productid >= %d OR " ..
      "price * 100 < customerid - 1 OR price * 100 > customerid + %d OR " ..
      "LENGTH(data) < %d OR LENGTH(data) > %d",
      opt.cashregisters, opt.customers, opt.products, opt.max_price + 1,
      opt.data_length_min, opt.data_length_max)
end

local function check_rows(con, opt, name)
   local wrong, id = con:query_row(string.format(
      "SELECT COUNT(*), MIN(transactionid) FROM %s WHERE %s", name,
      impossible(opt)))
   if wrong ~= "0" then
      error(string.format("%s: %s rows have values that iibench does not " ..
         "write with these options, the first is transactionid %s", name,
         wrong, id), 0)
   end
end

-- Returns the number of rows and the sum of customerid. The query also reads
-- data, which is in no index, so the server must scan the table.
local function sums(con, name)
   local rows, sum = con:query_row(string.format("SELECT COUNT(*), " ..
      "SUM(customerid), SUM(LENGTH(data)) FROM %s", name))
   return rows, sum
end

local function check_index(con, d, opt, n, index, rows, sum)
   own_tables.check_index(con, d, iibench.name(opt, n),
      {name = iibench.index_name(opt, n, index), columns = index.columns},
      index.columns:match("^%w+") .. " >= 0", "customerid", rows, sum)
end

-- Checks table n in one snapshot: the server may still execute the last
-- statements of clients that were killed.
local function check(con, d, opt, n)
   local name = iibench.name(opt, n)
   con:query(d.begin_snapshot)
   local rows, sum = sums(con, name)
   check_rows(con, opt, name)
   for _, statement in ipairs(d.before_index) do
      con:query(statement)
   end
   for i = 1, opt.num_secondary_indexes do
      check_index(con, d, opt, n, iibench.indexes[i], rows, sum)
   end
   con:query("ROLLBACK") -- also undoes d.before_index for the next table
   return string.format("%s: %s rows, all in order, and %d indexes agree " ..
      "with them", name, rows, opt.num_secondary_indexes)
end

-- Commands -------------------------------------------------------------------

local function warm(con, d, opt, n)
   local name = iibench.name(opt, n)
   for _, statement in ipairs(d.before_index) do
      con:query(statement)
   end
   con:query("SELECT SUM(LENGTH(data)) FROM " .. name)
   for i = 1, opt.num_secondary_indexes do
      local index = iibench.indexes[i]
      con:query(string.format("SELECT COUNT(*) FROM %s WHERE %s >= 0",
         d.through(name, iibench.index_name(opt, n, index)),
         index.columns:match("^%w+")))
   end
end

local M = own_tables.commands("iibench", tables, check, warm)

-- Returns the value for sysbench.cmdline.options.
function M.declarations()
   local oltp = require("sb.declarations").oltp()
   local options = iibench.declarations()
   for _, name in ipairs{"pipeline", "create_table_options",
      "mysql_storage_engine", "pgsql_variant", "check_tables"}
   do
      options[name] = oltp[name]
   end
   return options
end

function M.normalize(opt)
   require("sb.bounds").check(opt, iibench.bounds)
   iibench.check_options(opt)
   return opt
end

local function measure(con, opt, n)
   local name = iibench.name(opt, n)
   local first, last = con:query_row(string.format(
      "SELECT (SELECT MIN(transactionid) FROM %s), " ..
      "(SELECT MAX(transactionid) FROM %s)", name, name))
   iibench.publish_size(opt, n, tonumber(first), tonumber(last), function()
      return tonumber((con:query_row("SELECT COUNT(*) FROM " .. name)))
   end)
end

-- Publishes the sizes of the tables to all users.
function M.measure(opt)
   local con, d = own_tables.connect("iibench", opt)
   if opt.check_tables then
      local tables_of_run = require("sb.check_tables")
      tables_of_run.require_tables(con, d, opt.tables,
         function(n) return iibench.name(opt, n) end)
   end
   for n = 1, opt.tables do
      measure(con, opt, n)
   end
   con:disconnect()
end

return M
