-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Declares the commands of a workload.

local M = {}

-- Declares prepare, warmup, prewarm, check and the global cleanup(). commands:
-- a table with functions of these names, or the name of a module that returns
-- it; it is loaded when a command is executed. The argument of the functions is
-- normalize(sysbench.opt).
function M.declare(commands, normalize)
   require("sb.options").need_command("check, ")
   local function call(name)
      local list = commands
      if type(list) == "string" then
         list = require(list)
      end
      if name == "check" then
         require("sb.options").need_storage("the command check")
      end
      list[name](normalize(sysbench.opt))
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
