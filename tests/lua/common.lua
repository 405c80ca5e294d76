-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- For scripts written for sysbench 0.5, which load it with
--
--    dofile(pathtest .. "common.lua")
--
-- and use its globals: set_vars(), which converts the option strings to
-- numbers and booleans, create_insert(n), prepare() and cleanup(). Such scripts
-- declare no options; the options given arrive as global strings.

local dialect = require("sb.dialect")
local old_names = require("sb.old_names")
local sbtest = require("sb.sbtest")
local tables = require("sb.tables")

local numbers = {
   oltp_table_size = 10000,
   oltp_range_size = 100,
   oltp_tables_count = 1,
   oltp_point_selects = 10,
   oltp_simple_ranges = 1,
   oltp_sum_ranges = 1,
   oltp_order_ranges = 1,
   oltp_distinct_ranges = 1,
   oltp_index_updates = 1,
   oltp_non_index_updates = 1,
   oltp_delete_inserts = 1,
}

local booleans = {
   oltp_range_selects = true,
   oltp_auto_inc = true,
   oltp_read_only = false,
   oltp_write_only = false,
   oltp_skip_trx = false,
   oltp_secondary = false,
   oltp_create_secondary = true,
}

local function boolean(name, default)
   local value = _G[name]
   if value == nil then
      return default
   elseif type(value) == "boolean" then -- a second call
      return value
   end
   return value ~= "off" and value ~= "false" and value ~= "0"
end

-- May be called repeatedly.
function set_vars()
   for name, default in pairs(numbers) do
      _G[name] = tonumber(_G[name]) or default
   end
   for name, default in pairs(booleans) do
      _G[name] = boolean(name, default)
   end
   if oltp_read_only and oltp_write_only then
      error("--oltp-read-only and --oltp-write-only are mutually exclusive", 0)
   end
   mysql_table_engine = mysql_table_engine or "innodb"
   myisam_max_rows = tonumber(myisam_max_rows) or 1000000
   if pgsql_variant == "redshift" then
      oltp_create_secondary = false
      oltp_delete_inserts = 0
   end
end

-- Returns the globals as a set of options.
local function settings()
   local old = {
      myisam_max_rows = myisam_max_rows,
      mysql_table_engine = mysql_table_engine,
      mysql_table_options = mysql_table_options,
      pgsql_variant = pgsql_variant,
   }
   for name in pairs(numbers) do
      old[name] = _G[name]
   end
   for name in pairs(booleans) do
      old[name] = _G[name]
   end
   return old_names.from_old(old)
end

-- One connection per Lua state, besides the implicit one of db_query().
local drv, con

local function connection()
   if not con then
      drv = sysbench.sql.driver()
      con = drv:connect()
   end
   return con, dialect.of(drv)
end

-- Creates, fills and indexes table sbtest<table_id>.
function create_insert(table_id)
   local c, d = connection()
   tables.build(c, d, settings(), sbtest.description(), table_id)
end

local own_create_insert = create_insert

function prepare()
   set_vars()
   db_connect()
   if create_insert ~= own_create_insert then
      tables.require_one_database("create_insert() of a script")
   end
   drv = sysbench.sql.driver()
   tables.connect_to_each_database(drv, function(c)
      con = c
      for n = 1, oltp_tables_count do
         create_insert(n)
      end
   end)
   con = nil
   return 0
end

function cleanup()
   set_vars()
   db_connect()
   sbtest.cleanup(settings())
end
