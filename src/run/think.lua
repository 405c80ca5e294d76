-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.user: what a script may ask of its own user.

local sb = ...
local ffi, C = sb.ffi, sb.C
local user = {}

if not sb.user then
   -- Nobody waits between events outside of a run.
   function user.think() end
   return user
end

sb.cdef("user", "sb_user_think")

local u = ffi.cast("struct sb_user *", sb.user)

-- The next event starts that much later at least; in no latency.
function user.think(seconds)
   C.sb_user_think(u, seconds * 1e9)
end

return user
