#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Each transaction inserts a row with the highest id so far and adds its k to
-- three roll-ups of the table: sums over 10, 100 and 1,000 ids.

local schema = require("sb.schema")
local dialect = require("sb.dialect")
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

-- Returns whether rows have the columns hid and mid.
local function has_hid(opt)
   return opt.key_order ~= "sequential"
end

-- Returns the name of the roll-up of table n over `level` ids.
local function rollup(opt, n, level)
   return string.format("%s_r%d", schema.name(opt, n), level)
end

-- Returns the shared sequence of table n's ids.
local function ids(opt, n, after)
   return sysbench.sequence("insert_roll " .. schema.name(opt, n), after)
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
   local names = keys[user.opt.key_order] .. more
   return names, (names:gsub("%w+", "?"))
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
   local kind = sysbench.sql.type
   local list, marks = columns(", k, c, pad")
   local stmt = prepare(string.format("INSERT INTO %s (%s) VALUES (%s)",
      schema.name(user.opt, n), list, marks), "inserts")
   t.insert, t.id = stmt, stmt:bind_create(kind.BIGINT)
   if has_hid(user.opt) then
      t.hid, t.mid = stmt:bind_create(kind.INT), stmt:bind_create(kind.INT)
   end
   t.k = stmt:bind_create(kind.INT)
   t.c = stmt:bind_create(kind.CHAR, 120)
   t.pad = stmt:bind_create(kind.CHAR, 60)
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
   user.opt = require("sb.old_names").rename(sysbench.opt)
   user.con, user.d = drv:connect(), d
   if not user.opt.skip_trx then
      user.begin = prepare(d.begin_write, "begin")
      user.commit = prepare(d.commit, "commit")
   end
   if user.opt.pipeline then
      require("sb.pipelined").wrap(user.con)
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

function event()
   local t = statements[rand.uniform(1, user.opt.tables)]
   if user.begin then
      user.begin:execute()
   end
   local id = t.ids:next()
   set_common(t)
   t.id:set(id)
   t.c:set_rand_str(schema.c_format)
   t.pad:set_rand_str(schema.pad_format)
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

if sysbench.cmdline.run_state then
   return -- the rest is for the main state and the commands
end

local bounds = require("sb.bounds")
local build = require("sb.build")
local check_tables = require("sb.check_tables")
local databases = require("sb.databases")
local parallel = require("sb.prepare")
local print_line = build.print_line

-- Options --------------------------------------------------------------------

local function declare()
   local declarations = require("sb.declarations")
   local oltp = declarations.oltp()
   local cmdline = sysbench.cmdline
   oltp.table_size[4], oltp.tables[4] = nil, nil -- normalize() checks them
   return declarations.add_old_names{
      table_size = oltp.table_size,
      tables = oltp.tables,
      key_order = {"Order of the primary keys: sequential (id), hid-mid-id " ..
         "or id-hid-mid", "sequential", cmdline.ARG_STRING},
      skip_trx = oltp.skip_trx,
      pipeline = oltp.pipeline,
      create_secondary = oltp.create_secondary,
      create_table_options = oltp.create_table_options,
      mysql_storage_engine = oltp.mysql_storage_engine,
      pgsql_variant = oltp.pgsql_variant,
      check_tables = oltp.check_tables,
      auto_inc = {"Ignored: the client assigns the ids, because it needs " ..
         "them for the roll-ups", true, cmdline.ARG_BOOL},
      ["rand-type"] = {"Distribution of k", "pareto"},
   }
end

if sysbench.cmdline.main_state then
   sysbench.cmdline.options = declare()
end

local function normalize(opt)
   require("sb.old_names").rename(opt)
   bounds.check(opt, {tables = {1, 1e6}, table_size = {0, 1e12}})
   bounds.one_of(opt, "key_order", {"sequential", "hid-mid-id", "id-hid-mid"})
   return opt
end

-- Tables ---------------------------------------------------------------------

-- Counter of sysbench.parallel.ticket() for commands that are not prepare.
local TABLE_KEY = 0

-- Calls f(con, d, name) for each database of the run.
local function each_database(f)
   databases.each(function(con, _, drv, name)
      return f(con, dialect.of(drv), name)
   end)
end

-- Returns the names of table n and its roll-ups.
local function names(opt, n)
   local list = {schema.name(opt, n)}
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

-- The functions that sb/prepare.lua calls; the others are those of
-- sb/build.lua.
local tables = setmetatable({}, {__index = build})

function tables.loader(con, opt, n)
   return con:load(schema.name(opt, n), has_hid(opt) and
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
   local base = schema.name(opt, n)
   print_line("Creating table '%s' and its roll-ups...", base)
   for _, name in ipairs(names(opt, n)) do
      local more = name == base and ", " .. build.texts(con, d) or ""
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
   local hid = has_hid(opt)
   for id = first, last do
      rand.row(n, id)
      loader:int(id)
      if hid then
         loader:int(rand.uniform(0, HID_MAX))
         loader:int(rand.uniform(0, HID_MAX))
      end
      loader:int(rand.default(0, K_MAX))
      loader:random_text(schema.c_format)
      loader:random_text(schema.pad_format)
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
      schema.name(opt, n), others, others))
end

function tables.finish(con, d, opt, n)
   local name = schema.name(opt, n)
   if opt.table_size > 0 then
      print_line("Rolling up '%s'...", name)
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
   local others = has_hid(opt) and ", hid, mid" or ""
   local wrong, by = con:query_row(string.format(
      "SELECT COUNT(*), SUM(k) FROM (SELECT r%s, SUM(k) AS k FROM (" ..
      "SELECT %s AS r%s, k FROM %s UNION ALL SELECT id%s, -k FROM %s) AS u " ..
      "GROUP BY r%s HAVING SUM(k) <> 0) AS w",
      others, rolled(level), others, schema.name(opt, n), others,
      rollup(opt, n, level), others))
   return tonumber(wrong), tonumber(by)
end

-- Checks table n in one snapshot: the server may still execute the last
-- statements of clients that were killed.
local function check(con, d, opt, n)
   local name = schema.name(opt, n)
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
   print_line("%s: %s rows, all roll-ups agree with it", name, rows)
end

-- Commands -------------------------------------------------------------------

local commands = {}

function commands.prepare(opt)
   each_database(function(con, d, name)
      if d.check_engine then
         d.check_engine(con, opt)
      end
      return parallel.prepare(con, d, opt, nil, nil, tables, name)
   end)
end

function commands.warmup(opt)
   each_database(function(con, d)
      parallel.share(TABLE_KEY, opt.tables, function(n)
         build.warm(con, d, opt, n)
         for _, level in ipairs(levels) do
            con:query("SELECT SUM(k) FROM " .. rollup(opt, n, level))
         end
      end)
   end)
end

commands.prewarm = commands.warmup

function commands.check(opt)
   each_database(function(con, d)
      parallel.share(TABLE_KEY, opt.tables, function(n)
         check(con, d, opt, n)
      end)
   end)
end

function commands.cleanup(opt)
   each_database(function(con)
      for n = 1, opt.tables do
         print_line("Dropping table '%s' and its roll-ups...",
            schema.name(opt, n))
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
   check_tables.require_tables(con, d, #list, function(i) return list[i] end)
end

require("sb.own_commands").declare(commands, normalize)

-- New ids continue after the highest existing id of each table in all
-- databases.
function init()
   local opt = normalize(sysbench.opt)
   local drv = sysbench.sql.driver()
   local d = dialect.of(drv)
   databases.visit(drv, function(con)
      if d.check_engine then
         d.check_engine(con, opt)
      end
      if opt.check_tables then
         require_tables(con, d, opt)
      end
      for n = 1, opt.tables do
         local last = con:query_row("SELECT MAX(id) FROM " ..
            schema.name(opt, n))
         ids(opt, n, tonumber(last))
      end
   end)
end
