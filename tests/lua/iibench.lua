#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The insert benchmark: batches of rows into a table with up to three
-- secondary indexes. An event is a transaction that inserts --rows-per-commit
-- rows or, in the --query-threads, one query. Values, sizes and options, which
-- mongodb/iibench.lua has, too, are in sb/iibench.lua.

local dialect = require("sb.dialect")
local check = require("sb.check")
local iibench = require("sb.iibench")
local options = require("sb.options")
local row_text = require("sb.row_text")
local tables = require("sb.tables")

local rand = sysbench.rand

-- Options --------------------------------------------------------------------

sysbench.cmdline.options = options.with_table_options(iibench.options())
sysbench.cmdline.options.pipeline = {"Send the statements of an event " ..
   "together, as far as the client library supports it; without BEGIN, " ..
   "PostgreSQL executes them as one transaction", false}

-- Tables ---------------------------------------------------------------------

local COLUMNS = "dateandtime, cashregisterid, customerid, productid, price, " ..
   "data"

local purchases = {name = iibench.name} -- the tables, for sb/tables.lua

local function create_indexes(con, opt, n)
   local name = iibench.name(opt, n)
   for i = 1, opt.num_secondary_indexes do
      local index = iibench.indexes[i]
      local index_name = iibench.index_name(opt, n, index)
      tables.print("Creating index '%s' on '%s'...", index_name, name)
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
   tables.print("Creating table '%s'...", name)
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

function purchases.create(con, d, opt, n)
   tables.refuse_existing(con, d, iibench.name(opt, n))
   local ok, err = pcall(create, con, d, opt, n)
   if not ok then
      purchases.discard(con, opt, n)
      error(err, 0)
   end
end

function purchases.columns()
   return "transactionid, " .. COLUMNS
end

local function time_of(id)
   return os.date("!%Y-%m-%d %H:%M:%S", iibench.time_of(id))
end

function purchases.fill(loader, opt, n, first, last)
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

function purchases.finish(con, d, opt, n)
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

tables.describe(purchases)

-- Text of INSERTs ------------------------------------------------------------

-- Maximum number of bytes per row, without its data.
local ROW = 100

local COMMA, CLOSE = 44, 41

-- head: "('2026-01-31 12:00:00',"
local function put_row(opt, at, head, format)
   at = row_text.text(at, head)
   local customer, cents = iibench.customer_and_price(opt)
   at = row_text.integer(at, rand.uniform(0, opt.cashregisters - 1), COMMA)
   at = row_text.integer(at, customer, COMMA)
   at = row_text.integer(at, rand.uniform(0, opt.products - 1), COMMA)
   at = row_text.hundredths(at, cents, COMMA)
   at = row_text.random(at, format)
   return row_text.char(row_text.char(at, CLOSE), COMMA)
end

-- Returns a function (name, rows) that returns an INSERT of new rows, all with
-- the current time.
local function new_insert_text(opt)
   local next_format = iibench.data_formats(opt)
   return function(name, rows)
      local first = "INSERT INTO " .. name .. " (" .. COLUMNS ..
         ") VALUES "
      local head = "('" .. os.date("%Y-%m-%d %H:%M:%S") .. "',"
      row_text.reserve(#first + rows * (ROW + opt.data_length_max))
      local at = row_text.text(0, first)
      for _ = 1, rows do
         at = put_row(opt, at, head, next_format())
      end
      return row_text.get(at - 1) -- without the last comma
   end
end

-- Queries --------------------------------------------------------------------

local opt -- the settings
local con, d, sequence

local function draw_price()
   local _, price = iibench.customer_and_price(opt)
   return price / 100
end

local function draw_register()
   return rand.uniform(0, opt.cashregisters - 1)
end

local function draw_id(t)
   return rand.uniform(t.deleted:last(), t.inserted:last())
end

local function prepare_query(op, from, columns, kind, draw)
   local first = columns:match("^%w+")
   local q = {draw = draw, stmt = con:prepare(string.format(
      "SELECT %s FROM %s WHERE %s >= ? ORDER BY %s LIMIT %d",
      columns, from, first, columns, opt.rows_per_query), op)}
   q.from = q.stmt:bind_create(kind)
   q.stmt:bind_param(q.from)
   return q
end

local function prepare_queries(n)
   local types = sysbench.sql.type
   local name, list = iibench.name(opt, n), {}
   for i = 1, opt.query_pk_only and 0 or opt.num_secondary_indexes do
      local index = iibench.indexes[i]
      local by_register = index.columns:match("^cash")
      list[i] = prepare_query(index.name .. "_queries",
         d.through(name, iibench.index_name(opt, n, index)), index.columns,
         by_register and types.INT or types.DOUBLE,
         by_register and draw_register or draw_price)
   end
   if #list == 0 then
      list[1] = prepare_query("pk_queries", name, iibench.key, types.BIGINT,
         draw_id)
   end
   return list
end

-- Reads rows in the order of an index, starting at a random value.
local function query(t)
   local q = t.queries[rand.uniform(1, #t.queries)]
   q.from:set(q.draw(t))
   q.stmt:execute()
end

-- Open tables ----------------------------------------------------------------

local opened = {}   -- by number: the tables with prepared statements
local to_close = {} -- the same, without numbers

-- Returns table n: table_state() of sb/iibench.lua and
--   delete       statement, with the parameter `first`
--   queries      list of {stmt =, from = its parameter, draw = function(t) that
--                returns a value for it}
local function open(n)
   local t = opened[n]
   if t then
      return t
   end
   t = iibench.table_state(opt, n)
   t.delete = con:prepare(d.delete_first(t.name, iibench.key), "deletes")
   t.first = t.delete:bind_create(sysbench.sql.type.BIGINT)
   t.delete:bind_param(t.first)
   t.queries = prepare_queries(n)
   opened[n] = t
   to_close[#to_close + 1] = t
   return t
end

local function close(t)
   t.delete:close()
   for _, q in ipairs(t.queries) do
      q.stmt:close()
   end
end

-- Users ----------------------------------------------------------------------

local begin, commit, insert_text
local queries_only -- true for the --query-threads

function thread_init(id)
   local drv = sysbench.sql.driver()
   opt = sysbench.opt
   con, d = drv:connect(), dialect.of(drv)
   sequence = iibench.sequences()
   queries_only = id >= opt.threads - opt.query_threads
   if not queries_only then
      insert_text = new_insert_text(opt)
      begin = con:prepare(d.begin_write, "begin")
      commit = con:prepare(d.commit, "commit")
   end
end

function thread_done()
   for _, t in ipairs(to_close) do
      close(t)
   end
   if begin then
      begin:close()
      commit:close()
   end
   con:disconnect()
end

local function insert(t, rows)
   while rows > 0 do
      local n = math.min(rows, opt.rows_per_insert)
      con:query(insert_text(t.name, n))
      rows = rows - n
   end
end

-- Inserts `rows` rows and deletes the `old` oldest ones. Returns how many were
-- deleted; in a pipeline, receive() returns that.
local function change(t, rows, old)
   local deleted = 0
   -- A single statement is a transaction by itself.
   local alone = old == 0 and rows <= opt.rows_per_insert
   if not alone then
      begin:execute()
   end
   insert(t, rows)
   if old > 0 then
      t.first:set(old)
      t.delete:execute()
      deleted = con:affected()
   end
   if not alone then
      commit:execute()
   end
   return deleted
end

-- Fetches the results of the pipeline. Returns how many rows its DELETE
-- affected, which is the second to last statement: COMMIT follows it.
local function receive()
   local n, deleted = con:pipeline_send(), 0
   for i = 1, n do
      con:pipeline_next()
      if i == n - 1 then
         deleted = con:affected()
      end
   end
   return deleted
end

local function transaction(t, rows)
   local old = iibench.rows_to_delete(opt, t, rows)
   if opt.pipeline then
      con:pipeline_begin()
   end
   for _ = 1, opt.queries_per_commit do
      query(t)
   end
   local deleted = change(t, rows, old)
   if opt.pipeline and old > 0 then
      deleted = receive()
   elseif opt.pipeline then
      con:pipeline_run()
   end
   iibench.done(sequence, t, rows, deleted)
end

function event()
   local t = open(rand.uniform(1, opt.tables))
   if queries_only then
      if iibench.all_inserted(opt, sequence) then
         return true
      end
      query(t)
      return
   end
   local rows = iibench.reserve(opt, sequence)
   if rows == 0 then
      return true
   end
   transaction(t, rows)
end

-- Check ----------------------------------------------------------------------

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
   check.index(con, d, iibench.name(opt, n),
      {name = iibench.index_name(opt, n, index), columns = index.columns},
      index.columns:match("^%w+") .. " >= 0", "customerid", rows, sum)
end

-- Checks table n in one snapshot: the server may still execute the last
-- statements of clients that were killed.
local function check_table(con, d, opt, n)
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

tables.declare_commands(tables.standard_commands("iibench", purchases,
   check_table, warm), iibench.check_options)

-- Before a run ---------------------------------------------------------------

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
function init()
   local opt = sysbench.opt
   iibench.check_options(opt)
   local con, d = tables.connect("iibench", opt)
   if opt.check_tables then
      check.require_tables(con, d, opt.tables,
         function(n) return iibench.name(opt, n) end)
   end
   for n = 1, opt.tables do
      measure(con, opt, n)
   end
   con:disconnect()
end

sysbench.hooks.report_line = iibench.report_lines()
sysbench.hooks.ends_by_itself = iibench.ends_by_itself
