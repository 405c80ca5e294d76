-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Hooks for workloads that call a function once per thread, such as the
-- parallel_prepare scripts.
-- luacheck: globals thread_init thread_done event

local M = {}

-- Each thread calls f() once: as its event, or at its end if other threads ran
-- all events.
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
