-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The SQL API on a server, as a workload that prints TAP: behaviour that all
-- drivers of servers have in common. tests/db/test_sql_api runs it with the
-- options to connect. `dialects` contains the differences.

local tap = dofile(os.getenv("SB_SRCDIR") .. "/tests/spec/lib/tap.lua")
local is, ok, like, raises = tap.is, tap.ok, tap.like, tap.raises
local t = sysbench.sql.type
local drv, con, d

local dialects = {
   pgsql = {
      text = "TEXT", blob = "BYTEA", hex = "encode(b, 'hex')",
      double = "DOUBLE PRECISION",
      timestamp = "TIMESTAMP(6)",
      procedure = "CREATE PROCEDURE api_p(n INT) LANGUAGE SQL AS " ..
         "'INSERT INTO api_c VALUES (n)'",
      no_table = "42P01", syntax = "42601",
      sleep = "SELECT pg_sleep(60)",
      as_text = "CAST(%s AS TEXT)",
   },
   mysql = {
      text = "LONGTEXT", blob = "LONGBLOB", hex = "lower(hex(b))",
      double = "DOUBLE",
      timestamp = "DATETIME(6)",
      procedure = "CREATE PROCEDURE api_p(n INT) INSERT INTO api_c " ..
         "VALUES (n)",
      no_table = "42S02", syntax = "42000",
      sleep = "SELECT SLEEP(60)",
      as_text = "CAST(%s AS CHAR)",
   },
}

local function drop_all()
   con:query("DROP TABLE IF EXISTS api_t")
   con:query("DROP TABLE IF EXISTS api_c")
   con:query("DROP TABLE IF EXISTS api_w")
   con:query("DROP PROCEDURE IF EXISTS api_p")
end

local function make_table()
   con:query("CREATE TABLE api_t(id INT PRIMARY KEY, s SMALLINT, n BIGINT, " ..
      "r " .. d.double .. ", v " .. d.text .. ", b " .. d.blob .. ", w " ..
      d.timestamp .. " NULL)")
end

local function one(sql)
   return (con:query_row(sql))
end

-- Queries ---------------------------------------------------------------------

local function queries()
   like(con:server_info(), "%d+%.%d+", "server_info() names a version")
   is(con:query("INSERT INTO api_t(id, n, v) VALUES (1, 10, 'a'), " ..
      "(2, NULL, ''), (3, -30, NULL)"), nil, "an INSERT has no result")
   is(con:affected(), 3, "affected()")
   con:query("UPDATE api_t SET n = 5 WHERE id > 99")
   is(con:affected(), 0, "affected() of an UPDATE without a match")
   local rs = con:query("SELECT id, n AS number, v FROM api_t ORDER BY id")
   is(rs.nrows, 3, "nrows")
   is(rs.nfields, 3, "nfields")
   is(rs:column(2), "number", "column()")
   is(rs:column(4), nil, "no such column")
   local row = rs:fetch_row()
   is(row[1] .. row[2] .. row[3], "110a", "a row")
   row = rs:fetch_row()
   is(row[2], nil, "NULL is nil")
   is(row[3], "", "an empty text is not NULL")
   row = rs:fetch_row()
   is(row[2], "-30", "a negative number")
   is(row[3], nil, "NULL at the end")
   is(rs:fetch_row(), nil, "nil after the last row")
   rs:free()
   rs = con:query("SELECT id FROM api_t WHERE id = 99")
   is(rs.nrows, 0, "a result without rows")
   is(rs:fetch_row(), nil, "fetch_row() of it")
   is(#one("SELECT repeat('x', 100000)"), 100000, "a long value")
   con:query("DELETE FROM api_t")
end

-- A call that sends no statement of the script does not end an open result.
local function open_result()
   local sql = "SELECT 1 UNION ALL SELECT 2 ORDER BY 1"
   local stmt = con:prepare(sql)
   for _, execute in ipairs{function() return con:query(sql) end,
      function() return stmt:execute() end} do
      local rs = execute()
      is(rs:fetch_row()[1], "1", "the first row")
      like(con:server_info(), "%d+%.%d+", "server_info() with an open result")
      ok(not con:more_results(), "more_results() is false")
      con:bulk_insert_init("INSERT INTO api_t(id) VALUES")
      con:bulk_insert_next("(7)")
      is(rs:fetch_row()[1], "2", "the second row")
      con:bulk_insert_done()
      raises(function() rs:fetch_row() end, "no longer available",
         "a bulk insert that is sent ends the result")
      is(one("SELECT id FROM api_t"), "7", "its row")
      con:query("DELETE FROM api_t")
   end
   stmt:close()
end

-- PostgreSQL's driver returns the last result, as sysbench 1.0 does.
local function last_result()
   local rs = con:query("SELECT 1 AS a; SELECT 2 AS b, 3 AS c")
   is(rs.nrows .. " " .. rs.nfields, "1 2", "several results: the last one")
   is(rs:column(1), "b", "with its own names")
   is(table.concat(rs:fetch_row(), ","), "2,3", "and its own row")
   ok(not con:more_results(), "more_results() is false")
   is(con:next_result(), nil, "next_result() returns nil")
   con:query("INSERT INTO api_t(id) VALUES (1), (2); " ..
      "DELETE FROM api_t WHERE id = 1")
   is(con:affected(), 1, "affected() of the last of two changes")
   is(con:query("SELECT 1; DELETE FROM api_t"), nil,
      "no rows of the statement before the last")
   is(one("SELECT COUNT(*) FROM api_t"), "0", "all were executed")
end

local function each_result()
   local rs = con:query("SELECT 1 AS a; SELECT 2 AS b, 3 AS c; SELECT 4 AS e")
   is(rs:fetch_row()[1], "1", "the first of several results")
   ok(con:more_results(), "more_results() is true")
   is(rs:fetch_row(), nil, "and leaves the result open")
   rs = con:next_result()
   is(rs.nfields, 2, "the second result has its own columns")
   is(rs:column(1), "b", "with their own names")
   is(table.concat(rs:fetch_row(), ","), "2,3", "and its own row")
   ok(con:more_results(), "more_results() is true before the third")
   is(con:next_result():fetch_row()[1], "4", "the third result")
   ok(not con:more_results(), "more_results() is false after it")
   con:query("SELECT 1; SELECT 2")
   is(one("SELECT 5"), "5", "unread results are discarded")
   con:query("INSERT INTO api_t(id) VALUES (1); DELETE FROM api_t")
   is(con:affected(), 1, "affected() of the first of two changes")
   con:next_result()
   is(con:affected(), 1, "affected() of the second")
   is(one("SELECT COUNT(*) FROM api_t"), "0", "both were executed")
end

local function several()
   if drv:name() == "pgsql" then
      last_result()
   else
      each_result()
   end
   for i, sql in ipairs{"SELECT x FROM api_no; SELECT 1",
      "SELECT 1; SELECT x FROM api_no; SELECT 3", "SELECT 1; SELECT 2; " ..
      "SELECT x FROM api_no"}
   do
      raises(function() con:query(sql) end, "api_no",
         "an error of statement " .. i .. " of several is raised")
   end
   is(one("SELECT 6"), "6", "the connection can be used after that")
end

local function procedures()
   con:query("CREATE TABLE api_c(n INT)")
   con:query(d.procedure)
   con:query("CALL api_p(7)")
   local stmt = con:prepare("CALL api_p(?)")
   local n = stmt:bind_create(t.INT)
   stmt:bind_param(n)
   n:set(8)
   stmt:execute()
   stmt:execute()
   stmt:close()
   is(one("SELECT SUM(n) FROM api_c"), "23",
      "CALL as text and prepared")
end

-- Prepared statements ---------------------------------------------------------

local insert, p

local function prepare_insert(max)
   insert = con:prepare("INSERT INTO api_t VALUES (?, ?, ?, ?, ?, ?, ?)")
   p = {
      id = insert:bind_create(t.INT), s = insert:bind_create(t.SMALLINT),
      n = insert:bind_create(t.BIGINT), r = insert:bind_create(t.DOUBLE),
      v = insert:bind_create(t.VARCHAR, max),
      b = insert:bind_create(t.BLOB, max),
      w = insert:bind_create(t.TIMESTAMP),
   }
   insert:bind_param(p.id, p.s, p.n, p.r, p.v, p.b, p.w)
end

local function put(id, values)
   p.id:set(id)
   for _, name in ipairs{"s", "n", "r", "v", "b", "w"} do
      p[name]:set(values[name])
   end
   insert:execute()
   is(con:affected(), 1, "row " .. id .. " is written")
end

local function cell(column, id)
   return one("SELECT " .. column .. " FROM api_t WHERE id = " .. id)
end

local bytes = {}
for i = 0, 255 do
   bytes[#bytes + 1] = string.char(i)
end
bytes = table.concat(bytes)

local nasty = "it's \"quoted\" \\ \\' \\\\ %s $1 ? \t\n\r '' \195\164"

local function binding()
   prepare_insert(3000000)
   put(1, {s = -32768, n = 9223372036854775807LL, r = 0.1, v = "text",
      b = bytes, w = "2026-01-31 23:59:59.123456"})
   is(cell("s", 1), "-32768", "the minimum of 16 bits")
   is(cell("n", 1), "9223372036854775807", "the maximum of 64 bits")
   is(tonumber(cell("r", 1)), 0.1, "a double is unchanged")
   is(cell("v", 1), "text", "a text")
   is(cell(d.hex, 1), (bytes:gsub(".", function(c)
      return ("%02x"):format(c:byte())
   end)), "a blob with every byte")
   is(cell(d.as_text:format("w"), 1), "2026-01-31 23:59:59.123456",
      "a timestamp")
   put(2, {})
   for _, name in ipairs{"s", "n", "r", "v", "b", "w"} do
      is(cell(name, 2), nil, "NULL in " .. name)
   end
   put(3, {s = 0, n = -9223372036854775807LL - 1, r = -1e300, v = "", b = "",
      w = "2000-01-01"})
   is(cell("n", 3), "-9223372036854775808", "the minimum of 64 bits")
   is(tonumber(cell("r", 3)), -1e300, "a large double")
   is(cell("v", 3), "", "an empty text is not NULL")
   is(cell("length(b)", 3), "0", "an empty blob is not NULL")
   put(4, {n = 1, v = nasty})
   is(cell("v", 4), nasty, "special characters in a text")
   local long = ("0123456789abcdef"):rep(150000)
   put(5, {v = long, b = long})
   is(cell("length(v)", 5), tostring(#long), "a text of megabytes")
   ok(cell("v", 5) == long, "is read completely")
   is(cell("length(b)", 5), tostring(#long),
      "a blob of megabytes")
   put(6, {v = "short"})
   is(cell("v", 6), "short", "a short text after a long one")
   prepare_insert()
   put(7, {v = "short", b = long})
   put(8, {v = long, b = "short", w = "2026-01-31 23:59:59.123456"})
   put(9, {v = "", b = "x"})
   is(cell("length(b)", 7), tostring(#long), "without a maximum length")
   is(cell("length(v)", 8), tostring(#long), "texts have any length")
   is(cell("v", 9), "", "and may be empty")
   insert:close()
end

local function fetching()
   local stmt = con:prepare("SELECT id, v, n FROM api_t WHERE id BETWEEN ? " ..
      "AND ? ORDER BY id")
   local from, to = stmt:bind_create(t.INT), stmt:bind_create(t.INT)
   stmt:bind_param(from, to)
   from:set(1) to:set(4)
   local rs = stmt:execute()
   is(rs.nrows, 4, "rows of a prepared statement")
   is(rs:column(2), "v", "column() of a prepared statement")
   is(table.concat(rs:fetch_row(), "|"), "1|text|9223372036854775807", "a row")
   local row = rs:fetch_row()
   ok(row[1] == "2" and row[2] == nil and row[3] == nil, "NULLs")
   rs:free()
   to:set(0)
   is(stmt:execute().nrows, 0, "a prepared statement that finds no row")
   from:set(3) to:set(3)
   is(stmt:execute():fetch_row()[1], "3", "executed again")
   from:set(1) to:set(2)
   local same = true
   for i = 1, 30 do
      rs = stmt:execute()
      row = rs:fetch_row()
      same = same and row[2] == "text" and row[3] == "9223372036854775807"
      row = rs:fetch_row()
      same = same and row[1] == "2" and row[2] == nil and row[3] == nil
         and rs:fetch_row() == nil and rs:column(3) == "n" and rs.nrows == 2
      if i % 12 == 0 then -- between text queries
         same = same and one("SELECT " .. i) == tostring(i)
      end
   end
   ok(same, "executed again: the same rows and names")
   stmt:close()
   stmt = con:prepare("SELECT n / ? FROM api_t WHERE id = 1")
   from = stmt:bind_create(t.BIGINT)
   stmt:bind_param(from)
   from:set(1)
   stmt:execute()
   if drv:dialect() == "pgsql" then -- others return NULL
      from:set(0)
      raises(function() stmt:execute() end, "division by zero",
         "an error of an execution")
      from:set(1)
      is(stmt:execute():fetch_row()[1], "9223372036854775807",
         "the next execution succeeds")
   end
   stmt:close()
   stmt = con:prepare("SELECT COUNT(*), '?', \"id\" FROM api_t -- ?\n" ..
      " WHERE id < ? /* ? */ GROUP BY id")
   if drv:dialect() == "mysql" then
      stmt = con:prepare("SELECT 1, '?', `id` FROM api_t -- ?\n" ..
         " WHERE id < ? /* ? */")
   end
   local n = stmt:bind_create(t.BIGINT)
   stmt:bind_param(n)
   n:set(2)
   is(table.concat(stmt:execute():fetch_row(), "|"), "1|?|1",
      "? in strings and comments is not a placeholder")
   stmt:close()
end

-- How the server reads the text of a statement depends on its settings.
local function strings_of_the_server()
   local dialect = drv:dialect()
   local function answer(text)
      local stmt = con:prepare(text)
      local value = stmt:bind_create(t.INT)
      stmt:bind_param(value)
      value:set(7)
      local row = stmt:execute():fetch_row()
      stmt:close()
      return row[1] .. row[2]
   end
   if dialect == "mysql" then
      con:query("SET @old_mode = @@sql_mode, sql_mode = 'NO_BACKSLASH_ESCAPES'")
      is(answer("SELECT 'a\\', ?"), "a\\7", "NO_BACKSLASH_ESCAPES")
      con:query("SET sql_mode = @old_mode")
      is(answer("SELECT '\\'?' /*M! , ? */"), "'?7", "/*M! */ is no comment")
   elseif dialect == "pgsql" then
      con:query("SET standard_conforming_strings = off")
      con:query("SET escape_string_warning = off")
      is(answer("SELECT '\\'?', ?::int"), "'?7",
         "standard_conforming_strings is off")
      con:query("SET standard_conforming_strings = on")
      is(answer("SELECT 'a\\', ?::int"), "a\\7",
         "standard_conforming_strings is on")
   end
end

-- '??' is a '?' of the statement itself.
local function escaped_marks()
   if drv:dialect() ~= "pgsql" then
      raises(function() con:prepare("SELECT 1 ?? 2"):execute() end,
             "%? 2", "other servers get the '?', too")
      return
   end
   local stmt = con:prepare("SELECT j ?? ?, j ??| ARRAY[?, 'z'], " ..
      "j ??& ARRAY['a', ?], '??', ?::int FROM " ..
      "(SELECT '{\"a\": 1, \"b\": 2}'::jsonb AS j) x -- ??")
   local key, any, all = stmt:bind_create(t.VARCHAR, 9),
      stmt:bind_create(t.VARCHAR, 9), stmt:bind_create(t.VARCHAR, 9)
   local n = stmt:bind_create(t.INT)
   stmt:bind_param(key, any, all, n)
   local function answers(...)
      for i, value in ipairs{...} do
         (({key, any, all})[i]):set(value)
      end
      n:set(7)
      return table.concat(stmt:execute():fetch_row(), ",")
   end
   is(answers("a", "b", "b"), "t,t,t,??,7", "operators of jsonb")
   is(answers("c", "b", "c"), "f,t,f,??,7", "executed again")
   is(answers("a", "c", "b"), "t,f,t,??,7", "executed without the library")
   con:pipeline_begin()
   stmt:execute()
   con:query("SELECT '{\"a\": 1}'::jsonb ? 'a'")
   con:pipeline_send()
   is(con:pipeline_next():fetch_row()[2], "f", "in a pipeline, prepared")
   is(con:pipeline_next():fetch_row()[1], "t",
      "in a pipeline, as text: not rewritten")
   stmt:close()
   stmt = con:prepare("SELECT '{\"a\": 1}'::jsonb ?? 'a'")
   is(stmt:execute():fetch_row()[1], "t", "without placeholders")
   stmt:close()
   raises(function() con:prepare("SELECT '{}'::jsonb ? 'a'"):execute() end,
          "not bound", "a single '?' is a placeholder")
end

-- Values at the limits are stored unchanged, or set(), execute() or the load
-- fails.
local WIDE = {
   pgsql = "(b BIGINT, u NUMERIC(20), d FLOAT8, v VARCHAR(40), t SMALLINT)",
   mysql = "(b BIGINT, u BIGINT UNSIGNED, d DOUBLE, v VARCHAR(40), t TINYINT)"
}

local function bound(kind, column, value)
   con:query("DELETE FROM api_w")
   local stmt = con:prepare("INSERT INTO api_w(" .. column .. ") VALUES (?)")
   local q = stmt:bind_create(t[kind], 40)
   stmt:bind_param(q)
   q:set(value)
   stmt:execute()
   stmt:close()
   stmt = con:prepare("SELECT " .. column .. " FROM api_w")
   local text = one("SELECT " .. column .. " FROM api_w")
   for _ = 1, 3 do -- with and without the library
      is(stmt:execute():fetch_row()[1], text, "read as by a text query")
   end
   stmt:close()
   return text
end

local function loaded(kind, column, value)
   con:query("DELETE FROM api_w")
   local ld = con:load("api_w", column)
   ld[kind](ld, value)
   ld:close()
   return one("SELECT " .. column .. " FROM api_w")
end

-- what: bound or loaded
local function fails(what, kind, column, value, pattern)
   raises(function() what(kind, column, value) end, pattern,
      kind .. " " .. tostring(value) .. " into " .. column)
end

local function limits()
   local most, great = 18446744073709551615ULL, 9007199254740993LL
   local out = "[Oo]ut of range"
   con:query("CREATE TABLE api_w" .. WIDE[drv:dialect()])
   is(bound("BIGINT", "u", most), "18446744073709551615",
      "the maximum of unsigned")
   is(bound("BIGINT", "u", 9223372036854775808ULL), "9223372036854775808",
      "the smallest value that is not signed")
   is(bound("BIGINT", "u", "18446744073709551615"), "18446744073709551615",
      "unsigned, as a string")
   is(bound("VARCHAR", "v", most), "18446744073709551615",
      "unsigned, in a text column")
   is(bound("BIGINT", "b", great), "9007199254740993", "more than 53 bits")
   is(bound("BIGINT", "b", "9007199254740993"), "9007199254740993",
      "more than 53 bits, as a string")
   is(bound("BIGINT", "b", -2 ^ 63), "-9223372036854775808",
      "the minimum of signed")
   fails(bound, "BIGINT", "b", most, out)
   if drv:dialect() == "mysql" then
      fails(bound, "TINYINT", "t", 300, out)
   else
      is(bound("TINYINT", "t", 300), "300", "the column's type decides")
   end
   is(loaded("int", "b", great), "9007199254740993",
      "loaded: more than 53 bits")
   is(loaded("int", "u", most), "18446744073709551615",
      "loaded: unsigned")
   is(loaded("int", "v", most), "18446744073709551615",
      "loaded: unsigned, in a text column")
   fails(loaded, "int", "b", most, out)
   fails(loaded, "int", "b", 3.5, "not a 64%-bit integer")
   fails(loaded, "double", "d", great, "cannot be stored exactly")
   is(tonumber(loaded("double", "d", 5ULL)), 5, "an integer as a double")
   for i, v in ipairs{0 / 0, 1 / 0, -1 / 0} do
      local name = ({"NaN", "Infinity", "-Infinity"})[i]
      if drv:dialect() == "pgsql" then
         is(bound("DOUBLE", "d", v), name, name)
         is(loaded("double", "d", v), name, name .. " loaded")
      else
         fails(bound, "DOUBLE", "d", v, name .. " is " .. out)
         fails(loaded, "double", "d", v, name .. " is " .. out)
      end
   end
   -- Signed and unsigned values alternate.
   local stmt = con:prepare("SELECT COUNT(*) FROM api_w WHERE u = ?")
   local q = stmt:bind_create(t.BIGINT)
   stmt:bind_param(q)
   con:query("DELETE FROM api_w")
   con:query("INSERT INTO api_w(u) VALUES (18446744073709551615), (7), (7)")
   local found = ""
   for _, v in ipairs{7, most, -1, 7ULL, most, most, 7} do
      q:set(v)
      found = found .. stmt:execute():fetch_row()[1]
   end
   is(found, "2102112", "alternating signed and unsigned values")
   stmt:close()
   con:query("DROP TABLE api_w")
end

local function types_meet()
   -- The types of values and columns differ.
   local stmt = con:prepare("UPDATE api_t SET n = ?, r = ?, v = ? WHERE id = ?")
   local n, r = stmt:bind_create(t.VARCHAR, 30), stmt:bind_create(t.INT)
   local v, id = stmt:bind_create(t.VARCHAR, 30), stmt:bind_create(t.BIGINT)
   stmt:bind_param(n, r, v, id)
   n:set("12") r:set(3) v:set(4.5) id:set(6)
   stmt:execute()
   is(con:affected(), 1, "an UPDATE of one row")
   is(table.concat({con:query_row("SELECT n, r, v FROM api_t WHERE id = 6")},
      "|"), "12|3|4.5", "text for an integer, integer for a double")
   stmt:close()
end

local function reconnecting()
   local stmt = con:prepare("SELECT v FROM api_t WHERE id = ?")
   local id = stmt:bind_create(t.INT)
   stmt:bind_param(id)
   id:set(1)
   is(stmt:execute():fetch_row()[1], "text", "before reconnect()")
   con:reconnect()
   is(stmt:execute():fetch_row()[1], "text",
      "a statement can be used after reconnect()")
   stmt:close()
   for i = 1, 100 do
      stmt = con:prepare("SELECT " .. i)
      if stmt:execute():fetch_row()[1] ~= tostring(i) then
         ok(false, "statement " .. i)
      end
      stmt:close()
   end
   is(one("SELECT 1"), "1", "a hundred statements, one after the other")
end

-- Errors ----------------------------------------------------------------------

local function errors()
   local e = raises(function() con:query("SELECT * FROM api_no") end,
      "api_no", "a table that does not exist")
   like(tostring(e), d.no_table, "the message contains the SQLSTATE")
   is(ffi.string(con.sql_state), d.no_table, "con.sql_state")
   raises(function() con:query("SELEC 1") end, "SELEC", "a syntax error")
   local stmt = con:prepare("SELECT * FROM api_no WHERE id = ?")
   local id = stmt:bind_create(t.INT)
   stmt:bind_param(id)
   id:set(1)
   raises(function() stmt:execute() end, "api_no", "an error when preparing")
   stmt:close()
   con:query("BEGIN")
   con:query("INSERT INTO api_t(id) VALUES (100)")
   pcall(con.query, con, "SELECT * FROM api_no")
   con:reset()
   is(one("SELECT COUNT(*) FROM api_t WHERE id = 100"), "0",
      "reset() rolls back after an error")
   con:query("BEGIN")
   con:query("INSERT INTO api_t(id) VALUES (100)")
   con:reset()
   is(one("SELECT COUNT(*) FROM api_t WHERE id = 100"), "0",
      "reset() rolls back without an error")
   con:reset()
   is(one("SELECT 1"), "1", "reset() without a transaction")
   local zero = con:prepare("SELECT ?")
   ok(pcall(con.query, con, "SELECT 1\0SELECT 2") == false,
      "a query with a NUL byte is not cut there")
   zero:close()
end

-- Quoting, loading ----------------------------------------------------------

local function quoting()
   for i, text in ipairs{"", "it's", "a\\b", nasty, "'", "\\", "''\\'"} do
      ok(one("SELECT " .. con:quote(text)) == text, "quote(), text " .. i)
   end
end

local function loading()
   con:query("DELETE FROM api_t")
   local ld = con:load("api_t", "id,n,r,v")
   for i = 1, 5000 do
      ld:int(i)
      if i % 7 == 0 then ld:null() else ld:int(-i) end
      ld:double(i / 8)
      ld:text(i == 11 and nasty or i == 13 and "" or "v" .. i)
   end
   ld:close()
   is(one("SELECT COUNT(*) FROM api_t"), "5000", "rows are loaded")
   is(one("SELECT COUNT(*) FROM api_t WHERE n IS NULL"), "714", "NULLs")
   is(tonumber(one("SELECT r FROM api_t WHERE id = 4001")), 500.125,
      "doubles")
   is(one("SELECT n FROM api_t WHERE id = 5000"), "-5000", "integers")
   ok(cell("v", 11) == nasty, "special characters in a loaded text")
   is(cell("v", 13), "", "an empty text")
   ld = con:load("api_t", "id,v")
   ld:int(6000)
   ld:text(("y"):rep(3000000))
   ld:int(6001)
   ld:text("z")
   ld:close()
   is(cell("length(v)", 6000), "3000000",
      "a load into a table with rows; a long text")
   ld = con:load("api_t", "id,v")
   ld:int(7000)
   ld:text("gone")
   ld:close(false)
   is(one("SELECT COUNT(*) FROM api_t WHERE id = 7000"), "0",
      "close(false) undoes the load")
   raises(function()
      local bad = con:load("api_t", "id,v")
      bad:int(8000)
      bad:text("x")
      bad:int(6001)
      bad:text("again")
      bad:close()
   end, "6001", "a load with a duplicate key")
   is(one("SELECT COUNT(*) FROM api_t WHERE id = 8000"), "0",
      "undoes its other rows")
   raises(function()
      local bad = con:load("api_no", "id")
      bad:int(1)
      bad:close()
   end, "api_no", "a load into a table that does not exist")
   is(one("SELECT 1"), "1", "the connection can be used after that")
end

local function pipelining()
   con:query("DELETE FROM api_t")
   prepare_insert(100)
   local n = con:pipeline(function()
      con:query("BEGIN")
      for i = 1, 300 do
         p.id:set(i)
         p.n:set(i)
         p.v:set("p" .. i)
         for _, name in ipairs{"s", "r", "b", "w"} do
            p[name]:set(nil)
         end
         insert:execute()
      end
      con:query("COMMIT")
   end)
   is(n, 302, "a pipeline")
   is(one("SELECT COUNT(*) FROM api_t WHERE v = " ..
      (drv:dialect() == "mysql" and "CONCAT('p', id)" or "'p' || id")), "300",
      "each execution has its own values")
   con:pipeline_begin()
   con:query("SELECT v FROM api_t WHERE id = 1")
   con:query("SELECT id, v FROM api_t WHERE id BETWEEN 2 AND 3 ORDER BY id")
   con:query("DELETE FROM api_t WHERE id < 3")
   is(con:pipeline_send(), 3,
      "pipeline_send() returns the number of statements")
   is(con:pipeline_next():fetch_row()[1], "p1", "first result")
   local rs = con:pipeline_next()
   is(rs.nrows, 2, "second result")
   is(rs:column(2), "v", "its columns")
   is(con:pipeline_next(), nil, "third result")
   is(con:affected(), 2, "its affected()")
   is(one("SELECT 3"), "3", "a query after a pipeline")
   con:pipeline_begin()
   for _ = 1, 4 do
      con:query("SELECT repeat('x', 1000000)")
   end
   con:pipeline_send()
   is(#con:pipeline_next():fetch_row()[1], 1000000, "large results")
   is(one("SELECT 4"), "4", "unread results are discarded")
   raises(function()
      con:pipeline(function()
         con:query("SELECT 1")
         con:query("SELECT * FROM api_no")
         con:query("DELETE FROM api_t")
      end)
   end, "api_no", "a failure in the middle of a pipeline")
   con:reset()
   is(one("SELECT COUNT(*) FROM api_t"), "298",
      "statements after the failure are not executed")
   for i, received in ipairs{0, 1} do
      con:pipeline_begin()
      con:query("SELECT 1")
      con:query("SELECT * FROM api_no")
      con:query("SELECT 2")
      con:pipeline_send()
      for _ = 1, received do
         con:pipeline_next()
      end
      raises(function() con:query("SELECT 3") end, "api_no",
         "a failure after " .. received .. " received answers")
      con:reset()
      is(one("SELECT 4"), "4", "a query after it, " .. i)
   end
   insert:close()
   -- More than the socket buffers can hold, in both directions at once, after
   -- executions that bypassed the client library.
   local stmt = con:prepare("SELECT repeat(v, 50000) FROM api_t " ..
      "WHERE v = ? OR id = 4")
   local v = stmt:bind_create(t.VARCHAR, 100000)
   stmt:bind_param(v)
   v:set("x")
   for _ = 1, 10 do
      stmt:execute()
   end
   v:set(("y"):rep(100000))
   con:pipeline_begin()
   for _ = 1, 80 do
      stmt:execute()
   end
   con:pipeline_send()
   local size = 0
   for _ = 1, 80 do
      size = size + #con:pipeline_next():fetch_row()[1]
   end
   is(size, 80 * 100000, "large texts in both directions")
   stmt:close()
end

function event()
   tap.run(function()
      drv = sysbench.sql.driver()
      d = dialects[drv:dialect()]
      con = drv:connect()
      drop_all()
      make_table()
      for _, body in ipairs{queries, open_result, several, procedures, binding,
         fetching, strings_of_the_server, escaped_marks, limits, types_meet,
         reconnecting, errors, quoting, loading, pipelining}
      do
         body()
      end
      drop_all()
      con:disconnect()
   end)
   return true
end
