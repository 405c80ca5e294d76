-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The purchases of iibench: tables, values, sizes, options and report lines,
-- for all kinds of databases.

local options = require("sb.options")
local sbtest = require("sb.sbtest")

local rand = sysbench.rand
local floor = math.floor

local M = {
   columns = "dateandtime, cashregisterid, customerid, productid, price, data",
   key = "transactionid",
   name = sbtest.name,
}

-- Secondary indexes, in the order of --num-secondary-indexes.
M.indexes = {
   {name = "marketsegment", columns = "price, customerid"},
   {name = "registersegment", columns = "cashregisterid, price, customerid"},
   {name = "pdc", columns = "price, dateandtime, customerid"},
}

local TABLE = "purchases_index"

-- Returns the name of an index of table n. It is unique, because some databases
-- require that.
function M.index_name(opt, n, index)
   local name = M.name(opt, n)
   return name == TABLE and index.name
      or index.name .. "_" .. name:gsub("%.", "_")
end

-- Options --------------------------------------------------------------------

-- Returns the options that do not depend on the kind of database.
function M.options()
   local int = sysbench.cmdline.ARG_INT
   return {
      table_name = {"Name of the table; with --tables above 1, the number " ..
         "of the table is appended", TABLE, nil, options.validate_table_name},
      tables = {"Number of tables", 1, int, min = 1, max = 1e6},
      table_size = {"Rows per table that prepare loads", 0, int,
         min = 0, max = 1e12},
      max_rows = {"Maximum number of rows that all threads insert; 0: no " ..
         "limit", 0, int, min = 0, max = 1e15},
      rows_per_commit = {"Rows inserted per transaction", 1000, int,
         min = 1, max = 1e6},
      rows_per_insert = {"Maximum number of rows per INSERT", 1000, int,
         min = 1, max = 1e5},
      num_secondary_indexes = {"Number of secondary indexes, 0 to 3", 3, int,
         min = 0, max = 3},
      max_table_rows = {"Maximum number of rows per table with " ..
         "--with-max-table-rows", 1e7, int, min = 1, max = 1e12},
      query_threads = {"Number of the --threads that only query", 0, int,
         min = 0, max = 1e6},
      queries_per_commit = {"Index queries before each transaction, in " ..
         "the threads that insert", 0, int, min = 0, max = 1e6},
      rows_per_query = {"Maximum number of rows per query", 10, int,
         min = 1, max = 1e6},
      cashregisters = {"Number of cash registers", 1000, int,
         min = 1, max = 2147483647},
      products = {"Number of products", 10000, int, min = 1, max = 2147483647},
      customers = {"Number of customers", 100000, int,
         min = 1, max = 2147483647},
      max_price = {"Highest price of a product, in hundredths, before " ..
         "customerid is added", 500, int, min = 0, max = 1e6},
      data_length_min = {"Minimum length of data, in characters", 10, int,
         min = 0, max = 65000},
      data_length_max = {"Maximum length of data, in characters, at most " ..
         "65000", 10, int, min = 0, max = 65000},
      data_random_pct = {"Percentage of data that is random, 0 to 100; " ..
         "the rest is one repeated letter", 50, int, min = 0, max = 100},
      secondary_at_end = {"Create the secondary indexes after prepare has " ..
         "loaded the rows, not before", false},
      with_max_table_rows = {"Delete the oldest rows of tables that have " ..
         "more than --max-table-rows", false},
      delete_per_insert = {"Delete as many of the oldest rows as a " ..
         "transaction inserts", false},
      query_pk_only = {"Use the primary key for all queries", false},
      count_rows = {"Count the rows when a run starts; off: tables with " ..
         "more than a million ids are assumed to have one row per id", false},
   }
end

-- Checks the options that depend on each other.
function M.check_options(opt)
   options.refuse_ranks("iibench")
   options.require_order(opt, "data_length_min", "data_length_max")
   if sysbench.cmdline.command == "run" then
      options.require_order(opt, "query_threads", "threads")
   end
end

-- Values ---------------------------------------------------------------------

-- Returns a customer and a price in cents. The price rises with the customer's
-- number.
function M.customer_and_price(opt)
   local customer = rand.uniform(0, opt.customers - 1)
   return customer, floor(rand.uniform(0, opt.max_price) + customer)
end

-- Returns a function that returns formats of random strings for the column
-- data.
function M.data_formats(opt)
   local min, max = opt.data_length_min, opt.data_length_max
   local function make(length)
      local random = floor(length * opt.data_random_pct / 100)
      return ("@"):rep(random) .. ("a"):rep(length - random)
   end
   if min == max then
      local format = make(max)
      return function() return format end
   end
   -- Formats are cached, unless they need too much memory.
   local cache = {}
   local keep = (max - min + 1) * max <= 2 ^ 20
   return function()
      local length = rand.uniform(min, max)
      local format = cache[length]
      if not format then
         format = make(length)
         cache[length] = keep and format or nil
      end
      return format
   end
end

-- Sizes ----------------------------------------------------------------------

-- Returns counters that all users share: rows reserved of --max-rows, rows
-- inserted and deleted in this run, and tables whose rows were not counted; and
-- `reserved`, the rows that this user has reserved and not inserted yet.
function M.sequences()
   return {
      reserved = 0,
      taken = sysbench.sequence("iibench taken"),
      inserted = sysbench.sequence("iibench inserted"),
      deleted = sysbench.sequence("iibench deleted"),
      guessed = sysbench.sequence("iibench guessed"),
   }
end

-- Returns the sequences of table n: its highest id, the ids below its lowest
-- one (rows deleted), the same including rows that users plan to delete, and
-- the known ids in between that no row has. The arguments are minimum values of
-- the sequences.
function M.size_of(opt, n, inserted, deleted, gaps)
   local name = M.name(opt, n)
   return sysbench.sequence("iibench inserted " .. name, inserted),
      sysbench.sequence("iibench deleted " .. name, deleted),
      sysbench.sequence("iibench planned " .. name, deleted),
      sysbench.sequence("iibench gaps " .. name, gaps)
end

-- Returns the number of rows of the next transaction; 0 if --max-rows is
-- reached. A transaction that is retried keeps its reservation. s: sequences().
function M.reserve(opt, s)
   local n = opt.rows_per_commit
   if s.reserved == 0 and opt.max_rows > 0 then
      local first = s.taken:next(n)
      s.reserved = math.max(math.min(n, opt.max_rows - first + 1), 0)
   elseif s.reserved == 0 then
      s.reserved = n
   end
   return s.reserved
end

-- Returns the state of table n in a user:
--   name         of the table
--   inserted, deleted, planned, gaps   see size_of()
--   owed         rows that this user has planned to delete
function M.table_state(opt, n)
   local t = {name = M.name(opt, n), owed = 0}
   t.inserted, t.deleted, t.planned, t.gaps = M.size_of(opt, n)
   return t
end

-- Returns how many of the oldest rows to delete when `rows` rows are inserted.
-- At most twice as many are deleted as inserted, so a table that is too large
-- shrinks gradually. Rows that a user plans to delete are not planned by other
-- users, and the plan stays valid if the transaction is retried.
function M.rows_to_delete(opt, t, rows)
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

-- Counts what a transaction on the table has done.
function M.done(s, t, rows, deleted)
   s.reserved, t.owed = 0, 0
   t.inserted:next(rows)
   s.inserted:next(rows)
   if deleted > 0 then
      t.deleted:next(deleted)
      s.deleted:next(deleted)
   end
end

-- Returns whether the --query-threads end, too.
function M.all_inserted(opt, s)
   return opt.max_rows > 0 and s.inserted:last() >= opt.max_rows
end

-- For the hook.
function M.ends_by_itself()
   return sysbench.opt.max_rows > 0
end

-- Sizes before a run --------------------------------------------------------

-- The rows of a table with more ids are counted only with --count-rows.
local MAX_COUNTED = 1e6

-- Publishes the size of table n to all users. first, last: its lowest and its
-- highest id, nil if it is empty. count(): returns the number of rows; it is
-- called if --count-rows is given or the table is small. Otherwise the size is
-- computed from the ids, including unused ids in between.
function M.publish_size(opt, n, first, last, count)
   if not last then
      return M.size_of(opt, n, 0, 0, 0)
   end
   local ids = last - first + 1
   if ids > MAX_COUNTED and not opt.count_rows then
      M.sequences().guessed:next()
      return M.size_of(opt, n, last, first - 1)
   end
   return M.size_of(opt, n, last, first - 1, math.max(ids - count(), 0))
end

-- Rows of prepare -----------------------------------------------------------

-- Date and time of the first row, and rows per second from then on.
local START = 946684800 -- 2000-01-01 00:00:00
M.ROWS_PER_SECOND = 100

-- Returns the date and time of row id, in seconds since 1970.
function M.time_of(id)
   return START + floor(id / M.ROWS_PER_SECOND)
end

-- Report lines ---------------------------------------------------------------

local function size(opt)
   local rows = 0
   for n = 1, opt.tables do
      local inserted, deleted, _, gaps = M.size_of(opt, n)
      rows = rows + inserted:last() - deleted:last() - gaps:last()
   end
   return rows
end

-- Returns the label of a size that is computed from ids instead of counted.
local function by(s)
   return s.guessed:last() > 0 and " by ids" or ""
end

-- Returns the function that returns the line for an interval or for the final
-- report.
function M.report_lines()
   local before = 0 -- rows inserted before this interval

   return function(stat, final)
      local opt, s = sysbench.opt, M.sequences()
      local inserted, deleted = s.inserted:last(), s.deleted:last()
      if final then
         return string.format("Rows inserted: %.0f (%.2f per sec.), " ..
            "deleted: %.0f, in the tables%s: %.0f", inserted,
            inserted / math.max(stat.time_total + opt.warmup_time, 1e-9),
            deleted, by(s), size(opt))
      end
      local rate = (inserted - before) / math.max(stat.time_interval, 1e-9)
      before = inserted
      return string.format("rows/s: %.2f rows%s: %.0f", rate, by(s),
         size(opt))
   end
end

return M
