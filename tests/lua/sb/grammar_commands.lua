-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- grammar: its options and commands, and what happens when a statement fails.

local grammar = require("sb.grammar")

local M = {}

-- Counters of sysbench.parallel.ticket(); sb/prepare.lua uses smaller ones.
local PREPARE_KEY, CHECK_KEY = 62, 63

function M.declarations()
   local cmdline, oltp = sysbench.cmdline, require("sb.declarations").oltp()
   local options = {
      grammar = {"File with the grammar, or an example: select, dml",
         "select", cmdline.ARG_STRING},
      start = {"The rule that a query begins with", "query",
         cmdline.ARG_STRING},
      max_depth = {"Maximum number of nested rules; at the limit, rules use " ..
         "only the alternatives that end soonest", 20, cmdline.ARG_INT},
      max_length = {"Bytes or rules of a query above which rules use the " ..
         "alternatives that end soonest", 10000, cmdline.ARG_INT},
      query = {"Execute only this query, as in the log of failed " ..
         "statements, such as 3:17, or all from 3:1-17", "",
         cmdline.ARG_STRING},
      failed_log = {"File to which failed statements are added; empty: " ..
         "stderr", "", cmdline.ARG_STRING},
      trace = {"File to which statements are added before they are executed",
         "", cmdline.ARG_STRING},
      stop_on = {"Error codes and SQLSTATEs that end the run, or any", "",
         cmdline.ARG_STRING},
      hang_time = {"Seconds after which a statement that is in progress at " ..
         "the end of the run makes it fail; 0: never", 60,
         cmdline.ARG_DOUBLE},
      ["rand-seed"] = {"Seed of the random numbers; the default is not 0 so " ..
         "that queries can be repeated", 1},
   }
   for _, name in ipairs{"tables", "table_size", "auto_inc", "secondary",
      "create_secondary", "create_table_options", "partitions",
      "mysql_storage_engine", "pgsql_variant"}
   do
      options[name] = oltp[name]
   end
   return options
end

function M.normalize(opt)
   if opt.query ~= "" and not grammar.parse_query(opt.query) then
      error(string.format("--query must be USER:NUMBER or USER:FIRST-LAST, " ..
         "as in the log of failed statements, not '%s'", opt.query), 0)
   elseif tostring(opt.rand_seed) == "0" then
      error("--rand-seed must not be 0: the log of failed statements " ..
         "contains the seed", 0)
   end
   return require("sb.bounds").check(require("sb.sbtest").settings(opt),
      {max_depth = {1, 200}, max_length = {1, 2 ^ 24}, hang_time = {0, 1e6}})
end

-- Returns the driver, its dialect and the grammar.
local function open(opt)
   local drv = sysbench.sql.driver()
   local d = require("sb.dialect").of(drv)
   require("sb.databases").refuse_several("grammar")
   return drv, d, grammar.read(opt, drv:dialect())
end

-- Reads grammar and schema, so that their errors end the run before it starts.
function M.start(opt)
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
   local schema = require("sb.grammar_schema").read(con, d, g)
   con:disconnect()
   return g, schema
end

-- Prints queries without executing them.
function M.generate(opt)
   local g, schema = M.start(opt)
   local tid, first, last = 0, 1, opt.events > 0 and opt.events or 10
   if opt.query ~= "" then
      tid, first, last = grammar.parse_query(opt.query)
   end
   for n = first, last do
      local rule = n == 0 and "query_init" or opt.start
      if g.rules[rule] then
         print(table.concat(grammar.query(g, schema, opt, tid, n, rule), "; ")
            .. ";")
      end
   end
end

-- Failed statements ---------------------------------------------------------

local function shell_word(text)
   if text:find("^[%w%-_=./:,@+]+$") then
      return text
   end
   return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- Returns the identifier of query n of a user, or of its queries first to n,
-- for --query.
local function identifier(u, n, first)
   local range = first and first < n and string.format("%.0f-", first) or ""
   return string.format("%d:%s%.0f:%s", u.tid, range, n, u.sum)
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
local function repeat_command(u, n, first)
   local own = component(u.opt.mix or "")
   local words = {"sysbench", own and
      shell_word(sysbench.cmdline.script_path)}
   local argv = sysbench.cmdline.argv
   for i = 1, #argv do
      local text = argument(argv[i], own)
      words[#words + 1] = text and shell_word(text)
   end
   words[#words + 1] = "--time=0"
   words[#words + 1] = "--rand-seed=" .. tostring(u.opt.rand_seed)
   words[#words + 1] = "--query=" .. identifier(u, n, first)
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

function M.trace(u, n, i, statement)
   append(u.opt.trace, string.format("%s statement %d: %s", identifier(u, n),
      i, one_line(statement)))
end

-- What drivers add to the message of the server if a table does not exist.
local HINT = " %(was the 'prepare' command run for this database%?%)"

-- Returns the code, the SQLSTATE and the server's message of the last error.
local function describe(con, err)
   local function text(s)
      return s ~= nil and (type(s) == "string" and s or ffi.string(s)) or ""
   end
   local message = text(con.sql_errmsg):gsub(HINT, "")
   return tonumber(con.sql_errno) or 0, text(con.sql_state),
      message ~= "" and message or tostring(err)
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
local function say_how(u, n, first)
   local lines = {"To execute query " .. identifier(u, n, first) ..
      " again: " .. repeat_command(u, n, first)}
   if first > 1 and u.opt.query == "" then
      lines[2] = "To execute all queries of this user again: " ..
         repeat_command(u, n, 1)
   end
   for _, line in ipairs(lines) do
      append("", line)
      if u.opt.failed_log ~= "" then
         append(u.opt.failed_log, line)
      end
   end
end

-- Logs a statement that was in progress when the run ended. Usually its error
-- is that it was canceled.
local function unfinished(u, n, i, statement, err)
   local seconds = sysbench.user.run_time() - u.since
   local code, state, message = describe(u.con, err)
   append(u.opt.failed_log, string.format("Unfinished: query %s, seed %s, " ..
      "statement %d: in progress for %.1f s when the run ended: error %d, " ..
      "state '%s': %s: %s", identifier(u, n), tostring(u.opt.rand_seed), i,
      seconds, code, state, one_line(message), one_line(statement)))
   if u.opt.hang_time > 0 and seconds >= u.opt.hang_time then
      sysbench.sequence("grammar hung"):next()
      say_how(u, n, n)
   end
end

-- Raises an error if statements were in progress for too long when the run
-- ended.
function M.finish(opt)
   local hung = sysbench.sequence("grammar hung"):last()
   if hung > 0 then
      error(string.format("grammar: %.0f statement(s) did not end within " ..
         "--hang-time=%g s before the run ended, see above", hung,
         opt.hang_time), 0)
   end
end

-- Logs a statement that failed. Raises an error that ends the run if the
-- connection is lost or --stop-on contains the code. Returns true if the run
-- has ended.
function M.failed(u, n, i, statement, err)
   if not sysbench.user.wait(0) then
      unfinished(u, n, i, statement, err)
      return true
   end
   local code, state, message = describe(u.con, err)
   append(u.opt.failed_log, string.format("Failed: query %s, seed %s, " ..
      "statement %d: error %d, state '%s': %s: %s", identifier(u, n),
      tostring(u.opt.rand_seed), i, code, state, one_line(message),
      one_line(statement)))
   local lost = not u.con:is_alive()
   local before = u.before
   u.before = {n = n, i = i}
   if not lost and not stops(u.opt.stop_on, code, state) then
      return
   end
   local what, also = "--stop-on", ""
   if lost then
      -- A server may close the connection a moment after it has reported an
      -- error.
      if before then
         also = string.format("; the statement before, %d of query %s, " ..
            "failed, too", before.i, identifier(u, before.n))
      end
      -- The error ends the run. If the server has crashed, the statement of
      -- another user may be the cause: this is the time to log it.
      sysbench.user.wait(0.5)
      local again = u.drv:try_connect()
      what = "the connection was lost, and the server " .. (again and
         "accepts new connections" or "does not accept new connections")
      if again then
         again:disconnect()
      end
   end
   -- The text of an error has a limited length: the statement is in the log,
   -- and the commands are lines of their own.
   say_how(u, n, also ~= "" and before.n or n)
   error(string.format("%s: error %d, state '%s': %s (statement %d of query " ..
      "%s, see above%s)", what, code, state, one_line(message):sub(1, 150), i,
      identifier(u, n), also), 0)
end

-- Commands ------------------------------------------------------------------

-- Executes the statements of a rule, if the grammar has it.
local function execute_rule(con, g, opt, name)
   if not g.rules[name] then
      return
   end
   for _, s in ipairs(grammar.query(g, {tables = {}}, opt, 0, 0, name)) do
      local ok, err = pcall(con.query, con, s)
      if not ok then
         local _, _, message = describe(con, err)
         error(string.format("%s:%d: the rule '%s': %s: %s", opt.grammar,
            g.rules[name].line, name, message, s), 0)
      end
   end
end

-- Creates the tables of the OLTP workloads, then executes the rule prepare.
function M.prepare(opt)
   local drv, d, g = open(opt)
   local con = drv:connect()
   require("sb.prepare").prepare(con, d, opt, nil, nil, require("sb.build"))
   sysbench.parallel.barrier()
   if sysbench.parallel.ticket(PREPARE_KEY) == 0 then
      execute_rule(con, g, opt, "prepare")
   end
   con:disconnect()
end

function M.warmup(opt)
   local drv, d = open(opt)
   local con = drv:connect()
   require("sb.prepare").warmup(con, d, opt)
   con:disconnect()
end

M.prewarm = M.warmup

-- The server verifies the tables: random statements may have changed every row,
-- so that there is nothing else to compare them with.
function M.check(opt)
   local drv, d, g = open(opt)
   local con = drv:connect()
   g.needs_schema = true
   local tables = require("sb.grammar_schema").read(con, d, g).tables
   local n = sysbench.parallel.ticket(CHECK_KEY)
   while n < #tables do
      local name = tables[n + 1].name
      local why = d.verify_table and d.verify_table(con, name)
      if why then
         error(string.format("table %s: %s", name, why), 0)
      end
      require("sb.build").print_line("%s: no errors", name)
      n = sysbench.parallel.ticket(CHECK_KEY)
   end
   con:disconnect()
end

function M.cleanup(opt)
   local drv, _, g = open(opt)
   local con = drv:connect()
   execute_rule(con, g, opt, "cleanup")
   require("sb.build").drop_all(con, opt)
   con:disconnect()
end

return M
