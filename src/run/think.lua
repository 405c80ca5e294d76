-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.user: functions that affect the script's own user.

local sb = ...
local ffi, C = sb.ffi, sb.C
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

sb.cdef("user", "sb_user_think sb_user_pause sb_user_stop sb_user_fail " ..
   "sb_user_time sb_user_run_time")

local u = ffi.cast("struct sb_user *", sb.user)

-- Delays the start of the next event by at least this time, which is not part
-- of any latency.
function user.think(seconds)
   C.sb_user_think(u, seconds * 1e9)
end

-- Sleeps. Returns false if the run ends before that.
function user.wait(seconds)
   return C.sb_user_pause(u, seconds * 1e9) == 1
end

-- The event in progress is the last one of this user.
function user.stop()
   C.sb_user_stop(u)
end

-- The event in progress counts as failed.
function user.fail()
   C.sb_user_fail(u)
end

-- Seconds since the start of the measured part; negative before it.
function user.time()
   return C.sb_user_time(u)
end

-- Seconds since the start of the run, with the warm-up.
function user.run_time()
   return C.sb_user_run_time(u)
end

return user
