-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.sql: drivers, connections, statements and results. Connections,
-- parameters and results are the structs of sql.ffi.h themselves; statements
-- are tables, because they must keep their connection alive.

local sb = ...
local ffi, C, sysbench = sb.ffi, sb.C, sb.sysbench

-- The functions that every script with a database needs. The others are in
-- sql_more.lua: declarations and code cost memory in every user.
sb.cdef("sql", "sb_db_get sb_db_error sb_db_name sb_con_open sb_con_close " ..
        "sb_con_free sb_con_query sb_stmt_open sb_stmt_param sb_stmt_bind " ..
        "sb_stmt_execute sb_stmt_free sb_rs_fetch sb_rs_free")

assert(sysbench.rand) -- declares struct sb_random
local random = sb.random_ptr
local ctx = ffi.cast("struct sb_db_ctx *", sb.ctx)
local RESTART_EVENT = sysbench.error.RESTART_EVENT
local NONE, IGNORABLE = C.SB_SQL_NONE, C.SB_SQL_IGNORABLE
local TINYINT, BIGINT, DOUBLE = C.SB_SQL_TYPE_TINYINT, C.SB_SQL_TYPE_BIGINT,
   C.SB_SQL_TYPE_DOUBLE
local CHAR, BLOB = C.SB_SQL_TYPE_CHAR, C.SB_SQL_TYPE_BLOB
local PREPARED = "<prepared statement>"

local sql = {
   type = {
      NONE = 0, TINYINT = 1, SMALLINT = 2, INT = 3, BIGINT = 4, FLOAT = 5,
      DOUBLE = 6, TIME = 7, DATE = 8, DATETIME = 9, TIMESTAMP = 10,
      CHAR = 11, VARCHAR = 12, BLOB = 13
   },
   error = { NONE = 0, IGNORABLE = 1, FATAL = 2 }
}

-- Connections that parameters and the last result point into: they must not
-- be collected meanwhile.
local owner = setmetatable({}, { __mode = "k" })
local last -- luacheck: ignore 231

-- Errors ------------------------------------------------------------------

local function ignorable(con, desc)
   if con.error == IGNORABLE then
      return true
   end
   local hook = sysbench.hooks.sql_error_ignorable
   return type(hook) == "function" and hook(desc) == true
end

-- Raises what the last call on con met; level as in error(), 2 being the
-- caller of the function that calls this one.
local function raise(con, query, level)
   local desc = {
      connection = con, query = query, sql_errno = con.sql_errno,
      sql_state = ffi.string(con.sql_state),
      sql_errmsg = ffi.string(con.sql_errmsg)
   }
   if ignorable(con, desc) then
      desc.errcode = RESTART_EVENT
      error(desc)
   end
   local text = ("SQL error, errno = %d, state = '%s': %s"):format(
      desc.sql_errno, desc.sql_state, desc.sql_errmsg)
   error(text, level + 1)
end

local function check(rc, con, query)
   if rc ~= 0 then
      raise(con, query, 3)
   end
end

-- Results -----------------------------------------------------------------

local result = {}
local cells, ncells = nil, 0

function result:fetch_row()
   local n = self.nfields
   if n > ncells then
      cells, ncells = ffi.new("struct sb_sql_cell[?]", n), n
   end
   local rc = C.sb_rs_fetch(self, cells)
   if rc == 0 then
      return nil
   elseif rc < 0 then
      raise(self.connection, PREPARED, 2)
   end
   local row = {}
   for i = 1, n do
      local cell = cells[i - 1]
      if cell.s ~= nil then
         row[i] = ffi.string(cell.s, tonumber(cell.len))
      end
   end
   return row
end

function result:free()
   C.sb_rs_free(self)
end

-- Parameters --------------------------------------------------------------

local param = {}

local function number_of(value)
   local kind = type(value)
   if kind == "number" or kind == "cdata" then
      return value
   elseif kind == "boolean" then
      return value and 1 or 0
   end
   local n = tonumber(value)
   if not n then
      error("not a number: " .. tostring(value), 3)
   end
   return n
end

local function set_text(self, text)
   local n = math.min(#text, tonumber(self.max_len))
   ffi.copy(self.buffer, text, n)
   self.data_len = n
end

local function as_text(value)
   if type(value) == "boolean" then
      return value and "1" or "0"
   elseif type(value) == "cdata" then
      return (tostring(value):gsub("U?LL$", ""))
   end
   return tostring(value)
end

-- nil is NULL, booleans are 1 and 0; text is cut to the length declared.
function param:set(value)
   if value == nil then
      self.is_null = 1
      return
   end
   self.is_null = 0
   local kind = self.type
   if kind <= BIGINT then
      self.i = number_of(value)
   elseif kind <= DOUBLE then
      self.d = tonumber(number_of(value))
   elseif type(value) == "string" then
      set_text(self, value)
   else
      set_text(self, as_text(value))
   end
end

function param:set_rand_str(format)
   local n = math.min(#format, tonumber(self.max_len))
   C.sb_random_string(random, format, n, self.buffer)
   self.is_null = 0
   self.data_len = n
end

-- Statements --------------------------------------------------------------

local statement = {}
local statement_meta = {
   __index = statement,
   __tostring = function() return "<sql_statement>" end
}

-- Longest text when none is said; dates and times are shorter.
local TEXT_LENGTH, TIME_LENGTH = 255, 32

function statement:bind_create(kind, max_len)
   if type(kind) ~= "number" or kind < TINYINT or kind > BLOB then
      error("Unsupported argument type: " .. tostring(kind), 2)
   elseif not self.handle then
      error("attempt to use a closed statement", 2)
   end
   if not max_len then
      max_len = kind >= CHAR and TEXT_LENGTH or TIME_LENGTH
   end
   local p = C.sb_stmt_param(self.handle, kind, max_len)
   if p == nil then
      raise(self.connection, PREPARED, 2)
   end
   owner[p] = self.connection
   return p
end

function statement:bind_param(...)
   local n = select("#", ...)
   if not self.handle then
      error("attempt to use a closed statement", 2)
   end
   self.params = ffi.new("struct sb_param *[?]", math.max(n, 1))
   for i = 1, n do
      self.params[i - 1] = (select(i, ...))
   end
   check(C.sb_stmt_bind(self.handle, self.params, n), self.connection,
         PREPARED)
end

function statement:execute()
   local con, handle = self.connection, self.handle
   if not handle then
      error("attempt to use a closed statement", 2)
   end
   local rs = C.sb_stmt_execute(handle)
   if rs ~= nil then
      last = con
      return rs
   end
   if con.error ~= NONE then
      raise(con, PREPARED, 2)
   end
end

function statement:close()
   if self.handle then
      C.sb_stmt_free(self.handle)
      self.handle = nil
   end
end

-- Connections -------------------------------------------------------------

local connection = {}

function connection:query(query)
   local rs = C.sb_con_query(self, query, #query)
   if rs ~= nil then
      last = self
      return rs
   end
   if self.error ~= NONE then
      raise(self, query, 2)
   end
end

function connection:prepare(query, op)
   local handle = C.sb_stmt_open(self, query, #query, op)
   if handle == nil then
      raise(self, query, 2)
   end
   return setmetatable({ handle = handle, connection = self },
                       statement_meta)
end

function connection:disconnect()
   check(C.sb_con_close(self), self, "<disconnect>")
   return NONE
end

-- Drivers -----------------------------------------------------------------

local driver = {}

-- Names and values of options for one connection as arrays of C strings, and
-- a table that keeps the strings alive.
local function overrides(options)
   local names, values, n = {}, {}, 0
   for name, value in pairs(options or {}) do
      n = n + 1
      names[n] = tostring(name)
      if type(value) == "boolean" then
         value = value and "on" or "off"
      end
      values[n] = tostring(value)
   end
   local array = ffi.typeof("const char *[?]")
   return array(math.max(n, 1), names), array(math.max(n, 1), values), n,
      { names, values }
end

function driver:connect(options)
   local names, values, n, alive = overrides(options)
   local con = C.sb_con_open(ctx, self, names, values, n)
   if con == nil then
      error("connection creation failed: " ..
               ffi.string(C.sb_db_error(ctx)), 2)
   end
   alive[1] = nil
   return ffi.gc(con, C.sb_con_free)
end

function driver:name()
   return ffi.string(C.sb_db_name(self))
end

-- name: nil for the driver that the run uses.
function sql.driver(name)
   local db = C.sb_db_get(ctx, name)
   if db == nil then
      error("failed to initialize the DB driver: " ..
               ffi.string(C.sb_db_error(ctx)), 2)
   end
   return db
end

-- Methods that are missing so far are looked for in sql_more.lua.
local function extend(methods)
   setmetatable(methods, {
      __index = function(self, name)
         setmetatable(self, nil)
         sb.module("sql_more")
         return rawget(self, name)
      end
   })
end

local function class(struct, methods, name)
   extend(methods)
   ffi.metatype(struct, {
      __index = methods,
      __tostring = function() return name end
   })
end

class("struct sb_db", driver, "<sql_driver>")
class("struct sb_con", connection, "<sql_connection>")
class("struct sb_param", param, "<sql_param>")
class("struct sb_rs", result, "<sql_result>")

extend(statement)

-- For sql_more.lua and load.lua.
sb.sql = {
   driver = driver, connection = connection, statement = statement,
   result = result, raise = raise, check = check,
   keep = function(con) last = con end
}

return sql
