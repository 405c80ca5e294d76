-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- ddl: its options, the names of its schemas and tables, and its statements.
-- The code of its commands is in sb/ddl_commands.lua.

local M = {}

-- name = {help, default, min, max}
local numbers = {
   schemas = {"Number of schemas", 4, 1, 100000},
   tables_per_schema = {"Tables per schema", 25, 1, 1000000},
   unique_keys = {"Unique keys of each table beside the primary key", 1, 0, 30},
   rounds = {"How often everything is created and dropped; 0: until the end " ..
      "of the run", 1, 0, 1e9},
   tables = {"Tables that --action=alter may change: the first user changes " ..
      "the first one, and so on", 1, 1, 1e6},
}

local function declare()
   local cmdline = sysbench.cmdline
   return require("sb.settings").declare({
      action = {"tables (create and drop schemas and tables) or alter " ..
         "(change existing tables while others use them)", "tables",
         cmdline.ARG_STRING},
      schema_name = {"Prefix of the names of the schemas; their numbers are " ..
         "appended", "ddl", cmdline.ARG_STRING},
      phases = {"create or drop, or both in this order; by default both, " ..
         "and drop is first if the tables exist", {}, cmdline.ARG_LIST},
      table_name = {"Prefix of the names of the tables for --action=alter",
         "sbtest", cmdline.ARG_STRING},
      online = {"With --action=alter, request that others can use the " ..
         "table: LOCK=NONE, CONCURRENTLY", true, cmdline.ARG_BOOL},
      pause = {"With --action=alter, seconds between two changes of a user", 1,
         cmdline.ARG_DOUBLE},
      start_after = {"With --action=alter, seconds from the start of the " ..
         "run to the first change", 0, cmdline.ARG_DOUBLE},
   }, numbers)
end

-- Returns the value for sysbench.cmdline.options; only that of the main state
-- is used.
function M.declarations()
   return sysbench.cmdline.main_state and declare() or {}
end

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

function M.normalize(opt)
   require("sb.settings").check(opt, numbers)
   local bounds = require("sb.bounds")
   bounds.one_of(opt, "action", {"tables", "alter"})
   bounds.check(opt, {pause = {0, 1e6}, start_after = {0, 1e6}})
   if not opt.schema_name:match("^[a-z][a-z0-9_]*$") then
      error("--schema-name must consist of lower case letters, digits and " ..
         "'_', and begin with a letter, not '" .. opt.schema_name .. "'", 0)
   end
   check_phases(opt)
   return opt
end

-- Returns the number of all tables.
function M.all_tables(opt)
   return opt.schemas * opt.tables_per_schema
end

function M.schema(opt, s)
   return opt.schema_name .. s
end

-- Returns the name of table t of schema s. In a database without schemas, they
-- are prefixes.
function M.table(d, opt, s, t)
   return M.schema(opt, s) .. (d.schemas and ".t" or "_t") .. t
end

local statements = {}

function statements.create_schema(_, opt, s)
   return "CREATE SCHEMA IF NOT EXISTS " .. M.schema(opt, s)
end

function statements.drop_schema(_, opt, s)
   return "DROP SCHEMA IF EXISTS " .. M.schema(opt, s)
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
      "PRIMARY KEY (id)%s) %s",
      M.table(d, opt, s, t), table.concat(columns), table.concat(keys),
      d.table_options(opt))
end

function statements.drop_table(d, opt, s, t)
   return "DROP TABLE IF EXISTS " .. M.table(d, opt, s, t)
end

-- Returns the steps of a round: a list of {kind, count}. A step begins when
-- the one before is finished. phases: a list of "create", "drop".
function M.steps(d, opt, phases)
   local steps = {}
   local function add(kind, count)
      steps[#steps + 1] = {kind = kind, count = count}
   end
   for _, phase in ipairs(phases) do
      if phase == "create" and d.schemas then
         add("create_schema", opt.schemas)
      end
      add(phase .. "_table", M.all_tables(opt))
      if phase == "drop" and d.schemas then
         add("drop_schema", opt.schemas)
      end
   end
   return steps
end

-- Returns statement i of a step. Neighbours are in different schemas.
function M.statement(d, opt, step, i)
   local s = (i - 1) % opt.schemas + 1
   return statements[step.kind](d, opt, s, (i - s) / opt.schemas + 1)
end

-- Returns the statement that undoes statement i of a step that creates, and the
-- name of what it drops; nil for a table that is dropped with its schema.
function M.drop_statement(d, opt, step, i)
   local s = (i - 1) % opt.schemas + 1
   if step.kind == "create_schema" then
      return d.drop_schema:format(M.schema(opt, s)), M.schema(opt, s)
   elseif not d.schemas then
      local t = (i - s) / opt.schemas + 1
      return statements.drop_table(d, opt, s, t), M.table(d, opt, s, t)
   end
end

-- The number of statements in all steps.
function M.length(steps)
   local all = 0
   for _, step in ipairs(steps) do
      all = all + step.count
   end
   return all
end

-- What --action=alter changes.
M.COLUMN, M.INDEXED = "ddl_column", "pad"

function M.altered(opt, n)
   return opt.table_name .. n
end

function M.index(opt, n)
   return "ddl_" .. M.altered(opt, n):gsub("%.", "_")
end

-- Returns the statements that change table n, by what they do.
function M.changes(d, opt, n, online)
   return d.changes(M.altered(opt, n), M.index(opt, n), M.COLUMN, M.INDEXED,
      online)
end

local function exists(con, query, ...)
   local count = query and con:query_row(query:format(...))
   return count ~= nil and tonumber(count) ~= 0
end

-- Returns what changes have made of table n: {column = whether it exists,
-- index = the same, valid = whether the index can be used}. A statement that
-- failed or was canceled may leave an index that cannot be used but is
-- maintained.
function M.found(con, d, opt, n)
   local name, index = M.altered(opt, n), M.index(opt, n)
   local valid = exists(con, d.find_index, name, index)
   return {column = exists(con, d.find_column, name, M.COLUMN), valid = valid,
      index = valid or exists(con, d.find_any_index, name, index)}
end

-- Drops what changes have made of table n. announce(what, name): called before
-- each statement.
function M.undo(con, d, opt, n, online, announce)
   local found, changes = M.found(con, d, opt, n), M.changes(d, opt, n, online)
   if found.index then
      announce("index", M.index(opt, n))
      con:query(changes.drop_index)
   end
   if found.column then
      announce("column", M.COLUMN)
      con:query(changes.drop_column)
   end
end

-- Returns the shared sequences that count how often a user began to change
-- table n, and how often one left it as it was.
function M.begun_and_left(n)
   return sysbench.sequence("ddl begun " .. n), sysbench.sequence("ddl left " ..
      n)
end

-- Returns the shared sequence that numbers the users.
function M.users()
   return sysbench.sequence("ddl users")
end

-- Returns the shared sequence of the statements.
function M.taken()
   return sysbench.sequence("ddl statements")
end

-- Returns the shared sequence whose last number is how many statements are
-- finished. taken():finished() may skip a statement that takes long.
function M.finished()
   return sysbench.sequence("ddl finished statements")
end

-- Sets the order of phases if the options do not; by init().
function M.drop_first()
   sysbench.sequence("ddl drop first", 1)
end

function M.phases(opt)
   if #opt.phases > 0 then
      return opt.phases
   end
   return sysbench.sequence("ddl drop first"):last() == 1 and
      {"drop", "create"} or {"create", "drop"}
end

return M
