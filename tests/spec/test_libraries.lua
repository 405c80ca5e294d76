-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The libraries of Lua and the options, as a script finds and changes them.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")

local function run(text)
   local out, err = tap.with(text, "run --time=600 --events=1 --db-driver=null")
   return out .. err
end

local function libraries()
   local out = run([[
function event()
   print("first", io.type(5), os.time() > 0, math.max(1, 2), bit.band(6, 3),
      table.concat({1, 2}, ","))
   print("same", io == require("io"), os == require("os"))
   print("seen", rawequal(io.open, io["open"]), type(math.pi))
end]])
   tap.like(out, "first\tnil\ttrue\t2\t2\t1,2", "all libraries exist")
   tap.like(out, "same\ttrue\ttrue", "require() returns the same tables")
   tap.like(out, "seen\ttrue\tnumber", "functions stay the same")
   out = run([[
os.exit = function() return "mine" end
math.twice = function(x) return 2 * x end
function event() print("own", os.exit(), type(os.time), math.twice(4)) end]])
   tap.like(out, "own\tmine\tfunction\t8", "what a script assigns stays")
end

local function enumerated()
   local out = run([[
local function count(t) local n = 0 for _ in pairs(t) do n = n + 1 end
   return n end
function event()
   print("counts", count(io) > 5, count(math) > 20, count(bit) > 5,
      getmetatable(io), getmetatable(sysbench.opt))
   print("raw", type(rawget(os, "time")), rawget(sysbench.opt, "threads"))
   print("options", count(sysbench.opt) > 30)
end]])
   tap.like(out, "counts\ttrue\ttrue\ttrue\tnil\tnil",
            "pairs() finds all functions of libraries")
   tap.like(out, "raw\tfunction\t1", "and rawget() finds them, too")
   tap.like(out, "options\ttrue", "pairs() finds all options")
   local name = tap.script([[
local seen = {}
for _, t in ipairs({io, os, math, sysbench.opt}) do
   local n = 0
   for _ in pairs(t) do n = n + 1 end
   seen[#seen + 1] = n > 5
end
return seen]], "looks.lua")
   out = run(([[
function event() local s = dofile(%q)
   print("late", s[1], s[2], s[3], s[4]) end]]):format("./" .. name))
   tap.like(out, "late\ttrue\ttrue\ttrue\ttrue",
            "also in a file that is loaded during an event")
end

local function options()
   local out = run([[
sysbench.cmdline.options = {n = {"N", 7}, yes = {"Y", false}, s = {"S", "x"}}
function event()
   local opt = sysbench.opt
   print("values", opt.n, opt.yes, opt.s, opt.threads, opt.percentile)
   opt.n, opt.s, opt.more = nil, "y", 1
   opt.yes = nil
   opt.events = nil
   for _ = 1, 50 do
      if opt.nothing ~= nil then error("something") end
   end
   print("after", opt.n, opt.yes, opt.s, opt.more, opt.events, opt.threads)
   print("all", opt.time)
end]])
   tap.like(out, "values\t7\tfalse\tx\t1\t95", "options have their values")
   tap.like(out, "after\tnil\tnil\ty\t1\tnil\t1",
      "what a script assigns to options stays")
   tap.like(out, "all\t600", "options work after reads of unknown names")
end

-- The first area for machine code has one page. A trace that needs more is
-- compiled, too.
local function machine_code()
   local out = run([[
local util = require("jit.util")
local lines, n = "", 120 -- built in few steps, so that nothing is compiled yet
for i = 1, 20 do
   lines = lines .. (" x[%d] = x[%d] * y + x[%d] / z" ..
      " x[%d] = x[%d] * y + x[%d] / z"):format(6 * i - 5, 6 * i - 4, 6 * i - 3,
      6 * i - 2, 6 * i - 1, 6 * i)
end
local step = loadstring("local x, y, z = ... " .. lines)
local x = loadstring("return {" .. ("1, "):rep(n) .. "}")()
function event()
   for i = 1, 200000 do step(x, i, 3) end
   local longest = 0
   for i = 1, 20 do
      local code = util.traceinfo(i) and util.tracemc(i)
      longest = math.max(longest, code and #code or 0)
   end
   print("code", longest > 4096)
end]])
   tap.like(out, "code\ttrue", "a trace of more than a page")
end

-- A module may have methods of several classes.
local function replaced()
   local con = sysbench.sql.driver("sqlite"):connect{ db = "replaced.sqlite" }
   local stmt = con:prepare("SELECT 1")
   local methods = getmetatable(stmt).__index
   local own = function() return "mine" end
   methods.next_result = own
   con:query("SELECT 1")
   con:more_results()
   tap.ok(methods.next_result == own,
      "a method that was replaced is kept when another class needs its module")
   methods.next_result = nil
   con:disconnect()
end

function event()
   tap.run(function()
      libraries()
      enumerated()
      options()
      machine_code()
      replaced()
   end)
   return true
end
