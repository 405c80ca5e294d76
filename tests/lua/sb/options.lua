-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The options of the OLTP workloads: declarations of each generation, and
-- their way into one set of names, the ones of 1.x, that the rest of sb/
-- works on.

local M = {}

local cmdline = sysbench.cmdline

local function int(text, default)
   return {text, default, cmdline.ARG_INT}
end

local function bool(text, default)
   return {text, default, cmdline.ARG_BOOL}
end

local function text(what, default)
   return {what, default, cmdline.ARG_STRING}
end

-- Option names of 1.x. A fresh table each time, for a script to add to.
function M.oltp()
   return {
      table_size = int("Rows per table", 10000),
      range_size = int("Rows that a range SELECT covers", 100),
      tables = int("Number of tables", 1),
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
         "transaction of its own", false),
      secondary = bool("A plain index on id in place of the primary key",
         false),
      create_secondary = bool("An index on k", true),
      reconnect = int("Connect anew every N events, 0: never", 0),
      mysql_storage_engine = text("Storage engine, for MySQL", "innodb"),
      pgsql_variant = text("PostgreSQL variant, 'redshift' or none; " ..
         "redshift implies create_secondary=off, delete_inserts=0", ""),
   }
end

-- Spellings of 0.5 for names of 1.x.
local old_names = {
   oltp_tables_count = "tables",
   oltp_table_size = "table_size",
   oltp_range_size = "range_size",
   oltp_point_selects = "point_selects",
   oltp_simple_ranges = "simple_ranges",
   oltp_sum_ranges = "sum_ranges",
   oltp_order_ranges = "order_ranges",
   oltp_distinct_ranges = "distinct_ranges",
   oltp_index_updates = "index_updates",
   oltp_non_index_updates = "non_index_updates",
   oltp_delete_inserts = "delete_inserts",
   oltp_range_selects = "range_selects",
   oltp_auto_inc = "auto_inc",
   oltp_skip_trx = "skip_trx",
   oltp_secondary = "secondary",
   oltp_create_secondary = "create_secondary",
   mysql_table_engine = "mysql_storage_engine",
   mysql_table_options = "create_table_options",
   random_ranges_delta = "delta",
}

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
   local o = renamed(M.oltp())
   o.oltp_read_only = bool("Leave out all statements that write", false)
   o.oltp_write_only = bool("Leave out all SELECTs", false)
   o.myisam_max_rows = int("MAX_ROWS of MyISAM tables", 1000000)
   o.pgsql_variant = M.oltp().pgsql_variant
   return o
end

-- Option names of `--test=oltp` of 0.4.
function M.v04()
   local o = M.legacy()
   o.oltp_tables_count = nil
   o.oltp_test_mode = text("simple, complex, nontrx or sp", "complex")
   o.oltp_nontrx_mode = text("Statement of the nontrx mode: select, " ..
      "update_key, update_nokey, insert or delete", "select")
   o.oltp_reconnect_mode = text("Connect anew for each session, " ..
      "transaction or query, or at random", "session")
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
   o.oltp_dist_iter = int("Draws that gaussian and special average", 12)
   o.oltp_dist_pct = int("Percent of the rows that are special", 1)
   o.oltp_dist_res = int("Percent of the draws that hit special rows", 75)
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
      end
   end
   options.myisam_max_rows = int("MAX_ROWS of MyISAM tables", 1000000)
   return options
end

local scales = {[""] = 1, k = 1e3, m = 1e6, g = 1e9}

local function to_number(name, value)
   local digits, suffix = value:match("^(-?%d+)(%a?)$")
   local scale = suffix and scales[suffix:lower()]
   if not scale then
      error(string.format("Invalid value for the '%s' option: '%s'",
         name:gsub("_", "-"), value), 0)
   end
   return tonumber(digits) * scale
end

local words = {on = true, ["true"] = true, ["1"] = true,
   off = false, ["false"] = false, ["0"] = false}

local function to_boolean(name, value)
   if words[value] == nil then
      error(string.format("Invalid value for the '%s' option: '%s'",
         name:gsub("_", "-"), value), 0)
   end
   return words[value]
end

-- Moves what was given in old spellings to the new names, once.
local function take_old_names(opt)
   for name, target in pairs(old_names) do
      local value = opt[name]
      if type(value) == "string" and value ~= "" and opt[target] ~= nil then
         local kind = type(opt[target])
         if kind == "number" then
            value = to_number(name, value)
         elseif kind == "boolean" then
            value = to_boolean(name, value)
         end
         opt[target] = value
         opt[name] = ""
      end
   end
end

local at_least = {tables = 1, table_size = 0, range_size = 1, reconnect = 0,
   random_points = 1, number_of_ranges = 1}

-- Makes a set of options fit for use: old spellings, implied values, bounds.
-- Works in place, any number of times, and returns its argument.
function M.settle(opt)
   take_old_names(opt)
   if opt.pgsql_variant == "redshift" then
      opt.create_secondary = false
      opt.delete_inserts = 0
   end
   for name, least in pairs(at_least) do
      if type(opt[name]) == "number" and opt[name] < least then
         error(string.format("--%s must be at least %d",
            name:gsub("_", "-"), least), 0)
      end
   end
   return opt
end

-- A set of 1.x options out of the 0.5 or 0.4 ones in `old`.
function M.from_old(old)
   local opt = {
      tables = 1,
      read_only = old.oltp_read_only,
      write_only = old.oltp_write_only,
      table_name = old.oltp_table_name,
      myisam_max_rows = old.myisam_max_rows,
      pgsql_variant = old.pgsql_variant,
   }
   for name, target in pairs(old_names) do
      if old[name] ~= nil then
         opt[target] = old[name]
      end
   end
   if opt.read_only and opt.write_only then
      error("--oltp-read-only and --oltp-write-only exclude each other", 0)
   end
   return M.settle(opt)
end

return M
