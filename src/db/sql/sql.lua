-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.sql: drivers, connections, statements and results. Connections,
-- parameters and results are the structs of sql.ffi.h; statements are tables,
-- because they must keep their connection alive.
--
-- This module has the functions that nearly every script with a database calls.
-- The others are in sql_*.lua and are loaded when they are first used, because
-- declarations and code cost memory in every user.

local sb = ...
local ffi, C = sb.ffi, sb.C

sb.cdef("sql", "sb_db_get sb_con_open sb_con_close sb_con_free " ..
        "sb_con_query sb_stmt_open sb_stmt_param sb_param_free " ..
        "sb_stmt_bind sb_stmt_execute sb_stmt_free sb_rs_free")

local ctx = ffi.cast("struct sb_db_ctx *", sb.ctx)
local NONE = 0 -- of sql.error; and of sql.type:
local TINYINT, BIGINT, BLOB = 1, 4, 13
local type, floor = type, math.floor -- locals make traces shorter
local TWO63 = 2 ^ 63
local PREPARED = "<prepared statement>"

local sql = {
   type = {
      NONE = 0, TINYINT = 1, SMALLINT = 2, INT = 3, BIGINT = 4, FLOAT = 5,
      DOUBLE = 6, TIME = 7, DATE = 8, DATETIME = 9, TIMESTAMP = 10,
      CHAR = 11, VARCHAR = 12, BLOB = 13
   },
   error = { NONE = 0, IGNORABLE = 1, FATAL = 2 }
}

-- The connection or statement that the last result belongs to: keeps it from
-- being collected before the result.
local last -- luacheck: ignore 231

-- Connections opened since the last full collection and not closed. The
-- collector does not see how much memory the driver uses for each of them. At
-- `many`, there is another collection: see sql_open.lua, collect().
local many = 16
local opened = 0

-- Errors ------------------------------------------------------------------

-- Raises the error of the last call on con. level: as in error(); 2 is the
-- caller of the function that calls this one.
local function raise(con, query, level)
   return sb.module("sql_error").raise(con, query, level)
end

local function check(rc, con, query)
   if rc ~= 0 then
      raise(con, query, 3)
   end
end

-- Scripts write a dot instead of the colon, or pass nil; C must get a valid
-- object. The check costs nothing in compiled code.
local function own(self, class, name)
   if type(self) ~= "cdata" then
      sb.module("sql_error").no_object(class, name)
   end
end

local function text(value, name)
   if type(value) ~= "string" then
      sb.module("sql_error").no_text(value, name)
   end
end

-- Results -----------------------------------------------------------------

local result = {}

function result:free()
   own(self, "result", "free")
   C.sb_rs_free(self)
end

-- Parameters --------------------------------------------------------------

local param = {}

-- Sets values that are not integral Lua numbers, or parameters of other types.
local set_other
set_other = function(self, value)
   set_other = sb.module("sql_param")
   return set_other(self, value)
end

-- nil is NULL, booleans are 1 and 0; text is cut to the declared length, and an
-- integer type drops a fraction. Any other value that cannot be bound unchanged
-- is an error.
function param:set(value)
   if value == nil then
      self.is_null = 1
   elseif self.type <= BIGINT and type(value) == "number" and
      value >= -TWO63 and value < TWO63 and floor(value) == value then
      self.i = value
      self.is_null = 0
      self.is_unsigned = 0
   else
      set_other(self, value)
   end
end

-- Statements --------------------------------------------------------------

local statement = {}
local statement_meta = {
   __index = statement,
   __tostring = function() return "<sql_statement>" end
}

-- Without max_len, texts have any length.
function statement:bind_create(kind, max_len)
   if type(kind) ~= "number" or kind < TINYINT or kind > BLOB then
      error("Unsupported argument type: " .. tostring(kind), 2)
   elseif not self.handle then
      error("attempt to use a closed statement", 2)
   end
   local p = C.sb_stmt_param(self.handle, kind, max_len or 0)
   if p == nil then
      raise(self.connection, PREPARED, 2)
   end
   return ffi.gc(p, C.sb_param_free)
end

function statement:bind_param(...)
   local n = select("#", ...)
   if not self.handle then
      error("attempt to use a closed statement", 2)
   elseif n == 0 then
      return nil
   end
   self.params = ffi.new("struct sb_param *[?]", n)
   for i = 1, n do
      self.params[i - 1] = (select(i, ...))
   end
   check(C.sb_stmt_bind(self.handle, self.params, n), self.connection,
         PREPARED)
end

local function execute(self)
   local con, handle = self.connection, self.handle
   if not handle then
      error("attempt to use a closed statement", 2)
   end
   local rs = C.sb_stmt_execute(handle)
   if rs ~= nil then
      last = self
      return rs
   end
   if con.error ~= NONE then
      raise(con, PREPARED, 2)
   end
end

statement.execute = execute

function statement:close()
   if self.handle then
      C.sb_stmt_free(ffi.gc(self.handle, nil))
      self.handle = nil
   end
end

-- Connections -------------------------------------------------------------

local connection = {}

function connection:query(query)
   own(self, "connection", "query")
   text(query, "query")
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
   own(self, "connection", "prepare")
   text(query, "prepare")
   -- As in 1.0, prepare(text:gsub(...)) may have a number behind the text.
   op = type(op) == "string" and op or nil
   if op then
      sb.check_name(op, "an operation", 2)
   end
   local handle = C.sb_stmt_open(self, query, #query, op)
   if handle == nil then
      raise(self, query, 2)
   end
   handle = ffi.gc(handle, C.sb_stmt_free)
   -- execute is also in the class, but is found here in fewer steps.
   return setmetatable({ handle = handle, connection = self,
                         execute = execute }, statement_meta)
end

function connection:disconnect()
   own(self, "connection", "disconnect")
   check(C.sb_con_close(self), self, "<disconnect>")
   opened = opened > 0 and opened - 1 or 0
   return NONE
end

-- Drivers -----------------------------------------------------------------

local driver = {}

-- may_fail: returns nil if the server refuses the connection.
local function open(db, options, may_fail)
   local con
   opened = opened + 1
   if opened > many then
      opened = 0
      many = sb.module("sql_open").collect()
   end
   if options then
      con = sb.module("sql_open").open(db, options)
   else
      con = C.sb_con_open(ctx, db, nil, nil, 0)
   end
   if con == nil then
      con = sb.module("sql_open").open_again(db, options, may_fail)
   end
   return con
end

-- options: name -> value, for this connection only.
function driver:connect(options)
   own(self, "driver", "connect")
   return ffi.gc(open(self, options), C.sb_con_free)
end

-- name: nil for the driver that the run uses.
function sql.driver(name)
   if name ~= nil then
      text(name, "driver")
   end
   local db = C.sb_db_get(ctx, name)
   if db == nil then
      sb.module("sql_error").raise_driver("failed to initialize the DB driver")
   end
   return db
end

-- Classes -----------------------------------------------------------------

-- The modules that have the other methods of a class: loaded in this order
-- until the method is found.
local extended = sb.extended{
   [param] = "sql_param", [result] = "sql_result", [driver] = "sql_driver",
   [statement] = "sql_result_sets",
   [connection] = "sql_connection sql_result_sets sql_pipeline sql_bulk"
}

local function class(struct, methods, name)
   setmetatable(methods, extended)
   ffi.metatype(struct, {
      __index = methods,
      __tostring = function() return name end
   })
end

class("struct sb_db", driver, "<sql_driver>")
class("struct sb_con", connection, "<sql_connection>")
class("struct sb_param", param, "<sql_param>")
class("struct sb_rs", result, "<sql_result>")
setmetatable(statement, extended)

-- For the other sql_*.lua, and load.lua.
sb.sql = {
   ctx = ctx, driver = driver, connection = connection, param = param,
   statement = statement, result = result, raise = raise, check = check,
   own = own, text = text, open = open,
   keep = function(con) last = con end
}

return sql
