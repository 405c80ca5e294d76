#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Definitions: CREATE, DROP and ALTER of schemas and tables, by all users at
-- the same time. With --action=tables, all users together create schemas and
-- tables, and drop them; an event is one statement. With --action=alter, each
-- user changes a table that others use, for example those of OLTP workloads in
-- a mix: it adds and drops a column and an index; an event is one change.

local ddl = require("sb.ddl")
require("sb.ranks").refuse("ddl")

sysbench.cmdline.options = ddl.declarations()

local user = sysbench.user
local opt, con, d

-- How long a user waits before it looks again whether a step is finished, in
-- seconds.
local LOOK_EVERY = 0.001

-- Executes a statement as an operation.
local ops = {}

local function execute(name, statement)
   local op = ops[name] or sysbench.op(name)
   ops[name] = op
   local token = op:start()
   con:query(statement)
   op:finish(token)
end

-- Tables ---------------------------------------------------------------------

local taken, finished, steps, length
local number -- of the statement of this user; kept if the event is restarted

local function begin_tables()
   taken, finished = ddl.taken(), ddl.finished()
   steps = ddl.steps(d, opt, ddl.phases(opt))
   length = ddl.length(steps)
end

-- Returns the step to which a statement of a round belongs, and how many
-- statements of the round are before that step.
local function locate(n)
   local before = 0
   for _, step in ipairs(steps) do
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
   local round = math.floor((number - 1) / length)
   if opt.rounds > 0 and round >= opt.rounds then
      return true
   end
   local step, before = locate(number - round * length)
   local first = round * length + before
   if not wait_for(first) then
      return true
   end
   execute(step.kind, ddl.statement(d, opt, step, number - first))
   finished:next()
   sysbench.sequence("ddl end of " .. step.kind,
      math.ceil(user.run_time() * 1e6))
   number = nil
end

-- Changes --------------------------------------------------------------------

local ORDER = {"add_column", "add_index", "drop_index", "drop_column"}

local altered, changes, altering -- the table's number, its statements, a metric
local made = 0 -- number of changes in this cycle
local begun = false -- whether this user has changed the table
-- Whether the last change failed; the server may have made it nevertheless, for
-- example if only its answer was lost.
local unsure = false

local function begin_alter()
   local n = ddl.users():next()
   if n > opt.tables and opt.stages == "" then
      error(("ddl: each user changes a table of its own, so %d or more " ..
         "users need as many tables (--tables)"):format(n), 0)
   end
   altered = (n - 1) % opt.tables + 1
   changes = ddl.changes(d, opt, altered, opt.online)
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
   local found = ddl.found(con, d, opt, altered)
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
      ddl.begun_and_left(altered):next()
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
-- not come here: see finish() in sb/ddl_commands.lua.
local function end_alter()
   if begun and pcall(ddl.undo, con, d, opt, altered, opt.online,
      function() end)
   then
      select(2, ddl.begun_and_left(altered)):next()
   end
end

-- Events ---------------------------------------------------------------------

local actions = {
   tables = {begin = begin_tables, event = tables_event},
   alter = {begin = begin_alter, event = alter_event, finish = end_alter},
}

function thread_init()
   opt = ddl.normalize(sysbench.opt)
   local drv = sysbench.sql.driver()
   con, d = drv:connect(), require("sb.dialect").of(drv)
   actions[opt.action].begin()
   event = actions[opt.action].event
end

function thread_done()
   local finish = actions[opt.action].finish
   if finish then
      finish()
   end
   con:disconnect()
end

-- thread_init() replaces it.
function event()
end

if sysbench.cmdline.run_state then
   return -- the rest is for the main state and the commands
end

require("sb.own_commands").declare("sb.ddl_commands", ddl.normalize)

function init()
   require("sb.ddl_commands").start(ddl.normalize(sysbench.opt))
end

-- Users that were canceled leave their changes.
function done()
   require("sb.ddl_commands").finish(ddl.normalize(sysbench.opt))
end

function sysbench.hooks.ends_by_itself()
   return sysbench.opt.action == "tables" and sysbench.opt.rounds > 0
end

function sysbench.hooks.report_line(stat, final)
   return require("sb.ddl_commands").report(sysbench.opt, stat, final)
end
