-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.sequence(): counters shared by all Lua states of a script. And
-- sysbench.hooks.report_line(), which often prints them.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")

local function alone()
   local s = sysbench.sequence("alone")
   tap.is(s:last(), 0, "last() of a new sequence")
   tap.is(s:next(), 1, "the first number is 1")
   tap.is(s:next(), 2, "the second is 2")
   tap.is(s:next(10), 3, "next(10) returns the first of ten numbers")
   tap.is(s:next(), 13, "the next number follows the ten")
   tap.is(s:last(), 13, "last() is the last number returned")
   tap.is(sysbench.sequence("alone", 20):next(), 21,
      "a start value skips numbers")
   tap.is(sysbench.sequence("alone", 5):next(), 22,
      "a lower start value has no effect")
   tap.is(sysbench.sequence("alone", nil):last(), 22,
      "nil as start value has no effect")
   tap.is(sysbench.sequence("other"):next(), 1,
      "another name is another sequence")
   tap.is(sysbench.sequence("big", 2 ^ 52):next(), 2 ^ 52 + 1, "large numbers")
   tap.is(tostring(s), "<sequence>", "tostring()")
   tap.raises(function() sysbench.sequence("a\0b") end,
      "the name of a sequence must not contain a zero byte", "a zero byte")
   tap.raises(function() s:next(0) end, "minimum is 1", "next(0)")
   tap.raises(function() s:next(0 / 0) end, "minimum is 1",
      "next() of NaN")
   tap.is(sysbench.sequence("limit", 7):next(3, 9), nil,
      "next(n, max) takes nothing above max")
   tap.is(sysbench.sequence("limit"):last(), 7, "and leaves the numbers")
   tap.is(sysbench.sequence("limit"):next(3, 10), 8, "it takes them up to max")
   tap.is(sysbench.sequence("limit"):last(), 10, "once")
   local raised = sysbench.sequence("raised")
   raised:raise(40.9)
   tap.is(raised:last(), 40, "raise() skips numbers")
   raised:raise(7)
   raised:raise(-7)
   tap.is(raised:last(), 40, "a lower one has no effect")
   tap.is(raised:finished(), 40, "numbers that were skipped are finished")
   tap.raises(function() raised.raise(3) end, "with a colon", "raise(3)")
   tap.raises(function() raised:raise(0 / 0) end, "requires a number",
      "raise() of NaN")
   for i = 1, 2000 do -- more than there are hash buckets
      sysbench.sequence("many" .. i, i)
   end
   local sum = 0
   for i = 1, 2000 do
      sum = sum + sysbench.sequence("many" .. i):last()
   end
   tap.is(sum, 2001000, "2000 sequences")
end

local function shared()
   local out, err, rc = tap.with([[
local q
function init() sysbench.sequence("ids", 100) end
function thread_init() q = sysbench.sequence("ids") end
local mine = {}
function event() mine[#mine + 1] = q:next(2) end
function thread_done()
   local up = true
   for i = 2, #mine do up = up and mine[i] > mine[i - 1] end
   io.write("ids " .. tostring(up) .. " " .. table.concat(mine, " ") .. "\n")
end
function done() print("last", sysbench.sequence("ids"):last()) end]],
      "run --threads=4 --events=20000 --time=0")
   tap.is(rc, 0, "the run succeeds", err)
   local seen, n, users = {}, 0, 0
   for list in out:gmatch("ids true([^\n]*)") do
      users = users + 1
      for id in list:gmatch("%d+") do
         n = n + (seen[id] and 0 or 1)
         seen[id] = true
      end
   end
   tap.is(users, 4, "each user's numbers increase")
   tap.is(n, 20000, "no number is returned twice")
   tap.ok(seen["101"] and seen["40099"] and not seen["99"],
          "numbers begin after the start value, and none is lost")
   tap.like(out, "last\t40100\n", "the main state shares the sequence")
end

local function finished()
   local s = sysbench.sequence("work", 10)
   tap.is(s:finished(), 10, "numbers that were skipped are finished")
   s:next(5)
   s:finish(12)
   s:finish(13)
   tap.is(s:finished(), 10, "finished() stops before a gap")
   s:finish(11)
   tap.is(s:finished(), 13, "and continues when the gap is closed")
   s:finish(13)
   tap.is(s:finished(), 13, "finishing a number twice has no effect")
   s:next(20000)
   s:finish(15)
   for i = 16, 14 + 16384 do
      s:finish(i)
   end
   tap.is(s:finished(), 14 + 16384, "16,384 numbers later, a gap is ignored")
   s:finish(16 + 16384)
   s:finish(16)
   s:finish(15 + 16384)
   tap.is(s:finished(), 16 + 16384,
      "a number that is finished too late removes no later one")
   sysbench.sequence("work", 50000)
   tap.is(s:finished(), 50000, "a new start value skips unfinished numbers")
   local out, err, rc = tap.with([[
local q
function thread_init() q = sysbench.sequence("jobs") end
local held = {}
function event()
   local before = q:finished()
   held[#held + 1] = q:next()
   -- Finishes numbers late and not in their order.
   if #held > 5 then
      q:finish(table.remove(held, sysbench.rand.uniform(1, #held)))
   end
   local least = held[1]
   for i = 2, #held do least = math.min(least, held[i]) end
   local now = q:finished()
   if now < before or now >= least then
      error(("finished() is %d after %d, but %d is not"):format(now, before,
         least))
   end
end
function thread_done()
   for _, n in ipairs(held) do q:finish(n) end
end
function done() print("finished", sysbench.sequence("jobs"):finished()) end]],
      -- Fewer than 16,384 numbers: a user that gets no processor for a while
      -- holds a gap, which must not be ignored.
      "run --threads=4 --events=16000 --time=0")
   tap.is(rc, 0, "finished() only grows, and not beyond unfinished numbers",
      err)
   tap.like(out, "finished\t16000\n", "all are finished at the end")
end

local function lines()
   local busy = [[
ffi.cdef("int usleep(unsigned);")
function event()
   if printed() then return true end
   ffi.C.usleep(1000)
   sysbench.sequence("n"):next()
end
]]
   local line = "%[ ([%d.]+s) %] thds: 1 eps: [^\n]*\n" ..
      "%[ %1 %] false true true\n"
   local _
   local out, err, rc = tap.with(tap.printed(line) .. busy .. [[
function sysbench.hooks.report_line(stat, final)
   return ("%s %s %s"):format(tostring(final), tostring(stat.events > 0),
      tostring(sysbench.sequence("n"):last() > 0))
end]], "run --time=0 --report-interval=0.4")
   tap.is(rc, 0, "a run with a line from the hook", err)
   tap.like(out, line, "the line follows the classic line")
   tap.like(out, "execution time [^\n]*\n\ntrue true true\n$",
            "and the classic report")
   line = "%[ [%d.]+s %] thds: 1 eps: "
   out = tap.with(tap.printed(line) .. busy .. [[
function sysbench.hooks.report_line() end]],
      "run --time=0 --report-interval=0.4")
   tap.like(out, line, "classic lines")
   tap.unlike(out, "%[ [%d.]+s %] [^t]",
      "a hook that returns nothing prints no line")
   _, err, rc = tap.with([[
function event() end
function sysbench.hooks.report_line() error("bad line") end]],
      "run --time=0 --events=5")
   tap.like(err, "`report_line' function failed: .*bad line",
      "an error in the hook")
   tap.is(rc, 1, "fails the program")
end

function event()
   tap.run(function()
      alone()
      shared()
      finished()
      lines()
   end)
   return true
end
