#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Short transactions during a failover: how long no user can write, and which
-- acknowledged writes are lost. Each user writes the numbers 1, 2, 3 ... and
-- remembers which of them the server has acknowledged. At the end, all of them
-- must be stored exactly once.

local failover = require("sb.failover")
require("sb.ranks").refuse("failover")

sysbench.cmdline.options = failover.declarations()

local MOVE_EVERY = 0.1 -- seconds between attempts to find another server
local START_TRIES = 20 -- how often a user tries to change its marker

local user, kind = sysbench.user, sysbench.sql.type

local opt, drv, d, con
local number, owner -- parameters of the statements
local update, insert, look
local shared, mine -- sequences of all users, and of this one
local acknowledged, unknown, refused, failing, outage -- metrics

-- The number that is written next; whether its COMMIT got no answer before;
-- whether this user connects to another server before that, and whether it has
-- done so since its last success.
local next_write, doubted, moves, moved
local phase
-- Start of the first transaction that failed, in seconds since the start of the
-- run, and when its error came, in seconds of the measured part; nil after a
-- success. The error is nil if it came before the measured part.
local failing_since, first_error
-- The longest time in which no user had a success, and the longest one from an
-- error of this user to its next success, as far as this user has seen it.
local longest, worst

-- Errors --------------------------------------------------------------------

-- The server is alive, but another one has its task now: error numbers of
-- MySQL, states of PostgreSQL.
local wrong_server = {
   [1047] = true, [1053] = true, [1290] = true, [1792] = true, [1836] = true,
   [3100] = true, ["25006"] = true,
}
-- It is starting, stopping or full.
local passing = {
   [1040] = true, [1180] = true, [1205] = true, [1317] = true, [1927] = true,
   [3032] = true, [3101] = true, [9001] = true,
   ["53300"] = true, ["57P01"] = true, ["57P02"] = true, ["57P03"] = true,
}
-- An answer to COMMIT after which the transaction is rolled back for certain:
-- error numbers of MySQL; of PostgreSQL, classes of states. Others, such as
-- 1180, 3100 and the errors of proxies, also occur when it was sent to other
-- servers before.
local refusal = {
   [1205] = true, [1213] = true, [1290] = true, [1792] = true, [1836] = true,
   [3101] = true,
}
local refusal_class = {["23"] = true, ["25"] = true, ["40"] = true}
local UNKNOWN_COMPLETION = "40003"
local SQLITE_IOERR = 10

local function in_list(list, err)
   return list[tonumber(err.sql_errno)] or list[tostring(err.sql_state)]
end

local function is_lost(err)
   return not err.connection:is_alive()
end

-- After the first success of any user, an outage explains every error, except
-- that a connection is lost that the options do not allow to open again.
function sysbench.hooks.sql_error_ignorable(err)
   if in_list(wrong_server, err) or in_list(passing, err) then
      return true
   elseif not shared or shared.success:last() == 0 then
      return false
   end
   return err.query ~= "<reset>" and (opt.db_reconnect or not is_lost(err))
end

-- Returns whether the error of a COMMIT says that the transaction was rolled
-- back.
local function is_refusal(err)
   if type(err) ~= "table" or not err.connection or is_lost(err) then
      return false
   end
   local dialect, code = drv:dialect(), tonumber(err.sql_errno)
   if dialect == "sqlite" then
      return code % 256 ~= SQLITE_IOERR
   elseif dialect == "pgsql" then
      return refusal_class[err.sql_state:sub(1, 2)] and
         err.sql_state ~= UNKNOWN_COMPLETION
   end
   return refusal[code]
end

-- Connections ---------------------------------------------------------------

local function prepare_statements()
   update = con:prepare(("UPDATE %s SET writes = writes + 1, " ..
      "last_write = ? WHERE user_no = ?"):format(failover.users(opt)),
      "marker")
   insert = con:prepare(("INSERT INTO %s (write_no, user_no) " ..
      "VALUES (?, ?)"):format(opt.table_name), "write")
   look = con:prepare(("SELECT COUNT(*) FROM %s WHERE write_no = ? AND " ..
      "user_no = ?"):format(opt.table_name), "look")
   number = update:bind_create(kind.BIGINT)
   owner = update:bind_create(kind.INT)
   owner:set(sysbench.tid)
   update:bind_param(number, owner)
   insert:bind_param(number, owner)
   look:bind_param(number, owner)
end

-- Connects to the next server of the driver's list. Returns false if the run
-- ends before one accepts the connection.
local function move()
   if con then
      pcall(con.disconnect, con)
   end
   if moved and not user.wait(MOVE_EVERY) then
      con = nil
      return false
   end
   con = drv:try_connect()
   while not con do
      if not user.wait(MOVE_EVERY) then
         return false
      end
      con = drv:try_connect()
   end
   prepare_statements()
   moves, moved = false, true
   return true
end

-- Returns the last write of this user that is stored, by its marker and by the
-- writes. The transaction changes the marker: so a server that is behind cannot
-- commit it, a standby refuses it, and it waits for a transaction of this user
-- that is still in progress.
local function last_stored()
   con:query(d.begin_write)
   con:query(("UPDATE %s SET runs = runs + 1 WHERE user_no = %d"):format(
      failover.users(opt), sysbench.tid))
   local last = con:query_row(("SELECT last_write FROM %s WHERE user_no = " ..
      "%d"):format(failover.users(opt), sysbench.tid))
   local highest = con:query_row(("SELECT MAX(write_no) FROM %s WHERE " ..
      "user_no = %d"):format(opt.table_name, sysbench.tid))
   con:query(d.commit)
   return tonumber(last), tonumber(highest)
end

-- Connects to a server that accepts writes.
local function begin()
   for try = 1, START_TRIES do
      con = drv:connect()
      local ok, last, highest = pcall(last_stored)
      if ok then
         return last, highest
      elseif type(last) ~= "table" or try == START_TRIES then
         error(last, 0)
      end
      pcall(con.disconnect, con)
      user.wait(MOVE_EVERY)
   end
end

-- Transactions --------------------------------------------------------------

local function stored()
   local rs = look:execute()
   local row = rs and rs:fetch_row()
   return row and tonumber(row[1]) > 0
end

-- The UPDATE waits until an earlier transaction of this user has ended; only
-- then it is certain whether its write is stored.
local function transaction()
   phase = "before"
   con:query(d.begin_write)
   number:set(next_write)
   update:execute()
   if doubted and opt.unknown == "look" and stored() then
      con:query("ROLLBACK")
      return
   end
   insert:execute()
   phase = "commit"
   con:query(d.commit)
end

-- Publishes a time in microseconds.
local function publish(sequence, seconds)
   sequence:raise(seconds * 1e6)
end

local function note_success(now)
   local before = shared.success:last() / 1e6
   publish(shared.success, math.max(now, 1e-6)) -- 0: none; also in a warm-up
   if now - before > longest then
      longest = now - before
      publish(mine.gap, longest)
      publish(mine.gap_start, before)
   end
end

local function note_recovery(now)
   outage:record((user.run_time() - failing_since) * 1000)
   failing:set(0)
   failing_since = nil
   if first_error then
      publish(mine.recovered, now)
      if now - first_error > worst then
         worst = now - first_error
         publish(mine.worst, worst)
         publish(mine.worst_start, first_error)
      end
      first_error = nil
   end
end

local function succeeded()
   local now = user.time()
   mine.last:raise(next_write)
   next_write, doubted, moved = next_write + 1, false, false
   acknowledged:add()
   note_success(now)
   if failing_since then
      note_recovery(now)
   end
end

-- Adds the write to a list, and continues with the next one.
local function leave(list)
   local n = list.count:next()
   sysbench.sequence(list.name .. n, next_write)
   mine.last:raise(next_write)
   next_write = next_write + 1
end

-- COMMIT failed. A write that may be stored since an earlier attempt is not
-- known to be refused.
local function not_committed(err)
   if is_refusal(err) then
      refused:add()
      shared.refused:next()
      if not doubted then
         leave(mine.refused)
      end
      return
   end
   unknown:add()
   shared.unknown:next()
   if opt.unknown == "skip" then
      leave(mine.unknown)
   else
      doubted = true
   end
end

local function failed(err, began)
   local now = user.time()
   if not failing_since then
      failing_since = began
      failing:set(1)
   end
   if now >= 0 then -- otherwise before the measured part
      shared.errors:next()
      if not first_error then
         shared.first_error:raise(failover.NEVER - now * 1e6)
         first_error = now
         publish(mine.failed, now)
      end
   end
   if phase == "commit" then
      not_committed(err)
   end
end

-- Rolls back here, because an error of the program's own rollback would end the
-- run. A lost connection is left to the program.
local function roll_back(err)
   if type(err) ~= "table" or not err.connection or is_lost(err) then
      return
   end
   moves = in_list(wrong_server, err) or not pcall(con.reset, con)
   if moves then
      err.connection = nil
   end
end

-- Users ---------------------------------------------------------------------

local function create_metrics()
   acknowledged = sysbench.metric("acknowledged",
      {help = "writes that the server acknowledged"})
   unknown = sysbench.metric("unknown",
      {help = "COMMITs without an answer that says whether the write is " ..
      "stored"})
   refused = sysbench.metric("refused",
      {help = "COMMITs that the server answered with a rollback"})
   failing = sysbench.metric("failing", {kind = "gauge", unit = "users",
      help = "users whose last transaction failed"})
   outage = sysbench.metric("outage", {kind = "distribution", unit = "ms",
      help = "time of a user from the start of its first transaction that " ..
      "failed to its next success"})
end

-- A user may come again in the same run (--stages). Then it continues after its
-- last write even if that is lost, so that the loss is found, and with what it
-- has published.
local function continue_after(last)
   if mine.start:last() == 0 then -- 0: not set
      mine.start:raise(last + 1)
   end
   mine.last:raise(last)
   next_write = mine.last:last() + 1
   longest, worst = mine.gap:last() / 1e6, mine.worst:last() / 1e6
   if mine.failed:last() > mine.recovered:last() then
      first_error = mine.failed:last() / 1e6
      failing_since = first_error + user.run_time() - user.time()
   end
   failing:set(failing_since and 1 or 0)
end

function thread_init()
   opt = failover.normalize(sysbench.opt)
   failover.check_user(opt, sysbench.tid)
   drv = sysbench.sql.driver()
   d = require("sb.dialect").of(drv)
   shared = failover.shared(opt)
   mine = failover.sequences(opt, sysbench.tid)
   shared.users:raise(sysbench.tid + 1)
   create_metrics()
   local last, highest = begin()
   if not last and d.find_table then
      error(("failover: table %s has no row of user %d; run " ..
         "'cleanup', then: %s"):format(failover.users(opt), sysbench.tid,
         sysbench.cmdline.command_line("prepare")), 0)
   end
   continue_after(math.max(last or 0, highest or 0))
   prepare_statements()
end

function thread_done()
   shared.ended:next()
   publish(shared.last_end, math.max(user.time(), 0))
   if con then
      con:disconnect()
   end
end

function event()
   if moves and not move() then
      return true
   end
   local began = user.run_time()
   local ok, err = pcall(transaction)
   if not ok then
      failed(err, began)
      roll_back(err)
      error(err, 0)
   end
   succeeded()
end

if sysbench.cmdline.run_state then
   return
end

require("sb.own_commands").declare("sb.failover_commands", failover.normalize)

function init()
   require("sb.failover_commands").before_run(
      failover.normalize(sysbench.opt))
end

function sysbench.hooks.report_line(stat, final)
   return require("sb.failover_commands").report(sysbench.opt, stat, final)
end

function done()
   require("sb.failover_commands").after_run(sysbench.opt)
end

-- Writes that were acknowledged before a run failed are verified, too.
function sysbench.hooks.run_failed()
   done()
end
