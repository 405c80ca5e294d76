-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The placeholders in options that hold JSON.

local M = {}

-- coll:compile(...) of what stands in the options `where`. most: how many
-- values there are; one that never came would be null.
function M.compile(where, most, coll, ...)
   local ok, st = pcall(coll.compile, coll, ...)
   if not ok then
      local con = coll.db.con
      local why = con.sql_errmsg ~= nil and ffi.string(con.sql_errmsg) or ""
      error(where .. ": " .. (why ~= "" and why or tostring(st)), 0)
   elseif st.n > most then
      error(string.format('%s: there are no values beyond {"$arg": %d}, ' ..
         'and {"$arg": %d} is asked for', where, most, st.n), 0)
   end
   return st
end

return M
