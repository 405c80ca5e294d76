-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The functions that script/bson.c calls for values that few documents have,
-- and for values that it cannot write.

local sb = ...
local ffi = sb.ffi
local int64, uint64 = ffi.typeof("int64_t"), ffi.typeof("uint64_t")
local cell = ffi.new("int64_t[1]")
local INT64, NULL = 18, 10
local more = {}

jit.off(true, true) -- see mongodb.lua

-- Raises an error for an invalid element. what: the reason, nil for a type that
-- cannot be written. names: of the enclosing documents. cut: true if names of
-- inner documents are missing.
function more.fail(what, names, cut, key, value)
   local kind = type(value)
   if what == nil then
      what = ("unsupported value (%s)"):format(
         kind == "cdata" and tostring(value) or "a " .. kind)
   elseif type(key) ~= "string" then
      what = what:format(type(key))
      key = what:find("the key must") and ("[%s]"):format(tostring(key)) or
         tostring(key)
   else
      what, key = what:format(kind), key:gsub("%z", "\\0")
   end
   sb.module("mongodb_error").raise(("document: %s at %s%s"):format(what,
      names, cut and "..." or key))
end

-- Returns the bytes of a 64-bit integer; nil for any other cdata.
function more.int64(value)
   if ffi.istype(int64, value) or ffi.istype(uint64, value) and
      value <= 0x7fffffffffffffffULL then
      cell[0] = value
      return ffi.string(cell, 8)
   end
end

-- Returns a value of a type that Lua does not have.
function more.value(code, bytes)
   if code == INT64 then
      ffi.copy(cell, bytes, 8)
      return cell[0]
   elseif code == NULL then
      return sb.module("bson_types").make.null
   end
   return sb.module("bson_types").raw(code, bytes)
end

-- Returns an empty ordered document.
function more.doc()
   return sb.module("bson_types").make.doc()
end

return more
