-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- replica: its commands, its report, and the time to catch up after a run. The
-- users of a run never load this.

local build = require("sb.build")
local replica = require("sb.replica")

local print_line, clock = build.print_line, replica.clock

local LOOK_EVERY = 0.01  -- seconds between two looks at a replica
local ANSWER_TAKES = 2   -- seconds after which a replica does not answer
-- A replica that does not answer is asked again after this number of times as
-- long as that took: until then, the others are not delayed.
local REST = 3

local M = {}

ffi.cdef("int usleep(unsigned int);")

-- Opens a connection to the primary; returns it and the dialect.
local function connect()
   local drv = sysbench.sql.driver()
   local d = require("sb.dialect").of(drv)
   local con = drv:connect(replica.first_database())
   if d.check_engine then
      d.check_engine(con, sysbench.opt)
   end
   return con, d
end

-- Returns the number of replicas; raises an error if there is none.
local function need_replicas(opt)
   local count = replica.count(opt)
   if count == 0 then
      error("replica: give --replica-host or --replica-port, lists of the " ..
         "replicas", 0)
   end
   return count
end

-- Returns the text that begins a sentence about replica n.
local function name_of(opt, n)
   return string.format("replica %d (%s)", n, replica.target_text(opt, n))
end

-- Prepare and cleanup ---------------------------------------------------------

local function create(con, d, opt)
   con:query(string.format("CREATE TABLE %s(id INTEGER NOT NULL, " ..
      "beat BIGINT NOT NULL, PRIMARY KEY (id)) %s", opt.table_name,
      d.table_options(opt)))
   con:query(string.format("INSERT INTO %s VALUES (1, 0)", opt.table_name))
end

local function drop(con, opt)
   con:query("DROP TABLE IF EXISTS " .. opt.table_name)
end

function M.prepare(opt)
   if sysbench.parallel.ticket(0) > 0 then
      return
   end
   local con, d = connect()
   build.refuse_existing(con, d, opt.table_name)
   print_line("Creating table '%s'...", opt.table_name)
   local ok, err = pcall(create, con, d, opt)
   if not ok then
      pcall(con.reset, con)
      if pcall(drop, con, opt) then
         print_line("Dropped table '%s', because prepare failed",
            opt.table_name)
      end
      error(err, 0)
   end
   con:disconnect()
end

function M.warmup()
end

M.prewarm = M.warmup

function M.cleanup(opt)
   local con = connect()
   print_line("Dropping table '%s'...", opt.table_name)
   drop(con, opt)
   con:disconnect()
end

-- Catching up -----------------------------------------------------------------

local function beat_of(con, opt)
   return tonumber((con:query_row(string.format(
      "SELECT beat FROM %s WHERE id = 1", opt.table_name))))
end

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
      local con, err = drv:try_connect(replica.target(opt, r.n, ANSWER_TAKES))
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

-- Writes a heartbeat, and waits until all replicas have it. Returns an array
-- with the time `at` of each that has it; of others, why not.
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
      ffi.C.usleep(LOOK_EVERY * 1e6)
   end
   for _, r in ipairs(list) do
      close(r)
   end
   return list
end

-- Waits for all replicas. start: when the time to catch up begins; nil: with
-- the heartbeat. Returns an array of sentences about those that have not.
local function wait_for_all(con, opt, count, start, text)
   local problems = {}
   start = start or clock()
   for n, r in ipairs(catch_up(con, opt, count)) do
      if r.at then
         print_line("%s: caught up %.3f s after %s", name_of(opt, n),
            r.at - start, text)
      else
         problems[#problems + 1] = string.format(
            "%s has not caught up in %g s: %s", name_of(opt, n),
            opt.catch_up_wait, r.why or "it was not asked")
      end
   end
   return problems
end

local function raise(problems)
   if #problems > 0 then
      error(table.concat(problems, "; "), 0)
   end
end

-- Waits until a heartbeat has reached all replicas.
function M.check(opt)
   if sysbench.parallel.ticket(0) > 0 then
      return
   end
   local count = need_replicas(opt)
   local con = connect()
   raise(wait_for_all(con, opt, count, nil, "a heartbeat"))
   con:disconnect()
end

-- Before and after a run ------------------------------------------------------

-- A server that is its own replica has no lag, which looks like a good result.
local function warn_if_same(con, d, opt, count)
   local ok, own = false, nil
   if d.server_identity then
      ok, own = pcall(con.query_row, con, d.server_identity)
   end
   for n = 1, ok and own and count or 0 do
      local other = sysbench.sql.driver():try_connect(replica.target(opt, n))
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

function M.before_run(opt)
   local count = need_replicas(opt)
   if opt.mix ~= "" and opt.mix_by ~= "users" then
      error("replica: a mix with this workload needs --mix-by=users, " ..
         "because its users measure all the time", 0)
   elseif opt.mix == "" and opt.threads <= count then
      error(string.format("replica: %d replicas need at least %d threads, " ..
         "not %d", count, count + 1, opt.threads), 0)
   end
   local con, d = connect()
   if opt.check_tables and d.find_table then
      require("sb.check_tables").require_tables(con, d, 1,
         function() return opt.table_name end)
   end
   warn_if_same(con, d, opt, count)
   con:disconnect()
end

local function seconds(sequence)
   return sequence:last() / 1e6
end

local function wait_after_run(opt, count)
   local con, d = connect()
   local late = d.find_table and wait_for_all(con, opt, count,
      seconds(replica.last_event()), "the end of the load")
   con:disconnect()
   return late or {} -- the null driver stores nothing
end

-- failed: the run has failed. There may be nothing to wait for.
function M.after_run(opt, failed)
   local count, problems = replica.count(opt), {}
   if failed and replica.beats():last() == 0 then
      return
   end
   for n = 1, count do
      local greatest = seconds(replica.sequences(n).greatest)
      if opt.max_lag > 0 and greatest > opt.max_lag then
         problems[#problems + 1] = string.format("%s: the greatest lag was " ..
            "%.3f s, more than --max-lag=%g", name_of(opt, n), greatest,
            opt.max_lag)
      end
   end
   if opt.catch_up_wait > 0 then
      local ok, late = pcall(wait_after_run, opt, count)
      for _, text in ipairs(ok and late or {tostring(late)}) do
         problems[#problems + 1] = text
      end
   end
   raise(problems)
end

-- Reports ---------------------------------------------------------------------

local function period_text(opt, s)
   local periods = s.periods:last()
   if periods == 0 then
      return string.format("; never more than %g s behind", opt.caught_up)
   end
   local text = string.format("; times more than %g s behind: %.0f",
      opt.caught_up, periods)
   local from, to = seconds(s.catch_up_from), seconds(s.caught_up_at)
   if to > 0 then
      text = text .. string.format("; the last catch-up took %.3f s, from " ..
         "%.3f s to %.3f s", to - from, from, to)
   end
   return text .. (seconds(s.behind_from) > to and
      "; behind at the end of the run" or "")
end

-- Returns the sentence about replica n after the report.
local function final_line(opt, n)
   local s, beats = replica.sequences(n), replica.beats():last()
   if beats == 0 then
      return name_of(opt, n) .. ": not measured"
   end
   local text = string.format("%s: %.0f heartbeats; greatest lag %s%.3f s, " ..
      "at %.3f s%s", name_of(opt, n), beats,
      s.late:last() > 0 and "at least " or "", seconds(s.greatest),
      seconds(s.greatest_at), period_text(opt, s))
   if s.late:last() > 0 then
      text = text .. "; it was behind before the run"
   end
   if s.answers:last() > 0 then
      text = text .. string.format("; greatest lag by its own figure %.3f s",
         seconds(s.server_greatest))
   end
   return text
end

local function gauge_text(gauge)
   return gauge.value and string.format("%.1f ms", gauge.value) or "unknown"
end

-- Returns the words about replica n in the line of an interval.
local function lag_text(metrics, n)
   local suffix = replica.suffix(n)
   local lag = metrics["lag" .. suffix]
   if not lag then
      return "not measured"
   end
   local text = gauge_text(lag)
   local own = metrics["server_lag" .. suffix]
   return own and text .. " (server: " .. gauge_text(own) .. ")" or text
end

function M.report(opt, stat, final)
   local words = {}
   for n = 1, replica.count(opt) do
      words[n] = final and final_line(opt, n) or lag_text(stat.metrics, n)
   end
   return final and table.concat(words, "\n") or
      "lag: " .. table.concat(words, ", ")
end

return M
