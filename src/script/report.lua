-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Ready-made report hooks: one line of CSV, one object of a JSON array, or
-- the classic line for every report.

local report = {}

local function per_second(stat)
   local s = stat.time_interval
   if s <= 0 then
      s = math.huge
   end
   return stat.events / s, stat.reads / s, stat.writes / s, stat.other / s,
      stat.errors / s, stat.reconnects / s
end

-- Returns a latency in ms as text: with two decimals as in 1.0, or with three
-- significant digits below 0.1 ms (sb_units_ms_decimals() for classic lines).
local function milliseconds(seconds)
   local ms, decimals = seconds * 1000, 2
   if ms > 0 and ms < 0.09995 then
      decimals = math.min(2 - math.floor(math.log10(ms)), 6)
   end
   return ("%4." .. decimals .. "f"):format(ms)
end

-- The columns and their decimals are those of 1.0 and must not change.
function report.report_csv(stat)
   local tps, reads, writes, other, errors, reconnects = per_second(stat)
   print(("%.0f,%u,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f"):format(
         stat.time_total, stat.threads_running, tps, reads + writes + other,
         reads, writes, other, stat.latency_pct * 1000, errors, reconnects))
end

-- The array of report_json() while it is open: closed before the final report
-- or with the state of the report hooks.
local array

local function close_array()
   if array then
      io.write("\n]\n")
      io.flush()
      array = nil
   end
end

local function open_array()
   array = newproxy(true)
   getmetatable(array).__gc = close_array
   io.write("[\n")
end

function report.report_json(stat)
   local tps, reads, writes, other, errors, reconnects = per_second(stat)
   if array then
      io.write(",\n")
   else
      open_array()
   end
   io.write(([[
  {
    "time": %.0f,
    "threads": %u,
    "tps": %.2f,
    "qps": {
      "total": %.2f,
      "reads": %.2f,
      "writes": %.2f,
      "other": %.2f
    },
    "latency": %s,
    "errors": %.2f,
    "reconnects": %.2f
  }]]):format(stat.time_total, stat.threads_running, tps,
         reads + writes + other, reads, writes, other,
         milliseconds(stat.latency_pct), errors, reconnects))
   io.flush()
end

function report.report_default(stat)
   local tps, reads, writes, other, errors, reconnects = per_second(stat)
   print(("[ %.0fs ] thds: %u tps: %4.2f qps: %4.2f (r/w/o: " ..
          "%4.2f/%4.2f/%4.2f) lat (ms,%u%%): %s err/s %4.2f " ..
          "reconn/s: %4.2f"):format(
         stat.time_total, stat.threads_running, tps, reads + writes + other,
         reads, writes, other, stat.latency_pct_rank or 95,
         milliseconds(stat.latency_pct), errors, reconnects))
end

-- Called after the last interval: the final report is part of the array only
-- if its hook is report_json() too.
function report.before_final(hook)
   if hook ~= report.report_json then
      close_array()
   end
end

return report
