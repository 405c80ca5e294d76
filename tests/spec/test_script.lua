-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The life of a script: the order of hooks and the Lua states that run them,
-- globals, options, commands, finding scripts, errors.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")

local stages = [[
print("body", sysbench.tid, sysbench.opt)
sysbench.cmdline.options = { rows = {"Rows", 5}, name = {"Name", "x"},
   fast = {"Fast", true}, items = {"List", {"a", "b"}}, none = {"None"},
   ["with-dash"] = {"Dash", 1, sysbench.cmdline.ARG_INT} }
function init() print("init", sysbench.opt.rows, sysbench.opt.with_dash) end
function thread_init(id)
   print("thread_init", id, thread_id, sysbench.tid, sysbench.opt.threads)
end
function event(id) print("event", id, sysbench.opt.fast) return true end
function thread_done(id) print("thread_done", id) end
function done()
   print("done", #sysbench.opt.items, sysbench.opt.items[2],
         sysbench.opt.none == "")
end
]]

local function life()
   local out, err, rc = tap.with(stages, "run --time=600 --rows=7 --fast=off")
   local order = {}
   for line in out:gmatch("[^\n]+") do
      if line:find("^%l[%l_]*\t") or line:find("^done") or
         line:find("^Threads started") then
         order[#order + 1] = line
      end
   end
   tap.is(table.concat(order, "|"), table.concat({
      "body\t0\tnil", "init\t7\t1", "body\t0\tnil", "thread_init\t0\t0\t0\t1",
      "Threads started!", "event\t0\tfalse", "thread_done\t0",
      "done\t2\tb\ttrue" }, "|"), "the order of hooks, and their values")
   tap.is(rc, 0, "a run that event() ends succeeds")
   tap.unlike(err, "FATAL", "without an error")
   tap.like(out, "total number of events: +0\n",
            "the event that returned true is not counted")
end

local function body_only()
   local out, _, rc = tap.with([[print(1 + 1, sysbench.cmdline.command)]])
   tap.is(out, "2\tnil\n", "without a command only the body is executed")
   tap.is(rc, 0, "which succeeds")
   tap.script("#!/usr/bin/env sysbench\nprint('in', ...)", "stdin.lua")
   out, _, rc = tap.sysbench("-", "stdin.lua")
   tap.like(out, "in\n", "a script from standard input")
   tap.is(rc, 0, "succeeds")
   tap.script("#!/x\nprint(1 2)", "stdin.lua")
   local _, err, status = tap.sysbench("", "stdin.lua")
   tap.like(err, "stdin:2: ", "its errors have line numbers")
   tap.is(status, 1, "and exit status 1")
end

local function errors()
   local function fails(text, args, pattern, what)
      local _, err, rc = tap.with(text, args .. " --time=600")
      tap.like(err, pattern, what)
      tap.is(rc, 1, what .. ": exit status 1")
   end
   fails("function event() nothing() end", "run",
         "FATAL: `thread_run' function failed: script%d+.lua:1: attempt to " ..
            "call global 'nothing'", "an error in event()")
   fails("function event() end function init() error('x') end", "run",
         "FATAL: `init' function failed: script%d+.lua:1: x",
         "an error in init()")
   fails("function event() end\nfunction thread_init() error('y') end", "run",
         "FATAL: `thread_init' function failed: script%d+.lua:2: y",
         "an error in thread_init()")
   fails("x = 1", "run", "cannot find the event%(%) function in script%d+.lua",
         "no event()")
   fails("x = = 1", "run", "FATAL: script%d+.lua:1: unexpected symbol",
         "a syntax error")
   fails("function event() require('no.such') end", "run",
         "FATAL: [^\n]*script%d+.lua:1: module 'no.such' not found:\n.*" ..
         "\n\tno file '[^'\n]+'\n$", "a missing module: whole lines")
   fails("local t = {} for i = 1, 99 do t[i] = 'line' .. i end " ..
         "error(table.concat(t, '\\n'))", "run", "\n *line(%d%d)\n$",
         "a long error: whole lines")
   fails("error('first\\n' .. ('x'):rep(600))", "run",
         "first\n *" .. ("x"):rep(400), "a long line: its beginning")
   fails("x = 1", "prepare", "does not implement the 'prepare' command",
         "a command that the script does not implement")
   fails("x = 1", "fly", "Unknown command: fly", "an unknown command")
   fails("sysbench.cmdline.options = {a = 1}", "run",
         "read_cmdline_options' function failed: .*wrong table structure",
         "wrong option table")
   fails("sysbench.cmdline.options = {rows = {'x', 1}}", "run --rwos=2",
         "rows", "an unknown option")
   -- An error in the program's Lua code shows the line of the script.
   fails("\nfunction event() sysbench.rand.uniform('a', {}) end", "run",
         "script%d+.lua:2: uniform%(%) requires a number", "a wrong argument")
end

local function commands()
   local text = [[
sysbench.cmdline.commands = {
   fly = {function() print("fly", sysbench.tid, sysbench.opt.threads) end},
   swarm = {function() io.write("swarm\t" .. sysbench.tid .. "\n") end,
            sysbench.cmdline.PARALLEL_COMMAND},
   no = {function() return false end},
   run = nil
}
function prepare() print("prepared") end
function help() print("my help") end
]]
   local out, _, rc = tap.with(text, "fly --threads=3")
   tap.is(out, "fly\t0\t3\n", "a serial command")
   tap.is(rc, 0, "succeeds")
   out = tap.with(text, "swarm --threads=3")
   local _, n = out:gsub("swarm\t[012]\n", "")
   tap.is(n, 3, "a parallel command runs in every user")
   tap.ok(out:find("\t0\n") and out:find("\t1\n") and out:find("\t2\n"),
          "each with its number")
   rc = select(3, tap.with(text, "no"))
   tap.is(rc, 1, "a command that returns false fails")
   tap.is((tap.with(text, "prepare")), "prepared\n", "global prepare()")
   tap.is((tap.with(text, "help")), "my help\n", "global help()")
   out = tap.with("sysbench.cmdline.options = {rows = {'Number', 5}}", "help")
   tap.like(out, "%-%-rows=N +Number %[5%]", "help lists declared options")
   rc = select(3, tap.with([[sysbench.cmdline.commands =
      {x = {function() error("bad") end, true}}]], "x --threads=2"))
   tap.is(rc, 1, "a parallel command that fails")
end

local function finding()
   local path = "module_to_find.lua"
   tap.script("print('found', test, sysbench.cmdline.script_path)", path)
   tap.like(tap.sysbench("module_to_find"),
            "found\tmodule_to_find.lua\tmodule_to_find", "a name without .lua")
   local out, err = tap.sysbench("no/such/oltp_read_only.lua help")
   tap.like(out, "table_size",
      "an installed workload is found by the last component")
   tap.like(err, "NOTICE: .*installed .*/oltp_read_only.lua",
            "with a notice")
   out, err = tap.sysbench("oltp_read_only help")
   tap.like(out, "table_size", "an installed workload is found by its name")
   tap.unlike(err, "NOTICE", "without a notice")
   local _, text, rc = tap.sysbench("nowhere.lua run")
   tap.like(text, "Cannot find benchmark 'nowhere.lua': no such built%-in " ..
            "test, file or module", "a script that does not exist")
   tap.is(rc, 1, "fails")
   -- dofile() finds helpers beside the script, require() also workloads.
   tap.script("return 42", "helper.lua")
   tap.is((tap.with([[
local dir = string.match(test, "(.*/)") or ""
print(dofile(dir .. "helper.lua"), require("helper"),
      pcall(require, "none.such"))]])):match("^42\t42\tfalse") ~= nil, true,
      "dofile() and require()")
end

-- Which states cmdline.main_state identifies. No state has cmdline.options
-- unless the script sets it.
local function states()
   local text = [[
local cmdline = sysbench.cmdline
io.write(("[%d %s %s]"):format(sysbench.tid, tostring(cmdline.main_state),
   tostring(cmdline.options)))
cmdline.commands = {swarm = {function() end, cmdline.PARALLEL_COMMAND}}
function event() return true end
]]
   local function seen(args)
      local out, err, rc = tap.with(text, args)
      local list = {}
      for state in out:gmatch("%[(.-)%]") do
         list[#list + 1] = state
      end
      table.sort(list)
      return table.concat(list, ", ") .. " " .. rc .. err
   end
   tap.is(seen("run --threads=2 --events=2"),
          "0 false nil, 0 true nil, 1 false nil 0",
          "main_state is false in the states of the users of run")
   tap.is(seen("swarm --threads=2"),
          "0 false nil, 0 true nil, 1 false nil 0",
          "and in those of other commands")
end

local function files()
   local file = io.open("long.txt", "w")
   file:write(("0123456789"):rep(1000))
   file:close()
   io.open("empty.txt", "w"):close()
   local out = tap.with([[
print(sysbench.read_file("long.txt") == ("0123456789"):rep(1000))
print(sysbench.read_file("empty.txt") == "")
print(sysbench.read_file("missing.txt"))
print(sysbench.read_file("/"))]])
   tap.is(out, "true\ntrue\nnil\tmissing.txt: No such file or directory\n" ..
             "nil\t/: Is a directory\n", "read_file()")
end

local function api_table()
   local out = tap.with([[
print(sysbench.version:match("^%d+%.%d+") ~= nil,
      sysbench.version_string == "sysbench " .. sysbench.version)
print(sysbench.error.NONE, sysbench.error.RESTART_EVENT)
print(sysbench.cmdline.argv[1], sysbench.cmdline.ARG_SIZE, ffi ~= nil,
      sysbench.cmdline.PARALLEL_COMMAND)
print(rawget(_G, "never_set"), never_set, sysbench.never)]])
   tap.is(out:gsub("\tscript%d+.lua\t", "\t"),
          "true\ttrue\n0\t1\n" .. (out:match("(script%d+.lua)\t3") or "?") ..
             "\t3\ttrue\ttrue\nnil\tnil\tnil\n", "constants")
   out = tap.with([[
local before = {}
for name in pairs(_G) do before[name] = true end
function event()
   local con = sysbench.sql.driver("sqlite"):connect()
   local p = con:prepare("SELECT ?"):bind_create(11, 5)
   p:set("x")
   p:set(sysbench.rand.default(1, 2))
   return nothing_such or sysbench.user.think(0) or sysbench.op.start("x")
end
function thread_done()
   local new = {}
   for name in pairs(_G) do
      if not before[name] then new[#new + 1] = name end
   end
   table.sort(new)
   print("new:", table.concat(new, " "))
end]], "run --time=0 --events=1")
   tap.like(out, "new:\tevent thread_done\n", "the API creates no globals")
   out = tap.with([[
setmetatable(_G, {__index = function(_, n) error("undeclared " .. n) end,
   __newindex = function(_, n) error("undeclared " .. n) end})
rawset(_G, "event", function() return ffi and true end)]], "run")
   tap.like(out, "total number of events",
      "a script that forbids undeclared globals")
end

local function warnings()
   local script = [[function event() sysbench.warning("a\27b") return true end]]
   local _, err = tap.with(script, "run")
   tap.like(err, "^WARNING: a.?x1[bB]b\n$", "sysbench.warning() escapes")
   _, err = tap.with(script, "run --verbosity=1")
   tap.is(err, "", "and follows --verbosity")
end

local function check_hook()
   local out, err = tap.with([[
function sysbench.hooks.check_tables() error("no rows", 0) end
function event() return true end]], "run")
   tap.like(err, "FATAL: no rows\n", "an error of check_tables as it is")
   tap.unlike(out, "Threads started", "ends the run before its start")
   out, err = tap.with([[
function sysbench.hooks.check_tables() error("no rows", 0) end
function init() sysbench.hooks = nil end
function event() return true end]], "run")
   tap.like(out, "Threads started", "init() may remove the hook")
   tap.unlike(err, "FATAL", "without an error")
end

-- The garbage collector runs as usual in events, after it has waited during the
-- start, and also while a script leaves much garbage. What a script sets stays.
local function garbage()
   local script = [[
%s
local big, most = "", 0
for i = 1, 300 do
   big = ("x"):rep(1e5) .. i
   most = math.max(most, collectgarbage("count"))
end
function event()
   print("pause " .. collectgarbage("setpause", 200),
         "most " .. (most < 10000 and "small" or most))
end]]
   local own = 'collectgarbage("setpause", 170)'
   for code, pause in pairs{[""] = 200, [own] = 170} do
      local out, err = tap.with(script:format(code), "run --time=0 --events=1")
      tap.like(out, "pause " .. pause .. "\tmost small",
               "collections with: " .. code .. out .. err)
   end
end

function event()
   tap.run(function()
      life()
      garbage()
      body_only()
      errors()
      commands()
      states()
      finding()
      files()
      api_table()
      warnings()
      check_hook()
   end)
   return true
end
