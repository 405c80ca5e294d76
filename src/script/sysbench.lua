-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The sysbench table of one Lua state. Parts that a script may not need are
-- loaded when they are first used: there may be thousands of users, each with
-- its own state.

local sb = ...
local ffi, C = sb.ffi, sb.C

sb.cdef("abi")
assert(C.sb_script_abi() == C.SB_SCRIPT_ABI,
       "the embedded Lua modules belong to another build")

-- Loads fields when they are first used; those that few scripts use are in
-- sysbench_fields.lua.
local sysbench = setmetatable({ tid = sb.tid, hooks = {} }, {
   __index = function(self, name)
      local value
      if name == "sql" then
         value = sb.module("sql")
      elseif name == "rand" then
         value = sb.module("random")
      elseif name ~= "opt" then
         value = sb.module("sysbench_fields")(name)
      end
      if value ~= nil then
         rawset(self, name, value)
      end
      return value
   end
})

sysbench.cmdline = setmetatable({
   command = sb.command,
   -- Options are declared in one state, before those of the users are created.
   main_state = not sb.user,
   -- True for the users of run, which execute events.
   run_state = sb.user and sb.command == "run" or false,
   PARALLEL_COMMAND = true
}, {
   __index = function(self, name)
      if name == "options" or name == "commands" then
         return nil
      end
      local value = sb.module("cmdline_fields")(name)
      if value ~= nil then
         rawset(self, name, value)
      end
      return value
   end
})

sb.sysbench = sysbench

-- Scripts use the C functions of 1.x, or declare them again. Both begin with
-- ffi.cdef or ffi.C, so they are declared when one of these is first used.
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

-- Globals of older versions.
_G.thread_id = sb.tid
_G.test = sb.path

local undefined
undefined = function(name)
   -- While the module loads, undefined globals are nil: a script may have set a
   -- library to nil, which would cause a recursion.
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

return sysbench
