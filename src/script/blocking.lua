-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Finds out from the text of a script whether it waits with functions that are
-- not the program's, which would hold up the other users of a worker. It is
-- used by --workers=auto only, so it may take too much for such a function, but
-- a script whose text does not show it is not noticed.

local sb = ...
local libraries = {}
for name in ("string table math io os debug bit coroutine ffi jit package _G")
   :gmatch("%S+") do
   libraries[name] = true
end

local literal = "%s*%(?%s*[\"']([^\"'\n]+)[\"']"
local names = { "os.execute", "io.popen", "ffi.load", "package.loadlib" }

-- Writes each of these names in one way: os["execute"], require("ffi").load.
local function plain(text)
   return (text:gsub("require%s*%(?%s*[\"']ffi[\"']%s*%)?", "ffi")
      :gsub("%[%s*[\"']([%w_]+)[\"']%s*%]", ".%1")
      :gsub("%s*%.%s*", "."))
end

-- Returns the function of the text that may block; nil: none.
local function blocks(text)
   for i = 1, #names do
      local pattern = names[i]:gsub("%.", "%%.")
      if text:find("%f[%w_]" .. pattern .. "%f[^%w_]") then
         return names[i] .. "()"
      end
   end
   for after in text:gmatch("%f[%w_]ffi%.C%f[^%w_]()") do
      if text:sub(after, after + 3) ~= ".sb_" then
         return "C functions (ffi.C)"
      end
   end
end

local visit -- a file

-- As require() looks for modules.
local function visit_module(seen, name)
   local package = sb.me().package
   local root = name:match("^[^.]*")
   if libraries[root] or package.preload[name] then
      return nil
   end
   local lua = package.loaders[2](name)
   if type(lua) == "function" then
      local path = debug.getinfo(lua, "S").source:match("^@(.*)")
      return path and visit(seen, path)
   elseif package.searchpath(name, package.cpath) or
      package.searchpath(root, package.cpath) then
      return "the C module " .. name
   end
end

local function search(seen, text)
   local found = blocks(plain(text))
   for name in text:gmatch("%f[%w_]require" .. literal) do
      found = found or visit_module(seen, name)
   end
   for path in text:gmatch("%f[%w_]dofile" .. literal) do
      found = found or visit(seen, path)
   end
   return found
end

function visit(seen, path)
   if seen[path] then
      return nil
   end
   seen[path] = true
   local file, why = io.open(path, "rb")
   if not file then
      return "a file that cannot be read (" .. why .. ")"
   end
   local text = file:read("*a") or ""
   file:close()
   return search(seen, text)
end

-- Returns what a script uses that may block, in the files that it has loaded
-- (arguments) and in modules that they name; nil: nothing.
local function find(...)
   local seen, found = {}, nil
   for i = 1, select("#", ...) do
      found = found or visit(seen, (select(i, ...)))
   end
   return found
end

return { find = find }
