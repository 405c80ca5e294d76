-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- What the workloads of sysbench 0.4 and 0.5 share: the oltp_* options, the
-- commands, and events that send SQL as text.

local dialect = require("sb.dialect")
local old_names = require("sb.old_names")
local options = require("sb.options")
local sbtest = require("sb.sbtest")
local sbtest_check = require("sb.sbtest_check")
local tables = require("sb.tables")

local rand = sysbench.rand

local M = {}

local INTEGER_MAX = 2147483647

-- min, max: 0 and INTEGER_MAX by default.
local function int(help, default, min, max)
   return {help, default, sysbench.cmdline.ARG_INT, min = min or 0,
      max = max or INTEGER_MAX}
end

-- Returns the options of the 0.5 scripts.
function M.options()
   local of_tables = options.with_table_options{}
   return {
      oltp_table_size = int("Rows per table", 10000, 0, 1e15),
      oltp_range_size = int("Rows per range SELECT, at least 1", 100, 1),
      oltp_tables_count = int("Number of tables, at least 1", 1, 1, 1e6),
      oltp_point_selects = int("Point SELECTs per transaction", 10),
      oltp_simple_ranges = int("Range SELECTs per transaction", 1),
      oltp_sum_ranges = int("SELECT SUM() queries per transaction", 1),
      oltp_order_ranges = int("SELECT ORDER BY queries per transaction", 1),
      oltp_distinct_ranges = int("SELECT DISTINCT queries per transaction", 1),
      oltp_index_updates =
         int("UPDATEs of the indexed column per transaction", 1),
      oltp_non_index_updates =
         int("UPDATEs of an unindexed column per transaction", 1),
      oltp_delete_inserts =
         int("DELETE + INSERT pairs of the same row per transaction", 1),
      oltp_range_selects = {"Execute the four kinds of range SELECTs", true},
      oltp_read_only = {"Do not execute statements that write", false},
      oltp_write_only = {"Do not execute SELECTs", false},
      oltp_auto_inc = {"Let the server assign the ids of new rows; off: the " ..
         "client chooses them", true},
      oltp_skip_trx = {"Do not send BEGIN and COMMIT: each query is its own " ..
         "transaction (but see pipeline)", false},
      oltp_secondary = {"Create a plain index on id instead of a primary key",
         false},
      oltp_create_secondary = {"Create a secondary index on k", true},
      oltp_partitions = int("Number of partitions per table that prepare " ..
         "creates, by a hash of id (MySQL, PostgreSQL), at most 8192; " ..
         "0: none", 0, 0, 8192),
      oltp_pipeline = {"Send the statements of an event together, as far " ..
         "as the client library supports it; without BEGIN, PostgreSQL " ..
         "executes them as one transaction", false},
      pipeline = {"Same as --oltp-pipeline", false},
      mysql_table_engine = of_tables.mysql_storage_engine,
      mysql_table_options = of_tables.create_table_options,
      myisam_max_rows = int("MAX_ROWS of MyISAM tables", 1000000),
      mysql_engine_trx = {"Whether the storage engine supports " ..
         "transactions: yes, no (use LOCK TABLES) or auto", "auto"},
      pgsql_variant = of_tables.pgsql_variant,
      check_tables = of_tables.check_tables,
   }
end

local function settings()
   return old_names.from_old(sysbench.opt)
end

-- Declares the commands. get_settings(): returns sysbench.opt under the 1.x
-- names. adjust(opt, command): changes the settings of the commands prepare and
-- check; optional.
function M.declare_commands(get_settings, adjust)
   local function adjusted(command)
      local opt = get_settings()
      if adjust then
         adjust(opt, command)
      end
      return opt
   end

   tables.declare_commands{
      prepare = function()
         local opt = adjusted("prepare")
         tables.command_on_each_database(function(con, d, _, name)
            return tables.prepare(con, d, opt, sbtest.description(), name)
         end)
      end,
      warmup = function() sbtest.warmup(get_settings()) end,
      check = function() sbtest_check.check(adjusted("check")) end,
      cleanup = function() sbtest.cleanup(get_settings()) end,
   }
end

-- Returns the first and the last statement of a transaction. Engines of MySQL
-- without transactions lock the tables instead.
function M.transaction(d, opt, read_only)
   if not d.lacks_transactions or not d.lacks_transactions(opt) then
      return read_only and d.begin or d.begin_write, d.commit
   end
   local list = {}
   for n = 1, opt.tables do
      list[n] = sbtest.name(opt, n) .. (read_only and " READ" or " WRITE")
   end
   return "LOCK TABLES " .. table.concat(list, ", "), "UNLOCK TABLES"
end

-- Returns a random id of a table.
function M.draw_id(opt)
   return rand.default(1, math.max(opt.table_size, 1))
end

-- Declares a 0.5 workload. w.event(user, name) executes an event on the table
-- `name`; user has the fields con, d (its dialect), opt (the settings), and
-- begin and commit, the texts of these statements. w.adjust: as for
-- declare_commands().
function M.declare(w)
   local user = {}

   sysbench.cmdline.options = M.options()
   M.declare_commands(settings, w.adjust)
   function sysbench.hooks.check_tables()
      sbtest_check.check_before_run(settings())
   end

   function thread_init() -- luacheck: globals thread_init
      local drv = sysbench.sql.driver()
      user.opt, user.con = settings(), drv:connect()
      user.d = dialect.of(drv)
      user.begin, user.commit = M.transaction(user.d, user.opt,
         user.opt.read_only)
   end

   function thread_done() -- luacheck: globals thread_done
      user.con:disconnect()
   end

   local run = w.event
   function event() -- luacheck: globals event
      local opt, con = user.opt, user.con
      local name = sbtest.name(opt, rand.uniform(1, opt.tables))
      if not opt.pipeline then
         run(user, name)
         return
      end
      con:pipeline_begin()
      run(user, name)
      con:pipeline_run()
   end
end

return M
