-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Errors of sysbench.sql.

local sb = ...
local ffi, C = sb.ffi, sb.C
local errors = {}
local IGNORABLE = 1     -- of sysbench.sql.error
local RESTART_EVENT = 1 -- of sysbench.error

sb.cdef("sql")
sb.cdef("doc")

local function ignorable(con, desc)
   if con.error == IGNORABLE then
      return true
   elseif C.sb_con_canceled(con) ~= 0 then
      return false -- the run ends
   end
   local hook = sb.me().sysbench.hooks.sql_error_ignorable
   return type(hook) == "function" and hook(desc) == true
end

-- Returns the statement, to be added to the text of an error, or "" if the text
-- contains it.
local function statement_of(con, text)
   local statement = ffi.string(C.sb_con_failed_sql(con))
   if statement == "" or text:find(statement, 1, true) then
      return ""
   end
   return " (query: " .. statement .. ")"
end

-- Returns the level for error(): none in an installed workload, whose lines
-- say nothing to its user.
local function at(level)
   return sb.installed and 0 or level
end

-- See raise() in sql.lua.
function errors.raise(con, query, level)
   local desc = {
      connection = con, query = query, sql_errno = con.sql_errno,
      sql_state = ffi.string(con.sql_state),
      sql_errmsg = ffi.string(con.sql_errmsg)
   }
   if ignorable(con, desc) then
      desc.errcode = RESTART_EVENT
      error(desc)
   end
   -- Document databases have no SQLSTATE; for others the text is that of 1.x.
   local documents = desc.sql_state == "" and C.sb_doc_has(con) ~= 0
   local text = (documents and "database error, errno = %d%s: %s" or
      "SQL error, errno = %d, state = '%s': %s"):format(
      desc.sql_errno, desc.sql_state, desc.sql_errmsg)
   error(text .. statement_of(con, text), at(level + 1))
end

local variable = { connection = "con", driver = "drv", result = "rs" }

-- Raises the error of a method that was called without its object, at the
-- caller of the method.
function errors.no_object(class, name)
   error(("%s() was called without a %s: write %s:%s(...), with a colon")
      :format(name, class, variable[class], name), 4)
end

-- Raises the error of a method that requires a string and got another value.
function errors.no_text(value, name)
   local kind = value == nil and "nil" or "a " .. type(value)
   error(("%s() requires a string, not %s"):format(name, kind), 4)
end

-- Raises the error of the last call on a driver. level: as in error(); the
-- default is the caller of the caller.
function errors.raise_driver(what, level)
   error(what .. ": " .. ffi.string(C.sb_db_error(sb.turn.ctx)), at(level or 3))
end

return errors
