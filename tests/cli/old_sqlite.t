SPDX-License-Identifier: GPL-2.0-or-later

The command lines of 0.4 and 0.5 from prepare to cleanup, without a server.

  $ [ -e "$SB_BUILDDIR/src/drivers/.libs/sqlite.so" ] || exit 80
  $ sb() { sysbench --db-driver=sqlite --sqlite-busy-timeout=600 "$@" 2>err |
  >     sed -e '1,2d'; }
  $ figures() { grep -E 'number of events|  (read|write): '; }

0.5: a Lua script, numbered tables.

  $ old() { sb --test=oltp.lua --oltp-tables-count=2 --oltp-table-size=50 \
  >     "$@"; }
  $ old prepare | grep -E 'Creating table|Inserting' | sort
  Creating table 'sbtest1'...
  Creating table 'sbtest2'...
  Inserting 50 records into 'sbtest1'
  Inserting 50 records into 'sbtest2'
  $ old --num-threads=2 --max-requests=10 run | figures
          read:                            140
          write:                           40
      total number of events:              10
  $ old cleanup
  Dropping table 'sbtest1'...
  Dropping table 'sbtest2'...

0.4: one table with a configurable name.

  $ older() { sb --test=oltp --oltp-table-name=mine --oltp-table-size=50 \
  >     "$@"; }
  $ older prepare | grep -E 'Creating table|Inserting'
  Creating table 'mine'...
  Inserting 50 records into 'mine'
  $ older --num-threads=2 --max-requests=10 run | figures
          read:                            140
          write:                           50
      total number of events:              10
  $ older cleanup
  Dropping table 'mine'...

If the driver is chosen automatically, it is printed once on standard error,
with the reason.

  $ sysbench oltp_point_select --table-size=10 prepare 2>&1 >out
  Using the sqlite driver, because neither --db-driver nor options of a driver were given.
  $ sysbench oltp_point_select --sqlite-db=other.db --table-size=10 prepare \
  >     2>err >out
  $ cat err
  Using the sqlite driver, because its options were given.
  $ sysbench oltp_point_select --db-driver=sqlite --table-size=10 --events=1 \
  >     --time=0 run 2>&1 >out
  $ ls
  err
  other.db
  out
  sbtest.sqlite
