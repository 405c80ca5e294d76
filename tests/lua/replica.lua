#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The lag of replicas: one user, the writer, writes heartbeats on the primary
-- and measures. For each replica, another user, the reader, looks for them
-- there, and a third one may ask the server for its own figure. So a replica
-- that hangs stops neither the heartbeats nor the figures. The load is another
-- workload of a mix, or comes from elsewhere. After the run, the time is
-- measured until the replicas have caught up.

local replica = require("sb.replica")
require("sb.ranks").refuse("replica")

sysbench.cmdline.options = replica.declarations()

local TRY_EVERY = 0.1 -- seconds between attempts to connect to a replica
local ASK_EVERY = 0.2 -- seconds between two questions to a server
-- Seconds: a figure that is older than this is unknown.
local OUTDATED = 1
-- Seconds: a heartbeat counts as missing at the start of the last look that did
-- not find it. If no look has ended since, it is missing as soon as a look
-- takes longer than this.
local LOOK_TAKES = 0.1

local user, kind = sysbench.user, sysbench.sql.type

local opt, drv

-- All times are those of user.run_time(), which all users share, and which
-- never goes back. `zero` is the start of the measured part on this clock.

-- Connections to a replica ---------------------------------------------------

local n -- number of this user's replica
local other -- the connection, nil while there is none
local why -- text of the error of the last attempt to connect
local next_try = 0

local function connection()
   if not other and user.run_time() >= next_try then
      next_try = user.run_time() + TRY_EVERY
      local err
      other, err = drv:try_connect(replica.target(opt, n))
      why = err and tostring(err.sql_errmsg)
   end
   return other
end

-- With --db-reconnect, the program would wait for the server of a lost
-- connection.
local function leave()
   pcall(other.disconnect, other)
   other = nil
end

-- An error of a replica does not end the run.
function sysbench.hooks.sql_error_ignorable(err)
   return err.connection == other
end

local function where()
   return ("replica %d (%s)"):format(n, replica.target_text(opt, n))
end

-- The writer -----------------------------------------------------------------

local primary, write -- connection, and statement with its parameter
local replicas = {}  -- what the writer knows of each
-- Sequences: number of measured heartbeats, the time of the writer's last event
local beats, last_event
local first, beat    -- number of the heartbeat before the run, and the last one
local next_beat = 0
local zero, begun

local function start_replica(number)
   local suffix = replica.suffix(number)
   local r = {n = number, shared = replica.sequences(number), pending = {},
      greatest = 0}
   r.lag = sysbench.metric("lag" .. suffix, {kind = "gauge", unit = "ms",
      expires = opt.look_interval + OUTDATED,
      help = "time that the replica is behind"})
   r.delay = sysbench.metric("delay" .. suffix, {kind = "distribution",
      unit = "ms", help = "time from the acknowledgement of a heartbeat by " ..
      "the primary until it was seen on the replica"})
   r.lag:set(0)
   return r
end

local function start_writer()
   primary = drv:connect(replica.first_database())
   first = tonumber((primary:query_row(("SELECT beat FROM %s WHERE id = 1")
      :format(opt.table_name))))
   if not first and drv:dialect() ~= "null" then
      error(("the primary has no row 1 in table %s: run 'cleanup', " ..
         "then: %s"):format(opt.table_name,
         sysbench.cmdline.command_line("prepare")), 0)
   end
   first = first or 0
   beat = first
   local stmt = primary:prepare(("UPDATE %s SET beat = ? WHERE id = 1")
      :format(opt.table_name), "heartbeat")
   write = {stmt = stmt, beat = stmt:bind_create(kind.BIGINT)}
   stmt:bind_param(write.beat)
   beats, last_event = replica.beats(), replica.last_event()
   for i = 1, replica.count(opt) do
      replicas[i] = start_replica(i)
   end
end

-- All users have been created: each replica must have its reader, and the
-- readers have found out how far their replicas are.
local function begin()
   local users = sysbench.sequence("replica users"):last()
   if users <= #replicas then
      error(("replica: %d replicas need at least %d users of this " ..
         "workload, not %.0f"):format(#replicas, #replicas + 1, users), 0)
   end
   for _, r in ipairs(replicas) do
      r.seen = r.shared.seen:last()
      if r.seen > first then
         error(("replica %d (%s) has heartbeat %.0f, but the last one of " ..
            "the primary is %.0f: it is no replica of it"):format(r.n,
            replica.target_text(opt, r.n), r.seen, first), 0)
      elseif r.seen < first then
         r.shared.late:raise(1)
      end
   end
   begun = true
end

local function write_beat()
   write.beat:set(beat + 1)
   write.stmt:execute()
   beat = beat + 1
   local now = user.run_time()
   for _, r in ipairs(replicas) do
      r.pending[beat] = now
   end
   if user.time() >= 0 then
      beats:next()
   end
end

-- Returns how long the oldest heartbeat that is not on the replica has been
-- missing. Those from before the run have been missing at least since its
-- start.
local function missing(r, time)
   local oldest = r.seen + 1
   return oldest > beat and 0 or
      math.max(time - (r.pending[oldest] or 0), 0)
end

local function publish(sequence, seconds)
   sequence:raise(seconds * 1e6)
end

-- Notes the greatest lag, and the periods in which it is above the limit.
-- Those of the last period replace those of earlier ones.
local function note(r, now, value)
   local at, shared = now - zero, r.shared
   if at < 0 then
      return -- the warm-up
   end
   if value > r.greatest then
      r.greatest = value
      publish(shared.greatest, value)
      publish(shared.greatest_at, at)
   end
   if value > opt.caught_up then
      if not r.behind then
         r.behind, r.peak = true, 0
         shared.periods:next()
         publish(shared.behind_from, at)
      end
      if value >= r.peak then
         r.peak, r.peak_at = value, at
      end
   elseif r.behind then
      publish(shared.caught_up_at, at)
      -- A reader that waits for a processor publishes its time late.
      publish(shared.catch_up_from, math.min(r.peak_at, at))
      r.behind = false
   end
end

-- Evaluates what the reader has published, in the reverse order.
local function measure(r)
   local shared, now = r.shared, user.run_time()
   local slow = opt.look_interval + LOOK_TAKES
   local looked = shared.looked:last() / 1e6
   local seen = math.min(shared.seen:last(), beat)
   if seen > r.seen then
      local at = shared.seen_at:last() / 1e6
      note(r, at, missing(r,
         math.max(shared.missed:last() / 1e6, at - slow)))
      for k = r.seen + 1, seen do
         if r.pending[k] then -- not from before the run
            r.delay:record(math.max(at - r.pending[k], 0) * 1000)
            r.pending[k] = nil
         end
      end
      r.seen = seen
   end
   local time = math.max(looked, now - slow)
   local value = missing(r, time)
   r.lag:set(value * 1000)
   note(r, time, value)
end

local function write_event()
   if not begun then
      begin()
   end
   if user.run_time() >= next_beat then
      write_beat()
      next_beat = user.run_time() + opt.heartbeat_interval
   end
   zero = user.run_time() - user.time()
   for _, r in ipairs(replicas) do
      measure(r)
   end
   publish(last_event, replica.clock())
   user.think(opt.look_interval)
end

-- Readers --------------------------------------------------------------------

local read, lost -- statement and metric
local shared -- sequences
local seen, last_look = 0, 0

local function read_beat(con)
   read = read or con:prepare(("SELECT beat FROM %s WHERE id = 1"):format(
      opt.table_name), "replica_read")
   local rs = read:execute()
   local row = rs and rs:fetch_row()
   return row and tonumber(row[1])
end

local function start_reader()
   shared = replica.sequences(n)
   lost = sysbench.metric("no_answer" .. replica.suffix(n),
      {help = "how often the replica did not answer or closed a connection"})
   if not connection() then
      error(where() .. " cannot be reached: " .. why, 0)
   end
   local ok, found = pcall(read_beat, other)
   if ok and found then
      seen = found
      shared.seen:raise(found)
   elseif drv:dialect() ~= "null" then
      error(("%s has no row 1 in table %s: it is no replica, or far behind")
         :format(where(), opt.table_name), 0)
   end
end

-- missed: the last time at which heartbeats that are new now were not there.
-- The writer reads these in the reverse order, so what it reads first is never
-- newer than the rest.
local function publish_look(found, before)
   if found > seen then
      publish(shared.seen_at, user.run_time())
      publish(shared.missed, last_look)
      shared.seen:raise(found)
      seen = found
   end
   last_look = before
   publish(shared.looked, before)
end

local function read_event()
   local con = connection()
   if con then
      -- What a look does not find was not there when it started.
      local before = user.run_time()
      local ok, found = pcall(read_beat, con)
      if ok and found then
         publish_look(found, before)
      elseif not ok then
         lost:add()
         leave()
         read = nil
      end
   end
   user.think(opt.look_interval)
end

-- Askers ---------------------------------------------------------------------

local server_lag -- function of the dialect; nil if there is nothing to ask
local own_lag, no_lag -- metrics

local function start_asker()
   local ask = require("sb.dialect").of(drv).server_lag
   if not ask or not connection() then
      return -- if it cannot be reached, its reader ends the run
   end
   local ok, err = pcall(ask, other)
   if not ok then
      sysbench.warning(("%s does not return its own figure of the lag: %s")
         :format(where(), type(err) == "table" and err.sql_errmsg or
         tostring(err)))
      return
   end
   server_lag = ask
   own_lag = sysbench.metric("server_lag" .. replica.suffix(n),
      {kind = "gauge", unit = "ms", expires = OUTDATED,
      help = "lag by the replica's own figure"})
   no_lag = sysbench.metric("server_lag_unknown" .. replica.suffix(n),
      {help = "how often the replica had no figure of its lag"})
   own_lag:unknown()
   shared = replica.sequences(n)
end

local function ask_event()
   if not server_lag then
      return true
   end
   local con = connection()
   local ok, seconds = true, nil
   if con then
      ok, seconds = pcall(server_lag, con)
   end
   if not ok then
      leave()
   elseif seconds then
      own_lag:set(seconds * 1000)
      if user.time() >= 0 then
         shared.answers:next()
         publish(shared.server_greatest, seconds)
      end
   end
   if not ok or not seconds then
      own_lag:unknown()
      no_lag:add()
   end
   user.think(ASK_EVERY)
end

-- Users ----------------------------------------------------------------------

function thread_init()
   opt, drv = replica.normalize(sysbench.opt), sysbench.sql.driver()
   local number = sysbench.sequence("replica users"):next()
   local count = replica.count(opt)
   if number == 1 then
      start_writer()
      event = write_event
   elseif number <= 1 + count then
      n = number - 1
      start_reader()
      event = read_event
   elseif number <= 1 + 2 * count then
      n = number - 1 - count
      start_asker()
      event = ask_event
   end
end

-- For a user without a task; thread_init() replaces it.
function event()
   return true
end

function thread_done()
   local con = primary or other
   if con then
      con:disconnect()
   end
end

if sysbench.cmdline.run_state then
   return
end

require("sb.own_commands").declare("sb.replica_commands", replica.normalize)

function init()
   require("sb.replica_commands").before_run(replica.normalize(sysbench.opt))
end

function sysbench.hooks.report_line(stat, final)
   return require("sb.replica_commands").report(sysbench.opt, stat, final)
end

function done()
   require("sb.replica_commands").after_run(sysbench.opt)
end

function sysbench.hooks.run_failed()
   require("sb.replica_commands").after_run(sysbench.opt, true)
end
