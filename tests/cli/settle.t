SPDX-License-Identifier: GPL-2.0-or-later

What is done to a database before a run, with SQLite. tests/db/test_validity has servers.

  $ export SYSBENCH_DB_DRIVER=sqlite SYSBENCH_TABLE_SIZE=1000
  $ seconds() { sed -E 's/[0-9.e-]+ s/N s/g'; }
  $ sysbench oltp_read_write --tables=2 --settle prepare | tail -1 | seconds
  Settled in N s: analyzed 2 tables (N s), made a checkpoint (N s)
  $ run() { sysbench oltp_read_write --tables=2 --events=2 "$@" run; }
  $ run --settle=10s | grep -A1 Settled | seconds
  Settled in N s: analyzed 2 tables (N s), made a checkpoint (N s)
  Running the test with following options:
  $ run | grep -c Settled
  0
  [1]
  $ run --prewarm 2>&1 | grep rewarm | seconds
  Nothing was prewarmed (N s)
  WARNING: prewarm: no table was read: each connection of SQLite has a cache of its own; use --warmup-time

The result file has it. Each run of a sweep does it.

  $ run --settle --report=none,json=r.json
  $ python3 - <<'PY'
  > import json
  > for s in json.load(open("r.json"))["runs"][0]["settle"]["steps"]:
  >     print(s["name"], s["done"], s["text"])
  > PY
  analyze True analyzed 2 tables
  checkpoint True made a checkpoint
  $ "$SB_SRCDIR/tests/check-result" r.json
  $ run --settle --repeat=2 --report=none,json=s.json
  $ python3 -c 'import json
  > print([len(r["settle"]["steps"]) for r in json.load(open("s.json"))["runs"]])'
  [2, 2]

Behind a warm-up, or a search for the rate, it happens again while the users pause, before
the measured part, whose schedule begins then. Prewarming is not repeated.

  $ run --settle --prewarm --warmup-time=100ms --rate=50 --report=text,json=w.json \
  >     2>/dev/null | grep -E '^Settled|queue length' | seconds
  Settled in N s: analyzed 2 tables (N s), made a checkpoint (N s)
  Settled before the measured part in N s: analyzed 2 tables (N s), made a checkpoint (N s)
      scheduled: 2, started: 2, skipped: 0, queue length: 0, concurrency: 0
  $ "$SB_SRCDIR/tests/check-result" w.json
  $ python3 - <<'PY'
  > import json
  > r = json.load(open("w.json"))["runs"][0]
  > print([s["before"] + ": " + s["name"] for s in r["settle"]["steps"]])
  > # The pause has no row.
  > rows = r["intervals"]["rows"]
  > warm = [row[1] for row in rows if row[0] <= 0]
  > print(len(warm), r["settle"]["seconds"] > 0)
  > PY
  ['run: analyze', 'run: checkpoint', 'run: prewarm', 'measured part: analyze', 'measured part: checkpoint']
  1 True
  $ run --settle --rate=50% --rate-probe-time=100ms | grep '^Settled' | cut -d' ' -f1-5
  Settled in * s: analyzed (glob)
  Settled before the measured part

Not with stages, or in a run of several processes.

  $ run --settle --warmup-time=50ms --stages='rate=50 for 100ms' | grep -c ^Settled
  1
  $ run --settle --warmup-time=50ms --threads=2 --ranks=2 --rank=0 --rand-seed=1 |
  >     grep -c ^Settled
  1

A database in which another program writes.

  $ python3 - <<'PY' | seconds
  > import sqlite3
  > import subprocess
  > db = sqlite3.connect("sbtest.sqlite", isolation_level=None)
  > db.execute("BEGIN IMMEDIATE")
  > out = subprocess.run(["sysbench", "oltp_read_only", "--tables=2", "--settle",
  >     "--sqlite-busy-timeout=10ms", "--events=1", "run"],
  >     capture_output=True, text=True).stderr
  > print("\n".join(l[:60] for l in out.splitlines() if "analyze" in l))
  > PY
  WARNING: analyze: 2 tables were not analyzed: database is lo

Wrong values, and no database.

  $ run --settle=soon 2>&1 | tail -1
  --settle: 'soon' is neither on, off nor a time such as 30s
  $ unset SYSBENCH_DB_DRIVER SYSBENCH_TABLE_SIZE
  $ sysbench cpu --settle --events=1 run 2>&1 | grep settle
  WARNING: --settle has no effect on the built-in test 'cpu', which has no database
  $ echo 'function event() end' >e.lua
  $ sysbench e.lua --settle --events=1 run 2>&1 | grep settle | seconds
  Nothing was settled (N s)
  WARNING: settle: no database is known before the users connect; --db-driver selects one
