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

-- Fields that are missing so far; what is in sysbench_more.lua few scripts
-- touch.
local sysbench = setmetatable({ tid = sb.tid, hooks = {} }, {
   __index = function(self, name)
      local value
      if name == "sql" then
         value = sb.module("sql")
      elseif name == "rand" then
         value = sb.module("random")
      elseif name ~= "opt" then
         value = sb.module("sysbench_more").field(name)
      end
      if value ~= nil then
         rawset(self, name, value)
      end
      return value
   end
})

sysbench.cmdline = setmetatable({
   command = sb.command,
   -- Options are declared in one state, before those of the users are made.
   main_state = not sb.user,
   PARALLEL_COMMAND = true
}, {
   __index = function(self, name)
      if name == "options" or name == "commands" then
         return nil
      end
      local value = sb.module("sysbench_more").cmdline(name)
      if value ~= nil then
         rawset(self, name, value)
      end
      return value
   end
})

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
   -- What is missing while the module loads is missing: a script may have set
   -- a library to nil.
   undefined = function() end
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
