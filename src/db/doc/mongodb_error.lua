-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Errors of the document API: raised at the line of the script that called it,
-- at any depth of the API.

local sb = ...
local ffi, C = sb.ffi, sb.C
local errors = {}

sb.cdef("sql")

-- Returns the level of the nearest function with line numbers, for error() in
-- the function that calls this one.
local function level()
   local n = 3
   local info = debug.getinfo(n, "l")
   while info and info.currentline <= 0 do
      n = n + 1
      info = debug.getinfo(n, "l")
   end
   return info and n - 1 or 1
end

function errors.raise(text)
   error(text, level())
end

-- Returns the options of a call as a table; raises an error for other types.
function errors.options(options)
   if options ~= nil and type(options) ~= "table" then
      errors.raise("options are a table, such as {upsert = true}, not a " ..
         type(options))
   end
   return options or {}
end

-- Raises the error of the last call on con. query: nil for the command that
-- failed.
function errors.raise_con(con, query)
   query = query or ffi.string(C.sb_con_failed_sql(con))
   local at = level()
   sb.sql.raise(con, query, at)
end

return errors
