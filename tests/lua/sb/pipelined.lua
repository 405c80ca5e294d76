-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- --pipeline: collects the statements that event() executes on a connection and
-- sends them together at its end.

-- luacheck: globals con event check_reconnect

local M = {}

-- Wraps the global event() and, if it exists, check_reconnect(). connection:
-- nil for the connection that the global `con` holds when the event starts.
function M.wrap(connection)
   local plain, reconnect = event, check_reconnect
   function event(tid)
      local c = connection or con
      c:pipeline_begin()
      local stop = plain(tid)
      c:pipeline_run()
      return stop
   end
   if reconnect then
      function check_reconnect()
         local c = connection or con
         c:pipeline_run()
         reconnect()
         c:pipeline_begin()
      end
   end
end

return M
