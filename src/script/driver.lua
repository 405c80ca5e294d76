-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The Lua modules of drivers, loaded when they are first used, once in a Lua
-- state. docs/driver-api.md describes what they get.

local sb = ...
local ffi, C, wait = sb.ffi, sb.C, sb.wait
local cdef, getinfo, loadlib = sb.ffi_cdef, debug.getinfo, package.loadlib
local declared, loaded = {}, {}

sb.cdef("sql")

-- Returns the level of the nearest function of the script, for error() in the
-- caller. Functions of the program and of drivers, which have no line numbers,
-- are skipped.
local function level()
   local n = 3
   local info = getinfo(n, "l")
   while info and info.currentline <= 0 do
      n = n + 1
      info = getinfo(n, "l")
   end
   return info and n - 1 or 1
end

local function raise(con, query)
   if con == nil then
      error("there is no connection", level())
   end
   query = query or ffi.string(C.sb_con_failed_sql(con))
   local at = level()
   sb.sql.raise(con, query, at)
end

-- For all drivers.
local common = {
   run = wait.sb_con_run, reset = wait.sb_con_reset, raise = raise
}

function common.fail(text)
   error(text, level())
end

function common.call(con, f, arg)
   if wait.sb_con_run(con, f, arg) ~= 0 then
      raise(con)
   end
end

function common.object(p)
   return ffi.gc(p, C.sb_object_drop)
end

function common.is_of(con, driver)
   return type(con) == "cdata" and ffi.istype("struct sb_con *", con) and
      con ~= nil and C.sb_con_is_of(con, driver) ~= 0
end

function common.check_text(value, what)
   if type(value) ~= "string" then
      error(("%s must be a string"):format(what), level())
   elseif value:find("%z") then
      error(("%s must not contain a zero byte"):format(what), level())
   end
end

function common.collect_often()
   sb.collect_often()
end

function common.user()
   return sb.me()
end

local function load(driver)
   local chunk, file, declarations = sb.driver_module(driver)
   if not chunk then
      error(file, level())
   elseif declarations and not declared[driver] then
      cdef(declarations)
      declared[driver] = true
   end
   local modules = {}
   local api = setmetatable({
      -- The file is loaded already: this is another handle of it.
      lib = ffi.load(file), driver = sb.module("sql").driver(driver)
   }, { __index = common })

   function api.module(name)
      local module = modules[name]
      if module == nil then
         local code, why = sb.driver_module(driver, name)
         if not code then
            error(why, 2)
         end
         module = code(api)
         if module == nil then
            module = true
         end
         modules[name] = module
      end
      return module
   end

   function api.symbol(name)
      local f, why = loadlib(file, name)
      return f or error(why, 2)
   end

   local module = chunk(api.lib, api.driver, api)
   if module == nil then
      error(("the Lua module of the %s driver returns nothing"):format(driver),
            level())
   end
   return module
end

-- Returns sysbench.driver.<name>.
local function of(name)
   if type(name) ~= "string" or name == "" then
      error("sysbench.driver requires the name of a driver", level())
   end
   if loaded[name] == nil then
      loaded[name] = load(name)
   end
   return loaded[name]
end

return { of = of }
