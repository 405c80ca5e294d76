-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The sysbench table of one Lua state. Every part that a script may never
-- touch is loaded when it is touched first: thousands of users each have a
-- state of their own.

local sb = ...
local ffi, C = sb.ffi, sb.C

sb.cdef("abi")
assert(C.sb_script_abi() == C.SB_SCRIPT_ABI,
       "the embedded Lua modules are of another build")

-- Turns a table into one whose missing fields are made by make(name).
local function lazy(t, make)
   return setmetatable(t, {
      __index = function(self, name)
         local value = make(name)
         if value ~= nil then
            rawset(self, name, value)
         end
         return value
      end
   })
end

-- Field of sysbench -> embedded module.
local modules = {
   rand = "random", sql = "sql", db = "legacy", op = "op",
   parallel = "parallel", histogram = "histogram", user = "think",
   driver = "driver"
}

local reports = { report_csv = 1, report_json = 1, report_default = 1 }

local sysbench = lazy({
   tid = sb.tid,
   version = sb.version,
   version_string = "sysbench " .. sb.version,
   error = { NONE = 0, RESTART_EVENT = 1 },
   hooks = {},
}, function(name)
   if modules[name] then
      return sb.module(modules[name])
   elseif reports[name] then
      return sb.module("report")[name]
   end
end)

sysbench.cmdline = lazy({
   command = sb.command,
   script_path = sb.given,
   -- Options are declared in one state, before those of the users are made.
   main_state = not sb.user,
   PARALLEL_COMMAND = true,
   ARG_NULL = 0, ARG_BOOL = 1, ARG_INT = 2, ARG_SIZE = 3, ARG_DOUBLE = 4,
   ARG_STRING = 5, ARG_LIST = 6, ARG_FILE = 7, ARG_MAX = 8
}, function(name)
   if name == "argv" then
      return sb.argv()
   elseif name ~= "options" and name ~= "commands" then
      return sb.module("cmdline")[name]
   end
end)

sb.sysbench = sysbench

-- Scripts find the C functions of 1.x declared, and declare them again. Both
-- begin with ffi.cdef or ffi.C.
local cdef = ffi.cdef
ffi.C, ffi.cdef = nil, nil
setmetatable(ffi, {
   __index = function(self, name)
      if name ~= "C" and name ~= "cdef" then
         return nil
      end
      setmetatable(self, nil)
      self.C, self.cdef = C, cdef
      sb.cdef("compat")
      return rawget(self, name)
   end
})
_G.ffi = ffi

-- Globals that old scripts expect.
_G.thread_id = sb.tid
_G.test = sb.path

local undefined
undefined = function(name)
   undefined = sb.module("globals").get
   return undefined(name)
end

setmetatable(_G, {
   __index = function(_, name)
      if type(name) == "string" then
         return undefined(name)
      end
   end
})

-- --luajit-cmd, as luajit -j takes it: "off", "v", "p=vl"
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

return sysbench
