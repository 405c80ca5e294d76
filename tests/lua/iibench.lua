#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The insert benchmark: batches of rows into a table with up to three
-- secondary indexes. An event is a transaction that inserts --rows-per-commit
-- rows or, in the --query-threads, one query. The tables, their values and the
-- options are in sb/iibench.lua.

local dialect = require("sb.dialect")
local iibench = require("sb.iibench")
local rand = sysbench.rand

local opt -- the settings
local con, d, sequence

-- Queries --------------------------------------------------------------------

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
   local kind = sysbench.sql.type
   local name, list = iibench.name(opt, n), {}
   for i = 1, opt.query_pk_only and 0 or opt.num_secondary_indexes do
      local index = iibench.indexes[i]
      local by_register = index.columns:match("^cash")
      list[i] = prepare_query(index.name .. "_queries",
         d.through(name, iibench.index_name(opt, n, index)), index.columns,
         by_register and kind.INT or kind.DOUBLE,
         by_register and draw_register or draw_price)
   end
   if #list == 0 then
      list[1] = prepare_query("pk_queries", name, iibench.key, kind.BIGINT,
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

-- Tables ---------------------------------------------------------------------

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
      insert_text = require("sb.iibench_text").new(opt)
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

if sysbench.cmdline.run_state then
   return -- the rest is for the main state and the commands
end

local commands = require("sb.iibench_commands")

if sysbench.cmdline.main_state then
   sysbench.cmdline.options = commands.declarations()
end

require("sb.own_commands").declare(commands, commands.normalize)

-- Publishes the sizes of the tables to all users.
function init()
   commands.measure(commands.normalize(sysbench.opt))
end

sysbench.hooks.report_line = iibench.report_line
sysbench.hooks.ends_by_itself = iibench.ends_by_itself
