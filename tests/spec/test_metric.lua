-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.metric(): counters, gauges and distributions of scripts. Also the
-- limits of the number of metrics and operations.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")

local function kinds()
   local out, err, rc = tap.with([[
local hits = sysbench.metric("cache_hits")
local depth = sysbench.metric("queue_depth", "gauge")
local size = sysbench.metric("batch_size",
   {kind = "distribution", unit = "rows", help = "rows of a batch"})
local n = 0
function init() hits:add(1000000) end
function thread_init() depth:set(2 + sysbench.tid) end
function event()
   n = n + 1
   hits:add()
   sysbench.metric("cache_hits"):add(0.5)
   size:record(n)
end
print(tostring(hits), tostring(depth), tostring(size))]],
      "run --time=0 --events=100 --percentile=50,99")
   tap.like(out, "<counter cache_hits>\t<gauge queue_depth>\t" ..
            "<distribution batch_size>\n", "metrics have names")
   tap.like(out, "\nCounter +sum +per sec%.\ncache_hits +150 +%d",
            "a counter is the sum")
   tap.like(out, "\nGauge +value\nqueue_depth +2\n", "a gauge is a state")
   tap.like(out, "\nDistribution +count +min +avg +50%% +99%% +max\n" ..
            "batch_size %(rows%) +100 +1 +50%.5 +50%.?%d* +99%.?%d* +100\n",
            "a distribution has percentiles")
   tap.is(rc, 0, "the run succeeds", err)
   out = tap.with([[sysbench.metric("none", "distribution")
function event() end]], "run --time=0 --events=10 --percentile=50,99")
   tap.like(out, "\nnone +0 +%- +%- +%- +%- +%-\n",
            "a distribution without values")
   out = tap.with("function event() end", "run --time=0 --events=10")
   tap.unlike(out, "Counter", "a script without metrics has no table")
end

-- The last value of each user counts; the warm-up is left out, but gauges keep
-- their values.
local function phases()
   local out, err = tap.with([[
ffi.cdef("int usleep(unsigned);")
local n, gauge = sysbench.metric("n"), sysbench.metric("g", "gauge")
local both = sysbench.metric("both", "distribution")
function thread_init() gauge:set(5) end
function event() ffi.C.usleep(1000); n:add(); both:record(1) end]],
      "run --threads=3 --time=1 --warmup-time=1")
   local events = out:match("total number of events: +(%d+)")
   tap.like(out, "\nn +" .. tostring(events) .. " ",
            "the warm-up is not counted")
   tap.like(out, "\nboth +" .. tostring(events) .. " ",
            "nor part of a distribution")
   tap.like(out, "\ng +15\n", "gauges of three users are added up" .. err)
end

-- What a user has read somewhere is not its state: an old value is unknown,
-- also while the user blocks. The sum with an unknown value is unknown.
local function unknown_gauges()
   local script = [[
ffi.cdef("int usleep(unsigned);")
local old = sysbench.metric("old", {kind = "gauge", expires = 0.01})
local new = sysbench.metric("new", {kind = "gauge", expires = 100})
local none = sysbench.metric("none", "gauge")
local again = sysbench.metric("again", "gauge")
function event()
   old:set(1); new:set(2); none:set(3); again:unknown(); again:set(4)
   if sysbench.tid == 0 then none:unknown() end
   ffi.C.usleep(100000)
end
]]
   local hook = [[function sysbench.hooks.report_cumulative(stat)
   print(stat.metrics.old.value, stat.metrics.new.value)
end]]
   local options = "run --threads=2 --time=0 --events=2"
   tap.like(tap.with(script .. hook, options), "nil\t4\n",
            "an old value is nil in hooks")
   local out, err, rc = tap.with(script, options)
   tap.like(out, "\nold +unknown\nnew +4\nnone +unknown\nagain +8\n",
            "and unknown in the report")
   tap.is(rc, 0, "the run succeeds", err)
   out, err = tap.with([[
function event() end
sysbench.metric("c", {expires = 1})]], "run --time=0 --events=1")
   tap.like(out .. err, "metric 'c': expires must be a number of seconds",
            "only a gauge expires")
end

local function hooks()
   local out, err = tap.with(tap.printed("interval\tcounter") .. [[
local n = sysbench.metric("n", "counter")
local d = sysbench.metric("d", {kind = "distribution", unit = "B"})
local g = sysbench.metric("g", {kind = "gauge"})
function event() n:add(2); d:record(3); g:set(4); return printed() end
function sysbench.hooks.report_intermediate(s)
   local m = s.metrics
   if m.n then
      print("interval", m.n.kind, m.n.sum > 0)
   end
end
function sysbench.hooks.report_cumulative(s)
   local m = s.metrics
   print("final", m.n.sum == 2 * m.d.count, m.d.count > 0, m.d.avg, m.d.min,
         m.d.max, m.d.pct, m.d.kind, m.d.unit, m.g.value, m.g.kind)
end]], "run --time=0 --report-interval=1")
   tap.like(out, "interval\tcounter\ttrue\n", "hooks of intervals get metrics",
            err)
   -- The last event ends the run and is not counted, but its values are.
   tap.like(out, "final\ttrue\ttrue\t3\t3\t3\t3\tdistribution\tB\t4\tgauge\n",
            "the final hook gets metrics")
end

local function errors()
   local function raises(what, text, pattern)
      local _, err, rc = tap.with([[
local c, g, d = sysbench.metric("count"), sysbench.metric("gg", "gauge"),
   sysbench.metric("dd", {kind = "distribution", largest = 10})
function event() ]] .. text .. " end", "run --time=0 --events=1")
      tap.like(err, "script%d+%.lua:3: .*" .. pattern, what)
      tap.is(rc, 1, what .. " fails the run")
   end
   raises("NaN", "c:add(0 / 0)", "metric 'count': .* not %-?nan")
   raises("a negative number", "g:set(-1)",
          "metric 'gg': the value must be a number from 0, not %-1\n")
   raises("a string", "d:record('7')", "metric 'dd': .* not string")
   raises("infinity", "c:add(math.huge)", "metric 'count': .* not inf")
   raises("nil", "g:set()", "metric 'gg': .* not nil")
   raises("more than the largest", "d:record(11)",
          "metric 'dd': the value is 11, above the largest one, 10")
   raises("a function of another kind", "g:add(1)",
          "metric 'gg' is a gauge, which has the function set%(%) and not add")
   raises("another kind", "sysbench.metric('gg', 'counter')",
          "metric 'gg' is a gauge, not a counter")
   raises("an unknown kind", "sysbench.metric('x', 'meter')",
          "metric 'x': the kind is counter, gauge or distribution")
   raises("no name", "sysbench.metric()", "the name of a metric must be")
   raises("a zero byte", "sysbench.metric('a\\0b')",
          "the name of a metric must not contain a zero byte")
   raises("a wrong unit", "sysbench.metric('x', {unit = 1})",
          "metric 'x': unit must be a string")
   raises("an unknown field", "sysbench.metric('x', {knd = 'gauge'})",
          "metric 'x': there is no field 'knd'; the fields are kind, unit, " ..
          "help, largest and expires\n")
   raises("a wrong largest", "sysbench.metric('x', {largest = 1})",
          "metric 'x': largest must be")
end

local function names()
   local out, err, rc = tap.with([[
local n = 0
function event()
   n = n + 1
   sysbench.op.finish(sysbench.op.start("name" .. n))
   sysbench.metric("metric" .. n):add(7)
end]], "run --time=0 --events=10000 --report-operations")
   tap.is(rc, 0, "10,000 names of operations and metrics", err)
   tap.like(err, "WARNING: there is room for 1023 different operations",
            "one warning names the limit")
   tap.is(select(2, err:gsub("different operations", "")), 1, "only one")
   tap.like(err, "WARNING: there is room for 63 different metrics",
            "and one for metrics")
   tap.like(out, "\nname1023 +1 ", "the first ones have rows of their own")
   tap.unlike(out, "\nname1024 ", "the others do not")
   tap.like(out, "\n%(others%) +8977 ", "but all are counted")
   tap.like(out, "\nmetric63 +7 ", "metrics have rows of their own")
   tap.like(out, "\n%(others%) +9937 +%d", "or are counted")
end

function event()
   tap.run(function()
      kinds()
      phases()
      unknown_gauges()
      hooks()
      errors()
      names()
   end)
   return true
end
