SPDX-License-Identifier: GPL-2.0-or-later
Not with asan, tsan: the workload is written in Lua.

ingest on SQLite.

  $ [ -e "$SB_BUILDDIR/src/drivers/.libs/sqlite.so" ] || exit 80
  $ ingest() { sysbench ingest --db-driver=sqlite --tables=2 \
  >     --sqlite-busy-timeout=600 "$@"; }
  $ ingest --verbosity=1 prepare
  Creating table 'ingest1'...
  Creating table 'ingest2'...
  Creating a secondary index on 'ingest1'...
  Creating a secondary index on 'ingest2'...
  Prepared 2 table(s): 0 rows in * indexes in * s (glob)

An event is a batch. The seed decides which table gets it.

  $ run() { ingest --events=40 --time=0 --rand-seed=3 --report-operations "$@" run |
  >     awk '/^(batch|insert|begin|commit|Rows)/ { print $1, $2, $1 == "Rows" ? $3 : $NF }'; }
  $ run --method=multi-row
  batch 40 0
  insert 40 2000
  Rows inserted: 2000
  $ run --method=multi-row --batch-size=10
  batch 40 0
  insert 40 400
  Rows inserted: 400
  $ run --method=multi-statement
  batch 40 0
  begin 40 2000
  Rows inserted: 2000
  $ run --method=pipeline
  batch 40 0
  begin 40 0
  insert 2000 2000
  commit 40 0
  Rows inserted: 2000
  $ run --method=single
  batch 40 0
  begin 40 0
  insert 2000 2000
  commit 40 0
  Rows inserted: 2000
  $ run --method=load
  batch 40 0
  Rows inserted: 2000
  $ ingest check --verbosity=1
  ingest1: 5500 rows in 130 batches, all correct and complete
  ingest2: 4900 rows in 110 batches, all correct and complete

A batch without one of its rows.

  $ sqlite3 sbtest.sqlite 'DELETE FROM ingest2 WHERE id = 3'
  $ ingest check --verbosity=1 2>&1 | grep FATAL
  FATAL: ingest2: 1 batch is incomplete, the first begins with id 1
  $ ingest --method=copy run 2>&1 | grep FATAL
  FATAL: --method must be multi-row, multi-statement, pipeline, single or load, not 'copy'
  $ ingest cleanup --verbosity=1
  Dropping table 'ingest1'...
  Dropping table 'ingest2'...

The statements for the bare loops of bench/ are those of the workloads.

  $ for workload in ingest iibench; do
  >     sysbench "$SB_SRCDIR/bench/batches.lua" --workload=$workload --batches=3 \
  >         --db-driver=sqlite --time=0 --events=1 --verbosity=0 run
  >     sed 's/[0-9].*//' batches.sql | sort | uniq -c
  > done
        3 INSERT INTO ingest
        3 INSERT INTO purchases_index (dateandtime, cashregisterid, customerid, productid, price, data) VALUES ('
