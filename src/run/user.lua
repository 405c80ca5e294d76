-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The event loop of one user. Errors are caught around the loop, not in it, so
-- that only one C call is made between two events.

local sb = ...
local ffi, C = sb.ffi, sb.C

sb.cdef("user", "sb_user_next sb_user_drop")

local u = ffi.cast("struct sb_user *", sb.user)
local user = {}
local after = {}

local function once(event, tid)
   local stop = event(tid)
   for i = 1, #after do
      after[i]()
   end
   return stop
end

-- again: run the event in progress once more first.
local function loop(event, tid, again)
   if again and once(event, tid) then
      C.sb_user_drop(u)
      return
   end
   while C.sb_user_next(u) == 1 do
      if once(event, tid) then
         C.sb_user_drop(u)
         return
      end
   end
end

local function events()
   local event, tid, again = event, sb.tid, false
   -- Modules append functions that end what an event has left unfinished. It is
   -- nil where no loop calls them.
   sb.after_event = after
   while true do
      local ok, err = xpcall(loop, sb.on_error, event, tid, again)
      if not ok then
         again = sb.module("restart").prepare(err)
      elseif sb.watch_lines() then
         again = false
      else
         return
      end
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
