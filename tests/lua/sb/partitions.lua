-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- --partitions: tables that the server splits by a hash of id. For commands:
-- the users of a run never load this.

local M = {}

-- The most that MySQL takes; PostgreSQL plans long before it has so many.
local MOST = 8192

-- By dialect: what follows the closing bracket of CREATE TABLE, and the
-- partitions' own statements, if they are tables.
local ways = {}

function ways.mysql(opt, _, options)
   return string.format("%s PARTITION BY HASH (id) PARTITIONS %d", options,
      opt.partitions), {}
end

ways.null = ways.mysql

-- The options of a table are about its storage, which only the partitions
-- have.
function ways.pgsql(opt, name, options)
   local parts = {}
   for i = 0, opt.partitions - 1 do
      parts[i + 1] = string.format("CREATE TABLE %s_p%d PARTITION OF %s " ..
         "FOR VALUES WITH (MODULUS %d, REMAINDER %d) %s", name, i, name,
         opt.partitions, i, options)
   end
   return "PARTITION BY HASH (id)", parts
end

-- The options of a new table, changed so that it has partitions, and a list of
-- statements that make those. Without --partitions: the options alone.
function M.apply(d, opt, name, options)
   local count = tonumber(opt.partitions) or 0
   if count == 0 then
      return options, {}
   elseif count < 0 or count > MOST then
      error(string.format("--partitions must be from 0 to %d, not %d", MOST,
         count), 0)
   end
   local way = d.partitions ~= false and ways[d.name]
   if not way then
      error(string.format("--partitions=%d: %s has no tables that are split " ..
         "by a hash of the key", count, d.variant or d.name or
         "this database"), 0)
   end
   return way(opt, name, options)
end

return M
