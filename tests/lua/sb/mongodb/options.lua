-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Declares and normalizes the options of the document workloads. Each workload
-- declares those that it reads.

local workload = require("sb.mongodb.workload")

local M = {}

local function int(text, default)
   return {text, default, sysbench.cmdline.ARG_INT}
end

local function bool(text, default)
   return {text, default, sysbench.cmdline.ARG_BOOL}
end

local function text(description, default)
   return {description, default, sysbench.cmdline.ARG_STRING}
end

-- Adds the options given; false removes a common one.
local function declare(own, old_names)
   local options = {
      table_size = int("Documents per collection", 10000),
      tables = int("Number of collections", 1),
      bulk_size = int("Documents per insert command of prepare, at most " ..
         "1,000", 1000),
      check_tables = require("sb.declarations").check_tables(),
      create_secondary = bool("Create the secondary indexes", true),
   }
   for name, definition in pairs(own) do
      options[name] = definition or nil
   end
   if not old_names then
      return options
   end
   for name, target in pairs(workload.old_names) do
      if options[target] then
         options[name] = text("0.5 name of --" .. target:gsub("_", "-"), "")
      end
   end
   return require("sb.declarations").add_old_names(options)
end

-- Returns the value for sysbench.cmdline.options: the common options and those
-- of the workload. own(kind): returns these; kind has the functions int, bool
-- and text, which take a description and a default; false instead of an option
-- removes a common one. old_names: whether to add the 0.5 names of all.
function M.declarations(own, old_names)
   return declare(own{int = int, bool = bool, text = text}, old_names)
end

-- Moves values given under old names to the new names and checks the bounds.
-- Works in place, may be called repeatedly, and returns its argument. bounds:
-- additional bounds, as for sb/bounds.lua.
function M.normalize(opt, bounds)
   workload.rename(opt)
   local check = require("sb.bounds").check
   -- Ids are int32, as in collections of older versions.
   check(opt, {tables = {1, 1e6}, table_size = {0, 2147483647},
      bulk_size = {1, 1000}})
   return check(opt, bounds or {})
end

return M
