-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The tables of the OLTP workloads: names and columns. sb/build.lua makes
-- them. `opt` is a set of options as sb/options.lua settles it, `d` an entry of
-- sb/dialect.lua.

local M = {}

-- Groups of eleven digits: 10 of them (119 characters), and 5 (59).
local group = "###########"
M.c_format = group .. ("-" .. group):rep(9)
M.pad_format = group .. ("-" .. group):rep(4)

M.columns = "id,k,c,pad"

-- Name of table n.
function M.name(opt, n)
   return opt.table_name or "sbtest" .. n
end

-- True when new rows get their ids from the server.
function M.server_ids(d, opt)
   if not opt.auto_inc then
      return false
   end
   return opt.secondary and d.numbers_rows_secondary
      or not opt.secondary and d.numbers_rows
end

return M
