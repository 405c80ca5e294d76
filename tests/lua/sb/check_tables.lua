-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- A quick check of the tables before the users of a run start: if tables are
-- missing or empty, or do not match the options, statements find no rows and
-- look fast. No user of a run loads this. docs/workloads.md says what is an
-- error and what is a warning.

local databases = require("sb.databases")
local dialect = require("sb.dialect")
local options = require("sb.options")
local schema = require("sb.schema")

local M = {}

local BATCH = 20    -- tables per statement
local IDS = 5000    -- sampled ids of all tables together ...
local IDS_MIN = 5   -- ... and per table
local IDS_MAX = 100
local MAX_MISSING = 0.01 -- share of the ids that may be missing
local MAX_GROWTH = 1.1   -- a table may have grown by a tenth

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

local function script_name()
   local name = (sysbench.cmdline.script_path or ""):match("[^/]*$")
   return (name:gsub("%.lua$", ""))
end

-- Returns the requirement of the script that was started; nil if it is not a
-- bundled one.
function M.needs()
   return needs[script_name()]
end

local RANGES = {"simple_ranges", "sum_ranges", "order_ranges",
   "distinct_ranges"}
local WRITES = {"index_updates", "non_index_updates", "delete_inserts"}

local function sum(opt, names)
   local n = 0
   for _, name in ipairs(names) do
      n = n + opt[name]
   end
   return n
end

-- Returns how many statements a transaction of the mix has besides BEGIN and
-- COMMIT.
local function statements(name, opt)
   local reads = name == "oltp_write_only" and 0 or opt.point_selects +
      (opt.range_selects and sum(opt, RANGES) or 0)
   return reads + (name == "oltp_read_only" and 0 or sum(opt, WRITES))
end

-- Warns of options that make events do nothing, or have no effect.
local function warn_of_options(opt)
   local name = script_name()
   if not (opt.point_selects and opt.sum_ranges and opt.index_updates) then
      return -- an oltp_common.lua of the user declares other options
   end
   if name == "oltp_point_select" then
      if opt.point_selects ~= 10 then -- the default of the other scripts
         sysbench.warning("--point-selects has no effect: an event of " ..
            "oltp_point_select is one query")
      end
      return
   elseif not name:find("^oltp_[rw]") then
      return
   end
   if statements(name, opt) == 0 then
      sysbench.warning("all numbers of statements are 0: " .. (opt.skip_trx and
         "events do nothing" or "transactions are only BEGIN and COMMIT"))
   elseif name ~= "oltp_write_only" and not opt.range_selects then
      for _, range in ipairs(RANGES) do
         if opt[range] > 1 then
            sysbench.warning(string.format("--%s=%d has no effect: " ..
               "--range-selects=off turns off all ranges",
               range:gsub("_", "-"), opt[range]))
         end
      end
   end
end

-- Returns the message of the last error on the connection, otherwise err.
function M.message(con, err)
   local text = con.sql_errmsg ~= nil and ffi.string(con.sql_errmsg) or ""
   return text ~= "" and text or tostring(err)
end

-- Statements ---------------------------------------------------------------

-- Queries the tables first..last with one statement. select(n) returns the
-- expressions for table n; f(n, row) receives their values in row[2] and so on.
-- Returns false if there was no result (--mysql-dry-run).
local function query_tables(con, first, last, select, f)
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

local function each_batch(count, f)
   for first = 1, count, BATCH do
      f(first, math.min(first + BATCH - 1, count))
   end
end

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

-- Tables -------------------------------------------------------------------

-- Returns the number of the first table that is not in the catalog, or nil.
-- name(n) returns the name of table n.
local function first_missing(con, d, count, name)
   local missing
   each_batch(count, function(first, last)
      query_tables(con, first, last, function(n)
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
   query_tables(self.con, first, last, function(n)
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
      query_tables(self.con, first, last, function(n)
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
      local why = M.message(self.con, err)
      M.require_tables(self.con, self.d, self.opt.tables, self.name)
      self:problem("unknown", "", "cannot check table '%s': %s",
         self.name(first), why)
   end
end

function Check:rows()
   each_batch(self.opt.tables, function(first, last)
      self:batch(first, last)
      if self.empty then
         M.empty(self.empty)
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
   local check = setmetatable({con = con, d = d, opt = opt, where = where,
      name = function(n) return schema.name(opt, n) end, ids = ids,
      size_option = opt == sysbench.opt and "--table-size" or
         "--oltp-table-size",
      unindexed = {}, problems = {}, kinds = {}}, Check)
   if need == ROWS then
      check:rows()
   else
      M.require_tables(con, d, opt.tables, check.name, nil, opt.prepare)
   end
end

-- Checks the tables of normalized options, unless --check-tables=off. need:
-- ROWS or TABLES.
function M.check(opt, need)
   if not sysbench.opt.check_tables then
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
   databases.visit(drv, function(con, name)
      local where = several and "database '" .. name .. "': " or ""
      local ok, err = pcall(check_database, con, d, opt, need, ids, where)
      if not ok then
         error(type(err) == "string" and where .. err or err, 0)
      end
   end)
end

-- For scripts, in the main state: has the tables checked after init(), before
-- the users start. settings(): returns the normalized options; without it, the
-- 1.x options are used. Third-party scripts that load bundled ones are not
-- checked, nor are runs with a third-party oltp_common, which does not declare
-- --check-tables.
function M.before_run(settings)
   local need = M.needs()
   if not need then
      return
   end
   function sysbench.hooks.check_tables()
      warn_of_options(sysbench.opt)
      if sysbench.opt.check_tables then
         M.check(settings and settings() or options.normalize(sysbench.opt),
            need)
      end
   end
end

return M
