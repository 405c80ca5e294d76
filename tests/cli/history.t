SPDX-License-Identifier: GPL-2.0-or-later

`sysbench history DIR`, with simulated results of a commit each: a deviation of
2 %, from fixed seeds.

  $ sysbench cpu --time=0 --events=50 --report=none,json=base.json run
  $ cat >simulate.py <<'EOF'
  > # FOLDER NUMBER... : results of 1,000 events/s, from result 30 on 5 % less
  > import json, math, os, random, sys
  > folder, kind = sys.argv[1:3]
  > os.makedirs(folder, exist_ok=True)
  > d = json.load(open("base.json"))
  > r = d["runs"][0]
  > for i in range(*map(int, sys.argv[3:5])):
  >     random.seed(i)
  >     v = 1000 * math.exp(random.gauss(0, 0.02))
  >     v *= 0.95 if kind == "step" and i >= 30 else 1
  >     r["started"] = "2026-11-%02dT%02d:00:00.000Z" % (1 + i // 24, i % 24)
  >     r["labels"] = {"commit": "c%d" % i}
  >     r["end"]["seconds"] = r["counters"]["completed"] / v
  >     for p in ("95", "99"):
  >         r["latency"]["percentiles"][p] = round(1e9 / v)
  >     json.dump(d, open("%s/%d.json" % (folder, i), "w"))
  > EOF
  $ simulate() { /usr/bin/python3 simulate.py "$@"; }
  $ changed() {  # FILE... PYTHON: d is a document, r its first run, i its number
  >     /usr/bin/python3 -c 'import json, sys
  > for i, path in enumerate(sys.argv[1:-1]):
  >     d = json.load(open(path))
  >     r = d["runs"][0]
  >     exec(sys.argv[-1])
  >     json.dump(d, open(path, "w"))' "$@"
  > }

Nothing has changed.

  $ simulate same same 0 40
  $ sysbench history same
  cpu, 1 thread: 40 results, c0 (2026-11-01) to c39 (2026-11-02)
  
  No change was found.
  
  Newest result        before     newest     change          99 % interval
  throughput, /s        * as before (glob)
  p95, ms               * as before (glob)
  p99, ms               * as before (glob)
  
  Verdict: c39 is as the 39 results before: throughput * (99 % interval *). (glob)

A step. The results after it are judged by the new level.

  $ simulate step step 0 50
  $ sysbench history step >out
  $ sed -n 3,6p out
  Changes              before      after     change          99 % interval
  throughput, /s * worse since c30 (2026-11-02) (glob)
  p95, ms        * worse since c30 (2026-11-02) (glob)
  p99, ms        * worse since c30 (2026-11-02) (glob)
  $ grep Verdict out
  Verdict: c49 is as the 19 results before: * (glob)

What else has changed at the step is named.

  $ changed $(seq -f step/%g.json 30 49) 'd["program"]["version"] = "9.9"; r["host"]["kernel"] = "new"'
  $ sysbench history step | grep differ
  Programs that differ: version * / 9.9 (glob)
  Client machines that differ: kernel * / new (glob)

The newest result is worse. After a step, one more result is worse: the one with
which the step is found.

  $ changed same/39.json 'r["end"]["seconds"] *= 1.2'
  $ sysbench history same >out
  [3]
  $ grep Verdict out
  Verdict: c39 is worse than the 39 results before: throughput -* (glob)
  $ sysbench history --margin=5 same | grep Verdict
  Verdict: c39 is worse than the 39 results before: throughput -* (glob)
  $ sysbench history --margin=18 same >out
  [5]
  $ grep Verdict out
  Verdict: c39 is undecided: the results scatter so much that a change of 18 % is possible: throughput * (glob)
  $ sysbench history --margin=40 same | grep Verdict
  Verdict: c39 is as the 39 results before: throughput * (glob)
  $ changed same/39.json 'r["end"]["seconds"] /= 1.5'
  $ sysbench history same | grep Verdict
  Verdict: c39 is better than the 39 results before: throughput +* (glob)
  $ for i in 31 32 33 34 35 36; do
  >     rm -rf new && simulate new step 0 $i && sysbench history new
  >     echo "status $?"
  > done | grep -E 'Verdict: .* (worse|confirms)|status'
  Verdict: c30 is worse than the 30 results before: throughput -* (glob)
  status 3
  status 5
  status 5
  Verdict: c33 confirms that the results are worse since c30: throughput -* (glob)
  status 3
  status 0
  status 0

More errors are worse, whatever the speed is.

  $ rm -r same && simulate same same 0 20
  $ changed same/19.json 'r["counters"]["err_ignored"] = 5'
  $ sysbench history same >out
  [3]
  $ grep -E '^errors|Verdict' out
  errors, % * worse (glob)
  Verdict: c19 is worse than the 19 results before: errors +10 (99 % interval *). (glob)

The headline that was chosen decides; that of a script is a figure like others.
Levels of 0 have differences in the unit of the figure.

  $ rm -r same && simulate same same 0 20
  $ headline() {  # VALUE CHOSEN: of the newest result
  >     changed $(seq -f same/%g.json 0 19) "
  > r['headline'] = {'figure': 'lost', 'value': $1 if i == 19 else i % 3,
  >                  'unit': 'writes', 'better': 'lower', 'chosen': $2}"
  > }
  $ headline 9 True
  $ sysbench history same >out
  [3]
  $ grep -E '^lost|Verdict' out
  lost, writes        * +8.0*  worse (glob)
  Verdict: c19 is worse than the 19 results before: lost +8.0* (99 % interval *). (glob)
  $ headline 9 False
  $ sysbench history same | grep Verdict
  Verdict: c19 is as the 19 results before: throughput * (glob)
  $ headline 2 True
  $ sysbench history same | grep Verdict
  Verdict: c19 is as the 19 results before: lost * (glob)

A headline of another name, unit or direction is another figure. The newest result
says which one counts, and which figures all results must have.

  $ headline 1 True
  $ changed same/2.json 'r["headline"]["unit"] = "rows"'
  $ sysbench history same >out
  [5]
  $ grep -E '^lost|Verdict' out
  Verdict: c19: not enough history: not all results have lost.
  $ headline 1 False
  $ changed same/[0-3].json 'r["headline"]["figure"] = "kept"'
  $ sysbench history same | grep -E '^(lost|kept)|Verdict'
  Verdict: c19 is as the 19 results before: throughput * (glob)
  $ sysbench history same --last=16 | grep -E '^(lost|kept)'
  lost, writes * (glob)
  $ headline 9 True
  $ changed same/0.json 'r["headline"].update(figure="kept", better="higher", chosen=False)'
  $ sysbench history same --last=19 | grep -E 'Verdict'
  Verdict: c19 is worse than the 18 results before: lost +* (glob)
  $ headline 2 True
  $ changed $(seq -f same/%g.json 0 19) 'r["headline"]["figure"] = "p95"'
  $ changed same/4.json 'del r["latency"]["percentiles"]["95"]'
  $ sysbench history same >out
  [5]
  $ grep Verdict out
  Verdict: c19: not enough history: not all results have p95.
  $ changed same/4.json 'r["latency"]["percentiles"]["95"] = 1000000'

The rate that a search has found decides, if it is of the same limit.

  $ changed $(seq -f same/%g.json 0 19) 'del r["headline"]
  > r["open_loop"] = True
  > r["search"] = {"limit": "p99<5ms", "rate": 100, "highest": 500 + i % 3 + 40 * (i == 19)}'
  $ sysbench history same | grep -E '^p95|Verdict'
  p95, ms * (glob)
  Verdict: c19 is better than the 19 results before: highest rate +8.* (glob)
  $ changed same/3.json 'r["search"]["limit"] = "p99<9ms"'
  $ sysbench history same | grep Verdict
  Verdict: c19: not enough history: not all results have highest rate.

Not enough results.

  $ rm -r same && simulate same same 0 5
  $ sysbench history same >out
  [5]
  $ grep -E 'results|Verdict' out
  cpu, 1 thread: 5 results, c0 (2026-11-01) to c4 (2026-11-01)
  At least 6 results are needed to find changes.
  Verdict: c4: not enough history: 4 earlier results, 5 are needed.
  $ sysbench history same/0.json
  cpu, 1 thread: 1 result, c0 (2026-11-01)
  
  At least 6 results are needed to find changes.
  
  Newest result        before     newest     change          99 % interval
  throughput, /s *          -          - .. -          not enough history (glob)
  p95, ms        *          -          - .. -          not enough history (glob)
  p99, ms        *          -          - .. -          not enough history (glob)
  
  Verdict: c0: not enough history: 0 earlier results, 5 are needed.
  [5]

Files that do not count. Hidden ones and those of other names are not read.

  $ simulate same same 5 10
  $ mkdir -p same/sub/.hidden same/nothing
  $ echo '{"name": "x", "runs": [1, {"a": "}"}]}' >same/package.json
  $ echo '[1, 2]' >same/sub/list.json
  $ printf '{"a": "\\' >same/sub/text.json
  $ head -c 900 same/0.json >same/sub/cut.json
  $ head -c -30 same/0.json >same/sub/tail.json
  $ : >same/sub/empty.json
  $ cp same/0.json same/sub/copy.json
  $ cp same/0.json same/sub/.hidden/
  $ cp same/0.json same/sub/other.txt
  $ ln -s .. same/sub/loop
  $ cp same/0.json same/sub/failed.json
  $ changed same/sub/failed.json 'r["end"]["reason"] = "failed"; r["seed"] = "1"'
  $ sysbench history same | grep -v '^[NtpV]'
  cpu, 1 thread: 10 results, c0 (2026-11-01) to c9 (2026-11-01)
  
  
  
  3 files are no result files; the first: same/package.json
  3 files or folders cannot be read; the first: same/sub/cut.json is not a complete JSON document: * (glob)
  1 run was left out: same/sub/failed.json failed
  1 run is there twice: same/sub/copy.json
  $ mkdir none
  $ sysbench history none
  FATAL: none has no results with figures
  [1]
  $ sysbench history same/package.json
  FATAL: same/package.json is not a result file
  [1]
  $ sysbench history no/such
  FATAL: cannot read no/such: No such file or directory
  [1]
  $ sysbench history
  history: the name of a result file is missing
  Usage: sysbench history [OPTIONS] DIR|FILE...
  See 'sysbench history --help'.
  [1]
  $ rm -r same/sub same/package.json

Files of two versions of the format, equal times, missing times, options that the
older file does not have.

  $ changed same/3.json 'd["version"] = 2'
  $ changed same/4.json 'r["options"] = [o for o in r["options"] if o["name"] != "think-time"]'
  $ changed same/5.json 'r["started"] = "2026-11-01T04:00:00.000Z"; r["seed"] = "2"'
  $ changed same/6.json 'del r["started"]'
  $ changed same/2.json 'r["block"] = chr(34) + "]}" + chr(92)'
  $ changed same/7.json 'del d["program"], r["host"]["kernel"], r["workers"]'
  $ sysbench history same | grep -v '^[NtpV]'
  cpu, 1 thread: 10 results, c6 to c9 (2026-11-01)
  
  
  
  1 file is of a newer version of sysbench: same/3.json

Runs that do other work are series of their own. An option that is given with the
value of its default is no difference; reports, sweeps, statistics of the server,
seeds and the ports of the driver are none either.

  $ rm -r same && simulate same same 0 12
  $ for i in 6 7; do changed same/$i.json 'r["threads"] = 4'; done
  $ for i in 8 9; do
  >     changed same/$i.json 'r["options"][-1].update(value="500", source="command line")'
  > done
  $ changed same/3.json '
  > for o in r["options"]:
  >     if o["name"].split("-")[0] in ("report", "sweep", "server", "launch"):
  >         o.update(value="7", source="command line")
  > r["databases"] = [{"driver": "exampledb"}]
  > for name in "exampledb-port", "example-user", "a.example-socket", "rand-seed", "label", "until", "price":
  >     r["options"].append({"name": name, "value": "7", "source": "command line"})'
  $ changed same/4.json '[o for o in r["options"] if o["name"] == "rate"][0]["source"] = "command line"'
  $ sysbench history same | grep result
  cpu, 1 thread, cpu-max-prime=500: 2 results, c8 (2026-11-01) to c9 (2026-11-01)
  At least 6 results are needed to find changes.
  The newest results have none of this series.
  cpu, 1 thread, cpu-max-prime=10000: 8 results, c0 (2026-11-01) to c11 (2026-11-01)
  Newest result * (glob)
  cpu, 4 threads, cpu-max-prime=10000: 2 results, c6 (2026-11-01) to c7 (2026-11-01)
  At least 6 results are needed to find changes.
  The newest results have none of this series.
  Verdict: cpu, 1 thread, cpu-max-prime=10000: c11 is undecided: * (glob)
  $ sysbench history same --ignore=cpu-max-prime | grep ' results,'
  cpu, 1 thread: 10 results, c0 (2026-11-01) to c11 (2026-11-01)
  cpu, 4 threads: 2 results, c6 (2026-11-01) to c7 (2026-11-01)

Options of scripts do matter, whatever they begin with or end in. --ignore and --at
accept '-' and '_'.

  $ rm -r same && simulate same same 0 12
  $ changed same/?.json '
  > name = ["report_lag", "label-size", "price_count", "until_n", "assertions",
  >     "threads_hot", "server-rows", "repeat_reads", "my-port", "the_user"][i]
  > r["options"].append({"name": name, "value": "7", "source": "command line"})'
  $ sysbench history same | grep -o '[a-z_-]*=7' | sort
  assertions=7
  label-size=7
  my-port=7
  price_count=7
  repeat_reads=7
  report_lag=7
  server-rows=7
  the_user=7
  threads_hot=7
  until_n=7
  $ changed same/?.json 'r["options"].pop()'
  $ changed same/3.json 'r["options"].append({"name": "table_size", "value": "7", "source": "command line"})'
  $ changed same/[45].json 'r["options"].append({"name": "table_size", "value": "5", "source": "default"})'
  $ sysbench history same --ignore=table-size | grep ' results,'
  cpu, 1 thread: 12 results, c0 (2026-11-01) to c11 (2026-11-01)
  $ sysbench history same --at=table-size=7 | grep ' result,'
  cpu, 1 thread: 1 result, c3 (2026-11-01)
  $ sysbench history same --at=table-size=5,cpu_max_prime=10000 | grep ' results,'
  cpu, 1 thread: 11 results, c0 (2026-11-01) to c11 (2026-11-01)
  $ sysbench history same --ignore=time,tabel-size
  FATAL: --ignore: no result has an option 'tabel-size'
  [1]

The newest result is that of the series that are shown. It is undecided if a run of it
was left out and not repeated.

  $ rm -r same && simulate same same 0 21
  $ changed same/9.json same/20.json 'r["threads"] = 8'
  $ sysbench history same --at=threads=1 --json=h.json | grep -E 'Verdict|none of'
  Verdict: c19 is as the 18 results before: throughput * (glob)
  $ verdict() {
  >     /usr/bin/python3 -c 'import json, jsonschema, os
  > d = json.load(open("h.json"))
  > jsonschema.validate(d, json.load(open(os.environ["SB_SRCDIR"] + "/docs/history.schema.json")))
  > print(d["newest"], d["verdict"], d["reason"])'
  > }
  $ verdict
  c19 as before None
  $ sysbench history same --at=threads=8 --json=h.json | grep Verdict
  Verdict: c20: not enough history: 1 earlier result, 5 are needed.
  $ verdict
  c20 not enough history None
  $ rm -r same && simulate same same 0 20
  $ changed same/19.json 'r["end"]["reason"] = "failed"'
  $ sysbench history same --json=h.json --export=markdown=m.md >out
  [5]
  $ grep -E '^(#|-)' m.md
  ### sysbench history: undecided
  - c19 is undecided: a run was left out: same/19.json failed.
  - 1 run was left out: same/19.json failed
  $ grep -E 'Verdict|left' out
  Verdict: c19 is undecided: a run was left out: same/19.json failed.
  1 run was left out: same/19.json failed
  $ verdict
  c19 undecided c19 is undecided: a run was left out: same/19.json failed.
  $ cp same/18.json same/again.json
  $ changed same/again.json 'r["labels"]["commit"] = "c19"; r["started"] = "2026-11-02T00:00:00.000Z"'
  $ sysbench history same | grep Verdict
  Verdict: c19 is as the 19 results before: throughput * (glob)
  $ changed same/again.json 'r["started"] = "2026-11-01T18:30:00.000Z"'
  $ sysbench history same >out
  [5]
  $ grep -E 'Verdict|left' out
  Verdict: c19 is as the 19 results before: throughput * (glob)
  Verdict: c19 is undecided: a run was left out: same/19.json failed.
  1 run was left out: same/19.json failed
  $ changed same/19.json 'r["threads"] = 8'
  $ sysbench history same >out
  [5]
  $ sysbench history same --at=threads=1 | grep Verdict
  Verdict: c19 is as the 19 results before: throughput * (glob)
  $ changed same/again.json 'r["end"]["seconds"] *= 1.3'
  $ sysbench history same >out
  [3]

Neighbors of the same label are repeats; without labels those of the same file.

  $ rm -r same && simulate same same 0 12
  $ for i in 4 5; do changed same/$i.json 'r["labels"]["commit"] = "c3"'; done
  $ sysbench history same | grep ' results,'
  cpu, 1 thread: 10 results, c0 (2026-11-01) to c11 (2026-11-01)
  $ sysbench cpu --time=0 --events=50 --repeat=3 --report=none,json=same/new.json run
  $ sysbench history same | grep ' results,'
  cpu, 1 thread*: 11 results, c0 (2026-11-01) to *T* (glob)
  $ rm same/new.json
  $ sysbench history same --by=version | grep ' results,'
  cpu, 1 thread: 12 results, 2026-11-01T00:00:00.000Z to 2026-11-01T11:00:00.000Z
  $ sysbench history same --last=7 | grep ' results,'
  cpu, 1 thread: 7 results, c3 (2026-11-01) to c11 (2026-11-01)

Another order: c10 is behind c9.

  $ rm -r same && simulate same same 0 12
  $ changed same/2.json 'r["started"] = "2027-01-01T00:00:00.000Z"'
  $ sysbench history same | grep ' results,'
  cpu, 1 thread: 12 results, c0 (2026-11-01) to c2 (2027-01-01)
  $ sysbench history same --order=commit | grep ' results,'
  cpu, 1 thread: 12 results, c0 (2026-11-01) to c11 (2026-11-01)

Text of files is printed, not executed.

  $ changed same/11.json 'r["labels"]["commit"] = "\x1b[31mred\nline"'
  $ sysbench history same --order=version | grep ' results,'
  cpu, 1 thread: 12 results, c0 (2026-11-01) to c2 (2027-01-01)
  $ sysbench history same/11.json | grep 'thread:'
  cpu, 1 thread: 1 result, \x1b[31mred line (2026-11-01)

The document.

  $ sysbench history step --json=h.json >out
  $ cat >check.py <<'EOF'
  > import json, jsonschema, os
  > d = json.load(open("h.json"))
  > top = os.environ["SB_SRCDIR"]
  > jsonschema.validate(d, json.load(open(top + "/docs/history.schema.json")))
  > s = d["series"][0]
  > f = s["figures"][0]
  > print(d["verdict"], s["newest"], len(s["points"]), s["points"][30]["label"])
  > print(f["figure"], f["decides"], len(f["values"]), [c["since"] for c in f["changes"]])
  > print([x["name"] for x in f["changes"][0]["differences"]])
  > EOF
  $ /usr/bin/python3 check.py
  as before True 50 c30
  throughput True 50 ['c30']
  ['version', 'kernel']
  $ sysbench history step --json=no/h.json >out
  FATAL: cannot write no/h.json: No such file or directory
  [1]

Exports. Bencher and github-action-benchmark get the newest result, Apache Otava
all of a series. "-" is standard output, without the text.

  $ cp -r step repeats
  $ changed repeats/48.json 'r["labels"]["commit"] = "c49"'
  $ sysbench history repeats --export=bencher=b.json,github-bigger=g.json,github-smaller=s.json,otava=o.csv >out
  $ cat >exports.py <<'EOF'
  > import csv, json, jsonschema
  > number = {"type": "number"}
  > measure = {"type": "object", "required": ["value"], "additionalProperties": False,
  >     "properties": {n: number for n in ("value", "lower_value", "upper_value")}}
  > b = json.load(open("b.json"))
  > jsonschema.validate(b, {"additionalProperties": {"additionalProperties": measure}})
  > for name, m in b.items():
  >     print(name, list(m), all(x["lower_value"] <= x["value"] <= x["upper_value"]
  >                              for x in m.values()))
  > entry = {"type": "object", "required": ["name", "unit", "value"],
  >     "additionalProperties": False, "properties": {"value": number,
  >         **{n: {"type": "string"} for n in ("name", "unit", "range", "extra")}}}
  > for name in "g.json", "s.json":
  >     g = json.load(open(name))
  >     jsonschema.validate(g, {"type": "array", "items": entry})
  >     for e in g:
  >         print(e["name"], e["unit"], e["extra"], ascii(e["range"][:2]))
  > rows = list(csv.reader(open("o.csv")))
  > print(rows[0], len(rows), [x[:10] for x in rows[1][:2]], {len(r) for r in rows})
  > EOF
  $ /usr/bin/python3 exports.py
  cpu, 1 thread ['throughput', 'p95 (ms)', 'p99 (ms)', 'errors (%)'] True
  cpu, 1 thread: throughput events/s c49 '\xb1 '
  cpu, 1 thread: p95 ms c49 '\xb1 '
  cpu, 1 thread: p99 ms c49 '\xb1 '
  cpu, 1 thread: errors % c49 '\xb1 '
  ['time', 'commit', 'throughput', 'p95', 'p99', 'errors'] 50 ['2026-11-01', 'c0'] {6}
  $ changed step/49.json 'r["labels"]["commit"] = "<b>|`a`"'
  $ sysbench history step --export=markdown=- | grep -E '^#|c30|^. cpu'
  ### sysbench history: as before
  - cpu, 1 thread: &lt;b\>\|\`a\` is as the 19 results before: throughput +* (glob)
  | cpu, 1 thread | throughput, /s | * | \*\*as before\*\* | (re)
  | cpu, 1 thread | p95, ms | * | as before | (glob)
  | cpu, 1 thread | p99, ms | * | as before | (glob)
  | cpu, 1 thread | c30 | throughput, /s | * | worse | (glob)
  $ changed repeats/49.json 'r["threads"] = 4'
  $ sysbench history repeats --export=otava=o2.csv >out
  FATAL: --export=otava: there are 2 series, and the table has room for one: choose it with --at=OPTION=VALUE
  [1]
  $ sysbench history repeats --at=threads=1 --export=otava=o2.csv | grep Verdict
  Verdict: c49 is as the 18 results before: * (glob)
  $ wc -l <o2.csv
  50
  $ sysbench history repeats --at=threads=3
  FATAL: --at: no series has these values (OPTION=VALUE)
  [1]
  $ sysbench history step --export=xml=a.xml
  --export: 'xml=a.xml' is not FORMAT=FILE; formats are markdown, bencher, github-bigger, github-smaller and otava
  [1]
  $ sysbench history step --export=bencher=
  --export: 'bencher=' is not FORMAT=FILE; formats are markdown, bencher, github-bigger, github-smaller and otava
  [1]
  $ sysbench history step --json=step/1.json
  FATAL: cannot write step/1.json: it is a result file
  [1]
  $ sysbench history step --export=otava=step/1.json
  FATAL: cannot write step/1.json: it is a result file
  [1]
  $ sysbench history step --export=bencher=no/b.json >out
  FATAL: cannot write no/b.json: No such file or directory
  [1]

Many results.

  $ cat >many.py <<'EOF'
  > import json, os
  > os.mkdir("many")
  > d = json.load(open("base.json"))
  > for name in "options", "intervals", "histograms", "host":
  >     del d["runs"][0][name]
  > del d["runs"][0]["latency"]["histogram"]
  > text = json.dumps(d, separators=(",", ":"))
  > at = text.index('"started":')
  > start = text[at:text.index(",", at)]
  > for i in range(10000):
  >     new = '"started":"2026-%02d-%02dT%02d:%02d:00.000Z"' % (
  >         1 + i // 1440 % 12, 1 + i // 60 % 24, i % 24, i % 60)
  >     with open("many/%d.json" % i, "w") as f:
  >         f.write(text.replace(start, new + ',"n":%d' % i))
  > EOF
  $ /usr/bin/python3 many.py
  $ sysbench history many | grep -E ' results, |No change'
  cpu, 1 thread: 10000 results, * (glob)
  No change was found.
