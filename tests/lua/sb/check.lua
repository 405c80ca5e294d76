-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Checks of tables, before a run and by the command check.

local M = {}

local BATCH = 20 -- tables per statement

-- Returns the message of the last error on the connection, otherwise err.
function M.message(con, err)
   local text = con.sql_errmsg ~= nil and ffi.string(con.sql_errmsg) or ""
   return text ~= "" and text or tostring(err)
end

-- Queries the tables first..last with one statement. select(n) returns the
-- expressions for table n; f(n, row) receives their values in row[2] and so on.
-- Returns false if there was no result (--mysql-dry-run).
function M.query_tables(con, first, last, select, f)
   local parts = {}
   for n = first, last do
      parts[#parts + 1] = string.format("SELECT %d, %s", n, select(n))
   end
   local rs = con:query(table.concat(parts, " UNION ALL "))
   for _ = 1, rs and rs.nrows or 0 do
      local row = rs:fetch_row()
      f(tonumber(row[1]), row)
   end
   return rs ~= nil
end

-- Calls f(first, last) for the tables 1 to count, a few at a time.
function M.each_batch(count, f)
   for first = 1, count, BATCH do
      f(first, math.min(first + BATCH - 1, count))
   end
end

-- Returns the number of the first table that is not in the catalog, or nil.
-- name(n) returns the name of table n.
local function first_missing(con, d, count, name)
   local missing
   M.each_batch(count, function(first, last)
      M.query_tables(con, first, last, function(n)
         return "(" .. d.find_table:format(name(n)) .. ")"
      end, function(n, row)
         if row[2] == "0" then
            missing = missing or n
         end
      end)
   end)
   return missing
end

-- Raises an error unless all tables exist. workload: the one that creates them,
-- with its options; nil: the one that runs. command: nil: "prepare".
function M.require_tables(con, d, count, name, workload, command)
   local n = d.find_table and first_missing(con, d, count, name)
   if n then
      error(string.format("table '%s' does not exist: create it with: %s",
         name(n),
         sysbench.cmdline.command_line(command or "prepare", workload)), 0)
   end
end

-- Raises an error unless all indexes exist; an interrupted prepare leaves
-- tables without them. list: of {table = its name, index = the index's name} or
-- {table = , column = the first column of any index}.
function M.require_indexes(con, d, list)
   if d.indexes == false then
      return
   end
   for _, want in ipairs(list) do
      local find = want.index and d.find_index or
         want.column and d.index_of
      local found = find and con:query_row(find:format(want.table,
         want.index or want.column))
      if find and (not found or found == "0") then
         error(string.format("table '%s' has no index %s: was prepare " ..
            "interrupted? Run 'cleanup', then: %s", want.table,
            want.index and "'" .. want.index .. "'" or "on " .. want.column,
            sysbench.cmdline.command_line("prepare")), 0)
      end
   end
end

-- Raises the error that a table is empty.
function M.empty(name)
   error(string.format("table '%s' is empty: give --check-tables=off, or " ..
      "run 'cleanup', then: %s", name,
      sysbench.cmdline.command_line("prepare")), 0)
end

-- Checks that an index exists and finds exactly the rows of a table. index:
-- {name =, columns =}. condition: one that is true for all rows and that the
-- index can be read for. sum: a column, `total` its sum in all rows.
function M.index(con, d, name, index, condition, sum, rows, total)
   if d.indexes == false then
      return
   elseif d.find_index and
      con:query_row(d.find_index:format(name, index.name)) == "0"
   then
      error(string.format("%s: the index %s does not exist", name, index.name),
         0)
   end
   local found, found_sum = con:query_row(d:sum_through(name, index.name,
      index.columns, sum, condition))
   if tonumber(found) ~= tonumber(rows) or
      tonumber(found_sum or 0) ~= tonumber(total or 0)
   then
      error(string.format("%s: the index %s finds %s rows with %s as the " ..
         "sum of %s; the table has %.0f rows and a sum of %.0f", name,
         index.name, found, found_sum or 0, sum, tonumber(rows) or 0,
         tonumber(total) or 0), 0)
   end
end

return M
