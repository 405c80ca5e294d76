-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The options of the OLTP workloads on their way from the command line to the
-- events.

local M = {}

-- What sysbench.cmdline.options becomes: the declarations of a generation
-- ("oltp", "legacy" or "v04" of sb/declarations.lua). Only the main state's
-- count. In the states of users the table stays empty until somebody looks
-- into it; scripts may add to it in any case.
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

-- An error without a command. more: other commands that there are, and ", ".
function M.need_command(more)
   if sysbench.cmdline.command == nil then
      error("Command is required. Supported commands: prepare, warmup, " ..
         "run, " .. (more or "") .. "cleanup, help", 0)
   end
end

local at_least = {tables = 1, table_size = 0, range_size = 1, reconnect = 0,
   random_points = 1, number_of_ranges = 1}

-- Makes a set of options fit for use: implied values, bounds.
-- Works in place, any number of times, and returns its argument.
function M.settle(opt)
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

return M
