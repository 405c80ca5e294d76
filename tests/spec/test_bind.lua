-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- stmt:bind_param() if the number of parameters differs from the number of
-- placeholders. As in sysbench 1.0, too many parameters are not an error, and a
-- call without parameters does nothing.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")
local is, like = tap.is, tap.like

local MORE = [[
local t = sysbench.sql.type
local con, st

function thread_init()
   con = sysbench.sql.driver():connect()
   st = con:prepare("SELECT ? + ?")
   a, b, c = st:bind_create(t.INT), st:bind_create(t.INT), st:bind_create(t.INT)
   other = con:prepare("SELECT ?")
   a:set(1) b:set(20) c:set(300)
end

function event()
   st:bind_param(a, b, c)
   print("sum", st:execute():fetch_row()[1])
   st:bind_param(c, b, a)
   print("sum", st:execute():fetch_row()[1])
   print("none", st:bind_param() == nil, select("#", st:bind_param()))
   print("sum", st:execute():fetch_row()[1])
   other:bind_param(a, b)
   print("one", other:execute():fetch_row()[1])
   local none = con:prepare("SELECT 7")
   none:bind_param()
   print("seven", none:execute():fetch_row()[1])
   none:bind_param(a, nil)
   print("seven", none:execute():fetch_row()[1])
end]]

local function more(options)
   local out, err, rc = tap.with(MORE, "run --events=2 --time=0 " .. options)
   is(rc, 0, "too many parameters are not an error: " .. options, err)
   like(out, "sum\t21\nsum\t320\nnone\ttrue\t[01]\nsum\t320\none\t1\n" ..
      "seven\t7\nseven\t7\n", "the first parameters are used")
   local _, n = err:gsub("WARNING: 3 parameters bound, but the statement " ..
      "has 2 placeholders; the others are ignored: 'SELECT %? %+ %?'", "")
   is(n, 1, "each statement is warned about once")
   _, n = err:gsub("WARNING: 2 parameters bound, but the statement has " ..
      "1 placeholder; ", "")
   is(n, 1, "and so is another statement")
   _, n = err:gsub("but the statement has 0 placeholders", "")
   is(n, 1, "and a statement without placeholders",
      "prepared in each event; the same warning is not repeated")
end

local function fewer()
   local con = sysbench.sql.driver("sqlite"):connect()
   local st = con:prepare("SELECT ?, ?")
   local p = st:bind_create(sysbench.sql.type.INT)
   tap.raises(function() st:bind_param(p) end, "test_bind.lua:%d+: .*" ..
      "1 parameter bound, but the statement has 2 placeholders: " ..
      "'SELECT %?, %?'", "too few parameters are an error")
   tap.raises(function() st:execute() end, "the parameters are not bound",
      "and are not bound")
   st:bind_param()
   tap.raises(function() st:execute() end, "the parameters are not bound",
      "a call without parameters does not bind either")
end

-- A maximum length cuts texts, as in 1.0, but not without a word; without one
-- they are sent whole.
local LENGTHS = [[
function event()
   local t = sysbench.sql.type
   local con = sysbench.sql.driver():connect()
   local st = con:prepare("SELECT LENGTH(?), LENGTH(?), LENGTH(?)")
   local a, b, c = st:bind_create(t.CHAR), st:bind_create(t.BLOB, 5),
      st:bind_create(t.TIMESTAMP)
   st:bind_param(a, b, c)
   for _, n in ipairs{3, 300, 70000, 9} do
      local value = ("x"):rep(n)
      a:set(value) b:set(value) c:set(value)
      print(unpack(st:execute():fetch_row(), 1, 3))
   end
   local format = ("#"):rep(400)
   a:set_rand_str(format) b:set_rand_str(format) c:set("x")
   print(unpack(st:execute():fetch_row(), 1, 3))
end]]

local function lengths(options)
   local out, err, rc = tap.with(LENGTHS, "run --threads=1 --events=2 " ..
      "--time=0 --db-driver=sqlite --sqlite-db=bind.sqlite " .. options)
   is(rc, 0, "texts of any length: " .. options, err)
   like(out, "3\t3\t3\n300\t5\t300\n70000\t5\t70000\n9\t5\t9\n400\t5\t1\n",
      "are not cut, unless a length was declared")
   local _, n = err:gsub("WARNING: a text of 300 bytes was cut to 5, the " ..
      "length that the script declares with stmt:bind_create%(%)", "")
   is(n, 1, "which is said once")
end

function event()
   tap.run(function()
      lengths("")
      lengths("--db-ps-mode=disable")
      more("--db-driver=sqlite --sqlite-db=bind.sqlite")
      more("--db-driver=sqlite --sqlite-db=bind.sqlite --db-ps-mode=disable")
      fewer()
   end)
   return true
end
