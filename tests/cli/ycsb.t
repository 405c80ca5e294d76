SPDX-License-Identifier: GPL-2.0-or-later
Not with asan, tsan: the workload is written in Lua.

ycsb on SQLite.

  $ [ -e "$SB_BUILDDIR/src/drivers/.libs/sqlite.so" ] || exit 80
  $ y() { sysbench ycsb --db-driver=sqlite --table-size=500 --verbosity=1 "$@"; }
  $ y prepare
  Creating table 'usertable'...
  Inserting 500 records into 'usertable'
  Prepared 1 table(s): 500 rows in * indexes in * s (glob)

The operations have their names from YCSB. A seed gives the same operations again.

  $ run() { y --verbosity=3 --events=1000 --time=0 --rand-seed=3 --report-operations "$@" run |
  >     awk '/^(READ|UPDATE|INSERT|SCAN)/ { print $1, $2, $NF }'; }
  $ run --workload=f
  READ-MODIFY-WRITE 521 0
  READ 1000 1000
  UPDATE 521 521
  $ run --workload=f
  READ-MODIFY-WRITE 521 0
  READ 1000 1000
  UPDATE 521 521
  $ run --workload=e --max-scan-length=1
  SCAN 947 947
  INSERT 53 53
  $ y check
  usertable: 553 records, all correct; 53 of them were inserted by runs

With hashed keys, the last record is not the one with the greatest key, so
tables with ordered keys look different.

  $ y --insert-order=ordered check
  FATAL: usertable: record 0 is missing, its key is user0 (with --insert-order=ordered)
  [1]
  $ y cleanup
  Dropping 'usertable'...
  $ y run
  FATAL: 'usertable' does not exist: create it with: sysbench ycsb --db-driver=sqlite --table-size=500 prepare
  [1]

A missing record of prepare is noticed among those that runs inserted after it.

  $ z() { sysbench ycsb --db-driver=sqlite --sqlite-db=z.sqlite --table-size=600 \
  >     --insert-order=ordered --verbosity=1 "$@"; }
  $ z prepare >/dev/null
  $ z --read-proportion=0 --update-proportion=0 --insert-proportion=1 --time=0 \
  >     --events=50 run
  $ sqlite3 z.sqlite "DELETE FROM usertable WHERE YCSB_KEY = 'user550'"
  $ z check
  FATAL: usertable: record 550 is missing, its key is user550 (with --insert-order=ordered)
  [1]

One sentence for each error in the options.

  $ y --workload=h run
  FATAL: --workload must be a, b, c, d, e or f, not 'h'
  [1]
  $ y --field-count=0 prepare
  FATAL: --field-count must be from 1 to 500, not 0
  [1]
