-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- iibench: creates, fills, checks and drops its tables. The users of a run
-- never load this.

local build = require("sb.build")
local dialect = require("sb.dialect_more")
local parallel = require("sb.prepare")
local purchases = require("sb.purchases")

local print_line = build.print_line

-- Counter of sysbench.parallel.ticket() for commands that are not prepare.
local TABLE_KEY = 0

-- Date and time of the first row of prepare, and rows per second from then on.
local START = 946684800 -- 2000-01-01 00:00:00
local ROWS_PER_SECOND = 100

-- The rows of a table with more ids are counted only with --count-rows.
local MAX_COUNTED = 1e6

local function connect()
   local drv = sysbench.sql.driver()
   require("sb.databases").refuse_several("iibench")
   return drv:connect(), dialect.of(drv)
end

-- The functions that sb/prepare.lua calls; the others are those of
-- sb/build.lua.
local tables = setmetatable({name = purchases.name}, {__index = build})

function tables.loader(con, opt, n)
   return con:load(purchases.name(opt, n), "transactionid,dateandtime," ..
      "cashregisterid,customerid,productid,price,data")
end

function tables.announce_rows(opt, n)
   print_line("Inserting %.0f records into '%s'", opt.table_size,
      purchases.name(opt, n))
end

local function create_indexes(con, opt, n)
   local name = purchases.name(opt, n)
   for i = 1, opt.num_secondary_indexes do
      local index = purchases.indexes[i]
      local index_name = purchases.index_name(opt, n, index)
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
   local name = purchases.name(opt, n)
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
   build.refuse_existing(con, d, purchases.name(opt, n))
   local ok, err = pcall(create, con, d, opt, n)
   if not ok then
      tables.discard(con, opt, n)
      error(err, 0)
   end
end

-- Returns the date and time of row id.
local function time_of(id)
   return os.date("!%Y-%m-%d %H:%M:%S",
      START + math.floor(id / ROWS_PER_SECOND))
end

function tables.fill(loader, opt, n, first, last)
   local rand = sysbench.rand
   local format = purchases.data_formats(opt)
   local time = time_of(first)
   for id = first, last do
      rand.row(n, id)
      if id % ROWS_PER_SECOND == 0 then
         time = time_of(id)
      end
      local customer, cents = purchases.customer_and_price(opt)
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
   local name, key = purchases.name(opt, n), purchases.key
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
   con:query("DROP TABLE IF EXISTS " .. purchases.name(opt, n))
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

-- Checks that the index finds exactly the rows of the table.
local function check_index(con, d, opt, n, index, rows, sum)
   local name = purchases.name(opt, n)
   local index_name = purchases.index_name(opt, n, index)
   local index_rows, index_sum = con:query_row(string.format(
      "SELECT COUNT(*), SUM(customerid) FROM %s WHERE %s >= 0",
      d.through(name, index_name), index.columns:match("^%w+")))
   if index_rows ~= rows or index_sum ~= sum then
      error(string.format("%s: the index %s finds %s rows and a sum of %s " ..
         "of customerid; the table has %s rows and a sum of %s", name,
         index_name, index_rows, index_sum or 0, rows, sum or 0), 0)
   end
end

-- Checks table n in one snapshot: the server may still execute the last
-- statements of clients that were killed.
local function check(con, d, opt, n)
   local name = purchases.name(opt, n)
   con:query(d.begin_snapshot)
   local rows, sum = sums(con, name)
   check_rows(con, opt, name)
   for _, statement in ipairs(d.before_index) do
      con:query(statement)
   end
   for i = 1, opt.num_secondary_indexes do
      check_index(con, d, opt, n, purchases.indexes[i], rows, sum)
   end
   con:query("ROLLBACK") -- also undoes d.before_index for the next table
   print_line("%s: %s rows, all in order, and %d indexes agree with them",
      name, rows, opt.num_secondary_indexes)
end

-- Commands -------------------------------------------------------------------

local M = {}

function M.prepare(opt)
   local con, d = connect()
   if d.check_engine then
      d.check_engine(con, opt)
   end
   parallel.prepare(con, d, opt, nil, nil, tables)
   con:disconnect()
end

local function warm(con, d, opt, n)
   local name = purchases.name(opt, n)
   print_line("Preloading table %s", name)
   con:query("SELECT SUM(LENGTH(data)) FROM " .. name)
   for i = 1, opt.num_secondary_indexes do
      local index = purchases.indexes[i]
      con:query(string.format("SELECT COUNT(*) FROM %s WHERE %s >= 0",
         d.through(name, purchases.index_name(opt, n, index)),
         index.columns:match("^%w+")))
   end
end

function M.warmup(opt)
   local con, d = connect()
   for _, statement in ipairs(d.before_index) do
      con:query(statement)
   end
   parallel.share(TABLE_KEY, opt.tables, function(n)
      warm(con, d, opt, n)
   end)
   con:disconnect()
end

M.prewarm = M.warmup

function M.check(opt)
   local con, d = connect()
   parallel.share(TABLE_KEY, opt.tables, function(n)
      check(con, d, opt, n)
   end)
   con:disconnect()
end

function M.cleanup(opt)
   local con = connect()
   for n = 1, opt.tables do
      print_line("Dropping table '%s'...", purchases.name(opt, n))
      drop(con, opt, n)
   end
   con:disconnect()
end

-- Returns the number of ids from `first` to `last` that no row has; nil if that
-- would mean reading a large table.
local function count_gaps(con, opt, name, first, last)
   local ids = last - first + 1
   if ids > MAX_COUNTED and not opt.count_rows then
      return nil
   end
   return ids - tonumber((con:query_row("SELECT COUNT(*) FROM " .. name)))
end

local function measure(con, opt, n)
   local name = purchases.name(opt, n)
   local first, last = con:query_row(string.format(
      "SELECT (SELECT MIN(transactionid) FROM %s), " ..
      "(SELECT MAX(transactionid) FROM %s)", name, name))
   first, last = tonumber(first), tonumber(last)
   if not last then
      return purchases.size_of(opt, n, 0, 0, 0)
   end
   local gaps = count_gaps(con, opt, name, first, last)
   if not gaps then
      purchases.sequences().guessed:next()
   end
   purchases.size_of(opt, n, last, first - 1, gaps and math.max(gaps, 0))
end

-- Publishes the sizes of the tables to all users. Rows are counted if
-- --count-rows is given or the table is small. Otherwise the size is computed
-- from the lowest and the highest id, including unused ids in between.
function M.measure(opt)
   local con, d = connect()
   if d.check_engine then
      d.check_engine(con, opt)
   end
   if opt.check_tables then
      local tables_of_run = require("sb.check_tables")
      tables_of_run.require_tables(con, d, opt.tables,
         function(n) return purchases.name(opt, n) end,
         tables_of_run.prepare_command(opt))
   end
   for n = 1, opt.tables do
      measure(con, opt, n)
   end
   con:disconnect()
end

return M
