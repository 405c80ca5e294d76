#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Random queries from a grammar file, to find statements that fail or crash the
-- server. An event is one query. Statements that fail are logged with what is
-- needed to generate them again, and a lost connection ends the run.

local grammar = require("sb.grammar")
require("sb.ranks").refuse("grammar")

-- before: the statement before, if it failed. since: when this statement began.
local user = {n = 0, ops = {}, tid = sysbench.tid, before = nil, since = 0}

local function run(statement)
   local con = user.con
   local rs = con:query(statement)
   if rs then
      rs:free()
   end
   while con:more_results() do
      rs = con:next_result()
      if rs then
         rs:free()
      end
   end
end

-- Executes the statements of query n of this user.
local function execute(statements, n)
   for i, statement in ipairs(statements) do
      if user.last then
         print(statement .. ";")
      end
      if user.opt.trace ~= "" then
         require("sb.grammar_commands").trace(user, n, i, statement)
      end
      user.executed:add()
      user.since = sysbench.user.run_time()
      local ok, err = pcall(run, statement)
      if ok then
         user.before = nil
      else
         user.failed:add()
         if require("sb.grammar_commands").failed(user, n, i, statement, err)
         then
            return
         elseif user.rollback_after_error then
            user.con:reset() -- does nothing outside of a transaction
         end
      end
   end
end

function thread_init()
   local opt, drv = sysbench.opt, sysbench.sql.driver()
   local d = require("sb.dialect").of(drv)
   user.opt, user.drv = opt, drv
   user.con = drv:connect()
   user.rollback_after_error = d.rollback_after_error
   user.grammar = grammar.read(opt, drv:dialect())
   user.schema = require("sb.grammar_schema").read(user.con, d, user.grammar)
   user.sum = grammar.checksum(user.grammar, user.schema, opt)
   user.failed = sysbench.metric("statements_failed")
   user.executed = sysbench.metric("statements")
   if opt.query ~= "" then
      local tid, first, last, sum = grammar.parse_query(opt.query)
      if sum and sum ~= user.sum then
         error(string.format("--query=%s: the grammar, the tables, the " ..
            "options or the seed are not those of this query (checksum %s)",
            opt.query, user.sum), 0)
      end
      user.idle = user.tid > 0
      user.tid, user.n, user.last = tid, math.max(first, 1) - 1, last
   end
   user.init = user.grammar.rules.query_init
end

function thread_done()
   user.con:disconnect()
   if user.last and not user.idle and user.n < user.last then
      sysbench.warning(string.format("--query=%s: the run ended before " ..
         "query %.0f; --time=0 --events=0 executes all", user.opt.query,
         user.n + 1))
   end
end

function event()
   if user.idle then
      return true
   elseif user.init then
      -- Not in thread_init(): all users have read the schema before the first
      -- statement can change it.
      user.init = nil
      execute(grammar.query(user.grammar, user.schema, user.opt, user.tid, 0,
         "query_init"), 0)
   end
   if user.last == 0 then -- only query_init
      sysbench.user.stop()
      return false
   end
   user.n = user.n + 1
   local statements, name = grammar.query(user.grammar, user.schema, user.opt,
      user.tid, user.n)
   local op = user.ops[name]
   if not op then
      op = sysbench.op("rule." .. name)
      user.ops[name] = op
   end
   local token = op:start()
   execute(statements, user.n)
   op:finish(token)
   if user.n == user.last then
      sysbench.user.stop()
   end
   return false
end

if sysbench.cmdline.run_state then
   return -- the rest is for the main state and the commands
end

local commands = require("sb.grammar_commands")

sysbench.cmdline.options = commands.declarations()

require("sb.own_commands").declare(commands, commands.normalize)

sysbench.cmdline.commands.generate = {function()
   commands.generate(commands.normalize(sysbench.opt))
end}

-- Errors in the file are reported before the users are created.
function init()
   commands.start(commands.normalize(sysbench.opt))
end

function done()
   commands.finish(sysbench.opt)
end
