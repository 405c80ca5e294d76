-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Methods of connections that few scripts call in events: loaded when one is
-- first used.

local sb = ...
local ffi, C = sb.ffi, sb.C
local connection, ctx = sb.sql.connection, sb.sql.ctx
local raise, check = sb.sql.raise, sb.sql.check
local own, text = sb.sql.own, sb.sql.text
local NONE = 0

sb.cdef("sql", "sb_con_query_now sb_con_affected sb_con_insert_id " ..
        "sb_con_ids_are_signed sb_con_server sb_con_quote sb_con_reset " ..
        "sb_con_reset_others sb_con_reconnect sb_con_init_sql sb_con_alive")

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

-- Rolls back an open transaction.
function connection:reset()
   own(self, "connection", "reset")
   check(C.sb_con_reset(self), self, "<reset>")
end

-- Rolls back on all connections of the user, before an event is retried.
function connection:reset_all()
   own(self, "connection", "reset_all")
   check(C.sb_con_reset(self), self, "<reset>")
   C.sb_con_reset_others(ctx, self)
end

-- The same for an event whose restart the script has requested.
function sb.sql.reset_all()
   C.sb_con_reset_others(ctx, nil)
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

-- False if the connection is closed, or the server has closed it. Sends
-- nothing.
function connection:is_alive()
   own(self, "connection", "is_alive")
   return C.sb_con_alive(self) ~= 0
end
