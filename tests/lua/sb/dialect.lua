-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The differences between SQL databases: one file per database in dialect/,
-- with the defaults in dialect/generic.lua. The workloads do not branch on the
-- database; a new one only needs a new file and its name below.

local generic = require("sb.dialect.generic")

local files = { mysql = true, null = true, pgsql = true, sqlite = true }

local M = {}

-- Returns the dialect d with the changes for --pgsql-variant.
local function variant_of(d, name)
   local own = d.variants[name]
   if not own then
      local supported = {}
      for known in pairs(d.variants) do
         supported[#supported + 1] = known
      end
      table.sort(supported)
      error(string.format("--pgsql-variant=%s is not supported; use one of " ..
         "%s", name, table.concat(supported, ", ")), 0)
   end
   own.variant = name
   return setmetatable(own, {__index = d})
end

-- Returns the dialect of a driver, or a dialect by name. SQL workloads call
-- this before their first statement; with MongoDB it raises an error.
function M.of(drv)
   local name = type(drv) == "string" and drv or drv:dialect()
   if name == "mongodb" then
      local script = sysbench.cmdline.script_path or "this workload"
      error(script:match("[^/]*$"):gsub("%.lua$", "") .. " needs a " ..
         "database with SQL; 'sysbench --list' has the workloads for " ..
         "MongoDB", 0)
   end
   local d = files[name] and require("sb.dialect." .. name) or generic
   local variant = sysbench.opt and sysbench.opt.pgsql_variant
   if d.variants and variant and variant ~= "" then
      return variant_of(d, variant)
   end
   return d
end

return M
