-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sb.grammar: the parser of grammar files and the generator; and what the
-- workload grammar does when a statement fails.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")
local grammar = require("sb.grammar")

local opt = {start = "query", max_depth = 10, max_length = 10000,
   table_size = 100, rand_seed = 1, rand_type = "uniform"}

local schema = grammar.schema_of({
   {"t1", "id", "INTEGER", "1"}, {"t1", "n", "bigint", "0"},
   {"t1", "s", "varchar(20)", "0"}, {"t1", "d", "timestamp", "0"},
   {"t2", "key", "int", "1"}, {"other", "x", "int", "0"},
}, {"t*"}, '"')

local function parse(text, dialect)
   return grammar.parse(text, "g.yy", dialect or "sqlite", "query")
end

-- Returns query n as one text.
local function query(g, n, options)
   return table.concat(grammar.query(g, schema, options or opt, 0, n or 1),
      "; ")
end

-- The grammar generates this text.
local function is(text, wanted, what, dialect)
   tap.is(query(parse(text, dialect)), wanted, what)
end

local function like(text, pattern, what)
   local g = parse(text)
   local all = true
   for n = 1, 50 do
      local got = query(g, n)
      all = all and got:find("^" .. pattern .. "$") ~= nil or
         not tap.is(got, pattern, what)
   end
   tap.ok(all, what)
end

local function refused(text, pattern)
   tap.raises(function() parse(text) end, pattern, pattern)
end

local function forms()
   is("query: SELECT 1;", "SELECT 1", "a text")
   is("query:\n  SELECT  1\n\tFROM T # a comment ;\n  /* and ; | */ X;",
      "SELECT 1 FROM T X", "blanks and comments")
   is("query: SELECT /*+ HINT(a) */ 1;", "SELECT /*+ HINT(a) */ 1",
      "hints are text")
   is("query: one + two; one: 1; two: 2;", "1 + 2", "rules")
   is("query: A ; b ; C ;\nb: B1 ; B2 ;", "A; B1; B2; C", "statements")
   is("query: 'a;|b#c ''d'' one' || \"E\";", "'a;|b#c ''d'' one' || \"E\"",
      "quotes")
   is("query: '{one}-{x y}{\"a\": 1}' t_{one} {one}x; one: 1;",
      "'1-{x y}{\"a\": 1}' t_1 1x", "braces")
   is("query: X::int \\| \\; \\{ \\#;\n%token int", "X::int | ; { #",
      "casts, escapes and %token")
   is("query: a.id = b.id;\n%token a b id", "a.id = b.id", "words of SQL")
   is("query: A empty B;\nempty: ;", "A  B", "an empty alternative")
   is("query: [mysql] M | [sqlite 2] S | [pgsql] P;", "S", "dialects")
   is("query: [mysql] M | [sqlite 2] S | [3 pgsql] P;", "P",
      "another dialect", "pgsql")
   is("query: SELECT ARRAY[1];", "SELECT ARRAY[1]", "brackets are text")
end

local function errors()
   refused("query: A", "g.yy:1: the rule 'query' has no ';' at its end")
   refused("query: A\nb: B;", "g.yy:2: a ';' is missing before the rule 'b'")
   refused("query: A;\n\nquery: B;",
      "g.yy:3: the rule 'query' is already defined in line 1")
   refused("query: A\n  | nosuch;",
      "g.yy:2: 'nosuch' is neither a rule nor declared by %%token")
   refused("query: A\n _nosuch;", "g.yy:2: there is no built%-in .*'_nosuch'")
   refused("other: A;", "g.yy: there is no rule 'query'")
   refused("\nSELECT 1;", "g.yy:2: a rule such as .* not 'SELECT 1;'")
   refused("query:\n 'abc;", "g.yy:2: the quoted text has no end")
   refused("query: /* abc;", "g.yy:1: the comment has no end")
   refused("query: { $x = 1 } A;", "g.yy:1: .* code in braces")
   refused("query: {_digit A;", "g.yy:1: '}' is missing")
   refused("query: [-1] A;", "g.yy:1: a weight must be from 0 .*'%-1'")
   refused("query: [oracle] A;", "g.yy:1: 'oracle' is neither a weight")
   refused("query:\n  A\n | _int(5, 1);", "g.yy:3: '%(5, 1%)' must be two")
   refused("query: _int(1, 2.5);", "the numbers of _int must be integers")
   refused("query: _text(x);", "'%(x%)' must be a number of characters")
   refused("query: _column(1);", "'%(1%)' must be the label of a _table")
   refused("%start x\nquery: A;", "g.yy:1: '%%' must be followed by token")
end

local function endless()
   refused("query: a;\na: X b;\nb: (a);", "g.yy:1: the rule 'query' never ends")
   refused("query: [0] A | [0] B;", "has no alternative with a weight above 0")
   refused("query: [mysql] A;", "has no alternative with a weight above 0")
   refused("query: x;\nx: [0] A | x;", "never ends")
   local g = parse("query: A;\nunused: B c;\nc: C;")
   tap.is(table.concat(g.warnings, "\n"), "g.yy:2: the rule 'unused' is not " ..
      "used\ng.yy:3: the rule 'c' is not used", "warnings of unused rules")
end

local function weights()
   local g = parse("query: [3] A | B | [0] C | [0.5] D;")
   local counts = {A = 0, B = 0, C = 0, D = 0}
   for n = 1, 4500 do
      local q = query(g, n)
      counts[q] = counts[q] + 1
   end
   tap.ok(math.abs(counts.A - 3000) < 150, "weight 3", counts.A)
   tap.ok(math.abs(counts.B - 1000) < 120, "weight 1", counts.B)
   tap.ok(math.abs(counts.D - 500) < 100, "weight 0.5", counts.D)
   tap.is(counts.C, 0, "weight 0")
end

local function depth_of(text)
   local depth, deepest = 0, 0
   for c in text:gmatch("[()]") do
      depth = depth + (c == "(" and 1 or -1)
      deepest = math.max(deepest, depth)
   end
   return deepest
end

local function limits()
   local g = parse("query: e;\ne: [9] (e) | [9] (two) | X;\ntwo: e + e;")
   local deepest = 0
   for n = 1, 100 do
      local q = query(g, n)
      deepest = math.max(deepest, depth_of(q))
   end
   tap.ok(deepest >= 5 and deepest <= 10, "--max-depth", deepest)
   -- The only alternative that ends needs more levels than there are.
   g = parse("query: e;\ne: [1000] (e) | a;\na: b;\nb: c;\nc: X;")
   local low = setmetatable({max_depth = 2}, {__index = opt})
   tap.is(query(g, 1, low), "X", "a limit that is too low")
   g = parse("query: e;\ne: A e | [1000] A e e | X;")
   local long = setmetatable({max_depth = 14, max_length = 500},
      {__index = opt})
   local n = #query(g, 1, long)
   tap.ok(n > 500 and n < 2000, "--max-length", n)
   -- Without the limit, this would need 2^40 rules.
   g = parse("query: e Z;\ne: [9] {e}{e} | ;")
   long = setmetatable({max_depth = 40}, {__index = opt})
   tap.is(query(g, 1, long), "Z", "--max-length limits rules without a text")
end

local function values()
   like("query: _digit,_int(3, 5),_tinyint,_letter;",
      "%d,[345],%-?%d+,%l", "numbers")
   like("query: _default,_zipfian(7, 8);", "%d+,[78]", "distributions")
   like("query: _text(4) _string(\"a-##\") _double(1, 2);",
      "'%w*' 'a%-%d%d' [12]%.%d+", "texts")
   like("query: _date _time _datetime;", "'%d+%-%d%d%-%d%d' '%d%d:%d%d:%d%d'" ..
      " '%d+%-%d%d%-%d%d %d%d:%d%d:%d%d'", "dates")
   local g = parse("query: v[a] v[a] v[b] _int[a] _int[a] w;\n" ..
      "v: _int(0, 1000000); w: v[a];")
   local a, a2, b, i, i2, w = query(g):match("(%S+) (%S+) (%S+) (%S+) (%S+) " ..
      "(%S+)")
   tap.ok(a == a2 and a == w and i == i2, "a label repeats a value", query(g))
   tap.ok(a ~= b and a ~= i, "another label, another value", query(g))
   tap.ok(query(g, 2):match("%S+") ~= a, "another query, another value")
end

local function tables()
   like("query: SELECT _column FROM _table;", 'SELECT "%w+" FROM "t[12]"',
      "tables of %tables")
   local g = parse("query: _column(x) _column(y) _table[x] _table[y] " ..
      "_column_pk(x) _column_no_pk(x) _column_int(x) _column_char(x);")
   local right = true
   for n = 1, 50 do
      local cx, cy, x, y, pk, rest, int, char = query(g, n):match(
         '"(%w+)" "(%w+)" "(%w+)" "(%w+)" "(%w+)" "(%w+)" "(%w+)" "(%w+)"')
      local t1 = x == "t1"
      right = right and (cx ~= "key") == t1 and (cy ~= "key") == (y == "t1")
         and pk == (t1 and "id" or "key") and (not t1 or rest ~= "id" and
         (int == "id" or int == "n") and char == "s")
   end
   tap.ok(right, "columns of labelled tables and by kind")
   g = parse("query: _column FROM _table, _column FROM _table;")
   right = true
   for n = 1, 50 do
      local c, t = query(g, n):match('^"(%w+)" FROM "(%w+)"')
      right = right and (c == "key") == (t == "t2")
   end
   tap.ok(right, "a column before its table")
   like("query: _table[a] _column_list(a) _field_list(a);",
      '"t[12]" "[%w", ]+" "[%w", ]+"', "lists")
   local s = grammar.schema_of({{'a"b', "c", "int", "0"}}, {}, '"')
   tap.is(s.tables[1].name, '"a""b"', "names are quoted")
end

local function reproducible()
   local g = parse("query: [2] a | b;\na: _int(0, 1000000) _table;\n" ..
      "b: _text(20) ; a;")
   local same, differs = true, false
   local first = {}
   for n = 1, 30 do
      first[n] = query(g, n)
   end
   for n = 30, 1, -1 do
      sysbench.rand.uniform(1, 10)
      same = same and query(g, n) == first[n]
      differs = differs or first[n] ~= first[1]
   end
   tap.ok(same and differs, "a query depends on seed, user and number only")
   tap.ok(first[1] ~= table.concat(grammar.query(g, schema, opt, 1, 1), "; "),
      "each user has queries of its own")
   local sum = grammar.checksum(g, schema, opt)
   tap.like(sum, "^%x%x%x%x%x%x%x%x$", "checksum")
   tap.ok(sum ~= grammar.checksum(g, {text = ""}, opt),
      "the checksum depends on the schema")
   local function sum_with(name, value)
      local other = {}
      for k, v in pairs(opt) do
         other[k] = v
      end
      other[name] = value
      return grammar.checksum(g, schema, other)
   end
   for name, value in pairs{rand_seed = 2, rand_new = 0.5, max_depth = 11,
      start = "a"}
   do
      tap.ok(sum ~= sum_with(name, value), "the checksum depends on " .. name)
   end
   tap.is(sum_with("threads", 2), sum, "but not on other options")
   local user, a, b, c = grammar.parse_query("3:17:" .. sum)
   tap.ok(user == 3 and a == 17 and b == 17 and c == sum, "--query")
   user, a, b, c = grammar.parse_query("0:1-9")
   tap.ok(user == 0 and a == 1 and b == 9 and c == nil, "a range of --query")
   for _, wrong in ipairs{"", "1", "1:-1", "1:5-2", "x:1", "1:2:3", "1:1-"} do
      tap.is(grammar.parse_query(wrong), nil, "--query=" .. wrong)
   end
end

-- Starts a user of the workload grammar, whose queries have the statements
-- FIRST and SELECT. Returns its functions and its connection: statements fail
-- whose first word is in con.failing; "lost" also loses the connection.
local function start_user(settings)
   local con = {sql_errno = 2013, sql_state = "HY000", failing = {},
      sql_errmsg = "Lost connection\nto server", alive = true, takes = 0}
   local drv = {}
   function drv.connect() return con end
   function drv.try_connect() return con.again end
   function drv.dialect() return "sqlite" end
   function con.more_results() return false end
   function con.is_alive() return con.alive end
   function con.query(_, statement)
      local fails = con.failing[statement:match("%w+")]
      con.now = (con.now or 0) + con.takes
      if fails then
         con.alive = fails ~= "lost"
         error("x", 0)
      end
   end
   sysbench.sql.driver = function() return drv end
   sysbench.user.run_time = function() return con.now or 0 end
   sysbench.opt = setmetatable(settings, {__index = opt})
   settings.grammar, settings.trace, settings.query = "fails.yy", "", ""
   settings.rand_seed, settings.hang_time = 7, 60
   local file = assert(io.open("fails.yy", "w"))
   file:write("query: FIRST ; SELECT '\n1';")
   file:close()
   local user = setmetatable({}, {__index = _G})
   setfenv(assert(loadfile(os.getenv("SB_SRCDIR") ..
      "/tests/lua/grammar.lua")), user)()
   user.thread_init()
   return user, con
end

-- Executes query 17 of user 3 after the queries before. Returns the error, the
-- log and the user. before: the statement of query 16 that fails.
local function fail(failing, before, change)
   sysbench.tid = 3
   os.remove("failed.log")
   local user, con = start_user({failed_log = "failed.log",
      stop_on = "1064, 42P01"})
   for n = 1, 16 do
      con.failing = n == 16 and before or {}
      user.event()
   end
   con.failing = failing
   if change then
      change(con)
   end
   local ok, err = pcall(user.event)
   return not ok and err or nil, io.open("failed.log"):read("*a"), user
end

-- A connection that is lost, and a server that accepts new connections or not.
local function lost()
   local waited = 0
   sysbench.user.wait = function(seconds)
      waited = waited + seconds
      return true
   end
   local err, log = fail({SELECT = true})
   tap.is(err, nil, "a statement that fails does not end the run")
   tap.like(log, "^Failed: query 3:17:%x+, seed 7, statement 2: error 2013, " ..
      "state 'HY000': Lost connection to server: SELECT ' ?1'\n$",
      "a failed statement is logged")
   err = fail({FIRST = true, SELECT = "lost"})
   tap.is(waited, 0.5, "other users have time to log their statements")
   tap.like(err, "%(statement 2 of query 3:17:%x+, see above; the " ..
      "statement before, 1 of query 3:17:%x+, failed, too%)$",
      "the statement before")
   log = select(2, fail({FIRST = "lost"}, {SELECT = true}))
   tap.like(log, "\nTo execute query 3:16%-17:%x+ again: sysbench .*" ..
      "%-%-query=3:16%-17:%x+ run\n", "its query")
   err, log = fail({SELECT = "lost"}, nil, function(con)
      con.sql_errmsg = ("x"):rep(2000)
   end)
   tap.like(err, "^the connection was lost, and the server does not " ..
      "accept new connections: error 2013", "the server has crashed")
   tap.like(err, "%(statement 2 of query 3:17:%x+, see above%)$",
      "the statement")
   tap.ok(#err < 400, "a message of limited length", #err)
   tap.like(log, "\nTo execute query 3:17:%x+ again: sysbench .*" ..
      "%-%-rand%-seed=7 %-%-query=3:17:%x+ run\n", "how to repeat it")
   tap.like(log, "\nTo execute all queries of this user again: sysbench .*" ..
      "%-%-query=3:1%-17:%x+ run\n$", "the queries before")
   tap.like(fail({SELECT = "lost"}, nil, function(con)
      con.again = {disconnect = function() end}
   end), "lost, and the server accepts new", "the server is back")
end

local function stop_on()
   local function fail_with(code, state)
      return (fail({SELECT = true}, nil, function(con)
         con.sql_errno, con.sql_state = code, state
      end))
   end
   tap.like(fail_with(1064, "HY000"), "^%-%-stop%-on: error 1064",
      "--stop-on by code")
   tap.like(fail_with(7, "42P01"), "^%-%-stop%-on: error 7",
      "--stop-on by SQLSTATE")
   tap.is(fail_with(7, "42P02"), nil, "other errors do not end the run")
end

-- Statements that are in progress when the run ends.
local function unfinished()
   sysbench.user.wait = function() return false end
   local function cancel(seconds)
      local err, log, user = fail({SELECT = true}, nil, function(con)
         con.takes, con.sql_errmsg = seconds, "Lost connection"
      end)
      tap.is(err, nil, "the run has ended")
      return log, (pcall(user.done))
   end
   local log, ok = cancel(50)
   tap.like(log, "^Unfinished: query 3:17:%x+, seed 7, statement 2: in " ..
      "progress for 50%.%d s when the run ended: error 2013, state 'HY000'" ..
      ": Lost connection: SELECT ' ?1'\n$", "a canceled statement is logged")
   tap.is(ok, true, "it does not fail the run")
   log, ok = cancel(70)
   tap.like(log, "in progress for 70.*\nTo execute query", "a hung one")
   tap.is(ok, false, "fails the run")
end

-- The command that repeats a query of a mix is one of this workload alone.
local function mix()
   local cmdline = sysbench.cmdline
   sysbench.user.wait = function() return true end
   sysbench.tid = 0
   cmdline.argv = {"--mix=oltp_read_only:1,g=" .. cmdline.script_path .. ":2",
      "--mix-by=users", "--g.grammar=x.yy", "--oltp_read_only.tables=3",
      "--db-driver=null", "run"}
   local user, con = start_user({failed_log = "mix.log", stop_on = "any",
      mix = cmdline.argv[1]:sub(7)})
   con.failing = {FIRST = true}
   tap.ok(not pcall(user.event), "--stop-on in a mix")
   tap.like(io.open("mix.log"):read("*a"), "again: sysbench [^ ]*" ..
      "test_grammar.lua %-%-grammar=x.yy %-%-db%-driver=null %-%-time=0 " ..
      "%-%-rand%-seed=7 %-%-query=0:1:%x+ run\n", "a query of a mix")
end

-- Calls f, and restores what it has replaced.
local function with_replaced(f)
   local tid, settings, driver = sysbench.tid, sysbench.opt, sysbench.sql.driver
   local wait, run_time = sysbench.user.wait, sysbench.user.run_time
   local argv = sysbench.cmdline.argv
   f()
   sysbench.tid, sysbench.opt, sysbench.sql.driver = tid, settings, driver
   sysbench.user.wait, sysbench.user.run_time = wait, run_time
   sysbench.cmdline.argv = argv
end

function event()
   tap.run(function()
      forms()
      errors()
      endless()
      weights()
      limits()
      values()
      tables()
      reproducible()
      for _, f in ipairs{lost, stop_on, unfinished, mix} do
         with_replaced(f)
      end
   end)
   return true
end
