-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Hooks for workloads whose run command does one thing a thread, as the
-- parallel_prepare scripts do.
-- luacheck: globals thread_init thread_done event

local M = {}

-- Each thread calls f() once: as its event, or at its end when another thread
-- took the event meant for it.
function M.declare(f)
   local done = false

   function thread_init()
   end

   function event()
      if done then
         return true
      end
      done = true
      f()
   end

   function thread_done()
      if not done then
         done = true
         f()
      end
   end
end

return M
