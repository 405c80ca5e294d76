-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Fields of sysbench and of sysbench.cmdline that few scripts use: created when
-- they are first used, see sysbench.lua.

local sb = ...
local more = {}

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

function more.field(name)
   if modules[name] then
      return sb.module(modules[name])
   elseif sequences[name] then
      return sb.module("sequence")[name]
   elseif reports[name] then
      return sb.module("report")[name]
   end
   return values[name]
end

local constants = {
   script_path = sb.given,
   ARG_NULL = 0, ARG_BOOL = 1, ARG_INT = 2, ARG_SIZE = 3, ARG_DOUBLE = 4,
   ARG_STRING = 5, ARG_LIST = 6, ARG_FILE = 7, ARG_MAX = 8
}

function more.cmdline(name)
   if constants[name] ~= nil then
      return constants[name]
   elseif name == "argv" then
      return sb.argv()
   end
   return sb.module("cmdline")[name]
end

return more
