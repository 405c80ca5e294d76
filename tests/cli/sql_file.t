SPDX-License-Identifier: GPL-2.0-or-later
Not with asan, tsan: the workload is written in Lua.

sql_file on SQLite: a file without Lua.

  $ [ -e "$SB_BUILDDIR/src/drivers/.libs/sqlite.so" ] || exit 80
  $ cat >points.sql <<'END'
  > -- @prepare
  > CREATE TABLE points (id INTEGER PRIMARY KEY, word VARCHAR(10));
  > -- @rows points(id, word) 300 = row(), string("word-##")
  > -- @finish
  > CREATE INDEX points_word ON points (word);
  > -- @param id = uniform(1, 300)
  > -- @param new = sequence("SELECT MAX(id) FROM points")
  > -- @event read 3
  > SELECT word FROM points WHERE id = :id;
  > -- @event replace 1
  > BEGIN IMMEDIATE;
  > DELETE FROM points WHERE id = :id;
  > INSERT INTO points VALUES (:id, 'new');
  > INSERT INTO points VALUES (:new, ':id');
  > COMMIT;
  > -- @check ids are positive
  > SELECT id FROM points WHERE id < 1;
  > -- @cleanup
  > DROP TABLE points;
  > END
  $ f() { sysbench sql_file --db-driver=sqlite --file=points.sql "$@"; }
  $ f --verbosity=1 prepare
  Executing 1 statement(s) of points.sql...
  Inserting 300 records into 'points'
  Prepared 1 table(s): 300 rows in * s (*), indexes in * s (glob)
  $ f --events=200 --time=0 --rand-seed=2 --report-operations run |
  >     awk '/^(read|replace)/ { print $1, $2, $NF }' | sort
  read 160 160
  replace 40 0
  replace.1 40 0
  replace.2 40 40
  replace.3 40 40
  replace.4 40 40
  replace.5 40 0
  $ sqlite3 sbtest.sqlite 'SELECT COUNT(*), MAX(id) FROM points'
  340|340
  $ sqlite3 sbtest.sqlite "SELECT COUNT(*) FROM points WHERE word = ':id'"
  40
  $ f --verbosity=1 check
  ids are positive: passed

Data that the check does not accept.

  $ sqlite3 sbtest.sqlite "INSERT INTO points VALUES (-5, '')"
  $ f --verbosity=1 check
  FATAL: points.sql:17: ids are positive: the statement returns a row: -5
  [1]
  $ f --verbosity=1 cleanup
  Executing 1 statement(s) of points.sql...

An error in the file names the line.

  $ echo 'SELECT :nosuch;' >>points.sql
  $ f --verbosity=1 run
  FATAL: points.sql:20: parameters such as :nosuch are only possible in @event
  [1]
  $ sed -i 's/@event read 3/@event read x/' points.sql
  $ f --verbosity=1 run
  FATAL: points.sql:8: the weight of @event read must be a number from 0 to 1000000000, not 'x'
  [1]

@rows cannot use a sequence after a query: its table need not exist yet.

  $ echo '-- @rows t(a) 5 = sequence("SELECT 7")' >rows.sql
  $ sysbench sql_file --db-driver=sqlite --file=rows.sql --verbosity=1 prepare
  FATAL: rows.sql:1: a sequence after the result of a query is only possible in @param
  [1]

If rows cannot be loaded or @finish fails, prepare executes @cleanup.

  $ cat >fails.sql <<'END'
  > -- @prepare
  > CREATE TABLE fails (a INTEGER NOT NULL UNIQUE);
  > -- @rows fails(a) 5000 = uniform(1, 1)
  > -- @cleanup
  > DROP TABLE nosuch;
  > DROP TABLE fails;
  > -- @event e
  > SELECT 1;
  > END
  $ fails() { sysbench sql_file --db-driver=sqlite --file=fails.sql --verbosity=1 \
  >     --threads=3 prepare >out 2>&1; echo $?; sqlite3 sbtest.sqlite .tables; }
  $ fails
  1
  $ grep -o 'UNIQUE constraint failed\|dropped what it had.*' out | sort -u
  UNIQUE constraint failed
  dropped what it had created: what @prepare creates
  $ sed -i 's/^-- @rows.*/-- @finish/; s/^-- @cleanup/CREATE INDEX i ON fails (b);\n&/' \
  >     fails.sql
  $ fails
  1

A table that existed before is not removed.

  $ sqlite3 sbtest.sqlite 'CREATE TABLE fails (a INTEGER)'
  $ fails
  1
  fails
  $ sqlite3 sbtest.sqlite 'DROP TABLE fails'

Many @rows.

  $ (printf -- '-- @event e\nSELECT 1;\n-- @prepare\nCREATE TABLE many (a INTEGER);\n'
  >     for i in $(seq 80); do echo "-- @rows many(a) $i = row()"; done) >many.sql
  $ sysbench sql_file --db-driver=sqlite --file=many.sql --threads=3 prepare >out 2>&1
  $ sqlite3 sbtest.sqlite 'SELECT COUNT(*), MAX(a) FROM many'
  3240|80

Values of other types, and NULL, in rows and in events.

  $ cat >values.sql <<'END'
  > -- @prepare
  > CREATE TABLE v (id INTEGER PRIMARY KEY, d TEXT, dt TEXT, u TEXT, p TEXT, w TEXT, n INTEGER);
  > -- @rows v(id, d, dt, u, p, w, n) 1000 = row(), date("2024-02-28", "2024-03-01"), datetime("1999-12-31", "2000-01-01"), uuid(), decimal(-0.05, 1.5, 2), text(2, 5), uniform(1, 9) null 0.25
  > -- @param id = sequence(1000)
  > -- @param d = date("2024-02-28", "2024-03-01")
  > -- @param dt = datetime("1999-12-31", "2000-01-01")
  > -- @param u = uuid()
  > -- @param p = decimal(-0.05, 1.5, 2)
  > -- @param w = text(2, 5)
  > -- @param n = uniform(1, 9) null 0.25
  > -- @event insert
  > INSERT INTO v VALUES (:id, :d, :dt, :u, :p, :w, :n);
  > END
  $ v() { sysbench sql_file --db-driver=sqlite --file=values.sql --rand-seed=7 "$@" >out 2>&1 || cat out; }
  $ v prepare
  $ v run --events=1000 --time=0
  $ sqlite3 sbtest.sqlite "SELECT id > 1000, COUNT(*), GROUP_CONCAT(DISTINCT d), MIN(dt) >= '1999-12-31 00:00:00',
  >     MAX(dt) <= '2000-01-01 23:59:59', MIN(LENGTH(dt)), COUNT(DISTINCT u),
  >     SUM(u GLOB '????????-????-4???-[89ab]???-????????????'), MIN(LENGTH(w)), MAX(LENGTH(w)),
  >     MIN(CAST(p AS REAL)) >= -0.05, MAX(CAST(p AS REAL)) <= 1.5, SUM(p GLOB '*.[0-9][0-9]'),
  >     SUM(n IS NULL) BETWEEN 200 AND 300, MIN(n), MAX(n)
  >     FROM (SELECT * FROM v ORDER BY id > 1000, d) GROUP BY id > 1000"
  0|1000|2024-02-28,2024-02-29,2024-03-01|1|1|19|1000|1000|2|5|1|1|1000|1|1|9
  1|1000|2024-02-28,2024-02-29,2024-03-01|1|1|19|1000|1000|2|5|1|1|1000|1|1|9
  $ sqlite3 sbtest.sqlite 'DROP TABLE v'

A folder is no file.

  $ sysbench sql_file --db-driver=sqlite --file=/ run 2>&1 | grep FATAL
  FATAL: --file: /: Is a directory

Errors in them.

  $ for value in 'date("2023-02-29", "2024-01-01")' 'date("2024-01-02", "2024-01-01")' 'text(5)' \
  >     'decimal(1, 2)' 'uuid(4)' 'uniform(1, 2) null 7'
  > do
  >     printf -- '-- @param x = %s\n-- @event e\nSELECT :x;\n' "$value" >values.sql
  >     sysbench sql_file --db-driver=sqlite --file=values.sql run 2>&1 | sed -n 's/^FATAL: //p'
  > done
  values.sql:1: date("2023-02-29", "2024-01-01"): '2023-02-29' is not a date such as 2026-01-31
  values.sql:1: date("2024-01-02", "2024-01-01"): two dates are required, the earlier one first, as in ("2026-01-01", "2026-12-31")
  values.sql:1: text(5): the minimum and the maximum length are required, as in (1, 20); at most 65536
  values.sql:1: decimal(1, 2): a minimum, a maximum and the number of digits after the point are required, as in (0.01, 99.99, 2); at most 15 digits
  values.sql:1: uuid(4): it has no arguments
  values.sql:1: the share after null must be a number from 0 to 1, not '7'
