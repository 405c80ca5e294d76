-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Handles an error that ended the event loop. Loaded on the first error.

local sb = ...
local turn = sb.turn
local RESTART_EVENT = 1 -- of sysbench.error
local restart = {}

-- 0.5 scripts throw the error number itself.
local function restartable(err)
   return type(err) == "table" and err.errcode == RESTART_EVENT or
      err == RESTART_EVENT
end

-- Returns true to run the event again, false if it was given up. Raises the
-- error again if it is not a restart request.
function restart.prepare(err)
   if not restartable(err) then
      error(err, 0)
   end
   local desc = type(err) == "table" and err or {}
   local hook = sb.me().sysbench.hooks.before_restart_event
   if type(hook) == "function" then
      hook(desc)
   end
   -- This has no effect if the hook has rolled back already.
   if desc.connection == nil then -- the script has raised the request
      if sb.sql then
         sb.sql.reset_all()
      end
   else
      local done, problem = pcall(desc.connection.reset_all, desc.connection)
      if not done and not restartable(problem) then
         error(problem, 0)
      end
   end
   return sb.wait.sb_user_restart(turn.user) == 1
end

return restart
