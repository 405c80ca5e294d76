-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The options that the OLTP workloads declare, each generation its own.

local names = require("sb.old_names")
local old_names = names.map

local M = {}

local cmdline = sysbench.cmdline

-- The most that goes into an INTEGER column.
local MOST = 2147483647

-- least, most: 0 and MOST when left out.
local function int(text, default, least, most)
   least, most = least or 0, most or MOST
   return {text, default, cmdline.ARG_INT, function(name, value)
      local shown = name:gsub("_", "-")
      local number = value == "" and least or names.to_number(name, value)
      if number < least or number > most then
         error(string.format("--%s must be from %d to %d, not %s", shown,
            least, most, value), 0)
      end
      return true
   end}
end

local function bool(text, default)
   return {text, default, cmdline.ARG_BOOL}
end

local function text(what, default)
   return {what, default, cmdline.ARG_STRING}
end

-- Of all workloads that look at their tables: sb/check_tables.lua.
function M.check_tables()
   return bool("Look at the tables before a run starts: errors for missing " ..
      "and empty ones, warnings for those that do not fit", true)
end

-- Option names of 1.x. A fresh table each time, for a script to add to.
function M.oltp()
   return {
      table_size = int("Rows per table", 10000, 0, 1e15),
      range_size = int("Rows that a range SELECT covers, at least 1", 100,
         1),
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
         int("DELETE + INSERT of the same row per transaction", 1),
      range_selects = bool("All four kinds of range SELECTs", true),
      auto_inc = bool("Let the server number new rows; off: the client " ..
         "chooses ids", true),
      create_table_options =
         text("Text added to the end of CREATE TABLE", ""),
      skip_trx = bool("No BEGIN and COMMIT: every query is a " ..
         "transaction of its own (but see pipeline)", false),
      secondary = bool("A plain index on id in place of the primary key",
         false),
      create_secondary = bool("An index on k", true),
      partitions = int("Partitions of each table that prepare makes, by a " ..
         "hash of id (MySQL, PostgreSQL), up to 8192; 0: none", 0,
         0, 8192),
      check_tables = M.check_tables(),
      reconnect = int("Connect anew every N events, 0: never", 0),
      pipeline = bool("Send the statements of an event together, as far " ..
         "as the client library can; without BEGIN, PostgreSQL makes one " ..
         "transaction of them", false),
      mysql_storage_engine = text("Storage engine, for MySQL; empty: the " ..
         "server's own choice", "innodb"),
      pgsql_variant = text("Relative of PostgreSQL that the server is: " ..
         "redshift (implies create_secondary=off, delete_inserts=0), " ..
         "cockroachdb, yugabytedb", ""),
   }
end

-- The 0.5 names of the options in `new`, same types and defaults.
local function renamed(new)
   local old = {}
   for name, target in pairs(old_names) do
      old[name] = new[target]
   end
   return old
end

-- Option names of the 0.5 scripts.
function M.legacy()
   local new = M.oltp()
   local o = renamed(new)
   o.oltp_read_only = bool("Leave out all statements that write", false)
   o.oltp_write_only = bool("Leave out all SELECTs", false)
   o.myisam_max_rows = int("MAX_ROWS of MyISAM tables", 1000000)
   o.mysql_engine_trx = text("Whether the storage engine has " ..
      "transactions: yes, no (tables are locked then) or auto", "auto")
   o.check_tables = new.check_tables
   o.pgsql_variant = new.pgsql_variant
   o.pipeline = bool("The same as --oltp-pipeline", false)
   return o
end

-- Option names of `--test=oltp` of 0.4.
function M.v04()
   local o = M.legacy()
   o.oltp_tables_count = nil
   o.oltp_test_mode = text("What an event is: simple, complex, nontrx or " ..
      "sp", "complex")
   o.oltp_nontrx_mode = text("Statement of the nontrx mode: select, " ..
      "update_key, update_nokey, insert or delete", "select")
   o.oltp_reconnect_mode = text("What a connection lasts for: session, " ..
      "transaction, query, or random", "session")
   o.oltp_sp_name = text("Stored procedure that the sp mode calls", "")
   o.oltp_connect_delay =
      int("Pause after connecting, in microseconds", 10000)
   o.oltp_user_delay_min =
      int("Shortest think time of a query, in microseconds", 0)
   o.oltp_user_delay_max =
      int("Longest think time of a query, in microseconds", 0)
   o.oltp_table_name = text("Name of the table", "sbtest")
   o.oltp_dist_type =
      text("Distribution of ids: uniform, gaussian or special", "special")
   o.oltp_dist_iter = int("Draws that gaussian and special average, at " ..
      "least 1", 12, 1, 1e6)
   o.oltp_dist_pct = int("Percent of the rows that are special, 1 to 100", 1,
      1, 100)
   o.oltp_dist_res = int("Percent of the draws that hit special rows, " ..
      "0 to 100", 75, 0, 100)
   o.oltp_point_select_mysql_handler =
      bool("Point SELECTs through MySQL's HANDLER", false)
   o.oltp_point_select_all_cols =
      bool("Point SELECTs read all columns", false)
   return o
end

-- Adds the 0.5 spellings to a table of 1.x options, for scripts whose name
-- both generations have. They are text, so that "not given" shows.
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
