#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Connections: each user opens --connections-per-user of them, all at once or
-- at a rate, and holds them until the end, idle or used. An event is an attempt
-- to connect or, with --hold=used, a query on one of the held connections.

local options = require("sb.options")

local user = sysbench.user

-- Options --------------------------------------------------------------------

local int = sysbench.cmdline.ARG_INT

options.refuse_ranks("connect")

if sysbench.cmdline.command == nil then
   error("Command is required. Supported commands: run, help", 0)
end

sysbench.cmdline.options = {
   connections_per_user = {"Connections that each user opens", 10, int,
      min = 1, max = 1e6},
   connect_rate = {"Connections per second of all users together; 0: no " ..
      "limit. Unlike --rate, it does not pace the other workloads of a mix",
      0, min = 0, max = 1e9},
   start_after = {"Seconds from the start of the run to the first connection",
      0, min = 0, max = 1e9},
   hold = {"Use of held connections: idle, or used (each event executes " ..
      "--query on the next one of its user)", "idle",
      values = {"idle", "used"}},
   hold_time = {"Seconds for which the connections are held after the last " ..
      "attempt to connect; then the run ends. -1: until --time", -1,
      min = -1, max = 1e9},
   query = {"Short query for held connections; default: SELECT 1, or a ping " ..
      "of MongoDB", ""},
   check_held = {"Execute the query on each held connection at the end, to " ..
      "find lost ones", true},
   require_all = {"The verdict on the run is false if a connection could " ..
      "not be made, was lost or, with --check-held, did not answer at the end",
      false},
}

sysbench.results = {
   connections_per_second = {better = "higher", unit = "/s", headline = true},
   connected = {better = "higher", unit = "connections"},
   lost = {better = "lower", unit = "connections"},
   answered = {better = "higher", unit = "connections"},
}

-- Open files of the program itself, and some of its client libraries.
local OWN_FILES = 50

-- A mix by events would stop the user's other workloads while it holds.
local function check_mix(opt)
   if opt.mix ~= "" and opt.mix_by ~= "users" then
      error("connect: a mix with this workload needs --mix-by=users, " ..
         "because its users hold their connections between events", 0)
   end
end

local function check_files(opt)
   local wanted = opt.threads * opt.connections_per_user
   if wanted + OWN_FILES > sysbench.max_open_files and
      sysbench.sql.driver():name() ~= "null" then
      error(("connect: %.0f connections need more open files than the limit " ..
         "of %.0f (ulimit -n); raise it, or use several processes"):format(
         wanted, sysbench.max_open_files), 0)
   end
end

function init()
   local opt = sysbench.opt
   check_mix(opt)
   if opt.mix == "" then
      check_files(opt)
   end
end

-- How often a user checks whether the server has closed one of its idle
-- connections, and whether all users are ready, in seconds; and how often all
-- users together check the latter, per second. While some are connecting, the
-- others must not use processors.
local LOOK_EVERY, READY_EVERY, READY_PER_SECOND = 1, 0.2, 1000

-- Numbers that all users share.
local sequences = {}

local function shared(name)
   local sequence = sequences[name]
   if not sequence then
      sequence = sysbench.sequence("connect " .. name)
      sequences[name] = sequence
   end
   return sequence
end

-- Connecting ----------------------------------------------------------------

local opt, drv, query
local gauge, lost, failed
local response = sysbench.op("connect_response")
local hold_time -- negative: until the end of the run

-- The held connections of this user, attempts to connect, and the last
-- connection that was used.
local cons, held, tried, used = {}, 0, 0, 0
local last_try = 0 -- time of the last attempt
local due          -- time at which the next one is due, with --connect-rate

-- Delays the next event until the next connection is due.
local function wait_until_due()
   local start = opt.start_after
   if opt.connect_rate > 0 then
      start = start + (shared("due"):next() - 1) / opt.connect_rate
      due = start
   end
   local pause = start - user.run_time()
   if pause > 0 then
      user.think(pause)
   end
end

-- The sequence becomes the highest value of all users.
local function publish()
   sysbench.sequence("connect end us", last_try * 1e6)
end

-- An attempt that the server refuses is a failed event.
local function connect()
   local token = due and response:start(user.run_time() - due)
   local con = drv:try_connect()
   tried = tried + 1
   if con then
      if token then
         response:finish(token)
      end
      held = held + 1
      cons[held] = con
      shared("made"):next()
      gauge:set(held)
   else
      failed:add()
      user.fail()
   end
   last_try = user.run_time()
   if tried == opt.connections_per_user then
      publish()
   end
   shared("tried"):next()
end

function thread_init()
   opt, drv = sysbench.opt, sysbench.sql.driver()
   hold_time = opt.hold_time
   if hold_time < 0 and opt.time == 0 and opt.events > 0 and
      opt.hold == "idle" then
      hold_time = 0 -- --events ends the run
   end
   query = opt.query
   if query == "" then
      query = drv:dialect() == "mongodb" and '{"ping": 1}' or "SELECT 1"
   end
   gauge = sysbench.metric("connections", {kind = "gauge",
      help = "connections that are open"})
   lost = sysbench.metric("lost", {help = "connections that the server closed"})
   failed = sysbench.metric("failed",
      {help = "attempts to connect that failed"})
   gauge:set(0)
   shared("planned"):next(opt.connections_per_user)
   -- What the first event needs is loaded now: the connections are timed.
   local _ = {drv.try_connect, shared("made"), shared("tried"), user.run_time()}
   wait_until_due()
end

-- Holding -------------------------------------------------------------------

local function execute(con)
   local rs = con:query(query)
   if rs then
      rs:free()
   end
end

-- Removes lost connection k.
local function remove(k)
   pcall(cons[k].disconnect, cons[k])
   cons[k], cons[held] = cons[held], nil
   held = held - 1
   lost:add()
   shared("lost"):next()
   gauge:set(held)
end

-- Executes the query on a connection. Returns true, or false and the error.
local function try(con)
   return pcall(execute, con)
end

-- True if all connections were tried.
local function all_tried()
   local wanted = shared("planned"):last()
   if opt.events > 0 then
      wanted = math.min(wanted, opt.events)
   end
   return shared("tried"):last() >= wanted
end

-- Returns how long the connections are still to be held, in seconds.
local function hold_left()
   return hold_time + sysbench.sequence("connect end us"):last() / 1e6 -
      user.run_time()
end

-- True if the connections were held for --hold-time.
local function over()
   return hold_time >= 0 and all_tried() and hold_left() <= 0
end

local function use()
   used = used % held + 1
   local con = cons[used]
   local ok, err = try(con)
   if ok then
      return
   elseif con:is_alive() then
      error(err, 0)
   elseif type(err) == "table" then
      lost:add() -- with --db-reconnect, the program connects again
      shared("lost"):next()
      error(err, 0)
   end
   remove(used)
end

function event()
   if tried < opt.connections_per_user then
      connect()
   elseif held > 0 then
      use()
   end
   if tried < opt.connections_per_user then
      wait_until_due()
   elseif opt.hold == "idle" or held == 0 or over() then
      user.stop()
   end
end

-- Removes connections that the server has closed. The query on such a
-- connection fails; it is executed because its error says why.
local function look()
   for k = held, 1, -1 do
      if not cons[k]:is_alive() then
         try(cons[k])
         remove(k)
      end
   end
end

-- Returns the seconds until a user that holds its connections checks again.
local function until_next_check()
   local pause = LOOK_EVERY
   if hold_time >= 0 and all_tried() then
      pause = math.max(hold_left(), 0.001)
   elseif hold_time >= 0 then
      pause = math.max(READY_EVERY, opt.threads / READY_PER_SECOND)
   end
   return math.min(pause, LOOK_EVERY)
end

local function hold()
   local next_look = user.run_time() + LOOK_EVERY
   while held > 0 and not over() and user.wait(until_next_check()) do
      if user.run_time() >= next_look then
         look()
         next_look = user.run_time() + LOOK_EVERY
      end
   end
end

-- Executes the query on all connections. An error that is not about a
-- connection is printed once for all users.
local function check()
   for k = held, 1, -1 do
      local ok, err = try(cons[k])
      if not ok and not cons[k]:is_alive() then
         remove(k)
      elseif ok or type(err) == "table" then
         shared("answered"):next() -- an error to retry is an answer, too
      else -- it was canceled, because the run ends, or is no valid query
         if shared("warned"):next() == 1 then
            sysbench.warning("connect: a held connection did not answer: " ..
               tostring(err))
         end
         return
      end
   end
end

function thread_done()
   publish()
   -- Used connections were held by events.
   if opt.hold == "idle" then
      hold()
   end
   look()
   if opt.check_held then
      check()
   end
   for k = 1, held do
      cons[k]:disconnect()
   end
end

-- Reports -------------------------------------------------------------------

local function made_text()
   local made, planned = shared("made"):last(), shared("planned"):last()
   local seconds = sysbench.sequence("connect end us"):last() / 1e6 -
      sysbench.opt.start_after
   local text = ("connect: %.0f of %.0f connections were made"):format(made,
      planned)
   sysbench.result("connected", made)
   sysbench.result("lost", shared("lost"):last())
   if seconds > 0 and shared("tried"):last() >= planned then
      sysbench.result("connections_per_second", made / seconds)
      text = text .. (" in %.3f s"):format(seconds)
   end
   return text .. ("; %.0f lost"):format(shared("lost"):last())
end

function sysbench.hooks.report_line(_, final)
   local made, tried_all = shared("made"):last(), shared("tried"):last()
   if not final then
      return ("connections: %.0f held, %.0f lost, %.0f failed"):format(
         made - shared("lost"):last(), shared("lost"):last(), tried_all - made)
   end
   local text = made_text()
   if sysbench.opt.check_held then
      sysbench.result("answered", shared("answered"):last())
      text = text .. ("; %.0f answered at the end"):format(
         shared("answered"):last())
   end
   return text
end

function done()
   local missing = shared("planned"):last() - shared("made"):last()
   local gone = shared("lost"):last()
   local silent = shared("made"):last() - shared("answered"):last()
   if not sysbench.opt.require_all then
      return
   elseif missing + gone > 0 then
      sysbench.verdict(false, ("%.0f connections were not made, and %.0f " ..
         "were lost (--require-all)"):format(missing, gone))
   elseif sysbench.opt.check_held and silent > 0 then
      sysbench.verdict(false, ("%.0f connections did not answer at the end " ..
         "(--require-all)"):format(silent))
   else
      sysbench.verdict(true, "all connections were made and held")
   end
end
