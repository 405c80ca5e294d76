-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Errors of the document API: raised at the line of the script that called it,
-- at any depth of the API.

local api = ...
jit.off(true, true) -- see mongodb.lua

local errors = { raise = api.fail, raise_con = api.raise }

-- Returns the options of a call as a table; raises an error for other types.
function errors.options(options)
   if options ~= nil and type(options) ~= "table" then
      api.fail("options are a table, such as {upsert = true}, not a " ..
         type(options))
   end
   return options or {}
end

-- Raises an error for an invalid element. what: the reason, nil for a type that
-- cannot be written. names: of the enclosing documents. cut: true if names of
-- inner documents are missing.
function errors.element(what, names, cut, key, value)
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
   api.fail(("document: %s at %s%s"):format(what,
      names, cut and "..." or key))
end

return errors
