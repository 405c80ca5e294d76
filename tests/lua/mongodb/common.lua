-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- For scripts written for sysbench 0.5, which load it with
--
--    dofile(pathtest .. "common.lua")
--
-- and use its globals: set_vars(), which converts the option strings to
-- numbers and booleans, create_insert(n), prepare() and cleanup(). Such scripts
-- declare no options; the options given arrive as global strings.

local collections = require("sb.mongodb.collections")

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
   oltp_inserts = 1,
   oltp_bulk_size = 1000,
}

local booleans = {oltp_auto_inc = true, oltp_read_only = false}

-- May be called repeatedly.
function set_vars()
   for name, default in pairs(numbers) do
      _G[name] = tonumber(_G[name]) or default
   end
   for name, default in pairs(booleans) do
      local value = _G[name]
      if value == nil then
         _G[name] = default
      elseif type(value) ~= "boolean" then
         _G[name] = value ~= "off" and value ~= "false" and value ~= "0"
      end
   end
end

local function settings()
   set_vars()
   return {tables = oltp_tables_count, table_size = oltp_table_size,
      bulk_size = oltp_bulk_size, create_secondary = true}
end

-- Creates, fills and indexes collection sbtest<n>.
function create_insert(n)
   local opt = settings()
   opt.tables = n
   collections.build(collections.describe{}, opt, n, 1)
end

function prepare()
   collections.build(collections.describe{}, settings(), 1, 1)
   return 0
end

function cleanup()
   collections.cleanup(settings())
end
