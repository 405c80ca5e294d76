-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The tables of the OLTP workloads: names and columns. sb/build.lua creates
-- them. `opt` is a set of normalized options, `d` an entry of sb/dialect.lua.

local M = {}

-- Groups of eleven digits: 10 groups are 119 characters, 5 groups 59.
local group = "###########"
M.c_format = group .. ("-" .. group):rep(9)
M.pad_format = group .. ("-" .. group):rep(4)

M.columns = "id,k,c,pad"

-- Returns the name of table n.
function M.name(opt, n)
   local name = opt.table_name or "sbtest"
   return opt.table_name and opt.tables == 1 and name or name .. n
end

-- Returns whether the server assigns the ids of new rows.
function M.server_ids(d, opt)
   if not opt.auto_inc then
      return false
   end
   return opt.secondary and d.numbers_rows_secondary
      or not opt.secondary and d.numbers_rows
end

return M
