#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Latency: tiny statements that do no work. Each event is one probe: an empty
-- statement, a ping, or a statement that returns two times of the server's
-- clock, when it started this statement and when it evaluated it. With the
-- offset of the clocks, which is estimated before the run, the latency of a
-- probe is divided into the way to the start, the work and the way back.

local dialect = require("sb.dialect")

local user = sysbench.user

-- Options --------------------------------------------------------------------

if sysbench.cmdline.command == nil then
   error("Command is required. Supported commands: run, help", 0)
end

local NAMES = {"empty", "ping", "timestamp"}

sysbench.cmdline.options = {
   probes = {"Probes that each user executes one after the other: empty (a " ..
      "statement that does nothing), ping (SELECT 1) and timestamp (the " ..
      "server's clock); by default those that the database has", NAMES},
   probe_interval = {"Seconds between the end of a probe of a user and the " ..
      "start of its next one; 0: none", 0.01, min = 0, max = 1e6},
   calibrations = {"Round trips before the run, without load, that find the " ..
      "offset of the server's clock", 200, sysbench.cmdline.ARG_INT, min = 1,
      max = 1e6},
   same_clock = {"Client and server use the same clock, so its offset is 0: " ..
      "they are on the same host", false},
}

-- Probes ---------------------------------------------------------------------

-- Returns the texts of the probes, by name.
local function texts(drv)
   if drv:dialect() == "mongodb" then
      return {ping = '{"ping": 1}'}
   end
   local d = dialect.of(drv)
   return {empty = d.empty_statement, ping = "SELECT 1", timestamp = d.times},
      d
end

-- Returns the names of the probes; by default, those that the database has.
-- text: of the probes, by name.
local function chosen(opt, text)
   local list = {}
   if table.concat(opt.probes, ",") ~= table.concat(NAMES, ",") then
      return opt.probes
   end
   for _, name in ipairs(NAMES) do
      list[#list + 1] = text[name] and name
   end
   return list
end

local function has_timestamp(opt)
   for _, name in ipairs(chosen(opt, (texts(sysbench.sql.driver())))) do
      if name == "timestamp" then
         return true
      end
   end
   return false
end

-- Returns the names for which there are texts.
local function available(text)
   local names = {}
   for _, name in ipairs(NAMES) do
      names[#names + 1] = text[name] and name
   end
   return table.concat(names, ",")
end

local function check(opt, drv)
   local text = texts(drv)
   if #opt.probes == 0 then
      error("--probes is empty; available: " .. table.concat(NAMES, ", "), 0)
   end
   for _, name in ipairs(chosen(opt, text)) do
      if not text[name] then
         error(("--probes: there is no '%s' with %s; use --probes=%s"):format(
            name, drv:name(), available(text)), 0)
      end
   end
   if opt.mix ~= "" and opt.mix_by ~= "users" then
      error("latency: a mix with this workload needs --mix-by=users, " ..
         "because its users wait between probes", 0)
   end
end

-- The clocks -----------------------------------------------------------------

ffi.cdef("int clock_gettime(int, void *);")
local stamp = ffi.new("struct { long sec, nsec; }")
local REALTIME = 0

-- Returns the time of the client's clock in microseconds since 1970. A double
-- has room for quarters of them.
local function now()
   ffi.C.clock_gettime(REALTIME, stamp)
   return tonumber(stamp.sec) * 1e6 + tonumber(stamp.nsec) / 1e3
end

-- Numbers that the main state finds before the run, for all states, in quarters
-- of a microsecond. An offset may be negative.
local QUARTERS, BIAS = 4, 2 ^ 51

local function share(name, value)
   sysbench.sequence("latency " .. name,
      math.floor(value * QUARTERS + 0.5) + BIAS)
end

local function shared(name)
   return (sysbench.sequence("latency " .. name):last() - BIAS) / QUARTERS
end

local function connect(drv, d)
   local con = drv:connect()
   if d and d.use_times then
      con:query(d.use_times)
   end
   return con
end

local function ask_identity(con, d)
   local rs = con:query(d.server_identity)
   local text = rs:fetch_row()[1]
   rs:free()
   return text
end

-- Returns a number that differs between servers; 0 if there is none, because
-- the server is only compatible and does not have these functions.
local function identity(con, d)
   local ok, text = false, nil
   if d.server_identity then
      ok, text = pcall(ask_identity, con, d)
   end
   local h = 0
   for i = 1, ok and text and #text or 0 do
      h = (h * 31 + text:byte(i)) % 2 ^ 46
   end
   return h
end

-- Executes the probe `timestamp`. Returns the client's time before and after
-- it, and between them the two times of the server.
local function ask_times(con, text)
   local before = now()
   local rs = con:query(text)
   local after = now()
   local row = rs:fetch_row()
   rs:free()
   return before, tonumber(row[1]), tonumber(row[2]), after
end

-- Connections use the hosts of a list in turn, but there is one offset.
local function refuse_several(opt, drv)
   for _, what in ipairs{"host", "port", "socket"} do
      local name = drv:name() .. "_" .. what
      local value = opt[name]
      value = type(value) == "table" and table.concat(value, ",") or value
      if type(value) == "string" and value:find(",", 1, true) then
         error(("latency: the servers of --%s=%s have several clocks; use " ..
            "a run for each of them, or --probes=empty,ping"):format(
            (name:gsub("_", "-")), value), 0)
      end
   end
end

-- A statement starts after it was sent, and is evaluated before its result
-- arrives. So each round trip gives a minimum and a maximum of the offset of
-- the server's clock. Returns the closest bounds of all round trips, the round
-- trip times in ascending order, and the identity of the server.
local function calibrate(opt, drv)
   local text, d = texts(drv)
   local probe = connect(drv, d)
   local least, greatest, trips = -math.huge, math.huge, {}
   for i = 1, opt.calibrations do
      local before, start, evaluated, after = ask_times(probe, text.timestamp)
      least = math.max(least, evaluated - after - 0.5)
      greatest = math.min(greatest, start + d.times_step - before + 0.5)
      trips[i] = after - before
   end
   local server = identity(probe, d)
   probe:disconnect()
   table.sort(trips)
   if least > greatest then
      error(("latency: the offset between the clocks of client and server " ..
         "changed by at least %.0f us during %d round trips, so it cannot " ..
         "be determined"):format(least - greatest, opt.calibrations), 0)
   end
   return least, greatest, trips, server
end

-- Returns the offset of the server's clock, its error, the round trips, and the
-- identity of the server.
local function find_offset(opt, drv)
   local least, greatest, trips, server = calibrate(opt, drv)
   local _, d = texts(drv)
   if not opt.same_clock and not d.times_local then
      return (least + greatest) / 2, (greatest - least) / 2, trips, server
   elseif least > 0 or greatest < 0 then
      error(("--same-clock: the offset of the server's clock is between " ..
         "%.0f and %.0f us, not 0"):format(least, greatest), 0)
   end
   return 0, d.times_step / 2, trips, server
end

function init()
   local opt, drv = sysbench.opt, sysbench.sql.driver()
   check(opt, drv)
   if has_timestamp(opt) then
      refuse_several(opt, drv)
      local offset, err, trips, server = find_offset(opt, drv)
      share("server", server)
      share("offset", offset)
      share("error", err)
      share("shortest", trips[1])
      share("median", trips[math.ceil(#trips / 2)])
   end
end

-- Users ----------------------------------------------------------------------

local con, interval
local probes, at = {}, 0

local function plain(name, text)
   local op = sysbench.op(name)
   return function()
      local token = op:start()
      local rs = con:query(text)
      op:finish(token)
      if rs then
         rs:free()
      end
   end
end

-- The clock of the server is truncated to steps, so the middle of a step is
-- used. tolerance: how much less than 0 a time may be, because of the error of
-- the offset.
local function timestamp(name, text, step)
   local op = sysbench.op(name)
   local offset, tolerance = shared("offset"), shared("error") + 1
   local function distribution(metric, help)
      return sysbench.metric(metric,
         {kind = "distribution", unit = "us", help = help})
   end
   local to_start = distribution("to_start",
      "from sending a statement to its start in the server")
   local work = distribution("work",
      "from the start of a statement to its evaluation")
   local back = distribution("back",
      "from the evaluation of a statement to its result in the client")
   local moved = sysbench.metric("clock_moved",
      {help = "probes whose times contradict the offset of the clocks"})
   return function()
      local token = op:start()
      local before, start, evaluated, after = ask_times(con, text)
      op:finish(token)
      local there = start + step / 2 - offset - before
      local home = after + offset - evaluated - step / 2
      to_start:record(math.max(there, 0))
      work:record(math.max(evaluated - start, 0))
      back:record(math.max(home, 0))
      if there < -tolerance or home < -tolerance then
         moved:add()
      end
   end
end

-- There is one offset, of the server on which it was found. A list of hosts, a
-- connection string or a proxy may lead to others.
local function refuse_other_server(d)
   if identity(con, d) ~= shared("server") then
      error("latency: the connections lead to several servers, which have " ..
         "several clocks; use a run for each of them, or " ..
         "--probes=empty,ping", 0)
   end
end

function thread_init()
   local drv = sysbench.sql.driver()
   local text, d = texts(drv)
   con, interval = connect(drv, d), sysbench.opt.probe_interval
   for i, name in ipairs(chosen(sysbench.opt, text)) do
      if name == "timestamp" then
         refuse_other_server(d)
         probes[i] = timestamp(name, text[name], d.times_step)
      else
         probes[i] = plain(name, text[name])
      end
   end
end

function thread_done()
   con:disconnect()
end

function event()
   at = at % #probes + 1
   probes[at]()
   if interval > 0 then
      user.think(interval)
   end
end

-- Reports --------------------------------------------------------------------

function sysbench.hooks.report_line(stat, final)
   if not has_timestamp(sysbench.opt) then
      return nil
   elseif final then
      return ("latency: offset of the server's clock %.1f us, error at most " ..
         "%.1f us; round trip without load: shortest %.1f us, median %.1f us"
         ):format(shared("offset"), shared("error"), shared("shortest"),
         shared("median"))
   end
   local m, rank = stat.metrics, stat.latency_pct_rank
   if not rank or not m.to_start then
      return nil
   end
   return ("to start / work / back (us,%g%%): %.1f / %.1f / %.1f"):format(
      rank, m.to_start.pct, m.work.pct, m.back.pct)
end

-- A clock that was adjusted during the run makes the times wrong by as much.
function done()
   local opt, drv = sysbench.opt, sysbench.sql.driver()
   local _, d = texts(drv)
   if not has_timestamp(opt) or opt.same_clock or d.times_local then
      return
   end
   local ok, offset, err = pcall(find_offset, opt, drv)
   if not ok then
      print("latency: the offset of the clock could not be checked after " ..
         "the run")
   elseif math.abs(offset - shared("offset")) > err + shared("error") then
      print(("latency: the offset of the server's clock changed by %.0f us " ..
         "during the run; to_start and back are wrong by up to that"):format(
         offset - shared("offset")))
   end
end
