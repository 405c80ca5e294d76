-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Placeholders of compiled commands: documents with "$arg", see mongodb.ffi.h.
-- They have a module of their own, so that scripts that only compile commands
-- load no other type.

local api = ...
local bson = api.module("bson")

local function fail(text)
   api.module("error").raise("document: " .. text)
end

local arg = {
   __tostring = function(value)
      return ("arg(%d)"):format(value.n)
   end
}
bson.codes[arg] = 258

local arg_types = {
   int32 = true, int64 = true, double = true, string = true, bool = true,
   date = true, any = true
}

local function int32(n) -- up to 65535
   return string.char(n % 256, (n - n % 256) / 256, 0, 0)
end

return function(n, kind)
   if type(n) ~= "number" or n % 1 ~= 0 or n < 1 or n > 65535 then
      fail("invalid placeholder number: " .. tostring(n))
   elseif kind ~= nil and not arg_types[kind] then
      fail("unknown placeholder type: " .. tostring(kind))
   end
   local fields = "\16$arg\0" .. int32(n)
   if kind then
      fields = fields .. "\2type\0" .. int32(#kind + 1) .. kind .. "\0"
   end
   return setmetatable({
      n = n, bytes = int32(#fields + 5) .. fields .. "\0"
   }, arg)
end
