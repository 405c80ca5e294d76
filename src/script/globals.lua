-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Undefined globals: provides those that sysbench 0.5 defined. Loaded when a
-- script reads the first undefined global.

local sb = ...
local sysbench = sb.sysbench
local byte = string.byte

-- Options of the program that 0.5 had as globals in every script.
local program = {
   num_threads = true, max_requests = true, max_time = true, tx_rate = true
}

-- Options that 0.5 had and this version lacks.
local function old_names(opt)
   return {
      mysql_table_engine = opt.mysql_table_engine or "innodb",
      myisam_max_rows = opt.myisam_max_rows or 1000000
   }
end

-- A setting overrides the value that the script's body assigned to the global
-- of its name, except functions, libraries and the path of the script (--test
-- may be only a part of it). Default values of drivers that are not in use do
-- not override anything. The loop is over the globals, which are fewer than the
-- options, so that unused options need no memory.
local function override(values)
   for name, old in pairs(_G) do
      local kind = type(old)
      if type(name) == "string" and kind ~= "function" and kind ~= "table" and
         name ~= "test" and values[name] ~= nil and
         not sb.idle_option(name) then
         rawset(_G, name, values[name])
      end
   end
end

require("jit").off(override) -- called once: compiling it is not worthwhile

local old -- result of old_names() for the options of this state

local function option(name)
   local opt = sysbench.opt
   if opt == nil then
      return nil
   elseif name == "db_driver" then
      return sysbench.sql.driver():name()
   end
   old = old or old_names(opt)
   if old[name] ~= nil then
      return old[name]
   elseif sb.legacy_options or program[name] then
      return opt[name]
   end
end

-- db_*, sb_rand*, DB_ERROR_*
local function in_legacy(name)
   local a, b = byte(name, 1, 2)
   return (a == 100 or a == 115) and b == 98 or a == 68 and b == 66
end

local globals = {}

function globals.get(name)
   local value = option(name)
   if value ~= nil then
      rawset(_G, name, value)
   elseif name:sub(1, 8) == "mongodb_" then
      sb.module("legacy_mongodb")
      value = rawget(_G, name)
   elseif in_legacy(name) then
      sb.module("legacy")
      value = rawget(_G, name)
   end
   return value
end

-- Called if the script declares no options: makes all of them globals.
function globals.override()
   local opt = sysbench.opt
   local meta = getmetatable(_G)
   if type(meta) ~= "table" or not meta.__index then
      return -- the script has replaced the metatable of globals
   end
   sb.legacy_options = true
   override(opt)
   override(old_names(opt))
end

return globals
