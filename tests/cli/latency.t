SPDX-License-Identifier: GPL-2.0-or-later
Not with asan, tsan: the workload is written in Lua.

The workload latency: probes, and the division of their latency.

  $ [ -e "$SB_BUILDDIR/src/drivers/.libs/sqlite.so" ] || exit 80
  $ latency() { sysbench latency --db-driver=sqlite "$@" run >out 2>err; }
  $ count() { awk -v name="$1" '$1 == name { print $1, $2, $NF }' out; }

Each event is one probe, and each probe is an operation.

  $ latency --threads=2 --events=60 --time=0 --probe-interval=0 --report-operations \
  >     --report=json=run.json || cat err
  $ awk '/^(empty|ping|timestamp) / { n += $2 } END { print n }' out
  60
  $ awk '/^(to_start|work|back) / { print $1, $2 }' out
  to_start (us)
  work (us)
  back (us)
  $ count clock_moved
  clock_moved 0 0.00
  $ sed -n 's/[0-9.]* us, median [0-9.]* us$/T/p' out
  latency: offset of the server's clock 0.0 us, error at most 500.0 us; round trip without load: shortest T
  $ latency --events=5 --time=0 --probes=ping --report-operations || cat err
  $ count ping
  ping 5 0
  $ grep -c 'to_start\|^latency:' out
  0
  [1]

A user waits between its probes: 0.2 s have room for at most 5 of them.

  $ latency --time=0.2 --probe-interval=0.05 || cat err
  $ awk '/total number of events/ { print ($5 >= 1 && $5 <= 5) }' out
  1

A server whose clock is 5 s ahead. It starts each statement 200 us after the client has
sent it, works 300 us, and needs 100 us for the way back. Delays may be longer on a busy
machine, never shorter; so the offset is within its error, and the minimum times are known.

  $ cat >far.lua <<'EOT'
  > local AHEAD = 5e6
  > ffi.cdef("int clock_gettime(int, void *);")
  > local stamp = ffi.new("struct { long sec, nsec; }")
  > local function now()
  >    ffi.C.clock_gettime(0, stamp)
  >    return tonumber(stamp.sec) * 1e6 + tonumber(stamp.nsec) / 1e3
  > end
  > local function pass(us)
  >    local to = now() + us
  >    while now() < to do end
  > end
  > local drift = 0
  > local con = {disconnect = function() end}
  > local function result(...)
  >    local row = {...}
  >    return {free = function() end, fetch_row = function() return row end}
  > end
  > function con.query(_, text)
  >    if text:find("@@hostname", 1, true) then
  >       return result(os.getenv("HOSTS") and
  >          tostring(sysbench.cmdline.main_state) or "db")
  >    end
  >    pass(200)
  >    local start = math.floor(now() + AHEAD + drift)
  >    pass(300)
  >    local at = math.floor(now() + AHEAD + drift)
  >    pass(100)
  >    drift = drift + (tonumber(os.getenv("DRIFT")) or 0)
  >    return result(("%.0f"):format(start), ("%.0f"):format(at))
  > end
  > local drv = {connect = function() return con end}
  > function drv.name() return "mysql" end
  > drv.dialect = drv.name
  > sysbench.sql = {driver = function() return drv end}
  > dofile(os.getenv("SB_SRCDIR") .. "/tests/lua/latency.lua")
  > EOT
  $ far() { sysbench ./far.lua --probes=timestamp --events=50 --time=0 --calibrations=50 \
  >     --probe-interval=0 "$@" run >out 2>err; }
  $ far --report-operations || cat err
  $ grep '^latency:' out | awk '{
  >     offset = $7; error = $12; shortest = $19
  >     print (offset - 5e6 <= error && 5e6 - offset <= error && error >= 150)
  >     print (shortest >= 600) }'
  1
  1
  $ awk '/^latency:/ { error = $12 }
  >     /^(to_start|work|back) / { least[$1] = $4 }
  >     END { print (least["to_start"] >= 200 - error - 2)
  >           print (least["work"] >= 298)
  >           print (least["back"] >= 100 - error - 2) }' out
  1
  1
  1
  $ count clock_moved
  clock_moved 0 0.00

The three parts are the whole.

  $ awk '/^(to_start|work|back) / { sum += $5 } /^timestamp / { all = 1000 * $6 }
  >     END { print (sum > 0 && sum <= 1.01 * all + 3) }' out
  1

Clocks that move against each other: no offset fits all round trips.

  $ DRIFT=100000 far
  [1]
  $ sed 's/least [0-9]*/least N/; s/^.*failed: //' err
  latency: the offset between the clocks of client and server changed by at least N us during 50 round trips, so it cannot be determined
  $ far --same-clock
  [1]
  $ sed 's/between [0-9]* and [0-9]*/between A and B/; s/^.*failed: //' err
  --same-clock: the offset of the server's clock is between A and B us, not 0

Several servers have several clocks.

  $ if [ -e "$SB_BUILDDIR/src/drivers/.libs/mysql.so" ]; then
  >     far --mysql-host=a,b
  >     sed 's/^.*failed: //' err
  > else
  >     echo "latency: the servers of --mysql-host=a,b have several clocks; use a run for each of them, or --probes=empty,ping"
  > fi
  latency: the servers of --mysql-host=a,b have several clocks; use a run for each of them, or --probes=empty,ping

A list of hosts that the options do not show: the connection of the calibration leads to
another server than that of the user.

  $ HOSTS=2 far
  [1]
  $ sed 's/^.*failed: //' err
  latency: the connections lead to several servers, which have several clocks; use a run for each of them, or --probes=empty,ping

Errors.

  $ latency --probes=ping,pong
  [1]
  $ cat err
  FATAL: --probes: there is no 'pong' with sqlite; use --probes=empty,ping,timestamp
  $ latency --db-driver=null --probes=timestamp
  [1]
  $ cat err
  FATAL: --probes: there is no 'timestamp' with null; use --probes=empty,ping

By default, the probes that the database has.

  $ sysbench latency --db-driver=null --time=0 --events=4 --report-operations run |
  >     awk '$1 == "empty" || $1 == "ping" || $1 == "timestamp" { print $1, $2 }'
  empty 2
  ping 2
  $ latency --probe-interval=-1
  [1]
  $ cat err
  FATAL: --probe-interval must be from 0 to 1000000, not -1
  $ echo 'function event() end' >noop.lua
  $ sysbench --mix=latency,noop.lua --db-driver=sqlite --time=0.1 run 2>&1 | grep FATAL
  FATAL: latency: a mix with this workload needs --mix-by=users, because its users wait between probes
