-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The differences between SQL databases: one file per database in dialect/,
-- with the defaults in dialect/generic.lua. The workloads do not branch on the
-- database; a new one only needs a new file and its name below. A user loads
-- only the file of its database.

local generic = require("sb.dialect.generic")

local names = {sqlite = true, mysql = true, pgsql = true, null = true}

local M = {}

local loaded = {} -- by name

local function load(name)
   local d = loaded[name]
   if not d then
      d = require("sb.dialect." .. name)
      d.name = name
      loaded[name] = setmetatable(d, {__index = generic})
   end
   return d
end

-- Returns the dialect of a driver, or a dialect by name. Workloads call this
-- before their first statement, so one for SQL says here that it needs SQL.
function M.of(drv)
   local name = type(drv) == "string" and drv or drv:dialect()
   if name == "mongodb" then
      local script = sysbench.cmdline.script_path or "this workload"
      error(script:match("[^/]*$"):gsub("%.lua$", "") .. " needs a " ..
         "database with SQL; 'sysbench --list' has the workloads for " ..
         "MongoDB", 0)
   end
   local d = names[name] and load(name) or generic
   local variant = sysbench.opt and sysbench.opt.pgsql_variant
   if d.variants and variant and variant ~= "" then
      return require(d.variants).of(d, variant)
   end
   return d
end

return M
