-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- What happens in a state when the options are known: sysbench.opt, and the
-- globals of scripts that declare no options (0.5).

local sb = ...
local sysbench = sb.sysbench
local options = {}

-- The names of 0.5 for options that have others now.
local function old_names(opt)
   return {
      num_threads = opt.threads, max_requests = opt.events,
      max_time = opt.time, tx_rate = opt.rate,
      mysql_table_engine = opt.mysql_table_engine or "innodb",
      myisam_max_rows = opt.myisam_max_rows or 1000000
   }
end

-- A setting wins over a value that the script's body gave to the global of
-- its name, but never over a function or a library, nor over the path of the
-- script (--test may say less than that).
local function overrule(values)
   for name, value in pairs(values) do
      local kind = type(rawget(_G, name))
      if kind ~= "nil" and kind ~= "function" and kind ~= "table" and
         name ~= "test" then
         rawset(_G, name, value)
      end
   end
end

local function add_globals(opt, legacy)
   local meta = getmetatable(_G)
   if type(meta) ~= "table" or not meta.__index then
      return -- the script has its own idea of globals
   end
   local old = old_names(opt)
   if legacy then
      overrule(opt)
      overrule(old)
   end
   meta.__index = function(_, name)
      local value
      if type(name) ~= "string" then
         return nil
      elseif name == "db_driver" then
         value = sysbench.sql.driver():name()
      else
         value = old[name]
         if value == nil and legacy then
            value = opt[name]
         end
         if value == nil then
            return sb.legacy_global(name)
         end
      end
      rawset(_G, name, value)
      return value
   end
end

function options.set(opt, legacy)
   sysbench.opt = opt
   add_globals(opt, legacy)
end

return options
