-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Connections opened in events: the operation connect, failures by their codes,
-- try_connect() and is_alive(). Also sysbench.user, with which a user holds
-- them.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")

-- Connections before the first event are in no figure.
local function opened()
   local out, err, rc = tap.with([[
local drv
function thread_init()
   drv = sysbench.sql.driver()
   drv:connect()
end
function event()
   local con = drv:connect()
   assert(con:is_alive())
   con:disconnect()
   assert(not con:is_alive())
   con = drv:try_connect{["null-latency"] = "0"}
   assert(con:query_row("SELECT 1"))
end]], "run --db-driver=null --time=0 --events=7 --threads=2 " ..
      "--report-operations")
   tap.is(rc, 0, "the run succeeds", err)
   tap.like(out, "\nconnect +14 +[%d.]+ +0 ",
            "both functions are the operation connect")
end

-- A file in a folder that does not exist is refused.
local function refused()
   local _
   local out, err, rc = tap.with([[
function event()
   local drv = sysbench.sql.driver("sqlite")
   local con, why = drv:try_connect{db = "/no/x"}
   assert(con == nil)
   print("why", why.sql_errno, why.sql_state == "", why.sql_errmsg)
end]], "run --db-driver=sqlite --time=0 --events=3 --report-operations " ..
      "--report-errors")
   tap.is(rc, 0, "refused connections do not end the run", err)
   tap.like(out, "why\t14\ttrue\tcannot open database '/no/x'",
            "the error has code and text")
   tap.like(out, "\nconnect +0 +[%d.]+ +3 ", "they are errors of connect")
   tap.like(err, "\n +sqlite +14 +%- +3 +%d", "and are counted by their code")
   tap.like(err, "ignored: 3, restarted: 0, given up: 0, fatal: 0",
            "the events continue")
   _, err, rc = tap.with([[
function event()
   sysbench.sql.driver("sqlite"):connect{db = "/no/x"}
end]], "run --db-driver=sqlite --time=0 --events=3 --report-errors")
   tap.is(rc, 1, "connect() raises the error", err)
   tap.like(err, "lua:2: connection creation failed: cannot open",
            "at the caller")
   tap.like(err, "\n +sqlite +14 +%- +1 +%d", "it is counted by its code, too")
   _, err, rc = tap.with([[
function event()
   sysbench.sql.driver("sqlite"):try_connect{nosuch = "/no/x"}
end]], "run --db-driver=sqlite --time=0 --events=3")
   tap.is(rc, 1, "try_connect() raises errors of the script", err)
   tap.like(err, "lua:2: connection creation failed: .*nosuch",
            "at the caller")
end

-- A user with many connections keeps those that are referenced, and only those.
local function many()
   local out, err, rc = tap.with([[
local kept = {}
function event()
   local drv = sysbench.sql.driver()
   for i = 1, 1000 do
      kept[#kept + 1] = drv:connect{db = i .. ".db"}
   end
   for i = 1, 1000 do assert(kept[i]:query_row("SELECT 1") == "1") end
   kept = {}
   for i = 1, 3000 do drv:connect{db = i .. ".db"} end
   local files = io.popen("ls /proc/" .. ffi.C.getpid() .. "/fd | wc -l")
   print("files", tonumber(files:read("*a")) < 1600)
end
ffi.cdef("int getpid(void);")]],
      "run --db-driver=sqlite --time=0 --events=1")
   tap.is(rc, 0, "1,000 connections of one user", err)
   tap.like(out, "files\ttrue", "dropped connections are closed")
end

local function user()
   local out, err, rc = tap.with([[
local user = sysbench.user
function thread_init()
   assert(user.time() == 0)
   user.think(0.3)
end
local calls = 0
function event()
   calls = calls + 1
   if calls == 1 then
      print("first", user.time() >= 0.3)
   elseif calls == 3 then
      user.stop()
      print("now", user.time() < 10)
   end
end
function thread_done()
   print("calls", calls)
   print("wait", user.wait(0.01))
   print("end", user.wait(1000), user.time() >= 1.5)
end]], "run --time=1.5 --events=0")
   tap.is(rc, 0, "wait(), stop() and time()", err)
   tap.like(out, "first\ttrue", "think() before the run delays the first event")
   tap.like(out, "now\ttrue", "stop() does not wait")
   tap.like(out, "calls\t3\n", "the event that calls stop() is the last")
   tap.like(out, "wait\ttrue", "wait() returns true after the time")
   tap.like(out, "end\tfalse\ttrue", "or false when the run ends")
   tap.like(out, "total number of events: +3\n", "the last event is counted")
   out, err, rc = tap.with([[
function event() sysbench.user.stop() end]],
      "run --time=20 --rate=100 --threads=5")
   tap.like(out, "total number of events: +5\n",
            "each user has one event, with a rate, too" .. err .. rc)
end

local function fail()
   local out, err, rc = tap.with([[
local calls = 0
function event()
   calls = calls + 1
   if calls % 3 == 0 then
      sysbench.user.fail()
      sysbench.user.fail() -- has no effect
   end
end]], "run --time=0 --events=9")
   tap.is(rc, 0, "fail() does not end the run", err)
   tap.like(out, "total number of events: +6\n", "it is no completed event")
   tap.like(out .. err, "Failed events: 3 of 9", "it is a failed one")
   out, err, rc = tap.with([[
function event()
   sysbench.op.finish(sysbench.op.start("late", 5))
   sysbench.op.finish(sysbench.op("later"):start(7))
end]], "run --time=0 --events=1 --report-operations")
   tap.is(rc, 0, "operations that started before", err)
   tap.like(out, "late +1 +[%d.]+ +0 +50%d%d%.", "start(name, seconds)")
   tap.like(out, "later +1 +[%d.]+ +0 +70%d%d%.", "start(seconds)")
end

-- The clock of the reports, which begins with the measured part, and that of
-- the run.
local function clocks()
   local script = [[
local user = sysbench.user
local before
function thread_init() print("init", user.time(), user.run_time()) end
function event()
   local time, run_time = user.time(), user.run_time()
   if not before then
      print("first", time < -0.2, run_time >= 0 and run_time < -time)
   elseif before < 0 and time >= 0 then
      print("measured", math.abs(run_time - time - 1) < 0.1)
   end
   before = math.max(before or time, time)
   user.think(0.001)
end
function thread_done() print("end", user.time() >= 0.3) end]]
   local out, err, rc = tap.with(script, "run --warmup-time=1 --time=0.3")
   tap.is(rc, 0, "a run with a warm-up", err)
   tap.like(out, "init\t0\t0\n", "before the run")
   tap.like(out, "first\ttrue\ttrue\n", "time() is negative in the warm-up")
   tap.like(out, "measured\ttrue\n", "the clocks differ by the warm-up")
   tap.like(out, "end\ttrue\n", "at the end")
   out, err, rc = tap.with([[
local user = sysbench.user
local before = 0
function event()
   local now = user.run_time()
   if now < before then print("back") end
   if user.time() < -1e6 then print("search") end
   before = now
   user.think(0.001)
end
function thread_done()
   print("end", user.time() < 60, user.run_time() - user.time() > 0.1)
end]], "run --rate=50% --rate-probe-time=0.3 --time=0.3")
   tap.is(rc, 0, "a run that finds its rate", err)
   tap.like(out, "search\n", "time() is far below 0 while the rate is found")
   tap.like(out, "end\ttrue\ttrue\n", "and begins with the measured part")
   tap.unlike(out, "back", "run_time() never goes back")
end

-- A user whose stage ends while it waits comes again.
local function stages()
   local out, err = tap.with([[
local id
function thread_init(n) id = n end
function event() sysbench.user.stop() end
function thread_done()
   print("done", id, sysbench.user.wait(1000))
end]], "run --threads=2 --stages='threads=2 for 0.4s; threads=1 for 0.4s; " ..
      "threads=2 for 0.4s'")
   local _, visits = out:gsub("done\t1\tfalse", "")
   tap.is(visits, 2, "wait() ends with the stage" .. err)
   tap.like(out, "total number of events: +3\n", "one event for each visit")
end

local function main_state()
   local out = tap.with([[
print(sysbench.user.wait(1000), sysbench.user.time(),
      sysbench.max_open_files >= 20)
sysbench.user.stop()]])
   tap.like(out, "true\t0\ttrue", "without a run there is nothing to wait for")
end

function event()
   tap.run(function()
      opened()
      refused()
      many()
      user()
      clocks()
      fail()
      stages()
      main_state()
   end)
   return true
end
