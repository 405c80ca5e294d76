SPDX-License-Identifier: GPL-2.0-or-later

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
  $ sysbench merge 1.json 2.json | sysbench show - | grep 'total number'
      total number of events:              500

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
  WARNING: the runs were not at the same time: rates refer to the * s from the first start to the last end (glob)
  $ sysbench merge a.json b.json --output=no/sum.json
  WARNING: * (glob)
  FATAL: cannot write no/sum.json: No such file or directory
  [1]
