SPDX-License-Identifier: GPL-2.0-or-later
Not with asan, tsan: the workload is written in Lua.

The workload ddl on SQLite, where schemas are prefixes of names.

  $ [ -e "$SB_BUILDDIR/src/drivers/.libs/sqlite.so" ] || exit 80
  $ ddl() { sysbench ddl --db-driver=sqlite --sqlite-busy-timeout=600 --schemas=3 \
  >     --tables-per-schema=5 "$@"; }
  $ run() { ddl "$@" run >out 2>err || cat err; }
  $ last() { sed -n '/^ddl:/{s/in [0-9.]* s ([0-9]* per second)/in T/g; p; }' out; }
  $ tables() { sqlite3 sbtest.sqlite "SELECT COUNT(*) FROM sqlite_master
  >     WHERE type = 'table'"; }
  $ op() { awk -v name="$1" '$1 == name { print $1, $2 }' out; }

A round: all tables are created, and then dropped.

  $ run --threads=4 --report-operations --time=0
  $ last
  ddl: 15 tables created in T, 15 tables dropped in T
  $ op create_table
  create_table 15
  $ op drop_table
  drop_table 15
  $ grep 'total number of events' out
      total number of events:              30
  $ ddl check --verbosity=1
  ddl: no table exists
  $ run --threads=4 --warmup-time=100 --time=0
  $ last
  ddl: 15 tables created in T, 15 tables dropped in T
  $ run --threads=4 --rounds=20 --time=0
  $ last
  ddl: 600 statements; 20 rounds of 30 statements are complete

SQLite reports error 17 if other users change the schema while it compiles a statement.
The event restarts.

  $ for i in 1 2 3 4 5 6 7 8; do
  >    sysbench ddl --sqlite-db=schema$i.sqlite --schemas=3 \
  >        --tables-per-schema=30 --threads=2 run >out 2>err || cat err
  > done

A step begins when all statements of the one before are finished, also if it has many
and one takes long.

  $ cat >slow.lua <<'END'
  > dofile(os.getenv("SB_SRCDIR") .. "/tests/lua/ddl.lua")
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned);")
  > local begun, ended = sysbench.sequence("begun"), sysbench.sequence("ended")
  > local early, own = sysbench.sequence("early"), sysbench.op
  > function sysbench.op(name)
  >    local op = own(name)
  >    return {
  >       start = function()
  >          if name == "drop_table" and ended:last() == 0 then
  >             early:next()
  >          end
  >          if name == "create_table" and begun:next() == 1 then
  >             ffi.C.usleep(2e6)
  >             ended:next()
  >          end
  >          return op:start()
  >       end,
  >       finish = function(_, token) op:finish(token) end,
  >    }
  > end
  > function init() end
  > function done()
  >    print("early", early:last(), "ended", ended:last(), "begun", begun:last())
  > end
  > END
  $ sysbench slow.lua --db-driver=null --schemas=1 --tables-per-schema=20000 \
  >     --threads=2 --time=0 --report=none run 2>/dev/null
  early\t0\tended\t1\tbegun\t20000 (esc)

The null driver stores nothing: neither ddl nor the command check of any workload has
a meaning.

  $ for command in prepare run cleanup; do
  >     sysbench ddl --db-driver=null --verbosity=1 $command 2>&1 | grep -o 'ddl requires.*'
  > done | uniq -c
        3 ddl requires a database; the null driver stores no data
  $ for workload in ddl crud json ycsb failover tpcc iibench oltp_read_write oltp_0_4; do
  >     sysbench $workload --db-driver=null --verbosity=1 check 2>&1
  > done | uniq -c
        9 FATAL: the command check requires a database; the null driver stores no data

A run begins with what exists.

  $ ddl prepare --threads=3 --verbosity=1
  Creating 15 tables in 3 schemas...
  $ ddl check --verbosity=1
  ddl: all 15 tables exist and can be used
  $ run --threads=2
  $ last
  ddl: 15 tables dropped in T, 15 tables created in T
  $ run --phases=drop
  $ last
  ddl: 15 tables dropped in T
  $ tables
  0
  $ run --phases=create --threads=3 --unique-keys=3
  $ last
  ddl: 15 tables created in T
  $ sqlite3 sbtest.sqlite "SELECT COUNT(*) FROM pragma_index_list('ddl2_t5')"
  3

A run that ends early leaves tables. Neither check nor another run accepts them.

  $ run --phases=drop --events=10 --time=0
  $ last
  ddl: 10 statements; 0 rounds of 15 statements are complete
  $ ddl check --verbosity=1
  FATAL: ddl: only 5 of 15 tables exist; the first that is missing is ddl1_t1
  [1]
  $ run
  FATAL: ddl: only 5 of 15 tables exist; the first that is missing is ddl1_t1
  $ ddl cleanup --verbosity=1
  Dropping 5 tables...
  $ tables
  0

Tables that are not those of this workload are not touched.

  $ ddl prepare --verbosity=1
  Creating 15 tables in 3 schemas...
  $ ddl prepare --verbosity=1 --threads=2
  FATAL: ddl: the tables exist already; use the command cleanup
  [1]
  $ ddl run --phases=create --verbosity=1
  FATAL: ddl: the tables exist already; --phases must begin with drop, or use the command cleanup
  [1]
  $ sqlite3 sbtest.sqlite 'CREATE TABLE ddl2_total(id INTEGER)'
  $ ddl cleanup --verbosity=1
  FATAL: ddl: the schema ddl2 contains 'total', which is not one of its 5 tables
  [1]
  $ sqlite3 sbtest.sqlite 'DROP TABLE ddl2_total;
  >     INSERT INTO ddl3_t2 (id, k1, c, pad) VALUES (7, 7, 1, 1)'
  $ ddl check --verbosity=1
  FATAL: ddl3_t2: the table must be empty, but has 1 rows
  [1]
  $ ddl cleanup --verbosity=1
  Dropping 15 tables...
  $ ddl run --phases=drop --verbosity=1
  FATAL: ddl: there are no tables to drop; use the command prepare
  [1]

A prepare that fails drops what it has created.

  $ sqlite3 sbtest.sqlite 'CREATE TABLE x(i); CREATE INDEX ddl3_t5 ON x(i)'
  $ ddl prepare --verbosity=1 2>&1 | sed 's/created: .*/created: .../'
  Creating 15 tables in 3 schemas...
  prepare: dropped what it had created: ...
  FATAL: there is already an index named ddl3_t5
  $ tables
  1
  $ sqlite3 sbtest.sqlite 'DROP TABLE x'

Changes of a table beside a workload that uses it. The table is left as it was, also in
the middle of a cycle.

  $ ddl run --action=alter --verbosity=1 2>&1 | sed 's/^FATAL: //'
  table 'sbtest1' does not exist: create it with: sysbench oltp_read_write --tables=1 --db-driver=sqlite --sqlite-busy-timeout=600 prepare
  $ sysbench oltp_read_write --db-driver=sqlite --table-size=100 prepare >/dev/null
  $ for events in 1 2 3 4 7; do
  >     run --action=alter --pause=0 --events=$events --time=0 --report-operations
  >     op add_column
  >     ddl check --action=alter --verbosity=1
  > done
  add_column 1
  ddl: all tables (1) are as they were
  add_column 1
  ddl: all tables (1) are as they were
  add_column 1
  ddl: all tables (1) are as they were
  add_column 1
  ddl: all tables (1) are as they were
  add_column 2
  ddl: all tables (1) are as they were
  $ sysbench --mix=ddl:1,oltp_read_write:2 --mix-by=users --threads=3 --time=1 \
  >     --ddl.action=alter --ddl.pause=0.05 --db-driver=sqlite --table-size=100 \
  >     --sqlite-busy-timeout=600 run >out 2>err || cat err
  $ awk '/^Workload/ { on = 1 } on && /^(ddl|oltp_read_write) / { print $1, ($2 > 0) }' out
  ddl 1
  oltp_read_write 1
  $ ddl check --action=alter --verbosity=1
  ddl: all tables (1) are as they were

What a killed run leaves.

  $ sqlite3 sbtest.sqlite 'ALTER TABLE sbtest1 ADD COLUMN ddl_column INTEGER'
  $ ddl check --action=alter --verbosity=1
  FATAL: sbtest1: there is a column ddl_column, left by a run; the command cleanup drops it
  [1]
  $ sqlite3 sbtest.sqlite 'CREATE INDEX ddl_sbtest1 ON sbtest1(pad)'
  $ ddl run --action=alter --verbosity=1
  FATAL: sbtest1: there is an index ddl_sbtest1 on pad, left by a run or not created by this workload; the command cleanup drops ddl_sbtest1
  [1]
  $ ddl cleanup --action=alter --verbosity=1
  Dropping index 'ddl_sbtest1' of 'sbtest1'...
  Dropping column 'ddl_column' of 'sbtest1'...
  $ ddl check --action=alter --verbosity=1
  ddl: all tables (1) are as they were

Errors.

  $ ddl run --action=alter --threads=2 --verbosity=1 2>&1 | sed 's/^FATAL: //'
  ddl: each user changes a table of its own, so 2 or more users need as many tables (--tables)
  $ ddl prepare --action=alter --verbosity=1
  FATAL: ddl: --action=alter has no command prepare; the tables are those of another workload
  [1]
  $ bad() { ddl "$@" run --verbosity=1 2>&1 | sed 's/^FATAL: //'; }
  $ bad --phases=drop,drop
  --phases must be create, drop, or both once, not 'drop,drop'
  $ bad --phases=create --rounds=2
  --phases=create can have one round only (--rounds=1)
  $ bad --action=rename
  --action must be tables or alter, not 'rename'
  $ bad --schema-name=X
  --schema-name must consist of lower case letters, digits and '_', and begin with a letter, not 'X'
  $ bad --schemas=0
  --schemas must be from 1 to 100000, not 0
