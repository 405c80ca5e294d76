-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.parallel: coordinates the users of a parallel command. A command
-- that runs alone, in the main state, acts as the only user.

local sb = ...
local C, turn = sb.C, sb.turn
local parallel = {}

local function check(key, n)
   if key == nil then
      error("add() requires a key", 3)
   elseif type(n) ~= "number" and type(n) ~= "cdata" or n < 0 or n ~= n then
      error("the number to add to a counter must be 0 or more", 3)
   end
end

function parallel.ticket(key)
   if key == nil then
      error("ticket() requires a key", 2)
   end
   return parallel.add(key, 1)
end

if not sb.user then
   local counters = {}
   function parallel.barrier() end
   function parallel.settle() end
   function parallel.progress() end
   function parallel.add(key, n)
      check(key, n)
      key = tostring(key)
      local before = counters[key] or 0
      counters[key] = before + n
      return before
   end
   return parallel
end

sb.cdef("user")

-- Thrown if another user has failed or the command was interrupted: not an
-- error of this user.
local ERANGE, ECANCELED = -5, -13
local canceled = { canceled = true, message = "canceled" }

function parallel.barrier()
   if C.sb_user_barrier(turn.user) < 0 then
      error(canceled)
   end
end

-- Adds n to a counter that all users share; returns what it was before.
function parallel.add(key, n)
   check(key, n)
   key = tostring(key)
   sb.check_name(key, "a counter", 2)
   local before = C.sb_user_add(turn.user, key, n)
   if before == ERANGE then
      error("the key of a counter has at most 95 bytes", 2)
   elseif before == ECANCELED then
      error(canceled)
   elseif before < 0 then
      error("out of memory for a counter")
   end
   return before
end

-- Called after the command was interrupted, before a user removes what it
-- created: waits for calls of other users that might create it again.
function parallel.settle()
   C.sb_user_settle(turn.user)
end

-- Without arguments: erases the line, so that other output can be printed.
function parallel.progress(what, n, total)
   C.sb_user_progress(turn.user, what or "", n or 0, total or 0)
end

return parallel
