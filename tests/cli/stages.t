SPDX-License-Identifier: GPL-2.0-or-later

Stages change the number of users and the rate. The run prints them, and reports
the figures of each.

  $ cat >user.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned);")
  > function thread_init()
  >    con = sysbench.sql.driver():connect()
  >    put = con:prepare("INSERT INTO t VALUES (1)")
  >    io.write("come " .. sysbench.tid .. "\n") io.flush()
  > end
  > function event() put:execute() ffi.C.usleep(1000) end
  > function thread_done()
  >    con:disconnect()
  >    io.write("go " .. sysbench.tid .. "\n") io.flush()
  > end
  > EOF
  $ table() { sed -n '/^Stages (ms)/,/^$/p' | awk '{ print $1, NF }'; }
  $ for s in 0.2s 1s 5s 25s; do
  >     sysbench user.lua run --db-driver=null --report-operations \
  >         --stages="threads=2 for $s; threads=1 for $s; up: threads=..3 for $s" \
  >         >out
  >     ! grep -q 'come 2' out || [ "$(grep -c 'come 1' out)" -lt 2 ] || break
  > done
  $ grep -A1 '^Number of threads' out | sed "s/\<$s/N/g"
  Number of threads: 3
  Stages: threads=2 for N; threads=1 for N; up: threads=..3 for N
  $ grep -e '^come' -e '^go' out | sort
  come 0
  come 1
  come 1
  come 2
  go 0
  go 1
  go 1
  go 2
  $ table <out
  Stages 14
  threads=2 10
  threads=1 10
  up 10
   0
  $ grep '^connect' out | awk '{ print $1, $2 }'
  connect 2

Without --stages there is no table and no other line.

  $ sysbench user.lua run --db-driver=null --events=1 | grep -i stage
  [1]

The run ends with the last stage, or at --time or --events if that is earlier.
The number of threads is the maximum; --threads may be larger.

  $ echo 'function event() end' >e.lua
  $ run() { sysbench e.lua run "$@" 2>/dev/null | awk '/^Number of threads/
  >     /total time:/ { print $3 + 0 < 3000 ? "early" : "late" }
  >     /number of events/'; }
  $ run --stages='threads=2 for 1h' --events=10
  Number of threads: 2
  early
      total number of events:              10
  $ run --threads=5 --stages='rate=0 for 0.01s; for 0.01s; rate=1 for 1ms' --time=1h
  Number of threads: 5
  early
      total number of events:              0
  $ run --stages='rate=0 for 1h; rate=9 for 1ms' --time=1
  Number of threads: 1
  early
      total number of events:              0

A percentage is one of --rate.

  $ sysbench e.lua run --rate=2000 --arrivals=constant \
  >     --stages='rate=50% for 0.1s; rate=0..100% for 0.1s' |
  >     sed -n 's/.*\(scheduled: [0-9]*\).*/\1/p'
  scheduled: 200

Errors name the stage and the position.

  $ stages() { sysbench e.lua run --stages="$@" >out; }
  $ stages 'threads=16 for 10s; ramp: thread=16..64 for 30s'
  Invalid value for the 'stages' option: stage 2, character 27, 'thread=16..64': there is no setting 'thread'; a stage has threads, rate and mix
  [1]
  $ stages 'threads=16'
  Invalid value for the 'stages' option: stage 1, character 11, '': expected 'for' and the length of the stage, such as 'for 10s'
  [1]
  $ stages 'rate=50% for 10s'
  Invalid value for the 'stages' option: stage 1, character 1, 'rate=50%': a percentage requires --rate
  [1]
  $ stages 'threads=5 for 1s; rate=5 for 1s'
  Invalid value for the 'stages' option: some stages have a rate, but the first one has none; set one there (rate=0: no events), or with --rate
  [1]

A user that cannot come fails the run. The report says why.

  $ cat >full.lua <<'EOF'
  > function thread_init()
  >    if sysbench.tid == 2 then error("no room for user 2") end
  > end
  > function event() end
  > EOF
  $ sysbench full.lua run --stages='threads=2 for 1ms; threads=3 for 1h' >out
  FATAL: `thread_init' function failed: full.lua:2: no room for user 2
  [1]
  $ grep -o '^The run failed after.*: ' out | sed 's/[0-9.]* s/N s/'
  The run failed after N s: `thread_init' function failed: full.lua:2: 

If a user starts during the run, its thread_init() is called within the run, and think
time that this function sets begins then.

  $ cat >late.lua <<'EOF'
  > local user = sysbench.user
  > local since
  > function thread_init()
  >    print("init", sysbench.tid, user.run_time() > 0, user.time() > 0)
  >    user.think(0.3)
  >    since = user.run_time()
  > end
  > function event()
  >    print("first", sysbench.tid, user.run_time() - since >= 0.3)
  >    user.stop()
  > end
  > EOF
  $ for w in 1 users; do
  >     sysbench late.lua run --workers=$w --stages='threads=1 for 0.2s; threads=2 for 1h' \
  >         --events=2 --report=none | sort
  > done
  first	0	true
  first	1	true
  init	0	false	false
  init	1	true	true
  first	0	true
  first	1	true
  init	0	false	false
  init	1	true	true

Users that are still coming at the end are canceled at once.

  $ cat >coming.lua <<'EOF'
  > function thread_init()
  >    local late = sysbench.user.run_time() > 0
  >    con = sysbench.sql.driver():connect{["connect-latency"] = late and "1h" or "0"}
  > end
  > function event() sysbench.user.wait(0.01) end
  > EOF
  $ for w in 1 users; do
  >     sysbench coming.lua run --db-driver=null --workers=$w --shutdown-grace=1000 \
  >         --stages='threads=1 for 0.2s; threads=5 for 2s' 2>&1 |
  >         sed -n '/busy/p;/still/p;s/^\(threads=[0-9]*\) .*/\1/p'
  > done
  4 users were still starting when the run ended
  threads=1
  threads=5
  4 users were still starting when the run ended
  threads=1
  threads=5

If it is too late for their thread_done(), the run has not failed.

  $ cat >done.lua <<'EOF'
  > function thread_init()
  >    con = sysbench.sql.driver():connect()
  >    if sysbench.user.run_time() > 0 then sysbench.user.wait(3600) end
  > end
  > function event() sysbench.user.wait(0.01) end
  > function thread_done() con:query("SELECT 1") end
  > EOF
  $ for w in 1 users; do
  >     sysbench done.lua run --db-driver=null --workers=$w \
  >         --stages='threads=1 for 0.2s; threads=5 for 1s' >out 2>&1 || cat out
  > done

fileio writes its files to the disk at the end, not when users go.

  $ sysbench fileio --file-num=2 --file-total-size=1M prepare >out
  $ sysbench fileio --file-num=2 --file-total-size=1M --file-test-mode=rndwr \
  >     --file-fsync-freq=0 --events=1000000 run \
  >     --stages='threads=2 for 50ms; threads=1 for 50ms; threads=2 for 50ms' |
  >     grep fsyncs/s: | wc -l
  1

Result files: a run whose stages have rates is an open loop, also without --rate.

  $ "$SB_SRCDIR/tests/check-result" || exit 80
  $ echo 'function event() end' >e.lua
  $ sysbench e.lua --stages='rate=100 for 1s; rate=200 for 0.5s' \
  >     --report=none,json=open.json run
  $ sysbench e.lua --stages='threads=1 for 0.5s; threads=2 for 0.5s' \
  >     --think-time=1ms --report=none,json=closed.json run
  $ "$SB_SRCDIR/tests/check-result" open.json closed.json
  $ grep -h '"open_loop"' open.json closed.json
  "open_loop":true,
  "open_loop":false,
