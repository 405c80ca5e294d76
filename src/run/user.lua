-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The event loop of one user. Errors are caught around the loop, not in it, so
-- that only one C call is made between two events.

local sb = ...
local C, turn = sb.C, sb.turn

sb.cdef("user")

local user = {}
local WAITS = 2

-- Ends the event in progress and starts the next one. Returns false at the end
-- of the run.
local next_event

if sb.shared then
   local wait = sb.wait.sb_user_next_wait
   function next_event()
      local rc = C.sb_user_next_now(turn.user)
      return (rc ~= WAITS and rc or wait(turn.user)) == 1
   end
else
   local u = turn.user
   function next_event()
      return C.sb_user_next(u) == 1
   end
end

-- Functions that complete what an event has left unfinished, such as pipelines.
-- A function does nothing for a user that has left nothing.
local after = {}
sb.after_event = after

local function once(event, tid)
   local stop = event(tid)
   for i = 1, #after do
      after[i]()
   end
   return stop
end

-- The first events of a user often prepare something. With a thousand users,
-- LuaJIT would compile that code first. So it compiles only after half of the
-- users have had these events.
local COLD = 3
local COLD_SECONDS = 2 -- for events of seconds

local function first_events(me, event, tid)
   local from = os.time()
   while me.cold > 0 and os.time() - from < COLD_SECONDS do
      if not next_event() then
         return true
      elseif once(event, tid) then
         C.sb_user_drop(turn.user)
         return true
      end
      if me.cold == COLD then
         C.sb_user_trim(turn.user)
      end
      me.cold = me.cold - 1
   end
   sb.warmed()
end

-- again: run the event in progress once more first.
local function loop(me, event, tid, again)
   if again and once(event, tid) then
      C.sb_user_drop(turn.user)
      return
   end
   if me.cold and me.cold > 0 and first_events(me, event, tid) then
      return
   end
   while next_event() do
      if once(event, tid) then
         C.sb_user_drop(turn.user)
         return
      end
   end
end

local function events(me)
   local event, again = me.globals.event, false
   me.in_loop = true
   me.cold = me.cold or sb.shared and COLD
   while true do
      local ok, err = xpcall(loop, sb.on_error, me, event, me.tid, again)
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
   local me = sb.me()
   local own = rawget(me.globals, "thread_run")
   if type(own) == "function" then
      sb.warmed()
      own(me.tid)
   else
      events(me)
   end
end

return user
