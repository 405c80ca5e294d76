-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- General database options about errors and connections.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")
local is, like = tap.is, tap.like

local point = "oltp_point_select --db-driver=null --events=2000 --threads=2 " ..
   "--time=0 --null-failure-rate=0.01 --rand-seed=7 "

local function number(text, pattern)
   return tonumber(text:match(pattern))
end

local function survives(args, what)
   local out, err, rc = tap.sysbench(point .. args .. " run")
   out = out .. err
   is(rc, 0, what .. ": the run continues")
   is(number(out, "total number of events: *(%d+)"), 2000,
      what .. ": no event is lost")
   local restarted = number(out, "restarted: (%d+)")
   tap.ok(restarted > 0, what .. ": events were restarted")
   return number(out, "reconnects: *(%d+)"), restarted, out
end

local function lost()
   local out, err, rc = tap.sysbench(point .. "--null-failure=lost run")
   is(rc, 1, "a lost connection ends the run by default")
   like(err, "2013", "with the error number")
   for _, args in ipairs{"--db-reconnect=on", "--db-ignore-errors=2013",
      "--db-ignore-errors=1,08S01", "--db-ignore-errors=08*",
      "--db-ignore-errors=ALL"}
   do
      local reconnects, restarted
      reconnects, restarted, out = survives("--null-failure=lost " .. args,
         args)
      is(reconnects, restarted, args .. ": reconnected each time")
   end
   like(out, "null *2013 08S01 *%d+ *[%d.]+s *injected failure",
      "the table of errors: code, count, time of the first, text")
end

-- With this seed, the first connection fails at its first statement.
local function failures()
   local out = tap.sysbench("oltp_point_select --db-driver=null --time=0 " ..
      "--null-failure=lost --null-failure-rate=0.01 --db-reconnect=on " ..
      "--events=5000 --rand-seed=5 --max-restarts=10 " ..
      "--restart-backoff=0 run")
   local n = number(out, "reconnects: *(%d+)")
   tap.ok(n > 20 and n < 90, "lost connections have the rate of failures", n)
end

local function ignored()
   local _, err, rc = tap.sysbench(point .. "--null-failure=fatal run")
   is(rc, 1, "an error ends the run by default")
   like(err, "1105", "with its number")
   local reconnects = survives("--null-failure=fatal --db-ignore-errors=1105",
      "ignored")
   is(reconnects, 0, "an ignored error does not reconnect")
   _, _, rc = tap.sysbench(point ..
      "--null-failure=fatal --db-ignore-errors=1106,40*,08S01 run")
   is(rc, 1, "other errors are not ignored")
   for _, bad in ipairs{"foo", "12x", "4000", "123456x", "*", "40001*"} do
      _, err, rc = tap.sysbench("oltp_point_select --db-driver=null " ..
         "--time=0 --events=1 --db-ignore-errors='" .. bad .. "' run")
      if bad == "4000" then
         is(rc, 0, "any number is accepted")
      else
         is(rc, 1, bad .. " is rejected")
         like(err, "neither", "with a message: " .. err)
      end
   end
end

local function refreshed()
   local out = tap.sysbench("oltp_point_select --db-driver=null " ..
      "--time=0 --events=1000 --db-refresh-events=10 run")
   local n = number(out, "reconnects: *(%d+)")
   tap.ok(n == 99 or n == 100, "a reconnect every ten events of a thousand", n)
   -- Events take at least a millisecond, so 51 of them take more than 50 ms.
   out = tap.sysbench("oltp_point_select --db-driver=null --time=0 " ..
      "--events=200 --null-latency=1ms --db-refresh-time=50ms run")
   n = number(out, "reconnects: *(%d+)")
   local total = number(out, "total time: *([%d.]+)s")
   tap.ok(n >= 3 and n <= total / 0.05 + 1, "a reconnect every 50 ms at most",
          n .. " in " .. total .. " s")
   out = tap.sysbench("oltp_point_select --db-driver=null --time=0 " ..
      "--events=100 run")
   is(number(out, "reconnects: *(%d+)"), 0, "no reconnects by default")
end

local function session()
   local sql = "CREATE TEMP TABLE mine(id INTEGER)"
   local out, err, rc, _
   _, err, rc = tap.with([[
function thread_init()
   con = sysbench.sql.driver("sqlite"):connect{db = ":memory:"}
end
function event()
   con:query("INSERT INTO mine VALUES (1)")
end]], "--time=0 --events=5 --db-init-sql='" .. sql .. "' run")
   is(rc, 0, "--db-init-sql: " .. err)
   out, err, rc = tap.with([[
function thread_init()
   con = sysbench.sql.driver("sqlite"):connect{db = ":memory:"}
end
function event()
   con:query("INSERT INTO mine VALUES (1)")
   con:reconnect()
end]], "--time=0 --events=5 --db-init-sql='" .. sql .. "' run")
   is(rc, 0, "again after a reconnect: " .. err)
   like(out, "reconnects: *5 ", "five reconnects are counted")
   _, err, rc = tap.sysbench("oltp_point_select --db-driver=sqlite " ..
      "--time=0 --events=1 --db-init-sql='SELECT nix' run")
   is(rc, 1, "--db-init-sql that fails")
   like(err, "%-%-db%-init%-sql 'SELECT nix'", "is in the message")
   _, err, rc = tap.sysbench("oltp_point_select --db-driver=sqlite " ..
      "--events=1 --db-isolation=read-committed run")
   is(rc, 1, "isolation levels on SQLite")
   like(err, "sqlite driver does not support isolation levels",
      "are not supported")
end

-- A restart rolls back the transactions of all connections of the event.
local function several()
   local out, err, rc = tap.with([[
function thread_init()
   here = sysbench.sql.driver("sqlite"):connect{db = "here.sqlite"}
   here:query("CREATE TABLE done(id INTEGER)")
   there = sysbench.sql.driver("null"):connect{failure_rate = 0.3}
end
function event()
   here:query("BEGIN")
   here:query("INSERT INTO done VALUES (1)")
   there:query("SELECT 1")
   here:query("COMMIT")
end
function thread_done()
   print("rows: " .. here:query_row("SELECT COUNT(*) FROM done"))
end]], "--time=0 --events=50 run")
   is(rc, 0, "two connections in one event: " .. err)
   like(out .. err, "restarted: [1-9]", "events were restarted")
   like(out, "rows: 50", "each event has inserted one row")
end

-- Statements of init_sql() are executed again by every way to reconnect.
local function init_sql()
   local text = [[
function thread_init()
   con = sysbench.sql.driver():connect()
   con:init_sql("PRAGMA cache_size = 1234")
   con:init_sql("PRAGMA busy_timeout = 77")
end
function event()
   local size = con:query_row("PRAGMA cache_size")
   local timeout = con:query_row("PRAGMA busy_timeout")
   print("settings: " .. size .. " " .. timeout)
   if reconnect then con:reconnect() end
end
]]
   local run = " --db-driver=sqlite --events=3 --time=0 run"
   for _, how in ipairs{"--db-refresh-events=1", ""} do
      local own = how == "" and text .. "reconnect = true" or text
      local out, err, rc = tap.with(own, how .. run)
      is(rc, 0, "init_sql(): " .. err)
      like(out, "reconnects: *[1-9]", "the connection was opened again")
      local _, n = out:gsub("settings: 1234 77\n", "")
      is(n, 3, "each connection has the settings")
   end
   local _, err, rc = tap.with([[
function event()
   sysbench.sql.driver():connect():init_sql("PRAGMA nix nix")
end]], run)
   is(rc, 1, "an error in init_sql()")
   like(err, "syntax error", "is raised")
end

function event()
   tap.run(function()
      init_sql()
      several()
      lost()
      failures()
      ignored()
      refreshed()
      session()
   end)
   return true
end
