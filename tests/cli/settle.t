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
