-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- What select_random_points and select_random_ranges share: one statement on
-- the first table, with values of k from this thread's segment of it.
-- Segments keep the threads out of each other's way.

local old_names = require("sb.old_names")
local options = require("sb.options")

local M = {}

-- The settings; there must be one table.
function M.settings()
   local opt = options.settle(old_names.take(sysbench.opt))
   if opt.tables ~= 1 then
      error("this workload uses one table: --tables must be 1", 0)
   end
   if (opt.delta or 0) < 0 then
      error("--delta must be at least 0", 0)
   end
   return opt
end

-- Adds extra options and the 0.5 spellings, and checks the settings before
-- every command.
function M.declare(extra)
   local cmdline = sysbench.cmdline
   for name, def in pairs(extra) do
      cmdline.options[name] = def
   end
   if cmdline.main_state then
      require("sb.declarations").add_old_names(cmdline.options)
      require("sb.check_tables").before_run(M.settings)
   end
   for _, command in pairs(cmdline.commands or {}) do
      local f = command[1]
      command[1] = function()
         M.settings()
         return f()
      end
   end
   local clean = cleanup
   function cleanup()
      M.settings()
      return clean()
   end
end

-- First and last value of k for this thread.
function M.bounds(opt)
   local length = opt.table_size / opt.threads
   local thread = sysbench.tid % opt.threads
   local first = math.floor(length * thread) + 1
   return first, math.max(math.floor(length * (thread + 1)), first)
end

return M
