-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.parallel: how the users of one parallel command work together. A
-- command that runs alone, in the main state, is all of its users.

local sb = ...
local ffi, C = sb.ffi, sb.C
local parallel = {}

if not sb.user then
   local tickets = {}
   function parallel.barrier() end
   function parallel.settle() end
   function parallel.progress() end
   function parallel.ticket(key)
      local n = tickets[key] or 0
      tickets[key] = n + 1
      return n
   end
   return parallel
end

sb.cdef("user", "sb_user_barrier sb_user_ticket sb_user_settle " ..
   "sb_user_progress")

local u = ffi.cast("struct sb_user *", sb.user)

-- Thrown when another user has failed or the command was interrupted: not
-- this user's error.
local canceled = { canceled = true, message = "canceled" }

function parallel.barrier()
   if C.sb_user_barrier(u) < 0 then
      error(canceled)
   end
end

function parallel.ticket(key)
   if key < 0 or key > 63 then
      error("the key of a ticket is a number from 0 to 63", 2)
   end
   local n = C.sb_user_ticket(u, key)
   if n < 0 then
      error(canceled)
   end
   return n
end

-- Once the command was interrupted, before what was made is removed: what
-- another user is still at might bring it back.
function parallel.settle()
   C.sb_user_settle(u)
end

-- Without arguments: wipes the line, for something else to be printed.
function parallel.progress(what, n, total)
   C.sb_user_progress(u, what or "", n or 0, total or 0)
end

return parallel
