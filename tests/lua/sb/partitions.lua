-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- --partitions: tables that are partitioned by a hash of id. For commands: the
-- users of a run never load this.

local M = {}

-- The maximum of MySQL. On PostgreSQL, planning is slow with far fewer.
local MAX_PARTITIONS = 8192

-- Functions by dialect. They return the text after the closing parenthesis of
-- CREATE TABLE and the statements that create the partitions, if they are
-- tables.
local methods = {}

function methods.mysql(opt, _, options)
   return string.format("%s PARTITION BY HASH (id) PARTITIONS %d", options,
      opt.partitions), {}
end

methods.null = methods.mysql

-- The table options are storage parameters, which only the partitions accept.
function methods.pgsql(opt, name, options)
   local parts = {}
   for i = 0, opt.partitions - 1 do
      parts[i + 1] = string.format("CREATE TABLE %s_p%d PARTITION OF %s " ..
         "FOR VALUES WITH (MODULUS %d, REMAINDER %d) %s", name, i, name,
         opt.partitions, i, options)
   end
   return "PARTITION BY HASH (id)", parts
end

-- Returns the options of a new table, extended by the partitions, and a list of
-- statements that create those. Without --partitions, returns the options
-- unchanged and an empty list.
function M.apply(d, opt, name, options)
   local count = tonumber(opt.partitions) or 0
   if count == 0 then
      return options, {}
   elseif count < 0 or count > MAX_PARTITIONS then
      error(string.format("--partitions must be from 0 to %d, not %d",
         MAX_PARTITIONS, count), 0)
   end
   local method = d.partitions ~= false and methods[d.name]
   if not method then
      error(string.format("--partitions=%d: %s does not support tables " ..
         "partitioned by hash", count, d.variant or d.name or
         "this database"), 0)
   end
   return method(opt, name, options)
end

return M
