-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The functions that lua_bson.c calls for rare values.

local api = ...
local ffi = require("ffi")
local int64, uint64 = ffi.typeof("int64_t"), ffi.typeof("uint64_t")
local cell = ffi.new("int64_t[1]")
local INT64, NULL = 18, 10
local values = {}

jit.off(true, true) -- see mongodb.lua

-- Returns the bytes of a 64-bit integer; nil for any other cdata.
function values.int64(value)
   if ffi.istype(int64, value) or ffi.istype(uint64, value) and
      value <= 0x7fffffffffffffffULL then
      cell[0] = value
      return ffi.string(cell, 8)
   end
end

-- Returns a value of a type that Lua does not have.
function values.value(code, bytes)
   if code == INT64 then
      ffi.copy(cell, bytes, 8)
      return cell[0]
   elseif code == NULL then
      return api.module("bson_types").make.null
   end
   return api.module("bson_types").raw(code, bytes)
end

-- Returns an empty ordered document.
function values.doc()
   return api.module("bson_types").make.doc()
end

return values
