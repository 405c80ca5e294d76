-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- What becomes of an error that ended the event loop. Loaded with the first.

local sb = ...
local ffi, C, sysbench = sb.ffi, sb.C, sb.sysbench

sb.cdef("user", "sb_user_restart")

local u = ffi.cast("struct sb_user *", sb.user)
local RESTART_EVENT = sysbench.error.RESTART_EVENT
local restart = {}

-- What 0.5 threw was the number itself.
local function restartable(err)
   return type(err) == "table" and err.errcode == RESTART_EVENT or
      err == RESTART_EVENT
end

-- True when the event is to be tried again, false when it was given up; raises
-- what asks for no restart.
function restart.prepare(err)
   if not restartable(err) then
      error(err, 0)
   end
   local desc = type(err) == "table" and err or {}
   local hook = sysbench.hooks.before_restart_event
   if type(hook) == "function" then
      hook(desc)
   end
   -- Does nothing when the hook has rolled back.
   if desc.connection ~= nil then
      desc.connection:reset_all()
   end
   return C.sb_user_restart(u) == 1
end

return restart
