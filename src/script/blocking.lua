-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Checks the text of a script for functions that wait and do not belong to the
-- program: they would block the other users of a worker. Only --workers=auto
-- uses the result. It may name a function that does not wait, and misses one
-- that the text does not name.

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

-- Returns what the text contains that may block; nil: nothing.
local function blocks(text)
   for i = 1, #names do
      local pattern = names[i]:gsub("%.", "%%.")
      if text:find("%f[%w_]" .. pattern .. "%f[^%w_]") then
         return "contains " .. names[i] .. "()"
      end
   end
   for after in text:gmatch("%f[%w_]ffi%.C%f[^%w_]()") do
      if text:sub(after, after + 3) ~= ".sb_" then
         return "contains ffi.C"
      end
   end
end

local visit -- a file

-- As require() looks for modules.
local function visit_module(seen, path, name)
   local package = sb.me().package
   local root = name:match("^[^.]*")
   if libraries[root] or package.preload[name] then
      return nil
   end
   local lua = package.loaders[2](name)
   if type(lua) == "function" then
      local file = debug.getinfo(lua, "S").source:match("^@(.*)")
      return file and visit(seen, file)
   elseif package.searchpath(name, package.cpath) or
      package.searchpath(root, package.cpath) then
      return path .. " requires the C module " .. name
   end
end

local function search(seen, path, text)
   local found = blocks(plain(text))
   found = found and path .. " " .. found
   for name in text:gmatch("%f[%w_]require" .. literal) do
      found = found or visit_module(seen, path, name)
   end
   for file in text:gmatch("%f[%w_]dofile" .. literal) do
      found = found or visit(seen, file)
   end
   return found
end

-- An installed module is part of the program: it waits with the program's
-- functions while events run.
local function is_installed(path)
   local folder = sb.workloads .. "/"
   return path:sub(1, #folder) == folder
end

function visit(seen, path)
   if seen[path] or is_installed(path) then
      return nil
   end
   seen[path] = true
   local file, why = io.open(path, "rb")
   if not file then
      return "cannot read " .. why
   end
   local text = file:read("*a") or ""
   file:close()
   return search(seen, (path:gsub("^%./", "")), text)
end

-- Returns the name of a function that may block, from the files that the script
-- has loaded (the arguments) or the modules that these files name; nil: none.
local function find(...)
   local seen, found = {}, nil
   for i = 1, select("#", ...) do
      found = found or visit(seen, (select(i, ...)))
   end
   return found
end

return { find = find }
