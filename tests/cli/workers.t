SPDX-License-Identifier: GPL-2.0-or-later

Many users on few threads (--workers).

  $ run() { sysbench --db-driver=null --workers=2 "$@" run >out 2>err; }

Thousands of users connect at the same time, and need no threads for that.

  $ cat >threads.lua <<'END'
  > function thread_init()
  >    con = sysbench.sql.driver():connect()
  >    local status = assert(io.open("/proc/self/status")):read("*a")
  >    local threads = tonumber(status:match("Threads:%s*(%d+)"))
  >    assert(threads < 20, threads .. " threads")
  > end
  > function event()
  >    con:query("SELECT 1")
  > end
  > END
  $ run threads.lua --threads=2000 --null-connect-latency=10ms --events=4000 --time=0 \
  >     --thread-init-timeout=600 || cat err
  $ grep 'total number of events' out
      total number of events:              4000

With --connect-parallel=1 they connect one after the other; waiting for that is not part
of a connect. So all connects together take less time than the run. The same with threads.

  $ one_by_one() {
  >     run connect --threads=30 --connections-per-user=1 --hold-time=0 --time=100 \
  >         --null-connect-latency=10ms --connect-parallel=1 --report=json=j.json "$@"
  > }
  $ connects() {
  >     python3 - <<'END'
  > import json
  > run = json.load(open("j.json"))["runs"][0]
  > op = [o for o in run["operations"] if o["name"] == "connect"][0]["latency"]
  > print(op["count"], 0.29e9 < op["sum"] < run["end"]["seconds"] * 1e9)
  > END
  > }
  $ one_by_one && connects || cat err
  30 True
  $ one_by_one --workers=users && connects || cat err
  30 True

At the end of a run, users that wait for their turn give up; only those that are
connecting are canceled.

  $ run connect --threads=30 --null-connect-latency=1000s --connect-parallel=2 --time=1 \
  >     --shutdown-grace=2
  [2]
  $ sed 's/still busy .* s after/still busy after/' err
  WARNING: 2 of 30 users are still busy after the end of the run; canceling their calls
  All canceled calls have returned.

An event that makes many short calls ends with them, too.

  $ echo 'function thread_init() con = sysbench.sql.driver():connect() end
  >     function event() while true do con:query("SELECT 1") end end' >short.lua
  $ for w in 1 users; do
  >     run short.lua --threads=2 --workers=$w --null-latency=1ms --time=0.2 --shutdown-grace=1
  >     grep -e busy -e 'All canceled' err | sed 's/still busy .* s after/still busy after/'
  > done
  WARNING: 2 of 2 users are still busy after the end of the run; canceling their calls
  All canceled calls have returned.
  WARNING: 2 of 2 users are still busy after the end of the run; canceling their calls
  All canceled calls have returned.

The rate of the workload connect holds: the last of 60 connections is due 0.98 s after
the first.

  $ took() { sed -n 's/^connect: .* in \([0-9]\.[0-9]\).*/\1/p' out; }
  $ run connect --threads=30 --connections-per-user=2 --connect-rate=60 --hold-time=0 \
  >     --time=100 || cat err
  $ sed -n 's/ in [0-9.]* s//; /^connect: /p' out
  connect: 60 of 60 connections were made; 0 lost; 60 answered at the end
  $ awk -v t="$(took)" 'BEGIN { print (t >= 0.9) }'
  1

Users reconnect during the run while others of their worker run.

  $ run oltp_point_select --threads=500 --null-connect-latency=5ms \
  >     --db-refresh-events=2 --events=3000 --time=0 || cat err
  $ grep -c 'reconnects:  *[1-9]' out
  1

Workers leave the processor to others, unless their users wait for times. A policy that
the program was started with stays.

  $ policy() {
  >     "$@" oltp_point_select --db-driver=null --threads=1 --workers=1 --events=1 --time=0 \
  >         --verbosity=5 $with run 2>&1 |
  >         sed -nE 's/^DEBUG: worker 0: 1 users, (io_uring|epoll)/policy/p'
  > }
  $ policy sysbench
  policy, batch
  $ with=--rate=1000 policy sysbench
  policy
  $ with=--think-time=1ms policy sysbench
  policy
  $ with=--worker-policy=normal policy sysbench
  policy
  $ with=--rate=1000\ --worker-policy=batch policy sysbench
  policy, batch
  $ policy chrt --batch 0 sysbench
  policy

A driver that cannot wait without its worker says so once.

  $ sysbench connect --db-driver=sqlite --threads=4 --workers=2 --hold-time=0 \
  >     --time=100 run >out 2>err || cat err
  $ grep -c 'the sqlite driver blocks its worker' err
  1

While a user of SQLite waits for a lock, others of its worker run: the one that holds the
lock, too. So no wait lasts until the time limit, which would restart the event.

  $ cat >lock.lua <<'END'
  > function init()
  >    local con = sysbench.sql.driver():connect()
  >    con:query("CREATE TABLE t (n INTEGER)")
  >    con:disconnect()
  > end
  > function thread_init()
  >    con = sysbench.sql.driver():connect()
  >    if hold then hold(sysbench.tid) end
  > end
  > function event()
  >    con:query("BEGIN IMMEDIATE")
  >    con:query("INSERT INTO t VALUES (1)")
  >    sysbench.user.wait(0.005)
  >    con:query("COMMIT")
  > end
  > END
  $ locked() {
  >     rm -f "$1.sqlite"*
  >     sysbench "$1.lua" --db-driver=sqlite --sqlite-db="$1.sqlite" --threads=3 --workers=1 \
  >         --events=12 --time=0 --sqlite-busy-timeout=20 --report=json=lock.json run >out 2>err || cat err
  >     grep -oE '"(completed|restarts)":[0-9]+' lock.json | head -2
  > }
  $ locked lock
  "completed":12
  "restarts":0

The same while a user connects again and sets the journal mode, for which others wait.

  $ cat - lock.lua >journal.lua <<'END'
  > function hold(user)
  >    if user == 0 then
  >       con:query("PRAGMA journal_mode=delete")
  >       con:query("BEGIN IMMEDIATE")
  >    end
  >    sysbench.user.wait(0.05)
  >    if user == 0 then
  >       con:query("COMMIT")
  >    else
  >       con:reconnect()
  >    end
  > end
  > END
  $ locked journal
  "completed":12
  "restarts":0

A limit that prevents the event loops is named, with each way to wait.

  $ for with in epoll io_uring; do
  >     (ulimit -n 64 && sysbench oltp_point_select --db-driver=null --threads=100 --workers=100 \
  >         --event-loop=$with run 2>&1 >out) | sed '/io_uring is not available/d' | uniq
  > done | sort -u
  FATAL: cannot create an event loop: (Too many open files|No file descriptors available) \(limit of open files, ulimit -n: 64\) (re)

There are as many workers as processors that the program may use.

  $ one=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
  $ taskset -c "$one" sysbench threads.lua --db-driver=null --workers=processors \
  >     --threads=4 --events=4 run | grep 'Number of workers'
  Number of workers: 1
