-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- iibench: its options, tables, values and statements. The code of its commands
-- is in sb/purchases_commands.lua.

local rand = sysbench.rand
local floor = math.floor

local M = {
   columns = "dateandtime, cashregisterid, customerid, productid, price, data",
   key = "transactionid",
}

-- Secondary indexes, in the order of --num-secondary-indexes.
M.indexes = {
   {name = "marketsegment", columns = "price, customerid"},
   {name = "registersegment", columns = "cashregisterid, price, customerid"},
   {name = "pdc", columns = "price, dateandtime, customerid"},
}

local TABLE = "purchases_index"

-- name = {help, default, min, max}
local numbers = {
   tables = {"Number of tables", 1, 1, 1e6},
   table_size = {"Rows per table that prepare loads", 0, 0, 1e12},
   max_rows = {"Maximum number of rows that all threads insert; 0: no limit",
      0, 0, 1e15},
   rows_per_commit = {"Rows inserted per transaction", 1000, 1, 1e6},
   rows_per_insert = {"Maximum number of rows per INSERT", 1000, 1, 1e5},
   num_secondary_indexes = {"Number of secondary indexes, 0 to 3", 3, 0, 3},
   max_table_rows = {"Maximum number of rows per table with " ..
      "--with-max-table-rows", 1e7, 1, 1e12},
   query_threads = {"Number of the --threads that only query", 0, 0, 1e6},
   queries_per_commit = {"Index queries before each transaction, in the " ..
      "threads that insert", 0, 0, 1e6},
   rows_per_query = {"Maximum number of rows per query", 10, 1, 1e6},
   cashregisters = {"Number of cash registers", 1000, 1, 2147483647},
   products = {"Number of products", 10000, 1, 2147483647},
   customers = {"Number of customers", 100000, 1, 2147483647},
   max_price = {"Highest price of a product, in hundredths, before " ..
      "customerid is added", 500, 0, 1e6},
   data_length_min = {"Minimum length of data, in characters", 10, 0, 65000},
   data_length_max = {"Maximum length of data, in characters, at most 65000",
      10, 0, 65000},
   data_random_pct = {"Percentage of data that is random, 0 to 100; the " ..
      "rest is one repeated letter", 50, 0, 100},
}

local function declare()
   local cmdline = sysbench.cmdline
   local oltp = require("sb.declarations").oltp()
   local options = {
      table_name = {"Name of the table; with --tables above 1, the number " ..
         "of the table is appended", TABLE, cmdline.ARG_STRING},
      secondary_at_end = {"Create the secondary indexes after prepare has " ..
         "loaded the rows, not before", false, cmdline.ARG_BOOL},
      with_max_table_rows = {"Delete the oldest rows of tables that have " ..
         "more than --max-table-rows", false, cmdline.ARG_BOOL},
      delete_per_insert = {"Delete as many of the oldest rows as a " ..
         "transaction inserts", false, cmdline.ARG_BOOL},
      query_pk_only = {"Use the primary key for all queries", false,
         cmdline.ARG_BOOL},
      count_rows = {"Count the rows when a run starts; off: tables with " ..
         "more than a million ids are assumed to have one row per id", false,
         cmdline.ARG_BOOL},
      pipeline = oltp.pipeline,
      create_table_options = oltp.create_table_options,
      mysql_storage_engine = oltp.mysql_storage_engine,
      pgsql_variant = oltp.pgsql_variant,
      check_tables = oltp.check_tables,
   }
   for name, o in pairs(numbers) do
      options[name] = {o[1], o[2], cmdline.ARG_INT}
   end
   return options
end

-- Returns the value for sysbench.cmdline.options; only that of the main state
-- is used.
function M.declarations()
   return sysbench.cmdline.main_state and declare() or {}
end

local function require_order(opt, small, large)
   if opt[small] > opt[large] then
      error(string.format("--%s must not be more than --%s, which is %.0f",
         small:gsub("_", "-"), large:gsub("_", "-"), opt[large]), 0)
   end
end

function M.normalize(opt)
   local bounds = {}
   for name, o in pairs(numbers) do
      bounds[name] = {o[3], o[4]}
   end
   require("sb.bounds").check(opt, bounds)
   require_order(opt, "data_length_min", "data_length_max")
   if sysbench.cmdline.command == "run" then
      require_order(opt, "query_threads", "threads")
   end
   if not opt.table_name:match("^[%w_%.]+$") then
      error("--table-name must consist of letters, digits, '_' and '.', " ..
         "not '" .. opt.table_name .. "'", 0)
   end
   return opt
end

-- Returns the name of table n.
function M.name(opt, n)
   return opt.tables > 1 and opt.table_name .. n or opt.table_name
end

-- Returns the name of an index of table n. It is unique, because some databases
-- require that.
function M.index_name(opt, n, index)
   local name = M.name(opt, n)
   return name == TABLE and index.name
      or index.name .. "_" .. name:gsub("%.", "_")
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

-- Statements -----------------------------------------------------------------

-- Returns counters that all users share: rows reserved of --max-rows, rows
-- inserted and deleted in this run, and tables whose rows were not counted.
function M.sequences()
   return {
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

local function draw_price(opt)
   local _, price = M.customer_and_price(opt)
   return price / 100
end

local function draw_register(opt)
   return rand.uniform(0, opt.cashregisters - 1)
end

local function draw_id(_, t)
   return rand.uniform(t.deleted:last(), t.inserted:last())
end

local function prepare_query(con, opt, op, from, columns, kind, draw)
   local first = columns:match("^%w+")
   local q = {draw = draw, stmt = con:prepare(string.format(
      "SELECT %s FROM %s WHERE %s >= ? ORDER BY %s LIMIT %d",
      columns, from, first, columns, opt.rows_per_query), op)}
   q.from = q.stmt:bind_create(kind)
   q.stmt:bind_param(q.from)
   return q
end

local function prepare_queries(con, d, opt, n)
   local kind = sysbench.sql.type
   local name, list = M.name(opt, n), {}
   for i = 1, opt.query_pk_only and 0 or opt.num_secondary_indexes do
      local index = M.indexes[i]
      local by_register = index.columns:match("^cash")
      list[i] = prepare_query(con, opt, index.name .. "_queries",
         d.through(name, M.index_name(opt, n, index)), index.columns,
         by_register and kind.INT or kind.DOUBLE,
         by_register and draw_register or draw_price)
   end
   if #list == 0 then
      list[1] = prepare_query(con, opt, "pk_queries", name, M.key, kind.BIGINT,
         draw_id)
   end
   return list
end

-- Returns the statements on table n:
--   name         of the table
--   delete       statement, with the parameter `first`
--   queries      list of {stmt =, from = its parameter, draw = function(opt, t)
--                that returns a value for it}
--   inserted, deleted, planned, gaps   see size_of()
--   owed         rows that this user has planned to delete
function M.statements(con, d, opt, n)
   local t = {name = M.name(opt, n), owed = 0}
   t.inserted, t.deleted, t.planned, t.gaps = M.size_of(opt, n)
   t.delete = con:prepare(d.delete_first(t.name, M.key), "deletes")
   t.first = t.delete:bind_create(sysbench.sql.type.BIGINT)
   t.delete:bind_param(t.first)
   t.queries = prepare_queries(con, d, opt, n)
   return t
end

function M.close(t)
   t.delete:close()
   for _, q in ipairs(t.queries) do
      q.stmt:close()
   end
end

return M
