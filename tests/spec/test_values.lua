-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Values of parameters and loaders: each is stored exactly as given, or the
-- call fails with the reason. Integer parameters drop a fraction.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")
local is, ok, raises = tap.is, tap.ok, tap.raises
local t = sysbench.sql.type
local con

local function typed(kind, value)
   local st = con:prepare("SELECT typeof(v), v FROM (SELECT ? AS v)")
   local p = st:bind_create(t[kind], 40)
   st:bind_param(p)
   p:set(value)
   local row = st:execute():fetch_row()
   st:close()
   return row[1] .. " " .. tostring(row[2])
end

local function same(kind, value, want)
   is(typed(kind, value), want, ("%s %s"):format(kind, tostring(value)))
end

local function fails(kind, value, pattern)
   raises(function() typed(kind, value) end, pattern,
          ("%s %s fails"):format(kind, tostring(value)))
end

local function integers()
   for _, kind in ipairs{ "TINYINT", "SMALLINT", "INT", "BIGINT" } do
      same(kind, 300, "integer 300")
      same(kind, -2 ^ 63, "integer -9223372036854775808")
   end
   same("BIGINT", 9007199254740993LL, "integer 9007199254740993")
   same("BIGINT", 9223372036854775807ULL, "integer 9223372036854775807")
   same("BIGINT", ffi.new("int16_t", -5), "integer -5")
   same("BIGINT", "9223372036854775807", "integer 9223372036854775807")
   same("BIGINT", " -9223372036854775808 ", "integer -9223372036854775808")
   same("BIGINT", "+007", "integer 7")
   same("BIGINT", "1e3", "integer 1000")
   same("BIGINT", true, "integer 1")
   same("BIGINT", false, "integer 0")
   same("BIGINT", -0.0, "integer 0")
   for _, value in ipairs{ 2 ^ 63, -2 ^ 63 - 2048, 1 / 0, -1 / 0, 0 / 0, "1e30",
                           "18446744073709551616", "-9223372036854775809" } do
      fails("BIGINT", value, "out of range for BIGINT")
   end
   same("INT", 3.7, "integer 3")
   same("INT", -3.7, "integer -3")
   same("INT", -0.5, "integer 0")
   same("INT", "501.58", "integer 501")
   same("BIGINT", -2 ^ 31 - 0.5, "integer -2147483648")
   for _, value in ipairs{ "x", "", {}, print, ffi.new("int[1]") } do
      fails("INT", value, "not a number")
   end
   -- SQLite has no unsigned integers: values above 2^63 - 1 are an error.
   fails("BIGINT", 9223372036854775808ULL, "does not support unsigned")
   fails("BIGINT", "18446744073709551615", "does not support unsigned")
end

local function doubles()
   same("DOUBLE", 0.1, "real 0.1")
   same("DOUBLE", 0.1 + 0.2, "real 0.30000000000000004")
   same("FLOAT", 2 ^ 53, "real 9007199254740992.0")
   same("DOUBLE", 9007199254740992LL, "real 9007199254740992.0")
   same("DOUBLE", 1 / 0, "real Inf")
   same("DOUBLE", -1 / 0, "real -Inf")
   fails("DOUBLE", 0 / 0, "NaN is out of range: the sqlite driver")
   fails("DOUBLE", 9007199254740993LL, "cannot be stored exactly")
   fails("DOUBLE", "9007199254740993", "cannot be stored exactly")
   fails("DOUBLE", 18446744073709551615ULL, "cannot be stored exactly")
   fails("DOUBLE", 9223372036854775807LL, "cannot be stored exactly")
   fails("DOUBLE", "1e999", "out of range for DOUBLE")
end

local function texts()
   same("VARCHAR", 2 ^ 53, "text 9007199254740992")
   same("VARCHAR", 1e15, "text 1000000000000000")
   same("VARCHAR", 0.1 + 0.2, "text 0.30000000000000004")
   same("VARCHAR", 4.5, "text 4.5")
   same("VARCHAR", 1e300, "text 1e+300")
   same("VARCHAR", 18446744073709551615ULL, "text 18446744073709551615")
   same("VARCHAR", -9223372036854775807LL - 1, "text -9223372036854775808")
   same("VARCHAR", ffi.new("double", 0.5), "text 0.5")
   fails("VARCHAR", {}, "not a number: table")
end

-- A rejected value does not change the previous one.
local function rejected()
   local st = con:prepare("SELECT ?")
   local p = st:bind_create(t.BIGINT)
   st:bind_param(p)
   p:set(18446744073709551615ULL)
   p:set(7)
   for _, value in ipairs{ 0 / 0, 1e30, "x" } do
      local err = raises(function() p:set(value) end, "test_values.lua",
                         "the error has the script's line")
      tap.unlike(err, "sql_param", "and no line of the program's Lua code")
   end
   is(st:execute():fetch_row()[1], "7", "the previous value is kept")
   p:set(nil)
   is(st:execute():fetch_row()[1], nil, "NULL")
   st:close()
end

local function loading()
   con:query("DROP TABLE IF EXISTS l")
   con:query("CREATE TABLE l(a INTEGER, b REAL, c TEXT)")
   local ld = con:load("l", "a,b,c")
   ld:int(9007199254740993LL) ld:double(5LL) ld:text("x")
   ld:int(-9223372036854775807LL - 1) ld:double(1 / 0) ld:text("")
   ld:int(ffi.new("int", 3)) ld:double(ffi.new("float", 0.5)) ld:text("y")
   ld:close()
   is(con:query_row("SELECT group_concat(a || '|' || b || '|' || c) FROM l"),
      "9007199254740993|5.0|x,-9223372036854775808|Inf|,3|0.5|y",
      "loaded values")
   for _, case in ipairs{
      { "int", 18446744073709551615ULL, "unsigned" },
      { "int", 3.7, "not a 64%-bit integer" },
      { "int", 2 ^ 63, "not a 64%-bit integer" },
      { "int", "5", "not a number: 5" },
      { "double", 0 / 0, "NaN is out of range" },
      { "double", 9007199254740993LL, "cannot be stored exactly" },
      { "double", "5", "not a number: 5" },
      { "text", 5, "not a string: 5" },
   } do
      ld = con:load("l", case[1] == "int" and "a" or case[1] == "text" and "c"
         or "b")
      raises(function() ld[case[1]](ld, case[2]) end, case[3],
             case[1] .. "() of " .. tostring(case[2]))
      -- The load has ended, whether it is closed or not.
      local other = con:load("l", "a")
      other:int(1)
      other:close()
   end
   is(con:query_row("SELECT count(*), sum(a = 1) FROM l"), "11",
      "no rows of failed loads")
   con:query("DROP TABLE l")
end

-- A failed query of the connection is not the reason why a loader fails.
local function detached_loader()
   local other = sysbench.sql.driver("sqlite"):connect{ db = "values" }
   other:query("CREATE TABLE IF NOT EXISTS d(a INTEGER)")
   local ld = other:load("d", "a")
   ld:int(1)
   other:reconnect()
   pcall(other.query, other, "SELECT nosuch")
   local good, why = pcall(ld.int, ld, 2)
   is(good, false, "a loader ends with its connection")
   ok(tostring(why):find("closed, reset or reconnected", 1, true),
      "and names that reason: " .. tostring(why))
   other:query("DROP TABLE d")
   other:disconnect()
end

local function ids()
   con:query("DROP TABLE IF EXISTS i")
   con:query("CREATE TABLE i(id INTEGER PRIMARY KEY)")
   con:query("INSERT INTO i VALUES (9007199254740992)")
   is(con:insert_id(), 2 ^ 53, "insert_id() is a Lua number")
   con:query("INSERT INTO i VALUES (9007199254740993)")
   is(tostring(con:insert_id()), "9007199254740993LL",
      "or 64-bit cdata if it is too large for one")
   con:query("INSERT INTO i VALUES (-5)")
   is(con:insert_id(), -5, "a negative id")
   con:query("INSERT INTO i VALUES (-9007199254740993)")
   is(tostring(con:insert_id()), "-9007199254740993LL",
      "a negative one too large for a number")
   con:query("DROP TABLE i")
end

local function all()
   con = sysbench.sql.driver("sqlite"):connect{ db = "values" }
   integers()
   doubles()
   texts()
   rejected()
   loading()
   detached_loader()
   ids()
   con:disconnect()
end

-- The same without prepared statements.
local EMULATED = [[
function event()
   local t = sysbench.sql.type
   local con = sysbench.sql.driver():connect()
   for _, value in ipairs{5, 0.1, 0.1 + 0.2, 1 / 0, -1 / 0, 0 / 0, "a'\0b"} do
      local text = type(value) == "string"
      local st = con:prepare(
         "SELECT typeof(v), v, hex(v) FROM (SELECT ? AS v)")
      local p = st:bind_create(text and t.CHAR or t.DOUBLE)
      st:bind_param(p)
      p:set(value)
      local ok, got = pcall(function()
         local row = st:execute():fetch_row()
         return row[1] .. " " .. row[text and 3 or 2]
      end)
      print("got: " .. (ok and got or got:match("NaN is [^(]*store it") or got))
   end
   return true
end
]]

function event()
   tap.run(function()
      all()
      local name = tap.script(EMULATED)
      local out = tap.sysbench(name .. " run --db-driver=sqlite " ..
         "--sqlite-db=values --events=1 --time=0 --db-ps-mode=disable")
      local got = {}
      for line in out:gmatch("got: ([^\n]*)") do
         got[#got + 1] = line
      end
      is(table.concat(got, ","), "real 5.0,real 0.1," ..
         "real 0.30000000000000004,real Inf,real -Inf,NaN is out of range: " ..
         "the sqlite driver cannot store it,text 61270062",
         "without prepared statements")
   end)
   return true
end
