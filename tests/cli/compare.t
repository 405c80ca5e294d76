SPDX-License-Identifier: GPL-2.0-or-later

Not with tsan: one thread.

`sysbench compare A B`, with simulated runs: 60 intervals, noise of 1 %.

  $ make() {  # FILE MEAN SEED [OPTION...]
  >     sysbench oltp_point_select --db-driver=null --events=2000 "$@" \
  >         --report=none,json=base.json run
  > }
  $ make --threads=2
  $ cat >simulate.py <<'EOF'
  > import json, random, sys
  > path, mean, seed, seconds = sys.argv[1:5]
  > random.seed(int(seed))
  > d = json.load(open("base.json"))
  > r = d["runs"][0]
  > names = [(c["group"], c["figure"]) for c in r["intervals"]["columns"]]
  > r["started"] = "2026-11-22T11:50:%02d.000Z" % int(seed)
  > rows = []
  > for i in range(int(seconds)):
  >     v = random.gauss(float(mean), float(mean) / 100)
  >     value = {"time": i + 1, "seconds": 1, "events": round(v)}
  >     rows.append([value.get(f, 4000 / v) if g == "run" else 1
  >                  for g, f in names])
  > r["intervals"]["rows"] = rows
  > events = [c["figure"] for c in r["intervals"]["columns"]].index("events")
  > r["end"]["seconds"] = (r["counters"]["completed"] * len(rows) /
  >                        sum(row[events] for row in rows))
  > json.dump(d, open(path, "w"))
  > EOF
  $ simulate() { /usr/bin/python3 simulate.py "$@"; }
  $ simulate a1.json 1000 1 60
  $ simulate a2.json 1001 2 60
  $ simulate a3.json 999 3 60
  $ simulate b1.json 900 4 60
  $ simulate b2.json 901 5 60
  $ simulate b3.json 899 6 60

A difference, both ways. The exit status is 3 if B is worse.

  $ sysbench compare a1.json b1.json >out
  [3]
  $ grep Verdict out
  Verdict: B is worse than A: throughput -10.* (glob)
  $ grep '^Two' out
  Two single runs: the deviation between repeated runs is unknown; 1 % is assumed (--run-deviation). Repeat the runs to be sure.
  $ sysbench compare b1.json a1.json | grep Verdict
  Verdict: B is better than A: throughput +11.* (glob)

No difference.

  $ sysbench compare a1.json a2.json | grep Verdict
  Verdict: B may be better or worse than A: throughput *. (glob)

Sets of repeats.

  $ sysbench compare a1.json,a2.json,a3.json b1.json,b2.json,b3.json >out
  [3]
  $ sed -n 's/60*[.0-9]* s/N s/; 1,2p' out | sed 's/of .* s,/of N s,/'
  A: a1.json,a2.json,a3.json: oltp_point_select, 3 runs of N s, 2 threads
  B: b1.json,b2.json,b3.json: oltp_point_select, 3 runs of N s, 2 threads
  $ grep -c '^Two' out
  0
  [1]
  $ sysbench compare --paired a1.json,a2.json,a3.json b1.json,b2.json | grep Verdict
  FATAL: --paired: A has 3 runs and B has 2; they must be equal
  [1]
  $ sed 's/"limit"/"failed"/' a2.json >gone.json
  $ sysbench compare --paired a1.json,gone.json b1.json,gone.json | grep Verdict
  FATAL: --paired: a run of a1.json,gone.json was left out, because it failed; leave out the pair
  [1]

A margin.

  $ sysbench compare --margin=20 a1.json,a2.json,a3.json b1.json,b2.json,b3.json |
  >     grep Verdict
  Verdict: B is equivalent to A within 20 %: throughput -* (glob)
  $ sysbench compare --margin=5 a1.json,a2.json,a3.json b1.json,b2.json,b3.json |
  >     grep Verdict
  Verdict: B is worse than A: * (glob)

Each verdict has a status: a wide interval does not pass, and --pass says what does.

  $ sysbench compare a1.json a2.json >out
  [5]
  $ sets="a1.json,a2.json,a3.json b1.json,b2.json,b3.json"
  $ status() { sysbench compare "$@" >out; echo $?; }
  $ status --margin=20 $sets; status --margin=20 --pass=better $sets
  0
  6
  $ status b1.json a1.json; status --pass=worse,inconclusive b1.json a1.json
  0
  7
  $ status --pass=worse $sets; status --pass=inconclusive a1.json a2.json
  0
  0

An interval that lies above the margin's lower end, but not below its upper one.

  $ status --margin=11 --pass=better,not-worse b1.json a1.json
  0
  $ grep Verdict out
  Verdict: B is not worse than A by more than 11 %, and may be better: * (glob)
  $ status --margin=11 --pass=better,not-worse a1.json b1.json
  5
  $ sysbench compare --pass=faster a1.json b1.json
  --pass: 'faster' is no verdict: better, equivalent, not-worse, inconclusive and worse are
  [1]

Names of the sides.

  $ sysbench compare --name=old,new a1.json b1.json | grep -e '^[AB] ' -e ^figure -e ^Verdict
  A (old): a1.json: oltp_point_select, 1 run of * s, 2 threads (glob)
  B (new): b1.json: oltp_point_select, 1 run of * s, 2 threads (glob)
  figure                                  old        new  B / A - 1                   95 % interval  verdict
  Verdict: new is worse than old: throughput -1* (glob)
  $ sysbench compare --name=old a1.json b1.json
  --name: two different names are expected, separated by a comma
  [1]

Too little data.

  $ simulate short.json 1000 1 3
  $ sysbench compare short.json a1.json >out
  [4]
  $ grep Verdict out
  Verdict: none, too little data.

JSON.

  $ sysbench compare --json=c.json a1.json b1.json >/dev/null
  [3]
  $ /usr/bin/python3 -c "import json; c = json.load(open('c.json'))
  > f = c['figures'][0]
  > print(c['format'], f['figure'], f['verdict'], -0.12 < f['difference'] < -0.08)
  > print(f['low'] < f['difference'] < f['high'], f['drift_unknown'])"
  sysbench-comparison throughput lower True
  True True
  $ ls c.json*
  c.json
  $ cp a1.json "$(printf 'x\351.json')"
  $ sysbench compare --json=raw.json "$(printf 'x\351.json')" a2.json >/dev/null
  [5]
  $ grep -c 'x\\\\xe9.json' raw.json
  2
  $ sysbench compare --json=no/c.json a1.json b1.json | tail -1
  FATAL: cannot write no/c.json: No such file or directory
  Two single runs: * (glob)

--html reads the files twice, so they cannot be pipes.

  $ cat a1.json | sysbench compare --html=no.html /dev/stdin b1.json 2>&1 >/dev/null
  FATAL: --html: /dev/stdin cannot be read twice: write it to a file
  [1]

The file is replaced as a whole, and only by one process.

  $ sysbench compare --json=/dev/full a1.json b1.json | tail -1
  FATAL: cannot write /dev/full: No space left on device
  Two single runs: * (glob)
  $ flock c.json.part sysbench compare --json=c.json a1.json b1.json | tail -1
  FATAL: cannot write c.json: another process is writing it
  Two single runs: * (glob)

Sides that did different work have no verdict: errors, events that fail,
lookups that find nothing. Restarts are only named.

  $ change() {  # FROM TO CODE: changes the run
  >     /usr/bin/python3 - "$@" <<'EOF'
  > import json, sys
  > d = json.load(open(sys.argv[1]))
  > r = d["runs"][0]
  > c = r["counters"]
  > op = max(r["operations"], key=lambda op: op["hits"])
  > exec(sys.argv[3])
  > json.dump(d, open(sys.argv[2], "w"))
  > EOF
  > }
  $ change b1.json ignored.json 'c["err_ignored"] = 1000'
  $ change b1.json failed.json 'c["failed"] = c["err_givenup"] = 20; c["started"] += 20'
  $ change b1.json empty.json 'op["misses"] = op["hits"]; op["hits"] = 0'
  $ change b1.json restarts.json 'c["restarts"] = c["err_restarted"] = 500'
  $ change b1.json few.json 'c["err_ignored"] = 9'
  $ for f in ignored failed empty; do
  >     sysbench compare --json=$f.out $f.json a1.json >out; echo $?
  >     grep -e differs -e ^Verdict -e ^The.sides out
  > done
  4
  errors, % of events                    50.0          0                                      differs
  Verdict: none, the sides did different work (throughput +*). (glob)
  The sides did different work: errors in 50.0 / 0 % of events. Their speeds cannot be compared.
  4
  errors, % of events                   0.990          0                                      differs
  failed events, % of events            0.990          0                                      differs
  Verdict: none, the sides did different work (throughput +*). (glob)
  The sides did different work: errors in 0.990 / 0 % of events, failed events in 0.990 / 0 % of events. Their speeds cannot be compared.
  4
  found nothing, % of lookups             100          0                                      differs
  Verdict: none, the sides did different work (throughput +*). (glob)
  The sides did different work: found nothing in 100 / 0 % of lookups. Their speeds cannot be compared.
  $ /usr/bin/python3 -c "import json
  > c = json.load(open('empty.out'))
  > print(c['verdict'], c['different_work'], c['work'][3])"
  none True {'name': 'found nothing', 'of': 'lookups', 'unit': '%', 'a': 100, 'b': 0, 'differs': True}
  $ sysbench compare restarts.json a1.json >out; grep -e differs -e ^Verdict -e ^The.sides out
  restarts, % of events                  25.0          0                                      differs
  Verdict: B is better than A: * (glob)
  The sides differ in restarts: restarts in 25.0 / 0 % of events.
  $ sysbench compare few.json a1.json >out; grep -e ^errors -e ^Verdict out
  errors, % of events                   0.450          0                                      similar
  Verdict: B is better than A: * (glob)

An event may have several errors and restarts: their rates may exceed 100 %.

  $ change b1.json over.json 'c["err_ignored"] = 2400'
  $ change b1.json above.json 'c["err_ignored"] = 3000'
  $ change b1.json again.json 'c["restarts"] = c["err_restarted"] = 2400'
  $ change b1.json oftener.json 'c["restarts"] = c["err_restarted"] = 3000'
  $ sysbench compare over.json above.json >out
  [4]
  $ grep ^errors out
  errors, % of events                     120        150                                      differs
  $ sysbench compare again.json oftener.json | grep ^restarts
  restarts, % of events                   120        150                                      differs

Rates that only chance makes different do not count, and neither do those that
come in a burst.

  $ change b1.json some.json 'c["err_ignored"] = 8'
  $ change b1.json more.json 'c["err_ignored"] = 22'
  $ sysbench compare some.json more.json | grep ^errors
  errors, % of events                   0.400       1.10                                      similar

The errors of an interval include restarted ones, and its failures those of
events that the end of the run cut short; neither belongs to these rates.

  $ rows() {  # FROM TO CODE: values of columns, each a function of the row
  >     /usr/bin/python3 - "$@" <<'EOF'
  > import json, sys
  > d = json.load(open(sys.argv[1]))
  > r = d["runs"][0]
  > c = r["counters"]
  > names = [(x["group"], x["figure"]) for x in r["intervals"]["columns"]]
  > def burst(n):
  >     return lambda i: n if i == 30 else 0
  > def even(n):
  >     return lambda i: n
  > def both(f, g):
  >     return lambda i: f(i) + g(i)
  > column = dict.fromkeys(("errors", "failed", "restarts"), even(0))
  > exec(sys.argv[3])
  > for figure, f in column.items():
  >     for i, row in enumerate(r["intervals"]["rows"]):
  >         row[names.index(("run", figure))] = f(i)
  > json.dump(d, open(sys.argv[2], "w"))
  > EOF
  > }
  $ rows b1.json zero.json ''
  $ rows b1.json burst.json 'c["err_ignored"] = 22
  > column["restarts"] = even(180); column["errors"] = both(even(180), burst(22))'
  $ sysbench compare zero.json burst.json | grep ^errors
  errors, % of events                       0       1.10                                      similar
  $ rows b1.json steady.json 'c["err_ignored"] = 60
  > column["restarts"] = burst(600); column["errors"] = both(even(1), burst(600))'
  $ sysbench compare zero.json steady.json >out
  [4]
  $ grep ^errors out
  errors, % of events                       0       3.00                                      differs
  $ rows b1.json cut.json 'c["failed"] = c["err_givenup"] = 70
  > c["cut_short"] = 40; c["started"] += 70
  > column["failed"] = lambda i: 40 * (i == 59) + i % 2'
  $ sysbench compare zero.json cut.json >out
  [4]
  $ grep ^failed out
  failed events, % of events                0       1.48                                      differs

Bursts do not count above 100 % either. A few events of which most are affected do.

  $ rows b1.json thrice.json 'c["err_ignored"] = 6000
  > column["errors"] = both(even(2000), burst(60000))'
  $ rows b1.json often.json 'c["err_ignored"] = 7400
  > column["errors"] = both(even(2000), burst(90000))'
  $ sysbench compare thrice.json often.json | grep ^errors
  errors, % of events                     300        370                                      similar
  $ rows b1.json most.json 'c["err_ignored"] = 1200
  > column["errors"] = burst(10000)'
  $ sysbench compare zero.json most.json >out
  [4]
  $ grep ^errors out
  errors, % of events                       0       60.0                                      differs

A side that looks for nothing differs from one that does.

  $ change b1.json none.json 'op["hits"] = 0'
  $ sysbench compare empty.json none.json >out
  [4]
  $ grep '^found nothing' out
  found nothing, % of lookups             100          -                                      differs

The same run is no repeat.

  $ sysbench compare a1.json,a2.json,a1.json b1.json
  FATAL: a1.json,a2.json,a1.json: the run of 2026-11-22T11:50:01.000Z, seed *, is given twice (runs 1 and 3) (glob)
  [1]
  $ sysbench compare a1.json a1.json | grep common
  The sides have a run in common.

Nothing is decided if the text cannot be written. The text explains its verdicts.

  $ sysbench compare a1.json b1.json >/dev/full
  FATAL: cannot write to standard output: No space left on device
  [1]
  $ sysbench compare a1.json a2.json | grep -c 'corrected for their number'
  1
  $ sysbench compare a1.json, b1.json
  FATAL: the name of a result file is empty
  [1]

Options that differ are named. Open and closed loops cannot be compared.

  $ make --threads=4; simulate four.json 1000 7 60
  $ sysbench compare a1.json four.json | grep differ:
  Options that differ: threads 2 / 4
  $ /usr/bin/python3 - <<'EOF'
  > import json
  > for name, cache in (("a1", "1G"), ("four", "2G")):
  >     d = json.load(open(name + ".json"))
  >     r = d["runs"][0]
  >     r["labels"] = {"disk": cache, "same": "x"}
  >     r["databases"] = [{"server": "S " + cache, "settings": {"cache": cache}}]
  >     json.dump(d, open(name + ".json", "w"))
  > EOF
  $ sysbench compare a1.json four.json >out; grep differ: out
  Options that differ: threads 2 / 4
  Servers that differ: server S 1G / S 2G
  Settings of the server that differ: cache 1G / 2G
  Labels that differ: disk 1G / 2G
  $ grep -o '^Verdict: [^,:]*' out
  Verdict: 2G may be better or worse than 1G

The workers of users are named, too, unless a file is of an older program. If the users
of a side had threads, this is the only fact about its workers.

  $ make --threads=2 --workers=1 --event-loop=epoll; simulate one.json 1000 7 60
  $ make --threads=2 --workers=2 --worker-policy=normal --event-loop=epoll
  $ simulate two.json 1000 8 60
  $ sysbench compare a2.json one.json | grep '^Users'
  Users were run differently: workers none (a thread for each user) / 1
  $ sysbench compare one.json two.json | grep '^Users'
  Users were run differently: workers 1 / 2, worker policy batch / normal
  $ sysbench compare one.json one.json | grep '^Users'
  [1]
  $ sed 's/"workers": 1, "event_loop": "epoll", "worker_policy": "batch", //' one.json >older.json
  $ grep -c event_loop older.json
  0
  [1]
  $ sysbench compare older.json two.json | grep '^Users'
  [1]

  $ make --threads=2 --rate=1e6; simulate open.json 1000 7 60
  $ sysbench compare a1.json open.json
  FATAL: one side was measured with --rate, the other without: they cannot be compared
  [1]

Usage.

  $ sysbench compare a1.json
  compare: needs at least 2 result files
  Usage: sysbench compare [OPTIONS] A.json[,A2.json...] B.json[,B2.json...]
  See 'sysbench compare --help'.
  [1]
  $ sysbench compare a1.json a2.json a3.json
  compare: too many files; the maximum is 2
  Usage: sysbench compare [OPTIONS] A.json[,A2.json...] B.json[,B2.json...]
  See 'sysbench compare --help'.
  [1]

Its help.

  $ sysbench compare help | head -n 1
  Usage: sysbench compare [OPTIONS] A.json[,A2.json...] B.json[,B2.json...]
  $ sysbench compare help | grep -c '^  --margin=N '
  1
  $ sysbench compare help >text; sysbench compare --help | diff text -
  $ sysbench --help merge | head -n 1
  Usage: sysbench merge [OPTIONS] FILE...

Runs that failed or were not measured are left out, and notes say so.

  $ change() {  # FILE STATEMENT: changes the run r
  >     /usr/bin/python3 -c "import json
  > d = json.load(open('a1.json'))
  > r = d['runs'][0]
  > $2
  > json.dump(d, open('$1', 'w'))"
  > }
  $ change failed.json 'r["end"] = {"reason": "failed", "status": 1}'
  $ change warm.json 'r["warmup"] = True'
  $ change search.json 'r["search"] = {"percent": 80, "maximum": None, "rate": None}'
  $ change cut.json 'r["end"] = {"reason": "signal", "status": 130}'
  $ sysbench compare --json=c.json a1.json,failed.json,warm.json a2.json,cut.json >out
  [5]
  $ grep '^[AB]: ' out | sed 's/of [0-9.]* s/of N s/'
  A: a1.json,failed.json,warm.json: oltp_point_select, 1 run of N s, 2 threads
  B: a2.json,cut.json: oltp_point_select, 2 runs of N s, 2 threads
  A: failed.json was left out, because it failed.
  A: warm.json was left out, because it ended during its warm-up.
  B: cut.json was interrupted, so it may be shorter than planned.
  $ grep -c 'warm.json was left out' c.json
  1
  $ sysbench compare a1.json search.json
  FATAL: search.json has no run to compare: it was left out, because it ended during the search for its rate
  [1]

Names that are not UTF-8.

  $ cp a1.json "$(printf 'a\377.json')"
  $ sysbench compare --json=c.json "$(printf 'a\377.json')" a2.json >/dev/null
  [5]
  $ /usr/bin/python3 -c 'import json; print(ascii(json.load(open("c.json"))["sides"][0]["files"]))'
  ['a\\xff.json']
