-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- failover: creates and drops its tables, reports the time without service, and
-- verifies the writes. The users of a run never load this.

local build = require("sb.build")
local failover = require("sb.failover")
local own_tables = require("sb.own_tables")

local print_line = build.print_line

local PAGE = 5000 -- numbers that are read at a time
local NAMED = 10 -- ranges of numbers that a message names
local AGAIN = 0.5 -- seconds after which a server is looked for again
local SETTLE = 1 -- seconds after which missing writes are looked for again

local M = {}

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

-- Prepare and cleanup --------------------------------------------------------

local function create(con, d, opt)
   local markers, writes = failover.users(opt), opt.table_name
   print_line("Creating table '%s'...", writes)
   con:query(string.format("CREATE TABLE %s(id %s, user_no INTEGER NOT " ..
      "NULL, write_no BIGINT NOT NULL, PRIMARY KEY (id)) %s", writes,
      d.big_id_auto, d.table_options(opt)))
   -- It is not unique: a write that is stored twice must be found.
   con:query(string.format("CREATE INDEX %s_writes ON %s (user_no, write_no)",
      writes:gsub("%.", "_"), writes))
   print_line("Creating table '%s'...", markers)
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

-- The tables are small: one thread creates them.
function M.prepare(opt)
   if sysbench.parallel.ticket(0) > 0 then
      return
   end
   local con, d = own_tables.connect("failover", opt)
   for _, name in ipairs{opt.table_name, failover.users(opt)} do
      build.refuse_existing(con, d, name)
   end
   local ok, err = pcall(create, con, d, opt)
   if not ok then
      pcall(con.reset, con)
      pcall(drop, con, opt.table_name)
      pcall(drop, con, failover.users(opt))
      error(err, 0)
   end
   con:disconnect()
end

function M.warmup()
end

M.prewarm = M.warmup

function M.cleanup(opt)
   local con = own_tables.connect("failover", opt)
   for _, name in ipairs{opt.table_name, failover.users(opt)} do
      print_line("Dropping table '%s'...", name)
      drop(con, name)
   end
   con:disconnect()
end

-- What was acknowledged -------------------------------------------------------

-- A record is an array of {user, start, last, unknown = {numbers in order},
-- refused = {the same}}: all other writes after start, up to last, are
-- acknowledged.
local LINE = "user (%d+) start (%d+) last (%d+) unknown([ %d]*) refused([ %d]*)"

local function numbers_of(list)
   local numbers = {}
   for i = 1, list.count:last() do
      numbers[i] = sysbench.sequence(list.name .. i):last()
   end
   return numbers
end

-- Returns the record of the run.
local function record_of_run(opt)
   local record = {}
   for tid = 0, failover.shared(opt).users:last() - 1 do
      local user = failover.sequences(opt, tid)
      if user.start:last() > 0 then
         record[#record + 1] = {user = tid, start = user.start:last() - 1,
            last = user.last:last(), unknown = numbers_of(user.unknown),
            refused = numbers_of(user.refused)}
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
         "user %d start %.0f last %.0f unknown%s refused%s\n", r.user, r.start,
         r.last, join(r.unknown), join(r.refused)))
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
      local user, start, last, unknown, refused = line:match("^" .. LINE .. "$")
      if not user then
         error(string.format("--record: %s:%d is not a line of a record",
            path, #record + 1), 0)
      end
      record[#record + 1] = {user = tonumber(user), start = tonumber(start),
         last = tonumber(last), unknown = split(unknown),
         refused = split(refused)}
   end
   file:close()
   return record
end

-- Verification ----------------------------------------------------------------

-- Adds numbers first to last of a user to a list of ranges.
local function add(list, user, first, last)
   local range = list[#list]
   if range and range.user == user and range.last == first - 1 then
      range.last = last
   else
      list[#list + 1] = {user = user, first = first, last = last}
   end
   list.count = list.count + last - first + 1
end

-- Returns a text that names the numbers of a list.
local function names(list)
   local words = {}
   for i = 1, math.min(#list, NAMED) do
      local r = list[i]
      words[i] = string.format("user %d: %.0f", r.user, r.first) ..
         (r.last > r.first and string.format("-%.0f", r.last) or "")
   end
   if #list > NAMED then
      words[#words + 1] = string.format("and %d more ranges", #list - NAMED)
   end
   return table.concat(words, ", ")
end

-- Calls f(number, times stored) for the numbers of a user after `after`.
local function each_stored(con, opt, user, after, f)
   local read
   repeat
      local rs = con:query(string.format("SELECT write_no, COUNT(*) FROM " ..
         "%s WHERE user_no = %d AND write_no > %.0f GROUP BY write_no " ..
         "ORDER BY write_no LIMIT %d", opt.table_name, user, after, PAGE))
      read = rs and rs.nrows or 0
      for _ = 1, read do
         local row = rs:fetch_row()
         after = tonumber(row[1])
         f(after, tonumber(row[2]))
      end
   until read < PAGE
end

-- Returns a table: number of a write that is not acknowledged -> "unknown" or
-- "refused".
local function outcomes(r)
   local of = {}
   for _, outcome in ipairs{"unknown", "refused"} do
      for _, n in ipairs(r[outcome]) do
         of[n] = outcome
      end
   end
   return of
end

-- Compares the writes of a user with those that are stored.
local function compare(con, opt, r, found)
   local at, outcome = r.start, outcomes(r) -- numbers up to `at` are done
   local function missing(last)
      for n = at + 1, math.min(last, r.last) do
         if not outcome[n] then
            add(found.lost, r.user, n, n)
         end
      end
   end
   each_stored(con, opt, r.user, r.start, function(n, times)
      missing(n - 1)
      at = n
      if outcome[n] == "unknown" then
         found.unknown_stored = found.unknown_stored + 1
      elseif outcome[n] == "refused" then
         add(found.refused_stored, r.user, n, n)
      end
      if times > 1 then
         add(found.doubled, r.user, n, n)
      end
   end)
   missing(r.last)
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

local wrongs = {
   {"lost", "lost", "acknowledged writes that were lost: %.0f"},
   {"doubled", "doubled", "writes that are stored more than once: %.0f"},
   {"refused_stored", "refused, but stored",
      "writes that were refused, but are stored: %.0f"},
}

-- Prints what was found; raises an error if the writes are not what the server
-- has answered.
local function tell(found)
   local refused = found.refused > 0 and string.format("; %.0f refused, of " ..
      "which %.0f are stored", found.refused, found.refused_stored.count) or ""
   print_line("failover: %.0f acknowledged writes: %.0f lost, %.0f stored " ..
      "more than once; %.0f of unknown outcome, of which %.0f are stored%s",
      found.acknowledged, found.lost.count, found.doubled.count,
      found.unknown, found.unknown_stored, refused)
   local texts = {}
   for _, wrong in ipairs(wrongs) do
      local list = found[wrong[1]]
      if list.count > 0 then
         print_line("failover: %s: %s", wrong[2], names(list))
         texts[#texts + 1] = wrong[3]:format(list.count)
      end
   end
   if #texts > 0 then
      error("failover: " .. table.concat(texts, ", "), 0)
   end
end

-- Check -----------------------------------------------------------------------

-- Returns what is wrong with the row of a marker and its writes; or nil.
local function wrong(writes, last, stored, different, highest)
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
      "ORDER BY u.user_no", failover.users(opt), opt.table_name))
   for _ = 1, rs and rs.nrows or 0 do
      local row = rs:fetch_row()
      for i = 1, 6 do
         row[i] = tonumber(row[i])
      end
      local why = wrong(unpack(row, 2, 6))
      if why then
         print_line("%s: user %d: %s", opt.table_name, row[1], why)
         problems = problems + 1
      end
      rows = rows + row[4]
   end
   local all = tonumber((con:query_row("SELECT COUNT(*) FROM " ..
      opt.table_name)))
   if all and all ~= rows then
      print_line("%s: writes of users without a marker: %.0f",
         opt.table_name, all - rows)
      problems = problems + 1
   end
   return problems, rows
end

function M.check(opt)
   if sysbench.parallel.ticket(0) > 0 then
      return
   end
   local con = own_tables.connect("failover", opt)
   local problems, rows = check_markers(con, opt)
   if problems == 0 then
      print_line("%s: %.0f writes, and all markers agree with them",
         opt.table_name, rows)
   end
   if opt.record ~= "" then
      tell(read_writes(con, opt, read_record(opt.record)))
   end
   con:disconnect()
   if problems > 0 then
      error(string.format("%s: problems: %d", opt.table_name, problems), 0)
   end
end

-- Before and after a run ------------------------------------------------------

function M.before_run(opt)
   if not sysbench.opt.check_tables then
      return
   end
   local con, d = own_tables.connect("failover", opt)
   local list = {opt.table_name, failover.users(opt)}
   if d.find_table then
      require("sb.check_tables").require_tables(con, d, #list,
         function(n) return list[n] end)
   end
   con:disconnect()
end

-- Returns the message of an error: of a table of the API, or a text.
local function message(err)
   return type(err) == "table" and tostring(err.sql_errmsg) or tostring(err)
end

-- Returns options for a connection that waits at most this many seconds.
local function limits(name, seconds)
   local options = {}
   seconds = math.max(1, math.ceil(seconds))
   for _, what in ipairs{"connect_timeout", "read_timeout"} do
      local given = sysbench.opt[name .. "_" .. what]
      if given and (given == 0 or given > seconds) then
         options[what] = seconds
      end
   end
   return options
end

-- Fails if the server is a standby, or not part of its cluster. If it is a
-- member that is behind, it reads only after it has applied the writes of the
-- others.
local function require_writable(con, opt, dialect)
   con:query(string.format("UPDATE %s SET runs = runs WHERE user_no = -1",
      failover.users(opt)))
   if dialect == "mysql" and
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

local function print_address(con, dialect)
   if not addresses[dialect] then
      return
   end
   local ok, address = pcall(con.query_row, con, addresses[dialect])
   if ok and address then
      print_line("failover: verifying the writes on %s", address)
   end
end

-- Returns what was found on a server; or nil and why it cannot be read.
local function try_verify(opt, record, seconds)
   local drv = sysbench.sql.driver()
   local con, why = drv:try_connect(limits(drv:name(), seconds))
   if not con then
      return nil, message(why)
   end
   local dialect = drv:dialect()
   local ok, found = pcall(function()
      require_writable(con, opt, dialect)
      print_address(con, dialect)
      return read_writes(con, opt, record)
   end)
   pcall(con.disconnect, con)
   return ok and found, message(found)
end

-- Verifies the record on a server that accepts writes within --verify-wait.
local function verify(opt, record)
   local deadline, told = clock() + opt.verify_wait, false
   while true do
      local found, why = try_verify(opt, record, deadline - clock())
      local left = deadline - clock()
      if found then
         return tell(found)
      elseif left <= 0 then
         error("failover: the writes are not verified, because no server " ..
            "accepts writes" .. (opt.record ~= "" and " (the command " ..
            "check with --record verifies them later)" or "") .. ": " .. why, 0)
      elseif not told then
         print_line("failover: waiting up to %.0f s for a server to verify " ..
            "the writes: %s", left, why)
         told = true
      end
      sleep(math.min(AGAIN, left))
   end
end

function M.after_run(opt)
   local record = record_of_run(opt)
   if opt.record ~= "" then
      write_record(record, opt.record)
   end
   local d = require("sb.dialect").of(sysbench.sql.driver())
   if opt.verify and d.find_table then -- the null driver stores nothing
      verify(opt, record)
   end
end

-- Reports ---------------------------------------------------------------------

-- Calls f with the sequences of each user.
local function each_user(opt, f)
   for tid = 0, failover.shared(opt).users:last() - 1 do
      f(failover.sequences(opt, tid))
   end
end

local function seconds(sequence)
   return sequence:last() / 1e6
end

-- Returns when the measured part ended: what comes after it, such as calls that
-- are waited for and connections that are closed, is no time without service.
-- total: the duration of the run.
local function measured_end(opt, total)
   local shared, limit = failover.shared(opt), sysbench.opt.time
   if shared.ended:last() >= shared.users:last() then
      total = math.min(total, seconds(shared.last_end))
   end
   return limit > 0 and math.min(total, limit) or total
end

-- Returns the time of the first error, or nil.
local function first_error(opt)
   local shared = failover.shared(opt)
   return shared.errors:last() > 0 and
      (failover.NEVER - shared.first_error:last()) / 1e6 or nil
end

-- Returns the longest time without a success of any user, in seconds, when it
-- began, and whether the run ended before the next success.
local function longest_gap(opt, total)
   local gap, start = 0, 0
   each_user(opt, function(user)
      local from = seconds(user.gap_start)
      local g = math.min(seconds(user.gap), total - from)
      if g > gap then
         gap, start = g, from
      end
   end)
   local last = seconds(failover.shared(opt).success)
   if total - last > gap then
      return total - last, last, true
   end
   return gap, start, false
end

-- Returns the first error in a part of the run, or nil.
local function error_between(opt, first, last)
   local found = first_error(opt)
   if found and (found < first or found > last) then
      found = nil
   end
   each_user(opt, function(user)
      for _, time_of in ipairs{user.failed, user.worst_start} do
         local t = seconds(time_of)
         if t > 0 and t >= first and t <= last then
            found = math.min(t, found or t)
         end
      end
   end)
   return found
end

-- Returns how many users had no success after their last error, and for how
-- long at most.
local function still_failing(opt, total)
   local users, longest = 0, 0
   each_user(opt, function(user)
      local failed = seconds(user.failed)
      if failed > seconds(user.recovered) then
         users = users + 1
         longest = math.max(longest, total - failed)
      end
   end)
   return users, longest
end

-- Returns the lines after the report. total: the duration of the run.
local function final_lines(opt, total)
   local shared = failover.shared(opt)
   total = measured_end(opt, total)
   local errors = shared.errors:last()
   local gap, start, open = longest_gap(opt, total)
   local text = string.format("failover: no success of any user for %.3f s " ..
      "at most, from %.3f s to %s", gap, start, open and
      "the end of the run" or string.format("%.3f s", start + gap))
   local first = error_between(opt, start, start + gap)
   if first then
      text = string.format("%s; first error in that time: %.3f s", text, first)
   end
   if errors == 0 then
      return text .. "\nfailover: no errors"
   end
   local failing, longest = still_failing(opt, total)
   return text .. string.format("\nfailover: %.0f failed transactions, " ..
      "first at %.3f s; COMMIT refused: %.0f; COMMIT without an answer: " ..
      "%.0f\nfailover: users still failing at the end: %d", errors,
      first_error(opt), shared.refused:last(),
      shared.unknown:last(), failing) ..
      (longest > 0 and string.format(", for up to %.3f s", longest) or "")
end

function M.report(opt, stat, final)
   if final then
      return final_lines(opt, stat.time_total)
   end
   local failing = stat.metrics.failing
   return string.format("failing users: %.0f, commits without an answer: %.0f",
      failing and failing.value or 0, failover.shared(opt).unknown:last())
end

return M
