-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- What script/bson.c needs of Lua, when it meets a value that few documents
-- have, or one that it cannot write.

local sb = ...
local ffi = sb.ffi
local int64, uint64 = ffi.typeof("int64_t"), ffi.typeof("uint64_t")
local cell = ffi.new("int64_t[1]")
local INT64, NULL = 18, 10
local more = {}

jit.off(true, true) -- see mongodb.lua

-- Raises that an element is no good. what: NULL for a type that cannot be
-- written; names: of the documents it is in, the outer ones if `cut`.
function more.fail(what, names, cut, key, value)
   local kind = type(value)
   if what == nil then
      what = ("unsupported value (%s)"):format(
         kind == "cdata" and tostring(value) or "a " .. kind)
   elseif type(key) ~= "string" then
      what = what:format(type(key))
      key = what:find("key that") and ("[%s]"):format(tostring(key)) or
         tostring(key)
   else
      what, key = what:format(kind), key:gsub("%z", "\\0")
   end
   sb.module("mongodb_error").raise(("document: %s at %s%s"):format(what,
      names, cut and "..." or key))
end

-- The bytes of a cdata that is an integer; nil for another one.
function more.int64(value)
   if ffi.istype(int64, value) or ffi.istype(uint64, value) and
      value <= 0x7fffffffffffffffULL then
      cell[0] = value
      return ffi.string(cell, 8)
   end
end

-- A value of a type that Lua lacks.
function more.value(code, bytes)
   if code == INT64 then
      ffi.copy(cell, bytes, 8)
      return cell[0]
   elseif code == NULL then
      return sb.module("bson_types").make.null
   end
   return sb.module("bson_types").raw(code, bytes)
end

-- An ordered document.
function more.doc()
   return sb.module("bson_types").make.doc()
end

return more
