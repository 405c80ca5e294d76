SPDX-License-Identifier: GPL-2.0-or-later

The main job, with no server: load, run, clean up.

  $ [ -e "$SB_BUILDDIR/src/drivers/.libs/sqlite.so" ] || exit 80
  $ sb() { sysbench oltp_read_write --db-driver=sqlite --tables=2 \
  >     --table-size=100 --threads=2 --sqlite-busy-timeout=600 "$@"; }
  $ sb prepare >out 2>&1 || cat out
  $ ls sbtest.sqlite
  sbtest.sqlite

Event limits are exact, and the figures fit: 20 queries a transaction.

  $ sb --events=50 --time=0 run >report 2>err || cat report err
  $ grep -E 'number of events|transactions:|read:|write:|other:' report |
  >     sed 's/ *(.*//'
          read:                            700
          write:                           200
          other:                           100
      transactions:                        50
      total number of events:              50
  $ grep -E '^(FATAL|ALERT)' err
  [1]

Without the tables a run ends with status 1 and names what to do.

  $ sb cleanup >out 2>&1 || cat out
  $ sb --events=1 --time=0 run >out 2>err
  [1]
  $ grep -q prepare err
