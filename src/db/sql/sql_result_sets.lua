-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Statements with several results.

local sb = ...
local C = sb.C
local connection, statement = sb.sql.connection, sb.sql.statement
local raise, own, keep = sb.sql.raise, sb.sql.own, sb.sql.keep
local NONE = 0

sb.cdef("sql", "sb_rs_more sb_rs_next")

function connection:more_results()
   own(self, "connection", "more_results")
   return C.sb_rs_more(self) == 1
end

-- Returns nil for a result without rows, and after the last one.
function connection:next_result()
   own(self, "connection", "next_result")
   local rs = C.sb_rs_next(self)
   if rs ~= nil then
      keep(self)
      return rs
   elseif self.error ~= NONE then
      raise(self, "<next result>", 2)
   end
end

function statement:next_result()
   return self.connection:next_result()
end
