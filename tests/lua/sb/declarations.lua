-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The options that the OLTP workloads declare, by generation.

local names = require("sb.old_names")
local old_names = names.map

local M = {}

local cmdline = sysbench.cmdline

-- The largest value of an INTEGER column.
local INTEGER_MAX = 2147483647

-- min, max: 0 and INTEGER_MAX by default.
local function int(text, default, min, max)
   min, max = min or 0, max or INTEGER_MAX
   return {text, default, cmdline.ARG_INT, function(name, value)
      local shown = name:gsub("_", "-")
      local number = value == "" and min or names.to_number(name, value)
      if number < min or number > max then
         error(string.format("--%s must be from %d to %d, not %s", shown,
            min, max, value), 0)
      end
      return true
   end}
end

local function bool(text, default)
   return {text, default, cmdline.ARG_BOOL}
end

local function text(description, default)
   return {description, default, cmdline.ARG_STRING}
end

-- For workloads that check their tables.
function M.check_tables()
   return bool("Check the tables before a run starts: missing or empty " ..
      "tables are errors, other mismatches with the options warnings", true)
end

-- Options under their 1.x names. A new table each time, so that a script can
-- add to it.
function M.oltp()
   return {
      table_size = int("Rows per table", 10000, 0, 1e15),
      range_size = int("Rows per range SELECT, at least 1", 100, 1),
      tables = int("Number of tables, at least 1", 1, 1, 1e6),
      point_selects = int("Point SELECTs per transaction", 10),
      simple_ranges = int("Range SELECTs per transaction", 1),
      sum_ranges = int("SELECT SUM() queries per transaction", 1),
      order_ranges = int("SELECT ORDER BY queries per transaction", 1),
      distinct_ranges = int("SELECT DISTINCT queries per transaction", 1),
      index_updates =
         int("UPDATEs of the indexed column per transaction", 1),
      non_index_updates =
         int("UPDATEs of an unindexed column per transaction", 1),
      delete_inserts =
         int("DELETE + INSERT pairs of the same row per transaction", 1),
      range_selects = bool("Execute the four kinds of range SELECTs", true),
      auto_inc = bool("Let the server assign the ids of new rows; off: the " ..
         "client chooses them", true),
      create_table_options =
         text("Text to append to CREATE TABLE", ""),
      skip_trx = bool("Do not send BEGIN and COMMIT: each query is its own " ..
         "transaction (but see pipeline)", false),
      secondary = bool("Create a plain index on id instead of a primary key",
         false),
      create_secondary = bool("Create a secondary index on k", true),
      partitions = int("Number of partitions per table that prepare " ..
         "creates, by a hash of id (MySQL, PostgreSQL), at most 8192; " ..
         "0: none", 0, 0, 8192),
      check_tables = M.check_tables(),
      reconnect = int("Reconnect every N events; 0: never", 0),
      pipeline = bool("Send the statements of an event together, as far " ..
         "as the client library supports it; without BEGIN, PostgreSQL " ..
         "executes them as one transaction", false),
      mysql_storage_engine = text("Storage engine, for MySQL; empty: the " ..
         "server's default", "innodb"),
      pgsql_variant = text("PostgreSQL-compatible variant: redshift " ..
         "(implies create_secondary=off, delete_inserts=0), cockroachdb, " ..
         "yugabytedb", ""),
   }
end

-- Returns the options in `new` under their 0.5 names, with the same types and
-- defaults.
local function renamed(new)
   local old = {}
   for name, target in pairs(old_names) do
      old[name] = new[target]
   end
   return old
end

-- Options of the 0.5 scripts.
function M.legacy()
   local new = M.oltp()
   local o = renamed(new)
   o.oltp_read_only = bool("Do not execute statements that write", false)
   o.oltp_write_only = bool("Do not execute SELECTs", false)
   o.myisam_max_rows = int("MAX_ROWS of MyISAM tables", 1000000)
   o.mysql_engine_trx = text("Whether the storage engine supports " ..
      "transactions: yes, no (use LOCK TABLES) or auto", "auto")
   o.check_tables = new.check_tables
   o.pgsql_variant = new.pgsql_variant
   o.pipeline = bool("Same as --oltp-pipeline", false)
   return o
end

-- Options of `--test=oltp` of 0.4.
function M.v04()
   local o = M.legacy()
   o.oltp_tables_count = nil
   o.oltp_test_mode = text("Kind of event: simple, complex, nontrx or sp",
      "complex")
   o.oltp_nontrx_mode = text("Statement of the nontrx mode: select, " ..
      "update_key, update_nokey, insert or delete", "select")
   o.oltp_reconnect_mode = text("How long a connection is used: session, " ..
      "transaction, query or random", "session")
   o.oltp_sp_name = text("Name of the stored procedure for the sp mode", "")
   o.oltp_connect_delay =
      int("Pause after connecting, in microseconds", 10000)
   o.oltp_user_delay_min =
      int("Minimum think time per query, in microseconds", 0)
   o.oltp_user_delay_max =
      int("Maximum think time per query, in microseconds", 0)
   o.oltp_table_name = text("Name of the table", "sbtest")
   o.oltp_dist_type =
      text("Distribution of ids: uniform, gaussian or special", "special")
   o.oltp_dist_iter = int("Number of random numbers that gaussian and " ..
      "special average, at least 1", 12, 1, 1e6)
   o.oltp_dist_pct = int("Percentage of rows that are special, 1 to 100", 1,
      1, 100)
   o.oltp_dist_res = int("Percentage of ids drawn from the special rows, " ..
      "0 to 100", 75, 0, 100)
   o.oltp_point_select_mysql_handler =
      bool("Use MySQL's HANDLER for point SELECTs", false)
   o.oltp_point_select_all_cols =
      bool("Read all columns in point SELECTs", false)
   return o
end

-- Adds the 0.5 names to a table of 1.x options, for scripts whose name both
-- generations have. They are strings, so that an option that is not given can
-- be detected.
function M.add_old_names(options)
   for name, target in pairs(old_names) do
      if options[target] ~= nil then
         options[name] = text("0.5 name of --" .. target:gsub("_", "-"), "")
         options[name][4] = options[target][4]
      end
   end
   options.myisam_max_rows = int("MAX_ROWS of MyISAM tables", 1000000)
   return options
end

return M
