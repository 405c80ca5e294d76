-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sb.grammar: the parser of grammar files, the generator, and what happens when
-- a statement fails.

local tap = dofile(test:match("(.*/)") .. "lib/tap.lua")
local grammar = require("sb.grammar")
local grammar_parser = require("sb.grammar_parser")
local grammar_schema = require("sb.grammar_schema")

local opt = {start = "query", max_depth = 10, max_length = 10000,
   table_size = 100, rand_seed = 1, rand_type = "uniform"}

local schema = grammar_schema.of_rows({
   {"t1", "id", "INTEGER", "1"}, {"t1", "n", "bigint", "0"},
   {"t1", "s", "varchar(20)", "0"}, {"t1", "d", "timestamp", "0"},
   {"t2", "key", "int", "1"}, {"other", "x", "int", "0"},
}, {"t*"}, '"')

local function parse(text, dialect)
   return grammar_parser.parse(text, "g.yy", dialect or "sqlite", "query")
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
   local s = grammar_schema.of_rows({{'a"b', "c", "int", "0"}}, {}, '"')
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
   for name, value in pairs{rand_seed = 2, rand_zipfian_exp = 0.5,
      max_depth = 11, start = "a"}
   do
      tap.ok(sum ~= grammar.checksum(g, schema,
         setmetatable({[name] = value}, {__index = opt})),
         "the checksum depends on " .. name)
   end
   local user, a, b, c = grammar.parse_query("3:17:" .. sum)
   tap.ok(user == 3 and a == 17 and b == 17 and c == sum, "--query")
   user, a, b, c = grammar.parse_query("0:1-9")
   tap.ok(user == 0 and a == 1 and b == 9 and c == nil, "a range of --query")
   for _, wrong in ipairs{"", "1", "1:-1", "1:5-2", "x:1", "1:2:3", "1:1-"} do
      tap.is(grammar.parse_query(wrong), nil, "--query=" .. wrong)
   end
end

-- A connection that is lost, and a server that accepts new connections or not.
local function lost()
   local commands = require("sb.grammar_commands")
   local alive, again = true, nil
   local con = {sql_errno = 2013, sql_state = "HY000",
      sql_errmsg = "Lost connection\nto server"}
   function con.is_alive() return alive end
   local user = {tid = 3, sum = "0a1b2c3d", con = con, opt = {rand_seed = 7,
      failed_log = "failed.log", stop_on = "1064, 42P01", query = ""},
      drv = {}}
   function user.drv.try_connect() return again end
   local wait, waited, running = sysbench.user.wait, 0, true
   sysbench.user.wait = function(seconds)
      waited = waited + seconds
      return running
   end
   local function fail()
      commands.failed(user, 17, 2, "SELECT\n 1", "x")
   end
   fail()
   tap.is(io.open("failed.log"):read("*a"), "Failed: query 3:17:0a1b2c3d, " ..
      "seed 7, statement 2: error 2013, state 'HY000': Lost connection to " ..
      "server: SELECT 1\n", "a failed statement is logged")
   local function fail_after(before)
      user.opt.failed_log = "failed" .. tostring(before and before.n) .. ".log"
      os.remove(user.opt.failed_log)
      user.before = before
      local ok, err = pcall(fail)
      return not ok and err, io.open(user.opt.failed_log):read("*a")
   end
   alive = false
   local err = fail_after({n = 17, i = 1})
   tap.is(waited, 0.5, "other users have time to log their statements")
   tap.like(err, "%(statement 2 of query 3:17:0a1b2c3d, see above; the " ..
      "statement before, 1 of query 3:17:0a1b2c3d, failed, too%)$",
      "the statement before")
   local _, log = fail_after({n = 16, i = 1})
   tap.like(log, "\nTo execute query 3:16%-17:0a1b2c3d again: sysbench .*" ..
      "%-%-query=3:16%-17:0a1b2c3d run\n", "its query")
   con.sql_errmsg = ("x"):rep(2000)
   err, log = fail_after()
   con.sql_errmsg = "Lost connection"
   tap.like(err, "^the connection was lost, and the server does not " ..
      "accept new connections: error 2013", "the server has crashed")
   tap.like(err, "%(statement 2 of query 3:17:0a1b2c3d, see above%)$",
      "the statement")
   tap.ok(#err < 400, "a message of limited length", #err)
   tap.like(log, "\nTo execute query 3:17:0a1b2c3d again: sysbench .*" ..
      "%-%-rand%-seed=7 %-%-query=3:17:0a1b2c3d run\n", "how to repeat it")
   tap.like(log, "\nTo execute all queries of this user again: sysbench .*" ..
      "%-%-query=3:1%-17:0a1b2c3d run\n$", "the queries before")
   again = {disconnect = function() end}
   tap.raises(fail, "lost, and the server accepts new", "the server is back")
   alive, con.sql_errno = true, 1064
   tap.raises(fail, "^%-%-stop%-on: error 1064", "--stop-on by code")
   con.sql_errno, con.sql_state = 7, "42P01"
   tap.raises(fail, "^%-%-stop%-on: error 7", "--stop-on by SQLSTATE")
   con.sql_state = "42P02"
   tap.ok(pcall(fail), "other errors do not end the run")
   running, alive = false, false
   user.opt.hang_time = 60
   local function cancel(seconds)
      user.opt.failed_log = "unfinished" .. seconds .. ".log"
      user.since = sysbench.user.time() - seconds
      tap.is(commands.failed(user, 17, 2, "SELECT\n 1", "x"), true,
         "the run has ended")
      return io.open(user.opt.failed_log):read("*a"),
         (pcall(commands.finish, user.opt))
   end
   local log_of, ok = cancel(50)
   tap.like(log_of, "^Unfinished: query 3:17:0a1b2c3d, seed 7, statement 2" ..
      ": in progress for 50%.%d s when the run ended: error 7, state " ..
      "'42P02': Lost connection: SELECT 1\n$",
      "a canceled statement is logged")
   tap.is(ok, true, "it does not fail the run")
   log_of, ok = cancel(70)
   tap.like(log_of, "in progress for 70.*\nTo execute query", "a hung one")
   tap.is(ok, false, "fails the run")
   running = true
   sysbench.user.wait = wait
end

-- The command that repeats a query of a mix is one of this workload alone.
local function mix()
   local commands, cmdline = require("sb.grammar_commands"), sysbench.cmdline
   local argv = cmdline.argv
   cmdline.argv = {"--mix=oltp_read_only:1,g=" .. cmdline.script_path .. ":2",
      "--mix-by=users", "--g.grammar=x.yy", "--oltp_read_only.tables=3",
      "--db-driver=null", "run"}
   local user = {tid = 0, sum = "0a1b2c3d", opt = {rand_seed = 7,
      failed_log = "mix.log", stop_on = "any", query = "",
      mix = cmdline.argv[1]:sub(7)}, con = {sql_errno = 1,
      is_alive = function() return true end}}
   local wait = sysbench.user.wait
   sysbench.user.wait = function() return true end
   tap.ok(not pcall(commands.failed, user, 1, 1, "SELECT 1", "x"),
      "--stop-on in a mix")
   sysbench.user.wait, cmdline.argv = wait, argv
   tap.like(io.open("mix.log"):read("*a"), "again: sysbench [^ ]*" ..
      "test_grammar.lua %-%-grammar=x.yy %-%-db%-driver=null %-%-time=0 " ..
      "%-%-rand%-seed=7 %-%-query=0:1:0a1b2c3d run\n", "a query of a mix")
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
      lost()
      mix()
   end)
   return true
end
