SPDX-License-Identifier: GPL-2.0-or-later

What servers count of statements: the option, `show` and `compare`. The figures are
invented; tests/db/test_statements has those of servers.

  $ [ -e "$SB_BUILDDIR/src/drivers/.libs/sqlite.so" ] || exit 80
  $ cat >e.lua <<'LUA'
  > function thread_init() con = sysbench.sql.driver():connect() end
  > function event() con:query("SELECT 1") end
  > LUA
  $ run() { sysbench e.lua --db-driver=sqlite --events=20 --time=0 "$@" run; }

A driver without an answer: a warning if it is asked for, otherwise nothing.

  $ run --report=none --server-statements=on
  WARNING: --server-statements: the sqlite driver cannot report this
  $ run --report=none,json=a.json
  $ run --report=none,json=b.json --server-statements=off
  $ grep -c '"statements"' a.json b.json
  a.json:0
  b.json:0
  [1]
  $ sysbench show --statements a.json | tail -n 2
  Statements: no server was asked what it counts, or none counts statements
  
  $ sysbench oltp_insert --db-driver=null --server-statements=most run | tail -n +3
  Invalid value for the 'server-statements' option: 'most' (must be one of auto, on, off)

What result files say, as text.

  $ edit() { python3 - "$@" <<'PY'
  > import json, sys
  > name, digests = sys.argv[1], eval(sys.argv[2])
  > doc = json.load(open(name))
  > for run in doc["runs"]:
  >     run["statements"] = {
  >         "servers": [{"driver": "mysql", "address": "db:3306", "why": None,
  >                      "lost": len(sys.argv) > 3, "reset": False}],
  >         "operations": [{"name": "select", "digests": 2, "client_calls": 20,
  >             "server_calls": 21, "client_ms": 1.5, "server_ms": 0.5,
  >             "difference_ms": 1, "agree": False}],
  >         "digests": [{"operation": "select", "text": text, "shape": text.lower(),
  >             "calls": calls, "ms": ms, "rows": rows, "examined": None,
  >             "hit": None, "read": None, "written": None, "errors": 0}
  >             for text, calls, ms, rows in digests],
  >         "unlisted": {"digests": 0, "calls": 0, "ms": None}}
  > json.dump(doc, open(name, "w"))
  > PY
  > }
  $ edit a.json '[("SELECT A", 200, 2, 1), ("SELECT \x1b[31m", 150, 1, 3),
  >     ("SELECT C", 100, 0.5, 10), ("SELECT D", 99, 0.1, 1)]' lost
  $ sysbench show --statements a.json | sed -n '/^Statements/,$p'
  Statements as counted by the server:
  db:3306: incomplete: the server had no room for all statements
  Operation (ms)        calls    on server       client       server   difference
  select                   20           21          1.5          0.5            1
  Calls of client and server differ (other users, or calls that the server does not count): select
  
        calls         ms       rows  statement (ms, rows and pages per call)
          200          2          1  SELECT A
          150          1          3  SELECT \x1b[31m
          100        0.5         10  SELECT C
           99        0.1          1  SELECT D
  

`compare` names statements that only one side has, unless the other one is incomplete,
and those with another mean time (by a factor of 1.5) or other rows (1.2); with at least
100 calls.

  $ edit b.json '[("SELECT A", 200, 2.9, 1.1), ("SELECT C", 100, 0.6, 12.1),
  >     ("SELECT D", 99, 9, 1), ("SELECT E", 100, 3, 1)]'
  $ differ() { sysbench compare "$@" | grep -A4 '^Statements' |
  >     sed '/^$/,$d'; }
  $ differ a.json b.json
  Statements that differ on the servers (mean time, rows):
      0.5 ms, 10 rows / 0.6 ms, 12.1 rows: select c
      1 ms, 3 rows / (none): select \x1b[31m
  $ edit a.json '[("SELECT A", 200, 1.9, 1), ("SELECT A", 200, 1.9, 1)]'
  $ differ a.json b.json
  Statements that differ on the servers (mean time, rows):
      1.9 ms, 1 row / 2.9 ms, 1.1 rows: select a
      (none) / 0.6 ms, 12.1 rows: select c
      (none) / 3 ms, 1 row: select e
  $ sysbench compare --json=c.json a.json b.json >out; case $? in 0 | [345]) ;; *) false ;; esac
  $ python3 -c 'import json
  > for d in json.load(open("c.json"))["differences"]:
  >     if d["kind"] == "statement": print(d["name"], d["a"], d["b"])'
  select a ['1.9 ms, 1 row'] ['2.9 ms, 1.1 rows']
  select c [] ['0.6 ms, 12.1 rows']
  select e [] ['3 ms, 1 row']
