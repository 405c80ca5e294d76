-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The event of the insert workloads.

local schema = require("sb.schema")

local M = {}

-- Returns an INSERT of one new row into table n. The server assigns the id if
-- it can; otherwise it is a unique random one.
function M.text(d, opt, n)
   local rand = sysbench.rand
   local k = rand.default(1, math.max(opt.table_size, 1))
   local c, pad = rand.string(schema.c_format), rand.string(schema.pad_format)
   local name = schema.name(opt, n)
   if not schema.server_ids(d, opt) then
      -- unsigned to signed 32 bits, for the INTEGER column
      return string.format("INSERT INTO %s (id, k, c, pad) VALUES " ..
         "(%d, %d, '%s', '%s')", name, rand.unique() - 2147483648, k, c, pad)
   elseif d.auto_value then
      return string.format("INSERT INTO %s (id, k, c, pad) VALUES " ..
         "(%s, %d, '%s', '%s')", name, d.auto_value, k, c, pad)
   end
   return string.format("INSERT INTO %s (k, c, pad) VALUES (%d, '%s', '%s')",
      name, k, c, pad)
end

return M
