-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The sysbench table, and the globals of a user. The modules of the program are
-- loaded once in a Lua state, when they are first used; `turn` and me() tell
-- them whose turn it is.

local sb = ...
local ffi, C = sb.ffi, sb.C

sb.cdef("abi")
assert(C.sb_script_abi() == C.SB_SCRIPT_ABI,
       "the embedded Lua modules belong to another build")

sb.cdef("turn")
local turn = ffi.cast("struct sb_turn *", sb.turn)
local users = {} -- the tables of new_user(), by turn.slot
sb.turn, sb.users = turn, users

-- For the modules of the program: sharing.lua counts the calls of scripts.
sb.metatype = ffi.metatype
sb.ffi_cdef = ffi.cdef -- a script may replace it

-- C functions that may wait.
sb.wait = sb.shared and sb.calls(turn) or C

-- The user whose turn it is.
function sb.me()
   return users[turn.slot]
end

function sb.copy(t)
   local new = {}
   for key, value in pairs(t) do
      new[key] = value
   end
   return new
end

-- The sysbench table ------------------------------------------------------

-- Field of sysbench -> embedded module.
local modules = {
   sql = "sql", rand = "random", op = "op", metric = "metric",
   parallel = "parallel", histogram = "histogram", user = "think"
}
local sequences = { sequence = 1, local_sequence = 1 }
local answers = { result = 1, verdict = 1 }
local reports = { report_csv = 1, report_json = 1, report_default = 1 }

-- Fields that are read from the private table on first use, because a script
-- may have options with the names of the program's options of ranks.
local private = {
   version = 1, warning = 1, read_file = 1, max_open_files = 1, rank = 1,
   ranks = 1
}

local function watched(name, module)
   if sb.watch and type(module) == "table" then
      sb.watch("sysbench." .. name, module)
   end
   return module
end

local function driver(name)
   return watched("driver." .. name, sb.module("driver").of(name))
end

local lazy

local function field(name)
   if modules[name] then
      return watched(name, sb.module(modules[name]))
   elseif name == "driver" then
      return lazy({}, driver)
   elseif name == "mongodb" then
      return driver(name)
   elseif name == "db" then
      return sb.module("legacy", sb.me())
   elseif sequences[name] then
      return sb.module("sequence")[name]
   elseif answers[name] then
      return sb.module("answers")[name]
   elseif reports[name] then
      return sb.module("report")[name]
   elseif private[name] then
      return sb[name]
   elseif name == "version_string" then
      return "sysbench " .. sb.version
   elseif name == "error" then
      return { NONE = 0, RESTART_EVENT = 1 }
   end
end

-- A table whose fields are created when they are first used.
function lazy(t, get)
   return setmetatable(t, {
      __index = function(self, name)
         local value = get(name)
         if value ~= nil then
            rawset(self, name, value)
         end
         return value
      end
   })
end

local cmdline_constants = {
   script_path = sb.given,
   ARG_NULL = 0, ARG_BOOL = 1, ARG_INT = 2, ARG_SIZE = 3, ARG_DOUBLE = 4,
   ARG_STRING = 5, ARG_LIST = 6, ARG_FILE = 7, ARG_MAX = 8
}

local function cmdline_field(name)
   if cmdline_constants[name] ~= nil then
      return cmdline_constants[name]
   elseif name == "argv" then
      return sb.argv()
   elseif name == "command_line" then
      return sb.command_line
   elseif name ~= "options" and name ~= "commands" then
      return sb.module("cmdline")[name]
   end
end

local function new_sysbench(tid, local_tid)
   local cmdline = lazy({
      command = sb.command,
      -- Options are declared in one state, before those of the users are
      -- created.
      main_state = not sb.user,
      PARALLEL_COMMAND = true
   }, cmdline_field)
   return lazy({
      tid = tid, local_tid = local_tid, hooks = {}, cmdline = cmdline
   }, field)
end

-- Globals -----------------------------------------------------------------

-- Scripts call the C functions of 1.x, or declare them themselves.
sb.cdef("compat")

local function undefined(globals, name)
   if type(name) == "string" then
      return sb.module("globals").get(globals, name)
   end
end

local libs = sb.module("libs")

-- globals: a copy of those of the state. Returns what modules keep of the user.
function sb.new_user(globals, tid, local_tid)
   local me = {
      globals = globals, tid = tid,
      package = libs.new_package(),
      sysbench = new_sysbench(tid, local_tid)
   }
   globals._G = globals
   globals.package = me.package
   globals.sysbench = me.sysbench
   -- Globals of older versions.
   globals.thread_id = tid
   globals.test = sb.path
   me.package.loaded._G = globals
   me.package.loaded.package = me.package
   setmetatable(globals, { __index = undefined })
   return me
end

-- --luajit-cmd, as for luajit -j: "off", "v", "p=vl"
if sb.jit_command ~= "" then
   local name, args = sb.jit_command:match("^([^=]*)=?(.*)$")
   if type(jit[name]) == "function" then
      jit[name]()
   else
      local list = {}
      for arg in args:gmatch("[^,]+") do
         list[#list + 1] = arg
      end
      require("jit." .. name).start(unpack(list))
   end
end
