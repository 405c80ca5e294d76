-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The check command of the OLTP workloads: reads each table completely and
-- compares it with what prepare creates and with its indexes. Missing rows are
-- an error; rows that events have added are not. The users of a run never load
-- this.

local build = require("sb.build")
local check_tables = require("sb.check_tables")
local databases = require("sb.databases")
local dialect = require("sb.dialect")
local parallel = require("sb.prepare")
local schema = require("sb.schema")

-- Counters of sysbench.parallel.ticket().
local TABLE_KEY, DAMAGE_KEY = 0, 1

local INTEGER_MIN = -2147483648

local M = {}

-- Raises the error that a table is damaged: the check continues with the next.
local function damaged(name, ...)
   error({damage = name .. ": " .. string.format(...)})
end

-- Returns the number of rows that prepare creates.
local function prepared_rows(opt)
   if not opt.auto_inc and check_tables.needs() == check_tables.TABLES then
      return 0 -- events of the insert workloads choose the ids
   end
   return opt.table_size
end

-- The condition for rows whose texts have the length that prepare gives them.
-- RTRIM is for MySQL's sql_mode PAD_CHAR_TO_FULL_LENGTH.
local right_lengths = string.format("LENGTH(RTRIM(c)) = %d AND " ..
   "LENGTH(RTRIM(pad)) = %d", #schema.c_format, #schema.pad_format)

-- Computes all figures with one scan of the table: c and pad are in no index,
-- so the server cannot use an index instead.
local function read(con, name, size)
   local rows, inside, ids, k, wrong = con:query_row(string.format(
      "SELECT COUNT(*), SUM(CASE WHEN id BETWEEN 1 AND %.0f THEN 1 ELSE 0 " ..
      "END), SUM(id), SUM(k), SUM(CASE WHEN %s THEN 0 ELSE 1 END) FROM %s",
      size, right_lengths, name))
   return {rows = rows, inside = tonumber(inside) or 0,
      wrong = tonumber(wrong) or 0, sums = {id = ids or "0", k = k or "0"}}
end

local function check_columns(con, name)
   local ok, err = pcall(con.query, con, "SELECT id, k, c, pad FROM " .. name ..
      " WHERE id = 1")
   if not ok then
      damaged(name, "it does not have the columns id, k, c and pad (%s)",
         check_tables.message(con, err))
   end
end

-- Returns the first id from 1 to size that no row has.
local function first_gap(con, name, size)
   if con:query_row("SELECT COUNT(*) FROM " .. name .. " WHERE id = 1") == "0"
   then
      return "1"
   end
   return (con:query_row(string.format("SELECT MIN(id) + 1 FROM %s AS a " ..
      "WHERE id BETWEEN 1 AND %.0f AND NOT EXISTS (SELECT 1 FROM %s AS b " ..
      "WHERE b.id = a.id + 1)", name, size - 1, name)))
end

-- With --secondary, two users that replace the same row at the same time may
-- leave two rows with one id.
local function check_ids(con, opt, name, size, t)
   local present = t.inside
   if opt.secondary then
      present = tonumber((con:query_row(string.format(
         "SELECT COUNT(DISTINCT id) FROM %s WHERE id BETWEEN 1 AND %.0f", name,
         size))))
   end
   if present < size then
      local missing = size - present
      damaged(name, "%.0f of the ids 1 to %.0f %s missing, the first is %s",
         missing, size, missing == 1 and "is" or "are",
         first_gap(con, name, size))
   elseif present > size then
      damaged(name, "%.0f rows have ids from 1 to %.0f", present, size)
   end
end

local function check_texts(con, name, t)
   if t.wrong > 0 then
      damaged(name, "%.0f %s a c or pad of the wrong length, the first is " ..
         "id %s", t.wrong, t.wrong == 1 and "row has" or "rows have",
         con:query_row(string.format("SELECT MIN(id) FROM %s WHERE NOT (%s)",
         name, right_lengths)))
   end
end

-- Checks that the index on the column finds exactly the rows of the table.
local function check_index(con, d, name, column, t)
   local index = con:query_row(d.index_of:format(name, column))
   if not index then
      damaged(name, "there is no index on %s%s", column, column == "k" and
         " (if that is intended, give --create-secondary=off)" or "")
   end
   local rows, sum = con:query_row(string.format(
      "SELECT COUNT(*), SUM(%s) FROM %s WHERE %s >= %d", column,
      d.through(name, index), column, INTEGER_MIN))
   if rows ~= t.rows or (sum or "0") ~= t.sums[column] then
      damaged(name, "the index %s finds %s rows and a sum of %s of %s; " ..
         "the table has %s rows and a sum of %s", index, rows, column,
         sum or 0, t.rows, t.sums[column])
   end
end

-- Returns the number of indexes that were compared.
local function check_indexes(con, d, opt, name, t)
   local columns = {}
   if d.indexes == false or not d.index_of then
      return 0
   end
   if d.key_is_index or opt.secondary then
      columns[1] = "id"
   end
   if opt.create_secondary then
      columns[#columns + 1] = "k"
   end
   for _, statement in ipairs(d.before_index) do
      con:query(statement)
   end
   for _, column in ipairs(columns) do
      check_index(con, d, name, column, t)
   end
   return #columns
end

local function check_table(con, d, opt, name, own_texts)
   local size = prepared_rows(opt)
   local t = read(con, name, size)
   if not t.rows then
      return -- --mysql-dry-run
   end
   check_ids(con, opt, name, size, t)
   if not own_texts then
      check_texts(con, name, t)
   end
   local indexes = check_indexes(con, d, opt, name, t)
   local more = tonumber(t.rows) - size
   build.print_line("%s: %s rows%s, all in order%s", name, t.rows, more > 0 and
      string.format(" (%.0f more than prepare creates)", more) or "",
      indexes > 1 and ", and their indexes agree with them" or
      indexes == 1 and ", and their index agrees with them" or "")
end

-- Checks a table in one snapshot: the server may still execute the last
-- statements of clients that were killed.
local function check_in_snapshot(con, d, opt, name, own_texts)
   check_columns(con, name)
   con:query(d.begin_snapshot)
   local ok, err = pcall(check_table, con, d, opt, name, own_texts)
   if ok or type(err) == "table" and err.damage then
      con:query("ROLLBACK") -- also undoes d.before_index for the next table
   end
   if not ok then
      error(err, 0)
   end
end

-- Checks table n. Returns what is damaged, or nil.
local function check(con, d, opt, n, own_texts)
   local name = schema.name(opt, n)
   check_tables.require_tables(con, d, 1, function() return name end)
   local ok, err = pcall(check_in_snapshot, con, d, opt, name, own_texts)
   if ok then
      return
   elseif type(err) ~= "table" or not err.damage then
      error(err, 0)
   end
   return err.damage
end

-- Checks all tables. opt: normalized options. own_texts: the script computes c
-- and pad itself, so their lengths are not checked.
function M.check(opt, own_texts)
   require("sb.options").need_storage("the command check")
   local drv = sysbench.sql.driver()
   local d = dialect.of(drv)
   if not d.find_table then
      error(string.format("the check command does not support the driver " ..
         "'%s'", drv:name()), 0)
   end
   local first -- the first damage that any user found, if it was this one
   databases.each(function(con)
      parallel.share(TABLE_KEY, opt.tables, function(n)
         local damage = check(con, d, opt, n, own_texts)
         if not damage then
            return
         end
         build.print_line("%s", damage)
         if sysbench.parallel.ticket(DAMAGE_KEY) == 0 then
            first = damage
         end
      end)
   end)
   sysbench.parallel.barrier()
   local tables = first and sysbench.parallel.ticket(DAMAGE_KEY)
   if first then
      error(tables == 1 and first or string.format("%d tables are damaged, " ..
         "the first is %s", tables, first), 0)
   end
end

return M
