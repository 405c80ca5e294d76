#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Each transaction inserts a row with the highest id so far and adds its k to
-- three roll-ups of the table: sums over 10, 100 and 1,000 ids.

local dialect = require("sb.dialect")
local check = require("sb.check")
local old_names = require("sb.old_names")
local options = require("sb.options")
local sbtest = require("sb.sbtest")
local tables = require("sb.tables")

local rand = sysbench.rand

local K_MAX = 10000
local HID_MAX = 10000 -- of hid and mid
local levels = {10, 100, 1000}

-- Columns of the primary key, in this order, by --key-order.
local keys = {
   sequential = "id",
   ["hid-mid-id"] = "hid, mid, id",
   ["id-hid-mid"] = "id, hid, mid",
}

-- Options --------------------------------------------------------------------

local int = sysbench.cmdline.ARG_INT

sysbench.cmdline.options = old_names.add(options.with_table_options{
   table_size = {"Rows per table", 10000, int, min = 0, max = 1e12},
   tables = {"Number of tables, at least 1", 1, int, min = 1, max = 1e6},
   key_order = {"Order of the primary keys: sequential (id), hid-mid-id or " ..
      "id-hid-mid", "sequential",
      values = {"sequential", "hid-mid-id", "id-hid-mid"}},
   skip_trx = {"Do not send BEGIN and COMMIT: each query is its own " ..
      "transaction (but see pipeline)", false},
   pipeline = {"Send the statements of an event together, as far as the " ..
      "client library supports it; without BEGIN, PostgreSQL executes them " ..
      "as one transaction", false},
   create_secondary = {"Create a secondary index on k", true},
   auto_inc = {"Ignored: the client assigns the ids, because it needs them " ..
      "for the roll-ups", true},
   ["rand-type"] = {"Distribution of k", "pareto"},
})

local function settings()
   return sbtest.settings(old_names.rename(sysbench.opt))
end

-- Tables ---------------------------------------------------------------------

-- Returns whether rows have the columns hid and mid.
local function has_hid(opt)
   return opt.key_order ~= "sequential"
end

-- Returns the name of the roll-up of table n over `level` ids.
local function rollup(opt, n, level)
   return string.format("%s_r%d", sbtest.name(opt, n), level)
end

-- Returns the shared sequence of table n's ids.
local function ids(opt, n, after)
   return sysbench.sequence("insert_roll " .. sbtest.name(opt, n), after)
end

-- Returns the names of table n and its roll-ups.
local function names(opt, n)
   local list = {sbtest.name(opt, n)}
   for _, level in ipairs(levels) do
      list[#list + 1] = rollup(opt, n, level)
   end
   return list
end

local function drop(con, opt, n)
   for _, name in ipairs(names(opt, n)) do
      con:query("DROP TABLE IF EXISTS " .. name)
   end
end

local sets = {} -- a table and its roll-ups, for sb/tables.lua

function sets.name(opt, n)
   return sbtest.name(opt, n)
end

function sets.loader(con, opt, n)
   return con:load(sbtest.name(opt, n), has_hid(opt) and
      "id,hid,mid,k,c,pad" or "id,k,c,pad")
end

-- Returns a CREATE TABLE statement. more: columns after id and k. late: omit
-- the primary key.
local function definition(d, opt, name, more, late)
   local hid = has_hid(opt)
      and "hid INTEGER NOT NULL, mid INTEGER NOT NULL, " or ""
   local key = late and "" or ", PRIMARY KEY (" .. keys[opt.key_order] .. ")"
   return string.format("CREATE TABLE %s(id %s, %sk INTEGER NOT NULL%s%s) %s",
      name, d.big_id, hid, more, key, d.table_options(opt))
end

local function create_all(con, d, opt, n)
   local base = sbtest.name(opt, n)
   tables.print("Creating table '%s' and its roll-ups...", base)
   for _, name in ipairs(names(opt, n)) do
      local more = name == base and ", " .. sbtest.texts(con, d) or ""
      con:query(definition(d, opt, name, more, d.key_after_rows))
      if d.check_table then
         d.check_table(con, opt, name)
      end
   end
end

function sets.create(con, d, opt, n)
   for _, name in ipairs(names(opt, n)) do
      tables.refuse_existing(con, d, name)
   end
   local ok, err = pcall(create_all, con, d, opt, n)
   if not ok then
      sets.discard(con, opt, n)
      error(err, 0)
   end
end

function sets.fill(loader, opt, n, first, last)
   local hid = has_hid(opt)
   for id = first, last do
      rand.row(n, id)
      loader:int(id)
      if hid then
         loader:int(rand.uniform(0, HID_MAX))
         loader:int(rand.uniform(0, HID_MAX))
      end
      loader:int(rand.default(0, K_MAX))
      loader:random_text(sbtest.c_format)
      loader:random_text(sbtest.pad_format)
   end
   rand.resume()
end

-- Returns the expression for the id in a roll-up. The division has no
-- remainder, so it is the same in all dialects.
local function rolled(level)
   local remainder = dialect.of(sysbench.sql.driver()).remainder
   return string.format("(id - " .. remainder .. ") / %d", "id", level, level)
end

local function fill_rollup(con, opt, n, level)
   local others = has_hid(opt) and ", hid, mid" or ""
   con:query(string.format("INSERT INTO %s (id%s, k) SELECT %s AS r%s, " ..
      "SUM(k) FROM %s GROUP BY r%s ORDER BY r%s",
      rollup(opt, n, level), others, rolled(level), others,
      sbtest.name(opt, n), others, others))
end

function sets.finish(con, d, opt, n)
   local name = sbtest.name(opt, n)
   if opt.table_size > 0 then
      tables.print("Rolling up '%s'...", name)
      for _, level in ipairs(levels) do
         con:query("DELETE FROM " .. rollup(opt, n, level))
         fill_rollup(con, opt, n, level)
      end
   end
   if d.key_after_rows then
      for _, each in ipairs(names(opt, n)) do
         con:query(string.format("ALTER TABLE %s ADD PRIMARY KEY (%s)", each,
            keys[opt.key_order]))
      end
   end
   if opt.create_secondary then
      tables.print("Creating a secondary index on '%s'...", name)
      con:query(string.format("CREATE INDEX k_%d ON %s(k)", n, name))
   end
end

function sets.discard(con, opt, n)
   pcall(con.reset, con)
   return (pcall(drop, con, opt, n))
end

tables.describe(sets)

local function check_engine(con, d, opt)
   if d.check_engine then
      d.check_engine(con, opt)
   end
end

local commands = {}

function commands.prepare(opt)
   tables.command_on_each_database(function(con, d, _, name)
      check_engine(con, d, opt)
      return tables.prepare(con, d, opt, sets, name)
   end)
end

function commands.warmup(opt)
   tables.command_on_each_database(function(con, d)
      tables.divide_work("warmup", opt.tables, function(n)
         sbtest.warm(con, d, opt, n)
         for _, level in ipairs(levels) do
            con:query("SELECT SUM(k) FROM " .. rollup(opt, n, level))
         end
      end)
   end)
end

function commands.cleanup(opt)
   tables.command_on_each_database(function(con)
      for n = 1, opt.tables do
         tables.print("Dropping table '%s' and its roll-ups...",
            sbtest.name(opt, n))
         drop(con, opt, n)
      end
   end)
end

-- Users ----------------------------------------------------------------------

-- The user: opt (its settings), con, d (the dialect), stmts (all statements, to
-- close them), begin and commit (nil with --skip-trx).
local user = {stmts = {}}

local function prepare(sql, op)
   local stmt = user.con:prepare(sql, op)
   user.stmts[#user.stmts + 1] = stmt
   return stmt
end

-- Returns the columns of the key and `more`, and their placeholders: "id, k"
-- and "?, ?".
local function columns(more)
   local list = keys[user.opt.key_order] .. more
   return list, (list:gsub("%w+", "?"))
end

-- Binds the columns of the key and the parameters given. id: the parameter for
-- the id.
local function bind(stmt, t, id, ...)
   local by_name = {id = id, hid = t.hid, mid = t.mid}
   local params = {}
   for column in keys[user.opt.key_order]:gmatch("%w+") do
      params[#params + 1] = by_name[column]
   end
   for _, p in ipairs{...} do
      params[#params + 1] = p
   end
   stmt:bind_param(unpack(params))
end

local function prepare_insert(n, t)
   local types = sysbench.sql.type
   local list, marks = columns(", k, c, pad")
   local stmt = prepare(string.format("INSERT INTO %s (%s) VALUES (%s)",
      sbtest.name(user.opt, n), list, marks), "inserts")
   t.insert, t.id = stmt, stmt:bind_create(types.BIGINT)
   if has_hid(user.opt) then
      t.hid, t.mid = stmt:bind_create(types.INT), stmt:bind_create(types.INT)
   end
   t.k = stmt:bind_create(types.INT)
   t.c = stmt:bind_create(types.CHAR, 120)
   t.pad = stmt:bind_create(types.CHAR, 60)
   bind(stmt, t, t.id, t.k, t.c, t.pad)
end

-- The statement shares the parameters of the row, except the id.
local function prepare_rollup(n, t, level)
   local name = rollup(user.opt, n, level)
   local list, marks = columns(", k")
   local stmt = prepare(string.format("INSERT INTO %s (%s) VALUES (%s) %s",
      name, list, marks,
      user.d.or_add(name, keys[user.opt.key_order], "k")),
      "roll_ups_r" .. level)
   local id = stmt:bind_create(sysbench.sql.type.BIGINT)
   t["r" .. level], t["id" .. level] = stmt, id
   bind(stmt, t, id, t.k)
end

-- By table: its statements (insert, r10, r100, r1000), prepared at first use;
-- their parameters (id, id10, id100, id1000, k, c, pad and, if the columns
-- exist, hid and mid); and ids, the sequence of the table.
local statements = setmetatable({}, {__index = function(list, n)
   local t = {ids = ids(user.opt, n)}
   prepare_insert(n, t)
   for _, level in ipairs(levels) do
      prepare_rollup(n, t, level)
   end
   list[n] = t
   return t
end})

function thread_init()
   local drv = sysbench.sql.driver()
   local d = dialect.of(drv)
   user.opt = settings()
   user.con, user.d = drv:connect(), d
   if not user.opt.skip_trx then
      user.begin = prepare(d.begin_write, "begin")
      user.commit = prepare(d.commit, "commit")
   end
end

function thread_done()
   for _, stmt in ipairs(user.stmts) do
      stmt:close()
   end
   user.con:disconnect()
end

-- Sets the parameters that the row and its roll-ups share.
local function set_common(t)
   t.k:set(rand.default(0, K_MAX))
   if t.hid then
      t.hid:set(rand.uniform(0, HID_MAX))
      t.mid:set(rand.uniform(0, HID_MAX))
   end
end

local function transaction()
   local t = statements[rand.uniform(1, user.opt.tables)]
   if user.begin then
      user.begin:execute()
   end
   local id = t.ids:next()
   set_common(t)
   t.id:set(id)
   t.c:set_rand_str(sbtest.c_format)
   t.pad:set_rand_str(sbtest.pad_format)
   t.insert:execute()
   t.id10:set(math.floor(id / 10))
   t.r10:execute()
   t.id100:set(math.floor(id / 100))
   t.r100:execute()
   t.id1000:set(math.floor(id / 1000))
   t.r1000:execute()
   if user.commit then
      user.commit:execute()
   end
end

function event()
   if not user.opt.pipeline then
      transaction()
      return
   end
   user.con:pipeline_begin()
   transaction()
   user.con:pipeline_run()
end

-- Check ----------------------------------------------------------------------

-- Returns how many sums of a roll-up differ from those of its base table, and
-- the total difference.
local function differences(con, opt, n, level)
   local others = has_hid(opt) and ", hid, mid" or ""
   local wrong, by = con:query_row(string.format(
      "SELECT COUNT(*), SUM(k) FROM (SELECT r%s, SUM(k) AS k FROM (" ..
      "SELECT %s AS r%s, k FROM %s UNION ALL SELECT id%s, -k FROM %s) AS u " ..
      "GROUP BY r%s HAVING SUM(k) <> 0) AS w",
      others, rolled(level), others, sbtest.name(opt, n), others,
      rollup(opt, n, level), others))
   return tonumber(wrong), tonumber(by)
end

-- Checks table n in one snapshot: the server may still execute the last
-- statements of clients that were killed.
local function check_set(con, d, opt, n)
   local name = sbtest.name(opt, n)
   con:query(d.begin_snapshot)
   for _, level in ipairs(levels) do
      local wrong, by = differences(con, opt, n, level)
      if wrong > 0 then
         error(string.format("%s does not match %s: %.0f of its sums %s " ..
            "wrong, by a total of %.0f", rollup(opt, n, level), name,
            wrong, wrong == 1 and "is" or "are", 0 - by), 0)
      end
   end
   local rows = con:query_row("SELECT COUNT(*) FROM " .. name)
   con:query("COMMIT")
   tables.print("%s: %s rows, all roll-ups agree with it", name, rows)
end

function commands.check(opt)
   tables.command_on_each_database(function(con, d)
      tables.divide_work("check", opt.tables, function(n)
         check_set(con, d, opt, n)
      end)
   end)
end

tables.declare_commands(commands, settings)

local function require_tables(con, d, opt)
   local list = {}
   for n = 1, opt.tables do
      for _, name in ipairs(names(opt, n)) do
         list[#list + 1] = name
      end
   end
   check.require_tables(con, d, #list, function(i) return list[i] end)
end

-- New ids continue after the highest existing id of each table in all
-- databases.
function init()
   local opt, drv = settings(), sysbench.sql.driver()
   local d = dialect.of(drv)
   tables.connect_to_each_database(drv, function(con)
      check_engine(con, d, opt)
      if opt.check_tables then
         require_tables(con, d, opt)
      end
      for n = 1, opt.tables do
         local last = con:query_row("SELECT MAX(id) FROM " ..
            sbtest.name(opt, n))
         ids(opt, n, tonumber(last))
      end
   end)
end
