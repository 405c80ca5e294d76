-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Errors of values that lua_write.c cannot write.

local api = ...
local errors = {}

jit.off(true, true) -- see mongodb.lua

-- Raises an error for an invalid element. what: the reason, nil for a type that
-- cannot be written. names: of the enclosing documents. cut: true if names of
-- inner documents are missing.
function errors.raise(what, names, cut, key, value)
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
   api.module("error").raise(("document: %s at %s%s"):format(what,
      names, cut and "..." or key))
end

return errors
