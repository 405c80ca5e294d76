-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.sql: drivers, connections, statements and results. Connections,
-- parameters and results are the structs of sql.ffi.h themselves; statements
-- are tables, because they must keep their connection alive.

local sb = ...
local ffi, C, sysbench = sb.ffi, sb.C, sb.sysbench

sb.cdef("sql")

local rand = sysbench.rand -- declares struct sb_random
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
local last

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

-- Text that C writes as snprintf() does.
local function text_of(write)
   local size = 256
   while true do
      local buf = ffi.new("char[?]", size)
      local n = tonumber(write(buf, size))
      if n < 0 then
         return nil
      elseif n < size then
         return ffi.string(buf, n)
      end
      size = n + 1
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

-- Name of column i, counted from 1; nil when there is none.
function result:column(i)
   local name = C.sb_rs_column(self, i - 1)
   if name ~= nil then
      return ffi.string(name)
   end
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

function statement:next_result()
   return self.connection:next_result()
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

-- The values of the first row; nothing when there is none.
function connection:query_row(query)
   local rs = C.sb_con_query(self, query, #query)
   if rs == nil then
      if self.error ~= NONE then
         raise(self, query, 2)
      end
      return
   end
   local row, n = rs:fetch_row(), rs.nfields
   rs:free()
   if row then
      return unpack(row, 1, n)
   end
end

-- For scripts that call C themselves: rs unless the last call failed.
function connection:check_error(rs, query)
   if rs == nil and self.error ~= NONE then
      raise(self, query, 2)
   end
   return rs
end

function connection:prepare(query, op)
   local handle = C.sb_stmt_open(self, query, #query, op)
   if handle == nil then
      raise(self, query, 2)
   end
   return setmetatable({ handle = handle, connection = self },
                       statement_meta)
end

function connection:bulk_insert_init(query)
   check(C.sb_con_bulk_init(self, query, #query), self, query)
end

function connection:bulk_insert_next(values)
   if C.sb_con_bulk_next(self, values, #values) ~= 0 then
      raise(self, values, 2)
   end
end

function connection:bulk_insert_done()
   check(C.sb_con_bulk_done(self), self, "<bulk insert>")
end

-- Rows change through the next result; a result without rows ends the list.
local pending = setmetatable({}, { __mode = "k" })

local function next_result(con)
   local rs = C.sb_rs_next(con)
   if rs ~= nil then
      last = con
      return rs
   elseif con.error ~= NONE then
      raise(con, "<next result>", 3)
   end
end

function connection:more_results()
   local rs = pending[self] or next_result(self)
   pending[self] = rs
   return rs ~= nil
end

function connection:next_result()
   local rs = pending[self] or next_result(self)
   pending[self] = nil
   return rs
end

function connection:load(name, columns)
   return sb.module("load").open(self, name, columns)
end

function connection:affected()
   return C.sb_con_affected(self)
end

function connection:insert_id()
   return C.sb_con_insert_id(self)
end

function connection:server_info()
   return text_of(function(out, size)
      return C.sb_con_server(self, out, size)
   end)
end

function connection:quote(text)
   return text_of(function(out, size)
      return C.sb_con_quote(self, text, #text, out, size)
   end)
end

-- Rolls back what is open.
function connection:reset()
   check(C.sb_con_reset(self), self, "<reset>")
end

function connection:reconnect()
   check(C.sb_con_reconnect(self), self, "<reconnect>")
   return NONE
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

-- Key of the SQL dialect: "mysql", "pgsql", "sqlite" ...
function driver:dialect()
   return ffi.string(C.sb_db_dialect(self))
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

local function class(struct, methods, name)
   ffi.metatype(struct, {
      __index = methods,
      __tostring = function() return name end
   })
end

class("struct sb_db", driver, "<sql_driver>")
class("struct sb_con", connection, "<sql_connection>")
class("struct sb_param", param, "<sql_param>")
class("struct sb_rs", result, "<sql_result>")

-- For embedded modules.
sb.raise, sb.rand = raise, rand
sb.last_connection = function() return last end

return sql
