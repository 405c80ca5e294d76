SPDX-License-Identifier: GPL-2.0-or-later
Not with asan, tsan: the workload is written in Lua.

replica on SQLite. The "replica" is a second file, to which a loop copies the
heartbeats.

  $ [ -e "$SB_BUILDDIR/src/drivers/.libs/sqlite.so" ] || exit 80
  $ replica() { sysbench replica --db-driver=sqlite --verbosity=1 --threads=2 \
  >     --replica-options=db=copy.sqlite "$@"; }
  $ copy() { sqlite3 sbtest.sqlite "PRAGMA busy_timeout=60000" \
  >     "ATTACH 'copy.sqlite' AS c" "UPDATE c.$1 SET beat =
  >      (SELECT beat FROM main.heartbeat)" >/dev/null; }
  $ copy_all() { while [ ! -e over ]; do copy "$1"; sleep 0.05; done; }
  $ started() { until grep -q 'Threads started' out; do sleep 0.02; done 2>/dev/null; }
  $ run() { replica --verbosity=3 "$@" run >out 2>err; status=$?; : >over; wait
  >     rm over; [ $status = 0 ] || cat err; }
  $ greatest() { sed -n 's/^replica 1 .*greatest lag \(at least \)*\([0-9.]*\) s, at \([0-9.]*\) s.*/\2 \3/p' out; }
  $ replica prepare
  Creating table 'heartbeat'...
  $ replica prepare 2>&1 | grep -o "Table 'heartbeat' exists already"
  Table 'heartbeat' exists already
  $ cp sbtest.sqlite copy.sqlite

The server itself has no lag. SQLite has no figure of its own, so the third user has no
task.

  $ run --replica-options=db=sbtest.sqlite --time=0.5 --threads=3 \
  >     --report-interval=0.2 --report-operations
  $ grep -c 'lag: [0-9.]* ms$' out
  2
  $ sed -n 's/^replica 1 (db=sbtest.sqlite): [1-9][0-9]* heartbeats; greatest lag 0.[0-9]* s, at [0-9.]* s;//p' out
   never more than 0.5 s behind
  $ grep -c '^replica 1 .*: caught up 0.[0-9]* s after the end of the load' out
  1
  $ awk '$1 == "heartbeat" || $1 == "replica_read" { print $1, ($2 > 0), $4 }' out | sort
  heartbeat 1 0
  replica_read 1 0
  $ replica --replica-options=db=sbtest.sqlite check
  replica 1 (db=sbtest.sqlite): caught up 0.* s after a heartbeat (glob)

The heartbeats of earlier runs, of the warm-up and of check are not counted, and times
are those of the time line.

  $ run --replica-options=db=sbtest.sqlite --time=0.4 --warmup-time=0.6
  $ sed -n 's/.*: \([0-9]*\) heartbeats.*/\1/p' out | awk '{ print ($1 >= 1 && $1 <= 9) }'
  1
  $ greatest | awk '{ print ($2 <= 0.5) }'
  1

A replica that gets nothing for a while, and then everything.

  $ copy heartbeat
  $ rm out; (started; sleep 0.8; copy_all heartbeat) &
  $ run --time=1.4 --report-interval=0.3
  $ sed -n 's/^.*; times more/times more/p' out | sed 's/[0-9]\.[0-9]*/N/g'
  times more than N s behind: 1; the last catch-up took N s, from N s to N s
  $ sed -n 's/.*catch-up took \([0-9.]*\) s, from \([0-9.]*\) s to \([0-9.]*\) s.*/\1 \2 \3/p' out |
  >     awk '{ d = $3 - $2 - $1; print ($2 > 0.1), (d * d < 0.0001) }'
  1 1
  $ greatest | awk '{ print ($1 > 0.6) }'
  1
  $ grep -q '^\[ .*lag: [1-9][0-9][0-9]\.[0-9] ms$' out && echo shown
  shown
  $ awk '$1 == "replica/delay" || $1 == "delay" { print ($NF > 600) }' out
  1

A replica that hangs for a while counts as behind for that time, even if it then has all
heartbeats. Here a look waits for a lock, whose holder copies the heartbeat at its end.

  $ stop_for() { sqlite3 copy.sqlite "PRAGMA busy_timeout=60000" "BEGIN EXCLUSIVE" \
  >     ".shell sleep $1" \
  >     ".shell sqlite3 sbtest.sqlite \"SELECT 'UPDATE heartbeat SET beat = ' || beat || ';' FROM heartbeat\" >last.sql" \
  >     ".read last.sql" "COMMIT" >/dev/null; }
  $ copy heartbeat
  $ rm out; (started; sleep 0.2; stop_for 0.7; copy_all heartbeat) &
  $ run --time=2
  $ greatest | awk '{ print ($1 > 0.3) }'
  1

A replica whose table vanishes during the run. The run continues, and the errors are
counted.

  $ rm out; (started; sleep 0.2
  >     sqlite3 copy.sqlite 'ALTER TABLE heartbeat RENAME TO gone'; sleep 0.3
  >     sqlite3 copy.sqlite 'ALTER TABLE gone RENAME TO heartbeat'; copy_all heartbeat) &
  $ run --time=1.2
  $ awk '$1 == "no_answer" { print ($2 > 0) } /^replica 1 .*caught up/ { print "caught up" }' out
  1
  caught up
  $ grep -c 'no such table: heartbeat' err
  1
  $ grep -c FATAL err
  0
  [1]

A replica that never catches up, and a limit.

  $ replica --time=0.3 --catch-up-wait=0.2 run 2>&1 | sed 's/is [0-9]*/is N/; s/y is [0-9]*/y is N/'
  verdict not passed: replica 1 (db=copy.sqlite) has not caught up in 0.2 s: its last heartbeat is N, that of the primary is * (glob)
  $ replica --time=0.4 --catch-up-wait=0 --caught-up=0.1 --verbosity=3 run 2>&1 |
  >     grep -o 'times more.*'
  times more than 0.1 s behind: 1; behind at the end of the run; it was behind before the run
  $ replica --catch-up-wait=0.1 check 2>&1 | cut -c 1-61
  FATAL: replica 1 (db=copy.sqlite) has not caught up in 0.1 s:
  $ replica --time=0.6 --catch-up-wait=0.1 --max-lag=0.3 run 2>&1 |
  >     sed 's/lag was [0-9.]*/lag was N/; s/ in 0.1 s: .*//'
  verdict not passed: replica 1 (db=copy.sqlite): the greatest lag was N s, more than --max-lag=0.3; replica 1 (db=copy.sqlite) has not caught up

A replica that is behind before the run counts as behind from the start of the run.

  $ sqlite3 copy.sqlite "UPDATE heartbeat SET beat = beat - 1"
  $ replica --time=0.4 --catch-up-wait=0 --verbosity=3 run >out 2>err || cat err
  $ grep -o 'greatest lag at least 0' out
  greatest lag at least 0
  $ sqlite3 copy.sqlite "UPDATE heartbeat SET beat = 1000000"
  $ replica run 2>&1 | sed -n '/FATAL/s/primary is [0-9]*/primary is N/p'
  FATAL: replica 1 (db=copy.sqlite) has heartbeat 1000000, but the last one of the primary is N: it does not replicate from this primary
  $ copy heartbeat

Beside a load.

  $ sysbench oltp_read_write --db-driver=sqlite --verbosity=1 --table-size=100 prepare >/dev/null
  $ mix() { sysbench --mix=replica:2,oltp_read_write:2 --mix-by=users --threads=4 \
  >     --db-driver=sqlite --sqlite-busy-timeout=600 --table-size=100 --time=0.5 \
  >     --replica-options=db=sbtest.sqlite "$@" run; }
  $ mix >out 2>err || cat err
  $ awk 'NF == 10 && ($1 == "replica" || $1 == "oltp_read_write") { print $1, ($2 > 0) }' out
  replica 1
  oltp_read_write 1
  $ mix --mix-by=events 2>&1 | grep FATAL
  FATAL: replica: a mix with this workload needs --mix-by=users, because its users measure all the time
  $ mix --mix=replica:1,oltp_read_write:3 2>&1 | grep FATAL
  FATAL: replica: 1 replicas need at least 2 users of this workload, not 1

A primary that is gone after the run: the greatest lag is reported.

  $ cat >gone.lua <<'EOT'
  > function event() sysbench.user.think(0.05) end
  > function done()
  >    os.rename("sbtest.sqlite", "away.sqlite")
  >    os.execute("mkdir sbtest.sqlite")
  > end
  > EOT
  $ gone() { sysbench --mix=gone.lua:1,replica:2 --mix-by=users --threads=3 --db-driver=sqlite \
  >     --time=0.3 --replica-options=db=copy.sqlite "$@" run >out 2>err; echo $?
  >     sed -n '/^  *replica.[a-z]/{s/max  *[0-9][0-9.]*/max N/; s/   */  /g; p;}' out
  >     sed 's/lag was [0-9.]*/lag was N/' err; rmdir sbtest.sqlite; mv away.sqlite sbtest.sqlite; }
  $ gone
  3
    replica.lag_max N s (headline)
    replica.catch_up  unknown (connection creation failed: cannot open database 'sbtest.sqlite': unable to open database file: it is a folder)
    replica.verdict: unknown: it is unknown whether the replicas have caught up: connection creation failed: cannot open database 'sbtest.sqlite': unable to open database file: it is a folder
  replica.verdict unknown: it is unknown whether the replicas have caught up: connection creation failed: cannot open database 'sbtest.sqlite': unable to open database file: it is a folder
  $ gone --max-lag=0.01 | sed '/verdict not/!d; s/: connection.*//'
  replica.verdict not passed: replica 1 (db=copy.sqlite): the greatest lag was N s, more than --max-lag=0.01; it is unknown whether the replicas have caught up

A run that fails: the limit is checked, and the replicas are waited for.

  $ cat >fail.lua <<'EOT'
  > function event()
  >    sysbench.user.think(0.4)
  >    if sysbench.user.time() > 0.3 then error("out of order", 0) end
  > end
  > EOT
  $ sysbench --mix=replica:2,fail.lua:1 --mix-by=users --threads=3 --db-driver=sqlite \
  >     --verbosity=1 --replica-options=db=copy.sqlite --catch-up-wait=0.1 --max-lag=0.1 \
  >     run 2>&1 | sed -n '/FATAL\|verdict/{s/lag was [0-9.]*/lag was N/; s/ in 0.1 s: .*//; p;}'
  FATAL: `thread_run' function failed: out of order
  replica.verdict not passed: replica 1 (db=copy.sqlite): the greatest lag was N s, more than --max-lag=0.1; replica 1 (db=copy.sqlite) has not caught up

Errors.

  $ sysbench replica --db-driver=sqlite --verbosity=1 run
  FATAL: replica: give --replica-host or --replica-port, lists of the replicas
  [1]
  $ replica --replica-options=nonsense run
  FATAL: --replica-options: 'nonsense' is not NAME=VALUE
  [1]
  $ replica --replica-options=db=none/x run 2>&1 | cut -c 1-77
  FATAL: replica 1 (db=none/x) cannot be reached: cannot open database 'none/x'
  $ replica --replica-options=db=empty.sqlite run
  FATAL: replica 1 (db=empty.sqlite) has no row 1 in table heartbeat: it does not replicate from the primary, or is far behind
  [1]
  $ replica --replica-port=1,2 run
  FATAL: replica: 2 replicas need at least 3 threads, not 2
  [1]
  $ sqlite3 sbtest.sqlite "DELETE FROM heartbeat"
  $ replica run
  FATAL: the primary has no row 1 in table heartbeat: run 'cleanup', then: sysbench replica --db-driver=sqlite --replica-options=db=copy.sqlite prepare
  [1]
  $ replica cleanup
  Dropping table 'heartbeat'...
  $ replica run 2>&1 | grep -o "table 'heartbeat' does not exist"
  table 'heartbeat' does not exist
