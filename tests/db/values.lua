-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Values of all column types as scripts see them: the same by a text and by a
-- prepared statement. tests/db/test_values runs it in each mode of the drivers.
-- It prints TAP, and each value on a line of its own, so that the modes can be
-- compared.

local drv = sysbench.sql.driver()
local con
local count = 0

local texts = { "''", "'a'", "' a '", "'x''y'", "'0'", "'1e3'" }
local ints = function(low, high)
   return { low, high, "0", "-1", "1", "NULL" }
end

-- Columns: the type, and literals to insert.
local mysql = {
   { "TINYINT", ints("-128", "127") },
   { "TINYINT UNSIGNED", { "0", "255" } },
   { "TINYINT(1)", { "0", "1", "-1", "NULL" } },
   { "SMALLINT", ints("-32768", "32767") },
   { "SMALLINT UNSIGNED", { "0", "65535" } },
   { "MEDIUMINT", ints("-8388608", "8388607") },
   { "MEDIUMINT UNSIGNED", { "0", "16777215" } },
   { "INT", ints("-2147483648", "2147483647") },
   { "INT UNSIGNED", { "0", "4294967295" } },
   { "INT(8) ZEROFILL", { "0", "42", "4294967295", "NULL" } },
   { "BIGINT", ints("-9223372036854775808", "9223372036854775807") },
   { "BIGINT", { "9007199254740991", "9007199254740993",
      "-9007199254740993" } },
   { "BIGINT UNSIGNED", { "0", "9223372036854775808",
      "18446744073709551615" } },
   { "BIGINT(20) ZEROFILL", { "0", "7", "18446744073709551615" } },
   { "DECIMAL(65,30)", { "0", "-0.1", "12345678901234567890123456789012345.5",
      "-99999999999999999999999999999999999.999999999999999999999999999999" } },
   { "DECIMAL(10,0)", { "0", "-9999999999", "9999999999" } },
   { "DECIMAL(30,30)", { "0", "0.000000000000000000000000000001", "-0.5" } },
   { "DECIMAL(8,2) ZEROFILL", { "0", "1.5", "999999.99" } },
   { "FLOAT", { "0", "0.1", "-0.1", "3.40282e38", "-3.40282e38", "1.17549e-38",
      "16777216", "1e10", "1e15", "123456.7", "NULL" } },
   { "FLOAT(7,3)", { "0", "1.5", "-9999.999", "0.001" } },
   { "FLOAT(10,0)", { "0", "16777216", "-5" } },
   { "DOUBLE", { "0", "0.1", "-0.1", "1.7976931348623157e308", "5e-324",
      "2.2250738585072014e-308", "1e15", "1e16", "1e17", "123456789012345680",
      "0.30000000000000004", "NULL" } },
   { "DOUBLE(10,2)", { "0", "12345678.91", "-0.01" } },
   { "DOUBLE(8,3) ZEROFILL", { "0", "1.5" } },
   { "BIT(1)", { "b'0'", "b'1'", "NULL" } },
   { "BIT(8)", { "b'0'", "b'11111111'", "b'1010'" } },
   { "BIT(64)", { "b'0'", "0xffffffffffffffff", "0x0102030405060708" } },
   { "DATE", { "'0000-00-00'", "'1000-01-01'", "'2024-02-29'", "'9999-12-31'",
      "'2024-00-00'", "NULL" } },
   { "TIME", { "'00:00:00'", "'-838:59:59'", "'838:59:59'", "'-00:00:01'" } },
   { "TIME(3)", { "'00:00:00'", "'-00:00:00.001'", "'12:34:56.7'",
      "'100:00:00.1'" } },
   { "TIME(6)", { "'00:00:00'", "'-00:00:00.000001'", "'838:59:58.999999'" } },
   { "DATETIME", { "'0000-00-00 00:00:00'", "'1000-01-01 00:00:00'",
      "'2024-02-29 12:34:56'", "'9999-12-31 23:59:59'", "NULL" } },
   { "DATETIME(1)", { "'2024-02-29 12:34:56.7'", "'2024-02-29 12:34:56'" } },
   { "DATETIME(6)", { "'2024-02-29 00:00:00'", "'2024-02-29 12:34:56.000001'",
      "'0000-00-00 00:00:00'", "'9999-12-31 23:59:59.999999'" } },
   { "TIMESTAMP NULL", { "'1970-01-02 00:00:01'", "'2038-01-18 03:14:07'",
      "NULL" } },
   { "TIMESTAMP(6) NULL", { "'2001-02-03 04:05:06.789'",
      "'2038-01-18 03:14:07.999999'" } },
   { "YEAR", { "0", "1901", "2155", "NULL" } },
   { "CHAR(5)", texts },
   { "VARCHAR(20)", texts },
   { "VARCHAR(20) CHARACTER SET latin1", { "'a'", "_latin1 x'e4f6fc'" } },
   { "VARCHAR(20) CHARACTER SET ucs2", { "'a'", "_utf8'\195\164'" } },
   { "BINARY(4)", { "''", "'a'", "x'00ff0041'" } },
   { "VARBINARY(20)", { "''", "x'00'", "x'00ff0041'", "x'27225c0a0d1a'" } },
   { "TINYTEXT", texts }, { "TEXT", texts }, { "LONGTEXT", texts },
   { "BLOB", { "''", "x'00'", "x'00ff0041'", "REPEAT('x', 70000)", "NULL" },
      "MEDIUMBLOB" },
   { "ENUM('a','b','')", { "'a'", "''", "NULL" } },
   { "SET('a','b')", { "''", "'a'", "'a,b'", "NULL" } },
   { "JSON", { "'{\"a\": [1, 2.50, null]}'", "'\"x\"'", "NULL" }, "JSON",
      "optional" },
   { "POINT", { "ST_GeomFromText('POINT(1 2)')" }, "POINT", "optional" },
   { "INET6", { "'::1'", "'ffff::1.2.3.4'" }, "INET6", "optional" },
   { "UUID", { "'123e4567-e89b-12d3-a456-426655440000'" }, "UUID", "optional" },
   { "VECTOR(2)", { "0x0000803f00000040" }, "VECTOR(2)", "optional" },
}

local pgsql = {
   { "smallint", ints("-32768", "32767") },
   { "integer", ints("-2147483648", "2147483647") },
   { "bigint", ints("-9223372036854775808", "9223372036854775807") },
   { "bigint", { "9007199254740991", "9007199254740993",
      "-9007199254740993" } },
   { "numeric", { "0", "-0.1", "'NaN'", "1e100", "1e-100", "0.50", "100",
      "NULL",
      "12345678901234567890123456789.123456789" } },
   { "numeric(10,3)", { "0", "-0.1", "1234567.891" } },
   { "real", { "0", "'-0'", "0.1", "3.4028235e38", "1.17549435e-38", "1e-45",
      "'NaN'",
      "'Infinity'", "'-Infinity'", "16777216", "1e10", "1e15", "NULL" } },
   { "double precision", { "0", "'-0'", "0.1", "0.30000000000000004", "5e-324",
      "1.7976931348623157e308", "'NaN'", "'Infinity'", "'-Infinity'", "1e15",
      "1e16",
      "1e17", "NULL" } },
   { "boolean", { "true", "false", "NULL" } },
   { "char(5)", texts }, { "varchar(20)", texts }, { "text", texts },
   { '"char"', { "'a'", "''" } },
   { "name", texts },
   { "bytea", { "''", "'\\x00'", "'\\x00ff0041275c'", "NULL" } },
   { "date", { "'infinity'", "'-infinity'", "'4713-01-01 BC'", "'2024-02-29'",
      "'5874897-12-31'", "NULL" } },
   { "time", { "'00:00'", "'24:00'", "'12:34:56.789'" } },
   { "time with time zone", { "'00:00+00'", "'12:34:56.789+05:30'" } },
   { "timestamp", { "'infinity'", "'-infinity'", "'2024-02-29 12:34:56.000001'",
      "'4713-01-01 00:00 BC'", "'294276-12-31 23:59:59.999999'" } },
   { "timestamp(0)", { "'2024-02-29 12:34:56'" } },
   { "timestamp with time zone", { "'infinity'", "'2024-02-29 12:34:56+02'",
      "NULL" } },
   { "interval", { "'0'", "'1 year 2 months -3 days 04:05:06.7'",
      "'-1 second'" } },
   { "uuid", { "'123e4567-e89b-12d3-a456-426655440000'" } },
   { "json", { "'{\"a\": [1, 2.50, null]}'" } },
   { "jsonb", { "'{\"a\": [1, 2.50, null]}'" } },
   { "inet", { "'10.0.0.1/8'", "'::1'" } }, { "cidr", { "'10.0.0.0/8'" } },
   { "macaddr", { "'08:00:2b:01:02:03'" } },
   { "bit(3)", { "B'101'" } }, { "varbit", { "B''", "B'1010101010'" } },
   { "money", { "'-92233720368547758.08'", "'1.5'" } },
   { "oid", { "0", "4294967295" } },
   { "integer[]", { "'{}'", "'{1,NULL,-3}'", "'{{1,2},{3,4}}'" } },
   { "text[]", { "'{a,\"b c\",NULL}'" } },
   { "point", { "'(1.5,-2)'" } }, { "int4range", { "'[1,5)'", "'empty'" } },
   { "tsvector", { "'a fat cat'" } }, { "pg_lsn", { "'16/B374D848'" } },
   { "xid", { "'4294967295'" } }, { "regclass", { "'pg_class'" } },
}

local sqlite = {
   { "INTEGER", ints("-9223372036854775808", "9223372036854775807") },
   { "REAL", { "0", "0.1", "1e308", "5e-324", "1e15", "1e17", "9e999",
      "NULL" } },
   { "TEXT", texts }, { "BLOB", { "x''", "x'00ff0041'", "NULL" } },
   { "NUMERIC", { "1", "1.5", "'a'" } },
}

local function check(good, what)
   count = count + 1
   print((good and "ok " or "not ok ") .. count .. " - " .. what)
end

-- The Lua type and value; bytes other than printable ones as \ddd.
local function shown(v)
   if v == nil then return "nil" end
   local s = tostring(v)
   if #s > 200 then s = #s .. " bytes" end
   return type(v) .. " " .. s:gsub("[^\32-\126]", function(c)
      return ("\\%03d"):format(c:byte())
   end)
end

local function read(rs)
   local all = {}
   for i = 1, rs.nrows do
      local row = rs:fetch_row()
      all[i] = shown(row[2])
   end
   rs:free()
   return all
end

local function compare(kind, literals, declared, optional)
   con:query("DROP TABLE IF EXISTS sbvalues")
   local made, why = pcall(con.query, con, "CREATE TABLE sbvalues(id INT, v " ..
      (declared or kind) .. ")")
   if not made then
      if not optional then check(false, kind .. ": " .. tostring(why)) end
      return
   end
   for i, literal in ipairs(literals) do
      local stored, wrong = pcall(con.query, con,
         ("INSERT INTO sbvalues VALUES (%d, %s)"):format(i, literal))
      if not stored then check(false, kind .. ": " ..
         tostring(wrong.sql_errmsg or wrong)) end
   end
   local select = "SELECT id, v FROM sbvalues ORDER BY id"
   local text = read(con:query(select))
   local statement = con:prepare(select)
   local prepared = read(statement:execute())
   local again = read(statement:execute())
   statement:close()
   for i, literal in ipairs(literals) do
      local what = ("%s %s"):format(kind, shown(literal))
      print(("# value: %s: %s"):format(what, tostring(text[i])))
      check(text[i] == prepared[i] and text[i] == again[i], what ..
         ": the same, " ..
         "prepared or not")
      if text[i] ~= prepared[i] or text[i] ~= again[i] then
         print(("# text %s, prepared %s, %s"):format(tostring(text[i]),
            tostring(prepared[i]), tostring(again[i])))
      end
   end
   con:query("DROP TABLE sbvalues")
end

function thread_init()
   con = drv:connect()
   local name = drv:name()
   if name == "mysql" then
      con:query("SET sql_mode = '', time_zone = '+00:00'")
   end
   for statement in (os.getenv("VALUES_INIT") or ""):gmatch("[^;]+") do
      con:query(statement)
   end
   for _, column in ipairs(({ mysql = mysql, pgsql = pgsql,
      sqlite = sqlite })[name]) do
      compare(column[1], column[2], column[3], column[4])
   end
   print("1.." .. count)
end

function event() end
