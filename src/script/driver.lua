-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The Lua modules of drivers, loaded when they are first used, once in a Lua
-- state. docs/driver-api.md describes what they get.

local sb = ...
local ffi, C, wait = sb.ffi, sb.C, sb.wait
local loadlib = package.loadlib
local loaded = {}

sb.cdef("sql")

-- Returns the level of the nearest function of the script, for error() in the
-- caller. Functions of the program, which have no line numbers, and of drivers
-- are skipped.
local function level()
   local n = 3
   local info = debug.getinfo(n, "Sl")
   while info and (info.currentline <= 0 or
                   info.source:sub(1, 8) == "=[driver") do
      n = n + 1
      info = debug.getinfo(n, "Sl")
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

function common.check_name(name, what, at)
   sb.check_name(name, what, at + 1)
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
   elseif declarations then
      ffi.cdef(declarations)
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
         modules[name] = module == nil or module
      end
      return module
   end

   function api.symbol(name)
      return loadlib(file, name)
   end

   return chunk(api.lib, api.driver, api)
end

-- Returns sysbench.driver.<name>.
local function of(name)
   if loaded[name] == nil then
      loaded[name] = load(name)
   end
   return loaded[name]
end

return { of = of }
