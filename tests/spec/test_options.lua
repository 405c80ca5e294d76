-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Options that scripts declare: help, defaults, validation, and names that the
-- program also uses.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")

local function help()
   local text = [[sysbench.cmdline.options = { rows = {"Number", 5},
      name = {"Who", "x"}, fast = {"Is it", true}, size = {"Bytes", 4096,
      sysbench.cmdline.ARG_SIZE}, hosts = {"Where", {"a", "b"}} }]]
   local out, err, rc = tap.with(text, "help")
   tap.is(out, "script" .. tap.last .. [[.lua options:
  --fast[=on|off]    Is it [on]
  --hosts=[LIST,...] Where [a,b]
  --name=STRING      Who [x]
  --rows=N           Number [5]
  --size=SIZE        Bytes [4096]

]], "help of a script: its name, its options in order, an empty line")
   tap.is(rc, 0, "succeeds", err)
   out = tap.sysbench("oltp_read_write help")
   tap.like(out, "\n\noltp_read_write options:\n  %-%-auto",
            "help shows the name as given")
   tap.script(text, "first.lua")
   out = tap.sysbench("./first.lua help")
   tap.like(out, "\nfirst.lua options:\n", "but without its folder")
   -- As in 1.0, help shows a script's description of such an option.
   out = tap.with([[sysbench.cmdline.options =
      {debug = {"x", true}, rows = {"Number", 5}}]], "help")
   tap.like(out, "%.lua options:\n  %-%-debug%[=on|off%] x %[on%]\n" ..
            "  %-%-rows=N         Number %[5%]\n\n$",
            "an option of the program that a script declares, too")
end

-- Defaults are printed as short as possible, and read back as the same number.
local function numbers()
   local text = [[
local given = {3.14, 0.1, 1e15, 1e300, 1/3, 0.3 - 0.1, 5, -2.5, 2^53, 2^-1074}
sysbench.cmdline.options = {}
for i, v in ipairs(given) do
   sysbench.cmdline.options[("n%02d"):format(i)] = {"", v}
end
function event()
   for i, v in ipairs(given) do
      print(i, sysbench.opt[("n%02d"):format(i)] == v)
   end
   return true
end]]
   local out = tap.with(text, "help")
   local shown = {}
   for value in out:gmatch("%[(%S+)%]") do
      shown[#shown + 1] = value
   end
   tap.is(table.concat(shown, " "), "3.14 0.1 1e+15 1e+300 " ..
      "0.3333333333333333 0.19999999999999998 5 -2.5 9007199254740992 " ..
      "4.9406564584125e-324", "numbers are as short as possible")
   out = tap.with(text, "run")
   tap.is(select(2, out:gsub("%d+\ttrue\n", "")), 10,
      "and are read as the same numbers")
end

local function validation()
   local text = [[
local function small(name, value)
   print("validate", name, value, type(value))
   return tonumber(value) and tonumber(value) < 10
end
sysbench.cmdline.options = {
   rows = {"Rows", 50, sysbench.cmdline.ARG_INT, small},
   other = {"Other", "x", nil, function(name) return name == "other" end}
}
function event() print("rows", sysbench.opt.rows) return true end]]
   local out = tap.with(text, "run --time=600")
   tap.like(out, "rows\t50\n", "a default is not validated")
   tap.unlike(out, "validate", "nor passed to the function")
   local _, rc
   out, _, rc = tap.with(text, "run --time=600 --rows=7 --other=y")
   tap.like(out, "validate\trows\t7\tstring\n.*rows\t7\n", "a valid value")
   tap.is(rc, 0, "is accepted")
   local err, status
   _, err, status = tap.with(text, "run --rows=12")
   tap.like(err, "^invalid option: %-%-rows=12\n", "an invalid value")
   tap.is(status, 1, "is an error")
   _, err, status = tap.with([[sysbench.cmdline.options =
      {a = {"A", 1, nil, function() error("bad") end}}]], "run --a=2")
   tap.like(err, "`validate' function failed: script%d+.lua:2: bad",
            "an error in the function")
   tap.is(status, 1, "fails")
   _, err = tap.with("sysbench.cmdline.options = {a = {'A', 1, nil, 5}}", "run")
   tap.like(err, "wrong table structure in sysbench.cmdline.options: a",
            "a validation that is not a function")
end

-- The fields min, max and values of a declaration.
local function bounds()
   local text = [[
local int = sysbench.cmdline.ARG_INT
sysbench.cmdline.options = {
   rows_max = {"Rows", 5, int, min = 1, max = 1e15},
   least = {"Least", 0, int, min = 3}, most = {"Most", 0.5, max = 1.5},
   order = {"Order", "up", values = {"up", "down", "random"}},
   even = {"Even", 2, int, function(_, v) return v % 2 == 0 end, max = 10},
}
function event()
   local o = sysbench.opt
   print(o.rows_max, o.least, o.most, o.order, o.even)
   return true
end]]
   local out = tap.with(text, "run")
   tap.like(out, "5\t0\t0.5\tup\t2\n", "defaults may be out of bounds")
   out = tap.with(text, "run --rows-max=1 --least=3 --most=1.5 " ..
      "--order=random --even=10")
   tap.like(out, "1\t3\t1.5\trandom\t10\n", "values at the bounds")
   for arguments, message in pairs{
      ["--rows-max=0"] = "--rows-max must be from 1 to " ..
         "1000000000000000, not 0",
      ["--least=2"] = "--least must be at least 3, not 2",
      ["--most=1.51"] = "--most must be at most 1.5, not 1.51",
      ["--order=x"] = "--order must be up, down or random, not 'x'",
      ["--even=12"] = "--even must be at most 10, not 12",
      ["--even=3"] = "invalid option: --even=3",
   } do
      local _, err, status = tap.with(text, "run " .. arguments)
      tap.like(err, message:gsub("%p", "%%%0") .. "\n", message)
      tap.unlike(err, "validate", "is the whole message")
      tap.is(status, 1, arguments .. " is an error")
   end
   for _, wrong in ipairs{"min = 'x'", "max = {}", "values = 3"} do
      local _, err = tap.with("sysbench.cmdline.options = {a = {'A', 1, " ..
         wrong .. "}}", "run")
      tap.like(err, "wrong table structure in sysbench.cmdline.options: a",
         wrong .. " is an error")
   end
end

local function new_defaults()
   local text = [[
sysbench.cmdline.options = { ["rand-type"] = {"", "pareto"},
   percentile = {"", 50}, threads = {"", 2}, ["rand-seed"] = {"", 5} }
function event()
   if sysbench.tid == 1 then
      print("low", sysbench.rand.pareto(1, 1000), sysbench.opt.threads)
   end
   return true
end
function init()
   local low = 0
   for _ = 1, 1000 do
      low = low + (sysbench.rand.default(1, 100) <= 10 and 1 or 0)
   end
   print("skewed", low > 500, sysbench.opt.rand_type)
end]]
   local out = tap.with(text, "run --time=600")
   tap.like(out, "skewed\ttrue\tpareto\n", "a new default for the distribution")
   tap.like(out, "50th percentile", "for the percentile")
   tap.like(out, "Number of threads: 2", "for the number of threads")
   tap.like(out, "low\t%d+\t2\n", "which the script gets")
   tap.like(out, "from seed %(5%)", "for the seed")
   tap.is((tap.with(text, "run --time=600")):match("low\t%d+"),
          out:match("low\t%d+"), "which takes effect")
   out = tap.with(text, "run --rand-type=uniform --percentile=90")
   tap.like(out, "skewed\tfalse\tuniform\n.*90th",
      "the command line overrides them")
end

-- Scripts may declare options whose names are new in this version.
local function clashes()
   local text = [[
sysbench.cmdline.options = { list = {"Things", 10}, pace = {"Pace", "slow"},
   ["print-config"] = {"Where", "here"}, think_time = {"ms", 100} }
function event()
   print("own", sysbench.opt.list, sysbench.opt.pace,
         sysbench.opt.print_config, sysbench.opt.think_time)
   return true
end]]
   local _
   local out, err, rc = tap.with(text, "run --time=600")
   tap.like(out, "own\t10\tslow\there\t100\n",
      "a script declares options with new names")
   tap.is(rc, 0, "and runs", err)
   out, err, rc = tap.with(text, "run --list=3 --pace=x --print-config=a" ..
                           " --think-time=7 --time=600")
   tap.like(out, "own\t3\tx\ta\t7\n", "values from the command line")
   tap.is(rc, 0, "and runs", err)
   out = tap.with([[sysbench.cmdline.options = {think_time = {"Think", "x"}}
function event() end]], "run --think-time=1h --events=4 --time=0")
   tap.ok((tonumber(out:match("total time: +([%d.]+)s")) or 1e9) < 3600,
          "such an option has no effect on the program", out)
   out = tap.with(text, "help")
   tap.like(out, "%-%-list=N +Things %[10%]", "help shows the script's option")
   out = tap.with("function event() print('own', list) return true end",
                  "run --time=600 --list=3")
   tap.like(out, "own\t3\n", "a global of a script of 0.5")
   _, err, rc = tap.with([[sysbench.cmdline.options = {rows = {"Rows", 5}}
function event() end]], "run --list=3")
   tap.like(err, "^Invalid value for the 'list' option: '3'",
            "an option that the script does not declare keeps its type")
   tap.is(rc, 1, "is an error")
   out = tap.with("function event() end", "run --list")
   tap.like(out, "Workloads %(.*Database drivers %(", "--list with a script")
   tap.unlike(out, "Running", "does not run it")
end

-- Options of drivers that are not in use have their defaults, as in 1.0.
local DRIVERS = [[
local function show(where)
   local o = sysbench.opt
   local function of(v)
      return type(v) == "table" and "{" .. table.concat(v, ",") .. "}" or
         tostring(v)
   end
   io.write(where, ": ", of(o.mysql_db), " ", of(o.mysql_port), " ",
      of(o.pgsql_port), " ", of(o.sqlite_db), " ", of(o.mongo_url), " ",
      type(o.null_failure_rate), " ", tostring(o.sqlite_nosuch), "\n")
end
%s
function init() show("init") end
function thread_init() show("thread_init") end
function sysbench.hooks.report_cumulative() show("report") end
function event()
   show("event")
   for line in io.lines("/proc/self/maps") do
      if line:find("libpq") or line:find("libm[ay]") and line:find("sql") or
         line:find("libmaria") or line:find("libmongoc")
      then
         print("library: " .. line)
         break
      end
   end
   local n = 0
   for name in pairs(sysbench.opt) do
      if name == "mysql_db" or name == "pgsql_port" then
         n = n + 1
      end
   end
   print("listed", n)
   return true
end]]

local function has_driver(name)
   local f = io.open(os.getenv("SB_BUILDDIR") .. "/src/drivers/.libs/" ..
      name .. ".so")
   return f and f:close()
end

local function drivers()
   if not (has_driver("mysql") and has_driver("pgsql") and
      has_driver("sqlite") and has_driver("mongodb")) then
      print("# skipped options of drivers: not all drivers are built")
      return
   end
   local out, err = tap.with(DRIVERS:format(""), "run --db-driver=null")
   for _, where in ipairs{"init", "thread_init", "event", "report"} do
      tap.like(out, "\n?" .. where .. ": sbtest {3306} 5432 " ..
         "sbtest.sqlite  number nil\n",
         "options of other drivers have their defaults in " .. where)
   end
   tap.unlike(out, "library: ", "and no client library is loaded")
   tap.like(out, "listed\t2\n", "scripts can list them")
   tap.unlike(err, "WARNING", "without warnings")
   out = tap.with(DRIVERS:format(""), "run --pgsql-port=1,2 " ..
      "--mysql-db=a --mongo-url=mongodb://h --db-driver=null")
   tap.like(tap.with([[function event()
      print("one", sysbench.opt.pgsql_host .. ":" ..
         sysbench.opt.pgsql_port + 1)
      return true
   end]], "run --db-driver=null --pgsql-host=h"),
      "one\th:5433\n", "a single host and port are no tables, as in 1.0")
   tap.like(out, "event: a {3306} {1,2} sbtest.sqlite mongodb://h number",
      "values from the command line are used")
   out = tap.with(DRIVERS:format("sysbench.cmdline.options = " ..
      "{mysql_db = {'Mine', 'own'}, pgsql_port = {'Port', 7}}"),
      "run --db-driver=null")
   tap.like(out, "event: own {3306} 7 sbtest.sqlite",
      "so are options that the script declares")
   -- 0.5: a global that the script defines is not an option.
   out = tap.with([[
mysql_db = "own"
function event()
   print("globals", mysql_db, pgsql_db, sqlite_db)
   return true
end]], "run --db-driver=null")
   tap.like(out, "globals\town\tsbtest\tsbtest.sqlite\n",
      "globals of old scripts")
   out = tap.with([[
function event()
   sysbench.opt.mysql_db = "mine"
   print("changed", sysbench.opt.mysql_db,
         pcall(sysbench.sql.driver, "sqlite"))
   return true
end]], "run --db-driver=null")
   tap.like(out, "changed\tmine\ttrue\t", "a script may change the values")
   local libs = os.getenv("SB_BUILDDIR") .. "/src/drivers/.libs/"
   os.execute("mkdir some && cp '" .. libs .. "null.so' '" .. libs ..
      "mysql-options.so' some/ && cp '" .. libs ..
      "pgsql-options.so' some/other-options.so")
   local name = tap.script(DRIVERS:format(""))
   os.execute("SYSBENCH_DRIVER_DIR=$PWD/some '" .. os.getenv("SYSBENCH") ..
      "' " .. name .. " run --db-driver=null >some.txt 2>&1")
   local f = assert(io.open("some.txt"))
   tap.like(f:read("*a"), "event: nil nil nil nil nil number nil\n",
      "options of missing drivers are nil")
   f:close()
end

-- The names that 1.0 had replaced are still options.
local function old_names()
   local out, err, rc = tap.with([[
function event()
   local opt, found = sysbench.opt, 0
   print("old", opt.num_threads, opt.max_time, opt.max_requests, opt.tx_rate,
      opt.help, opt.threads)
   for name, value in pairs(opt) do
      if name == "num_threads" and value == 1 or name == "help" then
         found = found + 1
      end
   end
   print("found", found)
   return true
end]], "run --threads=1 --time=77 --events=1 --rate=5000")
   tap.like(out, "old\t1\t77\t1\t5000\tfalse\t1\nfound\t2\n",
      "sysbench.opt has the old names", err)
   tap.is(rc, 0, "of a run that succeeds")
end

-- --mysql-ssl was a boolean in 1.0.
local function switches()
   local text = [[
function event()
   print("ssl", sysbench.opt.mysql_ssl)
   return true
end]]
   for option, want in pairs{ [""] = "false", ["--mysql-ssl=off"] = "false",
      ["--mysql-ssl"] = "true", ["--mysql-ssl=on"] = "true",
      ["--mysql-ssl=verify_ca"] = "verify_ca" } do
      tap.like(tap.with(text, "run --db-driver=null --time=600 " .. option),
         "ssl\t" .. want .. "\n", "mysql_ssl: " .. option)
   end
end

function event()
   tap.run(function()
      help()
      old_names()
      switches()
      numbers()
      validation()
      bounds()
      new_defaults()
      clashes()
      drivers()
   end)
   return true
end
