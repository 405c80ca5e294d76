-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Declares and checks the options of workloads with tables of their own.

local bounds = require("sb.bounds")

local M = {}

-- Adds to `options` those for creating and checking tables and those of a table
-- of numbers: name = {help, default, min, max}. Returns it.
function M.declare(options, numbers)
   local oltp = require("sb.declarations").oltp()
   for _, name in ipairs{"create_table_options", "mysql_storage_engine",
      "pgsql_variant", "check_tables"}
   do
      options[name] = oltp[name]
   end
   for name, o in pairs(numbers) do
      options[name] = {o[1], o[2], sysbench.cmdline.ARG_INT}
   end
   return options
end

-- Raises an error if a number is out of bounds, or --table-name not a name.
function M.check(opt, numbers)
   local limits = {}
   for name, o in pairs(numbers) do
      limits[name] = {o[3], o[4]}
   end
   bounds.check(opt, limits)
   if not opt.table_name:match("^[%w_%.]+$") then
      error("--table-name must consist of letters, digits, '_' and '.', " ..
         "not '" .. opt.table_name .. "'", 0)
   end
end

-- Raises an error if the first of two options is greater than the second.
function M.order(opt, small, large)
   if opt[small] > opt[large] then
      error(string.format("--%s must not be more than --%s, which is %.0f",
         small:gsub("_", "-"), large:gsub("_", "-"), opt[large]), 0)
   end
end

return M
