SPDX-License-Identifier: GPL-2.0-or-later

Not with tsan: one thread.

`sysbench merge` adds the results of processes that ran at the same time.

  $ check="$SB_SRCDIR/tests/check-result"
  $ "$check" || exit 80
  $ run() {
  >     sysbench oltp_point_select --db-driver=null "$@" run
  > }
  $ run --threads=3 --events=300 --label=a=1,b=2 --report=none,json=1.json &
  > run --threads=2 --events=200 --label=a=1,b=3 --report=none,json=2.json
  $ wait
  $ sysbench merge 1.json 2.json --output=sum.json
  WARNING: the runs have different options: events 300 / 200
  $ "$check" sum.json
  $ /usr/bin/python3 -c "import json
  > one, two, sum = [json.load(open(f))['runs'][0]
  >                  for f in ('1.json', '2.json', 'sum.json')]
  > print(sum['threads'], sum['counters']['completed'], sum['labels'])
  > print(sum['users']['events'] == one['users']['events'] + two['users']['events'])
  > print([m['threads'] for m in sum['merged']], sum['end']['reason'])
  > count = lambda r: {(l): n for l, h, n in r['latency']['histogram']}
  > a, b, c = count(one), count(two), count(sum)
  > print(c == {l: a.get(l, 0) + b.get(l, 0) for l in {**a, **b}})"
  5 500 {'a': '1'}
  True
  [3, 2] limit
  True

Sums that would overflow are an error.

  $ for i in 1 2; do
  >     sed 's/"response_ns":[0-9]*/"response_ns":9000000000000000000/' $i.json >long$i.json
  > done
  $ sysbench show long1.json | grep 'total number'
      total number of events:              300
  $ sysbench merge long1.json long2.json 2>&1 >out | grep -v WARNING
  FATAL: the runs cannot be merged: the sums of their times are too large
  $ sysbench merge 1.json 2.json | sysbench show - | grep 'total number'
  WARNING: the runs have different options: events 300 / 200
      total number of events:              500

Metrics and stages are added. The second run starts later, and so do its errors.

  $ cat >m.lua <<'EOF'
  > local n = sysbench.metric("hits", {kind = "counter", unit = "ms"})
  > local g = sysbench.metric("depth", "gauge")
  > local d = sysbench.metric("size", {kind = "distribution", unit = "rows"})
  > function thread_init() g:set(1.5) end
  > function event()
  >    n:add(2.25) d:record(7)
  >    if sysbench.rand.uniform(1, 10) == 1 then
  >       error({errcode = sysbench.error.RESTART_EVENT})
  >    end
  > end
  > EOF
  $ stages() {
  >     sysbench m.lua --think-time=1ms --report-interval=0.1 run --stages="$1" \
  >         --restart-backoff=0 --report=none,json="$2" 2>/dev/null
  > }
  $ stages 'a: threads=2 for 0.4s; b: threads=1..3 for 0.2s' 3.json
  $ sed 's/"started":".*"/"started":"2026-01-01T00:00:00.000Z"/' 3.json >early.json
  $ sed 's/"started":".*"/"started":"2026-01-01T00:00:00.230Z"/' 3.json >late.json
  $ sysbench merge early.json late.json --output=sum.json
  $ "$check" sum.json
  $ /usr/bin/python3 -c "import json
  > one, sum = [json.load(open(f))['runs'][0] for f in ('3.json', 'sum.json')]
  > m = lambda r: {x['name']: x for x in r['metrics']}
  > a, b = m(one), m(sum)
  > print(b['hits']['sum'] == 2 * a['hits']['sum'], b['hits']['unit'], b['depth'])
  > print(b['size']['count'] == 2 * a['size']['count'], b['size']['max'])
  > for x, y in zip(one['stages'], sum['stages']):
  >     print(y['name'], y['threads'], y['start'] == x['start'],
  >           y['latency']['count'] == 2 * x['latency']['count'])
  > late = json.load(open('late.json')); late['runs'][0]['errors'][0]['first_seen'] += 9
  > json.dump(late, open('late.json', 'w'))
  > e = one['errors'][0]; print(sum['errors'][0]['count'] == 2 * e['count'])
  > e['first_seen'] += 10; d = json.load(open('3.json')); d['runs'] = [one]
  > one['started'] = '2026-01-01T00:00:00.000Z'
  > json.dump(d, open('early.json', 'w'))"
  True ms {'name': 'depth', 'kind': 'gauge', 'unit': '', 'help': '', 'value': 9}
  True 7
  a [4, 4] True True
  b [2, 6] True True
  True
  $ first() { /usr/bin/python3 -c "import json, sys
  > for f in sys.argv[1:]:
  >     print(json.load(open(f))['runs'][0]['errors'][0]['first_seen'])" "$@"; }
  $ sysbench merge early.json late.json --output=sum.json
  $ first late.json sum.json | awk '{ t[NR] = $1 } END { printf "%.3f\n", t[2] - t[1] }'
  0.230

Rows of metrics: the same figures twice are twice as much. The same run is
refused, and so is a sweep.

  $ sysbench merge 3.json 3.json --output=twice.json
  FATAL: merge: the run of 20*Z, seed *, is given twice (runs 1 and 2) (glob)
  [1]
  $ /usr/bin/python3 - <<'EOF'
  > import json
  > d = json.load(open("3.json"))
  > d["runs"][0]["seed"] = "1"
  > json.dump(d, open("other.json", "w"))
  > d["runs"].append(d["runs"][0])
  > json.dump(d, open("sweep.json", "w"))
  > EOF
  $ sysbench merge 3.json sweep.json
  FATAL: sweep.json is a sweep of 2 runs, one after the other: only runs at the same time can be merged
  [1]
  $ sysbench merge 3.json other.json --output=twice.json
  $ "$check" twice.json
  $ /usr/bin/python3 -c "import json
  > def column(name, path):
  >     r = json.load(open(path))['runs'][0]['intervals']
  >     at = [c['group'] + c['name'] + c['figure'] for c in r['columns']].index(name)
  >     return [x[at] if at < len(x) else None for x in r['rows']]
  > for name, by in (('runevents', 2), ('metrichitssum', 2), ('metricdepthvalue', 2),
  >                  ('metricsizecount', 2), ('metricsizemax', 1)):
  >     a, b = column(name, '3.json'), column(name, 'twice.json')
  >     print(name, b == [x and by * x for x in a], any(a))"
  runevents True True
  metrichitssum True True
  metricdepthvalue True True
  metricsizecount True True
  metricsizemax True True

A gauge that is unknown in one of the runs is unknown in their sum.

  $ /usr/bin/python3 -c "import json
  > d = json.load(open('3.json')); t = d['runs'][0]['intervals']
  > i = [c['name'] for c in t['columns']].index('depth')
  > t['rows'][1][i] = None; d['runs'][0]['seed'] = '1'
  > json.dump(d, open('unknown.json', 'w'))"
  $ sysbench merge 3.json unknown.json --output=twice.json
  $ /usr/bin/python3 -c "import json
  > t = json.load(open('twice.json'))['runs'][0]['intervals']
  > i = [c['name'] for c in t['columns']].index('depth')
  > print([row[i] is None for row in t['rows']][:3])"
  [False, True, False]

Stages that differ have no sum, and a metric has one kind.

  $ stages 'a: threads=2 for 0.2s; c: threads=1 for 0.2s' 4.json
  $ sysbench merge 3.json 4.json 2>/dev/null | grep '^"stages"'
  "stages":[],
  $ sed 's/"gauge"/"counter"/' m.lua >m && sed 's/g:set/g:add/' m >m.lua
  $ stages 'a: threads=2 for 0.1s' 5.json
  $ sysbench merge 3.json 5.json 2>&1 >/dev/null | tail -n 1
  FATAL: metric 'depth' is a gauge, not a counter

The sum does not contain the first run's search for a rate, its place in a sweep and the
lines of its built-in test. Intervals that a run could not keep count as missing in the
sum, too.

  $ /usr/bin/python3 -c "import json
  > for n in '12':
  >     d = json.load(open(n + '.json')); r = d['runs'][0]
  >     r['search'] = {'percent': 80, 'maximum': 10, 'rate': 8}
  >     r.update(swept={'threads': n}, round=1, block='1')
  >     r['intervals']['missing'] = 2
  >     json.dump(d, open('part' + n + '.json', 'w'))"
  $ "$check" part1.json part2.json
  $ sysbench merge part1.json part2.json --output=sum.json
  WARNING: the runs have different options: events 300 / 200
  $ "$check" sum.json
  $ /usr/bin/python3 -c "import json
  > r = json.load(open('sum.json'))['runs'][0]
  > print([n for n in ('search', 'swept', 'round', 'block') if n in r])
  > print(r['intervals']['missing'], r['test'], len(r['options']) > 9)"
  []
  4 oltp_point_select True
  $ sysbench show sum.json | grep -c 'Rate'
  0
  [1]

A process that failed has measured, too.

  $ sed 's/"reason":"limit","status":0/"reason":"failed","status":1/' 2.json >failed.json
  $ sysbench merge 1.json failed.json --output=sum.json
  WARNING: the runs have different options: events 300 / 200
  $ /usr/bin/python3 -c "import json
  > r = json.load(open('sum.json'))['runs'][0]
  > print(r['counters']['completed'], r['end']['reason'], r['end']['status'])"
  500 failed 1

Runs that have no common figures.

  $ run --threads=1 --events=1 --rate=1000 --report=none,json=open.json
  $ sysbench merge 1.json open.json
  FATAL: runs with and without --rate cannot be merged
  [1]
  $ run --threads=1 --events=1 --report-interval=2 --report=none,json=two.json
  $ sysbench merge 1.json two.json
  FATAL: runs with intervals of 1 s and 2 s cannot be merged
  [1]
  $ sysbench cpu --events=1 --report=none,json=cpu.json run
  $ sysbench merge 1.json cpu.json
  FATAL: runs of different tests cannot be merged: oltp_point_select and cpu
  [1]

Runs one after the other, a file that cannot be written.

  $ run --threads=1 --events=1 --report=none,json=a.json
  $ sleep 1.2
  $ run --threads=1 --events=1 --report=none,json=b.json
  $ sysbench merge a.json b.json >/dev/null
  WARNING: the runs did not run at the same time: rates refer to the * s from the first start to the last end (glob)
  $ sysbench merge a.json b.json --output=no/sum.json
  WARNING: * (glob)
  FATAL: cannot write no/sum.json: No such file or directory
  [1]

Lines of a built-in test are those of one process.

  $ sysbench cpu --events=20 --report=none,json=p1.json run
  $ sysbench cpu --events=20 --cpu-max-prime=9000 --report=none,json=p2.json run
  $ sysbench merge p1.json p2.json 2>err | sysbench show - | grep -c 'events per second'
  0
  [1]
  $ grep options err
  WARNING: the runs have different options: cpu-max-prime 10000 / 9000
