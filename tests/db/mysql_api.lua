-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- sysbench.sql on a MySQL server; test_mysql runs it.

local tap = dofile(os.getenv("SB_SRCDIR") .. "/tests/spec/lib/tap.lua")
local is, ok, like, raises = tap.is, tap.ok, tap.like, tap.raises
local t = sysbench.sql.type
local con

-- All rows of a result, as text.
local function dump(rs)
   local lines = {}
   for i = 1, rs.nrows do
      local row, cells = rs:fetch_row(), {}
      for k = 1, rs.nfields do
         cells[k] = row[k] == nil and "NULL" or row[k]
      end
      lines[i] = table.concat(cells, "|")
   end
   return table.concat(lines, "\n")
end

local columns = {
   {"TINYINT", "-128", "127"}, {"TINYINT UNSIGNED", "255"},
   {"SMALLINT", "-32768"}, {"SMALLINT UNSIGNED", "65535"},
   {"MEDIUMINT", "-8388608"}, {"MEDIUMINT UNSIGNED", "16777215"},
   {"INT", "-2147483648"}, {"INT UNSIGNED", "4294967295"},
   {"INT(8) ZEROFILL", "42"}, {"BIGINT(20) ZEROFILL", "1"},
   {"BIGINT(255) ZEROFILL", "7"}, {"DOUBLE(255,30) ZEROFILL", "1e200"},
   {"BIGINT", "-9223372036854775808", "9223372036854775807"},
   {"BIGINT UNSIGNED", "18446744073709551615"},
   {"FLOAT", "1.5", "3.14159", "-1e-10", "1e20", "0", "16777216", "-0.1",
      "1e-14", "1e-15", "1e-16", "3.40282e38", "1e15", "123456.789"},
   {"FLOAT(9,3)", "1.5", "-1.1", "0"},
   {"DOUBLE", "1.5", "0.1", "-1.7976931348623157e308", "1e-300", "1e15",
      "123456789012345680", "0.30000000000000004", "5.684341886080802e-14",
      "2.2250738585072014e-308", "1e14", "9007199254740993",
      "1234567890123456.5", "1e-14", "1e-15", "1e-16", "0", "1e22", "1e23",
      "4.35", "0.000123456789012345"},
   {"DOUBLE(12,4)", "2.5", "-2.00005", "12345678.1234", "0"},
   {"DOUBLE(30,2)", "1e23", "2.675", "-0.001", "0.125"},
   {"DECIMAL(30,10)", "-12345678901234567890.0123456789", "0"},
   {"YEAR", "2024", "1901", "0"},
   {"DATE", "'2024-02-29'", "'0001-01-01'"},
   {"TIME", "'-838:59:59'", "'00:00:01'"},
   {"TIME(6)", "'12:34:56.000007'", "'00:00:00'", "'-00:00:00.5'"},
   {"TIME(2)", "'123:34:56.25'"},
   {"DATETIME", "'2024-02-29 23:59:59'"},
   {"DATETIME(3)", "'2024-02-29 23:59:59.120'", "'2024-02-29 00:00:00'"},
   {"TIMESTAMP(6) NULL", "'2024-02-29 00:00:00.000001'"},
   {"TIMESTAMP NULL", "'2024-02-29 23:59:59'"},
   {"CHAR(10)", "'x'", "''"}, {"VARCHAR(300)", "'äöü'", "REPEAT('y', 300)"},
   {"BINARY(4)", "'a'"}, {"VARBINARY(10)", "X'00ff0a275c'"},
   {"TEXT", "REPEAT('t', 5000)", "''"}, {"BLOB", "X'00010203'"},
   {"LONGTEXT", "REPEAT('l', 2000000)"},
   {"ENUM('a','b')", "'b'"}, {"SET('a','b')", "'a,b'"},
   {"BIT(12)", "b'101010101010'"},
}

-- Text queries and prepared statements use different protocols; their rows must
-- be equal.
local function types()
   for _, column in ipairs(columns) do
      con:query("CREATE TABLE types (id INT PRIMARY KEY, v " .. column[1] ..
         ")")
      con:query("INSERT INTO types VALUES (0, NULL)")
      for i = 2, #column do
         con:query("INSERT INTO types VALUES (" .. i .. ", " .. column[i] ..
            ")")
      end
      local sql = "SELECT v, id FROM types ORDER BY id"
      local text = dump(con:query(sql))
      local stmt = con:prepare(sql)
      is(dump(stmt:execute()), text, "prepared as text: " .. column[1])
      is(dump(stmt:execute()), text, "executed again: " .. column[1])
      stmt:close()
      con:query("DROP TABLE types")
   end
end

-- Compares the values that the driver reads itself with those that the client
-- library reads.
local function both_ways()
   local lib = sysbench.sql.driver():connect{bypass_library = "off"}
   local expressions = {"ROUND(1e308, 3), -ROUND(1e308, 30), 1.5e0",
      "NOW() > 1, 1/3, 1e0/3, -1.5e0, 0e0, PI()",
      "CAST('2024-02-29' AS DATE), CAST('1:2:3.45' AS TIME(2)), X'00ff'",
      "18446744073709551615, -5, 1 = 1, NULL, ''",
      "CAST(1 AS DECIMAL(20, 5)), TRUE, LEFT('äöü', 2)"}
   for _, column in ipairs(columns) do
      local make = "CREATE TABLE types (id INT PRIMARY KEY, v " .. column[1] ..
         ", w " .. column[1] .. ")"
      con:query(make)
      con:query("INSERT INTO types VALUES (0, NULL, NULL)")
      for i = 2, #column do
         con:query("INSERT INTO types VALUES (" .. i .. ", " .. column[i] ..
            ", NULL), (" .. -i .. ", NULL, " .. column[i] .. ")")
      end
      local sql = "SELECT w, id, v FROM types ORDER BY id"
      is(dump(con:prepare(sql):execute()), dump(lib:prepare(sql):execute()),
         "both ways: " .. column[1])
      con:query("DROP TABLE types")
   end
   for _, list in ipairs(expressions) do
      local one, two = con:prepare("SELECT " .. list), lib:prepare("SELECT " ..
         list)
      local a, b = one:execute(), two:execute()
      is(dump(a), dump(b), "both ways: " .. list)
      for i = 1, a.nfields + 1 do
         is(a:column(i), b:column(i), "name of column " .. i)
      end
   end
   lib:disconnect()
end

-- Random doubles, and doubles near powers of two and of ten.
local function numbers()
   local sql = "SELECT ? + 0e0"
   local own = con:prepare(sql)
   local v = own:bind_create(t.DOUBLE)
   own:bind_param(v)
   local wrong, list = 0, {}
   for e = -1022, 1023, 7 do
      list[#list + 1] = 2 ^ e
      list[#list + 1] = 2 ^ e * (1 + 2 ^ -52)
      list[#list + 1] = 2 ^ e * (1 - 2 ^ -53)
      list[#list + 1] = -2 ^ e * sysbench.rand.uniform_double()
   end
   for e = -300, 300, 3 do
      list[#list + 1] = tonumber("1e" .. e)
      list[#list + 1] = tonumber("9.99e" .. e)
   end
   for _, d in ipairs(list) do
      v:set(d)
      local got = own:execute():fetch_row()[1]
      local want = con:query_row(("SELECT %.17g + 0e0"):format(d))
      if got ~= want or tonumber(got) ~= d then
         wrong = wrong + 1
         print(("# %.17g: %s, as a text %s"):format(d, got, want))
      end
   end
   is(wrong, 0, "doubles are printed as by the server")
end

-- Packets end at 16 MB.
local function long_packets()
   if sysbench.opt.db_ps_mode == "disable" then
      return
   end
   local stmt = con:prepare("SELECT ?, LENGTH(?), 'end'")
   local s = stmt:bind_create(t.VARCHAR, 34 * 1024 * 1024)
   local n = stmt:bind_create(t.VARCHAR, 10)
   stmt:bind_param(s, n)
   n:set("123")
   local x = ("0123456789abcde"):rep(34 * 1024 * 1024 / 15)
   for _, len in ipairs{0, 250, 251, 65535, 65536, 2000000} do
      s:set(x:sub(1, len))
      local row = stmt:execute():fetch_row()
      ok(row[1] == x:sub(1, len) and row[2] == "3" and row[3] == "end",
         len .. " bytes are sent and returned")
   end
   -- The number of bytes by which a text is shorter than one or two full
   -- packets: those with which the command or the row fills a packet exactly.
   local wrong = 0
   for _, size in ipairs{{0xffffff, -1, 0, 13, 14, 15, 18, 19, 20, 21, 24},
      {2 * 0xffffff, 19, 23, 25}} do
      for i = 2, #size do
         local text = x:sub(1, size[1] - size[i])
         s:set(text)
         local row = stmt:execute():fetch_row()
         if row[1] ~= text or row[2] ~= "3" or row[3] ~= "end" then
            wrong = wrong + 1
         end
      end
   end
   is(wrong, 0, "texts near 16 and 32 MB")
   is(con:query_row("SELECT 4"), "4", "the connection can be used afterwards")
   -- Rows of one packet and of two, then a short one.
   local sql = "SELECT REPEAT('s', 17000000), 1 UNION ALL " ..
      "SELECT REPEAT('r', 16777209), 2 UNION ALL SELECT 't', 3"
   local text = dump(con:query(sql))
   ok(#text > 3e7, "long rows of a text query")
   ok(dump(con:prepare(sql):execute()) == text,
      "the same rows of a prepared statement")
end

local function parameters()
   con:query("CREATE TABLE p (id INT PRIMARY KEY AUTO_INCREMENT, i BIGINT, " ..
      "d DOUBLE, s LONGTEXT, b LONGBLOB, t DATETIME(6))")
   local stmt = con:prepare("INSERT INTO p (i, d, s, b, t) VALUES " ..
      "(?, ?, ?, ?, ?)")
   local i, d = stmt:bind_create(t.BIGINT), stmt:bind_create(t.DOUBLE)
   local s = stmt:bind_create(t.VARCHAR, 3000000)
   local b = stmt:bind_create(t.BLOB, 1000)
   local time = stmt:bind_create(t.DATETIME, 40)
   stmt:bind_param(i, d, s, b, time)
   stmt:execute()
   is(con:affected(), 1, "affected() of an execution")
   is(con:insert_id(), 1, "insert_id() of an execution")
   i:set(-9007199254740992)
   d:set(0.1)
   s:set("it's \\ \"quoted\" äöü")
   b:set("\0\1\255'\\\n")
   time:set("2026-01-31 23:59:59.123456")
   stmt:execute()
   s:set(("x"):rep(3000000))
   i:set(nil)
   stmt:execute()
   i:set(7)
   s:set("")
   stmt:execute()
   local rs = con:query("SELECT i, d, LEFT(s, 30), HEX(b), t, LENGTH(s) " ..
      "FROM p ORDER BY id")
   is(dump(rs), "NULL|NULL|NULL|NULL|NULL|NULL\n" ..
      "-9007199254740992|0.1|it's \\ \"quoted\" äöü|0001FF275C0A|" ..
      "2026-01-31 23:59:59.123456|22\n" ..
      "NULL|0.1|" .. ("x"):rep(30) .. "|0001FF275C0A|" ..
      "2026-01-31 23:59:59.123456|3000000\n" ..
      "7|0.1||0001FF275C0A|2026-01-31 23:59:59.123456|0",
      "values of all types and NULLs are stored unchanged")
   local long = con:prepare("SELECT s FROM p WHERE id = 3")
   is(#long:execute():fetch_row()[1], 3000000, "a long text is read")
   is(#long:execute():fetch_row()[1], 3000000, "and read again")
   -- One connection, two statements in turn.
   local other = con:prepare("SELECT id, i FROM p WHERE id = 2")
   is(other:execute():fetch_row()[2], "-9007199254740992",
      "another statement on the connection")
   is(#long:execute():fetch_row()[1], 3000000, "the first statement again")
   is(other:execute():column(2), "i", "column() of a prepared statement")
   is(other:execute():column(3), nil, "no such column")
   long:close()
   is(other:execute():fetch_row()[1], "2",
      "a statement after another was closed")
end

-- A parameter has the same type, whether it is sent as a value or as a literal.
local function types_of_parameters()
   local stmt = con:prepare("SELECT ? / 3, ? + 0, LENGTH(?)")
   local d, b = stmt:bind_create(t.DOUBLE), stmt:bind_create(t.BLOB)
   local e = stmt:bind_create(t.BLOB)
   stmt:bind_param(d, b, e)
   d:set(5)
   b:set("1A")
   e:set("")
   is(dump(stmt:execute()), "1.6666666666666667|1|0", "DOUBLE and BLOB")
   con:pipeline_begin()
   stmt:execute()
   con:pipeline_send()
   is(dump(con:pipeline_next()), "1.6666666666666667|1|0",
      "DOUBLE and BLOB in a pipeline")
end

local function results()
   is(con:query("SELECT 1 AS one"):column(1), "one",
      "column() of a text query")
   local rs = con:query("SELECT 1; UPDATE p SET i = 9 WHERE id = 1; " ..
      "SELECT 2, 3")
   is(rs:fetch_row()[1], "1", "the first of several results")
   ok(con:more_results(), "more_results() is true")
   is(con:next_result(), nil, "an UPDATE has no rows")
   is(con:affected(), 1, "but affected() counts its changes")
   rs = con:next_result()
   is(rs.nfields, 2, "the last result has two columns")
   is(rs:fetch_row()[2], "3", "and its own row")
   ok(not con:more_results(), "more_results() is false after the last")
   con:query("SELECT 1; SELECT 2; SELECT 3")
   is(con:query_row("SELECT 4"), "4", "unread results are discarded")
   raises(function() con:query("SELECT 1; SELECT nosuch; SELECT 2") end,
      "nosuch", "a statement in the middle fails")
   raises(function() con:query("DO 1; INSERT INTO p(id) VALUES (1); DO 2") end,
      "Duplicate entry", "an INSERT in the middle fails")
   is(con:query_row("SELECT 5"), "5",
      "the connection can be used after that")
   is(con:query_row("SELECT NULL, 'x'"), nil, "NULL is nil")
   is(con:query("DO 0"), nil, "a statement without result")
   is(con:affected(), 0, "affected() of it")
   con:query("SELECT * FROM p WHERE id = 2")
   is(con:query("UPDATE p SET i = i WHERE id = 2"), nil,
      "an UPDATE that changes nothing")
   is(con:affected(), 0, "affected() of that")
end

local function procedures()
   con:query("CREATE PROCEDURE twice(a INT, b INT) " ..
      "BEGIN SELECT a, b; SELECT a + b AS total, a - b, 'x'; END")
   local rs = con:query("CALL twice(1, 2)")
   is(dump(rs), "1|2", "CALL: first result")
   is(dump(con:next_result()), "3|-1|x", "CALL: second result")
   local stmt = con:prepare("CALL twice(?, ?)")
   local a, b = stmt:bind_create(t.INT), stmt:bind_create(t.INT)
   stmt:bind_param(a, b)
   for n = 10, 11 do
      a:set(n)
      b:set(5)
      is(dump(stmt:execute()), n .. "|5", "prepared CALL: first result")
      rs = stmt:next_result()
      is(rs:column(1), "total", "prepared CALL: second result: name")
      is(dump(rs), (n + 5) .. "|" .. (n - 5) .. "|x",
         "prepared CALL: second result: row")
   end
   stmt:execute()
   is(con:query_row("SELECT 6"), "6", "unread results of a CALL are discarded")
   con:query("DROP PROCEDURE twice")
   con:query("CREATE PROCEDURE refuse(a INT) BEGIN SELECT a, 'x' AS b; " ..
      "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'; END")
   raises(function() con:query("CALL refuse(1)") end, "refused",
      "CALL: an error after a result")
   stmt = con:prepare("CALL refuse(?)")
   a = stmt:bind_create(t.INT)
   stmt:bind_param(a)
   for _ = 1, 2 do
      a:set(1)
      raises(function() stmt:execute() end, "refused",
         "prepared CALL: an error after a result")
   end
   is(con:query_row("SELECT 7"), "7", "the connection can be used after that")
   con:query("DROP PROCEDURE refuse")
end

local function calls_in_pipelines()
   con:query("CREATE PROCEDURE rows_of(n INT) BEGIN " ..
      "DECLARE i INT DEFAULT 0; WHILE i < n DO " ..
      "SET i = i + 1; UPDATE p SET i = 1 WHERE id = 1; " ..
      "SELECT i, n; END WHILE; END")
   for n = 0, 2 do
      con:pipeline_begin()
      con:query("SELECT 'before'")
      con:query("-- a comment\n /* another */ call rows_of(" .. n .. ")")
      con:query("SELECT 'between'")
      con:query("CALL`rows_of`(1)")
      con:query("SELECT 'after'")
      con:pipeline_send()
      is(dump(con:pipeline_next()), "before", "before a CALL in a pipeline")
      local rs = con:pipeline_next()
      for i = 1, n do
         is(dump(rs), i .. "|" .. n, "row " .. i .. " of a CALL with " .. n)
         rs = con:next_result()
      end
      is(rs, nil, "a CALL ends with a result without rows")
      is(dump(con:pipeline_next()), "between", "after a CALL with " .. n)
      con:pipeline_next()
      is(dump(con:pipeline_next()), "after", "its other results can be left")
      is(con:query_row("SELECT 8"), "8", "a query after that")
   end
   con:query("DROP PROCEDURE rows_of")
   con:query("CREATE PROCEDURE refuse() BEGIN SELECT 1; " ..
      "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'; END")
   con:pipeline_begin()
   con:query("CALL refuse()")
   con:query("UPDATE p SET i = 55 WHERE id = 1")
   con:pipeline_send()
   raises(function() con:pipeline_next() end, "refused",
      "a CALL in a pipeline fails after its first result")
   is(con:query_row("SELECT COUNT(*) FROM p WHERE i = 55"), "0",
      "statements after it are not executed")
   con:query("DROP PROCEDURE refuse")
end

local function quoting()
   local odd = "it's \\ \" \n \r \0 \26 äöü %_"
   is(con:query_row("SELECT " .. con:quote(odd)), odd,
      "quote() of special characters")
   local long = ("'\\"):rep(5000)
   is(con:query_row("SELECT " .. con:quote(long)), long,
      "quote() of a long text")
   con:query("SET sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES')")
   is(con:query_row("SELECT " .. con:quote("it's \\ x")), "it's \\ x",
      "quote() without backslash escapes")
   is(#con:query_row("SELECT " .. con:quote(long)), #long,
      "quote() of a long text without backslash escapes")
   con:reconnect()
end

local function errors()
   raises(function() con:query("SELECT * FROM nosuch") end,
      "prepare' command", "a table that does not exist")
   is(con.sql_errno, 1146, "sql_errno")
   is(ffi.string(con.sql_state), "42S02", "sql_state")
   raises(function() con:query("SELEC 1") end, "syntax", "a syntax error")
   local stmt = con:prepare("SELECT nosuch")
   raises(function() stmt:execute() end, "nosuch", "an error when preparing")
   is(con:query_row("SELECT 1"), "1", "the connection can be used after errors")
   con:query("BEGIN")
   con:query("INSERT INTO p (i) VALUES (77)")
   con:reset()
   is(con:query_row("SELECT COUNT(*) FROM p WHERE i = 77"), "0",
      "reset() rolls back")
   local other = sysbench.sql.driver():connect()
   other:query("CREATE TABLE rebuilt(a INT) ENGINE=InnoDB")
   con:query("START TRANSACTION WITH CONSISTENT SNAPSHOT")
   other:query("ALTER TABLE rebuilt ENGINE=InnoDB")
   local e = raises(function() con:query("SELECT * FROM rebuilt") end,
      "definition has changed", "a table that was rebuilt after the snapshot")
   is(e.errcode, sysbench.error.RESTART_EVENT, "restarts the event")
   con:reset()
   is(con:query("SELECT * FROM rebuilt").nrows, 0, "which then succeeds")
   other:query("DROP TABLE rebuilt")
   other:disconnect()
   local kept = con:prepare("SELECT 1 + ?")
   local n = kept:bind_create(t.INT)
   kept:bind_param(n)
   n:set(1)
   is(kept:execute():fetch_row()[1], "2", "a prepared statement")
   con:reconnect()
   n:set(2)
   is(kept:execute():fetch_row()[1], "3",
      "the statement can be used after a reconnect")
   con:query("CREATE TABLE changed (a INT)")
   con:query("INSERT INTO changed VALUES (1)")
   local all = con:prepare("SELECT * FROM changed")
   is(dump(all:execute()), "1", "SELECT * by a prepared statement")
   con:query("ALTER TABLE changed ADD b VARCHAR(9) DEFAULT 'new'")
   is(dump(all:execute()), "1|new", "SELECT * after a column was added")
   is(all:execute():column(2), "b", "the name of the new column")
   con:query("UPDATE changed SET b = NULL")
   con:query("ALTER TABLE changed MODIFY a DOUBLE, CHANGE b c DATE")
   con:query("UPDATE changed SET a = 0.5, c = '2024-02-29'")
   for i = 1, 2 do
      local rs = all:execute()
      is(dump(rs), "0.5|2024-02-29", "changed types, execution " .. i)
      is(rs:column(2), "c", "changed names, execution " .. i)
   end
   con:query("UPDATE changed SET a = NULL, c = NULL")
   is(dump(all:execute()), "NULL|NULL", "NULLs in changed columns")
   con:query("DROP TABLE changed")
end

local function pipeline()
   con:pipeline_begin()
   con:query("SELECT 1;")
   con:query("INSERT INTO p (i) VALUES (55), (56) -- two")
   con:query("SELECT i FROM p WHERE i IN (55, 56) ORDER BY i ; ")
   is(con:pipeline_send(), 3, "a pipeline of three")
   is(con:pipeline_next():fetch_row()[1], "1", "its first result")
   is(con:pipeline_next(), nil, "its second result has no rows")
   is(con:affected(), 2, "but affected() counts two rows")
   is(dump(con:pipeline_next()), "55\n56", "its third result")
   is(con:query_row("SELECT 7"), "7", "a query after a pipeline")
   raises(function()
      con:pipeline(function()
         con:query("DELETE FROM p WHERE i = 55")
         con:query("SELECT nosuch")
         con:query("DELETE FROM p WHERE i = 56")
      end)
   end, "nosuch", "a pipeline with an error")
   is(con:query_row("SELECT COUNT(*) FROM p WHERE i IN (55, 56)"), "1",
      "statements after the error are not executed")
   con:pipeline_begin()
   con:query("SELECT 1")
   con:query("SELECT 2")
   con:pipeline_send()
   is(con:query_row("SELECT 8"), "8",
      "unread results of a pipeline are discarded")
   for _, last in ipairs{"SELECT 3", "DO 1; SELECT 3", "UPDATE p SET i = 1"} do
      con:pipeline_begin()
      con:query("SELECT 1; SELECT 2")
      con:query(last)
      con:pipeline_send()
      con:pipeline_next()
      raises(function() con:pipeline_next() end, "must be one statement",
         "several statements in a text, then " .. last)
      is(con:query_row("SELECT 9"), "9", "a query after that")
   end
   local stmt = con:prepare("SELECT ? + 1, ?")
   local n, s = stmt:bind_create(t.INT), stmt:bind_create(t.VARCHAR, 20)
   stmt:bind_param(n, s)
   con:pipeline_begin()
   for i = 1, 3 do
      n:set(i)
      s:set("it's")
      stmt:execute()
   end
   con:pipeline_send()
   con:pipeline_next()
   con:pipeline_next()
   is(dump(con:pipeline_next()), "4|it's", "prepared statements in a pipeline")
end

local function loading()
   -- A worker of many users would block during LOAD DATA.
   local by_insert = os.getenv("SYSBENCH_WORKERS") ~= nil
   con:query("CREATE TABLE l (id INT PRIMARY KEY, d DOUBLE, s VARCHAR(100), " ..
      "b BLOB) CHARACTER SET utf8mb4")
   local odd = "tab\t line\n back\\ quote' \r \\N äöü"
   local all = {}
   for i = 0, 255 do
      all[i + 1] = string.char(i)
   end
   all = table.concat(all)
   local load = con:load("l", "id,d,s,b")
   for i = 1, 5000 do
      load:int(i)
      load:double(i / 3)
      if i % 2 == 0 then
         load:text(odd)
      else
         load:null()
      end
      load:text(all)
   end
   load:close()
   is(con:query_row("SELECT COUNT(*), SUM(id) FROM l"), "5000", "load: rows")
   is(con:query_row("SELECT COUNT(*) FROM l WHERE s IS NULL"), "2500",
      "load: NULLs")
   local _, s, b, d = con:query_row("SELECT id, s, b, d FROM l WHERE id = 1000")
   is(s, odd, "load: characters that need escaping")
   is(b, all, "load: every byte")
   is(tonumber(d), 1000 / 3, "load: doubles are exact")
   is(con:query_row("SELECT @@unique_checks + @@foreign_key_checks"), "2",
      "load: unique and foreign key checks are restored")
   local rows = con:query_row("SELECT COUNT(*) FROM l")
   raises(function()
      local again = con:load("l", "id,s")
      again:int(100000)
      again:text("new")
      again:int(1000)
      again:text("twice")
      again:close()
   end, "[Dd]uplicate", "load: a duplicate key")
   is(con:query_row("SELECT COUNT(*) FROM l"), rows,
      "load: a duplicate key undoes the load")
   raises(function()
      local long = con:load("l", "id,s")
      long:int(100001)
      long:text(("x"):rep(101))
      long:close()
   end, by_insert and "too long" or "truncated",
      "load: a value that is too long")
   is(con:query_row("SELECT COUNT(*) FROM l"), rows,
      "load: a value that is too long undoes the load")
   local given_up = con:load("l", "id,s")
   for i = 200001, 210000 do
      given_up:int(i)
      given_up:text("x")
   end
   given_up:close(false)
   -- INSERTs of 1,000 rows that were sent are committed.
   is(con:query_row("SELECT COUNT(*) FROM l"), by_insert and "14000" or rows,
      "load: close(false) undoes the load")
   raises(function()
      local none = con:load("nosuch", "id")
      none:int(1)
      none:close()
   end, "nosuch", "load: a table that does not exist")
   is(con:query_row("SELECT 9"), "9",
      "load: the connection can be used after errors")
end

-- Texts and bytes are stored unchanged, whatever the session's character set.
local function character_sets()
   local function hex(s)
      return (s:gsub(".", function(c)
         return ("%02X"):format(c:byte())
      end))
   end
   local texts = {sjis = "\131\092 \149\092\092", gbk = "\149\092",
      big5 = "\165\092\092", latin1 = "\228\255", utf8mb4 = "Käse\092"}
   local bytes = "\129\092\092 \129\t\240\n\129\0\27\27\240"
   for name, text in pairs(texts) do
      con:query("CREATE TABLE l2 (s TEXT, b BLOB) CHARACTER SET " .. name)
      local own = sysbench.sql.driver():connect{charset = name}
      local load = own:load("l2", "s,b")
      load:text(text)
      load:text(bytes)
      load:close()
      local s, b = con:query_row("SELECT HEX(s), HEX(b) FROM l2")
      is(s, hex(text), name .. ": load: a text")
      is(b, hex(bytes), name .. ": load: bytes")
      own:disconnect()
      con:query("DROP TABLE l2")
   end
end

function event()
   con = sysbench.sql.driver():connect()
   con:query("DROP TABLE IF EXISTS p, l, l2, types, changed")
   for _, name in ipairs{"twice", "refuse", "rows_of"} do
      con:query("DROP PROCEDURE IF EXISTS " .. name)
   end
   tap.run(function()
      like(con:server_info(), "^%w+ [%d.]+", "server_info()")
      for _, part in ipairs{types, both_ways, numbers, long_packets,
         parameters, types_of_parameters, results, procedures,
         calls_in_pipelines, quoting, errors, pipeline, loading,
         character_sets} do
         part()
      end
      con:query("DROP TABLE p, l")
   end)
   return 1
end
