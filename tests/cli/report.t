SPDX-License-Identifier: GPL-2.0-or-later

The output of a run on standard output: the lines of sysbench 1.0.20. Figures
that depend on speed are replaced by N.

  $ echo 'function event() end' >e.lua
  $ cat >sql.lua <<'EOF'
  > function thread_init()
  >    con = sysbench.sql.driver():connect()
  > end
  > function event()
  >    con:query("SELECT 1")
  >    con:query("UPDATE t SET a = 1")
  >    con:query("BEGIN")
  > end
  > EOF
  $ mask() {
  >     # In the block of latencies N stands where the last digit did.
  >     awk '/^  +[0-9a-z ]+:      +[0-9]+\.[0-9][0-9]+$/ {
  >         n = length; sub(/ +[0-9.]+$/, "")
  >         while (length < n - 1) $0 = $0 " "
  >         $0 = $0 "N"
  >     } { print }' | sed -E -e '1s/sysbench [0-9].*/SYSBENCH/' \
  >         -e 's,([:/(] *)[0-9]+\.[0-9]+,\1N,g' -e 's/\(seed [0-9]+/(seed N/'
  > }
  $ part() { sed -n "/^$1/,/^$/p" | mask; }

An empty event.

  $ sysbench e.lua run --events=50 --time=0 --threads=1 | mask
  SYSBENCH
  
  Running the test with following options:
  Number of threads: 1
  Initializing random number generator from current time (seed N)
  
  
  Initializing worker threads...
  
  Threads started!
  
  
  General statistics:
      total time:                          Ns
      total number of events:              50
  
  Latency (ms):
           min:                                       N
           avg:                                       N
           max:                                       N
           95th percentile:                           N
           sum:                                       N
  
  Threads fairness:
      events (avg/stddev):           N/N
      execution time (avg/stddev):   N/N
  

The options that are printed at the beginning.

  $ sysbench e.lua run --events=1 --threads=2 --time=90 --rate=500 \
  >     --report-interval=0.5 --report-checkpoints=30,60 --validate \
  >     --forced-shutdown=10% --rand-seed=7 | sed -n '/^Run/,/^Init.*threads/p'
  Running the test with following options:
  Number of threads: 2
  Target transaction rate: 500/sec
  Report intermediate results every 0.5 second(s)
  Report checkpoint(s) at 30, 60 seconds
  Validation checks: on.
  
  Initializing random number generator from seed (7).
  
  Forcing shutdown in 99 seconds
  
  Initializing worker threads...

The printed random seed repeats the run: each user draws the same numbers.

  $ cat >keys.lua <<'EOF'
  > local n, keys = 0, {}
  > function event()
  >    local r = sysbench.rand
  >    n = n + 1
  >    keys[n] = ("%d %d %s"):format(r.default(1, 1e6), r.uniform(1, 1e9),
  >                                  r.string("@@@@"))
  >    if n == 20 then
  >       io.write(sysbench.tid .. ": " .. table.concat(keys, " ") .. "\n")
  >    end
  >    return n > 20
  > end
  > EOF
  $ sysbench keys.lua run --threads=3 >out
  $ grep -c '^[012]: ' out
  3
  $ grep '^[012]: ' out | sort >first
  $ seed=$(sed -n 's/^Init.* from current time (seed \([0-9]*\))$/\1/p' out)
  $ sysbench keys.lua run --threads=3 --rand-seed=$seed | grep '^[012]: ' |
  >     sort | cmp - first
  $ sysbench keys.lua run --threads=3 | grep '^[012]: ' | sort | cmp -s - first
  [1]

Below verbosity 3 only the script prints to standard output; 0 also hides
warnings.

  $ sysbench e.lua run --time=0 --events=1 --verbosity=2
  $ sysbench e.lua run --time=0 --events=1 --num-threads=1 --verbosity=0

SQL, with the driver that needs no database.

  $ sysbench sql.lua run --db-driver=null --events=10 --time=0 |
  >     part 'SQL stat'
  SQL statistics:
      queries performed:
          read:                            10
          write:                           10
          other:                           10
          total:                           30
      transactions:                        10     (N per sec.)
      queries:                             30     (N per sec.)
      ignored errors:                      0      (N per sec.)
      reconnects:                          0      (N per sec.)
  

Percentiles: the classic line shows 95 if it is in the list, otherwise the first
one; 0 disables them.

  $ sb() { sysbench e.lua run --time=0 --events=9 "$@"; }
  $ sb --percentile=99 | grep percentile: | mask
           99th percentile:                           N
  $ sb --percentile=99,95,50 | grep '95th' | mask
           95th percentile:                           N
  $ sb --percentile=0 | grep -A1 percentile | mask
           percentile stats:               disabled
           sum:                                       N

The histogram is printed first.

  $ sb --histogram | sed -n '/^Lat.*hist/,/^ $/p' |
  >     sed -E 's/^ *[0-9.]+ \|\*+ +[0-9]+$/N | N/' | uniq
  Latency histogram (values are in milliseconds)
         value  ------------- distribution ------------- count
  N | N
   

Additional lines of --debug and --db-debug.

  $ sb --threads=2 --debug 2>&1 |
  >     sed -n '/^DEBUG: Verb/,/^$/p; /^DEBUG:  /p' |
  >     sed -E 's/[0-9]+\.[0-9]{4,9}s/N/g; s/events: [0-9]+$/events: N/'
  DEBUG: Verbose per-thread statistics:
  
  DEBUG:     thread #  0: min: N  avg: N  max: N  events: N
  DEBUG:                  total time taken by event execution: N
  DEBUG:     thread #  1: min: N  avg: N  max: N  events: N
  DEBUG:                  total time taken by event execution: N
  $ sysbench sql.lua run --db-driver=null --null-latency=2ms --events=9 \
  >     --time=0 --db-debug 2>err | sed -n '/^    reconnects/,/^$/p' |
  >     sed -E -e 's/(0\.00[1-9]|0\.0[1-9]|0\.[1-9]|[1-9][0-9]*\.)[0-9]+s/Ns/' \
  >         -e 1d
  DEBUG: 
  DEBUG: Query execution statistics:
  DEBUG:     min:                                Ns
  DEBUG:     avg:                                Ns
  DEBUG:     max:                                Ns
  DEBUG:   total:                                Ns
  DEBUG: Results fetching statistics:
  DEBUG:     min:                                0.0000s
  DEBUG:     avg:                                0.0000s
  DEBUG:     max:                                0.0000s
  DEBUG:   total:                                0.0000s
  

Intermediate lines; with a rate, a second one for the queue. The last line is
due at the end of the run. It is printed even if it is late, with the actual
time.

  $ lines() { grep '^\[' | mask | sed 's/^\[ [0-9]*\.[0-9]s/[ Ns/'; }
  $ sysbench e.lua run --time=0.2 --report-interval=0.2 | lines
  [ Ns ] thds: 1 eps: N lat (ms,95%): N
  $ sysbench sql.lua run --db-driver=null --time=0.2 --report-interval=0.2 \
  >     --rate=100 | lines
  [ Ns ] thds: 1 tps: N qps: N (r/w/o: N/N/N) lat (ms,95%): N err/s: N reconn/s: N
  [ Ns ] queue length: *, concurrency: * (glob)

Checkpoints are full reports, and the final report counts from the last one. The
30th event waits for the checkpoint; the events before it have enough time.

  $ cat >wait.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned);")
  > local n = 0
  > local function told()
  >    local out = assert(io.open("out"))
  >    local text = out:read("*a")
  >    out:close()
  >    return text:find("Checkpoint report")
  > end
  > function event()
  >    n = n + 1
  >    while n == 30 and not told() do ffi.C.usleep(10000) end
  > end
  > EOF
  $ for s in 1 4 16 64; do
  >     : >out
  >     sysbench wait.lua run --time=0 --events=60 --report-checkpoints=$s >out
  >     first=$(awk '/number of events/ { print $5; exit }' out)
  >     [ "$first" = 0 ] || break
  > done
  $ grep -E '^\[|^General|^Latency|^Threads fair' out |
  >     sed 's/^\[ [0-9.]*s/[ Ns/'
  [ Ns ] Checkpoint report:
  General statistics:
  Latency (ms):
  Threads fairness:
  General statistics:
  Latency (ms):
  Threads fairness:
  $ awk '/number of events/ { n += $5; print($5 > 0 && $5 < 60) }
  >     END { print n }' out
  1
  1
  60

The figures of a report are consistent while users are running: events per
thread and rows of the histogram add up to the total.

  $ for rate in 0 20000; do
  >     sysbench oltp_point_select run --db-driver=null --threads=4 --time=1 \
  >         --report-checkpoints=0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9 \
  >         --histogram --rate=$rate |
  >         awk '/number of events/ { n = $5 }
  >             /^    transactions:/ { transactions = $2 }
  >             /^ +[0-9.]+ \|/ { rows += $NF }
  >             /^    events \(avg/ {
  >                 reports++
  >                 off += n != transactions || sprintf("%.0f", 4 * $3) != n
  >             }
  >             END { print reports, off + 0, rows == n }'
  > done
  10 0 1
  10 0 1

The time and events of the warm-up are not counted. Here the warm-up lasts until
it had an event.

  $ cat >slow.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned);")
  > local n = 0
  > function event() ffi.C.usleep(10000) n = n + 1 end
  > function thread_done()
  >    io.write("begun more: " .. tostring(n > 7) .. "\n")
  > end
  > EOF
  $ for s in 1.5 4.5 16.5 64.5; do
  >     sysbench slow.lua run --warmup-time=$s --time=0 --events=7 >out
  >     ! grep -q 'begun more: true' out || break
  > done
  $ grep '^Warm' out | sed "s/\<$s/WARMUP/"
  Warmup time: WARMUPs
  Warming up for WARMUP seconds...
  $ sed -n -e '/number of events/p' -e '/^begun/p' out
  begun more: true
      total number of events:              7

Reads and writes that found no rows are listed after the report on standard
error; standard output does not change. INSERT and BEGIN are not counted.

  $ cat >miss.lua <<'EOF'
  > function thread_init()
  >    con = sysbench.sql.driver():connect()
  > end
  > function event()
  >    con:query("SELECT 1")
  >    con:query("INSERT INTO t VALUES (1)")
  >    con:query("BEGIN")
  > end
  > EOF
  $ sysbench miss.lua run --db-driver=null --null-rows=0 --time=0 --events=20 \
  >     2>err | sed -n '/queries perf/,/trans/p' | mask
      queries performed:
          read:                            20
          write:                           20
          other:                           20
          total:                           60
      transactions:                        20     (N per sec.)
  $ cat err
  found nothing: 100 % of select
  $ sysbench miss.lua run --db-driver=null --time=0 --events=20 2>&1 >/dev/null

If there are only a few, or below the verbosity of warnings, no line is printed.

  $ sysbench miss.lua run --db-driver=null --null-rows=0 --time=0 --events=9 \
  >     --verbosity=2
  $ sysbench miss.lua run --db-driver=null --null-rows=0 --time=0 --events=10 \
  >     --verbosity=2
  found nothing: 100 % of select
  $ sysbench miss.lua run --db-driver=null --null-rows=0 --time=0 --events=10 \
  >     --verbosity=1

A script that prints the report itself does not hide it.

  $ cat >>miss.lua <<'EOF'
  > sysbench.hooks.report_cumulative = function() print("mine") end
  > EOF
  $ sysbench miss.lua run --db-driver=null --null-rows=0 --time=0 --events=20 \
  >     2>&1 | tail -n 2
  mine
  found nothing: 100 % of select

A hook whose last call is a function in C, and whose machine code does not fit
into the area that is in use: LuaJIT reads beyond the stack if trace events have
a handler.

  $ cat >tail.lua <<'EOF'
  > require("jit.opt").start("hotloop=2", "sizemcode=4")
  > local calls, f = 0, nil
  > local function long(i)
  >    local body = {"local x = ... "}
  >    for k = 1, 60 do
  >       body[#body + 1] = ("x = (x + %d.5) * 1.%d "):format(k, i + k)
  >    end
  >    body[#body + 1] = "return string.format('line %d', x % 7)"
  >    return assert(loadstring(table.concat(body)))
  > end
  > require("ffi").cdef"int usleep(unsigned);"
  > function event()
  >    require("ffi").C.usleep(1000)
  > end
  > function sysbench.hooks.report_line()
  >    if calls % 4 == 0 then
  >       f = long(calls)
  >    end
  >    calls = calls + 1
  >    return f(calls)
  > end
  > EOF
  $ sysbench tail.lua run --time=2 --report-interval=0.01 >out
  $ [ "$(grep -c '] line' out)" -gt 8 ]

A run that takes notably longer than --time says so; result files keep that. Two events
of 3 s are longer than 4 s by more than 1 s and 5 %; one is not longer at all.

  $ echo 'function event() os.execute("sleep 3") end' >slow.lua
  $ took() { sed -n "s/took [0-9.]* s/took N s/p"; }
  $ sysbench slow.lua run --time=4 --report=json=late.json 2>&1 | took
  The run took N s longer than --time: users were still busy
  $ sysbench show late.json | took
  The run took N s longer than --time: users were still busy
  $ sysbench slow.lua run --time=60 --events=1 --report=json=early.json | took
  $ python3 -c 'import datetime, json
  > text = open("late.json").read()
  > started = json.loads(text)["runs"][0]["started"]
  > later = datetime.datetime.fromisoformat(started[:-1]) + datetime.timedelta(0, 2)
  > open("later.json", "w").write(
  >     text.replace(started, later.isoformat(timespec="milliseconds") + "Z"))'
  $ sysbench merge late.json later.json --output=both.json
  $ sysbench show both.json >both; sysbench show late.json >late
  $ [ "$(grep took both)" = "$(grep took late)" ]
  $ overrun() { python3 -c 'import json, sys
  > print(json.load(open(sys.argv[1]))["runs"][0]["end"].get("overrun", 0) > 1)' "$1"; }
  $ overrun late.json && overrun early.json
  True
  False
