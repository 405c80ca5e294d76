-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.user: functions that affect the script's own user.

local sb = ...
local ffi, C = sb.ffi, sb.C
local user = {}

if not sb.user then
   -- Outside of a run, there is no pause between events.
   function user.think() end
   return user
end

sb.cdef("user", "sb_user_think")

local u = ffi.cast("struct sb_user *", sb.user)

-- Delays the start of the next event by at least this time, which is not part
-- of any latency.
function user.think(seconds)
   C.sb_user_think(u, seconds * 1e9)
end

return user
