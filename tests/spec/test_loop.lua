-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The event loop is compiled: it has traces, and none is aborted. Also tests
-- restarts, the end of the loop, and loops that scripts define.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")

-- Counts the compiler's traces after thread_init(). LuaJIT counts executions by
-- a hash of addresses, so what becomes hot first depends on the place of the
-- bytecode in memory. If it is event(), or a function that each event calls
-- several times, its trace is aborted at the return to the loop, or where it
-- meets the loop. The loop's trace includes that function later. That is not a
-- failure.
local watch = [[
local made, aborted, stitched, why, loop = 0, 0, 0, "", "none"
-- What a trace begins with, and what its first ancestor begins with.
local util, from, root = require("jit.util"), {}, {}
local known, vmdef = pcall(require, "jit.vmdef")
local function left(tr, code)
   local reason = known and vmdef.traceerr[code]
   -- next_event(), in the module of the loop, returns to it, also in a side
   -- trace.
   return reason == "NYI: return to lower frame" and root[tr] == "=[user]" or
      root[tr] ~= "=[user]" and
      (reason == "leaving loop in root trace" and from[tr] ~= "a trace" or
       reason == "loop unroll limit reached")
end
local function note(what, tr, func, pc, code, reason)
   if what == "start" then
      -- The last two arguments are the parent trace and its exit.
      from[tr] = code == nil and util.funcinfo(func).source or "a trace"
      root[tr] = code == nil and from[tr] or root[code]
   elseif what == "stop" then
      local info = util.traceinfo(tr)
      made = made + 1
      -- A trace that ends in code that cannot be compiled.
      if info.linktype == "stitch" then
         stitched = stitched + 1
      elseif info.linktype == "loop" and from[tr] == "=[user]" then
         loop = "loop"
      end
   elseif what == "abort" and not left(tr, code) then
      aborted = aborted + 1
      local info = util.funcinfo(func, pc)
      why = why .. " " .. tostring(info.loc or info.source) .. ":" ..
         (known and vmdef.traceerr[code] or code) .. ":" .. tostring(reason)
   end
end
function sb_watch() require("jit").attach(note, "trace") end
function thread_done() print("traces", made, loop, stitched, aborted, why)
end
]]

local function run(what, text, options)
   local out, err = tap.with(watch .. text, "run --time=0 " .. options)
   local list = {}
   for made, loop, stitched, aborted, why in
      out:gmatch("traces\t(%d+)\t(%a+)\t(%d+)\t(%d+)\t([^\n]*)")
   do
      list[#list + 1] = { made = tonumber(made), loop = loop,
                          stitched = tonumber(stitched),
                          aborted = tonumber(aborted), why = why }
   end
   local threads = tonumber(options:match("--threads=(%d+)"))
   tap.is(#list, threads, what .. ": all users have ended", out .. err)
   return list
end

-- All users of a run have a trace of the loop and no aborted one, if each has a
-- Lua state of its own.
local function compiled(what, text, args, threads)
   threads = threads or 1
   local options = ("--workers=users --threads=%d %s"):format(threads, args)
   for _, user in ipairs(run(what, text, options)) do
      tap.ok(user.made > 0, what .. ": there are traces")
      tap.is(user.loop, "loop", what .. ": there is a trace of the whole loop")
      tap.is(user.stitched, 0, what .. ": it ends nowhere else")
      tap.is(user.aborted, 0, what .. ": no trace is aborted" .. user.why)
   end
end

-- Where users share a state, a call that waits ends a trace, and another one
-- begins after it. The handlers of all users note the traces of the state.
local function compiled_together(what, text, args)
   local users = run(what, text, "--workers=1 --threads=8 " .. args)
   local made, stitched, aborted, why = 0, 0, 0, ""
   for _, user in ipairs(users) do
      made, stitched = made + user.made, stitched + user.stitched
      aborted, why = aborted + user.aborted, why .. user.why
   end
   tap.ok(stitched > 0, what .. ", shared: traces end where calls wait")
   tap.ok(made > stitched, what .. ", shared: others lead back to the loop")
   tap.is(aborted, 0, what .. ", shared: no trace is aborted" .. why)
end

local function loops()
   compiled("empty event", [[
function thread_init() sb_watch() end
function event() end]], "--events=100000")
   local point_select = [[
local drv, con, stmt, id
function thread_init()
   drv = sysbench.sql.driver()
   con = drv:connect()
   stmt = con:prepare("SELECT c FROM sbtest1 WHERE id=?", "point_selects")
   id = stmt:bind_create(sysbench.sql.type.INT)
   stmt:bind_param(id)
   sb_watch()
end
function event()
   id:set(sysbench.rand.default(1, 10000))
   local rs = stmt:execute()
   if rs ~= nil then rs:free() end
end]]
   compiled("point select", point_select, "--events=100000 --db-driver=null")
   compiled("a point select that waits", point_select,
            "--events=2000 --db-driver=null --null-latency=20us", 3)
   compiled_together("a point select that waits", point_select,
            "--events=20000 --db-driver=null --null-latency=20us")
   compiled("metrics", [[
local counter, gauge, distribution
function thread_init()
   counter = sysbench.metric("c")
   gauge = sysbench.metric("g", "gauge")
   distribution = sysbench.metric("d", "distribution")
   sb_watch()
end
function event()
   counter:add(1)
   gauge:set(7)
   distribution:record(2.5)
   sysbench.metric("c"):add()
end]], "--events=100000")
   compiled("text query", [[
local con
function thread_init()
   con = sysbench.sql.driver():connect()
   sb_watch()
end
function event() con:query("SELECT 1") end]],
      "--events=100000 --db-driver=null")
end

local function ends()
   local out = tap.with([[
local n = 0
function event() n = n + 1 if n == 6 then return true end end]],
      "run --time=0")
   tap.like(out, "total number of events: +5\n",
      "true ends the loop; that event does not count")
   out = tap.with("function event() end",
                  "run --time=0 --events=1234 --threads=3")
   tap.like(out, "total number of events: +1234\n", "the event limit is exact")
   out = tap.with([[
local n = 0
function event() n = n + 1 if n == 1 then return false end end]],
      "run --time=0 --events=10")
   tap.like(out, "total number of events: +10\n",
      "an event that returns false counts")
end

local function restarts()
   local out, err = tap.with([[
local n = 0
function sysbench.hooks.before_restart_event(e) print("hook", e.why) end
function event()
   n = n + 1
   if n == 3 or n == 4 then
      error({errcode = sysbench.error.RESTART_EVENT, why = "try" .. n})
   end
end
function thread_done() print("calls", n) end]], "run --time=0 --events=10")
   tap.like(out, "hook\ttry3\n.*hook\ttry4\n",
      "the hook is called for each restart")
   tap.like(out, "calls\t12\n", "the event is called again")
   tap.like(out, "total number of events: +10\n", "and counted once")
   tap.unlike(err, "FATAL", "a restart is not an error")
   out = tap.with([[
local n = 0
function event()
   n = n + 1
   if n % 2 == 1 then error({errcode = 1}) end
   if n == 8 then return true end
end
function thread_done() print("calls", n) end]], "run --time=0")
   tap.like(out, "calls\t8\n", "true from a restarted event ends the loop")
   tap.like(out, "total number of events: +3\n", "and is not counted either")
   local _, text, rc = tap.with([[
function sysbench.hooks.before_restart_event() error("in the hook") end
function event() error({errcode = 1}) end]], "run --time=0")
   tap.like(text, "thread_run' function failed: script%d+.lua:1: in the hook",
            "an error in the hook ends the run")
   tap.is(rc, 1, "with status 1")
end

local function own_loops()
   local out, err, rc = tap.with([[
ffi.cdef("void sb_event_start(int); void sb_event_stop(int);" ..
         "bool sb_more_events(int);")
function event() end
function thread_run(id)
   local n = 0
   while ffi.C.sb_more_events(id) do
      ffi.C.sb_event_start(id)
      event(id)
      ffi.C.sb_event_stop(id)
      n = n + 1
   end
   print("loop of its own", id, n)
end]], "run --time=0 --events=100")
   tap.like(out, "loop of its own\t0\t100\n", "thread_run() replaces the loop")
   tap.like(out, "total number of events: +100\n",
      "the events of its loop are counted")
   tap.is(rc, 0, "the run succeeds", err)
   out = tap.with([[
function event() end
function thread_run()
   local i = 0
   while ffi.C.sb_more_events(0) do
      i = i + 1
      ffi.C.sb_event_start(0)
      if i % 2 == 0 then ffi.C.sb_event_stop(0) end
      if i == 10 then return end
   end
end]], "run --time=0")
   tap.like(out, "total number of events: +5\n", "only stopped events count")
   local _, text, status = tap.with([[
function event() end
function thread_run() error("mine") end]], "run --time=0")
   tap.like(text, "`thread_run' function failed: script%d+.lua:2: mine",
            "an error in thread_run() ends the run")
   tap.is(status, 1, "with status 1")
end

function event()
   tap.run(function()
      loops()
      ends()
      restarts()
      own_loops()
   end)
   return true
end
