#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Short transactions during a failover: how long no user can write, and which
-- acknowledged writes are lost. Each user writes the numbers 1, 2, 3 ... and
-- remembers which of them the server has acknowledged. At the end, all of them
-- must be stored exactly once. In the same transaction it updates its marker, a
-- row with the number of its writes and the last one.

local dialect = require("sb.dialect")
local check = require("sb.check")
local options = require("sb.options")
local tables = require("sb.tables")

local user, types = sysbench.user, sysbench.sql.type

-- Options --------------------------------------------------------------------

local int = sysbench.cmdline.ARG_INT

options.refuse_ranks("failover")

sysbench.cmdline.options = options.with_table_options{
   table_name = {"Table of the writes; the markers of the users are in the " ..
      "table of this name with '_users' appended", "failover", nil,
      options.validate_table_name},
   users = {"Users for which prepare creates a marker; a run may have fewer " ..
      "threads", 1000, int, min = 1, max = 1e6},
   unknown = {"What a user does with a write after a COMMIT of unknown " ..
      "outcome: skip (continue with the next one), look (repeat it unless " ..
      "it is stored), repeat", "skip", values = {"skip", "look", "repeat"}},
   verify = {"Verify after the run that all acknowledged writes are stored " ..
      "once", true},
   verify_wait = {"Seconds to wait for a server that accepts writes, to " ..
      "verify the writes of the run", 60, int, min = 0, max = 86400},
   record = {"File: run writes to it which writes were acknowledged; check " ..
      "verifies them", ""},
   -- An option of the program, which is off for other workloads.
   db_reconnect = {"reconnect after a lost connection, and restart the event",
      true},
}

sysbench.results = {
   unavailable = {better = "lower", unit = "s", headline = true},
   lost = {better = "lower", unit = "writes"},
   doubled = {better = "lower", unit = "writes"},
   refused_stored = {better = "lower", unit = "writes"},
   acknowledged = {better = "higher", unit = "writes"},
}

-- Tables ---------------------------------------------------------------------

-- Returns the name of the table of markers.
local function markers_name(opt)
   return opt.table_name .. "_users"
end

local function create(con, d, opt)
   local markers, writes = markers_name(opt), opt.table_name
   tables.print("Creating table '%s'...", writes)
   con:query(string.format("CREATE TABLE %s(id %s, user_no INTEGER NOT " ..
      "NULL, write_no BIGINT NOT NULL, PRIMARY KEY (id)) %s", writes,
      d.big_id_auto, d.table_options(opt)))
   -- It is not unique: a write that is stored twice must be found.
   con:query(string.format("CREATE INDEX %s_writes ON %s (user_no, write_no)",
      writes:gsub("%.", "_"), writes))
   tables.print("Creating table '%s'...", markers)
   con:query(string.format("CREATE TABLE %s(user_no INTEGER NOT NULL, " ..
      "writes BIGINT NOT NULL, last_write BIGINT NOT NULL, runs BIGINT NOT " ..
      "NULL, PRIMARY KEY (user_no)) %s", markers, d.table_options(opt)))
   con:bulk_insert_init("INSERT INTO " .. markers .. " VALUES")
   for n = 0, opt.users - 1 do
      con:bulk_insert_next(string.format("(%d, 0, 0, 0)", n))
   end
   con:bulk_insert_done()
end

local function drop(con, name)
   con:query("DROP TABLE IF EXISTS " .. name)
end

local commands = {}

-- The tables are small: one thread creates them.
function commands.prepare(opt)
   if sysbench.parallel.ticket("prepare") > 0 then
      return
   end
   local con, d = tables.connect("failover", opt)
   for _, name in ipairs{opt.table_name, markers_name(opt)} do
      tables.refuse_existing(con, d, name)
   end
   local ok, err = pcall(create, con, d, opt)
   if not ok then
      pcall(con.reset, con)
      pcall(drop, con, opt.table_name)
      pcall(drop, con, markers_name(opt))
      error(err, 0)
   end
   con:disconnect()
end

function commands.warmup()
   -- The tables are small.
end

function commands.cleanup(opt)
   local con = tables.connect("failover", opt)
   for _, name in ipairs{opt.table_name, markers_name(opt)} do
      tables.print("Dropping table '%s'...", name)
      drop(con, name)
   end
   con:disconnect()
end

-- Sequences, by which users report to the main state -------------------------
--
-- The main state can read sequences at any time, even after a user has failed.
-- raise() keeps the greatest number. Times are in seconds since the start of
-- the measured part; sequences have microseconds.

local NEVER = 2 ^ 50 / 1e6 -- later than the end of any run

local function publish(sequence, seconds)
   sequence:raise(seconds * 1e6)
end

local function published(sequence)
   return sequence:last() / 1e6
end

-- A sequence keeps the greatest number, so the earliest of several times is
-- published as the time from it to NEVER.
local function publish_earliest(sequence, seconds)
   publish(sequence, NEVER - seconds)
end

local function published_earliest(sequence)
   return NEVER - published(sequence)
end

local looked_up = {} -- by prefix: looking up a sequence takes a lock

-- Returns sequences by their names without the prefix.
local function look_up(prefix, names)
   local list = looked_up[prefix]
   if not list then
      list = {}
      for _, name in ipairs(names) do
         list[name] = sysbench.sequence(prefix .. name)
      end
      looked_up[prefix] = list
   end
   return list
end

-- Returns the sequences that all users share:
--   users             their number
--   errors            the number of transactions that failed
--   first_error       the time when the first one failed (earliest)
--   success           the time of the last success
--   unknown, refused  the numbers of COMMITs with these outcomes
--   ended, last_end   the number of users that have ended their last
--                     transaction, and the time when the last of them did
local function shared_sequences(opt)
   return look_up("failover " .. opt.table_name .. " ", {"users", "errors",
      "first_error", "success", "unknown", "refused", "ended", "last_end"})
end

-- Returns the sequences of one user:
--   start             the last write before the run, plus 1; 0: not known
--   last              the last write of the run
--   outage_error      the time of the first error of its last outage
--   recovered         the time of its first success after an outage
--   worst             the longest time from a first error to the next success,
--   worst_start       and when it began
--   gap, gap_start    the same from one success of any user to the next
--   unknown, refused  lists of its writes with these outcomes: see append() and
--                     numbers_of()
local function user_sequences(opt, user_no)
   local prefix = string.format("failover %s %d ", opt.table_name, user_no)
   local all = look_up(prefix, {"start", "last", "outage_error",
      "recovered", "worst", "worst_start", "gap", "gap_start"})
   for _, list in ipairs{"unknown", "refused"} do
      all[list] = {name = prefix .. list .. " ",
         count = sysbench.sequence(prefix .. list)}
   end
   return all
end

-- A list has a sequence for each of its numbers, `name` .. i for number i.
local function append(list, number)
   sysbench.sequence(list.name .. list.count:next(), number)
end

local function numbers_of(list)
   local numbers = {}
   for i = 1, list.count:last() do
      numbers[i] = sysbench.sequence(list.name .. i):last()
   end
   return numbers
end

-- Users ----------------------------------------------------------------------

local MOVE_EVERY = 0.1 -- seconds between attempts to find another server
local START_TRIES = 20 -- how often a user tries to change its marker

local opt, drv, d, con
local number, owner -- parameters of the statements
local update, insert, look
local shared, mine -- sequences of all users, and of this one
-- Metrics.
local acknowledged, unknown, refused, failing_users, outage_durations

local next_write   -- the number that is written next
local maybe_stored -- whether an earlier COMMIT of it had an unknown outcome
local must_move    -- whether the user must connect to another server first
local has_moved    -- whether it has done so since its last success
local phase        -- of the transaction: "before" COMMIT, or "commit"

-- The start of the first transaction that failed since the last success, in
-- seconds since the start of the run; nil if none failed.
local outage_start
-- The time of the first error since the last success, in seconds since the
-- start of the measured part; nil if there was none, or only in a warm-up.
local outage_error
-- The longest time without a success of any user that this user has seen.
local longest_gap
-- The longest time from a first error of this user to its next success.
local worst_outage

-- Errors --------------------------------------------------------------------

-- Numbers are errors of MySQL, texts are states or classes of PostgreSQL.

-- Another server accepts writes now.
local wrong_server = {
   [1047] = true, -- ER_UNKNOWN_COM_ERROR: not part of the Galera cluster
   [1053] = true, -- ER_SERVER_SHUTDOWN
   [1290] = true, -- ER_OPTION_PREVENTS_STATEMENT: --read-only
   [1792] = true, -- ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
   [1836] = true, -- ER_READ_ONLY_MODE
   [3100] = true, -- ER_RUN_HOOK_ERROR: not part of the replication group
   ["25006"] = true, -- read_only_sql_transaction
}
-- The statement failed, but the same one may succeed soon: the server is
-- starting, stopping or full, or another transaction was in the way.
local temporary = {
   [1040] = true, -- ER_CON_COUNT_ERROR: too many connections
   [1180] = true, -- ER_ERROR_DURING_COMMIT
   [1205] = true, -- ER_LOCK_WAIT_TIMEOUT
   [1317] = true, -- ER_QUERY_INTERRUPTED
   [1927] = true, -- ER_CONNECTION_KILLED
   [3032] = true, -- ER_SERVER_OFFLINE_MODE
   [3101] = true, -- ER_TRANSACTION_ROLLBACK_DURING_COMMIT
   [9001] = true, -- ProxySQL reaches no server; TiDB, its storage
   ["53300"] = true, -- too_many_connections
   ["57P01"] = true, -- admin_shutdown
   ["57P02"] = true, -- crash_shutdown
   ["57P03"] = true, -- cannot_connect_now
}
-- Errors of COMMIT that prove that the transaction was rolled back. Other
-- errors, such as 1180, 3100 and those of proxies, also occur after the
-- transaction was sent to other servers.
local refusal = {
   [1205] = true, -- ER_LOCK_WAIT_TIMEOUT
   [1213] = true, -- ER_LOCK_DEADLOCK
   [1290] = true, -- ER_OPTION_PREVENTS_STATEMENT: --read-only
   [1792] = true, -- ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
   [1836] = true, -- ER_READ_ONLY_MODE
   [3101] = true, -- ER_TRANSACTION_ROLLBACK_DURING_COMMIT
}
local refusal_class = {
   ["23"] = true, -- integrity constraint violation
   ["25"] = true, -- invalid transaction state
   ["40"] = true, -- transaction rollback, except UNKNOWN_COMPLETION
}
local UNKNOWN_COMPLETION = "40003" -- statement_completion_unknown
local SQLITE_IOERR = 10

local function in_list(list, err)
   return list[tonumber(err.sql_errno)] or list[tostring(err.sql_state)]
end

local function is_lost(err)
   return not err.connection:is_alive()
end

-- The program calls this for errors that it would not retry. The errors of the
-- two lists are always retried. After the first success of any user, all errors
-- are, except a lost connection without --db-reconnect, and errors while the
-- program resets a connection ("<reset>").
function sysbench.hooks.sql_error_ignorable(err)
   if in_list(wrong_server, err) or in_list(temporary, err) then
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
   local database, code = drv:dialect(), tonumber(err.sql_errno)
   if database == "sqlite" then
      return code % 256 ~= SQLITE_IOERR
   elseif database == "pgsql" then
      return refusal_class[err.sql_state:sub(1, 2)] and
         err.sql_state ~= UNKNOWN_COMPLETION
   end
   return refusal[code]
end

-- Connections ---------------------------------------------------------------

local function prepare_statements()
   update = con:prepare(("UPDATE %s SET writes = writes + 1, " ..
      "last_write = ? WHERE user_no = ?"):format(markers_name(opt)),
      "marker")
   insert = con:prepare(("INSERT INTO %s (write_no, user_no) " ..
      "VALUES (?, ?)"):format(opt.table_name), "write")
   look = con:prepare(("SELECT COUNT(*) FROM %s WHERE write_no = ? AND " ..
      "user_no = ?"):format(opt.table_name), "look")
   number = update:bind_create(types.BIGINT)
   owner = update:bind_create(types.INT)
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
   if has_moved and not user.wait(MOVE_EVERY) then
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
   must_move, has_moved = false, true
   return true
end

-- Returns the last write of this user that is stored, by its marker and by the
-- writes. The transaction changes the marker: so a server that is behind cannot
-- commit it, a standby refuses it, and it waits for a transaction of this user
-- that is still in progress.
local function last_stored()
   con:query(d.begin_write)
   con:query(("UPDATE %s SET runs = runs + 1 WHERE user_no = %d"):format(
      markers_name(opt), sysbench.tid))
   local last = con:query_row(("SELECT last_write FROM %s WHERE user_no = " ..
      "%d"):format(markers_name(opt), sysbench.tid))
   local highest = con:query_row(("SELECT MAX(write_no) FROM %s WHERE " ..
      "user_no = %d"):format(opt.table_name, sysbench.tid))
   con:query(d.commit)
   return tonumber(last), tonumber(highest)
end

-- Connects to a server that accepts writes. Returns as last_stored().
local function connect_and_find_last()
   for try = 1, START_TRIES do
      con = drv:connect()
      local ok, last_or_error, highest = pcall(last_stored)
      if ok then
         return last_or_error, highest
      elseif type(last_or_error) ~= "table" or try == START_TRIES then
         error(last_or_error, 0)
      end
      pcall(con.disconnect, con)
      user.wait(MOVE_EVERY)
   end
end

-- Transactions --------------------------------------------------------------

local function is_stored()
   local rs = look:execute()
   local row = rs and rs:fetch_row()
   return row and tonumber(row[1]) > 0
end

-- The UPDATE waits until an earlier transaction of this user has ended; only
-- then is it certain whether its write is stored. A write that is stored counts
-- as acknowledged without being written again.
local function transaction()
   phase = "before"
   con:query(d.begin_write)
   number:set(next_write)
   update:execute()
   if maybe_stored and opt.unknown == "look" and is_stored() then
      con:query("ROLLBACK")
      return
   end
   insert:execute()
   phase = "commit"
   con:query(d.commit)
end

local function note_success(now)
   local before = published(shared.success)
   -- 0 means that there was no success. In a warm-up, the time is negative:
   -- such a success counts as one at the start of the measured part.
   publish(shared.success, math.max(now, 1e-6))
   if now - before > longest_gap then
      longest_gap = now - before
      publish(mine.gap, longest_gap)
      publish(mine.gap_start, before)
   end
end

local function note_recovery(now)
   outage_durations:record((user.run_time() - outage_start) * 1000)
   failing_users:set(0)
   outage_start = nil
   if outage_error then
      publish(mine.recovered, now)
      if now - outage_error > worst_outage then
         worst_outage = now - outage_error
         publish(mine.worst, worst_outage)
         publish(mine.worst_start, outage_error)
      end
      outage_error = nil
   end
end

local function transaction_succeeded()
   local now = user.time()
   mine.last:raise(next_write)
   next_write, maybe_stored, has_moved = next_write + 1, false, false
   acknowledged:add()
   note_success(now)
   if outage_start then
      note_recovery(now)
   end
end

-- Adds the write to a list, and continues with the next one.
local function give_up(list)
   append(list, next_write)
   mine.last:raise(next_write)
   next_write = next_write + 1
end

-- If an earlier COMMIT of this write had an unknown outcome, a refusal now does
-- not prove that it is not stored.
local function commit_failed(err)
   if is_refusal(err) then
      refused:add()
      shared.refused:next()
      if not maybe_stored then
         give_up(mine.refused)
      end
      return
   end
   unknown:add()
   shared.unknown:next()
   if opt.unknown == "skip" then
      give_up(mine.unknown)
   else
      maybe_stored = true
   end
end

local function transaction_failed(err, began)
   local now = user.time()
   if not outage_start then
      outage_start = began
      failing_users:set(1)
   end
   if now >= 0 then -- otherwise before the measured part
      shared.errors:next()
      if not outage_error then
         publish_earliest(shared.first_error, now)
         outage_error = now
         publish(mine.outage_error, now)
      end
   end
   if phase == "commit" then
      commit_failed(err)
   end
end

-- Rolls back here, because an error of the program's own rollback would end the
-- run. The program reconnects after a lost connection.
local function roll_back(err)
   if type(err) ~= "table" or not err.connection or is_lost(err) then
      return
   end
   must_move = in_list(wrong_server, err) or not pcall(con.reset, con)
   if must_move then
      err.connection = nil -- so that the program does not roll back on it
   end
end

-- Beginning and end ----------------------------------------------------------

local function create_metrics()
   acknowledged = sysbench.metric("acknowledged",
      {help = "writes that the server acknowledged"})
   unknown = sysbench.metric("unknown",
      {help = "COMMITs without an answer that says whether the write is " ..
      "stored"})
   refused = sysbench.metric("refused",
      {help = "COMMITs that the server answered with a rollback"})
   failing_users = sysbench.metric("failing", {kind = "gauge", unit = "users",
      help = "users whose last transaction failed"})
   outage_durations = sysbench.metric("outage", {kind = "distribution",
      unit = "ms", help = "time from the start of a user's first failed " ..
      "transaction to the user's next successful one"})
end

-- last: the last write that is stored. If the user has been in this run before
-- (--stages), it continues with the figures that it has published, and after
-- its last write even if that is lost, so that the loss is found.
local function continue_after(last)
   if mine.start:last() == 0 then -- 0: not set
      mine.start:raise(last + 1)
   end
   mine.last:raise(last)
   next_write = mine.last:last() + 1
   longest_gap, worst_outage = published(mine.gap), published(mine.worst)
   if mine.outage_error:last() > mine.recovered:last() then
      outage_error = published(mine.outage_error)
      outage_start = outage_error + user.run_time() - user.time()
   end
   failing_users:set(outage_start and 1 or 0)
end

function thread_init()
   opt = sysbench.opt
   if sysbench.tid >= opt.users then
      error(string.format("failover: user %d has no marker: prepare with " ..
         "--users=%d or more, and run with the same", sysbench.tid,
         sysbench.tid + 1), 0)
   end
   drv = sysbench.sql.driver()
   d = dialect.of(drv)
   shared = shared_sequences(opt)
   mine = user_sequences(opt, sysbench.tid)
   shared.users:raise(sysbench.tid + 1)
   create_metrics()
   local last, highest = connect_and_find_last()
   if not last and d.find_table then
      error(("failover: table %s has no row of user %d; run " ..
         "'cleanup', then: %s"):format(markers_name(opt), sysbench.tid,
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
   if must_move and not move() then
      return true
   end
   local began = user.run_time()
   local ok, err = pcall(transaction)
   if not ok then
      transaction_failed(err, began)
      roll_back(err)
      error(err, 0)
   end
   transaction_succeeded()
end

-- Time -----------------------------------------------------------------------

ffi.cdef("int usleep(unsigned int);")
ffi.cdef("int clock_gettime(int, void *);")

local MONOTONIC = 1
local time = ffi.new("int64_t[2]") -- seconds and nanoseconds

local function sleep(seconds)
   ffi.C.usleep(seconds * 1e6)
end

local function clock()
   ffi.C.clock_gettime(MONOTONIC, time)
   return tonumber(time[0]) + tonumber(time[1]) / 1e9
end

-- Records of acknowledged writes ---------------------------------------------

-- A record is an array of {user_no, start, last, unknown = {numbers in order},
-- refused = {numbers in order}}: all other writes of the user after start, up
-- to last, are acknowledged.
local LINE = "user (%d+) start (%d+) last (%d+) unknown([ %d]*) refused([ %d]*)"

-- Returns the record of the run.
local function record_of_run(opt)
   local record = {}
   for user_no = 0, shared_sequences(opt).users:last() - 1 do
      local of_user = user_sequences(opt, user_no)
      local start = of_user.start:last()
      if start > 0 then
         record[#record + 1] = {user_no = user_no, start = start - 1,
            last = of_user.last:last(), unknown = numbers_of(of_user.unknown),
            refused = numbers_of(of_user.refused)}
      end
   end
   return record
end

local function join(numbers)
   local words = {}
   for i, n in ipairs(numbers) do
      words[i] = string.format(" %.0f", n)
   end
   return table.concat(words)
end

local function split(text)
   local numbers = {}
   for n in text:gmatch("%d+") do
      numbers[#numbers + 1] = tonumber(n)
   end
   return numbers
end

local function write_record(record, path)
   local file, why = io.open(path, "w")
   if not file then
      error("--record: " .. why, 0)
   end
   for _, r in ipairs(record) do
      file:write(string.format(
         "user %d start %.0f last %.0f unknown%s refused%s\n", r.user_no,
         r.start, r.last, join(r.unknown), join(r.refused)))
   end
   if not file:close() then
      error("--record: cannot write " .. path, 0)
   end
end

local function read_record(path)
   local file, why = io.open(path)
   if not file then
      error("--record: " .. why, 0)
   end
   local record = {}
   for line in file:lines() do
      local user_no, start, last, unknown, refused =
         line:match("^" .. LINE .. "$")
      if not user_no then
         error(string.format("--record: %s:%d is not a line of a record",
            path, #record + 1), 0)
      end
      record[#record + 1] = {user_no = tonumber(user_no),
         start = tonumber(start), last = tonumber(last),
         unknown = split(unknown), refused = split(refused)}
   end
   file:close()
   return record
end

-- Verification ---------------------------------------------------------------

local PAGE = 5000 -- numbers that are read at a time
local NAMED = 10 -- ranges of numbers that a message names
local RETRY_EVERY = 0.5 -- seconds between attempts to find a server
local SETTLE = 1 -- seconds after which missing writes are looked for again

-- Adds write n of a user to a list of ranges.
local function add(list, user_no, n)
   local range = list[#list]
   if range and range.user_no == user_no and range.last == n - 1 then
      range.last = n
   else
      list[#list + 1] = {user_no = user_no, first = n, last = n}
   end
   list.count = list.count + 1
end

-- Returns a text that names the writes of a list.
local function names(list)
   local words = {}
   for i = 1, math.min(#list, NAMED) do
      local r = list[i]
      words[i] = string.format("user %d: %.0f", r.user_no, r.first) ..
         (r.last > r.first and string.format("-%.0f", r.last) or "")
   end
   if #list > NAMED then
      words[#words + 1] = string.format("and %d more ranges", #list - NAMED)
   end
   return table.concat(words, ", ")
end

-- Calls f(n, times) for each write n > after of a user; times: how often the
-- write is stored.
local function each_stored(con, opt, user_no, after, f)
   local read
   repeat
      local rs = con:query(string.format("SELECT write_no, COUNT(*) FROM " ..
         "%s WHERE user_no = %d AND write_no > %.0f GROUP BY write_no " ..
         "ORDER BY write_no LIMIT %d", opt.table_name, user_no, after, PAGE))
      read = rs and rs.nrows or 0
      for _ = 1, read do
         local row = rs:fetch_row()
         after = tonumber(row[1])
         f(after, tonumber(row[2]))
      end
   until read < PAGE
end

-- Returns the outcomes of the writes that are not acknowledged, by number:
-- "unknown" or "refused".
local function outcomes(r)
   local of = {}
   for _, outcome in ipairs{"unknown", "refused"} do
      for _, n in ipairs(r[outcome]) do
         of[n] = outcome
      end
   end
   return of
end

-- Compares the writes of a user, an element of a record, with those that are
-- stored, and adds the differences to `found`.
local function compare(con, opt, r, found)
   local at, outcome = r.start, outcomes(r) -- writes up to `at` are compared
   local function are_missing(last) -- the writes from at + 1 to last
      for n = at + 1, math.min(last, r.last) do
         if not outcome[n] then
            add(found.lost, r.user_no, n)
         end
      end
   end
   each_stored(con, opt, r.user_no, r.start, function(n, times)
      are_missing(n - 1)
      at = n
      if outcome[n] == "unknown" then
         found.unknown_stored = found.unknown_stored + 1
      elseif outcome[n] == "refused" then
         add(found.refused_stored, r.user_no, n)
      end
      if times > 1 then
         add(found.doubled, r.user_no, n)
      end
   end)
   are_missing(r.last)
   found.unknown = found.unknown + #r.unknown
   found.refused = found.refused + #r.refused
   found.acknowledged = found.acknowledged + r.last - r.start - #r.unknown -
      #r.refused
end

local function compare_all(con, opt, record)
   local found = {lost = {count = 0}, doubled = {count = 0},
      refused_stored = {count = 0}, unknown = 0, unknown_stored = 0,
      refused = 0, acknowledged = 0}
   for _, r in ipairs(record) do
      compare(con, opt, r, found)
   end
   return found
end

-- Members of a cluster may apply the last writes a little later, so missing
-- ones are looked for twice.
local function read_writes(con, opt, record)
   local found = compare_all(con, opt, record)
   if found.lost.count > 0 then
      sleep(SETTLE)
      found = compare_all(con, opt, record)
   end
   return found
end

-- The lists in `found` that must be empty, with their texts.
local problems = {
   {list = "lost", title = "lost",
      error = "acknowledged writes that were lost: %.0f"},
   {list = "doubled", title = "doubled",
      error = "writes that are stored more than once: %.0f"},
   {list = "refused_stored", title = "refused, but stored",
      error = "writes that were refused, but are stored: %.0f"},
}

-- Prints the result of a comparison. Returns a text if the stored writes
-- contradict the answers of the server; otherwise nil.
local function report(found)
   local refused = found.refused > 0 and string.format("; %.0f refused, of " ..
      "which %.0f are stored", found.refused, found.refused_stored.count) or ""
   tables.print("failover: %.0f acknowledged writes: %.0f lost, %.0f stored " ..
      "more than once; %.0f of unknown outcome, of which %.0f are stored%s",
      found.acknowledged, found.lost.count, found.doubled.count,
      found.unknown, found.unknown_stored, refused)
   local errors = {}
   for _, problem in ipairs(problems) do
      local list = found[problem.list]
      if list.count > 0 then
         tables.print("failover: %s: %s", problem.title, names(list))
         errors[#errors + 1] = problem.error:format(list.count)
      end
   end
   return #errors > 0 and table.concat(errors, ", ") or nil
end

-- Reports the results of a comparison after a run.
local function report_results(found)
   local wrong = report(found)
   sysbench.result("acknowledged", found.acknowledged)
   for _, problem in ipairs(problems) do
      sysbench.result(problem.list, found[problem.list].count)
   end
   sysbench.verdict(not wrong, wrong or
      "all acknowledged writes are stored once")
end

-- The writes of a run are not verified.
local function report_unknown(why)
   for _, problem in ipairs(problems) do
      sysbench.result(problem.list, nil, {why = why})
   end
end

-- Verification on a server that accepts writes -------------------------------

-- Returns the message of an error: of a table of the API, or a text.
local function message(err)
   return type(err) == "table" and tostring(err.sql_errmsg) or tostring(err)
end

-- Returns options for a connection that waits at most this many seconds: the
-- time limits of the driver, unless they are shorter.
local function time_limits(driver_name, seconds)
   local options = {}
   seconds = math.max(1, math.ceil(seconds))
   for _, limit in ipairs{"connect_timeout", "read_timeout"} do
      local given = sysbench.opt[driver_name .. "_" .. limit]
      if given and (given == 0 or given > seconds) then
         options[limit] = seconds
      end
   end
   return options
end

-- Fails if the server is a standby, or not part of its cluster. With
-- wsrep_sync_wait, a member that is behind reads only after it has applied the
-- writes of the others.
local function require_writable(con, opt, database)
   con:query(string.format("UPDATE %s SET runs = runs WHERE user_no = -1",
      markers_name(opt)))
   if database == "mysql" and
      con:query_row("SHOW VARIABLES LIKE 'wsrep_sync_wait'")
   then
      con:query("SET SESSION wsrep_sync_wait = 1")
   end
end

local addresses = {
   mysql = "SELECT CONCAT(@@hostname, ':', @@port)",
   pgsql = "SELECT COALESCE(HOST(inet_server_addr()), 'socket') || ':' || " ..
      "current_setting('port')",
}

local function print_address(con, database)
   if not addresses[database] then
      return
   end
   local ok, address = pcall(con.query_row, con, addresses[database])
   if ok and address then
      tables.print("failover: verifying the writes on %s", address)
   end
end

-- Returns the result of the comparison on a server; or nil, a text about the
-- failure, and the error.
local function try_verify(opt, record, seconds)
   local drv = sysbench.sql.driver()
   local failure = "no server accepts writes"
   local con, err = drv:try_connect(time_limits(drv:name(), seconds))
   if not con then
      return nil, failure, message(err)
   end
   local ok, found = pcall(function()
      require_writable(con, opt, drv:dialect())
      failure = "they cannot be read"
      print_address(con, drv:dialect())
      return read_writes(con, opt, record)
   end)
   pcall(con.disconnect, con)
   if not ok then
      return nil, failure, message(found)
   end
   return found
end

-- Verifies the record on a server that accepts writes within --verify-wait.
local function verify(opt, record)
   local deadline, is_waiting = clock() + opt.verify_wait, false
   while true do
      local found, failure, err = try_verify(opt, record, deadline - clock())
      local left = deadline - clock()
      if found then
         return report_results(found)
      elseif left <= 0 then
         report_unknown(failure .. ": " .. err)
         local later = opt.record == "" and "" or
            " (the command check with --record verifies them later)"
         error(string.format("failover: the writes are not verified, " ..
            "because %s%s: %s", failure, later, err), 0)
      elseif not is_waiting then
         tables.print("failover: waiting up to %.0f s for a server to " ..
            "verify the writes: %s", left, err)
         is_waiting = true
      end
      sleep(math.min(RETRY_EVERY, left))
   end
end

-- Check ----------------------------------------------------------------------

-- Returns a text about a contradiction between a marker (writes, last) and the
-- writes of its user (stored rows, different numbers, the highest number); or
-- nil.
local function contradiction(writes, last, stored, different, highest)
   if stored ~= different then
      return string.format("surplus copies of its writes: %.0f",
         stored - different)
   elseif writes ~= stored then
      return string.format("its marker counts %.0f writes, but %.0f are " ..
         "stored", writes, stored)
   elseif last ~= highest then
      return string.format("its marker has write %.0f as the last one, but " ..
         "the last one stored is %.0f", last, highest)
   end
end

-- Verifies that each transaction is stored completely or not at all. Returns
-- the numbers of problems and of writes.
local function check_markers(con, opt)
   local problems, rows = 0, 0
   local rs = con:query(string.format("SELECT u.user_no, u.writes, " ..
      "u.last_write, COUNT(w.user_no), COUNT(DISTINCT w.write_no), " ..
      "COALESCE(MAX(w.write_no), 0) FROM %s u LEFT JOIN %s w ON " ..
      "w.user_no = u.user_no GROUP BY u.user_no, u.writes, u.last_write " ..
      "ORDER BY u.user_no", markers_name(opt), opt.table_name))
   for _ = 1, rs and rs.nrows or 0 do
      local row = rs:fetch_row()
      for i = 1, 6 do
         row[i] = tonumber(row[i])
      end
      local problem = contradiction(unpack(row, 2, 6))
      if problem then
         tables.print("%s: user %d: %s", opt.table_name, row[1], problem)
         problems = problems + 1
      end
      rows = rows + row[4]
   end
   local all = tonumber((con:query_row("SELECT COUNT(*) FROM " ..
      opt.table_name)))
   if all and all ~= rows then
      tables.print("%s: writes of users without a marker: %.0f",
         opt.table_name, all - rows)
      problems = problems + 1
   end
   return problems, rows
end

function commands.check(opt)
   if sysbench.parallel.ticket("check") > 0 then
      return
   end
   local con = tables.connect("failover", opt)
   local problems, rows = check_markers(con, opt)
   if problems == 0 then
      tables.print("%s: %.0f writes, and all markers agree with them",
         opt.table_name, rows)
   end
   local wrong = opt.record ~= "" and
      report(read_writes(con, opt, read_record(opt.record)))
   con:disconnect()
   if wrong then
      error("failover: " .. wrong, 0)
   elseif problems > 0 then
      error(string.format("%s: problems: %d", opt.table_name, problems), 0)
   end
end

tables.declare_commands(commands)

-- Before and after a run -----------------------------------------------------

function init()
   local opt = sysbench.opt
   if not opt.check_tables then
      return
   end
   local con, d = tables.connect("failover", opt)
   local list = {opt.table_name, markers_name(opt)}
   if d.find_table then
      check.require_tables(con, d, #list,
         function(n) return list[n] end)
   end
   con:disconnect()
end

function done()
   local opt = sysbench.opt
   local record = record_of_run(opt)
   if opt.record ~= "" then
      write_record(record, opt.record)
   end
   local d = dialect.of(sysbench.sql.driver())
   if not d.find_table then
      report_unknown("the null driver stores nothing")
   elseif not opt.verify then
      report_unknown("--verify is off")
   else
      verify(opt, record)
   end
end

-- Writes that were acknowledged before a run failed are verified, too.
function sysbench.hooks.run_failed()
   done()
end

-- Reports ---------------------------------------------------------------------

-- Calls f with the sequences of each user.
local function each_user(opt, f)
   for user_no = 0, shared_sequences(opt).users:last() - 1 do
      f(user_sequences(opt, user_no))
   end
end

-- Returns the time of the end of the measured part. After it, the last calls
-- end and connections are closed: that time does not count as time without a
-- success. total: the duration of the run.
local function measured_end(opt, total)
   local shared, limit = shared_sequences(opt), sysbench.opt.time
   if shared.ended:last() >= shared.users:last() then
      total = math.min(total, published(shared.last_end))
   end
   return limit > 0 and math.min(total, limit) or total
end

-- Returns the time of the first error, or nil.
local function first_error_of_run(opt)
   local shared = shared_sequences(opt)
   return shared.errors:last() > 0 and
      published_earliest(shared.first_error) or nil
end

-- Returns the longest time without a success of any user, in seconds, when it
-- began, and whether the run ended before the next success.
local function longest_gap_of_run(opt, total)
   local gap, start = 0, 0
   each_user(opt, function(of_user)
      local from = published(of_user.gap_start)
      local seconds = math.min(published(of_user.gap), total - from)
      if seconds > gap then
         gap, start = seconds, from
      end
   end)
   local last = published(shared_sequences(opt).success)
   if total - last > gap then
      return total - last, last, true
   end
   return gap, start, false
end

-- Returns the first error in a part of the run, or nil.
local function error_between(opt, first, last)
   local found = first_error_of_run(opt)
   if found and (found < first or found > last) then
      found = nil
   end
   each_user(opt, function(of_user)
      for _, time_of in ipairs{of_user.outage_error, of_user.worst_start} do
         local t = published(time_of)
         if t > 0 and t >= first and t <= last then
            found = math.min(t, found or t)
         end
      end
   end)
   return found
end

-- Returns how many users had no success after their last error, and for how
-- long at most.
local function users_without_recovery(opt, total)
   local users, longest = 0, 0
   each_user(opt, function(of_user)
      local since = published(of_user.outage_error)
      if since > published(of_user.recovered) then
         users = users + 1
         longest = math.max(longest, total - since)
      end
   end)
   return users, longest
end

-- Returns the lines after the report. total: the duration of the run.
local function final_lines(opt, total)
   local shared = shared_sequences(opt)
   total = measured_end(opt, total)
   local errors = shared.errors:last()
   local gap, start, open = longest_gap_of_run(opt, total)
   sysbench.result("unavailable", gap)
   local text = string.format("failover: longest time without a success of " ..
      "any user: %.3f s, from %.3f s to %s", gap, start, open and
      "the end of the run" or string.format("%.3f s", start + gap))
   local first = error_between(opt, start, start + gap)
   if first then
      text = string.format("%s; first error in that time: %.3f s", text, first)
   end
   if errors == 0 then
      return text .. "\nfailover: no errors"
   end
   local users, longest = users_without_recovery(opt, total)
   return text .. string.format("\nfailover: %.0f failed transactions, " ..
      "first at %.3f s; COMMIT refused: %.0f; COMMIT of unknown outcome: " ..
      "%.0f\nfailover: users still failing at the end: %d", errors,
      first_error_of_run(opt), shared.refused:last(),
      shared.unknown:last(), users) ..
      (longest > 0 and string.format(", for up to %.3f s", longest) or "")
end

function sysbench.hooks.report_line(stat, final)
   local opt = sysbench.opt
   if final then
      return final_lines(opt, stat.time_total)
   end
   local gauge = stat.metrics.failing
   return string.format("failing users: %.0f, commits of unknown outcome: %.0f",
      gauge and gauge.value or 0, shared_sequences(opt).unknown:last())
end
