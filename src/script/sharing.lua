-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Detects changes that a script makes to values that the users of one Lua state
-- would share.

local sb = ...
local copy = sb.copy
local watched = {
   string = string, table = table, math = math, io = io, os = os,
   debug = debug, bit = bit, coroutine = coroutine, ffi = sb.ffi, jit = jit,
   ["the metatable of strings"] = getmetatable("")
}
local types = { 1, true, print, coroutine.create(print) }
local getmetatable, gethook = debug.getmetatable, debug.gethook
local input, output = io.input, io.output
local status, compiles = jit.status, jit.status()
local declared = 0

local before = {}
for name, t in pairs(watched) do
   before[name] = copy(t)
end

-- From now on, changes of a table of the program are noticed, too.
function sb.watch(name, t)
   if not watched[name] then
      watched[name], before[name] = t, copy(t)
   end
end

local metatype = sb.ffi.metatype
function sb.ffi.metatype(...)
   declared = declared + 1
   return metatype(...)
end
before.ffi.metatype = sb.ffi.metatype

local function differs(a, b)
   for key, value in pairs(a) do
      if rawget(b, key) ~= value then
         return true
      end
   end
   for key in pairs(b) do
      if a[key] == nil then
         return true
      end
   end
end

-- Returns what was changed; nil: nothing.
local function changed()
   for name, t in pairs(watched) do
      if differs(before[name], t) then
         return "it changes " .. name
      end
   end
   for i = 1, #types do
      if getmetatable(types[i]) then
         return "it sets the metatable of a " .. type(types[i])
      end
   end
   if getmetatable(nil) then
      return "it sets the metatable of nil"
   elseif declared > 0 then
      return "it calls ffi.metatype()"
   elseif not sb.shared and status() ~= compiles then
      return "it turns the compiler on or off"
   elseif gethook() then
      return "it sets a hook"
   elseif input() ~= io.stdin or output() ~= io.stdout then
      return "it redirects its input or output"
   end
end

return { changed = changed }
