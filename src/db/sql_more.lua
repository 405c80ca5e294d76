-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The methods of sysbench.sql that few scripts call in events: loaded when one
-- is first used.

local sb = ...
local ffi, C = sb.ffi, sb.C
local driver, connection = sb.sql.driver, sb.sql.connection
local statement = sb.sql.statement
local raise, check, keep = sb.sql.raise, sb.sql.check, sb.sql.keep
local own, text, open = sb.sql.own, sb.sql.text, sb.sql.open
local NONE = 0

sb.cdef("sql")

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

function statement:next_result()
   return self.connection:next_result()
end

-- Returns the values of the first row; nothing if it has no rows.
function connection:query_row(query)
   own(self, "connection", "query_row")
   text(query, "query_row")
   local rs = C.sb_con_query_now(self, query, #query)
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

function connection:bulk_insert_init(query)
   own(self, "connection", "bulk_insert_init")
   text(query, "bulk_insert_init")
   check(C.sb_con_bulk_init(self, query, #query), self, query)
end

function connection:bulk_insert_next(values)
   own(self, "connection", "bulk_insert_next")
   text(values, "bulk_insert_next")
   if C.sb_con_bulk_next(self, values, #values) ~= 0 then
      raise(self, values, 2)
   end
end

function connection:bulk_insert_done()
   own(self, "connection", "bulk_insert_done")
   check(C.sb_con_bulk_done(self), self, "<bulk insert>")
end

function connection:more_results()
   own(self, "connection", "more_results")
   local rc = C.sb_rs_more(self)
   if rc < 0 then
      raise(self, "<next result>", 2)
   end
   return rc == 1
end

-- Returns nil for a result without rows, and after the last one.
function connection:next_result()
   own(self, "connection", "next_result")
   local rs = C.sb_rs_next(self)
   if rs ~= nil then
      keep(self)
      return rs
   elseif self.error ~= NONE then
      raise(self, "<next result>", 2)
   end
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
      return C.sb_con_server(self, out, size)
   end)
end

function connection:quote(value)
   own(self, "connection", "quote")
   text(value, "quote")
   return text_of(function(out, size)
      return C.sb_con_quote(self, value, #value, out, size)
   end)
end

-- After this, queries and executions are only collected: pipeline_run() or
-- pipeline_send() sends them together.
function connection:pipeline_begin()
   own(self, "connection", "pipeline_begin")
   check(C.sb_con_pipeline(self), self, "<pipeline>")
end

-- Sends the statements, receives all results and drops their rows; returns the
-- number of statements.
function connection:pipeline_run()
   own(self, "connection", "pipeline_run")
   local n = C.sb_con_pipeline_run(self)
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
      C.sb_con_pipeline_drop(self)
      error(err, 0)
   end
   return self:pipeline_run()
end

-- As pipeline_run(), but pipeline_next() receives the results.
function connection:pipeline_send()
   own(self, "connection", "pipeline_send")
   local n = C.sb_con_pipeline_send(self)
   if n < 0 then
      raise(self, "<pipeline>", 2)
   end
   return n
end

-- Returns the result of the next statement, as query() would have done.
function connection:pipeline_next()
   own(self, "connection", "pipeline_next")
   local rs = C.sb_con_pipeline_next(self)
   if rs ~= nil then
      keep(self)
      return rs
   elseif self.error ~= NONE then
      raise(self, "<pipeline>", 2)
   end
end

-- Rolls back an open transaction.
function connection:reset()
   own(self, "connection", "reset")
   check(C.sb_con_reset(self), self, "<reset>")
end

-- Rolls back on all connections of the user, before an event is retried.
function connection:reset_all()
   own(self, "connection", "reset_all")
   check(C.sb_con_reset(self), self, "<reset>")
   C.sb_con_reset_others(self)
end

function connection:reconnect()
   own(self, "connection", "reconnect")
   check(C.sb_con_reconnect(self), self, "<reconnect>")
   return NONE
end

-- Executes a statement that sets something for the session now, and after each
-- reconnect.
function connection:init_sql(query)
   own(self, "connection", "init_sql")
   text(query, "init_sql")
   local rs = C.sb_con_query_now(self, query, #query)
   if rs ~= nil then
      rs:free()
   elseif self.error ~= NONE then
      raise(self, query, 2)
   end
   check(C.sb_con_init_sql(self, query, #query), self, query)
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

-- Returns names and values of options for one connection as arrays of C
-- strings, their number, and a table that keeps the strings alive.
local function overrides(options)
   local given, names, values, n = {}, {}, {}, 0
   for name, value in pairs(options) do
      n = n + 1
      names[n] = tostring(name)
      if type(value) == "boolean" then
         value = value and "on" or "off"
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

local more = {}

-- Opens a connection with its own options; nil on failure.
function more.open(db, options)
   local names, values, n, alive = overrides(options or {})
   local con = C.sb_con_open(sb.sql.ctx, db, names, values, n)
   alive[1] = nil
   return con
end

-- Closes the connections that the script has dropped. Returns how many more may
-- be opened before the next time: as many as are open, so that a user with
-- thousands of connections does not collect thousands of times.
function more.collect()
   collectgarbage()
   return math.max(16, C.sb_con_held(sb.sql.ctx))
end

-- Called after a failed connect. If may_fail is true and the server has refused
-- the connection, returns nil. Otherwise collects connections that the script
-- has dropped, and tries again if there were some, or raises the error.
function more.open_again(db, options, may_fail)
   local ctx, con = sb.sql.ctx, nil
   if not may_fail then
      collectgarbage()
   end
   if C.sb_con_retry(ctx) ~= 0 then
      con = more.open(db, options)
   end
   if con == nil and not (C.sb_con_refused(ctx, db) ~= 0 and may_fail) then
      sb.module("sql_error").raise_driver("connection creation failed", 5)
   end
   return con
end

-- As connect(), but if the server refuses the connection, returns nil and a
-- table with sql_errno, sql_state and sql_errmsg.
function driver:try_connect(options)
   own(self, "driver", "try_connect")
   local con = open(self, options, true)
   if con ~= nil then
      return ffi.gc(con, C.sb_con_free)
   end
   local ctx = sb.sql.ctx
   return nil, {
      sql_errno = C.sb_db_errno(ctx),
      sql_state = ffi.string(C.sb_db_state(ctx)),
      sql_errmsg = ffi.string(C.sb_db_error(ctx))
   }
end

-- False if the connection is closed, or the server has closed it. Sends
-- nothing.
function connection:is_alive()
   own(self, "connection", "is_alive")
   return C.sb_con_alive(self) ~= 0
end

return more
