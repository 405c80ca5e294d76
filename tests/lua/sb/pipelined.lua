-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- --pipeline: the statements that event() executes on a connection are
-- collected and sent together at its end.

-- luacheck: globals con event check_reconnect

local M = {}

-- Changes the global event() and, where there is one, check_reconnect().
-- connection: nil for the one that is the global `con` at that moment.
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
