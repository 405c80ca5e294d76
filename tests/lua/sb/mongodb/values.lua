-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Placeholders in options whose values are JSON.

local M = {}

-- Returns coll:compile(...). where: the options that the arguments come from,
-- for messages. max: the number of values that the workload passes; values of
-- higher placeholders would be null.
function M.compile(where, max, coll, ...)
   local ok, st = pcall(coll.compile, coll, ...)
   if not ok then
      local con = coll.db.con
      local why = con.sql_errmsg ~= nil and ffi.string(con.sql_errmsg) or ""
      error(where .. ": " .. (why ~= "" and why or tostring(st)), 0)
   elseif st.n > max then
      error(string.format('%s: {"$arg": %d} has no value; the maximum is ' ..
         '{"$arg": %d}', where, st.n, max), 0)
   end
   return st
end

return M
