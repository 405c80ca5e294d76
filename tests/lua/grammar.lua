#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Random queries from a grammar file, to find statements that fail or crash the
-- server. An event is one query. Statements that fail are logged with what is
-- needed to generate them again, and a lost connection ends the run. The files,
-- and how queries are generated from them, are in sb/grammar.lua.
--
-- prepare creates the tables of the OLTP workloads, which the examples use.

local dialect = require("sb.dialect")
local grammars = require("sb.grammar")
local options = require("sb.options")
local sbtest = require("sb.sbtest")
local tables = require("sb.tables")

-- Options --------------------------------------------------------------------

local int = sysbench.cmdline.ARG_INT

-- Validates the text of --query.
local function is_query(_, value)
   if value ~= "" and not grammars.parse_query(value) then
      error(string.format("--query must be USER:NUMBER or USER:FIRST-LAST, " ..
         "as in the log of failed statements, not '%s'", value), 0)
   end
   return true
end

local declared = options.with_table_options{
   grammar = {"File with the grammar, or an example: select, dml", "select"},
   start = {"The rule that a query begins with", "query"},
   max_depth = {"Maximum number of nested rules; at the limit, rules use " ..
      "only the alternatives that end soonest", 20, int, min = 1, max = 200},
   max_length = {"Bytes or rules of a query above which rules use the " ..
      "alternatives that end soonest", 10000, int, min = 1, max = 2 ^ 24},
   query = {"Execute only this query, as in the log of failed " ..
      "statements, such as 3:17, or all from 3:1-17", "", nil, is_query},
   failed_log = {"File to which failed statements are added; empty: " ..
      "stderr", ""},
   trace = {"File to which statements are added before they are executed", ""},
   stop_on = {"Error codes and SQLSTATEs that end the run, or any", ""},
   hang_time = {"Seconds after which a statement that is in progress at " ..
      "the end of the run makes it fail; 0: never", 60,
      sysbench.cmdline.ARG_DOUBLE, min = 0, max = 1e6},
   ["rand-seed"] = {"Seed of the random numbers; the default is not 0 so " ..
      "that queries can be repeated", 1},
   tables = {"Number of tables, at least 1", 1, int, min = 1, max = 1e6},
   table_size = {"Rows per table", 10000, int, min = 0, max = 1e15},
   auto_inc = {"Let the server assign the ids of new rows; off: the client " ..
      "chooses them", true},
   secondary = {"Create a plain index on id instead of a primary key", false},
   create_secondary = {"Create a secondary index on k", true},
   partitions = {"Number of partitions per table that prepare creates, by a " ..
      "hash of id (MySQL, PostgreSQL), at most 8192; 0: none", 0, int,
      min = 0, max = 8192},
}
declared.check_tables = nil -- a grammar may need other tables, or none
sysbench.cmdline.options = declared

local function adjust(opt)
   options.refuse_ranks("grammar")
   if tostring(opt.rand_seed) == "0" then
      error("--rand-seed must not be 0: the log of failed statements " ..
         "contains the seed", 0)
   end
   return sbtest.settings(opt)
end

-- Returns the driver, its dialect and the grammar.
local function open(opt)
   local drv = sysbench.sql.driver()
   local d = dialect.of(drv)
   tables.require_one_database("grammar")
   return drv, d, grammars.read(opt, drv:dialect())
end

-- Returns the code, the SQLSTATE and the server's message of the last error on
-- a connection.
local function describe(con, err)
   local function text(s)
      return s ~= nil and (type(s) == "string" and s or ffi.string(s)) or ""
   end
   -- What drivers add to the message if a table does not exist.
   local message = text(con.sql_errmsg):gsub(
      " %(was the 'prepare' command run for this database%?%)", "")
   return tonumber(con.sql_errno) or 0, text(con.sql_state),
      message ~= "" and message or tostring(err)
end

-- Prepare and cleanup --------------------------------------------------------

local commands = {}

-- Executes the statements of a rule, if the grammar has it.
local function execute_rule(con, g, opt, name)
   if not g.rules[name] then
      return
   end
   for _, s in ipairs(grammars.query(g, {tables = {}}, opt, 0, 0, name)) do
      local ok, err = pcall(con.query, con, s)
      if not ok then
         local _, _, message = describe(con, err)
         error(string.format("%s:%d: the rule '%s': %s: %s", opt.grammar,
            g.rules[name].line, name, message, s), 0)
      end
   end
end

-- Creates the tables of the OLTP workloads, then executes the rule prepare.
function commands.prepare(opt)
   local drv, d, g = open(opt)
   local con = drv:connect()
   tables.prepare(con, d, opt, sbtest.description())
   sysbench.parallel.barrier()
   if sysbench.parallel.ticket("grammar prepare") == 0 then
      execute_rule(con, g, opt, "prepare")
   end
   con:disconnect()
end

function commands.warmup(opt)
   open(opt)
   sbtest.warmup(opt)
end

function commands.cleanup(opt)
   local drv, _, g = open(opt)
   local con = drv:connect()
   execute_rule(con, g, opt, "cleanup")
   con:disconnect()
   sbtest.cleanup(opt)
end

-- Users ----------------------------------------------------------------------

local opt, con
local grammar, schema
local sum               -- of all that the queries depend on
local tid = sysbench.tid -- of the user whose queries these are (--query)
local began = 0         -- when the last statement began
local before_this       -- the statement before, if it failed: {n =, i =}

-- Failed statements ----------------------------------------------------------

local function shell_word(text)
   if text:find("^[%w%-_=./:,@+]+$") then
      return text
   end
   return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- Returns the identifier of query n of a user, or of its queries first to n,
-- for --query.
local function identifier(n, first)
   local range = first and first < n and string.format("%.0f-", first) or ""
   return string.format("%d:%s%.0f:%s", tid, range, n, sum)
end

-- Options that a repetition sets or does not need: those of the load, and
-- --report, which would overwrite the results of this run.
local given = {["query"] = true, ["rand-seed"] = true}
for name in ("threads events time rate stages warmup-time warmup-events " ..
   "report mix mix-by"):gmatch("%S+")
do
   given[name] = true
end

-- Returns the name that this workload has in a mix, which precedes its options;
-- nil if there is no mix.
local function component(mix)
   for item in mix:gmatch("[^,]+") do
      local name, script = item:match("^%s*([%w_-]+)=([^:]+)")
      script = script or item:match("^%s*([^:]+)")
      if script == sysbench.cmdline.script_path then
         return name or (script:match("[^/]*$"):gsub("%.lua$", ""))
      end
   end
end

-- Returns an argument for a run of this workload alone, or nil. own: its name
-- in the mix.
local function argument(text, own)
   local part, rest = text:match("^%-%-([%w_-]+)%.(.*)")
   if part and own then
      text = part == own and "--" .. rest or nil
   end
   local name = text and text:match("^%-%-([%w_-]+)=")
   if name and given[name:gsub("_", "-")] or text == "run" then
      return nil
   end
   return text
end

-- Returns the command line that executes queries first to n of this user again.
local function repeat_command(n, first)
   local own = component(opt.mix or "")
   local words = {"sysbench", own and
      shell_word(sysbench.cmdline.script_path)}
   local argv = sysbench.cmdline.argv
   for i = 1, #argv do
      local text = argument(argv[i], own)
      words[#words + 1] = text and shell_word(text)
   end
   words[#words + 1] = "--time=0"
   words[#words + 1] = "--rand-seed=" .. tostring(opt.rand_seed)
   words[#words + 1] = "--query=" .. identifier(n, first)
   words[#words + 1] = "run"
   return table.concat(words, " ")
end

local function one_line(text)
   return (text:gsub("%s*\n%s*", " "))
end

local files = {} -- by path

-- Other users append lines to the same file: without a buffer, a line of any
-- length is one call of write().
local function append(path, line)
   local file = files[path]
   if not file then
      file = path == "" and io.stderr or assert(io.open(path, "a"))
      file:setvbuf("no")
      files[path] = file
   end
   file:write(line .. "\n")
end

local function stops(list, code, state)
   for word in list:gmatch("[^,%s]+") do
      if word == "any" or word == tostring(code) or word == state then
         return true
      end
   end
   return false
end

-- Logs the commands that execute queries first to n of this user again, and all
-- until n.
local function say_how(n, first)
   local lines = {"To execute query " .. identifier(n, first) ..
      " again: " .. repeat_command(n, first)}
   if first > 1 and opt.query == "" then
      lines[2] = "To execute all queries of this user again: " ..
         repeat_command(n, 1)
   end
   for _, line in ipairs(lines) do
      append("", line)
      if opt.failed_log ~= "" then
         append(opt.failed_log, line)
      end
   end
end

-- Logs a statement that was in progress when the run ended. Usually its error
-- is that it was canceled.
local function unfinished(n, i, statement, err)
   local seconds = sysbench.user.run_time() - began
   local code, state, message = describe(con, err)
   append(opt.failed_log, string.format("Unfinished: query %s, seed %s, " ..
      "statement %d: in progress for %.1f s when the run ended: error %d, " ..
      "state '%s': %s: %s", identifier(n), tostring(opt.rand_seed), i,
      seconds, code, state, one_line(message), one_line(statement)))
   if opt.hang_time > 0 and seconds >= opt.hang_time then
      sysbench.sequence("grammar hung"):next()
      say_how(n, n)
   end
end

-- Logs a statement that failed. Raises an error that ends the run if the
-- connection is lost or --stop-on contains the code. Returns true if the run
-- has ended.
local function failed(n, i, statement, err)
   if not sysbench.user.wait(0) then
      unfinished(n, i, statement, err)
      return true
   end
   local code, state, message = describe(con, err)
   append(opt.failed_log, string.format("Failed: query %s, seed %s, " ..
      "statement %d: error %d, state '%s': %s: %s", identifier(n),
      tostring(opt.rand_seed), i, code, state, one_line(message),
      one_line(statement)))
   local lost = not con:is_alive()
   local before = before_this
   before_this = {n = n, i = i}
   if not lost and not stops(opt.stop_on, code, state) then
      return
   end
   local what, also = "--stop-on", ""
   if lost then
      -- A server may close the connection a moment after it has reported an
      -- error.
      if before then
         also = string.format("; the statement before, %d of query %s, " ..
            "failed, too", before.i, identifier(before.n))
      end
      -- The error ends the run. If the server has crashed, the statement of
      -- another user may be the cause: this is the time to log it.
      sysbench.user.wait(0.5)
      local again = sysbench.sql.driver():try_connect()
      what = "the connection was lost, and the server " .. (again and
         "accepts new connections" or "does not accept new connections")
      if again then
         again:disconnect()
      end
   end
   -- The text of an error has a limited length: the statement is in the log,
   -- and the commands are lines of their own.
   say_how(n, also ~= "" and before.n or n)
   error(string.format("%s: error %d, state '%s': %s (statement %d of query " ..
      "%s, see above%s)", what, code, state, one_line(message):sub(1, 150), i,
      identifier(n), also), 0)
end

-- Events ---------------------------------------------------------------------

local executed, failures -- metrics
local rollback_after_error -- whether a failed statement aborts a transaction
local ops = {} -- operations by the name of their rule
local number = 0 -- of this user's last query
local last -- number of the last query of --query; nil without that option
local idle -- whether --query names another user
local needs_init -- whether query_init is to be executed

-- Returns the grammar and the schema, and reports what is wrong with them or
-- with the files of the options.
local function open_all(opt)
   local drv, d, g = open(opt)
   for _, warning in ipairs(g.warnings) do
      sysbench.warning(warning)
   end
   for _, name in ipairs{"failed_log", "trace"} do
      if opt[name] ~= "" then
         local file, why = io.open(opt[name], "a")
         if not file then
            error(string.format("--%s: %s", name:gsub("_", "-"), why), 0)
         end
         file:close()
      end
   end
   local con = drv:connect()
   local s = grammars.read_schema(con, d, g)
   con:disconnect()
   return g, s
end

function init()
   open_all(adjust(sysbench.opt))
end

local function select_query()
   local first, wanted
   tid, first, last, wanted = grammars.parse_query(opt.query)
   if wanted and wanted ~= sum then
      error(string.format("--query=%s: the grammar, the tables, the " ..
         "options or the seed are not those of this query (checksum %s)",
         opt.query, sum), 0)
   end
   number = math.max(first, 1) - 1
   idle = sysbench.tid > 0
end

function thread_init()
   local drv = sysbench.sql.driver()
   local d = dialect.of(drv)
   opt, con = sysbench.opt, drv:connect()
   rollback_after_error = d.rollback_after_error
   grammar = grammars.read(opt, drv:dialect())
   schema = grammars.read_schema(con, d, grammar)
   sum = grammars.checksum(grammar, schema, opt)
   failures = sysbench.metric("statements_failed")
   executed = sysbench.metric("statements")
   if opt.query ~= "" then
      select_query()
   end
   needs_init = grammar.rules.query_init
end

local function run(statement)
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
      if last then
         print(statement .. ";")
      end
      if opt.trace ~= "" then
         append(opt.trace, string.format("%s statement %d: %s", identifier(n),
            i, one_line(statement)))
      end
      executed:add()
      began = sysbench.user.run_time()
      local ok, err = pcall(run, statement)
      if ok then
         before_this = nil
      else
         failures:add()
         if failed(n, i, statement, err) then
            return
         elseif rollback_after_error then
            con:reset() -- does nothing outside of a transaction
         end
      end
   end
end

function event()
   if idle then
      return true
   elseif needs_init then
      -- Not in thread_init(): all users have read the schema before the first
      -- statement can change it.
      needs_init = nil
      execute(grammars.query(grammar, schema, opt, tid, 0, "query_init"), 0)
   end
   if last == 0 then -- only query_init
      sysbench.user.stop()
      return false
   end
   number = number + 1
   local statements, rule = grammars.query(grammar, schema, opt, tid, number)
   local op = ops[rule]
   if not op then
      op = sysbench.op("rule." .. rule)
      ops[rule] = op
   end
   local token = op:start()
   execute(statements, number)
   op:finish(token)
   if number == last then
      sysbench.user.stop()
   end
   return false
end

function thread_done()
   con:disconnect()
   if last and not idle and number < last then
      sysbench.warning(string.format("--query=%s: the run ended before " ..
         "query %.0f; --time=0 --events=0 executes all", opt.query,
         number + 1))
   end
end

-- Raises an error if statements were in progress for too long when the run
-- ended.
function done()
   local hung = sysbench.sequence("grammar hung"):last()
   if hung > 0 then
      error(string.format("grammar: %.0f statement(s) did not end within " ..
         "--hang-time=%g s before the run ended, see above", hung,
         sysbench.opt.hang_time), 0)
   end
end

-- Check and generate ---------------------------------------------------------

-- The server verifies the tables: random statements may have changed every row,
-- so that there is nothing else to compare them with.
function commands.check(opt)
   local drv, d, g = open(opt)
   local con = drv:connect()
   g.needs_schema = true
   local list = grammars.read_schema(con, d, g).tables
   tables.divide_work("check", #list, function(n)
      local name = list[n].name
      local why = d.verify_table and d.verify_table(con, name)
      if why then
         error(string.format("table %s: %s", name, why), 0)
      end
      tables.print("%s: no errors", name)
   end)
   con:disconnect()
end

tables.declare_commands(commands, adjust)

-- Prints queries without executing them.
sysbench.cmdline.commands.generate = {function()
   local opt = adjust(sysbench.opt)
   local g, s = open_all(opt)
   local user, first, final = 0, 1, opt.events > 0 and opt.events or 10
   if opt.query ~= "" then
      user, first, final = grammars.parse_query(opt.query)
   end
   for n = first, final do
      local rule = n == 0 and "query_init" or opt.start
      if g.rules[rule] then
         print(table.concat(grammars.query(g, s, opt, user, n, rule), "; ") ..
            ";")
      end
   end
end}
