-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The 0.5 names of options, and their conversion to the 1.x names, which the
-- rest of sb/ uses.

local sbtest = require("sb.sbtest")

local M = {}

-- 0.5 names = 1.x names.
M.map = {
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
   oltp_inserts = "inserts",
   oltp_bulk_size = "bulk_size",
   oltp_read_only = "read_only",
   oltp_skip_trx = "skip_trx",
   oltp_secondary = "secondary",
   oltp_create_secondary = "create_secondary",
   oltp_pipeline = "pipeline",
   oltp_partitions = "partitions",
   mysql_table_engine = "mysql_storage_engine",
   mysql_table_options = "create_table_options",
   random_ranges_delta = "delta",
}

local function shown(name)
   return (name:gsub("_", "-"))
end

local function invalid(name, value)
   error(string.format("Invalid value for the '%s' option: '%s'", shown(name),
      value), 0)
end

local scales = {[""] = 1, k = 1e3, m = 1e6, g = 1e9}

-- Converts a string such as 5, -1 or 10M to a number.
function M.to_number(name, value)
   local digits, suffix = value:match("^(-?%d+)(%a?)$")
   local scale = suffix and scales[suffix:lower()]
   if not scale then
      invalid(name, value)
   end
   return tonumber(digits) * scale
end

local words = {on = true, ["true"] = true, ["1"] = true,
   off = false, ["false"] = false, ["0"] = false}

local function to_boolean(name, value)
   if words[value] == nil then
      invalid(name, value)
   end
   return words[value]
end

-- Adds the 0.5 names to a table of 1.x options, for scripts whose name both
-- generations have. They are strings, so that an option that is not given can
-- be detected. map: M.map by default. Returns the table.
function M.add(options, map)
   for name, target in pairs(map or M.map) do
      local new = options[target]
      if new then
         local function check(_, value)
            local number = new.min and value ~= "" and
               M.to_number(name, value)
            if number and (number < new.min or
               number > (new.max or number))
            then
               error(string.format(new.max and
                  "--%s must be from %.0f to %.0f, not %s" or
                  "--%s must be at least %.0f, not %s", shown(name), new.min,
                  new.max or value, value), 0)
            end
            return true
         end
         options[name] = {"0.5 name of --" .. shown(target), "",
            sysbench.cmdline.ARG_STRING, check}
      end
   end
   options.myisam_max_rows = {"MAX_ROWS of MyISAM tables", 1000000,
      sysbench.cmdline.ARG_INT}
   return options
end

-- Moves values given under old names to the new names and returns opt. May be
-- called repeatedly. map: M.map by default.
function M.rename(opt, map)
   for name, target in pairs(map or M.map) do
      local value = opt[name]
      if type(value) == "string" and value ~= "" and opt[target] ~= nil then
         local kind = type(opt[target])
         if kind == "number" then
            value = M.to_number(name, value)
         elseif kind == "boolean" then
            value = to_boolean(name, value)
         end
         opt[target] = value
         opt[name] = ""
      end
   end
   return opt
end

-- Returns the settings of a 0.5 or 0.4 script, under the 1.x names. old: its
-- options.
function M.from_old(old)
   local opt = {
      tables = 1,
      write_only = old.oltp_write_only,
      table_name = old.oltp_table_name,
      myisam_max_rows = old.myisam_max_rows,
      mysql_engine_trx = old.mysql_engine_trx,
      pgsql_variant = old.pgsql_variant,
   }
   for name, target in pairs(M.map) do
      if old[name] ~= nil then
         opt[target] = old[name]
      end
   end
   opt.pipeline = opt.pipeline or old.pipeline
   if opt.read_only and opt.write_only then
      error("--oltp-read-only and --oltp-write-only are mutually exclusive", 0)
   end
   return sbtest.settings(opt)
end

return M
