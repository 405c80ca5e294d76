#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The insert benchmark: batches of rows into a table with up to three
-- secondary indexes. An event is a transaction that inserts --rows-per-commit
-- rows or, in the --query-threads, one query.

local purchases = require("sb.purchases")

sysbench.cmdline.options = purchases.declarations()

local rand = sysbench.rand
local opt -- the settings

require("sb.own_commands").declare("sb.purchases_commands", purchases.normalize)

-- Publishes the sizes of the tables to all users.
function init()
   require("sb.purchases_commands").measure(purchases.normalize(sysbench.opt))
end

function sysbench.hooks.report_line(stat, final)
   return require("sb.purchases_report").line(stat, final)
end

local con, d, text, begin, commit, sequence
local queries_only -- true for the --query-threads

-- Statements on table n, prepared at first use.
local tables = setmetatable({}, {__index = function(list, n)
   local t = purchases.statements(con, d, opt, n)
   list[n] = t
   return t
end})

function thread_init(id)
   opt = purchases.normalize(sysbench.opt)
   local drv = sysbench.sql.driver()
   con = drv:connect()
   d = require("sb.dialect_more").of(drv)
   sequence = purchases.sequences(opt)
   queries_only = id >= opt.threads - opt.query_threads
   if not queries_only then
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

-- Rows of --max-rows that this user has reserved and not inserted yet.
local reserved = 0

-- Returns the number of rows of the next transaction; 0 if --max-rows is
-- reached. A transaction that is retried keeps its reservation.
local function reserve_rows()
   local n = opt.rows_per_commit
   if reserved == 0 and opt.max_rows > 0 then
      local first = sequence.taken:next(n)
      reserved = math.max(math.min(n, opt.max_rows - first + 1), 0)
   elseif reserved == 0 then
      reserved = n
   end
   return reserved
end

local function insert(t, rows)
   while rows > 0 do
      local n = math.min(rows, opt.rows_per_insert)
      con:query(text:insert(t.name, n))
      rows = rows - n
   end
end

-- Returns how many of the oldest rows to delete when `rows` rows are inserted.
-- At most twice as many are deleted as inserted, so a table that is too large
-- shrinks gradually. Rows that a user plans to delete are not planned by other
-- users, and the plan stays valid if the transaction is retried.
local function rows_to_delete(t, rows)
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

-- Reads rows in the order of an index, starting at a random value.
local function query(t)
   local q = t.queries[rand.uniform(1, #t.queries)]
   q.from:set(q.draw(opt, t))
   q.stmt:execute()
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
   local old = rows_to_delete(t, rows)
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
   reserved, t.owed = 0, 0
   t.inserted:next(rows)
   sequence.inserted:next(rows)
   if deleted > 0 then
      t.deleted:next(deleted)
      sequence.deleted:next(deleted)
   end
end

function event()
   local t = tables[rand.uniform(1, opt.tables)]
   if queries_only then
      if opt.max_rows > 0 and sequence.inserted:last() >= opt.max_rows then
         return true
      end
      query(t)
      return
   end
   local rows = reserve_rows()
   if rows == 0 then
      return true
   end
   transaction(t, rows)
end
