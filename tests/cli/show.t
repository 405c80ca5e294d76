SPDX-License-Identifier: GPL-2.0-or-later

`sysbench show FILE` prints the report of a run again.

  $ run() { sysbench "$@" --threads=2 run; }
  $ same() {  # the report in the file `text` and that of the result file
  >     sed -n '/^Threads started/,$p' text | sed 1,2d >printed
  >     sysbench show "$1" | sed 1,2d | diff printed -
  > }

A closed loop, an open loop, several percentiles, operations, a histogram.

  $ run oltp_read_write --db-driver=null --events=200 --report=json=r.json >text
  $ same r.json
  $ sysbench show r.json | head -1 | sed 's/20.*Z/TIME/'
  r.json: oltp_read_write, started TIME
  $ run oltp_read_write --db-driver=null --events=200 --rate=2000 \
  >     --percentile=50,99.9 --report-operations --histogram \
  >     --report=json=r.json >text
  $ same r.json

Options given now replace those of the run.

  $ sysbench show r.json --percentile=75 --histogram=off | grep -c 'percentile:'
  1
  $ sysbench show r.json --percentile=75 | grep 'percentile:' | sed 's/ *[0-9.]*$//'
           75th percentile:

A file with the layout of another program.

  $ /usr/bin/python3 -m json.tool r.json other.json
  $ same other.json

Built-in tests, a script without a database, errors, a failed run.

  $ run cpu --events=20 --report=json=r.json >text
  $ same r.json
  $ run memory --memory-total-size=1M --report=json=r.json >text
  $ same r.json
  $ cat >e.lua <<'EOF'
  > function event()
  >    if sysbench.rand.uniform(1, 2) == 1 then
  >       error({errcode = sysbench.error.RESTART_EVENT})
  >    end
  > end
  > EOF
  $ run e.lua --events=20 --report=json=r.json >text 2>errors
  $ same r.json 2>again
  $ grep -v '^WARNING' errors | diff - again
  $ run e.lua --events=20 --max-restarts=1 --max-failed=0 --restart-backoff=0 \
  >     --rand-seed=1 --report=json=r.json >text 2>errors
  [1]
  $ same r.json 2>again
  $ echo 'function thread_init() error("no") end function event() end' >bad.lua
  $ run bad.lua --report=none,json=r.json 2>/dev/null
  [1]
  $ sysbench show r.json | sed 's/started 20.*/started TIME/'
  r.json: bad.lua, started TIME
  
  The run has no figures: *: no (glob)

Stages and metrics; units are in the columns.

  $ cat >m.lua <<'EOF'
  > local n = sysbench.metric("hits", {kind = "counter", unit = "ms"})
  > local g = sysbench.metric("depth", "gauge")
  > local d = sysbench.metric("size", {kind = "distribution", unit = "rows"})
  > local scan = sysbench.op("scan")
  > function thread_init() g:set(1.5) end
  > function event()
  >    local token = scan:start()
  >    n:add(2.25) d:record(sysbench.rand.uniform(1, 1000))
  >    scan:finish(token)
  > end
  > EOF
  $ sysbench m.lua --stages='first: threads=1..2 for 0.4s; threads=1 for 1.2s;
  >     spike: threads=3 for 0.2s' --think-time=1ms --percentile=50,99 \
  >     --report-interval=0.2 --report=json=r.json run >all
  $ sed '/^\[ /d' all >text; same r.json
  $ sysbench show r.json | grep -c -e '^first' -e '^spike' -e '^hits (ms)' \
  >     -e '^depth' -e '^size (rows)'
  5
  $ "$SB_SRCDIR/tests/check-result" r.json
  $ sed -n 's/"columns"://p' r.json | grep -o '"name":"hits"[^}]*'
  "name":"hits","figure":"sum","unit":"ms"

The gauge of a user that has gone is not in the sum.

  $ /usr/bin/python3 -c "import json; r = json.load(open('r.json'))['runs'][0]
  > at = [c['name'] + c['figure'] for c in r['intervals']['columns']]
  > rows = [(x[at.index('running')], x[at.index('depthvalue')])
  >         for x in r['intervals']['rows']]
  > print([m['value'] for m in r['metrics'] if m['name'] == 'depth'])
  > print(all(depth <= 3 * 1.5 for n, depth in rows), (1, 1.5) in rows)"
  [4.5]
  True True

A run that ended during its warm-up says so.

  $ sysbench e.lua --warmup-time=1h --time=1 --report-interval=0.1 run \
  >     --report=none,json=warm.json,csv=warm.csv 2>err &
  > pid=$!
  $ for _ in $(seq 600); do [ $(cat warm.csv 2>/dev/null | wc -l) -gt 1 ] && break; sleep 0.1; done; kill -INT $pid
  $ wait $pid
  [130]
  $ sysbench show warm.json 2>&1 >/dev/null | grep warm-up
  WARNING: warm.json: the run ended during its warm-up; the figures are those of the warm-up
  $ "$SB_SRCDIR/tests/check-result" warm.json; grep '^"warmup"' warm.json
  "warmup":true,

Several files: each has its own options.

  $ run cpu --events=20 --percentile=50,75 --histogram --report=none,json=a.json
  $ run cpu --events=20 --report=none,json=b.json
  $ sysbench show a.json b.json | grep -c -e 'percentile:' -e '^Latency histogram'
  4
  $ /usr/bin/python3 -c "import json; d = json.load(open('b.json'))
  > del d['runs'][0]['options']; json.dump(d, open('c.json', 'w'))"
  $ sysbench show a.json c.json | grep -c -e 'percentile:' -e '^Latency histogram'
  4
  $ sysbench show a.json b.json --percentile=10 | grep -c 'percentile:'
  2

Text of a file cannot control the terminal.

  $ /usr/bin/python3 - <<'EOF'
  > import json
  > esc = "\x1b[2J\x9b\r"
  > def hostile(x, key=""):
  >     if isinstance(x, dict):
  >         return {k: hostile(v, k) for k, v in x.items()}
  >     if isinstance(x, list):
  >         return [hostile(v, key) for v in x]
  >     keep = ("format", "kind", "unit", "figure", "group", "source", "value")
  >     return x + esc if isinstance(x, str) and key not in keep else x
  > d = json.load(open("r.json"))
  > d["runs"][0]["errors"] = [{"driver": "x", "code": 1, "state": "y", "count": 1,
  >                            "first_seen": 0, "sample": "z"}]
  > d["runs"][0]["operations"][0]["misses"] = 1000
  > d["runs"][0]["end"]["failure"] = "f"
  > d["runs"][0]["block"] = "b"
  > d = hostile(d)
  > json.dump(d, open("h.json", "w"))
  > d["runs"][0]["options"] = [{"name": "o" + esc, "value": "1" + esc}]
  > json.dump(d, open("h1.json", "w"))
  > d["runs"][0]["options"] = [{"name": "o" + esc, "value": "2" + esc}]
  > json.dump(d, open("h2.json", "w"))
  > del d["runs"][0]["counters"]
  > json.dump(d, open("h3.json", "w"))
  > EOF
  $ sysbench show h.json h1.json h3.json --report-operations >out 2>&1
  $ grep -c -e '^h.json: m.lua.x1b' -e '^first.x1b' -e '^hits.x1b' -e '^scan.x1b' \
  >     -e '^b.x1b' -e '    x.x1b' -e 'of scan.x1b' -e 'The run failed.*f.x1b' \
  >     -e 'no figures: f.x1b' out
  16
  $ sysbench compare h1.json h2.json >>out 2>&1
  [4]
  $ grep -c -e 'differ: o.x1b.* 1.x1b.* / 2.x1b' -e '^A: h1.json: m.lua.x1b' out
  2
  $ LC_ALL=C grep -c -e "$(printf '\033')" -e "$(printf '\302\233')" -e "$(printf '\r')" out
  0
  [1]

Limits, and the reason of an early end.

  $ N="oltp_point_select --db-driver=null --null-latency=1ms --report=json=r.json"
  $ run $N --time=60 --report-interval=0.1 --assert='errors==0, p99<1us abort' \
  >     2>/dev/null >all
  [3]
  $ sed '/^\[ /d' all >text; same r.json
  $ sysbench show r.json | sed -n '/kept/s/  *[.0-9]* *ms/ N ms/gp; /errors==0/p'
      errors==0 * 0  kept (glob)
      p99<1us abort N ms  not kept
  The run ended after *.* of 60 s: the limit p99<1us abort was not kept after *.* s: N ms (glob)
  $ "$SB_SRCDIR/tests/check-result" r.json
  $ sysbench $N --threads=2 --time=60 run >text 2>/dev/null & pid=$!
  $ while ! grep -q started text; do sleep 0.1; done; sleep 0.3; kill -INT $pid
  $ wait $pid
  [130]
  $ same r.json
  $ sed -n 's/after [0-9.]*/after N/p' text
  The run was interrupted after N of 60 s
  $ run $N --events=10 >text; grep -e '^The run' text
  [1]
  $ same r.json

Wrong files.

  $ sysbench show
  show: the name of a result file is missing
  Usage: sysbench show [OPTIONS] FILE...
  See 'sysbench show --help'.
  [1]
  $ sysbench show nothing.json
  FATAL: cannot read nothing.json: No such file or directory
  [1]
  $ run cpu --events=3 --report=none,csv=x.csv,hdr=x.hdr,ndjson=x.ndjson
  $ head -c 100 /dev/zero >zeros
  $ sed 's/"seconds": 0[^,]*,/"seconds": -5,/' other.json >negative.json
  $ for f in x.csv x.hdr x.ndjson zeros negative.json; do sysbench show $f; done
  FATAL: x.csv is not a result file (written by --report=json=FILE)
  FATAL: x.hdr is not a result file (written by --report=json=FILE)
  FATAL: x.ndjson is not a result file: it was written by --report=ndjson=FILE; use the file of --report=json=FILE
  FATAL: zeros is not a result file (written by --report=json=FILE)
  FATAL: negative.json: "seconds" is negative
  [1]

An input without an end is refused at its beginning.

  $ sysbench show /dev/zero
  FATAL: /dev/zero is not a result file (written by --report=json=FILE)
  [1]
  $ yes 2>/dev/null | sysbench show -
  FATAL: - is not a result file (written by --report=json=FILE)
  [1]
  $ sysbench report /dev/zero
  FATAL: /dev/zero is not a result file (written by --report=json=FILE)
  [1]

Numbers are checked where they are read: NaN, what is no number, negative and too large
ones. `wrong PATTERN VALUE...` replaces the first match by each value.

  $ cat >numbers.lua <<'EOF'
  > local hits = sysbench.metric("hits")
  > local depth = sysbench.metric("depth", "gauge")
  > local size = sysbench.metric("size", {kind = "distribution"})
  > function event() hits:add(2) depth:set(3) size:record(4) sysbench.user.think(0.001) end
  > EOF
  $ run numbers.lua --db-driver=null --time=0.3 --report-interval=0.1 --rate=500 \
  >     --report=none,json=numbers.json
  $ cat >wrong.py <<'EOF'
  > import re, subprocess, sys
  > text = open('numbers.json').read()
  > for value in sys.argv[2:]:
  >     m = re.search(sys.argv[1], text)
  >     open('wrong.json', 'w').write(text[:m.start(1)] + value + text[m.end(1):])
  >     for command in ('show', 'merge', 'compare', 'report'):
  >         more = {'merge': ['--output=out'], 'compare': ['numbers.json'],
  >                 'report': ['--html=out']}.get(command, [])
  >         p = subprocess.run(['sysbench', command, 'wrong.json'] + more,
  >             capture_output=True, text=True)
  >         told = (p.returncode, p.stderr) # a table of the other file is no harm
  >         assert command == 'show' or told == first, (command, told, first)
  >         first = told
  >     print(p.returncode, p.stderr, end='')
  > EOF
  $ wrong() { /usr/bin/python3 wrong.py "$@" | sed 's/^1 FATAL: wrong.json//'; }
  $ wrong '"threads":(2)' NaN '"NaN"' -1 2.5 true '{}' 99999999999999999999999
   is not valid JSON: line *, column *: invalid token near 'NaN' (glob)
  : "threads" is not a count
  : "threads" is not a count
  : "threads" is not a count
  : "threads" is not a count
  : "threads" is not a count
   is not valid JSON: line *, column *: too big integer (glob)
  $ wrong '"seconds":([0-9.]+)' -Infinity '"Infinity"' -1 1e300 '[]'
   is not valid JSON: line *, column *: invalid token near '-' (glob)
  : "seconds" is not a number
  : "seconds" is negative
  : "seconds" is too large
  : "seconds" is not a number
  $ wrong '"completed":("[0-9]*"|[0-9]+)' '"NaN"' '"-1"' -1 9223372036854775807 '"18446744073709551615"'
  : "completed" is not a count
  : "completed" is not a count
  : "completed" is not a count
  : "completed" is too large
  : "completed" is too large
  $ wrong '"sum":(\d+)' NaN '"NaN"' -1
   is not valid JSON: line *, column *: invalid token near 'NaN' (glob)
  : "sum" is not a number
  : "sum" is negative
  $ wrong '"latency":\{[^}]*"sum":(\d+)' '"18446744073709551615"'
  : "sum" is too large
  $ wrong '"histogram":\[\[\d+,\d+,(\d+)' 9223372036854775807
  : a histogram has counts that are too large
  $ wrong '"value":(6)' '"NaN"' -1
  : metric 'depth': the value must be a number of at least 0
  : metric 'depth': the value must be a number of at least 0
  $ wrong '"interval":(0.1)' '"NaN"' -1
  : "interval" is not a number
  : "interval" is negative
  $ wrong '"avg":([0-9.]+)' '"NaN"' -1
  : "avg" is not a number
  : "avg" is negative
  $ wrong '"99":([0-9.]+)' '"NaN"' -1
  : "99" is not a number
  : "99" is negative
  $ wrong '"end":\{()' '"overrun":"NaN",' '"overrun":-1,'
  : "overrun" is not a number
  : "overrun" is negative
  $ wrong '"rows":\[\n\[([0-9.]+)' NaN '"NaN"'
   is not valid JSON: line *, column *: invalid token near 'NaN' (glob)
  : row 1 of the intervals has a value that is not a number
  $ wrong '"rows":\[\n\[[0-9.]+,([0-9.]+)' -1 1e300
  : row 1 of the intervals: "seconds" is negative
  : row 1 of the intervals: "seconds" is too large

A file with 20,000 operations, which a program may have written, needs memory for its
text, and not ten times as much.

  $ /usr/bin/python3 -c "import json
  > d = json.load(open('r.json')); r = d['runs'][0]
  > op = json.dumps(r['operations'][0])
  > r['operations'] = [dict(json.loads(op), name='operation%d' % i) for i in range(20000)]
  > json.dump(d, open('many.json', 'w'))"
  $ /usr/bin/python3 -c "import os, resource, subprocess
  > subprocess.run(['sysbench', 'show', 'many.json'], stdout=subprocess.DEVNULL)
  > used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
  > size = os.path.getsize('many.json')
  > if not os.getenv('SB_SANITIZER') and used > 3 * size + 3e7:
  >     print(used, size)"
  $ sed 's/"operation19999",/"operation19999" /' many.json >comma.json
  $ sysbench show comma.json
  FATAL: comma.json is not valid JSON: line 1, column *: '}' expected near '"kind"' (glob)
  [1]
  $ sysbench show "$(printf 'no\nfile')"
  FATAL: cannot read no file: No such file or directory
  [1]
  $ head -c 3000 other.json >cut.json
  $ sysbench show cut.json
  FATAL: cut.json is not a complete JSON document: line *, column *: * (glob)
  [1]
  $ echo '{"format": "sysbench-result", "version": 99, "runs": [], "more": 1}' >new.json
  $ sysbench show new.json
  WARNING: new.json is a result file of version 99; this program reads version 1 and ignores newer members
  FATAL: new.json has no runs
  [1]

A script with the name of a command runs if a command of workloads follows.

  $ echo 'function event() end function help() print("mine") end' >show.lua
  $ sysbench show help | tail -1
  mine
  $ sysbench show run --events=1 | grep -c 'number of events'
  1
  $ rm show.lua; sysbench show help | head -1
  Usage: sysbench show [OPTIONS] FILE...

If all databases of a run are document databases, a heading is different.

  $ cat >doc.lua <<'EOF'
  > function thread_init() con = sysbench.sql.driver():connect() end
  > function event() con:query("SELECT 1") end
  > EOF
  $ sysbench doc.lua run --db-driver=null --events=5 --report=none,json=sql.json
  $ sed 's/"documents":false/"documents":true/' sql.json >doc.json
  $ for f in sql doc; do sysbench show $f.json | grep '^[A-Z].* statistics:' | head -1; done
  SQL statistics:
  OLTP test statistics:
