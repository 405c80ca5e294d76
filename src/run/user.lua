-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The event loop of one user. Nothing stands between two events but one call
-- of C: errors are caught around the loop, not in it.

local sb = ...
local ffi, C, sysbench = sb.ffi, sb.C, sb.sysbench

sb.cdef("user", "sb_user_next sb_user_drop sb_user_restart")

local u = ffi.cast("struct sb_user *", sb.user)
local RESTART_EVENT = sysbench.error.RESTART_EVENT
local user = {}

-- again: the event in progress is to be tried once more first.
local function loop(event, tid, again)
   if again and event(tid) then
      C.sb_user_drop(u)
      return
   end
   while C.sb_user_next(u) == 1 do
      if event(tid) then
         C.sb_user_drop(u)
         return
      end
   end
end

-- What 0.5 threw was the number itself.
local function restartable(err)
   return type(err) == "table" and err.errcode == RESTART_EVENT or
      err == RESTART_EVENT
end

local function restart(err)
   local desc = type(err) == "table" and err or {}
   local hook = sysbench.hooks.before_restart_event
   if type(hook) == "function" then
      hook(desc)
   end
   -- Does nothing when the hook has rolled back.
   if desc.connection ~= nil then
      desc.connection:reset()
   end
   return C.sb_user_restart(u) == 1
end

local function events()
   local event, tid, again = event, sb.tid, false
   while true do
      local ok, err = xpcall(loop, sb.on_error, event, tid, again)
      if ok then
         return
      elseif not restartable(err) then
         error(err, 0)
      end
      again = restart(err)
   end
end

function user.run()
   local own = rawget(_G, "thread_run")
   if type(own) == "function" then
      own(sb.tid)
   else
      events()
   end
end

return user
