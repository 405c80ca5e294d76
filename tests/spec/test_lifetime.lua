-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Objects that scripts keep longer than the object that created them, and
-- objects that are dropped without being closed: results, parameters,
-- statements, connections. A build with the address sanitizer detects errors
-- that these tests cannot.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")
local is, ok, like, unlike = tap.is, tap.ok, tap.like, tap.unlike
local drv
local GONE = "the result set is no longer available"

local function collect()
   collectgarbage()
   collectgarbage()
end

-- In a separate function, so that no register keeps the connection.
local function result_without_connection()
   return drv:connect():query("SELECT 1 UNION SELECT 2")
end

local function results()
   local rs = result_without_connection()
   drv:connect():query("SELECT 3")
   collect()
   is(rs:fetch_row()[1], "1",
      "a connection that was collected stays until the next call")
   drv:connect()
   tap.raises(function() rs:fetch_row() end, GONE,
              "a result whose connection was collected")
   is(rs:column(1), nil, "such a result has no columns")
   rs:free()
   is(rs.connection.driver:name(), "sqlite", "its fields stay readable")
   local con = drv:connect()
   local a = con:query("SELECT 1")
   local b = con:query("SELECT 2")
   tap.raises(function() a:fetch_row() end, GONE,
              "a result ends with the next statement")
   is(b:fetch_row()[1], "2", "which has its own result")
   b:free()
   local err = tap.raises(function() b:fetch_row() end, GONE,
                          "a result that was freed")
   like(err, "test_lifetime.lua:%d+: " .. GONE,
      "the error has the script's line")
   is(con:query("SELECT 4"):fetch_row()[1], "4", "the connection still works")
   a = con:query("SELECT 5 UNION SELECT 6")
   local other = con:prepare("SELECT 7")
   is(a:fetch_row()[1], "5", "prepare() keeps an open result")
   other:close()
   is(a:fetch_row()[1], "6", "and so does close()")
   a = con:query("SELECT 5")
   con:disconnect()
   tap.raises(function() a:fetch_row() end, GONE,
      "a result of a closed connection")
end

local function param_without_statement()
   local st = drv:connect():prepare("SELECT ?")
   local p = st:bind_create(sysbench.sql.type.VARCHAR, 10)
   st:bind_param(p)
   p:set("x")
   st:execute()
   st:close()
   return p
end

local function params()
   local p = param_without_statement()
   p:set("hello")
   collect()
   p:set("hello again")
   p:set_rand_str("@@@")
   ok(tonumber(p.data_len) == 3,
      "a parameter can be used after its statement is closed")
   local con = drv:connect()
   local st = con:prepare("SELECT ?")
   do
      local q = st:bind_create(sysbench.sql.type.VARCHAR, 10)
      st:bind_param(q)
      q:set("kept")
   end
   collect()
   is(st:execute():fetch_row()[1], "kept", "a statement keeps its parameters")
   tap.raises(function() st:bind_param(nil) end, "parameter 1 .* is missing",
              "nil is not a parameter")
   is(st:execute():fetch_row()[1], "kept", "the previous parameters stay bound")
end

local function loaders()
   local con = drv:connect()
   con:query("CREATE TABLE IF NOT EXISTS l(a INTEGER)")
   local loader = con:load("l", "a")
   tap.raises(function() loader:int(0 / 0) end,
              "NaN is not a 64%-bit integer", "a value that is not an integer")
   loader:close(false)
   con:load("l", "a"):int(1)
   collect()
   loader = con:load("l", "a")
   loader:int(2)
   loader:close()
   for call, value in pairs{ int = 1, text = "1", random_text = "#" } do
      tap.raises(function() loader[call](loader, value) end,
                 "attempt to use a closed loader", call .. "() after close()")
   end
   is(con:query_row("SELECT count(*), max(a) FROM l"), "1",
      "a dropped loader commits nothing")
end

-- Statements whose connection is collected first, during a run and at its end.
local DROPS = [[
function thread_init() drv = sysbench.sql.driver() end
function event()
   local con = drv:connect()
   local st = con:prepare("SELECT ?")
   local p = st:bind_create(sysbench.sql.type.VARCHAR, 10)
   st:bind_param(p)
   p:set("x")
   if st:execute():fetch_row()[1] ~= "x" then error("wrong value") end
   con:prepare("SELECT 1"):execute()
end]]

local function drops()
   local name = tap.script(DROPS)
   local out, err, rc = tap.sysbench(name .. " run --db-driver=sqlite " ..
      "--sqlite-db=drops --sqlite-busy-timeout=600 --time=0 --events=300 " ..
      "--threads=2")
   is(rc, 0, "connections and statements that are never closed")
   like(out, "events: +300", "the run completes")
   unlike(err, "Sanitizer", "nothing is used after free, and nothing leaks")
end

local function many_connections()
   local weak, left = setmetatable({}, { __mode = "v" }), 0
   collect()
   for i = 1, 100 do
      weak[i] = drv:connect()
   end
   for _ in pairs(weak) do
      left = left + 1
   end
   ok(left < 20, "dropped connections are collected in time", left)
end

-- The connections need more file descriptors than there are, unless dropped
-- connections are closed in time.
local function files()
   local name = tap.script([[
function thread_init() drv = sysbench.sql.driver() end
function event() drv:connect():query("SELECT 1") end]])
   local command = ("ulimit -n 64 && '%s' %s run --db-driver=sqlite " ..
      "--sqlite-db=files --time=0 --events=500 >out.txt 2>&1"):format(
      os.getenv("SYSBENCH") or "sysbench", name)
   local rc = os.execute(command)
   local f = assert(io.open("out.txt"))
   local out = f:read("*a")
   f:close()
   ok(rc == 0 or rc == true, "dropped connections are closed in time", out)
   -- Connections are kept until the limit, then all are dropped at once.
   name = tap.script([[
local kept, most = {}, 0
function event()
   local drv = sysbench.sql.driver()
   repeat
      local ok, con = pcall(drv.connect, drv)
      kept[#kept + 1] = ok and con or nil
   until not ok
   most = #kept
   kept = {}
   drv:connect():query("SELECT 1")
   print("connected after " .. (most > 8 and "many" or most))
end]])
   os.execute(("ulimit -n 64 && '%s' %s run --db-driver=sqlite " ..
      "--sqlite-db=files --time=0 --events=2 >out.txt 2>&1"):format(
      os.getenv("SYSBENCH") or "sysbench", name))
   f = assert(io.open("out.txt"))
   out = f:read("*a")
   f:close()
   like(out, "connected after many.*connected after many",
        "a failed connect is retried after closing dropped connections")
end


function event()
   tap.run(function()
      drv = sysbench.sql.driver("sqlite")
      results()
      params()
      loaders()
      drops()
      many_connections()
      files()
   end)
   return true
end
