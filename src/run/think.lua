-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.user: functions that affect the script's own user.

local sb = ...
local C, turn = sb.C, sb.turn
local user = {}

if not sb.user then
   -- Outside of a run, there is no pause between events.
   function user.think() end
   function user.stop() end
   function user.fail() end
   function user.wait() return true end
   function user.time() return 0 end
   function user.run_time() return 0 end
   return user
end

sb.cdef("user")

-- Raises an error unless `seconds` is a number, a numeric string or a cdata.
-- name: the function that the script has called, at whose caller the error is
-- raised.
local function check(name, seconds)
   if type(seconds) ~= "cdata" and not tonumber(seconds) then
      error(("%s() requires a number of seconds, not %s"):format(name,
         type(seconds) == "string" and "'" .. seconds .. "'" or
         seconds == nil and "nil" or "a " .. type(seconds)), 3)
   end
end

-- Delays the start of the next event by at least this time, which is not part
-- of any latency.
function user.think(seconds)
   if type(seconds) ~= "number" then
      check("think", seconds)
   end
   C.sb_user_think(turn.user, seconds * 1e9)
end

-- Sleeps. Returns false if the run ends before that.
function user.wait(seconds)
   if type(seconds) ~= "number" then
      check("wait", seconds)
   end
   return sb.wait.sb_user_pause(turn.user, seconds * 1e9) == 1
end

-- The event in progress is the last one of this user.
function user.stop()
   C.sb_user_stop(turn.user)
end

-- The event in progress counts as failed.
function user.fail()
   C.sb_user_fail(turn.user)
end

-- Seconds since the start of the measured part; negative before it.
function user.time()
   return C.sb_user_time(turn.user)
end

-- Seconds since the start of the run, with the warm-up.
function user.run_time()
   return C.sb_user_run_time(turn.user)
end

return user
