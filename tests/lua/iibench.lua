#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The insert benchmark: batches of rows into a table with up to three
-- secondary indexes. An event is a transaction of --rows-per-commit rows; in
-- the threads that query, a query.

local purchases = require("sb.purchases")

sysbench.cmdline.options = purchases.declarations()

local rand = sysbench.rand
local opt -- the settings

require("sb.own_commands").declare("sb.purchases_commands", purchases.settle)

-- Tells the users how large the tables are.
function init()
   require("sb.purchases_commands").measure(purchases.settle(sysbench.opt))
end

function sysbench.hooks.report_line(stat, final)
   return require("sb.purchases_report").line(stat, final)
end

local con, d, text, begin, commit, sequence
local queries -- this user only queries

-- Statements on table n, made with their first use.
local tables = setmetatable({}, {__index = function(list, n)
   local t = purchases.statements(con, d, opt, n)
   list[n] = t
   return t
end})

function thread_init(id)
   opt = purchases.settle(sysbench.opt)
   local drv = sysbench.sql.driver()
   con = drv:connect()
   d = require("sb.dialect_more").of(drv)
   sequence = purchases.sequences(opt)
   queries = id >= opt.threads - opt.query_threads
   if not queries then
      text = require("sb.purchases_text").new(opt)
      begin = con:prepare(d.begin_write, "begin")
      commit = con:prepare(d.commit, "commit")
   end
end

function thread_done()
   for _, t in pairs(tables) do
      purchases.close(t)
   end
   if begin then
      begin:close()
      commit:close()
   end
   con:disconnect()
end

-- Rows of --max-rows that this user has taken and not inserted yet.
local taken = 0

-- Number of rows of the next transaction; 0 when there are enough.
local function take()
   local n = opt.rows_per_commit
   if taken == 0 and opt.max_rows > 0 then
      local first = sequence.taken:next(n)
      taken = math.max(math.min(n, opt.max_rows - first + 1), 0)
   elseif taken == 0 then
      taken = n
   end
   return taken
end

local function insert(t, rows)
   local most = opt.rows_per_insert
   while rows > 0 do
      local n = math.min(rows, most)
      con:query(text:insert(t.name, n))
      rows = rows - n
   end
end

-- How many of the oldest rows go with `rows` new ones. A table that is too
-- large shrinks by and by. What this user took upon itself is nobody else's,
-- and stays so when the transaction is tried again.
local function surplus(t, rows)
   if opt.delete_per_insert then
      return rows
   elseif opt.with_max_table_rows and t.owed == 0 then
      local size = t.inserted:last() + rows - t.planned:last() -
         t.gaps:last()
      t.owed = math.max(math.min(size - opt.max_table_rows, 2 * rows), 0)
      if t.owed > 0 then
         t.planned:next(t.owed)
      end
   end
   return t.owed
end

-- Reads some rows in order of an index, from somewhere on.
local function query(t)
   local q = t.queries[rand.uniform(1, #t.queries)]
   q.from:set(q.draw(opt, t))
   q.stmt:execute()
end

-- Inserts `rows` rows and deletes `old`; returns how many are gone.
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

-- Fetches the answers of the pipeline; returns how many rows its DELETE met,
-- which is the last statement but for COMMIT.
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
   local old = surplus(t, rows)
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
   taken, t.owed = 0, 0
   t.inserted:next(rows)
   sequence.inserted:next(rows)
   if deleted > 0 then
      t.deleted:next(deleted)
      sequence.deleted:next(deleted)
   end
end

function event()
   local t = tables[rand.uniform(1, opt.tables)]
   if queries then
      if opt.max_rows > 0 and sequence.inserted:last() >= opt.max_rows then
         return true
      end
      query(t)
      return
   end
   local rows = take()
   if rows == 0 then
      return true
   end
   transaction(t, rows)
end
