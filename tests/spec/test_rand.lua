-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.rand: ranges, forms, determinism.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")
local distributions = require("sb.distributions")
local rand = sysbench.rand

local function ranges()
   for _, name in ipairs(distributions) do
      local inside, seen = true, {}
      for _ = 1, 2000 do
         local v = rand[name](5, 14)
         inside = inside and type(v) == "number" and v >= 5 and v <= 14 and
            v % 1 == 0
         seen[v] = true
      end
      tap.ok(inside, name .. "() stays within its range")
      local n = 0
      for _ in pairs(seen) do n = n + 1 end
      tap.ok(n > 1, name .. "() varies")
   end
   tap.is(rand.uniform(7, 7), 7, "a range of one value")
   local big = 0
   for _ = 1, 50 do big = math.max(big, rand.uniform(1, 2^40)) end
   tap.ok(big > 2^32, "ranges wider than 32 bits")
end

local function types()
   local listed = {}
   for _, name in ipairs(distributions) do
      listed[name] = true
   end
   local _, err = tap.sysbench("cpu --rand-type=odd run")
   local n = 0
   for name in err:match("must be one of (.*)%)"):gmatch("%a+") do
      tap.ok(listed[name], "--rand-type=" .. name .. " is in sb.distributions")
      n = n + 1
   end
   tap.ok(n >= 5, "types of --rand-type", err)
end

local function forms()
   local seen, twice = {}, false
   for _ = 1, 5000 do
      local v = rand.unique()
      twice = twice or seen[v]
      seen[v] = true
   end
   tap.ok(not twice, "unique()")
   tap.is(tostring(ffi.typeof(rand.uniform_uint64())), "ctype<uint64_t>",
          "uniform_uint64()")
   local d = rand.uniform_double()
   tap.ok(d >= 0 and d < 1, "uniform_double()")
   tap.like(rand.string("a-#@-##"), "^a%-%d%l%-%d%d$", "string()")
   tap.is(#rand.string(("#"):rep(1000)), 1000, "a long string()")
   tap.is(rand.string(""), "", "an empty string()")
   local v = rand.varstring(3, 6)
   tap.ok(#v >= 3 and #v <= 6 and v:find("^[0-z]+$"), "varstring()", v)
   tap.is(#rand.varstring(400, 400), 400, "a long varstring()")
   v = rand.alphanumeric(3, 6)
   tap.ok(#v >= 3 and #v <= 6 and v:find("^%w+$"), "alphanumeric()", v)
   tap.is(#rand.alphanumeric(400, 400), 400, "a long alphanumeric()")
   for _, name in ipairs{"varstring", "alphanumeric"} do
      for _, pair in ipairs{{-3, 2}, {2, -3}, {-5, -3}, {0/0, 1}} do
         tap.raises(function() rand[name](pair[1], pair[2]) end, "negative",
            name .. "() with a negative length")
      end
   end
   tap.is(rand.nosuch, nil, "an unknown function")
end

local function wrong_arguments()
   local function raises(name, message, ...)
      local args, n = {...}, select("#", ...)
      local err = tap.raises(function()
         rand[name](unpack(args, 1, n))
      end, name .. "%(%) requires " .. message .. "$",
      name .. "() with a wrong argument")
      tap.like(err, "^[^:]*test_rand.lua:%d+: ", "at the line of the script")
   end
   for _, name in ipairs{"unique_in", "row", "scatter", "varstring",
      "alphanumeric", unpack(distributions)} do
      raises(name, "a number as argument 2, not nil", 1)
      raises(name, "a number as argument 1, not the string '1'", "1", 2)
   end
   raises("scatter", "a number as argument 4, not a table", 1, 1, 2, {})
   raises("fnv", "a number as argument 1, not nil")
   raises("string", "a string, not nil")
   raises("string", "a string, not a table", {})
   local v = rand.uniform(5LL, 14ULL)
   tap.ok(v >= 5 and v <= 14, "64-bit integers are numbers")
   for _, name in ipairs(distributions) do
      v = rand[name](14, 5)
      tap.ok(v >= 5 and v <= 14, name .. "(): the order of bounds", v)
   end
end

local function ycsb()
   tap.is(rand.fnv(0), 6284781860667377211LL, "fnv()")
   tap.is(("user%d"):format(rand.fnv(1)), "user8517097267634966620",
      "the text of a hash")
   local hot, last = 0, 0
   for _ = 1, 2000 do
      hot = hot + (rand.scrambled_zipfian(1, 1000) ==
         6284781860667377211LL % 1000 + 1 and 1 or 0)
      last = last + (rand.latest(1, 1000) == 1000 and 1 or 0)
   end
   tap.ok(hot > 40 and hot < 120, "scrambled_zipfian() prefers one value", hot)
   tap.ok(last > 180 and last < 340, "latest() prefers the last value", last)
end

local function rows()
   rand.row(1, 5)
   local a, b = rand.uniform(1, 1e9), rand.string("##########")
   rand.row(1, 6)
   local other = rand.uniform(1, 1e9)
   rand.row(2, 5)
   local third = rand.uniform(1, 1e9)
   rand.row(1, 5)
   tap.ok(a == rand.uniform(1, 1e9) and b == rand.string("##########"),
          "row() gives the same numbers for the same row")
   tap.ok(a ~= other and a ~= third, "and others for other rows and tables")
   rand.resume()
   tap.ok(rand.uniform(1, 1e9) ~= a, "resume() continues the stream")
end

local function seeds()
   local text = [[
function event(id)
   -- One write per line: users print at the same time.
   io.write(("n\t%d\t%d\t%s\n"):format(id, sysbench.rand.uniform(1, 1e9),
                                       sysbench.rand.string("######")))
   return true
end]]
   local function numbers(args)
      local lines, out = {}, tap.with(text, "run --time=600 " .. args)
      for line in out:gmatch("n\t[^\n]+") do
         lines[#lines + 1] = line
      end
      table.sort(lines)
      return table.concat(lines, " ")
   end
   local function own(between)
      return tap.with("local r = sysbench.rand\nfunction init()\n" ..
         "print('own', r.uniform(1, 1e9))\n" .. between ..
         "print('own', r.uniform(1, 1e9))\nend\nfunction event() end",
         "run --time=0 --events=1 --rand-seed=7"):match("own.*own\t%d+")
   end
   tap.is(own("r.row(1, 1) r.uniform(1, 9) r.resume()\n"), own(""),
          "resume() continues where the stream stopped")
   local a = numbers("--threads=3 --rand-seed=7")
   tap.is(numbers("--threads=3 --rand-seed=7"), a,
      "a seed determines the numbers of every user")
   tap.ok(numbers("--threads=3 --rand-seed=8") ~= a, "another seed differs")
   tap.is(numbers("--threads=1 --rand-seed=7"), a:match("^n\t0\t%d+\t%d+"),
          "the number of users does not matter")
end

-- Prints each user's three most frequent values, the most frequent first.
local HOT = [[
function event(id)
   local seen, list = {}, {}
   for _ = 1, 20000 do
      local v = sysbench.rand.default(1, 100000)
      seen[v] = (seen[v] or 0) + 1
   end
   for v in pairs(seen) do list[#list + 1] = v end
   table.sort(list, function(a, b) return seen[a] > seen[b] end)
   print(("hot %d: %s"):format(id, table.concat(list, " ", 1, 3)))
   print("plain", id, sysbench.rand.zipfian(1, 1000))
   return true
end]]

local function hot(args)
   local out = tap.with(HOT, "run --rand-zipfian-exp=1.5 " .. args)
   local lists = {}
   for id, list in out:gmatch("hot (%d): ([%d ]+)") do
      lists[id + 1] = list
   end
   return lists, out:match("plain\t0\t(%d+)")
end

local function scatter()
   local seen, n, moved = {}, 0, 0
   for v = -50, 949 do
      local x = rand.scatter(v, -50, 949)
      if not seen[x] and x >= -50 and x <= 949 and x % 1 == 0 then
         n, seen[x] = n + 1, true
      end
      moved = moved + (x ~= v and 1 or 0)
   end
   tap.is(n, 1000, "scatter() returns each value of a range once")
   tap.ok(moved > 900, "most values are moved")
   tap.is(rand.scatter(5, 1, 100), rand.scatter(5, 1, 100),
      "equal arguments give equal results")
   tap.is(rand.scatter(500, 1, 100), 500,
      "a value outside the range is unchanged")
   local others = 0
   for key = 1, 50 do
      others = others + (rand.scatter(1, 1, 2^53, key) ~=
         rand.scatter(1, 1, 2^53) and 1 or 0)
   end
   tap.is(others, 50, "other keys give other results")
   local plain = hot("--rand-type=zipfian --rand-seed=3")
   tap.is(plain[1], "1 2 3",
      "without --rand-scatter the first values are the hottest")
   local a, drawn = hot("--rand-type=zipfian --rand-seed=3 --rand-scatter " ..
      "--threads=2")
   local places = {}
   for v = 1, 3 do
      places[v] = rand.scatter(v, 1, 100000)
   end
   tap.is(a[1], table.concat(places, " "),
      "with --rand-scatter the hottest values are those of scatter()")
   tap.ok(math.abs(places[1] - places[2]) > 100 and
      math.abs(places[2] - places[3]) > 100, "these are far apart")
   tap.is(a[2], a[1], "the same for each user")
   tap.is(hot("--rand-type=zipfian --rand-seed=4 --rand-scatter")[1], a[1],
      "and each seed")
   local b, unscattered = hot("--rand-type=zipfian --rand-seed=3 --threads=2")
   tap.is(drawn, unscattered, "zipfian() itself is not scattered")
   tap.is(b[1], "1 2 3", "nor is any value without the option")
   a = hot("--rand-type=pareto --rand-pareto-h=0.001 --rand-seed=3 " ..
      "--rand-scatter")
   tap.is(a[1]:match("%d+"), tostring(places[1]),
      "other distributions are scattered, too")
end

-- Functions are loaded by subject. What a script has replaced stays replaced.
local function replaced()
   local own = function() return 0.25 end
   local before = rand.uniform_double
   rand.uniform_double = own
   rand.resume = own
   rand.row(1, 1) -- of another subject, with resume()
   rand.varstring(1, 2)
   tap.ok(rand.uniform_double == own, "a function that was replaced is kept")
   tap.ok(rand.resume == own, "also if its subject is loaded later")
   rand.uniform_double = before
end

function event()
   tap.run(function()
      ranges()
      types()
      forms()
      wrong_arguments()
      ycsb()
      rows()
      seeds()
      scatter()
      replaced()
   end)
   return true
end
