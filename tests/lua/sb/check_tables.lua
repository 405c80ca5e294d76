-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- A quick look at the tables before the users of a run start: with missing or
-- empty tables, or other ones than the options say, events find nothing and
-- look fast. Only the main state loads this. docs/workloads.md says what is an
-- error and what is a warning.

local databases = require("sb.databases")
local dialect_more = require("sb.dialect_more")
local options = require("sb.options")
local schema = require("sb.schema")

local M = {}

local BATCH = 20    -- tables per statement
local IDS = 5000    -- sampled in a run, by all tables together ...
local IDS_MIN = 5   -- ... and per table
local IDS_MAX = 100
local LACKING = 0.01 -- share of the ids that may be missing
local GROWN = 1.1    -- a table may have grown by a tenth

-- What the events of the scripts that are checked need: rows that exist, or
-- tables that exist.
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

-- What the script that was started needs; nil: it is none of ours.
function M.needs()
   local name = (sysbench.cmdline.script_path or ""):match("[^/]*$")
   return needs[(name:gsub("%.lua$", ""))]
end

-- How to create the tables: a command to type.
function M.how(opt)
   local old = type(sysbench.opt.oltp_table_size) == "number"
   local words = {"sysbench", sysbench.cmdline.script_path}
   if opt.tables > 1 then
      words[#words + 1] = string.format(old and "--oltp-tables-count=%d" or
         "--tables=%d", opt.tables)
   end
   if opt.table_size > 0 then
      words[#words + 1] = string.format(old and "--oltp-table-size=%.0f" or
         "--table-size=%.0f", opt.table_size)
   end
   words[#words + 1] = "prepare"
   return table.concat(words, " ")
end


-- What a failed statement has left on the connection.
function M.message(con, err)
   local text = con.sql_errmsg ~= nil and ffi.string(con.sql_errmsg) or ""
   return text ~= "" and text or tostring(err)
end

local function warn(...)
   if (tonumber(sysbench.opt.verbosity) or 3) >= 2 then
      io.stderr:write("WARNING: " .. string.format(...) .. "\n")
   end
end

-- Statements ---------------------------------------------------------------

-- Asks about the tables first..last by one statement: select(n) is the
-- expressions for table n. f(n, row) gets the answers, which are in row[2] and
-- so on. False: there was no answer (--mysql-dry-run).
local function ask(con, first, last, select, f)
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

-- So many ids from 1 to size, evenly spread, the first and the last included.
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

-- The number of the first table that is not in the catalog, or nil. name(n) is
-- the name of table n.
local function first_missing(con, d, count, name)
   local missing
   each_batch(count, function(first, last)
      ask(con, first, last, function(n)
         return "(" .. d.find_table:format(name(n)) .. ")"
      end, function(n, row)
         if row[2] == "0" then
            missing = missing or n
         end
      end)
   end)
   return missing
end

-- An error unless all tables exist. command: what creates them.
function M.require_tables(con, d, count, name, command)
   local n = d.find_table and first_missing(con, d, count, name)
   if n then
      error(string.format("table '%s' does not exist: create it with '%s'",
         name(n), command), 0)
   end
end

-- What one look at a run's tables knows.
local Look = {}
Look.__index = Look

-- Tables whose rows cannot be found through an index: a prepare that was
-- killed leaves such on PostgreSQL. Their ids would take a scan to look at.
function Look:find_unindexed(first, last)
   local find = self.d.index_of
   if not find or self.d.indexes == false or not self.d.key_after_rows then
      return
   end
   ask(self.con, first, last, function(n)
      return "(" .. find:format(self.name(n), "id") .. ")"
   end, function(n, row)
      self.unindexed[n] = row[2] == nil
   end)
end

-- The expressions for table n: whether it has rows, its first and last id, and
-- how many ids of the sample there are.
function Look:select(n)
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

-- Keeps the first table with a problem of this kind and counts the others.
-- meaning: what follows the text and their number.
function Look:problem(kind, meaning, ...)
   local p = self.problems[kind]
   if p then
      p.others = p.others + 1
      return
   end
   self.problems[kind] = {others = 0, text = string.format(...),
      meaning = meaning}
   self.kinds[#self.kinds + 1] = kind
end

-- Share of the ids 1..size that table n lacks, as far as one can tell.
function Look:lacks(first, last, found)
   local size, asked = self.opt.table_size, #self.ids
   local share = asked - found >= 2 and 1 - found / asked or 0
   if self.d.ordered_key ~= false then
      local inside = math.min(last, size) - math.max(first, 1) + 1
      share = math.max(share, 1 - math.max(inside, 0) / size)
   end
   return share
end

function Look:judge(n, row)
   local name, size = self.name(n), self.opt.table_size
   if row[2] == "0" then
      self.empty = self.empty or name
   elseif self.unindexed[n] then
      return self:problem("index", ": was prepare interrupted?",
         "table '%s' has no index on id", name)
   elseif size < 1 then
      return
   end
   local first, last, found = tonumber(row[3]), tonumber(row[4]),
      tonumber(row[5])
   local share = self:lacks(first, last, found)
   if share > LACKING then
      local there = self.d.ordered_key == false and "" or
         string.format("has ids %.0f to %.0f and ", first, last)
      self:problem("lacks", ": statements for missing ids find nothing and " ..
         "look fast", "table '%s' %slacks about %.1f %% of the ids 1 to " ..
         "%.0f (%s)", name, there, math.floor(share * 1000) / 10, size,
         self.size_option)
   elseif last > size * GROWN then
      self:problem("larger", string.format(": only ids 1 to %.0f are used",
         size), "table '%s' has ids %.0f to %.0f, but %s is %.0f", name, first,
         last, self.size_option, size)
   end
end

-- A statement that fails does so for want of a table, or for a reason that the
-- events will meet as well, or never.
function Look:batch(first, last)
   local ok, err = pcall(function()
      self:find_unindexed(first, last)
      ask(self.con, first, last, function(n)
         return self:select(n)
      end, function(n, row)
         self:judge(n, row)
      end)
   end)
   if not ok then
      local why = M.message(self.con, err)
      M.require_tables(self.con, self.d, self.opt.tables, self.name,
         self.command)
      self:problem("unknown", "", "cannot look at table '%s': %s",
         self.name(first), why)
   end
end

function Look:rows()
   each_batch(self.opt.tables, function(first, last)
      self:batch(first, last)
      if self.empty then
         error(string.format("table '%s' is empty: run 'cleanup', then " ..
            "'%s', or give --check-tables=off", self.empty, self.command), 0)
      end
   end)
   for _, kind in ipairs(self.kinds) do
      local p = self.problems[kind]
      local others = p.others == 0 and "" or p.others == 1 and
         " (one more table is like it)" or
         string.format(" (%d more tables are like it)", p.others)
      warn("%s%s%s%s", self.where, p.text, others, p.meaning)
   end
end

-- where: what messages begin with.
local function look_at_one(con, d, opt, need, ids, where)
   local look = setmetatable({con = con, d = d, opt = opt, where = where,
      command = M.how(opt),
      name = function(n) return schema.name(opt, n) end, ids = ids,
      size_option = opt == sysbench.opt and "--table-size" or
         "--oltp-table-size",
      unindexed = {}, problems = {}, kinds = {}}, Look)
   if need == ROWS then
      look:rows()
   else
      M.require_tables(con, d, opt.tables, look.name, look.command)
   end
end

-- Looks at the tables of a set of options, settled, unless --check-tables=off.
-- need: ROWS or TABLES.
function M.look(opt, need)
   if not sysbench.opt.check_tables then
      return
   end
   local drv = sysbench.sql.driver()
   local d = dialect_more.of(drv)
   if not d.find_table then
      return -- the null driver, or a database that nobody knows
   end
   local per_table = math.floor(IDS / opt.tables)
   local ids = sample(opt.table_size,
      math.max(math.min(per_table, IDS_MAX), IDS_MIN))
   local several = drv.databases and #drv:databases() > 1
   databases.visit(drv, function(con, name)
      local where = several and "database '" .. name .. "': " or ""
      local ok, err = pcall(look_at_one, con, d, opt, need, ids, where)
      if not ok then
         error(type(err) == "string" and where .. err or err, 0)
      end
   end)
end

-- For scripts, in the main state: looks before the users start, after init().
-- settings(): their options, settled; those of 1.x when left out. Scripts of
-- others that load ours are left alone, and so is what does not declare
-- --check-tables: an oltp_common of somebody else.
function M.before_run(settings)
   local need = M.needs()
   if not need then
      return
   end
   function sysbench.hooks.check_tables()
      if sysbench.opt.check_tables then
         M.look(settings and settings() or options.settle(sysbench.opt), need)
      end
   end
end

return M
