SPDX-License-Identifier: GPL-2.0-or-later

The GitHub Action of packaging/github-action: its commands as they are, with a
built-in workload.

  $ action="$SB_SRCDIR/packaging/github-action/action.yml"
  $ cat >steps.py <<'EOF'
  > # Writes the commands of each step to a file; checks what GitHub would.
  > import re, sys, yaml
  > a = yaml.safe_load(open(sys.argv[1]))
  > assert a["runs"]["using"] == "composite"
  > steps = a["runs"]["steps"]
  > ids = {s["id"] for s in steps if "id" in s}
  > used = set(re.findall(r"\binputs\.([\w-]+)", open(sys.argv[1]).read()))
  > assert used == set(a["inputs"]), used ^ set(a["inputs"])
  > for out in a["outputs"].values():
  >     step, name = re.fullmatch(r"\$\{\{ steps\.(\w+)\.outputs\.(\w+) \}\}",
  >                               out["value"]).groups()
  >     run, = [s["run"] for s in steps if s.get("id") == step]
  >     assert 'echo "%s=' % name in run
  > for s in steps:
  >     if "run" not in s:
  >         print(s["name"], s["uses"])
  >         continue
  >     assert s["shell"] == "bash" and "${{" not in s["run"]
  >     assert set(re.findall(r"steps\.(\w+)", str(s["env"]))) <= ids
  >     open(s["name"], "w").write(s["run"])
  >     print(s["name"], *s["env"])
  > EOF
  $ /usr/bin/python3 -c 'import yaml' 2>no_yaml || exit 80
  $ /usr/bin/python3 steps.py "$action"
  history of the base branch actions/cache/restore@v4
  measure ARGS FOLDER LABELS SYSBENCH COMMIT
  judge FOLDER OPTIONS PAGE SYSBENCH
  keep the history actions/cache/save@v4
  verdict FAIL_ON STATUS VERDICT
  $ if command -v shellcheck >no_yaml; then shellcheck -s bash measure judge verdict; fi

The first run of a branch: there is no history.

  $ export GITHUB_OUTPUT=output GITHUB_STEP_SUMMARY=summary.md
  $ export FOLDER=results SYSBENCH=sysbench OPTIONS= PAGE= FAIL_ON=worse
  $ export COMMIT=0123456789abcdef0123456789abcdef01234567
  $ export ARGS="cpu --events=50 --time=0 --rand-type='uniform'" LABELS='disk=a b'
  $ step() { bash --noprofile --norc -eo pipefail "$1"; }
  $ output() { sed -n "s/^$1=//p" output | tail -n 1; }
  $ verdict() { STATUS=$(output status) VERDICT=$(output verdict) step verdict; }
  $ step measure | grep -c 'total number of events'
  1
  $ output result
  results/*Z-0123456789.json (glob)
  $ /usr/bin/python3 -c "import json, sys
  > print(json.load(open(sys.argv[1]))['runs'][0]['labels'])" results/*.json
  {'commit': '0123456789', 'disk': 'a b'}
  $ step judge | grep Verdict
  Verdict: 0123456789: not enough history: 0 earlier results, 5 are needed.
  $ cat output | tail -n 2
  verdict=not enough history
  status=5
  $ verdict
  The newest result: not enough history
  $ FAIL_ON=undecided verdict
  The newest result: not enough history
  [1]
  $ grep '^#' summary.md
  ### sysbench history: not enough history

Later ones, with simulated results: as before, and worse.

  $ cat >simulate.py <<'EOF'
  > import glob, json, sys
  > path, = glob.glob("results/*-0123456789.json")
  > d = json.load(open(path))
  > r = d["runs"][0]
  > for i in range(12):
  >     r["started"] = "2026-01-01T%02d:00:00.000Z" % i
  >     r["labels"] = {"commit": "c%d" % i}
  >     v = 1000 * (1 + i % 3 / 100) * (float(sys.argv[1]) if i == 11 else 1)
  >     r["end"]["seconds"] = r["counters"]["completed"] / v
  >     json.dump(d, open("simulated/%d.json" % i, "w"))
  > EOF
  $ mkdir simulated
  $ /usr/bin/python3 simulate.py 1
  $ export FOLDER=simulated
  $ step judge | grep Verdict
  Verdict: c11 is as the 11 results before: throughput * (glob)
  $ verdict
  The newest result: as before
  $ /usr/bin/python3 simulate.py 0.8
  $ step judge | grep Verdict
  Verdict: c11 is worse than the 11 results before: throughput * (glob)
  $ verdict
  The newest result: worse
  [1]
  $ FAIL_ON=never verdict
  The newest result: worse
  $ FAIL_ON=no verdict
  The newest result: worse
  fail-on: 'no' must be worse, undecided or never
  [1]
  $ OPTIONS='--margin=50 --last=20' step judge | grep Verdict
  Verdict: c11 is as the 11 results before: throughput * (glob)
  $ grep '^#' summary.md
  ### sysbench history: not enough history
  ### sysbench history: as before
  ### sysbench history: worse
  ### sysbench history: as before

Failures end the step.

  $ ARGS='cpu --no-such' FOLDER=results step measure >out 2>&1
  [1]
  $ OPTIONS=--no-such step judge >out 2>&1
  [1]
  $ FOLDER=none step judge >out
  FATAL: cannot read none: No such file or directory
  [1]
