-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- --pipeline: the statements that event() executes on the global connection
-- are collected and sent together at its end.

-- luacheck: globals con event check_reconnect

local M = {}

-- Changes the globals event() and check_reconnect().
function M.wrap()
   local plain, reconnect = event, check_reconnect
   function event(tid)
      con:pipeline_begin()
      local stop = plain(tid)
      con:pipeline_run()
      return stop
   end
   function check_reconnect()
      con:pipeline_run()
      reconnect()
      con:pipeline_begin()
   end
end

return M
