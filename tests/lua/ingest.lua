#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Ingest: many users insert batches of rows into many tables. Each event is a
-- batch, which is a transaction; --method selects how it is sent.

local dialect = require("sb.dialect")
local check = require("sb.check")
local options = require("sb.options")
local retry = require("sb.retry")
local row_text = require("sb.row_text")
local tables = require("sb.tables")

local rand = sysbench.rand

-- Options --------------------------------------------------------------------

local int = sysbench.cmdline.ARG_INT

sysbench.cmdline.options = options.with_table_options{
   tables = {"Number of tables", 16, int, min = 1, max = 1e6},
   table_size = {"Rows per table that prepare inserts", 0, int, min = 0,
      max = 1e12},
   table_name = {"Prefix of the names of the tables; their numbers are " ..
      "appended", "ingest", nil, options.validate_table_name},
   batch_size = {"Rows per batch", 50, int, min = 1, max = 100000},
   sources = {"Number of different sources", 1000, int, min = 1,
      max = 1000000},
   data_length = {"Length of the column data, in characters", 100, int,
      min = 0, max = 16000},
   method = {"How a batch is sent: multi-row (one INSERT), multi-statement " ..
      "(one text with an INSERT per row), pipeline (prepared INSERTs sent " ..
      "together), single (prepared INSERTs one by one) or load (the " ..
      "driver's bulk load)", "multi-row",
      values = {"multi-row", "multi-statement", "pipeline", "single", "load"}},
   create_secondary = {"Create an index on source and reading", true},
}

-- Tables ---------------------------------------------------------------------

local COLUMNS = "id, batch, batch_rows, source, reading, control, data"
local MAX_READING = 1000000

local ingested = {key = "id"} -- the tables, for sb/tables.lua

function ingested.name(opt, n)
   return opt.table_name .. n
end

function ingested.define(d, opt)
   return string.format("id %s, batch BIGINT NOT NULL, " ..
      "batch_rows INTEGER NOT NULL, source INTEGER NOT NULL, " ..
      "reading INTEGER NOT NULL, control INTEGER NOT NULL, " ..
      "data VARCHAR(%d) NOT NULL", d.big_id, math.max(opt.data_length, 1))
end

function ingested.columns()
   return COLUMNS
end

-- Returns a number that check computes, too, from the other columns of a row.
local function control(id, source, reading)
   return (id % 1000003 * 31 + source * 17 + reading) % 1000003
end

-- The rows of prepare are batches of --batch-size, too; the last one of a table
-- may be smaller.
function ingested.fill(loader, opt, n, first, last)
   local size = opt.batch_size
   local format = ("@"):rep(opt.data_length)
   for id = first, last do
      rand.row(n, id)
      local source = rand.uniform(1, opt.sources)
      local reading = rand.uniform(0, MAX_READING - 1)
      local batch = id - (id - 1) % size
      loader:int(id)
      loader:int(batch)
      loader:int(math.min(size, opt.table_size - batch + 1))
      loader:int(source)
      loader:int(reading)
      loader:int(control(id, source, reading))
      loader:random_text(format)
   end
   rand.resume()
end

local function index_name(opt, n)
   return ingested.name(opt, n):gsub("%.", "_") .. "_source"
end

function ingested.indexes(con, opt, n)
   local name = ingested.name(opt, n)
   if opt.create_secondary then
      tables.print("Creating a secondary index on '%s'...", name)
      con:query(string.format("CREATE INDEX %s ON %s (source, reading)",
         index_name(opt, n), name))
   end
end

function ingested.index_names(opt, n)
   return opt.create_secondary and {index_name(opt, n)} or {}
end

tables.describe(ingested)

-- Users ----------------------------------------------------------------------

local opt = nil    -- the settings
local con, d       -- the connection and its dialect
local targets = {} -- the tables in use, by number
local statements = {} -- to close them

-- Returns the shared sequence of the ids of table n.
local function ids_of(n, after)
   return sysbench.sequence("ingest " .. ingested.name(sysbench.opt, n), after)
end

-- Returns the shared sequence that counts the rows inserted by this run.
local function inserted_rows()
   return sysbench.local_sequence("ingest rows")
end

-- Returns table n.
local function target(n)
   local t = targets[n]
   if not t then
      local name = ingested.name(opt, n)
      t = {name = name, ids = ids_of(n),
         insert = "INSERT INTO " .. name .. " (" .. COLUMNS .. ") VALUES "}
      targets[n] = t
   end
   return t
end

-- Methods (--method) ----------------------------------------------------------
--
-- Each returns a function that inserts a batch of opt.batch_size rows from id
-- `first` on into table t.

local methods = {}

local ROW = 100 -- maximum number of bytes of the numbers in a row
local COMMA, OPEN, CLOSE = 44, 40, 41

-- Returns the statements that insert a batch: the text of the rows,
-- "(1,1,50,7,8,9,'abc')", with `between` between two rows, and `before` and
-- `after` around all.
local function batch_text(first, before, between, after)
   local rows, format = opt.batch_size, ("@"):rep(opt.data_length)
   row_text.reserve(#before + #after +
      rows * (ROW + opt.data_length + #between))
   local at = row_text.text(0, before)
   for id = first, first + rows - 1 do
      if id > first then
         at = row_text.text(at, between)
      end
      local source = rand.uniform(1, opt.sources)
      local reading = rand.uniform(0, MAX_READING - 1)
      at = row_text.char(at, OPEN)
      at = row_text.integer(at, id, COMMA)
      at = row_text.integer(at, first, COMMA)
      at = row_text.integer(at, rows, COMMA)
      at = row_text.integer(at, source, COMMA)
      at = row_text.integer(at, reading, COMMA)
      at = row_text.integer(at, control(id, source, reading), COMMA)
      at = row_text.char(row_text.random(at, format), CLOSE)
   end
   return row_text.get(row_text.text(at, after))
end

methods["multi-row"] = function()
   return function(t, first)
      con:query(batch_text(first, t.insert, ",", ""))
   end
end

methods["multi-statement"] = function()
   local begin, commit = d.begin_write .. ";", ";" .. d.commit
   return function(t, first)
      con:query(batch_text(first, begin .. t.insert, ";" .. t.insert, commit))
      while con:more_results() do
         con:next_result()
      end
   end
end

-- Prepares the INSERT of one row into table t.
local function prepare_row(t)
   local types = sysbench.sql.type
   local row = con:prepare(t.insert .. "(?, ?, ?, ?, ?, ?, ?)", "insert")
   t.row, t.id = row, row:bind_create(types.BIGINT)
   t.batch, t.batch_rows = row:bind_create(types.BIGINT),
      row:bind_create(types.INT)
   t.source, t.reading, t.control = row:bind_create(types.INT),
      row:bind_create(types.INT), row:bind_create(types.INT)
   t.data = row:bind_create(types.VARCHAR, math.max(opt.data_length, 1))
   row:bind_param(t.id, t.batch, t.batch_rows, t.source, t.reading, t.control,
      t.data)
   statements[#statements + 1] = row
end

methods.single = function()
   local format = ("@"):rep(opt.data_length)
   local begin = con:prepare(d.begin_write, "begin")
   local commit = con:prepare(d.commit, "commit")
   return function(t, first)
      if not t.row then
         prepare_row(t)
      end
      begin:execute()
      t.batch:set(first)
      t.batch_rows:set(opt.batch_size)
      for id = first, first + opt.batch_size - 1 do
         local source = rand.uniform(1, opt.sources)
         local reading = rand.uniform(0, MAX_READING - 1)
         t.id:set(id)
         t.source:set(source)
         t.reading:set(reading)
         t.control:set(control(id, source, reading))
         t.data:set_rand_str(format)
         t.row:execute()
      end
      commit:execute()
   end
end

methods.pipeline = function()
   local single = methods.single()
   return function(t, first)
      con:pipeline(single, t, first)
   end
end

methods.load = function()
   local columns = COLUMNS:gsub(" ", "")
   local format = ("@"):rep(opt.data_length)
   return function(t, first)
      local loader = con:load(t.name, columns, {private = true})
      for id = first, first + opt.batch_size - 1 do
         local source = rand.uniform(1, opt.sources)
         local reading = rand.uniform(0, MAX_READING - 1)
         loader:int(id)
         loader:int(first)
         loader:int(opt.batch_size)
         loader:int(source)
         loader:int(reading)
         loader:int(control(id, source, reading))
         loader:random_text(format)
      end
      loader:close()
   end
end

-- Events ---------------------------------------------------------------------

local batch = sysbench.op("batch")
local is_retry = retry.watch()
local insert      -- inserts a batch
local inserted    -- counts the rows
local into, token -- the table of the event, and its measurement

-- New ids continue after the highest existing id of each table.
function init()
   opt = sysbench.opt
   if opt.batch_size > 1024 then
      options.refuse_ranks("ingest", "with --batch-size above 1024")
   end
   con, d = tables.connect("ingest", opt)
   tables.require_all(con, d, opt, ingested)
   for n = 1, opt.tables do
      local last = con:query_row("SELECT MAX(id) FROM " ..
         ingested.name(opt, n))
      ids_of(n, tonumber(last))
   end
   con:disconnect()
end

function thread_init()
   opt = sysbench.opt
   local drv = sysbench.sql.driver()
   con, d = drv:connect(), dialect.of(drv)
   insert, inserted = methods[opt.method](), inserted_rows()
end

function thread_done()
   for _, statement in ipairs(statements) do
      statement:close()
   end
   con:disconnect()
end

function event()
   if not is_retry() then
      into = target(rand.uniform(1, opt.tables))
      token = batch:start()
   end
   insert(into, into.ids:next(opt.batch_size))
   batch:finish(token)
   inserted:next(opt.batch_size)
end

-- Commands and check ---------------------------------------------------------

local function check_values(con, d, opt, name)
   local sum = string.format("(%s * 31 + source * 17 + reading)",
      d.remainder:format("id", 1000003))
   local count, id = con:query_row(string.format("SELECT COUNT(*), MIN(id) " ..
      "FROM %s WHERE control <> %s OR source < 1 OR source > %d OR " ..
      "reading < 0 OR reading >= %d OR LENGTH(data) <> %d OR id < batch OR " ..
      "id >= batch + batch_rows", name, d.remainder:format(sum, 1000003),
      opt.sources, MAX_READING, opt.data_length))
   if tonumber(count) > 0 then
      error(string.format("%s: %s %s values that ingest does not write with " ..
         "these options, the first is id %s", name, count,
         count == "1" and "row has" or "rows have", id), 0)
   end
end

-- Checks that each batch is complete: it is one transaction.
local function check_batches(con, name)
   local count, first = con:query_row(string.format("SELECT COUNT(*), " ..
      "MIN(batch) FROM (SELECT batch FROM %s GROUP BY batch HAVING " ..
      "COUNT(*) <> MAX(batch_rows) OR MIN(batch_rows) <> MAX(batch_rows)) " ..
      "AS w", name))
   if tonumber(count) > 0 then
      error(string.format("%s: %s %s incomplete, the first begins with id %s",
         name, count, count == "1" and "batch is" or "batches are", first), 0)
   end
end

-- Checks table n in one snapshot: the server may still execute the last
-- statements of clients that were killed.
local function check_table(con, d, opt, n)
   local name, indexed = ingested.name(opt, n), opt.create_secondary
   con:query(d.begin_snapshot)
   -- The length of data is in no index, so the server must read the table.
   local rows, sum, batches = con:query_row(string.format("SELECT COUNT(*), " ..
      "SUM(reading), COUNT(DISTINCT batch), SUM(LENGTH(data)) FROM %s", name))
   check_values(con, d, opt, name)
   check_batches(con, name)
   for _, statement in ipairs(indexed and d.before_index or {}) do
      con:query(statement)
   end
   if indexed then
      check.index(con, d, name, {name = index_name(opt, n),
         columns = "source, reading"}, "source >= 0", "reading", rows, sum)
   end
   con:query("ROLLBACK") -- also undoes before_index for the next table
   return string.format("%s: %s rows in %s batches, all correct and " ..
      "complete", name, rows, batches)
end

local function warm(con, _, opt, n)
   con:query("SELECT SUM(LENGTH(data)) FROM " .. ingested.name(opt, n))
end

tables.declare_commands(tables.standard_commands("ingest", ingested,
   check_table, warm))

-- Reports --------------------------------------------------------------------

local before = 0 -- rows inserted before this interval

function sysbench.hooks.report_line(stat, final)
   local rows = inserted_rows():last()
   if final then
      return string.format("Rows inserted: %.0f (%.2f per sec.)", rows,
         rows / math.max(stat.time_total + sysbench.opt.warmup_time, 1e-9))
   end
   local rate = (rows - before) / math.max(stat.time_interval, 1e-9)
   before = rows
   return string.format("rows/s: %.2f", rate)
end
