-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Methods of connections that insert many rows with few statements.

local sb = ...
local C = sb.C
local connection = sb.sql.connection
local check, raise = sb.sql.check, sb.sql.raise
local own, text = sb.sql.own, sb.sql.text

sb.cdef("sql", "sb_con_bulk_init sb_con_bulk_next sb_con_bulk_done")

function connection:bulk_insert_init(query)
   own(self, "connection", "bulk_insert_init")
   text(query, "bulk_insert_init")
   check(C.sb_con_bulk_init(self, query, #query), self, query)
end

function connection:bulk_insert_next(values)
   own(self, "connection", "bulk_insert_next")
   text(values, "bulk_insert_next")
   if C.sb_con_bulk_next(self, values, #values) ~= 0 then
      raise(self, values, 2)
   end
end

function connection:bulk_insert_done()
   own(self, "connection", "bulk_insert_done")
   check(C.sb_con_bulk_done(self), self, "<bulk insert>")
end
