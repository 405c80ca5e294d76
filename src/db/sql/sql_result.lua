-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Results: rows and columns.

local sb = ...
local ffi, C = sb.ffi, sb.C
local result, raise, own = sb.sql.result, sb.sql.raise, sb.sql.own

sb.cdef("sql", "sb_rs_fetch sb_rs_column")

local cells, ncells = nil, 0

function result:fetch_row()
   own(self, "result", "fetch_row")
   local n = self.nfields
   if n > ncells then
      cells, ncells = ffi.new("struct sb_sql_cell[?]", n), n
   end
   local rc = C.sb_rs_fetch(self, cells)
   if rc == 0 then
      return nil
   elseif rc < 0 then
      raise(self.connection, "<prepared statement>", 2)
   end
   local row = {}
   for i = 1, n do
      local cell = cells[i - 1]
      if cell.s ~= nil then
         row[i] = ffi.string(cell.s, tonumber(cell.len))
      end
   end
   return row
end

-- Returns the name of column i, from 1; nil if out of range.
function result:column(i)
   own(self, "result", "column")
   local name = C.sb_rs_column(self, i - 1)
   if name ~= nil then
      return ffi.string(name)
   end
end
