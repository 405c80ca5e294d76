#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Definitions: CREATE, DROP and ALTER of schemas and tables, by all users at
-- the same time. With --action=tables, all users together create schemas and
-- tables, and drop them; an event is one statement. With --action=alter, each
-- user changes a table that others use, for example those of OLTP workloads in
-- a mix: it adds and drops a column and an index; an event is one change.

local check = require("sb.check")
local dialect = require("sb.dialect")
local options = require("sb.options")
local tables = require("sb.tables")

local user = sysbench.user

ffi.cdef("int usleep(unsigned int);")

-- Options --------------------------------------------------------------------

local int = sysbench.cmdline.ARG_INT

local function schema_name(_, value)
   if not value:match("^[a-z][a-z0-9_]*$") then
      error("--schema-name must consist of lower case letters, digits and " ..
         "'_', and begin with a letter, not '" .. value .. "'", 0)
   end
   return true
end

sysbench.cmdline.options = options.with_table_options{
   action = {"tables (create and drop schemas and tables) or alter " ..
      "(change existing tables while others use them)", "tables",
      values = {"tables", "alter"}},
   schemas = {"Number of schemas", 4, int, min = 1, max = 100000},
   tables_per_schema = {"Tables per schema", 25, int, min = 1, max = 1000000},
   unique_keys = {"Unique keys of each table in addition to the primary key", 1,
      int, min = 0, max = 30},
   schema_name = {"Prefix of the names of the schemas; their numbers are " ..
      "appended", "ddl", nil, schema_name},
   phases = {"create or drop, or both in this order; by default both, " ..
      "and drop is first if the tables exist", {}},
   rounds = {"Number of rounds, each with all phases; 0: until the end of " ..
      "the run", 1, int, min = 0, max = 1e9},
   tables = {"Tables that --action=alter may change: the first user changes " ..
      "the first one, and so on", 1, int, min = 1, max = 1e6},
   table_name = {"Prefix of the names of the tables for --action=alter",
      "sbtest", nil, options.validate_table_name},
   online = {"With --action=alter, request that others can use the " ..
      "table: LOCK=NONE, CONCURRENTLY", true},
   pause = {"With --action=alter, seconds between two changes of a user", 1,
      sysbench.cmdline.ARG_DOUBLE, min = 0, max = 1e6},
   start_after = {"With --action=alter, seconds from the start of the " ..
      "run to the first change", 0, sysbench.cmdline.ARG_DOUBLE, min = 0,
      max = 1e6},
}

local function check_phases(opt)
   local seen = {}
   for _, phase in ipairs(opt.phases) do
      if phase ~= "create" and phase ~= "drop" or seen[phase] then
         error("--phases must be create, drop, or both once, not '" ..
            table.concat(opt.phases, ",") .. "'", 0)
      end
      seen[phase] = true
   end
   if #opt.phases == 1 and opt.rounds ~= 1 then
      error("--phases=" .. opt.phases[1] .. " can have one round only " ..
         "(--rounds=1)", 0)
   end
end

-- Opens a connection; returns it and its dialect.
local function connect(opt)
   options.require_storage("ddl")
   return tables.connect("ddl", opt)
end

-- Schemas and tables ---------------------------------------------------------

local function all_tables(opt)
   return opt.schemas * opt.tables_per_schema
end

local function schema(opt, s)
   return opt.schema_name .. s
end

-- Returns the name of table t of schema s. In a database without schemas, they
-- are prefixes.
local function table_name(d, opt, s, t)
   return schema(opt, s) .. (d.schemas and ".t" or "_t") .. t
end

-- The statements by kind. They succeed if they were executed already, but the
-- connection was lost before the answer.
local statements = {}

function statements.create_schema(_, opt, s)
   return "CREATE SCHEMA IF NOT EXISTS " .. schema(opt, s)
end

function statements.drop_schema(_, opt, s)
   return "DROP SCHEMA IF EXISTS " .. schema(opt, s)
end

-- A unique key is an index that every database can define with its table.
function statements.create_table(d, opt, s, t)
   local columns, keys = {}, {}
   for i = 1, opt.unique_keys do
      columns[i] = ", k" .. i .. " INTEGER NOT NULL"
      keys[i] = ", UNIQUE (k" .. i .. ")"
   end
   return string.format("CREATE TABLE IF NOT EXISTS %s (id INTEGER NOT " ..
      "NULL%s, c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL, " ..
      "PRIMARY KEY (id)%s) %s", table_name(d, opt, s, t),
      table.concat(columns), table.concat(keys), d.table_options(opt))
end

function statements.drop_table(d, opt, s, t)
   return "DROP TABLE IF EXISTS " .. table_name(d, opt, s, t)
end

-- Returns the steps of a round: a list of {kind =, count = statements}. A step
-- begins when the one before is finished. phases: a list of "create", "drop".
local function round_of(d, opt, phases)
   local steps = {length = 0} -- number of all statements
   local function add(kind, count)
      steps[#steps + 1] = {kind = kind, count = count}
      steps.length = steps.length + count
   end
   for _, phase in ipairs(phases) do
      if phase == "create" and d.schemas then
         add("create_schema", opt.schemas)
      end
      add(phase .. "_table", all_tables(opt))
      if phase == "drop" and d.schemas then
         add("drop_schema", opt.schemas)
      end
   end
   return steps
end

-- Returns the numbers of the schema and of the table of statement i of a step.
-- Neighbours are in different schemas.
local function target(opt, i)
   local s = (i - 1) % opt.schemas + 1
   return s, (i - s) / opt.schemas + 1
end

local function statement(d, opt, step, i)
   return statements[step.kind](d, opt, target(opt, i))
end

-- Returns the numbers of the tables of schema s that exist, as a set.
local function existing_tables(con, d, opt, s)
   local found, name = {}, schema(opt, s)
   local rs = con:query(d.list_tables:format(name))
   for _ = 1, rs.nrows do
      local of_table = rs:fetch_row()[1]
      local t = tonumber(of_table:match("^t(%d+)$"))
      if not t or t > opt.tables_per_schema then
         rs:free()
         error(string.format("ddl: the schema %s contains '%s', which is " ..
            "not one of its %d tables", name, of_table,
            opt.tables_per_schema), 0)
      end
      found[t] = true
   end
   rs:free()
   return found
end

-- Returns how many schemas and tables exist, and the name of the first table
-- that does not.
local function count_existing(con, d, opt)
   local schemas, count, missing = 0, 0, nil
   for s = 1, opt.schemas do
      local found = existing_tables(con, d, opt, s)
      if d.schemas and
         con:query_row(d.find_schema:format(schema(opt, s))) ~= "0"
      then
         schemas = schemas + 1
      end
      for t = 1, opt.tables_per_schema do
         if found[t] then
            count = count + 1
         else
            missing = missing or table_name(d, opt, s, t)
         end
      end
   end
   return schemas, count, missing
end

-- Returns whether all tables exist (true) or nothing exists (false). Everything
-- between these is an error.
local function all_exist(con, d, opt)
   local schemas, count, missing = count_existing(con, d, opt)
   if not missing then
      return true
   elseif count > 0 then
      error(string.format("ddl: only %d of %d tables exist; the first that " ..
         "is missing is %s", count, all_tables(opt), missing), 0)
   elseif schemas > 0 then
      error(string.format("ddl: %d of %d schemas exist, but none of their " ..
         "tables", schemas, opt.schemas), 0)
   end
   return false
end

-- Prepare --------------------------------------------------------------------

local commands = {}

local function refuse_alter(opt, command)
   if opt.action == "alter" then
      error("ddl: --action=alter has no command " .. command .. "; the " ..
         "tables are those of another workload", 0)
   end
end

-- Creates statement i of a step, and adds what drops it to `created`. Tables in
-- schemas are dropped with these.
local function create(con, d, opt, step, i, created)
   con:query(statement(d, opt, step, i))
   local s, t = target(opt, i)
   if step.kind == "create_schema" then
      table.insert(created, {name = schema(opt, s),
         drop = d.drop_schema:format(schema(opt, s))})
   elseif not d.schemas then
      table.insert(created, {name = table_name(d, opt, s, t),
         drop = statements.drop_table(d, opt, s, t)})
   end
end

-- Creates everything, by all users. Returns false if one of them failed, and
-- the error if it was this user and it is the first to fail. Raises an error
-- only if the command is interrupted.
local function create_all(con, d, opt, created)
   local FAILURES, first = "ddl failures", nil -- a counter of all users
   for _, step in ipairs(round_of(d, opt, {"create"})) do
      local function one(i)
         if sysbench.parallel.add(FAILURES, 0) == 0 then
            create(con, d, opt, step, i, created)
            sysbench.parallel.progress(step.kind, 1, step.count)
         end
      end
      local ok, err = pcall(tables.divide_work, step.kind, step.count, one)
      if not ok and sysbench.parallel.add(FAILURES, 1) == 0 then
         first = check.message(con, err)
      end
      sysbench.parallel.barrier()
      if sysbench.parallel.add(FAILURES, 0) > 0 then
         return false, first
      end
   end
   return true
end

-- Drops what this user has created, and prints its names.
local function undo_prepare(con, created)
   if #created == 0 then
      return
   end
   pcall(con.reset, con)
   local all, names = true, {}
   for i, each in ipairs(created) do
      all = pcall(con.query, con, each.drop) and all
      names[i] = each.name
   end
   io.stderr:write("prepare: ", all and "dropped" or "could not drop all of",
      " what it had created: ", table.concat(names, ", "), "\n")
end

function commands.prepare(opt)
   refuse_alter(opt, "prepare")
   local con, d = connect(opt)
   if sysbench.tid == 0 then
      if all_exist(con, d, opt) then
         error("ddl: the tables exist already; use the command cleanup", 0)
      end
      tables.print("Creating %.0f tables in %.0f schemas...",
         all_tables(opt), opt.schemas)
   end
   sysbench.parallel.barrier()
   local created = {}
   local whole, done, err = pcall(create_all, con, d, opt, created)
   if not whole then -- interrupted
      sysbench.parallel.settle()
   end
   if not whole or not done then
      undo_prepare(con, created)
   end
   if not whole then
      error(done, 0)
   end
   sysbench.parallel.barrier() -- so that an error does not interrupt a drop
   if err then
      error(err, 0)
   end
   con:disconnect()
end

-- The tables are empty.
function commands.warmup()
end

-- Tables that others use (--action=alter) ------------------------------------

local COLUMN, INDEXED = "ddl_column", "pad"

local function altered_name(opt, n)
   return opt.table_name .. n
end

local function index_name(opt, n)
   return "ddl_" .. altered_name(opt, n):gsub("%.", "_")
end

-- Returns the statements that change table n, by what they do: add_column,
-- add_index, drop_index, drop_column.
local function changes_of(d, opt, n, online)
   return d.changes(altered_name(opt, n), index_name(opt, n), COLUMN, INDEXED,
      online)
end

-- Returns what changes have made of table n: {column = whether it exists,
-- index = the same, valid = whether the index can be used}. A statement that
-- failed or was canceled may leave an index that cannot be used but is
-- maintained.
local function find_changes(con, d, opt, n)
   local name, index = altered_name(opt, n), index_name(opt, n)
   local function exists(query, what)
      local count = query and con:query_row(query:format(name, what))
      return count ~= nil and tonumber(count) ~= 0
   end
   local valid = exists(d.find_index, index)
   return {column = exists(d.find_column, COLUMN), valid = valid,
      index = valid or exists(d.find_any_index, index)}
end

-- Drops what changes have made of table n. announce: prints a line about it.
local function undo_changes(con, d, opt, n, online, announce)
   local name, found = altered_name(opt, n), find_changes(con, d, opt, n)
   local changes = changes_of(d, opt, n, online)
   local function drop(what, dropped, sql)
      if announce then
         tables.print("Dropping %s '%s' of '%s'...", what, dropped, name)
      end
      con:query(sql)
   end
   if found.index then
      drop("index", index_name(opt, n), changes.drop_index)
   end
   if found.column then
      drop("column", COLUMN, changes.drop_column)
   end
end

-- Raises an error if table n has an index or a column that a run left.
local function require_unchanged(con, d, opt, n)
   local name, found = altered_name(opt, n), find_changes(con, d, opt, n)
   local index = d.index_of and con:query_row(d.index_of:format(name, INDEXED))
   if index then
      error(string.format("%s: there is an index %s on %s, left by a run or " ..
         "not created by this workload; the command cleanup drops %s",
         name, index, INDEXED, index_name(opt, n)), 0)
   elseif found.index then
      error(string.format("%s: there is an invalid index %s, left by a run; " ..
         "the command cleanup drops it", name, index_name(opt, n)), 0)
   elseif found.column then
      error(string.format("%s: there is a column %s, left by a run; " ..
         "the command cleanup drops it", name, COLUMN), 0)
   end
end

-- Shared numbers of a run ----------------------------------------------------

-- Returns the sequence that counts the users.
local function users_sequence()
   return sysbench.sequence("ddl users")
end

-- Returns the sequences that count how often a user began to change table n,
-- and how often one left it as it was.
local function begun_and_left(n)
   return sysbench.sequence("ddl begun " .. n),
      sysbench.sequence("ddl left " .. n)
end

-- Returns the sequence whose last number is how many statements are finished.
local function finished_sequence()
   return sysbench.sequence("ddl finished statements")
end

-- Returns the sequence whose last number is when the last statement of a kind
-- ended, in microseconds.
local function end_sequence(kind, time)
   return sysbench.sequence("ddl end of " .. kind, time)
end

local function drop_is_first(set)
   return sysbench.sequence("ddl drop first", set and 1):last() == 1
end

-- Returns the phases of a round in their order.
local function phases_of(opt)
   if #opt.phases > 0 then
      return opt.phases
   end
   return drop_is_first() and {"drop", "create"} or {"create", "drop"}
end

-- Events ---------------------------------------------------------------------

local opt    -- the settings
local con, d -- the connection and its dialect
local ops = {} -- operations by name

local function execute(name, sql)
   local op = ops[name] or sysbench.op(name)
   ops[name] = op
   local token = op:start()
   con:query(sql)
   op:finish(token)
end

-- Checks what exists, and selects the order of phases.
local function init_tables(con, d, opt)
   local exist = all_exist(con, d, opt)
   if #opt.phases == 0 then
      if exist then
         drop_is_first(true)
      end
   elseif opt.phases[1] == "create" and exist then
      error("ddl: the tables exist already; --phases must begin with drop, " ..
         "or use the command cleanup", 0)
   elseif opt.phases[1] == "drop" and not exist then
      error("ddl: there are no tables to drop; use the command prepare", 0)
   end
end

local function init_alter(con, d, opt)
   if opt.check_tables then
      check.require_tables(con, d, opt.tables,
         function(n) return altered_name(opt, n) end,
         "oltp_read_write --tables=" .. opt.tables)
   end
   for n = 1, opt.tables do
      require_unchanged(con, d, opt, n)
   end
end

function init()
   local opt = sysbench.opt
   options.refuse_ranks("ddl")
   check_phases(opt)
   local con, d = connect(opt)
   if opt.action == "alter" then
      init_alter(con, d, opt)
   else
      init_tables(con, d, opt)
   end
   con:disconnect()
end

-- Create and drop (--action=tables) ------------------------------------------

-- Seconds after which a user looks again whether a step is finished.
local LOOK_EVERY = 0.001

local round, taken, finished -- the steps, and sequences of the statements
local number -- of the statement of this user; kept if the event is restarted

-- Returns the step to which statement n of a round belongs, and how many
-- statements of the round are before that step.
local function locate(n)
   local before = 0
   for _, step in ipairs(round) do
      if n <= before + step.count then
         return step, before
      end
      before = before + step.count
   end
end

-- Waits until the first n statements are finished. No later one is, because
-- other users wait, too. Returns false if the run ends before.
local function wait_for(n)
   while finished:last() < n do
      if not user.wait(LOOK_EVERY) then
         return false
      end
   end
   return true
end

local function tables_event()
   number = number or taken:next()
   local rounds = math.floor((number - 1) / round.length)
   if opt.rounds > 0 and rounds >= opt.rounds then
      return true
   end
   local step, before = locate(number - rounds * round.length)
   local first = rounds * round.length + before
   if not wait_for(first) then
      return true
   end
   execute(step.kind, statement(d, opt, step, number - first))
   finished:next()
   end_sequence(step.kind, math.ceil(user.run_time() * 1e6))
   number = nil
end

function sysbench.hooks.ends_by_itself()
   return sysbench.opt.action == "tables" and sysbench.opt.rounds > 0
end

-- Change (--action=alter) ----------------------------------------------------

local ORDER = {"add_column", "add_index", "drop_index", "drop_column"}

local altered, changes, altering -- the table's number, its statements, a metric
local made = 0 -- number of changes in this cycle
local begun = false -- whether this user has changed the table
-- Whether the last change failed; the server may have made it nevertheless, for
-- example if only its answer was lost.
local unsure = false

local function begin_alter()
   local n = users_sequence():next()
   if n > opt.tables and opt.stages == "" then
      error(("ddl: each user changes a table of its own, so %d or more " ..
         "users need as many tables (--tables)"):format(n), 0)
   end
   altered = (n - 1) % opt.tables + 1
   changes = changes_of(d, opt, altered, opt.online)
   altering = sysbench.metric("altering",
      {kind = "gauge", help = "changes of tables that are in progress"})
   altering:set(0)
   if opt.start_after > 0 then
      user.think(opt.start_after)
   end
end

-- Returns whether the server has made a change that failed. Drops an index that
-- it could not complete, so that the change can be repeated.
local function was_made(name)
   local found = find_changes(con, d, opt, altered)
   if name == "add_index" and found.index and not found.valid then
      con:query(changes.drop_index)
      return false
   end
   local adds, what = name:match("^(%a+)_(%a+)$")
   return found[what] == (adds == "add")
end

local function change(name)
   altering:set(1)
   local ok, err = pcall(execute, name, changes[name])
   altering:set(0)
   if not ok then
      error(err, 0)
   end
end

local function alter_event()
   local name = ORDER[made + 1]
   if not begun then
      begun_and_left(altered):next()
      begun = true
   end
   if not (unsure and was_made(name)) then
      unsure = true
      change(name)
   end
   unsure = false
   made = (made + 1) % #ORDER
   user.think(opt.pause)
end

-- Leaves the table as it was. Users that are canceled at the end of the run do
-- not execute this: see done().
local function end_alter()
   if begun and pcall(undo_changes, con, d, opt, altered, opt.online) then
      select(2, begun_and_left(altered)):next()
   end
end

-- Users ----------------------------------------------------------------------

function thread_init()
   opt = sysbench.opt
   local drv = sysbench.sql.driver()
   con, d = drv:connect(), dialect.of(drv)
   if opt.action == "alter" then
      begin_alter()
   else
      taken = sysbench.sequence("ddl statements")
      finished = finished_sequence()
      round = round_of(d, opt, phases_of(opt))
   end
end

function event()
   if opt.action == "alter" then
      return alter_event()
   end
   return tables_event()
end

function thread_done()
   if opt.action == "alter" then
      end_alter()
   end
   con:disconnect()
end

-- How long done() waits for changes that it has canceled, and how often it
-- looks, in seconds.
local STOP_WAIT, STOP_EVERY = 60, 0.1

-- Cancels changes of table n that the server continues without their client,
-- and waits until they have ended.
local function stop_changes(con, d, opt, n)
   local list = {}
   for _, sql in pairs(changes_of(d, opt, n, opt.online)) do
      list[#list + 1] = sql
   end
   local waited = 0
   while d.stop_statements and d.stop_statements(con, list) > 0 do
      if waited >= STOP_WAIT then
         error(string.format("ddl: the server continues to change '%s' " ..
            "after it was asked to stop: use the commands check and cleanup " ..
            "when it has ended", altered_name(opt, n)), 0)
      end
      ffi.C.usleep(STOP_EVERY * 1e6)
      waited = waited + STOP_EVERY
   end
end

-- Leaves the tables as they were if users were canceled in the middle of
-- their changes.
function done()
   local opt, con, d = sysbench.opt, nil, nil
   local last = opt.action == "alter" and users_sequence():last() or 0
   for n = 1, math.min(last, opt.tables) do
      local begins, leaves = begun_and_left(n)
      if begins:last() > leaves:last() then
         if not con then
            con, d = connect(opt)
         end
         stop_changes(con, d, opt, n)
         undo_changes(con, d, opt, n, false, true)
      end
   end
   if con then
      con:disconnect()
   end
end

-- Check and cleanup ----------------------------------------------------------

-- Inserts a row, reads it and removes it: the table can be used.
local function try_table(con, d, opt, name)
   local columns, values = {}, {}
   for i = 1, opt.unique_keys do
      columns[i], values[i] = "k" .. i .. ", ", "1, "
   end
   con:query(d.begin_write)
   con:query(string.format("INSERT INTO %s (id, %sc, pad) VALUES " ..
      "(1, %s'c', 'p')", name, table.concat(columns), table.concat(values)))
   local rows = con:query_row("SELECT COUNT(*) FROM " .. name)
   con:query("ROLLBACK")
   if rows ~= "1" then
      error(string.format("%s: the table must be empty, but has %d rows", name,
         tonumber(rows) - 1), 0)
   end
end

local function check_tables(con, d, opt)
   if not all_exist(con, d, opt) then
      tables.print("ddl: no table exists")
      return
   end
   for s = 1, opt.schemas do
      for t = 1, opt.tables_per_schema do
         try_table(con, d, opt, table_name(d, opt, s, t))
      end
   end
   tables.print("ddl: all %.0f tables exist and can be used", all_tables(opt))
end

function commands.check(opt)
   local con, d = connect(opt)
   if sysbench.tid == 0 then
      if opt.action == "alter" then
         for n = 1, opt.tables do
            require_unchanged(con, d, opt, n)
         end
         tables.print("ddl: all tables (%d) are as they were", opt.tables)
      else
         check_tables(con, d, opt)
      end
   end
   con:disconnect()
end

function commands.cleanup(opt)
   local con, d = connect(opt)
   if opt.action == "alter" then
      for n = 1, opt.tables do
         undo_changes(con, d, opt, n, false, true)
      end
   else
      -- Raises an error if a schema contains something else, which DROP SCHEMA
      -- would drop in some databases.
      local _, count = count_existing(con, d, opt)
      tables.print("Dropping %.0f tables...", count)
      for _, step in ipairs(round_of(d, opt, {"drop"})) do
         for i = 1, step.count do
            con:query(statement(d, opt, step, i))
         end
      end
   end
   con:disconnect()
end

tables.declare_commands(commands, function(opt)
   options.refuse_ranks("ddl")
   check_phases(opt)
end)

-- Reports --------------------------------------------------------------------

-- Returns the sentence about one complete round: "100 tables created in 0.1 s
-- (1000 per second), ...".
local function phases_text(opt)
   local parts, from, count = {}, 0, all_tables(opt)
   for _, phase in ipairs(phases_of(opt)) do
      local to = end_sequence(phase .. "_table"):last() / 1e6
      if to > from then
         parts[#parts + 1] = string.format("%.0f tables %s in %.3f s (%.0f " ..
            "per second)", count, phase == "create" and "created" or "dropped",
            to - from, count / (to - from))
      end
      from = to
   end
   return table.concat(parts, ", ")
end

function sysbench.hooks.report_line(_, final)
   local opt, d = sysbench.opt, dialect.of(sysbench.sql.driver())
   if opt.action ~= "tables" then
      return nil
   end
   local length = round_of(d, opt, phases_of(opt)).length
   local count = finished_sequence():last()
   local rounds = math.floor(count / length)
   if not final then
      return string.format("ddl: round %.0f, %.0f of %.0f statements",
         rounds + 1, count % length, length)
   end
   local text = opt.rounds == 1 and count == length and phases_text(opt) or ""
   return "ddl: " .. (text ~= "" and text or string.format("%.0f " ..
      "statements; %.0f rounds of %.0f statements are complete", count, rounds,
      length))
end
