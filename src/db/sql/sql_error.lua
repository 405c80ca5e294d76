-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Errors of sysbench.sql.

local sb = ...
local ffi, C = sb.ffi, sb.C
local errors = {}
local IGNORABLE = 1     -- of sysbench.sql.error
local RESTART_EVENT = 1 -- of sysbench.error

sb.cdef("sql")

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

-- The same for a load: returns "" if the text names its table.
local function load_of(loader, text)
   local name = loader.name:gsub("%p", "%%%0")
   if (" " .. text .. " "):find("[^%w_]" .. name .. "[^%w_]") then
      return ""
   end
   return (" (loading %s: %s)"):format(loader.name, loader.columns)
end

-- Returns the level for error(): none in an installed workload, whose lines
-- say nothing to its user.
local function at(level)
   return sb.installed and 0 or level
end

local function text_of(con, desc)
   if desc.sql_errno == 0 and desc.sql_state == "" then
      return desc.sql_errmsg -- not from the server
   end
   -- The text of 1.x, but not for databases without SQL.
   local other = desc.sql_state == "" and C.sb_con_has_sql(con) == 0
   return (other and "database error, errno = %d%s: %s" or
      "SQL error, errno = %d, state = '%s': %s"):format(
      desc.sql_errno, desc.sql_state, desc.sql_errmsg)
end

-- See raise() in sql.lua.
function errors.raise(con, query, level, loader)
   local desc = {
      connection = con, query = query, sql_errno = con.sql_errno,
      sql_state = ffi.string(con.sql_state),
      sql_errmsg = ffi.string(con.sql_errmsg)
   }
   if ignorable(con, desc) then
      desc.errcode = RESTART_EVENT
      error(desc)
   end
   local text = text_of(con, desc)
   local statement = statement_of(con, text)
   if statement == "" and loader then
      statement = load_of(loader, text)
   end
   error(text .. statement, at(level + 1))
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

-- Raises the error of bind_create() without a type. types: sysbench.sql.type.
function errors.no_type(types, kind)
   local names = {}
   for name, number in pairs(types) do
      names[number] = name -- NONE is names[0]
   end
   error(("bind_create() requires a type of sysbench.sql.type (%s), not %s")
      :format(table.concat(names, ", "), type(kind) == "string" and
              "the string '" .. kind .. "'" or tostring(kind)), 3)
end

-- Raises the error of bind_param() with a value that is not a parameter.
function errors.no_param(value)
   local kind = type(value)
   error(("bind_param() requires parameters that bind_create() returned, " ..
         "not a %s%s"):format(kind, kind == "table" and
         ": write unpack() around the table" or ""), 3)
end

-- Raises the error of the last call on a driver. level: as in error(); the
-- default is the caller of the caller.
function errors.raise_driver(what, level)
   error(what .. ": " .. ffi.string(C.sb_db_error(sb.turn.ctx)), at(level or 3))
end

return errors
