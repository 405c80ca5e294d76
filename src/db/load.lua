-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- con:load(): rows into one table, value by value in order of the columns.

local sb = ...
local ffi, C = sb.ffi, sb.C

assert(sb.sysbench.rand) -- declares struct sb_random
sb.cdef("load")

local random = sb.random_ptr
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
      elseif loader.connection.error == 0 then
         error("attempt to use a loader whose connection was closed, reset " ..
               "or reconnected", 3)
      end
      raise(loader.connection, loader.what, 3)
   end
end

-- A loader that was dropped, maybe by an error in the script.
local function drop(handle)
   C.sb_load_close(handle, 0)
end

function load.open(con, name, columns)
   local handle = C.sb_load_open(con, name, columns)
   local what = "<load " .. name .. ">"
   if handle == nil then
      raise(con, what, 2)
   end
   return setmetatable({ handle = ffi.gc(handle, drop), connection = con,
                         what = what }, meta)
end

function methods:int(value)
   check(C.sb_load_int(self.handle, value), self)
end

function methods:double(value)
   check(C.sb_load_double(self.handle, value), self)
end

function methods:text(value)
   check(C.sb_load_text(self.handle, value, #value), self)
end

function methods:null()
   check(C.sb_load_null(self.handle), self)
end

-- Random text, made where the loader keeps its rows.
function methods:random_text(format)
   local n = #format
   local room = C.sb_load_room(self.handle, n)
   if room == nil then
      check(-1, self)
   end
   C.sb_random_string(random, format, n, room)
end

-- At most so many rows, up to 1,000, are sent at a time from now on.
function methods:block(rows)
   if not self.handle then
      error("attempt to use a closed loader", 2)
   end
   C.sb_load_block(self.handle, rows)
end

-- commit: false to give up; true when left out.
function methods:close(commit)
   local handle = self.handle
   if handle then
      -- The handle is freed whatever happens.
      self.handle = nil
      check(C.sb_load_close(ffi.gc(handle, nil), commit == false and 0 or 1),
            { handle = true, connection = self.connection, what = self.what })
   end
end

return load
