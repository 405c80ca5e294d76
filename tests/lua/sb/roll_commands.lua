-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- insert_roll: creates, fills, checks and drops its tables. The users of a run
-- never load this.

local build = require("sb.build")
local dialect = require("sb.dialect_more")
local parallel = require("sb.prepare")
local roll = require("sb.roll")

local print_line = build.print_line

-- Counters of sysbench.parallel.ticket() for commands that are not prepare.
local TABLE_KEY = 0

-- Calls f(con, d, name) for each database of the run.
local function each_database(f)
   require("sb.databases").each(function(con, _, drv, name)
      return f(con, dialect.of(drv), name)
   end)
end

-- Returns the names of table n and its roll-ups.
local function names(opt, n)
   local list = {roll.name(opt, n)}
   for _, level in ipairs(roll.levels) do
      list[#list + 1] = roll.rollup(opt, n, level)
   end
   return list
end

local function drop(con, opt, n)
   for _, name in ipairs(names(opt, n)) do
      con:query("DROP TABLE IF EXISTS " .. name)
   end
end

-- The functions that sb/prepare.lua calls; the others are those of
-- sb/build.lua.
local tables = setmetatable({}, {__index = build})

function tables.loader(con, opt, n)
   return con:load(roll.name(opt, n), roll.has_hid(opt) and
      "id,hid,mid,k,c,pad" or "id,k,c,pad")
end

-- Returns a CREATE TABLE statement. more: columns after id and k. late: omit
-- the primary key.
local function definition(d, opt, name, more, late)
   local hid = roll.has_hid(opt)
      and "hid INTEGER NOT NULL, mid INTEGER NOT NULL, " or ""
   local key = late and "" or ", PRIMARY KEY (" .. roll.key(opt) .. ")"
   return string.format("CREATE TABLE %s(id %s, %sk INTEGER NOT NULL%s%s) %s",
      name, d.big_id, hid, more, key, d.table_options(opt))
end

local function create_all(con, d, opt, n)
   local base = roll.name(opt, n)
   print_line("Creating table '%s' and its roll-ups...", base)
   for _, name in ipairs(names(opt, n)) do
      local more = name == base and ", c CHAR(120) DEFAULT '' NOT NULL, " ..
         "pad CHAR(60) DEFAULT '' NOT NULL" or ""
      con:query(definition(d, opt, name, more, d.key_after_rows))
      if d.check_table then
         d.check_table(con, opt, name)
      end
   end
end

function tables.create(con, d, opt, n)
   for _, name in ipairs(names(opt, n)) do
      build.refuse_existing(con, d, name)
   end
   local ok, err = pcall(create_all, con, d, opt, n)
   if not ok then
      tables.discard(con, opt, n)
      error(err, 0)
   end
end

function tables.fill(loader, opt, n, first, last)
   local rand = sysbench.rand
   local hid = roll.has_hid(opt)
   for id = first, last do
      rand.row(n, id)
      loader:int(id)
      if hid then
         loader:int(rand.uniform(0, roll.HID_MAX))
         loader:int(rand.uniform(0, roll.HID_MAX))
      end
      loader:int(rand.default(0, roll.K_MAX))
      loader:random_text(roll.c_format)
      loader:random_text(roll.pad_format)
   end
   rand.resume()
end

-- Returns the expression for the id in a roll-up. The division has no
-- remainder, so it is the same in all dialects.
local function rolled(level)
   return string.format("(id - id %% %d) / %d", level, level)
end

local function fill_rollup(con, opt, n, level)
   local others = roll.has_hid(opt) and ", hid, mid" or ""
   con:query(string.format("INSERT INTO %s (id%s, k) SELECT %s AS r%s, " ..
      "SUM(k) FROM %s GROUP BY r%s ORDER BY r%s",
      roll.rollup(opt, n, level), others, rolled(level), others,
      roll.name(opt, n), others, others))
end

function tables.finish(con, d, opt, n)
   local name = roll.name(opt, n)
   if opt.table_size > 0 then
      print_line("Rolling up '%s'...", name)
      for _, level in ipairs(roll.levels) do
         con:query("DELETE FROM " .. roll.rollup(opt, n, level))
         fill_rollup(con, opt, n, level)
      end
   end
   if d.key_after_rows then
      for _, each in ipairs(names(opt, n)) do
         con:query(string.format("ALTER TABLE %s ADD PRIMARY KEY (%s)", each,
            roll.key(opt)))
      end
   end
   if opt.create_secondary then
      print_line("Creating a secondary index on '%s'...", name)
      con:query(string.format("CREATE INDEX k_%d ON %s(k)", n, name))
   end
end

function tables.discard(con, opt, n)
   pcall(con.reset, con)
   return (pcall(drop, con, opt, n))
end

-- Returns how many sums of a roll-up differ from those of its base table, and
-- the total difference.
local function differences(con, opt, n, level)
   local others = roll.has_hid(opt) and ", hid, mid" or ""
   local wrong, by = con:query_row(string.format(
      "SELECT COUNT(*), SUM(k) FROM (SELECT r%s, SUM(k) AS k FROM (" ..
      "SELECT %s AS r%s, k FROM %s UNION ALL SELECT id%s, -k FROM %s) AS u " ..
      "GROUP BY r%s HAVING SUM(k) <> 0) AS w",
      others, rolled(level), others, roll.name(opt, n), others,
      roll.rollup(opt, n, level), others))
   return tonumber(wrong), tonumber(by)
end

-- Checks table n in one snapshot: the server may still execute the last
-- statements of clients that were killed.
local function check(con, d, opt, n)
   local name = roll.name(opt, n)
   con:query(d.begin_snapshot)
   for _, level in ipairs(roll.levels) do
      local wrong, by = differences(con, opt, n, level)
      if wrong > 0 then
         error(string.format("%s does not match %s: %.0f of its sums %s " ..
            "wrong, by a total of %.0f", roll.rollup(opt, n, level), name,
            wrong, wrong == 1 and "is" or "are", 0 - by), 0)
      end
   end
   local rows = con:query_row("SELECT COUNT(*) FROM " .. name)
   con:query("COMMIT")
   print_line("%s: %s rows, all roll-ups agree with it", name, rows)
end

local M = {}

function M.prepare(opt)
   each_database(function(con, d, name)
      if d.check_engine then
         d.check_engine(con, opt)
      end
      return parallel.prepare(con, d, opt, nil, nil, tables, name)
   end)
end

function M.warmup(opt)
   each_database(function(con, d)
      parallel.share(TABLE_KEY, opt.tables, function(n)
         build.warm(con, d, opt, n)
         for _, level in ipairs(roll.levels) do
            con:query("SELECT SUM(k) FROM " .. roll.rollup(opt, n, level))
         end
      end)
   end)
end

M.prewarm = M.warmup

function M.check(opt)
   each_database(function(con, d)
      parallel.share(TABLE_KEY, opt.tables, function(n)
         check(con, d, opt, n)
      end)
   end)
end

function M.cleanup(opt)
   each_database(function(con)
      for n = 1, opt.tables do
         print_line("Dropping table '%s' and its roll-ups...",
            roll.name(opt, n))
         drop(con, opt, n)
      end
   end)
end

local function require_tables(con, d, opt)
   local list = {}
   for n = 1, opt.tables do
      for _, name in ipairs(names(opt, n)) do
         list[#list + 1] = name
      end
   end
   local tables_of_run = require("sb.check_tables")
   tables_of_run.require_tables(con, d, #list, function(i) return list[i] end,
      tables_of_run.prepare_command(opt))
end

-- Sets the sequences of new ids to the highest existing id of each table in all
-- databases.
function M.continue_ids(opt)
   local drv = sysbench.sql.driver()
   local d = dialect.of(drv)
   require("sb.databases").visit(drv, function(con)
      if d.check_engine then
         d.check_engine(con, opt)
      end
      if opt.check_tables then
         require_tables(con, d, opt)
      end
      for n = 1, opt.tables do
         local last = con:query_row("SELECT MAX(id) FROM " ..
            roll.name(opt, n))
         roll.ids(opt, n, tonumber(last))
      end
   end)
end

return M
