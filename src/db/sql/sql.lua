-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.sql: drivers, connections, statements and results. Connections,
-- parameters and results are the structs of sql.ffi.h; statements are tables,
-- because they must keep their connection alive.

local sb = ...
local ffi, C, turn, wait = sb.ffi, sb.C, sb.turn, sb.wait

sb.cdef("sql")

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

local result, param, statement, connection, driver = {}, {}, {}, {}, {}

-- For the modules that belong to this one.
sb.sql = { param = param }

-- Errors ------------------------------------------------------------------

-- Raises the error of the last call on con. level: as in error(); 2 is the
-- caller of the function that calls this one. loader: whose call it was, if
-- any.
local function raise(con, query, level, loader)
   return sb.module("sql_error").raise(con, query, level, loader)
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

sb.sql.raise = raise

-- Results -----------------------------------------------------------------

local cells, ncells = nil, 0

function result:free()
   own(self, "result", "free")
   C.sb_rs_free(self)
end

function result:fetch_row()
   own(self, "result", "fetch_row")
   local n = self.nfields
   if n > ncells then
      cells, ncells = ffi.new("struct sb_sql_cell[?]", n), n
   end
   local rc = C.sb_rs_fetch(self, cells)
   if rc == 0 then
      return nil
   elseif rc < 0 then
      raise(self.connection, "<prepared statement>", 2)
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

-- Returns the name of column i, from 1; nil if out of range.
function result:column(i)
   own(self, "result", "column")
   local name = C.sb_rs_column(self, i - 1)
   if name ~= nil then
      return ffi.string(name)
   end
end

-- Parameters --------------------------------------------------------------

-- Sets values that are not integral Lua numbers, or parameters of other types.
local set_other = sb.module("sql_param")

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

local statement_meta = {
   __index = statement,
   __tostring = function() return "<sql_statement>" end
}

-- Without max_len, texts have any length.
function statement:bind_create(kind, max_len)
   if type(kind) ~= "number" or kind < TINYINT or kind > BLOB then
      sb.module("sql_error").no_type(sql.type, kind)
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
   local params = ffi.new("struct sb_param *[?]", n)
   for i = 1, n do
      local value = (select(i, ...))
      if value ~= nil and type(value) ~= "cdata" then
         sb.module("sql_error").no_param(value)
      end
      params[i - 1] = value
   end
   self.params = params
   check(C.sb_stmt_bind(self.handle, self.params, n), self.connection,
         PREPARED)
end

local function execute(self)
   local con, handle = self.connection, self.handle
   if not handle then
      error("attempt to use a closed statement", 2)
   end
   local rs = wait.sb_stmt_execute(handle)
   if rs ~= nil then
      return rs
   end
   if con.error ~= NONE then
      raise(con, PREPARED, 2)
   end
end

statement.execute = execute

function statement:close()
   if self.handle then
      wait.sb_stmt_free(ffi.gc(self.handle, nil))
      self.handle = nil
   end
end

-- Connections -------------------------------------------------------------

function connection:query(query)
   own(self, "connection", "query")
   text(query, "query")
   local rs = wait.sb_con_query(self, query, #query)
   if rs ~= nil then
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
   local handle = wait.sb_stmt_open(self, query, #query, op)
   if handle == nil then
      raise(self, query, 2)
   end
   handle = ffi.gc(handle, C.sb_stmt_drop)
   -- execute is also in the class, but is found here in fewer steps.
   return setmetatable({ handle = handle, connection = self,
                         execute = execute }, statement_meta)
end

-- Returns the text that write(buf, size) writes as snprintf() does.
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

-- Returns the values of the first row; nothing if it has no rows.
function connection:query_row(query)
   own(self, "connection", "query_row")
   text(query, "query_row")
   local rs = wait.sb_con_query_now(self, query, #query)
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

-- For scripts that call the C functions: returns rs, or raises the error of the
-- last call.
function connection:check_error(rs, query)
   own(self, "connection", "check_error")
   if rs == nil and self.error ~= NONE then
      raise(self, query, 2)
   end
   return rs
end

function connection:load(name, columns, options)
   own(self, "connection", "load")
   text(name, "load")
   text(columns, "load")
   return sb.module("load").open(self, name, columns, options)
end

function connection:affected()
   own(self, "connection", "affected")
   return C.sb_con_affected(self)
end

function connection:insert_id()
   own(self, "connection", "insert_id")
   local id = C.sb_con_insert_id(self)
   if C.sb_con_ids_are_signed(self) ~= 0 then
      id = ffi.cast("int64_t", id)
      return id >= -2LL ^ 53 and id <= 2LL ^ 53 and tonumber(id) or id
   end
   return id <= 2 ^ 53 and tonumber(id) or id
end

function connection:server_info()
   own(self, "connection", "server_info")
   return text_of(function(out, size)
      return wait.sb_con_server(self, out, size)
   end)
end

function connection:quote(value)
   own(self, "connection", "quote")
   text(value, "quote")
   return text_of(function(out, size)
      return C.sb_con_quote(self, value, #value, out, size)
   end)
end

-- Rolls back an open transaction.
function connection:reset()
   own(self, "connection", "reset")
   check(wait.sb_con_reset(self), self, "<reset>")
end

-- Rolls back on all connections of the user, before an event is retried.
function connection:reset_all()
   own(self, "connection", "reset_all")
   check(wait.sb_con_reset(self), self, "<reset>")
   wait.sb_con_reset_others(turn.ctx, self)
end

-- The same for an event whose restart the script has requested.
function sb.sql.reset_all()
   wait.sb_con_reset_others(turn.ctx, nil)
end

function connection:reconnect()
   own(self, "connection", "reconnect")
   check(wait.sb_con_reconnect(self), self, "<reconnect>")
   return NONE
end

-- Executes a statement that sets something for the session now, and after each
-- reconnect.
function connection:init_sql(query)
   own(self, "connection", "init_sql")
   text(query, "init_sql")
   local rs = wait.sb_con_query_now(self, query, #query)
   if rs ~= nil then
      rs:free()
   elseif self.error ~= NONE then
      raise(self, query, 2)
   end
   check(wait.sb_con_init_sql(self, query, #query), self, query)
end

-- False if the connection is closed, or the server has closed it. Sends
-- nothing.
function connection:is_alive()
   own(self, "connection", "is_alive")
   return C.sb_con_alive(self) ~= 0
end

-- Statements with several results.

function connection:more_results()
   own(self, "connection", "more_results")
   return C.sb_rs_more(self) == 1
end

-- Returns nil for a result without rows, and after the last one.
function connection:next_result()
   own(self, "connection", "next_result")
   local rs = wait.sb_rs_next(self)
   if rs ~= nil then
      return rs
   elseif self.error ~= NONE then
      raise(self, "<next result>", 2)
   end
end

function statement:next_result()
   return self.connection:next_result()
end

-- Bulk inserts ------------------------------------------------------------

function connection:bulk_insert_init(query)
   own(self, "connection", "bulk_insert_init")
   text(query, "bulk_insert_init")
   check(wait.sb_con_bulk_init(self, query, #query), self, query)
end

function connection:bulk_insert_next(values)
   own(self, "connection", "bulk_insert_next")
   text(values, "bulk_insert_next")
   if wait.sb_con_bulk_next(self, values, #values) ~= 0 then
      raise(self, values, 2)
   end
end

function connection:bulk_insert_done()
   own(self, "connection", "bulk_insert_done")
   check(wait.sb_con_bulk_done(self), self, "<bulk insert>")
end

-- Pipelines: statements that are collected and sent together --------------

-- After this, queries and executions are only collected: pipeline_run() or
-- pipeline_send() sends them together.
function connection:pipeline_begin()
   own(self, "connection", "pipeline_begin")
   check(wait.sb_con_pipeline(self), self, "<pipeline>")
end

-- Sends the statements, receives all results and drops their rows; returns the
-- number of statements.
function connection:pipeline_run()
   own(self, "connection", "pipeline_run")
   local n = wait.sb_con_pipeline_run(self)
   if n < 0 then
      raise(self, "<pipeline>", 2)
   end
   return n
end

-- Sends the statements that fn(...) executes on this connection together.
function connection:pipeline(fn, ...)
   own(self, "connection", "pipeline")
   self:pipeline_begin()
   local ok, err = pcall(fn, ...)
   if not ok then
      wait.sb_con_pipeline_drop(self)
      error(err, 0)
   end
   return self:pipeline_run()
end

-- Called at the end of an event: receives the answers that are left of its
-- pipelines.
local function finish()
   local sent = sb.me().sent or {}
   for i = #sent, 1, -1 do
      local con = sent[i]
      sent[i] = nil
      if wait.sb_con_pipeline_end(con) < 0 then
         raise(con, "<pipeline>", 2)
      end
   end
end

local hooked = false

local function finish_after_event(con, me)
   local sent = me.sent
   if not hooked then
      sb.after_event[#sb.after_event + 1] = finish
      hooked = true
   end
   if not sent then
      sent = {}
      me.sent = sent
   end
   for i = 1, #sent do
      if sent[i] == con then
         return
      end
   end
   sent[#sent + 1] = con
end

-- As pipeline_run(), but pipeline_next() receives the results.
function connection:pipeline_send()
   own(self, "connection", "pipeline_send")
   local n = wait.sb_con_pipeline_send(self)
   if n < 0 then
      raise(self, "<pipeline>", 2)
   end
   local me = sb.me()
   if me.in_loop then
      finish_after_event(self, me)
   end
   return n
end

-- Returns the result of the next statement, as query() would have done.
function connection:pipeline_next()
   own(self, "connection", "pipeline_next")
   local rs = wait.sb_con_pipeline_next(self)
   if rs ~= nil then
      return rs
   elseif self.error ~= NONE then
      raise(self, "<pipeline>", 2)
   end
end

-- Drivers -----------------------------------------------------------------

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
local function open_with(db, options)
   local names, values, n, alive = overrides(options or {})
   local con = wait.sb_con_open(turn.ctx, db, names, values, n)
   alive[1] = nil
   return con
end

-- Connections opened since the last full collection and not closed, by the
-- users of this state. The collector does not see how much memory the driver
-- uses for each of them. At `many` for each user, there is another collection.
local many = 16
local opened = 0

-- Closes the connections that the script has dropped. Returns how many more may
-- be opened before the next time: as many as are open, so that a user with
-- thousands of connections does not collect thousands of times.
local function collect()
   sb.collect()
   return math.max(16, wait.sb_con_held(turn.ctx))
end

-- Called after a failed connect. If may_fail is true and the server has refused
-- the connection, returns nil. Otherwise collects connections that the script
-- has dropped, and tries again if there were some, or raises the error.
local function open_again(db, options, may_fail)
   local ctx, con = turn.ctx, nil
   if not may_fail then
      sb.collect()
   end
   if wait.sb_con_retry(ctx) ~= 0 then
      con = open_with(db, options)
   end
   if con == nil and not (C.sb_con_refused(ctx, db) ~= 0 and may_fail) then
      sb.module("sql_error").raise_driver("connection creation failed", 5)
   end
   return con
end

-- may_fail: returns nil if the server refuses the connection.
local function open(db, options, may_fail)
   local con
   opened = opened + 1
   if opened > many * sb.count() then
      opened = 0
      many = collect()
   end
   if options then
      con = open_with(db, options)
   else
      con = wait.sb_con_open(turn.ctx, db, nil, nil, 0)
   end
   if con == nil then
      con = open_again(db, options, may_fail)
   end
   return con
end

function connection:disconnect()
   own(self, "connection", "disconnect")
   check(wait.sb_con_close(self), self, "<disconnect>")
   opened = opened > 0 and opened - 1 or 0
   return NONE
end

-- options: name -> value, for this connection only.
function driver:connect(options)
   own(self, "driver", "connect")
   return ffi.gc(open(self, options), C.sb_con_drop)
end

-- Key of the SQL dialect: "mysql", "pgsql", "sqlite" ...
function driver:dialect()
   own(self, "driver", "dialect")
   return ffi.string(C.sb_db_dialect(self))
end

function driver:name()
   own(self, "driver", "name")
   return ffi.string(C.sb_db_name(self))
end

-- Returns the databases that connections use in turn, each once; empty if the
-- driver has no option for them.
function driver:databases()
   own(self, "driver", "databases")
   local list = C.sb_db_databases(self)
   local names, seen = {}, {}
   for item in (list ~= nil and ffi.string(list) or ""):gmatch("[^,]+") do
      local name = item:match("^%s*(.-)%s*$")
      if name ~= "" and not seen[name] then
         names[#names + 1] = name
         seen[name] = true
      end
   end
   return names
end

-- Calls f(con, name) for each of the databases, one after the other, with a
-- connection that is closed after the call. Ends if f returns false.
function driver:each_database(f)
   own(self, "driver", "each_database")
   local names = self:databases()
   if #names <= 1 then
      names = {names[1] or false}
   end
   for _, name in ipairs(names) do
      local options
      if #names > 1 then
         options = {[ffi.string(C.sb_db_databases_option(self))] = name}
      end
      local con = self:connect(options)
      local ok, more = pcall(f, con, name or nil)
      pcall(con.disconnect, con)
      if not ok then
         error(more, 0)
      elseif more == false then
         return
      end
   end
end

-- As connect(), but if the server refuses the connection, returns nil and a
-- table with sql_errno, sql_state and sql_errmsg.
function driver:try_connect(options)
   own(self, "driver", "try_connect")
   local con = open(self, options, true)
   if con ~= nil then
      return ffi.gc(con, C.sb_con_drop)
   end
   local ctx = turn.ctx
   return nil, {
      sql_errno = C.sb_db_errno(ctx),
      sql_state = ffi.string(C.sb_db_state(ctx)),
      sql_errmsg = ffi.string(C.sb_db_error(ctx))
   }
end

-- name: nil for the driver that the run uses.
function sql.driver(name)
   if name ~= nil then
      text(name, "driver")
   end
   local db = C.sb_db_get(turn.ctx, name)
   if db == nil then
      sb.module("sql_error").raise_driver("failed to initialize the DB driver")
   end
   return db
end

-- Classes -----------------------------------------------------------------

local function class(struct, methods, name)
   sb.metatype(struct, {
      __index = methods,
      __tostring = function() return name end
   })
end

class("struct sb_db", driver, "<sql_driver>")
class("struct sb_con", connection, "<sql_connection>")
class("struct sb_param", param, "<sql_param>")
class("struct sb_rs", result, "<sql_result>")

return sql
