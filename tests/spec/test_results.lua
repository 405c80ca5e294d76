-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Tables that thread_done() returns, and done() and run_failed() get.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")

local run = "run --report=none"

-- Runs a script in which thread_done() executes `body`, and done() `check`.
local function with(body, check, args)
   return tap.with(([[
local ffi = require("ffi")
function event() return true end
function thread_done(id)
   %s
end
function done(r, more)
   %s
end
function sysbench.hooks.run_failed(why, r)
   print("failed: " .. why, #r)
   for _, one in ipairs(r) do print("of", one.tid, #one.value[1]) end
end]]):format(body, check), args or run)
end

local values = [[
   local both = {7}
   return setmetatable({
      i64 = {-9223372036854775807LL - 1, 9223372036854775807LL, 0LL, -1LL},
      u64 = {18446744073709551615ULL, 0ULL},
      long = ffi.new("long", -7),
      text = {"", "a\0b\0", ("\255"):rep(1000), "\r\n"},
      num = {0.1, -0.0, 1 / 0, -1 / 0, 2^53, 5e-324, 3},
      nan = 0 / 0,
      [1] = true, [2] = false, [-1.5] = "real", [2^60] = "great",
      [""] = "empty", ["\0"] = "zero", none = {}, both = {both, both},
      nested = {a = {b = {{c = "deep"}}}},
   }, {__index = error, __pairs = error, __len = error, __tostring = error})]]

local checks = [[
   local v = r[1].value
   local function is(a, b) assert(type(a) == type(b) and a == b) end
   local function all(list, want)
      for i = 1, #want + 1 do is(list[i], want[i]) end
   end
   all({r[1].tid, r[1].rank, r[1].visit, #r}, {0, 0, 1, 1})
   is(more, nil)
   is(getmetatable(v), nil)
   all(v.i64, {-9223372036854775807LL - 1, 9223372036854775807LL, 0LL, -1LL})
   all(v.u64, {18446744073709551615ULL, 0ULL})
   for _, x in ipairs(v.i64) do assert(ffi.istype("int64_t", x)) end
   for _, x in ipairs(v.u64) do assert(ffi.istype("uint64_t", x)) end
   assert(v.long == -7 and ffi.istype("int64_t", v.long))
   all(v.text, {"", "a\0b\0", ("\255"):rep(1000), "\r\n"})
   all(v.num, {0.1, -0.0, 1 / 0, -1 / 0, 2^53, 5e-324, 3})
   is(1 / v.num[2], -1 / 0)
   assert(v.nan ~= v.nan)
   all({v[1], v[2], v[-1.5], v[2^60], v[""], v["\0"]},
       {true, false, "real", "great", "empty", "zero"})
   is(next(v.none), nil)
   is(v.both[1][1] + v.both[2][1], 14)
   is(v.nested.a.b[1].c, "deep")
   local n = 0
   for _ in pairs(v) do n = n + 1 end
   is(n, 15)
   print("same")]]

local function copies()
   for _, workers in ipairs{"users", "1"} do
      local out, err, rc = with(values, checks, run .. " --workers=" .. workers)
      tap.is(out .. err .. rc, "same\n0",
             "each value arrives as it was, with --workers=" .. workers)
   end
end

local function ignored(body, why)
   local out, err, rc = with(body, "print(#r)", run .. " --debug")
   tap.is(out .. rc, "0\n0", "ignored: " .. body)
   if why then
      tap.like(err, "DEBUG: user 0: the result of thread_done%(%) is " ..
               "ignored: " .. why .. "\n", "--debug says why")
   else
      tap.unlike(err, "thread_done", "--debug says nothing")
   end
end

local function others()
   ignored("", nil)
   ignored("return nil, {}", nil)
   ignored("return 1", "it is a number")
   ignored("return 'text'", "it is a string")
   ignored("return false", "it is a boolean")
   ignored("return print", "it is a function")
   ignored("return 1LL", "it is a cdata")
   ignored("return {a = {1, {print}}}", "it contains a function")
   ignored("return {coroutine.create(print)}", "it contains a thread")
   ignored("return {newproxy()}", "it contains a userdata")
   local cdata = "it contains cdata other than 64%-bit integers"
   for _, text in ipairs{"typeof('int64_t')", "typeof('uint64_t')",
                         "new('int64_t[1]')", "new('int32_t', 5)",
                         "new('struct { int64_t a; }')", "new('double', 1)"} do
      ignored("return {ffi." .. text .. "}", cdata)
   end
   local key = "it has a key that is neither a string nor a number"
   ignored("return {[true] = 1}", key)
   ignored("return {{[{}] = 1}}", key)
   ignored("return {[1LL] = 1}", key)
   local circle = "it contains a table that contains itself"
   ignored("local t = {} t[1] = t return t", circle)
   ignored("local t = {('x'):rep(900000)} t.a = {{t}} return t", circle)
   ignored("return _G", "it .*")
   ignored("local t = {} for _ = 1, 100 do t = {t} end return t",
           "it has more than 100 levels of tables")
end

local function levels()
   local body = "local t = {'end'} for _ = 1, 99 do t = {t} end return t"
   local out = with(body, [[
   local t, n = r[1].value, 0
   while t ~= "end" do t, n = t[1], n + 1 end
   print(n)]], run .. " --workers=1 --thread-stack-size=32K")
   tap.is(out, "100\n", "100 levels of tables")
end

-- A text of 2^20 - 15 bytes in an array has 2^20 bytes: the table and its end
-- have 2, the key 9, the text 4 more.
local function limit()
   local body = "return {('x'):rep(2^20 - 15 + %s)}"
   local out, err, rc = with(body:format("0"), "print(#r, #r[1].value[1])")
   tap.is(out .. err .. rc, "1\t1048561\n0", "1 MB")
   out, err, rc = with(body:format("(id == 1 and 1 or 0)"), "print(#r)",
                       "run --threads=3")
   local why = "user 1: thread_done%(%) returned more than 1 MB"
   tap.like(err, "FATAL: " .. why, "more than 1 MB is an error")
   tap.is(rc, 1, "of the run")
   tap.like(out, "The run failed after %S+ s: " .. why, "the report says so")
   tap.like(out, "Threads fairness:\n.*execution time", "and is complete")
   tap.like(out, "failed: " .. why .. "\t2\nof\t0\t1048561\nof\t2\t1048561\n$",
            "run_failed() gets the results of the others")
   body = "local t = {} for _ = 1, 90 do t = {t, t} end return t"
   out, err, rc = with(body, "")
   tap.is(out, "failed: user 0: thread_done() returned more than 1 MB\t0\n",
          "run_failed() gets an empty list")
   tap.like(err, "user 0: thread_done%(%) returned more than 1 MB",
            "a table that is in others many times ends at the limit")
   tap.is(rc, 1, "which is an error, too")
end

local function none()
   local out, err, rc = tap.with([[
function event() return true end
function done(...) print(select("#", ...), #(...)) end]], run)
   tap.is(out .. err .. rc, "1\t0\n0", "done() gets an empty list")
   out, err, rc = tap.with([[
function event() return true end
function thread_done() return {1} end]], run)
   tap.is(out .. err .. rc, "0", "results without done() are dropped")
   out = tap.with([[
function event(id) assert(id ~= 1, "broken") return true end
function thread_done(id) return {id} end
function sysbench.hooks.run_failed(_, r)
   for _, one in ipairs(r) do assert(one.tid ~= 1) end
   print("none of user 1")
end]], run .. " --threads=3")
   tap.is(out, "none of user 1\n", "a user that fails has no result")
end

function event()
   tap.run(function()
      copies()
      others()
      levels()
      limit()
      none()
   end)
   return true
end
