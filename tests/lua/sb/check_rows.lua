-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The check command of the OLTP workloads: reads all of each table, and
-- compares it with what prepare makes and with its indexes. Rows that events
-- have added are no damage; rows that are missing are. The users of a run never
-- load this.

local build = require("sb.build")
local check_tables = require("sb.check_tables")
local databases = require("sb.databases")
local dialect_more = require("sb.dialect_more")
local parallel = require("sb.prepare")
local schema = require("sb.schema")

-- Counter of sysbench.parallel.ticket().
local TABLE_KEY = 0

local LEAST = -2147483648 -- INTEGER

local M = {}

local function damaged(name, ...)
   error(name .. ": " .. string.format(...), 0)
end

-- Number of rows that prepare makes.
local function prepared(opt)
   if not opt.auto_inc and check_tables.needs() == check_tables.TABLES then
      return 0 -- events of the insert workloads choose the ids
   end
   return opt.table_size
end

-- All figures by one look at the table itself: c and pad are in no index, so
-- that none can answer for it.
local function read(con, name, size)
   local rows, inside, ids, k, wrong = con:query_row(string.format(
      "SELECT COUNT(*), SUM(CASE WHEN id BETWEEN 1 AND %.0f THEN 1 ELSE 0 " ..
      "END), SUM(id), SUM(k), SUM(CASE WHEN LENGTH(c) = %d AND " ..
      "LENGTH(pad) = %d THEN 0 ELSE 1 END) FROM %s", size, #schema.c_format,
      #schema.pad_format, name))
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

-- The first id from 1 to size that no row has.
local function first_gap(con, name, size)
   if con:query_row("SELECT COUNT(*) FROM " .. name .. " WHERE id = 1") == "0"
   then
      return "1"
   end
   return (con:query_row(string.format("SELECT MIN(id) + 1 FROM %s AS a " ..
      "WHERE id BETWEEN 1 AND %.0f AND NOT EXISTS (SELECT 1 FROM %s AS b " ..
      "WHERE b.id = a.id + 1)", name, size - 1, name)))
end

-- With --secondary, users that replace the same row at once may leave two.
local function check_ids(con, opt, name, size, t)
   local there = t.inside
   if opt.secondary then
      there = tonumber((con:query_row(string.format("SELECT COUNT(DISTINCT " ..
         "id) FROM %s WHERE id BETWEEN 1 AND %.0f", name, size))))
   end
   if there < size then
      local gone = size - there
      damaged(name, "%.0f of the ids 1 to %.0f %s missing, the first is %s",
         gone, size, gone == 1 and "is" or "are", first_gap(con, name, size))
   elseif there > size then
      damaged(name, "%.0f rows have ids from 1 to %.0f", there, size)
   end
end

local function check_texts(con, name, t)
   if t.wrong > 0 then
      damaged(name, "%.0f %s a c or pad of the wrong length, the first is " ..
         "id %s", t.wrong, t.wrong == 1 and "row has" or "rows have",
         con:query_row(string.format(
         "SELECT MIN(id) FROM %s WHERE LENGTH(c) <> %d OR LENGTH(pad) <> %d",
         name, #schema.c_format, #schema.pad_format)))
   end
end

-- The index on the column leads to the rows that the table has.
local function check_index(con, d, name, column, t)
   local index = con:query_row(d.index_of:format(name, column))
   if not index then
      damaged(name, "there is no index on %s%s", column, column == "k" and
         " (without one on purpose: --create-secondary=off)" or "")
   end
   local rows, sum = con:query_row(string.format(
      "SELECT COUNT(*), SUM(%s) FROM %s WHERE %s >= %d", column,
      d.through(name, index), column, LEAST))
   if rows ~= t.rows or (sum or "0") ~= t.sums[column] then
      damaged(name, "the index %s leads to %s rows, whose %s add up to %s; " ..
         "the table has %s rows, and %s", index, rows, column, sum or 0,
         t.rows, t.sums[column])
   end
end

-- Number of indexes that were compared.
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

-- At one moment: clients that were killed may have left their last statements
-- with the server.
local function check(con, d, opt, n, own_texts)
   local name, size = schema.name(opt, n), prepared(opt)
   check_tables.require_tables(con, d, 1, function() return name end,
      check_tables.how(opt))
   check_columns(con, name)
   con:query(d.begin_snapshot)
   local t = read(con, name, size)
   if not t.rows then
      return -- --mysql-dry-run
   end
   check_ids(con, opt, name, size, t)
   if not own_texts then
      check_texts(con, name, t)
   end
   local indexes = check_indexes(con, d, opt, name, t)
   con:query("ROLLBACK") -- settings, too: the next table is read by itself
   local more = tonumber(t.rows) - size
   build.say("%s: %s rows%s, all in order%s", name, t.rows, more > 0 and
      string.format(" (%.0f more than prepare makes)", more) or "",
      indexes > 1 and ", and their indexes agree with them" or
      indexes == 1 and ", and their index agrees with them" or "")
end

-- opt: a set of options, settled. own_texts: c and pad are the script's own.
function M.check(opt, own_texts)
   local drv = sysbench.sql.driver()
   local d = dialect_more.of(drv)
   if not d.find_table then
      error(string.format("there is no way to check tables with the driver " ..
         "'%s'", drv:name()), 0)
   end
   databases.each(function(con)
      parallel.share(TABLE_KEY, opt.tables, function(n)
         check(con, d, opt, n, own_texts)
      end)
   end)
end

return M
