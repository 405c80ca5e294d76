-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Fields of sysbench that few scripts use: created when they are first used,
-- see sysbench.lua.

local sb = ...

-- Field of sysbench -> embedded module.
local modules = {
   db = "legacy", op = "op", metric = "metric",
   parallel = "parallel", histogram = "histogram",
   user = "think", driver = "driver",
   mongodb = "mongodb"
}

local sequences = { sequence = 1, local_sequence = 1 }
local reports = { report_csv = 1, report_json = 1, report_default = 1 }

local values = {
   version = sb.version,
   version_string = "sysbench " .. sb.version,
   error = { NONE = 0, RESTART_EVENT = 1 },
   warning = sb.warning,
   max_open_files = sb.max_open_files,
   local_tid = sb.local_tid, rank = sb.rank, ranks = sb.ranks
}

return function(name)
   if modules[name] then
      return sb.module(modules[name])
   elseif sequences[name] then
      return sb.module("sequence")[name]
   elseif reports[name] then
      return sb.module("report")[name]
   end
   return values[name]
end
