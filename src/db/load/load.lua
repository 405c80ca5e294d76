-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- con:load(): loads rows into one table, value by value in the order of the
-- columns.

local sb = ...
local wait = sb.wait
local ffi, C, turn = sb.ffi, sb.C, sb.turn

sb.cdef("load")
sb.cdef("random")

local raise = sb.sql.raise
local load, methods = {}, {}
local meta = {
   __index = methods,
   __tostring = function() return "<sql_loader>" end
}

local function check(rc, loader)
   if rc ~= 0 then
      if not loader.handle then
         error("attempt to use a closed loader", 3)
      elseif loader.connection.error == 0 or
         loader.handle ~= true and C.sb_load_detached(loader.handle) ~= 0
      then
         error("attempt to use a loader whose connection was closed, reset " ..
               "or reconnected", 3)
      end
      raise(loader.connection, loader.what, 3, loader)
   end
end

-- Called by the collector for a loader that the script did not close.
local function drop(handle)
   C.sb_load_drop(handle)
end

local known = { private = true }

-- Returns whether the load is private.
local function check_options(options)
   if options == nil then
      return false
   elseif type(options) ~= "table" then
      error("the options of load() must be a table", 3)
   end
   for name in pairs(options) do
      if not known[name] then
         error("load() has no option '" .. tostring(name) .. "'", 3)
      end
   end
   return options.private
end

function load.open(con, name, columns, options)
   local open = check_options(options) and wait.sb_load_open_private or
      wait.sb_load_open
   local handle = open(con, name, columns)
   local what = "<load " .. name .. ">"
   if handle == nil then
      raise(con, what, 2, { name = name, columns = columns })
   end
   return setmetatable({ handle = ffi.gc(handle, drop), connection = con,
                         what = what, name = name, columns = columns }, meta)
end

-- An invalid value ends the load as an error of the server does: its
-- transaction is rolled back, even if the script catches the error.
local function refuse(handle, format, ...)
   local why = format:format(...)
   return wait.sb_load_refuse(handle, why)
end

-- 64-bit integers are passed without conversion to a double.
local function add_other_int(handle, value)
   if ffi.istype("int64_t", value) then
      return wait.sb_load_int64(handle, value)
   elseif ffi.istype("uint64_t", value) then
      return wait.sb_load_uint64(handle, value)
   elseif type(value) == "cdata" and tonumber(value) then
      return wait.sb_load_int(handle, tonumber(value))
   end
   return refuse(handle, "not a number: %s", tostring(value))
end

local function add_other_double(handle, value)
   local n, why
   if type(value) == "cdata" then
      sb.module("sql_param")
      n, why = sb.sql.exact(value)
   end
   if n then
      return wait.sb_load_double(handle, n)
   end
   return refuse(handle, "%s", why or "not a number: " .. tostring(value))
end

function methods:int(value)
   if type(value) == "number" then
      check(wait.sb_load_int(self.handle, value), self)
   else
      check(add_other_int(self.handle, value), self)
   end
end

function methods:double(value)
   if type(value) == "number" then
      check(wait.sb_load_double(self.handle, value), self)
   else
      check(add_other_double(self.handle, value), self)
   end
end

function methods:text(value)
   if type(value) == "string" then
      check(wait.sb_load_text(self.handle, value, #value), self)
   else
      check(refuse(self.handle, "not a string: %s", tostring(value)), self)
   end
end

function methods:null()
   check(wait.sb_load_null(self.handle), self)
end

-- Random text, written directly to the buffer of the loader.
function methods:random_text(format)
   local n = #format
   local room = wait.sb_load_room(self.handle, n)
   if room == nil then
      check(-1, self)
   end
   C.sb_random_string(turn.random, format, n, room)
end

-- Random digits and letters: min to max characters.
function methods:random_alphanumeric(min, max)
   if not (min >= 0 and max >= 0) then
      error(("random_alphanumeric(%s, %s): a length is negative")
         :format(min, max), 2)
   end
   local n = C.sb_random_uniform(turn.random, min, max)
   local room = wait.sb_load_room(self.handle, n)
   if room == nil then
      check(-1, self)
   end
   C.sb_random_alphanumeric(turn.random, n, room)
end

-- Sets the maximum number of rows (1 to 1,000) that are sent at a time.
function methods:block(rows)
   if not self.handle then
      error("attempt to use a closed loader", 2)
   end
   C.sb_load_block(self.handle, rows)
end

-- commit: false to roll back; the default is true.
function methods:close(commit)
   local handle = self.handle
   if handle then
      -- sb_load_close() frees the handle also on failure.
      self.handle = nil
      check(wait.sb_load_close(ffi.gc(handle, nil), commit == false and 0 or 1),
            { handle = true, connection = self.connection, what = self.what,
              name = self.name, columns = self.columns })
   end
end

return load
