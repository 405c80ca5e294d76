SPDX-License-Identifier: GPL-2.0-or-later

Client delay: how long answers wait for their users on event loops. One user
computes for 50 ms after each answer; the other users of its worker have their
answers after 10 ms, but run when it has finished.

  $ cat >hog.lua <<'EOF'
  > function thread_init()
  >    con = sysbench.sql.driver():connect()
  > end
  > function event(tid)
  >    con:query("SELECT 1")
  >    local until_ = os.clock() + 0.05
  >    while tid == 0 and os.clock() < until_ do end
  > end
  > EOF
  $ run() {
  >     sysbench hog.lua --db-driver=null --null-latency=10ms --threads=4 \
  >         --events=12 --time=0 "$@" run 2>err
  > }
  $ run --workers=1 --report=text,json=loop.json,csv=loop.csv \
  >     --report-interval=1 --assert='client_delay.max>=20ms' >out
  $ "$SB_SRCDIR/tests/check-result" loop.json
  $ sed -n '/^Event loops/,/^$/p' out | sed 's/  *[0-9.]*[0-9]/ N/g'
  Event loops (ms):           min        avg N%        max
      client delay N N N N
      answers that users waited for: N
  
  $ ask() { python3 -c "import json; r = json.load(open('$1'))['runs'][0]; $2"; }

A call ends when its answer arrives, so its latency does not include the time in which
another user computes. Latencies of events do not include it either, except those of
the user that computes.

  $ ask loop.json "d = r['client_delay']; o = r['operations'][0]['latency']
  > assert d['kind'] == 'client_delay' and d['count'] == 12 == o['count']
  > assert o['min'] >= 9e6, o
  > assert d['max'] >= 20e6, d
  > assert d['sum'] == r['counters']['client_delay_ns']
  > assert r['latency']['sum'] >= o['sum']
  > assert r['latency']['sum'] + d['sum'] <= 4 * r['end']['seconds'] * 1e9"
  $ head -1 loop.csv | grep -c client_delay_avg,client_delay_p99,value
  1
  $ ask loop.json "print([c['figure'] for c in r['intervals']['columns']
  >     if 'delay' in c['figure']])"
  ['client_delay_avg', 'client_delay_p99']

`sysbench show` prints the same table, and `sysbench merge` adds the figures of two
files.

  $ part() { sed -n '/^Event loops/,/^$/p' "$1"; }
  $ part out >a
  $ sysbench show loop.json >shown
  $ part shown | diff a -
  $ run --workers=1 --report=none,json=loop2.json
  $ sysbench merge loop.json loop2.json --output=sum.json 2>/dev/null
  $ ask sum.json "print(r['client_delay']['count'], r['counters']['client_delays'])"
  24 24

With a rate, the response time begins at the arrival; the user's delay in
starting is lag.

  $ run --workers=1 --rate=100 --report=none,json=rate.json
  $ "$SB_SRCDIR/tests/check-result" rate.json
  $ ask rate.json "c = r['counters']
  > assert c['response_ns'] == c['lag_ns'] + c['service_ns'], c
  > assert r['client_delay']['count'] == 12"

If each user has a thread, it is not known how long an answer waited.

  $ run --report=text,json=threads.json --assert='client_delay.p99<1s' >out
  [3]
  $ cat err
  limit not kept: client_delay.p99<1s: no value (it is only known if users share workers)
  $ grep -c 'client delay' out
  0
  [1]
  $ ask threads.json "print(r['client_delay'])"
  None
