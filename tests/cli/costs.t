SPDX-License-Identifier: GPL-2.0-or-later

What the events cost the server. tests/db/test_costs has servers.

  $ unset SYSBENCH_REPORT_COSTS
  $ run() { sysbench oltp_point_select --db-driver=null --events=100 "$@" run; }
  $ costs() { sed -n '/^Costs:/,/^$/p'; }

Nothing without a request; with one, what is unknown has a reason.

  $ run | costs
  $ run --report-costs | costs | grep -v 'energy\|power, W'
  Costs:                             per event     per query  source
      unknown: cpu_us, cpu_system_us, context_switches, storage_read_kb, storage_written_kb: no server was used
      unknown: read_kb, written_kb, log_bytes, log_flushes, fsyncs, rows_examined: not counted by the server
  

The price of a million events, also later and with another price.

  $ run --price=3.6 --report=text,json=r.json | costs | grep USD
      million events, USD * 3.6 USD per hour (glob)
  $ "$SB_SRCDIR"/tests/check-result r.json
  $ /usr/bin/python3 -c 'import json
  > r = json.load(open("r.json"))["runs"][0]
  > c = r["costs"]
  > tps = 100 / c["seconds"]
  > print(c["events"], c["queries"], c["price"], c["seconds"] == r["end"]["seconds"],
  >     abs(c["usd_per_million_events"] * tps / (3.6 / 3600 * 1e6) - 1) < 1e-9)'
  100 100 3.6 True True
  $ sysbench show r.json | grep -c 'USD .* 3.6 USD per hour'
  1
  $ sysbench show --price=7.2 r.json | grep -c 'USD .* 7.2 USD per hour'
  1
  $ run --price=3.6 --report-costs=off --report=none,json=off.json
  $ grep -c '"costs":' off.json
  0
  [1]
  $ sysbench show --report-costs off.json | grep ^Costs
  Costs: the result file has none
  $ run --price=3.6 --report=none,ndjson=r.ndjson
  $ grep -c '"usd_per_million_events"' r.ndjson
  1

Limits.

  $ run --price=3.6 --assert='costs.usd_per_million_events<1M, costs.cpu_us<1' 2>&1 | tail -1
  limit not kept: costs.cpu_us<1: no value (no server was used)
  $ run --assert='costs.usd_per_million_events<1' 2>&1 | tail -1
  --assert: 'costs.usd_per_million_events<1', character 1: usd_per_million_events requires --price
  $ run --assert='costs.cpu<1'
  --assert: 'costs.cpu<1', character 7: unknown cost 'cpu' (must be cpu_us, cpu_system_us, context_switches, storage_read_kb, storage_written_kb, read_kb, written_kb, log_bytes, log_flushes, fsyncs, rows_examined, energy_j, or usd_per_million_events)
  [1]
  $ run --assert='costs.cpu_us<1 abort' 2>&1 | tail -1
  --assert: 'costs.cpu_us<1 abort', character 16: costs are known when the run has ended
  $ run --rate=max --rate-limit='costs.cpu_us<1' 2>&1 | tail -1
  --rate-limit: 'costs.cpu_us<1', character 14: costs cannot be a limit of the search for a rate

Bad values.

  $ for price in -1 abc 1e9 ''; do run --price=$price 2>&1 | tail -1; done
  Invalid value for the 'price' option: '-1' (the minimum is 0)
  Invalid value for the 'price' option: 'abc' (must be a number)
  Invalid value for the 'price' option: '1e9' (the maximum is 1e+06)
  Invalid value for the 'price' option: '' (must be a number)
  $ run --report-costs=often 2>&1 | tail -1
  Invalid value for the 'report-costs' option: 'often' (must be one of auto, on, off)

Comparisons and sweeps, with invented costs.

  $ cat >invent.py <<'PY'
  > import json, sys
  > path, seed, cpu = sys.argv[1:4]
  > d = json.load(open("r.json"))
  > r = d["runs"][0]
  > r["started"] = "2026-11-22T11:50:%02d.000Z" % int(seed)
  > r["costs"]["figures"] = [
  >     {"name": name, "unit": unit, "per_event": v, "per_query": v,
  >      "total": v * 100, "events": 100, "queries": 100, "source": "server"}
  >     for name, unit, v in [("cpu_us", "us", float(cpu)),
  >         ("log_bytes", "bytes", 0), ("rows_examined", "", 1)]]
  > if len(sys.argv) > 4:
  >     r["swept"] = {"threads": sys.argv[4]}
  > json.dump(d, open(path, "w"))
  > PY
  $ invent() { /usr/bin/python3 invent.py "$@"; }
  $ invent a1.json 1 100; invent a2.json 2 101; invent a3.json 3 99
  $ invent b1.json 4 120; invent b2.json 5 121; invent b3.json 6 119
  $ sysbench compare a1.json,a2.json,a3.json b1.json,b2.json,b3.json --json=c.json |
  >     grep '^cpu_us\|^rows\|^log'
  cpu_us per event                        100        120   +20.00 %   +17.49 % .. +22.56 %   higher
  rows_examined per event                   1          1    +0.00 %    +0.00 % .. +0.00 %    no difference seen
  $ /usr/bin/python3 -c 'import json
  > f = [f for f in json.load(open("c.json"))["figures"] if f["group"] == "costs"]
  > print([(x["figure"], x["unit"], x["verdict"]) for x in f])'
  [('cpu_us', 'us', 'higher'), ('rows_examined', '', 'same'), ('usd_per_million_events', 'USD', 'same')]
  $ sysbench compare a1.json b1.json | grep '^cpu_us'
  cpu_us per event                        100        120   +20.00 %          - .. -          too little data
  $ sysbench compare a1.json off.json | grep '^cpu_us'
  [1]
  $ invent s1.json 1 100 1; invent s2.json 2 110 1; invent s3.json 3 200 2
  $ /usr/bin/python3 -c 'import json
  > d = [json.load(open("s%d.json" % n)) for n in (1, 2, 3)]
  > d[0]["runs"] = [x["runs"][0] for x in d]
  > json.dump(d[0], open("s.json", "w"))'
  $ sysbench show s.json >out
  $ sed -n '/^threads  runs/,/^$/p' out | awk 'NF { print $1, $2, $(NF - 1) }'
  threads runs us
  1 2 105.00
  2 1 200.00
