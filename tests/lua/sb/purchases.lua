-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- iibench: its options, tables, values and statements. What only commands do
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

-- name = {help, default, least, most}
local numbers = {
   tables = {"Number of tables", 1, 1, 1e6},
   table_size = {"Rows per table that prepare loads", 0, 0, 1e12},
   max_rows = {"Rows to insert in a run, by all threads; 0: no limit", 0, 0,
      1e15},
   rows_per_commit = {"Rows inserted per transaction", 1000, 1, 1e6},
   rows_per_insert = {"Rows of an INSERT, at most", 1000, 1, 1e5},
   num_secondary_indexes = {"Number of secondary indexes, 0 to 3", 3, 0, 3},
   max_table_rows = {"Rows that --with-max-table-rows leaves in a table", 1e7,
      1, 1e12},
   query_threads = {"So many of the --threads query and insert nothing", 0, 0,
      1e6},
   queries_per_commit = {"Index queries before each transaction, by the " ..
      "threads that insert", 0, 0, 1e6},
   rows_per_query = {"Rows that a query reads, at most", 10, 1, 1e6},
   cashregisters = {"Number of cash registers", 1000, 1, 2147483647},
   products = {"Number of products", 10000, 1, 2147483647},
   customers = {"Number of customers", 100000, 1, 2147483647},
   max_price = {"Highest price of a product, in hundredths, before " ..
      "customerid is added", 500, 0, 1e6},
   data_length_min = {"Least length of data, in characters", 10, 0, 65000},
   data_length_max = {"Greatest length of data, in characters, up to 65000",
      10, 0, 65000},
   data_random_pct = {"Percent of data that is random, 0 to 100; the " ..
      "rest is one letter repeated", 50, 0, 100},
}

local function declare()
   local cmdline = sysbench.cmdline
   local oltp = require("sb.declarations").oltp()
   local options = {
      table_name = {"Name of the table; with more than one --tables, their " ..
         "numbers follow it", TABLE, cmdline.ARG_STRING},
      secondary_at_end = {"Make the secondary indexes when the rows of " ..
         "prepare are loaded, not before", false, cmdline.ARG_BOOL},
      with_max_table_rows = {"Delete the oldest rows of tables that have " ..
         "more than --max-table-rows", false, cmdline.ARG_BOOL},
      delete_per_insert = {"Delete as many of the oldest rows as a " ..
         "transaction inserts", false, cmdline.ARG_BOOL},
      query_pk_only = {"All queries use the primary key", false,
         cmdline.ARG_BOOL},
      count_rows = {"Count the rows when a run begins; off: more than " ..
         "a million ids are taken for as many rows", false, cmdline.ARG_BOOL},
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

-- For sysbench.cmdline.options; only those of the main state count.
function M.declarations()
   return sysbench.cmdline.main_state and declare() or {}
end

local function require_order(opt, small, large)
   if opt[small] > opt[large] then
      error(string.format("--%s must not be more than --%s, which is %.0f",
         small:gsub("_", "-"), large:gsub("_", "-"), opt[large]), 0)
   end
end

function M.settle(opt)
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
      error("--table-name must be a plain name, not '" .. opt.table_name ..
         "'", 0)
   end
   return opt
end

-- Name of table n.
function M.name(opt, n)
   return opt.tables > 1 and opt.table_name .. n or opt.table_name
end

-- Name of an index of table n: no two may have the same in some databases.
function M.index_name(opt, n, index)
   local name = M.name(opt, n)
   return name == TABLE and index.name
      or index.name .. "_" .. name:gsub("%.", "_")
end

-- Values ---------------------------------------------------------------------

-- Customer and price in cents: the higher a customer's number, the dearer.
function M.customer_and_price(opt)
   local customer = rand.uniform(0, opt.customers - 1)
   return customer, floor(rand.uniform(0, opt.max_price) + customer)
end

-- A function that returns formats of random texts for the column data.
function M.data_formats(opt)
   local least, most = opt.data_length_min, opt.data_length_max
   local function make(length)
      local random = floor(length * opt.data_random_pct / 100)
      return ("@"):rep(random) .. ("a"):rep(length - random)
   end
   if least == most then
      local format = make(most)
      return function() return format end
   end
   -- All of them, unless they take too much memory.
   local made = {}
   local keep = (most - least + 1) * most <= 2 ^ 20
   return function()
      local length = rand.uniform(least, most)
      local format = made[length]
      if not format then
         format = make(length)
         made[length] = keep and format or nil
      end
      return format
   end
end

-- Statements -----------------------------------------------------------------

-- Shared by all users: numbers of rows taken of --max-rows, inserted and
-- deleted in this run, and of tables whose rows were not counted.
function M.sequences()
   return {
      taken = sysbench.sequence("iibench taken"),
      inserted = sysbench.sequence("iibench inserted"),
      deleted = sysbench.sequence("iibench deleted"),
      guessed = sysbench.sequence("iibench guessed"),
   }
end

-- Numbers of rows that table n ever got, and lost, and that users have set out
-- to delete, by its ids; and of ids in between that no row has, as far as
-- known. Sequences that are at least so far.
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

-- name; delete and first, its parameter; queries: stmt, from, its parameter,
-- and draw(opt, t), a value for it; inserted, deleted, planned and gaps:
-- sequences;
-- owed: rows that this user has to delete.
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
