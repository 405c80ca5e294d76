-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- ddl: finds out which schemas and tables exist, creates, checks and drops
-- them, and reports. The users of a run never load this.

local build = require("sb.build")
local ddl = require("sb.ddl")
local own_tables = require("sb.own_tables")
local parallel = require("sb.prepare")

local print_line = build.print_line

local M = {}

-- How long finish() waits for changes that it has canceled, and how often it
-- looks, in seconds.
local STOP_WAIT, STOP_EVERY = 60, 0.1

ffi.cdef("int usleep(unsigned int);")

-- Counters of sysbench.parallel.ticket().
local FIRST_KEY = 0

local function connect(opt)
   require("sb.options").need_storage("ddl")
   return own_tables.connect("ddl", opt)
end

-- What exists ----------------------------------------------------------------

-- Returns the numbers of the tables of schema s, as a set.
local function tables_of(con, d, opt, s)
   local found, schema = {}, ddl.schema(opt, s)
   local rs = con:query(d.list_tables:format(schema))
   for _ = 1, rs.nrows do
      local name = rs:fetch_row()[1]
      local t = tonumber(name:match("^t(%d+)$"))
      if not t or t > opt.tables_per_schema then
         rs:free()
         error(string.format("ddl: the schema %s contains '%s', which is " ..
            "not one of its %d tables", schema, name, opt.tables_per_schema),
            0)
      end
      found[t] = true
   end
   rs:free()
   return found
end

local function schema_exists(con, d, opt, s)
   return d.schemas and
      con:query_row(d.find_schema:format(ddl.schema(opt, s))) ~= "0"
end

-- Returns how many schemas and tables exist, and the name of the first table
-- that does not.
local function look(con, d, opt)
   local schemas, tables, missing = 0, 0, nil
   for s = 1, opt.schemas do
      local found = tables_of(con, d, opt, s)
      schemas = schemas + (schema_exists(con, d, opt, s) and 1 or 0)
      for t = 1, opt.tables_per_schema do
         if found[t] then
            tables = tables + 1
         else
            missing = missing or ddl.table(d, opt, s, t)
         end
      end
   end
   return schemas, tables, missing
end

-- Returns whether all tables exist (true) or nothing exists (false). Everything
-- between these is an error.
local function exists(con, d, opt)
   local schemas, tables, missing = look(con, d, opt)
   if not missing then
      return true
   elseif tables > 0 then
      error(string.format("ddl: only %d of %d tables exist; the first that " ..
         "is missing is %s", tables, ddl.all_tables(opt), missing), 0)
   elseif schemas > 0 then
      error(string.format("ddl: %d of %d schemas exist, but none of their " ..
         "tables", schemas, opt.schemas), 0)
   end
   return false
end

-- Before a run ---------------------------------------------------------------

local function start_tables(con, d, opt)
   local full = exists(con, d, opt)
   if #opt.phases == 0 then
      if full then
         ddl.drop_first()
      end
   elseif opt.phases[1] == "create" and full then
      error("ddl: the tables exist already; --phases must begin with drop, " ..
         "or use the command cleanup", 0)
   elseif opt.phases[1] == "drop" and not full then
      error("ddl: there are no tables to drop; use the command prepare", 0)
   end
end

-- Returns the name of the index that a run left, or nil.
local function left_index(con, d, name)
   local index = d.index_of and
      con:query_row(d.index_of:format(name, ddl.INDEXED))
   return index
end

-- Raises an error if table n has an index or a column that a run left.
local function check_one(con, d, opt, n)
   local name, found = ddl.altered(opt, n), ddl.found(con, d, opt, n)
   local index = left_index(con, d, name)
   if index then
      error(string.format("%s: there is an index %s on %s, which a run " ..
         "left or which is not of this workload; the command cleanup " ..
         "drops %s", name, index, ddl.INDEXED, ddl.index(opt, n)), 0)
   elseif found.index then
      error(string.format("%s: there is an invalid index %s, which a run " ..
         "left; the command cleanup drops it", name, ddl.index(opt, n)), 0)
   elseif found.column then
      error(string.format("%s: there is a column %s, which a run left; " ..
         "the command cleanup drops it", name, ddl.COLUMN), 0)
   end
end

local function check_unaltered(con, d, opt)
   for n = 1, opt.tables do
      check_one(con, d, opt, n)
   end
end

local function require_altered(con, d, opt)
   if opt.check_tables then
      require("sb.check_tables").require_tables(con, d, opt.tables,
         function(n) return ddl.altered(opt, n) end,
         "oltp_read_write --tables=" .. opt.tables)
   end
   check_unaltered(con, d, opt)
end

-- Checks what exists, and selects the order of phases.
function M.start(opt)
   local con, d = connect(opt)
   local begin = opt.action == "alter" and require_altered or start_tables
   begin(con, d, opt)
   con:disconnect()
end

-- After a run ----------------------------------------------------------------

-- Cancels changes of table n that the server continues without their client,
-- and waits until they have ended.
local function stop_changes(con, d, opt, n)
   local list = {}
   for _, statement in pairs(ddl.changes(d, opt, n, opt.online)) do
      list[#list + 1] = statement
   end
   local waited = 0
   while d.stop_statements and d.stop_statements(con, list) > 0 do
      if waited >= STOP_WAIT then
         error(string.format("ddl: the server continues to change '%s' " ..
            "after it was asked to stop: use the commands check and cleanup " ..
            "when it has ended", ddl.altered(opt, n)), 0)
      end
      ffi.C.usleep(STOP_EVERY * 1e6)
      waited = waited + STOP_EVERY
   end
end

local function undo_announced(con, d, opt, n)
   ddl.undo(con, d, opt, n, false, function(what, name)
      print_line("Dropping %s '%s' of '%s'...", what, name,
         ddl.altered(opt, n))
   end)
end

-- Leaves the tables as they were if users were canceled in the middle of
-- their changes.
function M.finish(opt)
   local con, d
   local last = opt.action == "alter" and ddl.users():last() or 0
   for n = 1, math.min(last, opt.tables) do
      local begun, left = ddl.begun_and_left(n)
      if begun:last() > left:last() then
         if not con then
            con, d = connect(opt)
         end
         stop_changes(con, d, opt, n)
         undo_announced(con, d, opt, n)
      end
   end
   if con then
      con:disconnect()
   end
end

-- Reports --------------------------------------------------------------------

local function seconds(kind)
   return sysbench.sequence("ddl end of " .. kind):last() / 1e6
end

-- Returns "100 tables created in 0.1 s (1000 per second)", or nil if no table
-- was.
local function phase_text(opt, done, from, to)
   local all = ddl.all_tables(opt)
   if to <= from then
      return nil
   end
   return string.format("%.0f tables %s in %.3f s (%.0f per second)", all, done,
      to - from, all / (to - from))
end

local function final_text(opt, finished, length)
   local parts, from = {}, 0
   if opt.rounds == 1 and finished == length then
      for _, phase in ipairs(ddl.phases(opt)) do
         local to = seconds(phase .. "_table")
         parts[#parts + 1] = phase_text(opt, phase == "create" and "created" or
            "dropped", from, to)
         from = to
      end
   end
   if #parts == 0 then
      return string.format("ddl: %.0f statements; %.0f rounds of %.0f " ..
         "statements are complete", finished, math.floor(finished / length),
         length)
   end
   return "ddl: " .. table.concat(parts, ", ")
end

function M.report(opt, _, final)
   if opt.action ~= "tables" then
      return nil
   end
   local d = require("sb.dialect").of(sysbench.sql.driver())
   local length = ddl.length(ddl.steps(d, opt, ddl.phases(opt)))
   local finished = ddl.finished():last()
   if final then
      return final_text(opt, finished, length)
   end
   return string.format("ddl: round %.0f, %.0f of %.0f statements",
      math.floor(finished / length) + 1, finished % length, length)
end

-- Commands -------------------------------------------------------------------

local function refuse_alter(opt, command)
   if opt.action == "alter" then
      error("ddl: --action=alter has no command " .. command .. "; the " ..
         "tables are those of another workload", 0)
   end
end

-- What this user has created: statements that drop it, and its names.
local drops, created = {}, {}

local function create(con, d, opt, step, n)
   con:query(ddl.statement(d, opt, step, n))
   local drop, name = ddl.drop_statement(d, opt, step, n)
   if drop then
      drops[#drops + 1], created[#created + 1] = drop, name
   end
end

-- Creates everything, by all users. Returns false if one of them failed, and
-- the error if it was this user and it is the first to fail. Raises an error
-- only if the command is interrupted.
local function create_all(con, d, opt)
   local FAILURES, first = "ddl failures", nil -- a counter of all users
   for i, step in ipairs(ddl.steps(d, opt, {"create"})) do
      local ok, err = pcall(parallel.share, FIRST_KEY + i, step.count,
         function(n)
            if sysbench.parallel.add(FAILURES, 0) == 0 then
               create(con, d, opt, step, n)
               sysbench.parallel.progress(step.kind, 1, step.count)
            end
         end)
      if not ok and sysbench.parallel.add(FAILURES, 1) == 0 then
         first = require("sb.check_tables").message(con, err)
      end
      sysbench.parallel.barrier()
      if sysbench.parallel.add(FAILURES, 0) > 0 then
         return false, first
      end
   end
   return true
end

-- Drops what this user has created, and prints its names.
local function undo(con)
   if #drops == 0 then
      return
   end
   pcall(con.reset, con)
   local all = true
   for _, statement in ipairs(drops) do
      all = pcall(con.query, con, statement) and all
   end
   io.stderr:write("prepare: ", all and "dropped" or "could not drop all of",
      " what it had created: ", table.concat(created, ", "), "\n")
end

function M.prepare(opt)
   refuse_alter(opt, "prepare")
   local con, d = connect(opt)
   if sysbench.tid == 0 then
      if exists(con, d, opt) then
         error("ddl: the tables exist already; use the command cleanup", 0)
      end
      print_line("Creating %.0f tables in %.0f schemas...",
         ddl.all_tables(opt), opt.schemas)
   end
   sysbench.parallel.barrier()
   local whole, done, err = pcall(create_all, con, d, opt)
   if not whole then -- interrupted
      sysbench.parallel.settle()
   end
   if not whole or not done then
      undo(con)
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
function M.warmup()
end

M.prewarm = M.warmup

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
   if not exists(con, d, opt) then
      print_line("ddl: no table exists")
      return
   end
   for s = 1, opt.schemas do
      for t = 1, opt.tables_per_schema do
         try_table(con, d, opt, ddl.table(d, opt, s, t))
      end
   end
   print_line("ddl: all %.0f tables exist and can be used",
      ddl.all_tables(opt))
end

function M.check(opt)
   local con, d = connect(opt)
   if sysbench.tid == 0 then
      if opt.action == "alter" then
         check_unaltered(con, d, opt)
         print_line("ddl: all tables (%d) are as they were", opt.tables)
      else
         check_tables(con, d, opt)
      end
   end
   con:disconnect()
end

local function cleanup_altered(con, d, opt)
   for n = 1, opt.tables do
      undo_announced(con, d, opt, n)
   end
end

-- look() raises an error if a schema contains something else, which DROP SCHEMA
-- would drop in some databases.
function M.cleanup(opt)
   local con, d = connect(opt)
   if opt.action == "alter" then
      cleanup_altered(con, d, opt)
   else
      local _, tables = look(con, d, opt)
      print_line("Dropping %.0f tables...", tables)
      for _, step in ipairs(ddl.steps(d, opt, {"drop"})) do
         for i = 1, step.count do
            con:query(ddl.statement(d, opt, step, i))
         end
      end
   end
   con:disconnect()
end

return M
