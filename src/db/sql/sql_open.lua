-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Opens connections that have options of their own, or that cannot be opened at
-- once.

local sb = ...
local ffi, C = sb.ffi, sb.C
local opening = {}

sb.cdef("sql", "sb_con_open sb_con_held sb_con_retry sb_con_refused")

-- Returns names and values of options for one connection as arrays of C
-- strings, their number, and a table that keeps the strings alive.
local function overrides(options)
   local given, names, values, n = {}, {}, {}, 0
   if type(options) ~= "table" then
      error("connect() takes a table of options, such as " ..
         "{mysql_host = \"db1\"}, not a " .. type(options), 5)
   end
   for name, value in pairs(options) do
      n = n + 1
      names[n] = tostring(name)
      if type(value) == "boolean" then
         value = value and "on" or "off"
      elseif type(value) ~= "string" and type(value) ~= "number" then
         error(("connect{%s = ...}: the value must be a string, a number or " ..
            "a boolean, not a %s"):format(names[n], type(value)), 5)
      end
      given[names[n]] = tostring(value)
   end
   -- Sorted, because connections with the same options share an instance.
   table.sort(names)
   for i = 1, n do
      values[i] = given[names[i]]
   end
   local array = ffi.typeof("const char *[?]")
   return array(math.max(n, 1), names), array(math.max(n, 1), values), n,
      { names, values }
end

-- Opens a connection with its own options; nil on failure.
function opening.open(db, options)
   local names, values, n, alive = overrides(options or {})
   local con = C.sb_con_open(sb.sql.ctx, db, names, values, n)
   alive[1] = nil
   return con
end

-- Closes the connections that the script has dropped. Returns how many more may
-- be opened before the next time: as many as are open, so that a user with
-- thousands of connections does not collect thousands of times.
function opening.collect()
   collectgarbage()
   return math.max(16, C.sb_con_held(sb.sql.ctx))
end

-- Called after a failed connect. If may_fail is true and the server has refused
-- the connection, returns nil. Otherwise collects connections that the script
-- has dropped, and tries again if there were some, or raises the error.
function opening.open_again(db, options, may_fail)
   local ctx, con = sb.sql.ctx, nil
   if not may_fail then
      collectgarbage()
   end
   if C.sb_con_retry(ctx) ~= 0 then
      con = opening.open(db, options)
   end
   if con == nil and not (C.sb_con_refused(ctx, db) ~= 0 and may_fail) then
      sb.module("sql_error").raise_driver("connection creation failed", 5)
   end
   return con
end

return opening
