-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.sql on SQLite: connections, results, statements, parameters,
-- errors, loading.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")
local is, ok, like = tap.is, tap.ok, tap.like
local t = sysbench.sql.type
local drv, con

local function connections()
   drv = sysbench.sql.driver("sqlite")
   is(tostring(drv), "<sql_driver>", "tostring of a driver")
   is(drv:name(), "sqlite", "its name")
   is(drv:dialect(), "sqlite", "its dialect")
   con = drv:connect{ db = "spec.sqlite" }
   is(tostring(con), "<sql_connection>", "tostring of a connection")
   is(con.driver:name(), "sqlite", "con.driver")
   is(con.error, sysbench.sql.error.NONE, "no error")
   like(con:server_info(), "SQLite", "server_info()")
   is(con:quote("it's"), "'it''s'", "quote()")
   is(#con:quote(("x"):rep(5000)), 5002, "quote() of a long text")
   tap.raises(function() sysbench.sql.driver("nosuch") end,
              "failed to initialize the DB driver", "an unknown driver")
   tap.raises(function() drv:connect{ nosuch = 1 } end,
              "connection creation failed", "an unknown override")
end

local function queries()
   is(con:query("CREATE TABLE t(a INTEGER, b DOUBLE, c TEXT)"), nil,
      "DDL has no result")
   is(con:query("INSERT INTO t VALUES (1, 1.5, 'x'), (2, NULL, 'y')"), nil,
      "DML has no result either")
   is(con:affected(), 2, "affected()")
   ok(con:insert_id() >= 2, "insert_id()")
   local rs = con:query("SELECT a, b, c FROM t ORDER BY a")
   is(tostring(rs), "<sql_result>", "tostring of a result")
   is(type(rs.nrows), "number", "nrows is a Lua number")
   is(rs.nrows, 2, "nrows")
   is(rs.nfields, 3, "nfields")
   is(rs:column(3), "c", "column()")
   is(rs:column(4), nil, "an unknown column")
   local row = rs:fetch_row()
   is(table.concat(row, ","), "1,1.5,x", "fetch_row() returns strings")
   row = rs:fetch_row()
   is(row[2], nil, "NULL is nil")
   is(row[3], "y", "the columns after it keep their position")
   is(rs:fetch_row(), nil, "nil after the last")
   rs:free()
   local a, b, c = con:query_row("SELECT a, b, c FROM t WHERE a = 2")
   ok(a == "2" and b == nil and c == "y", "query_row()")
   is(select("#", con:query_row("SELECT a, b, c FROM t WHERE a=2")), 3,
      "query_row() keeps NULLs")
   is(con:query_row("SELECT a FROM t WHERE a = 99"), nil,
      "query_row() without a row")
   is(sysbench.sql.driver("sqlite"):connect():query("SELECT 5"):fetch_row()[1],
      "5", "a result keeps its connection alive")
end

local function statements()
   local stmt = con:prepare("INSERT INTO t VALUES (?, ?, ?)")
   is(tostring(stmt), "<sql_statement>", "tostring of a statement")
   local a = stmt:bind_create(t.INT)
   local b, c = stmt:bind_create(t.DOUBLE), stmt:bind_create(t.VARCHAR, 5)
   is(tostring(a), "<sql_param>", "tostring of a parameter")
   stmt:bind_param(a, b, c)
   local function row(id)
      return table.concat({con:query_row(
         "SELECT a, typeof(a), b, c, length(c) FROM t WHERE a=" .. id)}, ",")
   end
   a:set(10) b:set(2.5) c:set("abc")
   stmt:execute()
   is(row(10), "10,integer,2.5,abc,3", "number, double, text")
   a:set(11) b:set(nil) c:set("abcdefgh")
   stmt:execute()
   is(con:query_row("SELECT b IS NULL FROM t WHERE a=11"), "1", "nil is NULL")
   is(con:query_row("SELECT c FROM t WHERE a=11"), "abcde", "text is truncated")
   a:set(9007199254740993LL) b:set(true) c:set(12)
   stmt:execute()
   is(row("9007199254740993"), "9007199254740993,integer,1.0,12,2",
      "64-bit cdata, boolean, number as text")
   a:set("13") b:set(1) c:set(nil)
   stmt:execute()
   is(con:query_row("SELECT c IS NULL FROM t WHERE a=13"), "1",
      "a value after nil and nil after a value")
   a:set(14) c:set_rand_str("#@-")
   stmt:execute()
   like(con:query_row("SELECT c FROM t WHERE a=14"), "^%d%l%-$",
        "set_rand_str()")
   is(con:prepare(("SELECT X"):gsub("X", 9)):execute():fetch_row()[1], "9",
      "what gsub() returns behind the text is no name of an operation")
   tap.raises(function() a:set("x") end, "not a number", "text for a number")
   tap.raises(function() stmt:bind_create(99) end,
              "bind_create%(%) requires a type of sysbench.sql.type " ..
              "%(TINYINT, SMALLINT, .*, BLOB%), not 99$", "an unknown type")
   tap.raises(function() stmt:bind_create(t.INTEGER) end,
              "%(TINYINT, .*%), not nil$", "a name that is no type")
   tap.raises(function() stmt:bind_param({a, b, c}) end,
              "test_sql.lua:%d+: bind_param%(%) requires parameters that " ..
              "bind_create%(%) returned, not a table: write unpack%(%) " ..
              "around the table$", "a table of parameters")
   tap.raises(function() stmt:bind_param(a, 5, c) end, "not a number$",
              "a value instead of a parameter")
   stmt:close()
   stmt:close()
   tap.raises(function() stmt:execute() end, "closed statement",
              "a closed statement")
   stmt = con:prepare("SELECT a FROM t WHERE a BETWEEN ? AND ?", "named")
   local p, q = stmt:bind_create(t.BIGINT), stmt:bind_create(t.BIGINT)
   stmt:bind_param(p, q)
   p:set(1) q:set(2)
   local rs = stmt:execute()
   is(rs.nrows, 2, "a prepared SELECT")
   is(rs:fetch_row()[1], "1", "its rows")
   rs:free()
end

local function errors()
   local ran, err = pcall(con.query, con, "SELEC 1")
   ok(not ran, "a wrong statement raises")
   like(err, "SQL error, errno = 1, state = '.*': .*syntax error",
        "with number, state and text")
   ran, err = pcall(function() con:query("SELEC 2") end)
   ok(not ran, "an error inside a function")
   like(err, "test_sql.lua:%d+: SQL error", "the error has the script's line")
   is(con.error, sysbench.sql.error.FATAL, "con.error")
   is(con.sql_errno, 1, "con.sql_errno")
   like(ffi.string(con.sql_errmsg), "syntax error", "con.sql_errmsg")
   local seen
   function sysbench.hooks.sql_error_ignorable(e)
      seen = e
      return true
   end
   err = tap.raises(function() con:query("SELEC 3") end, "syntax error",
                    "the hook makes an error restartable")
   is(err.errcode, sysbench.error.RESTART_EVENT, "errcode")
   is(err.query, "SELEC 3", "query")
   is(err.sql_errno, 1, "sql_errno")
   is(type(err.sql_state), "string", "sql_state")
   ok(err.connection == con and seen == err, "connection")
   sysbench.hooks.sql_error_ignorable = nil
   tap.raises(function() con:check_error(nil, "q") end, "syntax error",
              "check_error() after a failed query raises its error")
   con:query("BEGIN")
   is(con:check_error(nil, "q"), nil, "check_error() after success returns nil")
   con:query("DELETE FROM t")
   con:reset()
   ok(tonumber((con:query_row("SELECT COUNT(*) FROM t"))) > 0,
      "reset() rolls back")
   con:reset()
end

local function loading()
   con:bulk_insert_init("INSERT INTO t VALUES")
   for i = 101, 110 do
      con:bulk_insert_next(("(%d, 0, 'bulk')"):format(i))
   end
   con:bulk_insert_done()
   is(con:query_row("SELECT COUNT(*) FROM t WHERE c='bulk'"), "10",
      "bulk_insert_*()")
   local ld = con:load("t", "a,b,c")
   is(tostring(ld), "<sql_loader>", "tostring of a loader")
   tap.raises(function() ld:random_alphanumeric(-3, 2) end, "negative",
      "random_alphanumeric() with a negative length")
   for i = 1, 100 do
      ld:int(1000 + i)
      ld:double(i / 2)
      if i == 1 then ld:null() elseif i == 2 then ld:text("it's")
      elseif i == 4 then ld:random_alphanumeric(5, 9)
      else ld:random_text("###") end
   end
   ld:close()
   ld:close()
   is(con:query_row("SELECT COUNT(*) FROM t WHERE a BETWEEN 1001 AND 2000"),
      "100", "load()")
   is(con:query_row("SELECT c FROM t WHERE a=1002"), "it's",
      "text is stored unchanged")
   is(con:query_row("SELECT c IS NULL FROM t WHERE a=1001"), "1", "null()")
   like(con:query_row("SELECT c FROM t WHERE a=1003"), "^%d%d%d$",
        "random_text()")
   like(con:query_row("SELECT c FROM t WHERE a=1004"), "^%w%w%w%w%w+$",
        "random_alphanumeric()")
   is(con:query_row("SELECT b FROM t WHERE a=1100"), "50.0", "double()")
   tap.raises(function()
      local bad = con:load("nosuch", "a")
      bad:int(1)
      bad:close()
   end, "nosuch", "a table that does not exist")
end

-- Parameters and results keep the objects that they use alive.
local function lifetimes()
   local weak = setmetatable({}, { __mode = "v" })
   local function make()
      weak.used, weak.unused = drv:connect(), drv:connect()
      return weak.used:prepare("SELECT ?"):bind_create(t.VARCHAR, 10)
   end
   local param = make()
   collectgarbage()
   collectgarbage()
   is(weak.used, nil, "a parameter does not keep its connection")
   is(weak.unused, nil, "an unused connection is collected")
   param:set("x")
   is(ffi.string(param.buffer, 1), "x", "the parameter can still be set")
   local function rows()
      return con:prepare("SELECT 8"):execute()
   end
   local rs = rows()
   collectgarbage()
   collectgarbage()
   is(rs:fetch_row()[1], "8", "a result keeps its statement")
end

local function closing()
   con:reconnect()
   is(con:query_row("SELECT 7"), "7", "reconnect()")
   con:disconnect()
   tap.raises(function() con:query("SELECT 1") end, "closed",
              "a closed connection")
   collectgarbage()
   collectgarbage()
end

function event()
   tap.run(function()
      connections()
      queries()
      statements()
      errors()
      loading()
      lifetimes()
      closing()
   end)
   return true
end
