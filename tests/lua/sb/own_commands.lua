-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The commands of a workload whose code for them lies in a module of its own,
-- which the users of a run do not load.

local M = {}

-- Declares prepare, warmup, prewarm, check and the global cleanup(). module:
-- has functions of these names, which take what settle(sysbench.opt) returns.
function M.declare(module, settle)
   require("sb.options").need_command("check, ")
   local function call(name)
      require(module)[name](settle(sysbench.opt))
   end
   sysbench.cmdline.commands = {}
   for _, name in ipairs{"prepare", "warmup", "prewarm", "check"} do
      sysbench.cmdline.commands[name] = {
         function() call(name) end, sysbench.cmdline.PARALLEL_COMMAND
      }
   end
   function cleanup() -- luacheck: globals cleanup
      call("cleanup")
   end
end

return M
