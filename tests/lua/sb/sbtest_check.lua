-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Checks of the tables of sb/sbtest.lua: a quick one before a run, and the
-- command check, which reads the tables completely.

local check = require("sb.check")
local dialect = require("sb.dialect")
local options = require("sb.options")
local sbtest = require("sb.sbtest")
local tables = require("sb.tables")

local M = {}

-- Requirements of a script's events: existing rows, or only existing tables.
local ROWS, TABLES = "rows", "tables"
M.ROWS, M.TABLES = ROWS, TABLES

local needs = {
   oltp_read_write = ROWS, oltp_read_only = ROWS, oltp_write_only = ROWS,
   oltp_point_select = ROWS, oltp_delete = ROWS, oltp_update_index = ROWS,
   oltp_update_non_index = ROWS, oltp_insert = TABLES,
   select_random_points = ROWS, select_random_ranges = ROWS,
   bulk_insert = TABLES,
   oltp = ROWS, oltp_simple = ROWS, select = ROWS, delete = ROWS,
   insert = TABLES, update_index = ROWS, update_non_index = ROWS,
}

function M.script_name()
   local name = (sysbench.cmdline.script_path or ""):match("[^/]*$")
   return (name:gsub("%.lua$", ""))
end

-- Returns the requirement of the script that was started; nil if it is not a
-- bundled one.
function M.needs()
   return needs[M.script_name()]
end

-- Before a run: missing ids ---------------------------------------------------
--
-- If tables are missing or empty, or do not match the options, statements find
-- no rows and look fast. docs/workloads.md says what is an error and what is a
-- warning.

local IDS = 5000    -- sampled ids of all tables together ...
local IDS_MIN = 5   -- ... and per table
local IDS_MAX = 100
local MAX_MISSING = 0.01 -- share of the ids that may be missing
local MAX_GROWTH = 1.1   -- a table may have grown by a tenth

-- Returns `count` ids from 1 to size, evenly spread, including 1 and size; all
-- ids if size is less.
local function sample(size, count)
   local ids = {}
   if count >= size then
      for id = 1, size do
         ids[id] = id
      end
      return ids
   end
   for i = 0, count - 1 do
      ids[i + 1] = string.format("%.0f",
         1 + math.floor(i * (size - 1) / (count - 1) + 0.5))
   end
   return ids
end

-- State of the check of one database.
local Check = {}
Check.__index = Check

-- Finds tables without an index on id, as a killed prepare leaves them on
-- PostgreSQL. Checking their ids would need a scan of the table.
function Check:find_unindexed(first, last)
   local find = self.d.index_of
   if not find or self.d.indexes == false or not self.d.key_after_rows then
      return
   end
   check.query_tables(self.con, first, last, function(n)
      return "(" .. find:format(self.name(n), "id") .. ")"
   end, function(n, row)
      self.unindexed[n] = row[2] == nil
   end)
end

-- Returns the expressions for table n: whether it has rows, its first and last
-- id, and how many ids of the sample it has.
function Check:select(n)
   local name = self.name(n)
   local any = string.format("(SELECT COUNT(*) FROM (SELECT id FROM %s " ..
      "LIMIT 1) AS one)", name)
   if self.unindexed[n] then
      return any .. ", 0, 0, 0"
   end
   local ends = self.d.ordered_key == false and "0, 0" or string.format(
      "(SELECT MIN(id) FROM %s), (SELECT MAX(id) FROM %s)", name, name)
   local found = #self.ids == 0 and "0" or string.format(
      "(SELECT COUNT(*) FROM %s WHERE id IN (%s))", name,
      table.concat(self.ids, ","))
   return any .. ", " .. ends .. ", " .. found
end

-- Records the first table with a problem of this kind and counts the others.
-- meaning: the text after the message and the count.
function Check:problem(kind, meaning, ...)
   local p = self.problems[kind]
   if p then
      p.others = p.others + 1
      return
   end
   self.problems[kind] = {others = 0, text = string.format(...),
      meaning = meaning}
   self.kinds[#self.kinds + 1] = kind
end

-- Returns an estimate of the share of the ids 1..size that table n lacks.
function Check:missing_share(first, last, found)
   local size, sampled = self.opt.table_size, #self.ids
   local share = sampled - found >= 2 and 1 - found / sampled or 0
   if self.d.ordered_key ~= false then
      local inside = math.min(last, size) - math.max(first, 1) + 1
      share = math.max(share, 1 - math.max(inside, 0) / size)
   end
   return share
end

-- row: the answer for table n, nil if there is none (--mysql-dry-run).
function Check:evaluate(n, row)
   local name, size = self.name(n), self.opt.table_size
   if not row then
      return
   elseif row[2] == "0" then
      self.empty = self.empty or name
      return
   elseif self.unindexed[n] then
      return self:problem("index", ": was prepare interrupted?",
         "table '%s' has no index on id", name)
   elseif size < 1 then
      return
   end
   local first, last, found = tonumber(row[3]), tonumber(row[4]),
      tonumber(row[5])
   local share = self:missing_share(first, last, found)
   if share > MAX_MISSING then
      local range = self.d.ordered_key == false and "" or
         string.format("has ids %.0f to %.0f and ", first, last)
      self:problem("lacks", ": statements for missing ids find no rows and " ..
         "look fast", "table '%s' %slacks about %.1f %% of the ids 1 to " ..
         "%.0f (%s)", name, range, math.floor(share * 1000) / 10, size,
         self.size_option)
   elseif last > size * MAX_GROWTH then
      self:problem("larger", string.format(": only ids 1 to %.0f are used",
         size), "table '%s' has ids %.0f to %.0f, but %s is %.0f", name, first,
         last, self.size_option, size)
   end
end

-- If a statement fails and all tables exist, the reason is only a warning: it
-- may not affect the events.
function Check:batch(first, last)
   local rows = {}
   local ok, err = pcall(function()
      self:find_unindexed(first, last)
      check.query_tables(self.con, first, last, function(n)
         return self:select(n)
      end, function(n, row)
         rows[n] = {unpack(row, 1, 5)}
      end)
   end)
   if ok then
      for n = first, last do
         self:evaluate(n, rows[n])
      end
   else
      local why = check.message(self.con, err)
      check.require_tables(self.con, self.d, self.opt.tables, self.name)
      self:problem("unknown", "", "cannot check table '%s': %s",
         self.name(first), why)
   end
end

function Check:rows()
   check.each_batch(self.opt.tables, function(first, last)
      self:batch(first, last)
      if self.empty then
         check.empty(self.empty)
      end
   end)
   for _, kind in ipairs(self.kinds) do
      local p = self.problems[kind]
      local others = p.others == 0 and "" or p.others == 1 and
         " (same for 1 more table)" or
         string.format(" (same for %d more tables)", p.others)
      sysbench.warning(self.where .. p.text .. others .. p.meaning)
   end
end

-- where: the prefix of messages.
local function check_database(con, d, opt, need, ids, where)
   local c = setmetatable({con = con, d = d, opt = opt, where = where,
      name = function(n) return sbtest.name(opt, n) end, ids = ids,
      size_option = opt == sysbench.opt and "--table-size" or
         "--oltp-table-size",
      unindexed = {}, problems = {}, kinds = {}}, Check)
   if need == ROWS then
      c:rows()
   else
      check.require_tables(con, d, opt.tables, c.name, nil, opt.prepare)
   end
end

-- Checks the tables of a bundled workload in the main state, before the users
-- start, unless --check-tables=off: third-party scripts that load bundled ones
-- are not checked. need: ROWS or TABLES; nil: that of the script.
function M.check_before_run(opt, need)
   need = need or M.needs()
   if not need or not sysbench.opt.check_tables then
      return
   end
   local drv = sysbench.sql.driver()
   local d = dialect.of(drv)
   if not d.find_table then
      return -- the null driver, or an unknown database
   end
   local per_table = math.floor(IDS / opt.tables)
   local ids = sample(opt.table_size,
      math.max(math.min(per_table, IDS_MAX), IDS_MIN))
   local several = drv.databases and #drv:databases() > 1
   tables.connect_to_each_database(drv, function(con, name)
      local where = several and "database '" .. name .. "': " or ""
      local ok, err = pcall(check_database, con, d, opt, need, ids, where)
      if not ok then
         error(type(err) == "string" and where .. err or err, 0)
      end
   end)
end

-- The command check ----------------------------------------------------------

local INTEGER_MIN = -2147483648

-- Raises the error that a table is damaged: the check continues with the next.
local function damaged(name, ...)
   error({damage = name .. ": " .. string.format(...)})
end

-- Returns the number of rows that prepare creates.
local function prepared_rows(opt)
   if not opt.auto_inc and M.needs() == TABLES then
      return 0 -- events of the insert workloads choose the ids
   end
   return opt.table_size
end

-- The condition for rows whose texts have the length that prepare gives them.
-- RTRIM is for MySQL's sql_mode PAD_CHAR_TO_FULL_LENGTH.
local right_lengths = string.format("LENGTH(RTRIM(c)) = %d AND " ..
   "LENGTH(RTRIM(pad)) = %d", #sbtest.c_format, #sbtest.pad_format)

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
         check.message(con, err))
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
      damaged(name, "the index %s finds %s rows with %s as the sum of %s; " ..
         "the table has %s rows and a sum of %s", index, rows, sum or 0,
         column, t.rows, t.sums[column])
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
   tables.print("%s: %s rows%s, all in order%s", name, t.rows, more > 0 and
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
local function damage_of(con, d, opt, n, own_texts)
   local name = sbtest.name(opt, n)
   check.require_tables(con, d, 1, function() return name end)
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
   options.require_storage("the command check")
   local drv = sysbench.sql.driver()
   local d = dialect.of(drv)
   if not d.find_table then
      error(string.format("the check command does not support the driver " ..
         "'%s'", drv:name()), 0)
   end
   local first -- the first damage that any user found, if it was this one
   tables.command_on_each_database(function(con)
      tables.divide_work("check", opt.tables, function(n)
         local damage = damage_of(con, d, opt, n, own_texts)
         if not damage then
            return
         end
         tables.print("%s", damage)
         if sysbench.parallel.ticket("damaged") == 0 then
            first = damage
         end
      end)
   end)
   sysbench.parallel.barrier()
   local count = first and sysbench.parallel.ticket("damaged")
   if first then
      error(count == 1 and first or string.format("%d tables are damaged, " ..
         "the first is %s", count, first), 0)
   end
end

return M
