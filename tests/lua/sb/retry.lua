-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Detects whether an event is a retry of a failed one. A retry must execute the
-- same operation: if each try drew its operation, operations that fail often
-- would be less frequent than their weights say.

local M = {}

-- Returns a function for this user. event() must call it once; it returns true
-- if the event is another try.
function M.watch()
   local tries, again = 0, false

   function sysbench.hooks.before_restart_event()
      local max = sysbench.opt.max_restarts
      tries = tries + 1
      again = max == 0 or tries <= max
   end

   return function()
      local is_retry = again
      if not is_retry then
         tries = 0
      end
      again = false
      return is_retry
   end
end

return M
