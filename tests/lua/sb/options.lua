-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Declares and normalizes the options of the OLTP workloads.

local M = {}

-- Returns the value for sysbench.cmdline.options: the declarations of a
-- generation ("oltp", "legacy" or "v04" of sb/declarations.lua). Only the main
-- state's declarations are used. In the states of users the table is empty and
-- loads the declarations at the first access. Scripts may always add to it.
function M.declarations(generation)
   local function declare()
      return require("sb.declarations")[generation]()
   end
   if sysbench.cmdline.main_state then
      return declare()
   end
   return setmetatable({}, {__index = function(_, name)
      return declare()[name]
   end})
end

-- Raises an error if no command is given. more: additional commands, each
-- followed by ", ".
function M.need_command(more)
   if sysbench.cmdline.command == nil then
      error("Command is required. Supported commands: prepare, warmup, " ..
         "run, " .. (more or "") .. "cleanup, help", 0)
   end
end

-- Raises an error with the null driver. what: a workload or command that reads
-- back what it has stored.
function M.need_storage(what)
   if sysbench.opt.db_driver == "null" then
      error(what .. " needs a database: the null driver stores nothing", 0)
   end
end

local minimum = {tables = 1, table_size = 0, range_size = 1, reconnect = 0,
   random_points = 1, number_of_ranges = 1}

-- Sets implied values and checks bounds. Works in place, may be called
-- repeatedly, and returns its argument.
function M.normalize(opt)
   if opt.pgsql_variant == "redshift" then
      opt.create_secondary = false
      opt.delete_inserts = 0
   end
   for name, min in pairs(minimum) do
      if type(opt[name]) == "number" and opt[name] < min then
         error(string.format("--%s must be at least %d",
            name:gsub("_", "-"), min), 0)
      end
   end
   return opt
end

return M
