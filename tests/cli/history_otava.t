SPDX-License-Identifier: GPL-2.0-or-later

# Rare: needs Apache Otava (pip install apache-otava).

Apache Otava finds the step in the table of `sysbench history --export=otava`.

  $ command -v otava >/dev/null || exit 80
  $ sysbench cpu --time=0 --events=50 --report=none,json=base.json run
  $ cat >simulate.py <<'EOF'
  > import json, os
  > d = json.load(open("base.json"))
  > r = d["runs"][0]
  > os.mkdir("results")
  > for i in range(40):
  >     r["started"] = "2026-11-%02dT%02d:00:00.000Z" % (1 + i // 24, i % 24)
  >     r["labels"] = {"commit": "c%d" % i}
  >     v = (1000 if i < 25 else 900) + i % 7
  >     r["end"]["seconds"] = r["counters"]["completed"] / v
  >     json.dump(d, open("results/%d.json" % i, "w"))
  > EOF
  $ /usr/bin/python3 simulate.py
  $ sysbench history results --export=otava=history.csv | grep -o 'since c[0-9]*'
  since c25
  $ cat >otava.yaml <<'EOF'
  > tests:
  >   cpu:
  >     type: csv
  >     file: history.csv
  >     time_column: time
  >     attributes: [commit]
  >     metrics:
  >       throughput: {direction: 1}
  >       p95: {direction: -1}
  > EOF
  $ OTAVA_CONFIG=otava.yaml otava analyze cpu --since=2026-01-01 2>/dev/null |
  >     grep -A 2 ' c24 ' | grep -o -- '-[.0-9]*%'
  -9.9%
