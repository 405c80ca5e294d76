-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- A script that fails prints one FATAL line with the function, the line of the
-- script and the error.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")

local connect = [[
function thread_init() con = sysbench.sql.driver():connect() end
]]

-- Runs the text, which must fail with this message at this line; line: 2 by
-- default.
local function fails(what, text, args, message, line)
   local _, err, rc = tap.with(text, args .. " --time=600 --db-driver=sqlite")
   local fatal, n = {}, 0
   for found in err:gmatch("FATAL: [^\n]*") do
      n = n + 1
      fatal[n] = found
   end
   tap.is(n, 1, what .. ": one line")
   tap.like(fatal[1], "^FATAL: `[%w_]+' function failed: script%d+%.lua:" ..
            (line or 2) .. ": " .. message, what)
   tap.is(rc, 1, what .. ": exit status 1")
end

local function statements()
   fails("a missing table", connect .. [[
function event() con:query("SELECT *\n  FROM nosuch") end]], "run",
      "SQL error, errno = 1, state = '%w+': no such table: nosuch.* " ..
      "%(query: SELECT %* FROM nosuch%)$")
   fails("a syntax error", connect .. [[
function event() con:query("SELEC 1") end]], "run",
      "SQL error, .*syntax error %(query: SELEC 1%)$")
   fails("a password in a statement", connect .. [[
function event() con:query("ALTER USER a PASSWORD 'S' /* pw=1 */") end]], "run",
      "SQL error, .* %(query: ALTER USER a PASSWORD '%*' /%* pw=1 %*/%)$")
   fails("a password in --db-init-sql", connect .. [[
function event() end]], "--db-init-sql=\"ALTER USER a IDENTIFIED BY 'S'\" run",
      "connection creation failed: %-%-db%-init%-sql " ..
      "'ALTER USER a IDENTIFIED BY '%*%*%*'': .*", 1)
   fails("a message that contains the statement", connect .. [[
function event() con:query("oops") end]], "run",
      'SQL error, .* near "oops": syntax error$')
   fails("a long statement", connect .. [[
function event() con:query("SELEC " .. ("x"):rep(300)) end]], "run",
      "SQL error, .* %(query: SELEC " .. ("x"):rep(194) .. "%.%.%.%)$")
   fails("a prepared statement", connect .. [[
function event() con:prepare("SELECT * FROM nosuch"):execute() end]], "run",
      "SQL error, .*no such table: nosuch.*SELECT %* FROM nosuch")
   fails("a constraint", [[
local function go() local con = sysbench.sql.driver():connect() con:query(
   "CREATE TABLE u(a INTEGER PRIMARY KEY)")
   con:query("INSERT INTO u VALUES (1), (1)")
end
function prepare() go() end]], "prepare", "SQL error, errno = 1555, state = " ..
      "'23505': .*failed: u.a %(query: INSERT INTO u VALUES %(1%), %(1%)%)$", 3)
   fails("a bulk insert", [[
function prepare() db_query("CREATE TABLE v(a INTEGER PRIMARY KEY)")
   db_bulk_insert_init("INSERT INTO v VALUES")
   db_bulk_insert_next("(1)")
   db_bulk_insert_next("(1)")
   db_bulk_insert_done()
end]], "prepare", "SQL error, .*%(query: INSERT INTO v VALUES %(1%),%(1%)%)$",
      5)
   fails("a load with one value too many in each row", [[
local function go() local con = sysbench.sql.driver():connect() con:query(
   "CREATE TABLE w(id INTEGER PRIMARY KEY, b INTEGER)")
   local load = con:load("w", "id,b")
   for i = 1, 3 do load:int(i) load:int(i) load:text("x") end
   load:int(1)
   load:close() end
prepare = go]], "prepare", "SQL error, errno = 20, state = 'HY000': " ..
      "datatype mismatch %(loading w: id,b%)$", 6)
   fails("a load whose last row is incomplete", connect .. [[
function event() con:query("CREATE TABLE z(a INTEGER, b INTEGER)")
   local load = con:load("z", "a,b") load:int(1) load:close() end]], "run",
      "the last row is incomplete %(loading z: a,b%)$", 3)
   fails("a load that names its table", connect .. [[
function event() local load = con:load("no", "a") load:int(1)
   load:close() end]], "run",
      "SQL error, [^(]*no such table: no %(was [^(]*%)$", 3)
   fails("too few parameters", connect .. [[
function event() local st = con:prepare("SELECT ?, ?")
   st:bind_param(st:bind_create(3)) end]], "run",
      "1 parameter bound, but the statement has 2 placeholders", 3)
   fails("a statement of 0.5", "\nfunction event() db_query('SELEC 2') end",
         "run", "SQL error, .* %(query: SELEC 2%)$")
   fails("in thread_init()", connect:gsub("connect%(%)", "%0:query('SELEC')") ..
         "function event() end", "run --threads=3", "SQL error", 1)
   fails("in a parallel command", [[
local function p()
   sysbench.sql.driver():connect():query("SELEC 3") end
sysbench.cmdline.commands = {prepare = {p, true}}]],
      "prepare --threads=3", "SQL error, .* %(query: SELEC 3%)$")
   fails("a restartable error outside an event", [[
function prepare() sysbench.hooks.sql_error_ignorable = function() return true
   end sysbench.sql.driver():connect():query("SELEC 4") end]], "prepare",
      "SQL error, errno = 1, state = 'HY000': .*syntax error")
   fails("no connection",
         "\nfunction event() sysbench.sql.driver():connect{db='/no/x'} end",
         "run", "connection creation failed: .*/no/x")
   fails("no driver", "\nfunction event() sysbench.sql.driver('no') end", "run",
         "failed to initialize the DB driver: .*'no'")
end

local function values()
   local function raised(what, expr, message)
      fails(what, "\nfunction event() " .. expr .. " end", "run", message)
   end
   raised("a runtime error", "local x = y.z", "attempt to index global 'y'")
   raised("a number", "error(42)", "42$")
   raised("a table", "error({code = 5})", "error with a table %(code = 5%)$")
   raised("an empty table", "error({})", "error with a table %(empty%)$")
   raised("a table with a message", "error({message = 'mine'})", "mine$")
   raised("an object", "error(setmetatable({}, {__tostring = " ..
          "function() return 'obj' end}))", "obj$")
   raised("nothing", "error()", "error without a message$")
   raised("a wrong argument", "sysbench.rand.uniform('a', {})",
          "uniform%(%) requires a number as argument 1, not the string 'a'$")
   raised("an error in the program's Lua code",
          "sysbench.histogram.new(nil, 1, 2)", "attempt to compare nil")
   raised("a forgotten token", "sysbench.op('x'):finish()",
          "finish%(%) requires the token that start%(%) returned, not nil$")
   raised("another token", "sysbench.op.finish('x')",
          "finish%(%) requires the token that start%(%) returned, " ..
          "not a string$")
   raised("no think time", "sysbench.user.think()",
          "think%(%) requires a number of seconds, not nil$")
   raised("a wrong wait", "sysbench.user.wait('0') sysbench.user.wait('x')",
          "wait%(%) requires a number of seconds, not 'x'$")
   local _, err, rc = tap.with("function event() error(print) end",
                               "run --time=600")
   tap.like(err, "`thread_run' function failed: error with a function",
            "a function as error")
   tap.is(rc, 1, "a function as error: exit status 1")
end

local function hooks()
   fails("in before_restart_event()", [[
function sysbench.hooks.before_restart_event()
   local _ = nil + 1
end
function event() error({errcode = 1}) end]], "run", "attempt to perform")
   fails("in sql_error_ignorable()", connect .. [[
function sysbench.hooks.sql_error_ignorable()
   local _ = nil + 1
end
function event() con:query("SELEC 1") end]], "run", "attempt to perform", 3)
   fails("in a report hook", [[
function sysbench.hooks.report_cumulative()
   local _ = nil + 1
end
function event() end]], "run --events=1", "attempt to perform")
   local _, err = tap.with("\nfunction event() error({code = 5}) end",
                           "run --debug --time=600")
   tap.like(err, "DEBUG: script%d+.lua:2: error with a table %(code = 5%)\n" ..
            "    stack traceback:\n.*script%d+.lua:2: in function",
            "--debug shows the traceback")
end

function event()
   tap.run(function()
      statements()
      values()
      hooks()
   end)
   return true
end
