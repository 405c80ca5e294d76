#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The lag of replicas: one user, the writer, writes heartbeats on the primary
-- and measures. For each replica, another user, the reader, looks for them
-- there, and a third one may ask the server for its own figure. So a replica
-- that hangs stops neither the heartbeats nor the figures. The load is another
-- workload of a mix, or comes from elsewhere. After the run, the time is
-- measured until the replicas have caught up.

local check = require("sb.check")
local dialect = require("sb.dialect")
local options = require("sb.options")
local tables = require("sb.tables")

local user, types = sysbench.user, sysbench.sql.type

-- Options --------------------------------------------------------------------

local double = sysbench.cmdline.ARG_DOUBLE

sysbench.cmdline.options = options.with_table_options{
   table_name = {"Table of the heartbeats, one row", "heartbeat", nil,
      options.validate_table_name},
   replica_host = {"Hosts of the replicas, separated by commas; other " ..
      "options for the connection are those of the primary", ""},
   replica_port = {"Ports of the replicas; the last one also applies to the " ..
      "remaining hosts", ""},
   replica_options = {"More options of the driver for connections to " ..
      "replicas, separated by blanks: user=u password=p", ""},
   heartbeat_interval = {"Seconds between two heartbeats", 0.05, double,
      min = 0, max = 3600},
   look_interval = {"Seconds between two reads of the heartbeat on the " ..
      "replica", 0.005, double, min = 0, max = 3600},
   caught_up = {"A replica has caught up when its lag is at most this " ..
      "number of seconds", 0.5, double, min = 0, max = 86400},
   catch_up_wait = {"Seconds to wait after the run until the replicas " ..
      "have caught up; 0: do not wait", 600, double, min = 0, max = 86400},
   max_lag = {"The verdict on the run is false if the greatest lag was more " ..
      "than this number of seconds; 0: no limit", 0, double, min = 0,
      max = 86400},
}

sysbench.results = {
   lag_max = {better = "lower", unit = "s", headline = true},
   catch_up = {better = "lower", unit = "s"},
}

-- Servers --------------------------------------------------------------------

-- Options that limit the time to wait for a replica, and their defaults, by
-- driver. A limit that the user has not set is this number of seconds.
local DEFAULT_WAIT = 10
local waits = {
   mysql = {connect_timeout = 60, read_timeout = 0},
   pgsql = {connect_timeout = 0},
}

local function items(text)
   local list = {}
   for item in text:gmatch("[^,%s]+") do
      list[#list + 1] = item
   end
   return list
end

-- Returns the number of replicas.
local function count_replicas(opt)
   local hosts, ports = #items(opt.replica_host), #items(opt.replica_port)
   local any = opt.replica_options ~= "" and 1 or 0
   return math.max(hosts, ports, any)
end

-- Returns the options for the connection to the first database, which has the
-- heartbeats; nil if there is only one.
local function first_database()
   local names = sysbench.sql.driver():databases()
   return #names > 1 and {db = names[1]} or nil
end

-- "localhost" would be the default Unix socket of the client library, whatever
-- the port is.
local function by_tcp(target, opt)
   local host, from_files = opt.mysql_host,
      opt.mysql_defaults_file ~= "" or opt.mysql_defaults_group ~= ""
   host = target.host or not from_files and
      (type(host) == "table" and table.concat(host, ",") or host)
   target.socket = "" -- a socket has priority over host and port
   if host == "localhost" then
      target.host = "127.0.0.1"
   end
end

-- A server that is gone or hangs must not block its reader forever. seconds:
-- instead of the user's options.
local function limit_waits(target, opt, name, seconds)
   local defaults = waits[name] or {}
   for option, default in pairs(defaults) do
      if seconds or tonumber(opt[name .. "_" .. option]) == default then
         target[option] = seconds or DEFAULT_WAIT
      end
   end
end

-- Returns the options for connections to replica n, which differ from those of
-- the primary. seconds: after which it does not answer.
local function options_of(opt, n, seconds)
   local target = first_database() or {}
   local hosts, ports = items(opt.replica_host), items(opt.replica_port)
   local name = sysbench.sql.driver():name()
   target.host = hosts[math.min(n, #hosts)]
   target.port = ports[math.min(n, #ports)]
   if #hosts + #ports > 0 and name == "mysql" then
      by_tcp(target, opt)
   end
   limit_waits(target, opt, name, seconds)
   for item in opt.replica_options:gmatch("%S+") do
      local option, value = item:match("^([%w_-]+)=(.*)$")
      if not option then
         error("--replica-options: '" .. item .. "' is not NAME=VALUE", 0)
      end
      target[option:gsub("-", "_")] = value
   end
   return target
end

-- Returns the text that begins a sentence about replica n.
local function name_of(opt, n)
   local hosts, ports = items(opt.replica_host), items(opt.replica_port)
   local host, port = hosts[math.min(n, #hosts)], ports[math.min(n, #ports)]
   local text = (host or "") .. (port and ":" .. port or "")
   return string.format("replica %d (%s)", n,
      text ~= "" and text or opt.replica_options)
end

-- Returns the number of replicas. Raises an error if it is 0.
local function need_replicas(opt)
   local count = count_replicas(opt)
   if count == 0 then
      error("replica: give --replica-host or --replica-port, lists of the " ..
         "replicas", 0)
   end
   return count
end

-- Opens a connection to the primary; returns it and the dialect.
local function connect_primary(opt)
   local drv = sysbench.sql.driver()
   local con, d = drv:connect(first_database()), dialect.of(drv)
   if d.check_engine then
      d.check_engine(con, opt)
   end
   return con, d
end

-- Returns the last heartbeat on a server, or nil.
local function beat_of(con, opt)
   return tonumber((con:query_row(string.format(
      "SELECT beat FROM %s WHERE id = 1", opt.table_name))))
end

-- Prepare and cleanup --------------------------------------------------------

local commands = {}

local function create(con, d, opt)
   con:query(string.format("CREATE TABLE %s(id INTEGER NOT NULL, " ..
      "beat BIGINT NOT NULL, PRIMARY KEY (id)) %s", opt.table_name,
      d.table_options(opt)))
   con:query(string.format("INSERT INTO %s VALUES (1, 0)", opt.table_name))
end

local function drop(con, opt)
   con:query("DROP TABLE IF EXISTS " .. opt.table_name)
end

function commands.prepare(opt)
   if sysbench.parallel.ticket("prepare") > 0 then
      return
   end
   local con, d = connect_primary(opt)
   tables.refuse_existing(con, d, opt.table_name)
   tables.print("Creating table '%s'...", opt.table_name)
   local ok, err = pcall(create, con, d, opt)
   if not ok then
      pcall(con.reset, con)
      if pcall(drop, con, opt) then
         tables.print("Dropped table '%s', because prepare failed",
            opt.table_name)
      end
      error(err, 0)
   end
   con:disconnect()
end

function commands.warmup()
end

function commands.cleanup(opt)
   local con = connect_primary(opt)
   tables.print("Dropping table '%s'...", opt.table_name)
   drop(con, opt)
   con:disconnect()
end

-- Shared numbers -------------------------------------------------------------

-- Users publish their times, in microseconds, and other numbers as the greatest
-- numbers of sequences. Times with `at` or `from` in their names are those of
-- the report.
local NAMES = {
   -- By the reader: the last heartbeat on the replica, when it was seen, the
   -- start of the look before that one, and the start of the last look.
   "seen", "seen_at", "missed", "looked",
   -- By the writer. late: 1 if the replica was behind before the run.
   "late", "greatest", "greatest_at", "periods", "behind_from",
   "catch_up_from", "caught_up_at",
   "answers", "server_greatest", -- by the asker
}

-- Returns the sequences of replica n.
local function sequences_of(n)
   local list = {}
   for _, name in ipairs(NAMES) do
      list[name] = sysbench.sequence(string.format("replica %d %s", n, name))
   end
   return list
end

-- Returns the sequence of the measured heartbeats.
local function beats_sequence()
   return sysbench.sequence("replica beats")
end

-- Returns the sequence of the time of clock() at the end of the writer's last
-- event.
local function last_event_sequence()
   return sysbench.sequence("replica last event")
end

-- Returns the end of the names of the metrics of replica n.
local function suffix(n)
   return n == 1 and "" or "_" .. n
end

local function publish(sequence, seconds)
   sequence:raise(seconds * 1e6)
end

local function seconds_of(sequence)
   return sequence:last() / 1e6
end

ffi.cdef("int clock_gettime(int, void *); int usleep(unsigned int);")

local MONOTONIC = 1
local stamp = ffi.new("struct { long sec, nsec; }")

-- Returns seconds of a clock that all states share, and that is never set.
local function clock()
   ffi.C.clock_gettime(MONOTONIC, stamp)
   return tonumber(stamp.sec) + tonumber(stamp.nsec) / 1e9
end

-- Before a run ---------------------------------------------------------------

-- A server that is its own replica has no lag, which looks like a good result.
local function warn_if_same(con, d, opt, count)
   local ok, own = false, nil
   if d.server_identity then
      ok, own = pcall(con.query_row, con, d.server_identity)
   end
   for n = 1, ok and own and count or 0 do
      local other = sysbench.sql.driver():try_connect(options_of(opt, n))
      if other then
         local asked, identity = pcall(other.query_row, other,
            d.server_identity)
         if asked and identity == own then
            sysbench.warning(name_of(opt, n) .. " is the primary, so it has " ..
               "no lag")
         end
         pcall(other.disconnect, other)
      end
   end
end

function init()
   local opt = sysbench.opt
   options.refuse_ranks("replica")
   local count = need_replicas(opt)
   if opt.mix ~= "" and opt.mix_by ~= "users" then
      error("replica: a mix with this workload needs --mix-by=users, " ..
         "because its users measure all the time", 0)
   elseif opt.mix == "" and opt.threads <= count then
      error(string.format("replica: %d replicas need at least %d threads, " ..
         "not %d", count, count + 1, opt.threads), 0)
   end
   local con, d = connect_primary(opt)
   if opt.check_tables then
      check.require_tables(con, d, 1, function() return opt.table_name end)
   end
   warn_if_same(con, d, opt, count)
   con:disconnect()
end

-- Connections of users to replicas -------------------------------------------

local TRY_EVERY = 0.1 -- seconds between attempts to connect to a replica
local ASK_EVERY = 0.2 -- seconds between two questions to a server
-- Seconds: a figure that is older than this is unknown.
local OUTDATED = 1
-- Seconds: a heartbeat counts as missing at the start of the last look that did
-- not find it. If no look has ended since, it is missing as soon as a look
-- takes longer than this.
local LOOK_TAKES = 0.1

local opt, drv -- the settings and the driver

-- All times are those of user.run_time(), which all users share, and which
-- never goes back. `zero` is the start of the measured part on this clock.

local own_number -- of this user's replica
local replica_con -- the connection; nil while it is closed
local why -- text of the error of the last attempt to connect
local next_try = 0

local function connection()
   if not replica_con and user.run_time() >= next_try then
      next_try = user.run_time() + TRY_EVERY
      local err
      replica_con, err = drv:try_connect(options_of(opt, own_number))
      why = err and tostring(err.sql_errmsg)
   end
   return replica_con
end

-- With --db-reconnect, the program would wait for the server of a lost
-- connection.
local function leave()
   pcall(replica_con.disconnect, replica_con)
   replica_con = nil
end

-- An error of a replica does not end the run.
function sysbench.hooks.sql_error_ignorable(err)
   return err.connection == replica_con
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
   local suffix = suffix(number)
   local r = {n = number, shared = sequences_of(number), pending = {},
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
   primary = drv:connect(first_database())
   first = beat_of(primary, opt)
   if not first and drv:dialect() ~= "null" then
      error(("the primary has no row 1 in table %s: run 'cleanup', " ..
         "then: %s"):format(opt.table_name,
         sysbench.cmdline.command_line("prepare")), 0)
   end
   first = first or 0
   beat = first
   local stmt = primary:prepare(("UPDATE %s SET beat = ? WHERE id = 1")
      :format(opt.table_name), "heartbeat")
   write = {stmt = stmt, beat = stmt:bind_create(types.BIGINT)}
   stmt:bind_param(write.beat)
   beats, last_event = beats_sequence(), last_event_sequence()
   for i = 1, count_replicas(opt) do
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
         error(("%s has heartbeat %.0f, but the last one of the primary is " ..
            "%.0f: it does not replicate from this primary"):format(
            name_of(opt, r.n), r.seen, first), 0)
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

-- Evaluates the values that the reader has published, in the reverse order.
local function measure(r)
   local shared, now = r.shared, user.run_time()
   local slow = opt.look_interval + LOOK_TAKES
   local looked = seconds_of(shared.looked)
   local seen = math.min(shared.seen:last(), beat)
   if seen > r.seen then
      local at = seconds_of(shared.seen_at)
      note(r, at, missing(r,
         math.max(seconds_of(shared.missed), at - slow)))
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
   publish(last_event, clock())
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
   shared = sequences_of(own_number)
   lost = sysbench.metric("no_answer" .. suffix(own_number),
      {help = "how often the replica did not answer or closed a connection"})
   if not connection() then
      error(name_of(opt, own_number) .. " cannot be reached: " .. why, 0)
   end
   local ok, found = pcall(read_beat, replica_con)
   if ok and found then
      seen = found
      shared.seen:raise(found)
   elseif drv:dialect() ~= "null" then
      error(("%s has no row 1 in table %s: it does not replicate from the " ..
         "primary, or is far behind"):format(name_of(opt, own_number),
         opt.table_name), 0)
   end
end

-- Publishes the result of a look. missed: the start of the last look that did
-- not find the new heartbeats. The writer reads the values in the reverse
-- order, so a value that it reads first is never newer than the others.
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
      -- A heartbeat that a look does not find was missing at its start.
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
   local ask = dialect.of(drv).server_lag
   if not ask or not connection() then
      return -- if it cannot be reached, its reader ends the run
   end
   local ok, err = pcall(ask, replica_con)
   if not ok then
      sysbench.warning(("%s does not return its own figure of the lag: %s")
         :format(name_of(opt, own_number),
         type(err) == "table" and err.sql_errmsg or tostring(err)))
      return
   end
   server_lag = ask
   own_lag = sysbench.metric("server_lag" .. suffix(own_number),
      {kind = "gauge", unit = "ms", expires = OUTDATED,
      help = "lag by the replica's own figure"})
   no_lag = sysbench.metric("server_lag_unknown" .. suffix(own_number),
      {help = "how often the replica had no figure of its lag"})
   own_lag:unknown()
   shared = sequences_of(own_number)
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

local task -- executes an event of this user; nil: it has nothing to do

function thread_init()
   opt, drv = sysbench.opt, sysbench.sql.driver()
   local number = sysbench.sequence("replica users"):next()
   local count = count_replicas(opt)
   if number == 1 then
      start_writer()
      task = write_event
   elseif number <= 1 + count then
      own_number = number - 1
      start_reader()
      task = read_event
   elseif number <= 1 + 2 * count then
      own_number = number - 1 - count
      start_asker()
      task = ask_event
   end
end

function event()
   if not task then
      return true
   end
   return task()
end

function thread_done()
   local con = primary or replica_con
   if con then
      con:disconnect()
   end
end

-- Catching up ----------------------------------------------------------------

local CATCH_UP_LOOK = 0.01 -- seconds between two looks at a replica
local ANSWER_TAKES = 2     -- seconds after which a replica does not answer
-- If a replica does not answer, the pause before the next attempt is the time
-- of this attempt times REST, so that the other replicas are not delayed.
local REST = 3

local function close(r)
   if r.con then
      pcall(r.con.disconnect, r.con)
      r.con = nil
   end
end

-- Looks for a heartbeat on a replica. Returns whether it is there; if not, also
-- why, and whether the replica has answered.
local function arrived(r, opt, beat)
   local drv = sysbench.sql.driver()
   if not r.con then
      local con, err = drv:try_connect(options_of(opt, r.n, ANSWER_TAKES))
      if not con then
         return false, tostring(err.sql_errmsg), false
      end
      r.con = con
   end
   local ok, found = pcall(beat_of, r.con, opt)
   -- Connecting to PostgreSQL has a time limit, but a query has none: a server
   -- that hangs is found out by connecting.
   if not ok or drv:name() == "pgsql" then
      close(r)
   end
   if not ok then
      return false, "it does not answer", false
   end
   local has = found and
      string.format("its last heartbeat is %.0f", found) or
      "it has no heartbeat"
   return (found or -1) >= beat,
      string.format("%s, that of the primary is %.0f", has, beat), true
end

local function look_at(r, opt, beat, alone)
   local began = clock()
   local there, why, answers = arrived(r, opt, beat)
   local now = clock()
   r.why = why
   if there then
      r.at = now
   elseif not answers and not alone then
      r.next_look = now + REST * (now - began)
   end
   return there
end

-- Writes a heartbeat, and waits until all replicas have it. Returns an array:
-- the time `at` of each replica that has it; the reason for the other replicas.
local function catch_up(con, opt, count)
   local beat, list, waiting = (beat_of(con, opt) or 0) + 1, {}, count
   con:query(string.format("UPDATE %s SET beat = %.0f WHERE id = 1",
      opt.table_name, beat))
   local limit = clock() + opt.catch_up_wait
   for n = 1, count do
      list[n] = {n = n, next_look = 0}
   end
   while waiting > 0 and clock() <= limit do
      for _, r in ipairs(list) do
         if not r.at and clock() >= r.next_look and
            look_at(r, opt, beat, waiting == 1)
         then
            waiting = waiting - 1
         end
      end
      ffi.C.usleep(CATCH_UP_LOOK * 1e6)
   end
   for _, r in ipairs(list) do
      close(r)
   end
   return list
end

-- Waits for all replicas. start: when the time to catch up begins; nil: with
-- the heartbeat. Returns an array of sentences about those that have not, and
-- the longest time of those that have.
local function wait_for_all(con, opt, count, start, text)
   local problems, longest = {}, 0
   start = start or clock()
   for n, r in ipairs(catch_up(con, opt, count)) do
      if r.at then
         tables.print("%s: caught up %.3f s after %s", name_of(opt, n),
            r.at - start, text)
         longest = math.max(longest, r.at - start)
      else
         problems[#problems + 1] = string.format(
            "%s has not caught up in %g s: %s", name_of(opt, n),
            opt.catch_up_wait, r.why or "it was not asked")
      end
   end
   return problems, longest
end

-- Reports the time in which all replicas have caught up. Returns an array of
-- sentences about those that have not.
local function wait_after_run(opt, count)
   local con, d = connect_primary(opt)
   if not d.find_table then
      con:disconnect()
      sysbench.result("catch_up", nil, {why = "the null driver stores nothing"})
      return {}
   end
   local late, longest = wait_for_all(con, opt, count,
      seconds_of(last_event_sequence()), "the end of the load")
   con:disconnect()
   if #late == 0 then
      sysbench.result("catch_up", longest)
   else
      sysbench.result("catch_up", nil, {why = "a replica has not caught up"})
   end
   return late
end

-- Reports the greatest lag of all replicas. Returns an array of sentences about
-- those above --max-lag.
local function report_lag(opt, count)
   local problems, greatest = {}, 0
   for n = 1, count do
      local lag = seconds_of(sequences_of(n).greatest)
      greatest = math.max(greatest, lag)
      if opt.max_lag > 0 and lag > opt.max_lag then
         problems[#problems + 1] = string.format("%s: the greatest lag was " ..
            "%.3f s, more than --max-lag=%g", name_of(opt, n), lag,
            opt.max_lag)
      end
   end
   sysbench.result("lag_max", greatest)
   return problems
end

-- failed: the run has failed. There may be nothing to wait for.
local function after_run(opt, failed)
   local count = count_replicas(opt)
   if beats_sequence():last() == 0 then
      sysbench.result("lag_max", nil, {why = "no heartbeat was written"})
      if failed then
         return
      end
   end
   local problems = beats_sequence():last() > 0 and report_lag(opt, count) or {}
   local passed = #problems == 0
   if opt.catch_up_wait > 0 then
      local ok, late = pcall(wait_after_run, opt, count)
      if ok then
         passed = passed and #late == 0
      else -- for example, the primary does not answer
         local why = type(late) == "table" and late.sql_errmsg or tostring(late)
         sysbench.result("catch_up", nil, {why = why})
         late = {"it is unknown whether the replicas have caught up: " .. why}
         if passed then
            passed = nil
         end
      end
      for _, text in ipairs(late) do
         problems[#problems + 1] = text
      end
   elseif opt.max_lag == 0 then
      return -- nothing was asked for
   end
   sysbench.verdict(passed, passed and "all replicas have kept up" or
      table.concat(problems, "; "))
end

function done()
   after_run(sysbench.opt)
end

function sysbench.hooks.run_failed()
   after_run(sysbench.opt, true)
end

-- Check ----------------------------------------------------------------------

-- Waits until a heartbeat has reached all replicas.
function commands.check(opt)
   if sysbench.parallel.ticket("check") > 0 then
      return
   end
   local count = need_replicas(opt)
   local con = connect_primary(opt)
   local problems = wait_for_all(con, opt, count, nil, "a heartbeat")
   if #problems > 0 then
      error(table.concat(problems, "; "), 0)
   end
   con:disconnect()
end

tables.declare_commands(commands, function()
   options.refuse_ranks("replica")
end)

-- Reports --------------------------------------------------------------------

local function period_text(opt, s)
   local periods = s.periods:last()
   if periods == 0 then
      return string.format("; never more than %g s behind", opt.caught_up)
   end
   local text = string.format("; times more than %g s behind: %.0f",
      opt.caught_up, periods)
   local from, to = seconds_of(s.catch_up_from), seconds_of(s.caught_up_at)
   if to > 0 then
      text = text .. string.format("; the last catch-up took %.3f s, from " ..
         "%.3f s to %.3f s", to - from, from, to)
   end
   return text .. (seconds_of(s.behind_from) > to and
      "; behind at the end of the run" or "")
end

-- Returns the sentence about replica n after the report.
local function final_line(opt, n)
   local s, beats = sequences_of(n), beats_sequence():last()
   if beats == 0 then
      return name_of(opt, n) .. ": not measured"
   end
   local text = string.format("%s: %.0f heartbeats; greatest lag %s%.3f s, " ..
      "at %.3f s%s", name_of(opt, n), beats,
      s.late:last() > 0 and "at least " or "", seconds_of(s.greatest),
      seconds_of(s.greatest_at), period_text(opt, s))
   if s.late:last() > 0 then
      text = text .. "; it was behind before the run"
   end
   if s.answers:last() > 0 then
      text = text .. string.format("; greatest lag by its own figure %.3f s",
         seconds_of(s.server_greatest))
   end
   return text
end

local function gauge_text(gauge)
   return gauge.value and string.format("%.1f ms", gauge.value) or "unknown"
end

-- Returns the words about replica n in the line of an interval.
local function lag_text(metrics, n)
   local lag = metrics["lag" .. suffix(n)]
   if not lag then
      return "not measured"
   end
   local text = gauge_text(lag)
   local own = metrics["server_lag" .. suffix(n)]
   return own and text .. " (server: " .. gauge_text(own) .. ")" or text
end

function sysbench.hooks.report_line(stat, final)
   local opt, words = sysbench.opt, {}
   for n = 1, count_replicas(opt) do
      words[n] = final and final_line(opt, n) or lag_text(stat.metrics, n)
   end
   return final and table.concat(words, "\n") or
      "lag: " .. table.concat(words, ", ")
end
