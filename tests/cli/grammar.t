SPDX-License-Identifier: GPL-2.0-or-later
Not with asan, tsan: the workload is written in Lua.

grammar on SQLite: random queries from a grammar file.

  $ [ -e "$SB_BUILDDIR/src/drivers/.libs/sqlite.so" ] || exit 80
  $ g() { sysbench grammar --db-driver=sqlite --table-size=300 --verbosity=1 "$@"; }
  $ g prepare
  Creating table 'sbtest1'...
  Inserting 300 records into 'sbtest1'
  Creating a secondary index on 'sbtest1'...
  Prepared 1 table(s): 300 rows in * indexes in * s (glob)

The examples. No SELECT of the first one fails. A seed gives the same queries again.

  $ sum() { awk '/^statements(_failed)? / { print $1, $2 }'; }
  $ g --verbosity=3 --events=400 --time=0 --threads=2 run 2>errors | sum
  statements_failed 0
  statements 400
  $ g --events=50 generate >first
  $ g --events=50 --rand-seed=1 generate | cmp - first
  $ g --events=50 --rand-seed=2 generate | cmp -s - first
  [1]
  $ g --query=0:4 generate >fourth; sed -n 4p first | cmp - fourth
  $ g --grammar=dml --events=60 --time=0 --failed-log=failed --trace=trace run 2>errors
  $ g --grammar=dml --events=60 generate | tr ';' '\n' | grep -c ' *[A-Z]' >generated
  $ grep -c . trace | cmp - generated
  $ g check
  "sbtest1": no errors
  $ g --grammar=dml cleanup
  Dropping table 'sbtest1'...
  $ sqlite3 sbtest.sqlite .tables

A statement that fails is logged with its query, which can be executed again.

  $ cat >g.yy <<'END'
  > query: [3] SELECT number | broken ;
  > number: _digit ;
  > broken: SELECT 1 ; SELECT _letter FROM NOWHERE ; SELECT number ;
  > spare: SELECT 2 ;
  > END
  $ g --grammar=g.yy --verbosity=2 --events=20 --time=0 --failed-log=failed.g run 2>errors
  $ sed -n 1p errors
  WARNING: g.yy:4: the rule 'spare' is not used
  $ sed -n 1p failed.g
  Failed: query 0:*, seed 1, statement 2: error 1, state '42S02': no such table: NOWHERE: SELECT * FROM NOWHERE (glob)
  $ query=$(sed -n '1s/^Failed: query \([^,]*\).*/\1/p' failed.g)
  $ g --grammar=g.yy --threads=3 --query=$query --failed-log=again run >out 2>errors
  $ sed -n 1p failed.g | cmp - again
  $ cut -c 1-6 out
  SELECT
  SELECT
  SELECT
  $ g --grammar=g.yy --query=$query --max-depth=5 run
  FATAL: --query=0:*: the grammar, the tables, the options or the seed are not those of this query (checksum *) (glob)
  [1]

--stop-on ends the run. The command that the message contains repeats the query.

  $ g --grammar=g.yy --threads=2 --time=10 --events=0 --report=json=r.json --stop-on=42S02 run >out 2>&1
  [1]
  $ sed -n "s/^To execute query .* again: sysbench grammar/g/p" out | head -n 1 >command
  $ grep -c -- ' --stop-on=42S02 --time=0 --rand-seed=1 --query=[01]:[0-9]*:[0-9a-f]* run$' command
  1
  $ . ./command 2>&1 | grep -c '^FATAL: --stop-on: error 1, state .42S02.: no such table'
  1

All queries of a user. A run that ends before the last one says so.

  $ echo 'query: SELECT _int, _text ;' >ok.yy
  $ g --grammar=ok.yy --query=1:1-12 generate >twelve
  $ g --grammar=ok.yy --query=1:1-12 --time=0 run | cmp - twelve
  $ g --grammar=ok.yy --query=1:1-12 --events=5 --verbosity=2 run 2>&1 >out
  WARNING: --query=1:1-12: the run ended before query 6; --time=0 --events=0 executes all
  $ head -n 5 twelve | cmp - out

Users write whole lines to the log, however long the statements are.

  $ echo "query: SELECT X FROM NOWHERE WHERE {_string(\"$(printf '%09000d' 0)\")} = 'END';" >long.yy
  $ g --grammar=long.yy --threads=4 --events=300 --time=0 --failed-log=long run >out 2>&1
  $ grep -c "^Failed: query .*0' = 'END'$" long; grep -c . long
  300
  300

Queries of grammars with alternatives for one database are not those of another.

  $ echo "query: [mysql] SELECT 1 | SELECT 2;" >both.yy
  $ sum=$(g --grammar=both.yy --stop-on=any --query=0:1:00000000 run 2>&1 | sed -n 's/.*(checksum \(.*\))/\1/p')
  $ g --grammar=both.yy --stop-on=any --query=0:1:$sum run
  SELECT 2;
  $ sysbench grammar --db-driver=null --grammar=both.yy --table-size=300 --verbosity=1 --query=0:1:$sum run
  FATAL: --query=0:1:*: the grammar, the tables, the options or the seed are not those of this query (checksum *) (glob)
  [1]

Statements of query_init are query 0.

  $ echo 'query: SELECT 1; query_init: SELECT _letter, _digit FROM NOWHERE;' >init.yy
  $ g --grammar=init.yy --threads=2 --events=0 --time=1 --failed-log=failed.init run 2>errors
  $ cut -d : -f 1-3 failed.init | sort
  Failed: query 0:0
  Failed: query 1:0
  $ query=$(sed -n '1s/^Failed: query \([^,]*\).*/\1/p' failed.init)
  $ g --grammar=init.yy --query=$query --failed-log=again.init run >out 2>errors
  $ sed -n 1p failed.init | cmp - again.init
  $ g --grammar=init.yy --query=$query generate | cmp - out

The check fails if an index does not contain its rows.

  $ g prepare >prepared
  $ sqlite3 -cmd ".dbconfig defensive off" sbtest.sqlite "PRAGMA writable_schema = ON;
  >     UPDATE sqlite_master SET sql = 'CREATE INDEX k_1 ON sbtest1(id)' WHERE name = 'k_1'" >catalog
  $ g check
  FATAL: table "sbtest1": row 1 missing from index k_1
  [1]

Errors.

  $ echo 'query: SELECT nosuch;' >bad.yy
  $ g --grammar=bad.yy run
  FATAL: bad.yy:1: 'nosuch' is neither a rule nor declared by %token
  [1]
  $ g --grammar=nosuch run
  FATAL: --grammar: nosuch: No such file or directory
  [1]
  $ g --start=nosuch run
  FATAL: select: there is no rule 'nosuch'
  [1]
  $ g --sqlite-db=empty.sqlite run
  FATAL: there are no tables that match %tables sbtest*; to create those of the examples: sysbench grammar --db-driver=sqlite --table-size=300 --sqlite-db=empty.sqlite prepare
  [1]
  $ g --rand-seed=0 run
  FATAL: --rand-seed must not be 0: the log of failed statements contains the seed
  [1]
  $ g --max-depth=0 run
  FATAL: --max-depth must be from 1 to 200, not 0
  [1]
