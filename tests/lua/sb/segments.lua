-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The common part of select_random_points and select_random_ranges: one
-- statement on the first table, with values of k from this thread's segment of
-- it, so that threads do not contend for the same rows.

local old_names = require("sb.old_names")
local options = require("sb.options")

local M = {}

-- Returns the settings. Raises an error unless there is one table.
function M.settings()
   local opt = options.normalize(old_names.rename(sysbench.opt))
   if opt.tables ~= 1 then
      error("this workload uses one table: --tables must be 1", 0)
   end
   if (opt.delta or 0) < 0 then
      error("--delta must be at least 0", 0)
   end
   return opt
end

-- Adds extra options and the 0.5 names, and checks the settings before every
-- command.
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

-- Returns the first and the last value of k for this thread.
function M.bounds(opt)
   local length = opt.table_size / opt.threads
   local thread = sysbench.tid % opt.threads
   local first = math.floor(length * thread) + 1
   return first, math.max(math.floor(length * (thread + 1)), first)
end

return M
