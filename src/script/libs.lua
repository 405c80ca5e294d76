-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The parts of Lua's libraries of which each user has its own: the modules that
-- are loaded, and the random numbers. Errors of finalizers.

local sb = ...
local C, turn = sb.C, sb.turn
local copy = sb.copy
local libs = {}

-- Modules -----------------------------------------------------------------

local package = package

-- Returns the user's `package`, or that of the state for --luajit-cmd.
local function mine()
   local me = sb.me()
   return me and me.package or package
end

-- Lua's own loaders read the tables of the state, which all users would share.
local function preloaded(name)
   local f = mine().preload[name]
   return f ~= nil and f or
      ("\n\tno field package.preload['%s']"):format(name)
end

local function load_library(name, file, must)
   local symbol = "luaopen_" .. name:gsub("^.*%-", ""):gsub("%.", "_")
   local f, why, what = package.loadlib(file, symbol)
   if f then
      return f
   elseif what == "init" and not must then
      return ("\n\tno module '%s' in file '%s'"):format(name, file)
   end
   error(("error loading module '%s' from file '%s':\n\t%s"):format(
         name, file, why), 0)
end

local function library(name)
   local file, why = package.searchpath(name, mine().cpath)
   return file and load_library(name, file, true) or why
end

local function library_of_root(name)
   local root = name:match("^(.-)%.")
   if root then
      local file, why = package.searchpath(root, mine().cpath)
      return file and load_library(name, file, false) or why
   end
end

package.loaders = { preloaded, package.loaders[2], library, library_of_root }

function libs.new_package()
   local new = copy(package)
   new.loaded = copy(package.loaded)
   new.preload = copy(package.preload)
   new.loaders = copy(package.loaders)
   return new
end

local loading = newproxy() -- a module that is being loaded

local function find_loader(loaders, name)
   local tried = {}
   for i = 1, math.huge do
      local loader = loaders[i]
      if loader == nil then
         error(("module '%s' not found:%s"):format(name, table.concat(tried)),
               3)
      end
      local found = loader(name)
      if type(found) == "function" then
         return found
      elseif type(found) == "string" then
         tried[#tried + 1] = found
      end
   end
end

local function load_module(loaded, loaders, name, environment)
   local chunk = find_loader(loaders, name)
   loaded[name] = loading
   if environment then
      setfenv(chunk, environment)
   end
   local value = chunk(name)
   sb.give_back(chunk)
   if value ~= nil then
      loaded[name] = value
   elseif loaded[name] == loading then
      loaded[name] = true
   end
   return loaded[name]
end

-- The modules of sb/ keep nothing of a user in locals. The users of a state
-- share them, or each would need up to 20 KB for their functions. Their globals
-- are those of the user whose turn it is.
local common = { loaded = {} }

local function is_common(name)
   return sb.shared and sb.unchanged and name:find("^sb%.") ~= nil
end

common.environment = setmetatable({}, {
   __index = function(_, name)
      return sb.me().globals[name]
   end,
   __newindex = function(_, name, value)
      sb.me().globals[name] = value
   end
})

function _G.require(name)
   local own = mine()
   local loaded, environment = own.loaded, nil
   if type(name) ~= "string" then
      if type(name) ~= "number" then
         error(("bad argument #1 to 'require' (string expected, got %s)")
            :format(name == nil and "no value" or type(name)), 2)
      end
      name = tostring(name)
   end
   if is_common(name) then
      loaded, environment = common.loaded, common.environment
   end
   local value = loaded[name]
   if value == loading then
      error(("loop or previous error loading module '%s'"):format(name), 2)
   elseif value then
      return value
   elseif type(own.loaders) ~= "table" then
      error("'package.loaders' must be a table", 2)
   end
   return load_module(loaded, own.loaders, name, environment)
end

-- Returns the table of a module, and creates it if it does not exist: a global
-- whose name may have dots.
local function module_table(globals, name)
   local at = globals
   for part in name:gmatch("[^.]+") do
      local next_one = rawget(at, part)
      if next_one == nil then
         next_one = {}
         at[part] = next_one
      elseif type(next_one) ~= "table" then
         error(("name conflict for module '%s'"):format(name), 3)
      end
      at = next_one
   end
   return at
end

function _G.module(name, ...)
   local me = sb.me()
   local loaded = me.package.loaded
   local t = loaded[name]
   if type(t) ~= "table" then
      t = module_table(me.globals, name)
      loaded[name] = t
   end
   if rawget(t, "_NAME") == nil then
      t._M, t._NAME, t._PACKAGE = t, name, name:match("^(.*%.)") or ""
   end
   setfenv(2, t)
   for i = 1, select("#", ...) do
      select(i, ...)(t)
   end
end

-- For module(): the globals are the user's.
rawset(package, "seeall", function(t)
   local meta = getmetatable(t)
   if not meta then
      meta = {}
      setmetatable(t, meta)
   end
   meta.__index = sb.me().globals
end)

-- Random numbers ----------------------------------------------------------

local floor = math.floor

local function number(value, at, name)
   local n = tonumber(value)
   if n == nil or type(value) ~= "number" and type(value) ~= "string" then
      error(("bad argument #%d to '%s' (number expected, got %s)"):format(
            at, name, value == nil and "no value" or type(value)), 3)
   end
   return n
end

local function random(m, n)
   local r = C.sb_script_random(turn.math)
   if m == nil then
      return r
   end
   m = number(m, 1, "random")
   if n == nil then
      m, n = 1, m
      if n < 1 then
         error("bad argument #1 to 'random' (interval is empty)", 2)
      end
   else
      n = number(n, 2, "random")
      if n < m then
         error("bad argument #2 to 'random' (interval is empty)", 2)
      end
   end
   return floor(r * (n - m + 1)) + m
end

local function randomseed(seed)
   C.sb_script_randomseed(turn.math, number(seed, 1, "randomseed"))
end

rawset(math, "random", random)
rawset(math, "randomseed", randomseed)

-- Finalizers --------------------------------------------------------------

-- LuaJIT may crash if a finalizer raises an error, and newer versions ignore
-- the error. So errors of the finalizers of users are caught, and fail the run.
-- In a shared state, a call of the API in a finalizer is such an error.
if sb.user then
   local guards = setmetatable({}, { __mode = "kv" })

   local function guard(finalizer)
      if type(finalizer) ~= "function" then
         return finalizer
      end
      local f = guards[finalizer]
      if not f then
         f = function(object)
            local ok, why = xpcall(finalizer, sb.on_error, object)
            if not ok then
               sb.finalizer_failed(why)
            end
         end
         guards[finalizer] = f
      end
      return f
   end

   local gc = sb.ffi.gc
   rawset(sb.ffi, "gc", function(object, finalizer)
      return gc(object, guard(finalizer))
   end)

   local metatype = sb.ffi.metatype
   rawset(sb.ffi, "metatype", function(ct, meta)
      if type(meta) == "table" and rawget(meta, "__gc") ~= nil then
         meta = sb.copy(meta)
         meta.__gc = guard(meta.__gc)
      end
      return metatype(ct, meta)
   end)

   local new = newproxy
   local of_proxies = {
      __newindex = function(t, key, value)
         rawset(t, key, key == "__gc" and guard(value) or value)
      end
   }
   function _G.newproxy(like)
      local proxy = new(like)
      if like == true then
         setmetatable(getmetatable(proxy), of_proxies)
      end
      return proxy
   end
end

return libs
