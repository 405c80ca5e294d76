-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The options of the document workloads, on their way from the command line
-- to the events. Each workload declares those that it reads.

local M = {}

-- Spellings of 0.5 that only the document workloads have.
local old_names = {
   oltp_inserts = "inserts",
   oltp_bulk_size = "bulk_size",
   oltp_read_only = "read_only",
}

local function int(text, default)
   return {text, default, sysbench.cmdline.ARG_INT}
end

local function bool(text, default)
   return {text, default, sysbench.cmdline.ARG_BOOL}
end

local function text(what, default)
   return {what, default, sysbench.cmdline.ARG_STRING}
end

-- What sysbench.cmdline.options becomes: the common ones, those of `own`, and
-- the old spellings of both. Only the main state's count.
local function declare(own)
   local options = {
      table_size = int("Documents per collection", 10000),
      tables = int("Number of collections", 1),
      bulk_size = int("Documents per insert command of prepare, up to 1,000",
         1000),
      check_tables = require("sb.declarations").check_tables(),
      create_secondary = bool("Make the secondary indexes", true),
   }
   for name, definition in pairs(own) do
      options[name] = definition
   end
   for name, target in pairs(old_names) do
      if options[target] then
         options[name] = text("0.5 name of --" .. target:gsub("_", "-"), "")
      end
   end
   return require("sb.declarations").add_old_names(options)
end

-- own(kind): returns the workload's own options; kind has int, bool and text,
-- which take a description and a default.
function M.declarations(own)
   if not sysbench.cmdline.main_state then
      return {}
   end
   return declare(own{int = int, bool = bool, text = text})
end

-- Old spellings moved to the new names, bounds checked. In place, any number
-- of times; returns its argument. bounds: more of them, as sb/bounds.lua has
-- them.
function M.settle(opt, bounds)
   local take = require("sb.old_names")
   take.take(opt)
   take.take(opt, old_names)
   local check = require("sb.bounds").check
   -- Ids are int32, as in the collections of old.
   check(opt, {tables = {1, 1e6}, table_size = {0, 2147483647},
      bulk_size = {1, 1000}})
   return check(opt, bounds or {})
end

return M
