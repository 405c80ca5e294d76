-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Declares commands of a workload whose code is in a separate module, which the
-- users of a run do not load.

local M = {}

-- Declares prepare, warmup, prewarm, check and the global cleanup(). module:
-- the name of a module with functions of these names; their argument is
-- normalize(sysbench.opt).
function M.declare(module, normalize)
   require("sb.options").need_command("check, ")
   local function call(name)
      require(module)[name](normalize(sysbench.opt))
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
