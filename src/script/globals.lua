-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Options, and undefined globals: provides those that sysbench 0.5 defined.

local sb = ...
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
-- not override anything.
local function override(globals, values)
   for name, old in pairs(globals) do
      local kind = type(old)
      if type(name) == "string" and kind ~= "function" and kind ~= "table" and
         name ~= "test" and values[name] ~= nil and
         not sb.idle_option(name) then
         rawset(globals, name, values[name])
      end
   end
end

require("jit").off(override) -- called once: compiling it is not worthwhile

local function option(name)
   local me = sb.me()
   local opt = me.sysbench.opt
   if opt == nil then
      return nil
   elseif name == "db_driver" then
      return me.sysbench.sql.driver():name()
   end
   me.old_names = me.old_names or old_names(opt)
   if me.old_names[name] ~= nil then
      return me.old_names[name]
   elseif me.legacy_options or program[name] then
      return opt[name]
   end
end

-- db_*, sb_rand*, DB_ERROR_*
local function in_legacy(name)
   local a, b = byte(name, 1, 2)
   return (a == 100 or a == 115) and b == 98 or a == 68 and b == 66
end

local globals = {}

function globals.get(t, name)
   local value = option(name)
   if value ~= nil then
      rawset(t, name, value)
   elseif name:sub(1, 8) == "mongodb_" then
      local me = sb.me()
      -- Without the driver, it is a global like any other.
      local ok, mongodb = pcall(function() return me.sysbench.mongodb end)
      if ok and not me.legacy_mongodb then
         me.legacy_mongodb = true
         mongodb.legacy(me)
         value = rawget(t, name)
      end
   elseif in_legacy(name) then
      if sb.me().sysbench.db then
         value = rawget(t, name)
      end
   end
   return value
end

local values -- of all options, for the users of an installed workload

-- Called when the options have their values: sets sysbench.opt. If the script
-- declares no options, makes all of them globals.
function globals.set_options()
   local me = sb.me()
   if sb.shared and sb.unchanged then
      values = values or sb.options()
      me.sysbench.opt = values
      if sb.command == "run" then
         -- Declared in the main state; thousands of users need no copies.
         me.sysbench.cmdline.options = nil
         me.sysbench.cmdline.commands = nil
         me.sysbench.results = nil
      end
   else
      me.sysbench.opt = sb.options()
   end
   if not sb.legacy then
      return
   end
   local opt, meta = me.sysbench.opt, getmetatable(me.globals)
   if type(meta) ~= "table" or not meta.__index then
      return -- the script has replaced the metatable of globals
   end
   me.legacy_options = true
   override(me.globals, opt)
   override(me.globals, old_names(opt))
end

return globals
