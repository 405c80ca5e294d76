-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Report hooks and their arguments, sysbench.report_*, histograms, parallel
-- commands, operations.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")

local busy = [[
ffi.cdef("int usleep(unsigned);")
function event() ffi.C.usleep(1000) end
]]

-- Events take 100 ms, so that a latency in milliseconds would exceed the length
-- of the run in seconds: the hooks get seconds.
local function hooks()
   local want = "\t2\t2\ttrue\ttrue\ttrue\ttrue\t0\ttrue\ttrue\n"
   local out, err, rc = tap.with(tap.printed("interval" .. want) .. [[
ffi.cdef("int usleep(unsigned);")
function event()
   ffi.C.usleep(100000)
   return printed()
end
local function show(name)
   return function(s)
      print(name, sysbench.tid, s.threads_running, s.events > 0,
            s.latency_pct > 0.05 and s.latency_pct < 2 * s.time_total,
            s.time_interval > 0.5, s.time_total >= s.time_interval,
            s.reads + s.writes + s.other + s.errors + s.reconnects,
            (s.latency_avg or 1) > 0.05, s.concurrency ~= nil)
   end
end
sysbench.hooks.report_intermediate = show("interval")
sysbench.hooks.report_cumulative = show("final")]],
      "run --threads=2 --time=0 --report-interval=1")
   tap.like(out, "interval" .. want, "report_intermediate()")
   tap.like(out, "final" .. want, "report_cumulative()")
   tap.unlike(out, "Latency", "hooks replace the classic report")
   tap.is(rc, 0, "the run succeeds", err)
   out, err, rc = tap.with([[
function event() error({errcode = sysbench.error.RESTART_EVENT}) end
function sysbench.hooks.report_cumulative(s)
   print("failed", s.events, s.failed, s.failure)
end]], "run --time=0 --events=5 --max-restarts=1")
   tap.like(out, "failed\t0\t5\tall 5 events failed\n", "failed events", err)
   tap.is(rc, 1, "fail the run")
   tap.like(tap.with([[
function event() end
function sysbench.hooks.report_cumulative(s) print(s.failed, s.failure) end]],
      "run --time=0 --events=5"), "0\tnil\n", "no failed events")
   local _, text, status = tap.with(busy .. [[
function sysbench.hooks.report_cumulative() error("bad hook") end]],
      "run --events=5")
   tap.like(text, "`report_cumulative' function failed: script%d+.lua:%d+: " ..
            "bad hook", "an error in a hook")
   tap.is(status, 1, "fails the program")
end

-- Parses a JSON value at a position. Returns the position after it, or nil.
local function value(text, at)
   at = text:match("^%s*()", at)
   local c = text:sub(at, at)
   if c ~= "[" and c ~= "{" then
      return text:match('^"[^"\\]*"()', at) or
         text:match("^%-?%d+%.?%d*()", at)
   end
   local close = c == "[" and "]" or "}"
   repeat
      at = text:match("^%s*()", at + 1)
      if c == "{" then
         at = text:match('^"[^"\\]*"%s*:()', at)
      end
      at = at and value(text, at)
      at = at and text:match("^%s*()", at)
   until not at or text:sub(at, at) ~= ","
   return at and text:sub(at, at) == close and at + 1
end

local function ready_made()
   local out = tap.with(busy .. [[
sysbench.hooks.report_intermediate = sysbench.report_json
sysbench.hooks.report_cumulative = sysbench.report_json]],
      "run --time=2 --report-interval=1")
   local json = out:match("(%[\n.*)$") or ""
   local last = value(json, 1)
   tap.ok(last and json:sub(last):match("^%s*$"), "report_json() is JSON", out)
   local _, n = json:gsub('"qps"', "")
   tap.ok(n >= 2, "both hooks write one array")
   out = tap.with(busy .. [[
sysbench.hooks.report_intermediate = sysbench.report_json
function sysbench.hooks.report_cumulative() print("in words") end]],
      "run --time=1 --report-interval=0.4")
   json = out:match("(%[\n.*%]\n)in words\n$") or ""
   tap.is(value(json, 1), #json,
      "the output of another hook follows the array", out)
   out = tap.with(busy .. [[
sysbench.hooks.report_intermediate = sysbench.report_json]],
      "run --time=1 --report-interval=0.4")
   json = out:match("(%[\n.*%]\n)\nGeneral statistics:") or ""
   tap.is(value(json, 1), #json, "so does the classic report", out)
   local _, closed = out:gsub("%]\n", "")
   tap.is(closed, 1, "the array is closed once")
   out = tap.with(busy .. [[
sysbench.hooks.report_cumulative = sysbench.report_csv]],
      "run --time=0 --events=20")
   tap.like(out, "\n%d+,1,[%d.]+,0.00,0.00,0.00,0.00,[%d.]+,0.00,0.00\n",
            "report_csv()")
   out = tap.with(busy .. [[
sysbench.hooks.report_cumulative = sysbench.report_default]],
      "run --time=0 --events=20")
   tap.like(out, "%[ %d+s %] thds: 1 tps: [%d.]+ qps: 0.00 %(r/w/o: " ..
            "0.00/0.00/0.00%) lat %(ms,95%%%): [%d.]+ err/s 0.00 " ..
            "reconn/s: 0.00\n", "report_default()")
   -- Events that take less than five microseconds.
   for hook, pattern in pairs({report_json = '"latency": ([%d.]+)',
                               report_default = "lat %(ms,95%%%): ([%d.]+)"}) do
      out = tap.with("function event() end " ..
         "sysbench.hooks.report_cumulative = sysbench." .. hook,
         "run --time=0 --events=1000")
      local ms = tonumber(out:match(pattern))
      tap.ok(ms and ms > 0, hook .. "() shows short times", out)
   end
end

local function histograms()
   local out = tap.with([[
local h = sysbench.histogram.new(100, 1, 1000)
for i = 1, 30 do h:update(10) end
for i = 1, 15 do h:update(100) end
h:update(0) h:update(1e9)
h:print()
print(pcall(sysbench.histogram.new, 1, 0, 5))]])
   local ten, stars = out:match("\n +([%d.]+) |(%*+) 30\n")
   tap.ok(ten and math.abs(ten - 10) < 0.5, "the bucket of a value", out)
   tap.is(#(stars or ""), 40, "the fullest bucket has all stars")
   tap.like(out, "|%*%*%*%*%*%*%*%*%*%*%*%*%*%*%*%*%*%*%*%* +15\n",
            "a bucket that is half as full has half as many")
   tap.like(out, " 1.000 |%*+ +1\n.*1000.000 |%*+ +1\n",
            "values outside the range are in the first and last bucket")
   tap.like(out, "false\t.*buckets >= 2", "wrong arguments")
end

local function together()
   local out, err = tap.with([[
local p = sysbench.parallel
local function work()
   local mine = {}
   for _ = 1, 5 do mine[#mine + 1] = p.ticket(0) end
   p.barrier()
   io.write(("next\t%s\t%s\n"):format(tostring(p.ticket(0) >= 15),
                                   tostring(p.ticket(1) < 3)))
   p.progress("rows", 10, 100)
   io.write("tickets " .. table.concat(mine, " ") .. "\n")
end
sysbench.cmdline.commands = { all = {work, true}, one = {work} }]],
      "all --threads=3")
   local seen, n = {}, 0
   for line in out:gmatch("tickets ([^\n]+)") do
      for k in line:gmatch("%d+") do
         n = n + (seen[k] and 0 or 1)
         seen[k] = true
      end
   end
   tap.is(n, 15, "tickets are unique", err)
   tap.ok(seen["0"] and seen["14"], "and count from 0")
   local _, all = out:gsub("next\ttrue\ttrue\n", "")
   tap.is(all, 3, "no user passes the barrier before all have reached it", out)
   local text = [[
sysbench.cmdline.commands = { x = {function()
   if sysbench.tid == 1 then error("one fails") end
   sysbench.parallel.barrier()
   print("not reached")
end, true}, alone = {function()
   sysbench.parallel.barrier()
   print("alone", sysbench.parallel.ticket(3), sysbench.parallel.ticket(3))
end}, key = {function() sysbench.parallel.ticket(("x"):rep(96)) end, true},
no_key = {function() sysbench.parallel.ticket() end},
no_keys = {function() sysbench.parallel.ticket() end, true} }]]
   local rc
   out, err, rc = tap.with(text, "x --threads=3")
   tap.is(rc, 1, "a command fails with one of its users")
   tap.like(err, "`x' function failed: .*one fails",
      "with the error of that user")
   tap.unlike(out .. err, "not reached", "the others leave the barrier")
   tap.like(tap.with(text, "alone"), "alone\t0\t1\n",
      "a serial command has a barrier and tickets")
   _, err = tap.with(text, "key")
   tap.like(err, "at most 95 bytes", "a wrong key")
   for _, command in ipairs{"no_key", "no_keys"} do
      _, err = tap.with(text, command)
      tap.like(err, "script%d+%.lua:%d+: ticket%(%) requires a key\n",
         command .. ": a ticket without a key")
   end
   _, err = tap.with("function event() sysbench.parallel.add(nil, 1) end",
      "run --events=1 --time=0")
   tap.like(err, "script%d+%.lua:1: add%(%) requires a key\n",
      "a counter without a key, in an event")
end

local function operations_of_hooks()
   local out, err, rc = tap.with([[
ffi.cdef("int usleep(unsigned);")
local n = 0
function event()
   local t = sysbench.op.start("long")
   n = n + 1
   ffi.C.usleep(n % 5 == 0 and 20000 or 1000)
   sysbench.op.finish(t)
end
function sysbench.hooks.report_line(stat)
   local op = stat.operations.long
   return table.concat({op.count, op.errors,
      tostring(op.min <= op.percentile(50) and op.percentile(50) < 0.02),
      tostring(op.percentile(90) >= 0.019),
      tostring(op.percentile(100) == op.max and op.avg < op.max),
      tostring(math.abs(op.sum - op.avg * op.count) < 1e-9),
      tostring(pcall(op.percentile, 101)), tostring(pcall(op.percentile)),
      tostring(stat.operations.other)}, " ")
end]], "run --time=0 --events=30")
   tap.like(out, "\n30 0 true true true true false false nil\n",
      "operations of a report", err)
   tap.is(rc, 0, "in a run that succeeds")
end

-- Hooks for 1.0 concatenate all values.
local function plain_values()
   local out, err, rc = tap.with([[
function event() return true end
function sysbench.hooks.report_cumulative(stat)
   local n = 0
   for name, value in pairs(stat) do
      n = n + #(name .. "=" .. value)
   end
   print("plain", n > 0, type(stat.metrics), type(stat.operations))
end]], "run --time=0 --events=3")
   tap.like(out, "plain\ttrue\ttable\ttable\n",
      "pairs() finds numbers and texts only", err)
   tap.is(rc, 0, "in a run that succeeds")
end

local function operations()
   local out, err, rc = tap.with([[
ffi.cdef("int usleep(unsigned);")
function event()
   local t = sysbench.op.start("new_order")
   ffi.C.usleep(100)
   sysbench.op.finish(t)
end
function init() sysbench.op.finish(sysbench.op.start("x")) end]],
      "run --time=0 --events=10 --report-operations")
   tap.like(out, "new_order +10 ", "an operation that a script defines")
   tap.is(rc, 0, "in a run that succeeds", err)
   out, err, rc = tap.with([[
local a, b = sysbench.op("a"), sysbench.op("b")
function event()
   local t = a:start()
   b:finish(b:start())
   b:finish(b:start())
   a:finish(t)
end
function init() a:finish(a:start()) end]],
      "run --time=0 --events=10 --report-operations")
   tap.like(out, "\na +10 .*\nb +20 ", "sysbench.op(name) is an object")
   tap.is(rc, 0, "also outside of events", err)
   out, err, rc = tap.with("sysbench.op(1) function event() end",
                           "run --events=1")
   tap.like(err, "the name of an operation must be a string", "a wrong name")
   tap.is(rc, 1, "fails", out)
   for _, call in ipairs{"sysbench.op(n)", "sysbench.op.start(n)",
      "sysbench.sql.driver():connect():prepare('SELECT 1', n)"}
   do
      out, err = tap.with("local n = 'a\\0b' function event() " .. call ..
         " return true end", "run --db-driver=null --events=1")
      tap.like(err, "%d: the name of an operation must not contain a zero byte",
         call, out)
   end
end

local function thinking()
   local out, err = tap.with([[
function event() sysbench.user.think(0.05) end
function init() sysbench.user.think(1) end]],
      "run --events=11 --time=0 --percentile=50")
   local total = tonumber(out:match("total time: +([%d.]+)s"))
   local median = tonumber(out:match("50th percentile: +([%d.]+)"))
   -- Ten pauses. The total is measured with another clock.
   tap.ok(total and total >= 0.499, "think() separates events", out .. err)
   tap.ok(median and median < 40, "and is not part of the latency", out)
end

function event()
   tap.run(function()
      hooks()
      ready_made()
      histograms()
      together()
      plain_values()
      operations()
      operations_of_hooks()
      thinking()
   end)
   return true
end
