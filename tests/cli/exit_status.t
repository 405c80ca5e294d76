SPDX-License-Identifier: GPL-2.0-or-later

Exit status: 0 success, 1 wrong usage or a failed run, 2 forced shutdown, 3 a
limit of --assert that was not kept (limits.t), 130 and 143 interrupted.

  $ echo 'function event() end' >e.lua
  $ sysbench e.lua run --events=1 >out
  $ sysbench e.lua run --events=1 --threads=0 >out 2>&1
  [1]
  $ echo 'function event() error("no") end' >bad.lua
  $ sysbench bad.lua run --time=600 >out 2>&1
  [1]
  $ echo 'error("no")' | sysbench >out 2>&1
  [1]
  $ echo 'function event() end function done() error("no") end' >done.lua
  $ sysbench done.lua run --events=1 >out 2>&1
  [1]

The same if a signal ended the run: an error of done() is still reported.

  $ : >out
  $ (exec sysbench done.lua run --time=60 --rate=10 >out 2>err) & pid=$!
  $ while ! grep -q started out; do sleep 0.1; done; kill -INT $pid; wait $pid
  [1]
  $ grep -v '^SIGINT: stopping' err
  FATAL: `done' function failed: done.lua:1: no

A done() that does not end: the first signal says what the program waits for, the second
one ends it.

  $ cat >endless.lua <<'EOF'
  > function event() end
  > function done()
  >    io.open("here", "w"):close()
  >    while true do end
  > end
  > EOF
  $ (exec sysbench endless.lua run --events=1 >out 2>err) & pid=$!
  $ while ! [ -e here ]; do sleep 0.1; done; kill -TERM $pid
  $ while ! grep -q SIGTERM err; do sleep 0.1; done; sleep 0.3; kill -TERM $pid; wait $pid
  [143]
  $ cat err
  SIGTERM: the run has ended; waiting for its report and the script's done(). A second signal exits at once.

os.exit() of a user ends the run with its report, and chooses the status, which is not 0. A
command of users ends at once. Other uses of the library say nothing.

  $ leaves() {
  >     echo "$1" >exit.lua
  >     shift
  >     rm -f exit.json
  >     sysbench exit.lua --threads=8 --time=60 "$@" 2>&1 >out; status=$?
  >     grep -c 'total time:' out
  >     return $status
  > }
  $ files="--report=text,json=exit.json"
  $ leaves 'function event() os.exit(0) end' $files run
  FATAL: the script ended the run with os.exit(0)
  1
  [1]
  $ "$SB_SRCDIR/tests/check-result" exit.json
  $ leaves 'function event() pcall(os.exit, 5) end' --workers=1 run
  FATAL: the script ended the run with os.exit(5)
  1
  [5]
  $ leaves 'function event() for _ in pairs(os) do end os.exit(false) end' run
  FATAL: the script ended the run with os.exit(false)
  1
  [1]
  $ leaves 'function thread_init() os.exit(4) end function event() end' run
  FATAL: the script ended the run with os.exit(4)
  0
  [4]
  $ leaves 'function event() end function thread_done() os.exit(0) end' --events=9 $files run
  FATAL: the script ended the run with os.exit(0)
  1
  [1]
  $ "$SB_SRCDIR/tests/check-result" exit.json
  $ gc='p = newproxy(true) getmetatable(p).__gc = function() os.exit(0) end'
  $ leaves "$gc function event() end" --events=9 $files run
  FATAL: the script ended the run with os.exit(0)
  1
  [1]
  $ "$SB_SRCDIR/tests/check-result" exit.json
  $ task='sysbench.cmdline.commands = { go = { function() os.exit() end,'
  $ leaves "$task sysbench.cmdline.PARALLEL_COMMAND } }" go
  WARNING: the script ended the program with os.exit(); the command is not complete, and there is no report
  0
  $ leaves 'os.exit(6)' run
  0
  [6]
  $ leaves 'function event() end function done() os.exit(7) end' --events=9 run
  1
  [7]
  $ leaves 'function event() os.time() pcall(os.exit, {}) end' --events=20 run
  1

A hook of reports ends the run, but not the program before the report.

  $ ends='function event() end'
  $ for hook in report_line report_cumulative; do
  >     case $hook in
  >     report_line) time="--time=600 --report-interval=0.1" ;;
  >     *) time="--time=0 --events=9" ;;
  >     esac
  >     leaves "$ends function sysbench.hooks.$hook() os.exit(0) end" $files \
  >         $time run
  >     echo $?
  >     "$SB_SRCDIR/tests/check-result" exit.json
  > done
  FATAL: `report_line' function failed: exit.lua:1: os.exit(0) ends the run: its report follows
  1
  1
  FATAL: `report_cumulative' function failed: exit.lua:1: os.exit(0) ends the run: its report follows
  1
  1

The report of a failed run begins with a line that says so.

  $ sysbench bad.lua run --events=9 2>err |
  >     sed -E -n -e 's/after [0-9.]+ s/after N s/' -e '/Threads st/,/Gen/p'
  Threads started!
  
  The run failed after N s: `thread_run' function failed: bad.lua:1: no
  
  
  General statistics:

The number of failed events is printed after the report. A run fails if all of
its events failed or more than --max-failed allows.

  $ cat >some.lua <<'EOF'
  > local n = 0
  > function event()
  >    n = n + 1
  >    if n <= 6 then error({errcode = sysbench.error.RESTART_EVENT}) end
  > end
  > EOF
  $ sb() {
  >     sysbench --events=9 --time=0 --max-restarts=1 "$@" run >out 2>err
  >     status=$?
  >     sed -E -n 's/(failed after) [0-9.]+/\1 N/p; /^Failed/p' out
  >     grep FATAL err
  >     return $status
  > }
  $ sb some.lua
  Failed events: 3 of 9 (33.3 %)
  $ sb some.lua --max-failed=33.4
  Failed events: 3 of 9 (33.3 %)
  $ sb some.lua --max-failed=33
  The run failed after N s: 3 of 9 events failed (33.3 %), more than --max-failed=33 allows
  Failed events: 3 of 9 (33.3 %)
  FATAL: 3 of 9 events failed (33.3 %), more than --max-failed=33 allows
  [1]
  $ sb e.lua --max-failed=0
  $ null="--db-driver=null --null-failure-rate=1"
  $ sb oltp_read_write $null --max-restarts=2
  The run failed after N s: all 9 events failed
  Failed events: 9 of 9 (100 %)
  FATAL: all 9 events failed
  [1]
  $ grep -E 'transactions:|number of events' out
      transactions:                        0      (0.00 per sec.)
      total number of events:              0
  $ sysbench oltp_read_write $null --max-failed=101 run >out
  Invalid value for the 'max-failed' option: '101' (the m* is 100) (glob)
  [1]

A script can end the run.

  $ echo 'function event() return true end' >ends.lua
  $ sysbench ends.lua run --threads=2 >out
  $ grep 'number of events' out
      total number of events:              0

Forced shutdown: the report shows the number of unfinished events. The time
limit is doubled until both threads have started an event.

  $ cat >hang.lua <<'EOF'
  > function event()
  >    io.write("hanging\n")
  >    io.flush()
  >    while true do end
  > end
  > EOF
  $ for s in 2 8 32 128; do
  >     sysbench hang.lua run --threads=2 --time=$s --forced-shutdown=0.1 \
  >         >out 2>err
  >     status=$?
  >     [ "$(grep -c hanging out)" != 2 ] || break
  > done
  $ (exit $status)
  [2]
  $ cat err
  FATAL: The --time limit has expired, forcing shutdown...
  $ grep -E 'unfinished|number of events' out
  Number of unfinished transactions on forced shutdown: 2
      total number of events:              0

Interrupted: the run stops and reports; the exit status tells the signal.

  $ cat >slow.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned);")
  > function event() ffi.C.usleep(1000) end
  > EOF
  $ until_in() { until grep -q "$2" "$1"; do sleep 0.05; done; }
  $ interrupt() {
  >     # Remove the output of the previous run.
  >     : >out 2>err
  >     sysbench "$2" run --time=600 --shutdown-grace=600 >out 2>err & pid=$!
  >     until_in out "$3"
  >     kill -s "$1" $pid
  >     [ -z "$4" ] || { until_in err stopping; sleep 0.3; kill -s "$4" $pid; }
  >     wait $pid
  > }
  $ interrupt INT slow.lua 'Threads started'
  [130]
  $ grep -c 'number of events' out
  1
  $ interrupt TERM slow.lua 'Threads started'
  [143]
  $ grep -c 'number of events' out
  1

A second signal ends the program at once, long before the end of the grace time.

  $ interrupt TERM hang.lua hanging TERM
  [143]
  $ grep -c 'number of events' out
  0
  [1]

A run that fails, or that leaves users behind, calls the hook run_failed instead of
done(), once for each workload of a mix. An error of the hook is only logged.

  $ cat >fails.lua <<'EOF'
  > function event() error("broken", 0) end
  > function done() print("done") end
  > function sysbench.hooks.run_failed(why)
  >    print("failed: " .. why:match("[^:]*$"))
  >    error("second error", 0)
  > end
  > EOF
  $ sed 's/error("broken", 0)/return true/' fails.lua >works.lua
  $ sed 's/error("broken", 0)/while true do end/' fails.lua >hangs.lua
  $ sysbench --verbosity=1 fails.lua run >out 2>err
  [1]
  $ cat out
  failed:  broken
  $ grep FATAL err
  FATAL: `run_failed' function failed: second error
  FATAL: `thread_run' function failed: broken
  $ sysbench --verbosity=1 works.lua run
  done
  $ cp fails.lua too.lua
  $ sysbench --verbosity=1 --mix=fails.lua,too.lua run 2>&1 | grep -c 'failed:  broken'
  2
  $ sysbench --verbosity=1 hangs.lua run --time=1 --shutdown-grace=1 >out 2>err
  [2]
  $ cut -c 1-35 out
  failed: 1 of 1 users are still busy
