SPDX-License-Identifier: GPL-2.0-or-later

The workload connect: bursts and ramps of connections.

  $ connect() { sysbench connect --db-driver=sqlite "$@" run >out 2>err; }
  $ last() { sed -n 's/ in [0-9.]* s//; /^connect: /p' out; }

Each user opens its connections and holds them. The final sentence counts them.

  $ connect --threads=4 --connections-per-user=5 --time=1 --report-operations \
  >     --report-interval=0.4 --report=json=run.json || cat err
  $ last
  connect: 20 of 20 connections were made; 0 lost; 20 answered at the end
  $ grep -c 'connections: 20 held, 0 lost, 0 failed' out
  2
  $ awk '$1 == "connect" || $1 == "select" { print $1, $2, $4 }' out
  connect 20 0
  select 20 0
  $ grep 'total number of events' out
      total number of events:              20
  $ sed -n '/^Counter/,/^connections/p' out
  Counter               sum     per sec.
  lost                    0         0.00
  failed                  0         0.00
  
  Gauge               value
  connections            20

With --hold-time, the run ends by itself. Without a check, nothing is executed on idle
connections.

  $ connect --threads=2 --time=100 --hold-time=0 --check-held=off || cat err
  $ last
  connect: 20 of 20 connections were made; 0 lost
  $ grep '  total:' out
          total:                           0

With a rate, connect_response begins when a connection is due: one user cannot make
10,000 per second, because each takes longer.

  $ connect --connections-per-user=20 --connect-rate=10000 --hold-time=0 --time=100 \
  >     --db-init-sql='WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
  >     WHERE i < 20000) SELECT COUNT(*) FROM n' --report-operations || cat err
  $ awk '$1 == "connect" { c = $6 } $1 == "connect_response" { n = $2; r = $6 }
  >     END { print n, (r > 3 * c) }' out
  20 1

At a rate: of this workload, or of the program. The last of 20 is due 0.95 s after
the first, so the time is at least that.

  $ took() { sed -n 's/^connect: .* in \([0-9]\.[0-9]\).*/\1/p' out; }
  $ connect --threads=3 --connections-per-user=20 --connect-rate=60 --hold-time=0 \
  >     --time=100 || cat err
  $ last
  connect: 60 of 60 connections were made; 0 lost; 60 answered at the end
  $ awk -v t="$(took)" 'BEGIN { print (t >= 0.9) }'
  1
  $ connect --threads=2 --connections-per-user=10 --rate=20 --arrivals=constant \
  >     --hold-time=0 --time=100 || cat err
  $ awk -v t="$(took)" 'BEGIN { print (t >= 0.9) }'
  1
  $ connect --start-after=1 --connections-per-user=1 --time=2.5 --report-interval=0.8 ||
  >     cat err
  $ sed -n 's/^\[[^]]*\] \(connections: . held\).*/\1/p' out
  connections: 0 held
  connections: 1 held
  connections: 1 held

Users that come later open their connections in events, too.

  $ connect --threads=3 --stages='threads=1 for 0.3s; threads=3 for 0.5s' \
  >     --report-operations || cat err
  $ awk '$1 == "connect" { print $2 }' out
  30

If the time is over before all are made, the sentence says so.

  $ connect --connections-per-user=50 --connect-rate=20 --time=1 || cat err
  $ sed -n 's/^connect: [0-9]* of 50 connections were made; 0 lost; .*/some/p' out
  some

Used: each event after the last connection is a query on one of them.

  $ connect --hold=used --threads=1 --connections-per-user=6 --time=0 --events=106 \
  >     --report-operations || cat err
  $ awk '$1 == "connect" || $1 == "select" { print $1, $2 }' out
  connect 6
  select 106
  $ last
  connect: 6 of 6 connections were made; 0 lost; 6 answered at the end

A used connection that is lost is not opened again, unless --db-reconnect is on.

  $ lossy() { connect --db-driver=null --null-failure=lost --null-failure-rate=0.02 \
  >     --hold=used --connections-per-user=20 --time=0 --events=400 --rand-seed=1 "$@"; }
  $ open() { awk '/^Gauge/ { on = 1 } on && $1 == "connections" { print $2 }' out; }
  $ lost() { sed -n 's/^connect: .*; \([0-9]*\) lost.*/\1/p' out; }
  $ lossy --check-held=off || cat err
  $ [ "$(lost)" -gt 0 ] && echo $(($(open) + $(lost)))
  20
  $ lossy --check-held=off --db-reconnect=on || cat err
  $ [ "$(lost)" -gt 0 ] && open
  20

Each connection answers the check, even if with an error that could be retried.

  $ connect --db-driver=null --null-failure-rate=0.5 --hold-time=0 --time=100 || cat err
  $ last
  connect: 10 of 10 connections were made; 0 lost; 10 answered at the end

Connections that fail are counted by their code and do not end the run, unless they are
required.

  $ connect --sqlite-db=none/x --threads=2 --hold-time=0 --time=100 --report-errors
  [1]
  $ grep 'FATAL' err
  FATAL: all 20 events failed
  $ last
  connect: 0 of 20 connections were made; 0 lost; 0 answered at the end
  $ awk '$1 == "sqlite" { print $1, $2, $3, $4 }' err
  sqlite 14 - 20
  $ connect --sqlite-db=none/x --threads=2 --hold-time=0 --time=100 --require-all
  [1]
  $ grep FATAL err
  FATAL: all 20 events failed

Refused attempts are failed events, not completed ones. SQLite opens only the first
file of each user here.

  $ cat >some.lua <<'END'
  > local n = 0
  > local drv = sysbench.sql.driver
  > function sysbench.sql.driver()
  >    local d = drv()
  >    return setmetatable({try_connect = function()
  >       n = n + 1
  >       return n <= 4 and d:connect() or nil
  >    end}, {__index = function(_, name)
  >       return function(_, ...) return d[name](d, ...) end
  >    end})
  > end
  > dofile(os.getenv("SB_SRCDIR") .. "/tests/lua/connect.lua")
  > END
  $ some() { sysbench ./some.lua --db-driver=sqlite --threads=2 --hold-time=0 "$@" run \
  >     >out 2>err; }
  $ some || cat err
  $ last
  connect: 8 of 20 connections were made; 0 lost; 8 answered at the end
  $ grep -o 'total number of events: *8\|^Failed events: 12 of 20' out
  total number of events:              8
  Failed events: 12 of 20
  $ some --require-all
  [3]
  $ grep verdict err
  verdict not passed: 12 connections were not made, and 0 were lost (--require-all)
  $ some --max-failed=50
  [1]

A connection that does not answer at the end.

  $ connect --threads=2 --hold-time=0 --query='SELECT nosuch' || cat err
  $ last
  connect: 20 of 20 connections were made; 0 lost; 0 answered at the end
  $ sed -n 's/.*\(WARNING: connect: a held connection\).*\(no such column: nosuch\).*/\1 \2/p' err out
  WARNING: connect: a held connection no such column: nosuch
  $ connect --threads=2 --hold-time=0 --query='SELECT nosuch' --require-all
  [3]
  $ grep verdict err
  verdict not passed: 20 connections did not answer at the end (--require-all)

In a mix, its users hold connections while the others execute their events.

  $ echo 'function event() end' >idle.lua
  $ sysbench --mix=burst=connect:2,idle.lua:1 --mix-by=users --threads=6 --db-driver=sqlite \
  >     --connections-per-user=2 --time=0.5 --report-operations run >out 2>err || cat err
  $ last
  connect: 8 of 8 connections were made; 0 lost; 8 answered at the end
  $ awk '$1 == "burst/connect" || $1 == "burst" { print $1, $2 }' out
  burst 8
  burst/connect 8
  $ sysbench --mix=burst=connect,idle.lua --time=0.1 run 2>&1 | grep FATAL
  FATAL: connect: a mix with this workload needs --mix-by=users, because its users hold their connections between events

More connections than the process may have files. The program raises a soft limit.

  $ (ulimit -n 300; connect --threads=100 --time=1) || grep -o 'connect: .*' err
  connect: 1000 connections need more open files than the limit of 300 (ulimit -n); raise it, or use several processes
  $ (ulimit -S -n 20; connect --threads=4 --hold-time=0 --time=100) || cat err
  $ last
  connect: 40 of 40 connections were made; 0 lost; 40 answered at the end

Errors.

  $ connect --hold=on
  [1]
  $ cat err
  FATAL: --hold must be idle or used, not 'on'
  $ connect --connections-per-user=0
  [1]
  $ cat err
  FATAL: --connections-per-user must be from 1 to 1000000, not 0
  $ connect --query='SELECT nosuch' --hold=used --time=1
  [1]
  $ grep -o 'SQL error.*' err
  SQL error, errno = 1, state = 'HY000': no such column: nosuch (query: SELECT nosuch)
