SPDX-License-Identifier: GPL-2.0-or-later

Result files: --report. Every file is validated against docs/result.schema.json.

  $ check="$SB_SRCDIR/tests/check-result"
  $ "$check" || exit 80
  $ run() { sysbench oltp_read_write --db-driver=null --threads=2 "$@" run; }
  $ ask() {
  >     /usr/bin/python3 -c "import json, sys
  > d = json.load(open(sys.argv[1])); r = d['runs'][0]
  > print($2)" "$1"
  > }

A result file. The folder has no other file afterwards.

  $ run --events=100 --report=json=r.json --label=disk=nvme,note=a=b \
  >     --rand-seed=7 >text
  $ "$check" r.json
  $ ls
  r.json
  text
  $ ask r.json "d['format'], d['version'], d['program']['version']"
  sysbench-result 1 2.0.0
  $ ask r.json "r['test'], r['command'], r['seed'], r['labels']" | sed "s/'/_/g"
  oltp_read_write run 7 {_disk_: _nvme_, _note_: _a=b_}
  $ ask r.json "r['counters']['completed'], r['end']['reason']"
  100 limit
  $ ask r.json "[o for o in r['options'] if o['name'] == 'threads']"
  [{'name': 'threads', 'value': '2', 'source': 'command line', 'origin': ''}]
  $ ask r.json "[o['latency']['count'] for o in r['operations']
  >     if o['name'] == 'point_selects']"
  [1000]
  $ grep -c 'transactions: *100 ' text
  1

The values of the client belong to the row of their interval, also of the first one.

  $ run --time=1 --report-interval=0.3 --report=none,json=r.json
  $ ask r.json "[c['name'] for c in r['intervals']['columns'] if c['group'] == 'client'],
  >     all(len(row) == len(r['intervals']['columns']) for row in r['intervals']['rows'])"
  ['cpu', 'wait', 'machine'] True

How users were run: with the loops and the policy that the workers had. Without --workers,
and in built-in tests, users have threads.

  $ how="r['threads'], r['workers'], r['event_loop'], r['worker_policy']"
  $ nd() {
  >     /usr/bin/python3 -c "import json
  > r = json.loads(open('r.nd').readline())
  > print($how)"
  > }
  $ run --events=10 --workers=1 --event-loop=epoll --report=none,json=r.json,ndjson=r.nd
  $ "$check" r.json
  $ ask r.json "$how"
  2 1 epoll batch
  $ nd
  2 1 epoll batch
  $ run --events=10 --workers=1 --worker-policy=normal --report=none,json=r.json
  $ "$check" r.json
  $ ask r.json "r['workers'], r['event_loop'] in ('epoll', 'io_uring'), r['worker_policy']"
  1 True normal
  $ chrt --batch 0 sysbench oltp_read_write --db-driver=null --events=1 --workers=1 \
  >     --worker-policy=normal --report=none,json=r.json run
  $ ask r.json "r['worker_policy']"
  batch
  $ run --events=10 --report=none,json=r.json,ndjson=r.nd
  $ "$check" r.json
  $ ask r.json "$how"
  2 None None None
  $ nd
  2 None None None
  $ sysbench cpu --events=1 --workers=1 --report=none,json=r.json run 2>/dev/null
  $ "$check" r.json
  $ ask r.json "$how"
  1 None None None

A run that ends before its loops are open has what was planned.

  $ echo 'function thread_init() error("no") end function event() end' >fail.lua
  $ sysbench fail.lua --threads=2 --workers=1 --report=none,json=r.json run 2>/dev/null
  [1]
  $ "$check" r.json
  $ ask r.json "$how"
  2 1 None None
  $ rm fail.lua

The text is the same as without result files; `none` omits it.

  $ run --events=100 --verbosity=3 | grep -c 'events:'
  1
  $ run --events=100 --report=none,json=r.json
  $ run --events=100 --report=none,json=- >r2.json
  $ "$check" r.json r2.json

Secrets are masked.

  $ SYSBENCH_MYSQL_PASSWORD=hunter2 sysbench oltp_read_write \
  >     --db-driver=null --pgsql-password=hunter2 --mongo-url=mongodb://u:hunter2@h \
  >     --events=1 --report=json=r.json,ndjson=r.nd,csv=r.csv run >text 2>&1
  $ grep -l hunter2 r.json r.nd r.csv text
  [1]
  $ "$check" r.json

Intervals of one second unless --report-interval says otherwise; the sums are
checked by check-result. With checkpoints, files have the whole run.

  $ run --rate=500 --time=1 --warmup-time=0.5 --report-interval=0.25 \
  >     --report-checkpoints=0.5 --report=json=r.json,ndjson=r.nd,csv=r.csv \
  >     --server-stats='null_*' >text
  $ "$check" r.json
  $ ask r.json "r['interval'], r['intervals']['rows'][0][0] < 0,
  >     r['intervals']['rows'][-1][0] >= 0, r['lag']['count'] > 0"
  0.25 True True True
  $ sed 's/"test".*//' r.nd | cut -c 1-24 | uniq
  {"line":"run",
  {"line":"interval","time
  {"line":"end","counters"
  $ /usr/bin/python3 -c "import csv, json
  > rows = list(csv.DictReader(open('r.csv')))
  > lines = [json.loads(l) for l in open('r.nd')]
  > total = lines[-1]['counters']['completed']
  > run = [r for r in rows if r['group'] == 'run' and float(r['time']) > 0]
  > print(sum(int(r['events']) for r in run) == total)
  > print(sum(l['events'] for l in lines[1:-1] if l['time'] > 0) == total)
  > ops = {o['name']: o['latency']['count'] for o in lines[-1]['operations']}
  > print(all(sum(int(r['events']) for r in rows if r['name'] == name and
  >     float(r['time']) > 0) == ops[name] for name in ops))
  > print(len(ops), sorted(set(r['group'] for r in rows)))"
  True
  True
  True
  11 ['client', 'operation', 'run', 'server']
  $ grep ',client,' r.csv | cut -d , -f 4 | sort -u | tr '\n' ' '
  cpu machine wait  (no-eol)

The server, its settings and its counters.

  $ sysbench oltp_point_select --db-driver=sqlite --table-size=10 prepare >text
  $ sysbench oltp_point_select --db-driver=sqlite --table-size=10 --time=1 \
  >     --report-interval=0.3 --report=none,json=s.json run
  $ "$check" s.json
  $ ask s.json "[(b['driver'], b['server'] == b['client'], b['bypass'],
  >     b['address'][-13:], b['settings']['journal_mode']) for b in r['databases']]"
  [('sqlite', True, False, 'sbtest.sqlite', 'wal')]
  $ ask s.json "[c['unit'] for c in r['intervals']['columns']
  >     if c['group'] == 'server' and c['name'] == 'cache_hit']"
  ['pages/s']
  $ sysbench oltp_point_select --db-driver=sqlite --table-size=10 --events=1 \
  >     --server-stats=off --report=none,json=s.json run
  $ ask s.json "len(r['databases']), [c for c in r['intervals']['columns']
  >     if c['group'] == 'server']"
  1 []

SQLite counts in each connection. While none makes a call, there is no value rather
than a rate of 0, which would be wrong: here each sample is followed by a call.

  $ cat >bursts.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned int);")
  > local con
  > function thread_init() con = sysbench.sql.driver():connect() end
  > function event()
  >    for i = 1, 100 do con:query("SELECT * FROM sbtest1 WHERE id = 1") end
  >    for i = 1, 6 do ffi.C.usleep(100000) end
  > end
  > EOF
  $ sysbench bursts.lua --db-driver=sqlite --time=5 --report-interval=0.25 \
  >     --report=none,json=s.json run
  $ ask s.json "[(0 in v, None in v, any(v)) for v in [[row[i]
  >     for row in r['intervals']['rows'] if len(row) > i]
  >     for i, c in enumerate(r['intervals']['columns'])
  >     if c['name'] == 'cache_hit']], r['server_totals']['cache_hit'] > 100"
  [(False, True, True)] True

The totals of the server are those of the measured part, without the warm-up, which
has most of the work here.

  $ per_query() { sysbench oltp_point_select --db-driver=sqlite --table-size=10 \
  >     --report-interval=0.3 --report=none,json=w.json "$@" run
  >     ask w.json "r['server_totals']['cache_hit'] /
  >     sum(int(r['counters'][n]) for n in ('reads', 'writes', 'others'))"; }
  $ one=$(per_query --time=1)
  $ all=$(per_query --warmup-time=4 --time=1)
  $ python3 -c "print(0 < $all < 2 * $one, '' if $all < 2 * $one else '$one $all')"
  True 

A built-in test, a script without a database, a run without events.

  $ sysbench cpu --events=10 --report=none,json=cpu.json run
  $ echo 'function event() end' >e.lua
  $ sysbench e.lua --events=10 --report=none,json=e.json run
  $ echo 'function thread_init() error("no") end function event() end' >bad.lua
  $ sysbench bad.lua --report=none,json=bad.json run 2>/dev/null
  [1]
  $ "$check" cpu.json e.json bad.json
  $ ask bad.json "r['end']['reason'], r['end']['status'], 'counters' in r"
  failed 1 False

An interrupted run.

  $ sysbench e.lua --time=60 --think-time=10ms --report=none,json=i.json run 2>err &
  > pid=$!
  $ while ! [ -e i.json.part ]; do sleep 0.1; done; sleep 0.5; kill -INT $pid
  $ wait $pid
  [130]
  $ "$check" i.json; ask i.json "r['end']['reason'], r['end']['status']"
  signal 130

The last line of NDJSON has the servers, also those that had not answered when
the first one was written. The null driver's counters, which are invented, are
not in files without a request.

  $ run --events=1 --report=none,ndjson=r.nd,json=r.json --null-latency=0.2s
  $ /usr/bin/python3 -c "import json
  > print([d['driver'] for d in
  >     json.loads(open('r.nd').read().splitlines()[-1])['databases']])"
  ['null']
  $ ask r.json "[c for c in r['intervals']['columns'] if c['group'] == 'server']"
  []

Marks: stages, restarts, and the interrupt.

  $ echo 'function event() if sysbench.rand.uniform(1, 5) == 1 then
  >     error({errcode = sysbench.error.RESTART_EVENT}) end end' >restart.lua
  $ sysbench restart.lua --stages='low: threads=1 for 0.2s; high: threads=2 for 1h' \
  >     --report-interval=0.1 --restart-backoff=0 --think-time=1ms \
  >     --report=none,json=i.json,csv=i.csv run 2>err &
  > pid=$!
  $ until [ -e i.csv ] && awk -F , 'NR == 1 { while ($++n != "stage") continue }
  >         $n == 1 { found = 1 } END { exit !found }' i.csv; do
  >     sleep 0.1
  > done; kill -INT $pid
  $ wait $pid
  [130]
  $ "$check" i.json
  $ ask i.json "[(m['kind'], m['text']) for m in r['marks'] if m['kind'] != 'restart'],
  >     r['marks'][-1]['time'] == r['end']['seconds'],
  >     'restarts' in [m['text'] for m in r['marks'] if m['kind'] == 'restart'][0]"
  [('stage', 'low'), ('stage', 'high'), ('interrupt', 'ended by a signal')] True True

Errors name the report, and come before the load starts. Older files stay.

  $ echo old | tee r.csv r.nd r.hdr >r.json
  $ run --report=none,csv=r.csv,ndjson=r.nd,hdr=r.hdr,json=r.json,hgrm=no/r
  FATAL: --report=hgrm: cannot write no/r: No such file or directory
  [1]
  $ cat r.csv r.nd r.hdr r.json
  old
  old
  old
  old

  $ run --report=json
  --report=json: the target is missing: write json=FILE
  [1]
  $ run --report=none,json=no/r.json --events=1
  FATAL: --report=json: cannot write no/r.json: No such file or directory
  [1]
  $ run --report=none,json=r.json,csv=r.json --events=1
  --report: two reports cannot be written to 'r.json'
  [1]
  $ run --report=none --label=disk --events=1
  --label: 'disk' is not of the form KEY=VALUE
  [1]

A second run may not write the same file at the same time.

  $ sysbench e.lua --time=60 --think-time=10ms --report=none,json=i.json run 2>err &
  > pid=$!
  $ while ! [ -e i.json.part ]; do sleep 0.1; done
  $ run --report=none,json=i.json --events=1
  FATAL: --report=json: cannot write i.json: another process is writing it
  [1]
  $ kill -INT $pid; wait $pid
  [130]
  $ "$check" i.json

A full disk, here a limit of the size of files: the run goes on, the message
comes once; the status is 1.

  $ limited() (trap '' XFSZ; ulimit -f "$1"; shift; run "$@")
  $ limited 1 --report=csv=r.csv --report-interval=0.05 --time=1 |
  >     grep -c 'transactions: *[1-9]'
  ALERT: --report=csv: cannot write r.csv: File too large; the run continues without this report
  1
  $ run --report=none,json=full.json,ndjson=/dev/full --events=100
  ALERT: --report=ndjson: cannot write /dev/full: No space left on device; the run continues without this report
  [1]
  $ "$check" full.json; grep '"end"' full.json
  "end":{"reason":"limit","status":1,"seconds":*,"failure":null}}]} (glob)
  $ run --report=none,json=/dev/full --events=100
  ALERT: --report=json: cannot write /dev/full: No space left on device
  [1]
  $ run --report=none,csv=/dev/full --events=100
  FATAL: --report=csv: cannot write /dev/full: No space left on device
  [1]

Ten thousand names of operations, and of metrics: files have about a thousand of
them, and all columns of these and of the client. (tests/spec/test_metric.lua checks
the warnings.)

  $ cat >names.lua <<'EOF'
  > local n = 0
  > function event()
  >     n = n + 1
  >     sysbench.op.finish(sysbench.op.start("op" .. n))
  >     sysbench.metric("metric" .. n):add(1)
  > end
  > EOF
  $ sysbench names.lua --time=0 --events=10000 \
  >     --report=none,json=r.json,ndjson=r.nd,csv=r.csv run 2>err
  $ "$check" r.json; wc -l <err
  2
  $ ask r.json "len(r['operations']), len(r['metrics']),
  >     len(r['intervals']['columns']) < 9000"
  1024 64 True
  $ ask r.json "sorted({c['group'] for c in r['intervals']['columns']})"
  ['client', 'metric', 'operation', 'run']
  $ ask r.json "sum(o['latency']['count'] for o in r['operations'])"
  10000
  $ find r.json r.nd -size +4000k

Operations have rows, in intervals and in total, and scripts have metrics.

  $ cat >metrics.lua <<'EOF'
  > local n = sysbench.metric("hits")
  > local g = sysbench.metric("depth", "gauge")
  > local d = sysbench.metric("size", {kind = "distribution", unit = "rows"})
  > local con
  > function thread_init()
  >     con = sysbench.sql.driver():connect()
  >     g:set(1.5)
  > end
  > function event()
  >     con:query("SELECT 1")
  >     n:add(2) d:record(0.5)
  > end
  > EOF
  $ sysbench metrics.lua --db-driver=null --threads=2 --events=100 \
  >     --report=json=r.json,csv=r.csv run >text
  $ "$check" r.json
  $ ask r.json "[(o['name'], o['rows']) for o in r['operations']]"
  [('select', 100)]
  $ ask r.json "[(m['name'], m['kind'], m.get('sum'), m.get('value'))
  >     for m in r['metrics']]"
  [('hits', 'counter', 200, None), ('depth', 'gauge', None, 3), ('size', 'distribution', 50, None)]

A gauge that is unknown is null, and empty in a row.

  $ cat >unknown.lua <<'EOF'
  > local g = sysbench.metric("depth", "gauge")
  > function event() g:unknown() end
  > EOF
  $ sysbench unknown.lua --events=10 --time=0 --report=json=u.json,csv=u.csv \
  >     --report-interval=0.1 run | grep -A1 ^Gauge
  Gauge               value
  depth             unknown
  $ "$check" u.json
  $ ask u.json "[(m['name'], m['value']) for m in r['metrics']]"
  [('depth', None)]
  $ sysbench show u.json | grep ^depth
  depth             unknown
  $ tail -1 u.csv | grep -ci nan
  0
  [1]

  $ ask r.json "r['metrics'][2]['count'], r['metrics'][2]['percentiles']['50'],
  >     r['metrics'][2]['unit'], [b[2] for b in r['metrics'][2]['histogram']]"
  100 0.5 rows [100]
  $ ask r.json "[c['name'] + ' ' + c['figure'] for c in r['intervals']['columns']
  >     if c['group'] in ('operation', 'metric')][:3]"
  ['select count', 'select errors', 'select rows']
  $ ask r.json "sum(row[[c['group'] + c['figure']
  >     for c in r['intervals']['columns']].index('operationcount')]
  >     for row in r['intervals']['rows'])"
  100
  $ ask r.json "sum(row[[c['name'] + c['figure']
  >     for c in r['intervals']['columns']].index('hitssum')]
  >     for row in r['intervals']['rows'])"
  200

A report on standard output replaces the text, unless both are asked for. A
symbolic link is followed.

  $ sysbench cpu --events=3 --report=json=- run 2>err >only.json
  $ "$check" only.json
  $ cat err
  The text report is omitted, because another report is written to standard output (--report=none,... hides this message, --report=text,... prints both)
  $ sysbench cpu --events=3 --report=text,json=- run | grep -c -e '^General' -e '"runs"'
  2
  $ sysbench cpu --events=3 --report=none,json=- run >/dev/full
  ALERT: --report=json: cannot write to standard output: No space left on device
  [1]
  $ mkdir -p behind; ln -s behind/real.json link.json; ln -s loop loop
  $ sysbench cpu --events=3 --report=none,json=link.json run
  $ ls behind; readlink link.json; "$check" link.json
  real.json
  behind/real.json
  $ sysbench cpu --events=3 --report=none,json=link.json run; readlink link.json
  behind/real.json
  $ sysbench cpu --events=3 --report=none,json=loop run
  FATAL: --report=json: cannot write loop: Too many levels of symbolic links
  [1]

The files are complete before the script's last functions run, which may end the
process. If done() fails, the files say so.

  $ ended() { sysbench last.lua --events=10 --time=0 --verbosity=0 \
  >     --report=json=l.json,ndjson=l.nd,junit=l.xml,csv=l.csv,hdr=l.hdr,hgrm=l.hgrm \
  >     run >text 2>&1; echo status $?; "$check" l.json
  >     ask l.json "r['counters']['completed'], r['end']['status']"
  >     sed -n 's/.*"line":"end".*"status":\([0-9]*\).*/\1/p' l.nd
  >     find l.* -size +0 | sort | tr '\n' ' '; rm l.*; }
  $ echo 'function event() end function done() os.exit(0) end' >last.lua
  $ ended
  status 0
  10 0
  0
  l.csv l.hdr l.hgrm l.json l.nd l.xml  (no-eol)
  $ echo 'function event() end
  > function sysbench.hooks.report_cumulative() os.exit(0) end' >last.lua
  $ ended
  status 1
  10 1
  1
  l.csv l.hdr l.hgrm l.json l.nd l.xml  (no-eol)
  $ echo 'function event() end
  > function done() ffi.cdef("int kill(int, int); int getpid(void);")
  > ffi.C.kill(ffi.C.getpid(), 9) end' >last.lua
  $ ended
  status 137
  10 0
  0
  l.csv l.hdr l.hgrm l.json l.nd l.xml  (no-eol)
  $ echo 'function event() end function done() error("no") end' >last.lua
  $ ended
  status 1
  10 1
  1
  l.csv l.hdr l.hgrm l.json l.nd l.xml  (no-eol)

A label that is a secret by its name is not shown.

  $ sysbench metrics.lua --db-driver=null --events=1 --label=password=SECRET,note=b \
  >     --report=json=l.json,text --report-context run >text
  $ ask l.json "r['labels']"; grep -c SECRET l.json text
  {'password': '***', 'note': 'b'}
  l.json:0
  text:0
  [1]

The same in the value of a label: a URL, and a password as other clients take it.

  $ sysbench metrics.lua --db-driver=null --events=1 --report=json=l.json,text \
  >     --label="url=x://u:SECRET@h,a=mysql -pSECRET,b=sudo /bin/mysqldump -p SECRET -v,c=,d=mysql -p -pSECRET" \
  >     --report-context run >text
  $ ask l.json "r['labels']"; grep -c SECRET l.json text
  {'url': 'x://u:***@h', 'a': 'mysql -p***', 'b': 'sudo /bin/mysqldump -p *** -v', 'c': '', 'd': 'mysql -p -p***'}
  l.json:0
  text:0
  [1]

Of other programs and in SQL, -p is no password.

  $ sysbench metrics.lua --db-driver=null --events=1 --report=json=l.json \
  >     --label="a=mkdir -p DIR,b=pidstat -p 1234,c=SELECT a -price FROM t" run >text
  $ ask l.json "r['labels']"
  {'a': 'mkdir -p DIR', 'b': 'pidstat -p 1234', 'c': 'SELECT a -price FROM t'}

Names that are no UTF-8 or too long: each file is valid, and different texts are
different operations.

  $ printf '%b' 'function thread_init()
  > con = sysbench.sql.driver():connect()
  > local long = "SELECT " .. ("x"):rep(87) .. "\\xc3\\xa9"
  > list = {}
  > for _, sql in ipairs{"SELECT \x27\xfc\x27", "SELECT \x27\xe8\x27",
  >       long .. " FROM a", long .. " FROM b"} do
  >    table.insert(list, con:prepare(sql))
  > end
  > hits = sysbench.metric("caf\xe9", {unit = "\xe9"})
  > step = sysbench.op("step \xff,")
  > end
  > function event()
  > for _, s in ipairs(list) do s:execute() end
  > hits:add(1)
  > step:finish(step:start())
  > end
  > ' >latin1.lua
  $ sysbench ./latin1.lua --db-driver=null --events=10 --report-interval=1 \
  >     --report=json=l.json,ndjson=l.ndjson,csv=l.csv run >text
  $ "$check" l.json
  $ ask l.json "sorted(o['latency']['count'] for o in r['operations'])"
  [4, 10, 10, 10, 10, 10]
  $ ask l.json "[ascii(m['name']) for m in r['metrics']]" | sed 's/~[0-9a-f]*/~HASH/'
  ["'caf\\ufffd~HASH'"]
  $ tail -1 l.ndjson | grep -c '"reason":"limit"'
  1
  $ /usr/bin/python3 -c "import csv
  > rows = list(csv.DictReader(open('l.csv', encoding='utf-8')))
  > for row in rows:
  >     if row['group'] == 'operation':
  >         print(ascii(row['name']), row['events'])" |
  >     sed 's/~[0-9a-f]*/~HASH/; s/xx*/x/'
  'prepare' 4
  "SELECT '\ufffd'~HASH" 10
  "SELECT '\ufffd'~HASH" 10
  'SELECT x~HASH' 10
  'SELECT x~HASH' 10
  'step \ufffd,~HASH' 10

Logs that are removed or truncated during the run are an error. A script that changes the
folder and the umask of the process changes nothing about result files.

  $ cat >remove.lua <<'EOF'
  > function event()
  >    os.remove("lost")
  > end
  > EOF
  $ lose() { # script kind...
  >     script=$1; shift
  >     for kind in "$@"; do
  >         sysbench ./$script.lua --events=1 --report=$kind=lost run 2>&1 >text
  >         echo $?
  >         rm -f lost
  >     done | sed 's/^ALERT: //; s/; the run continues.*//'
  > }
  $ lose remove csv ndjson hdr json
  --report=csv: lost was removed or replaced during the run: its content is lost
  1
  --report=ndjson: lost was removed or replaced during the run: its content is lost
  1
  --report=hdr: lost was removed or replaced during the run: its content is lost
  1
  0
  $ cat >truncate.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned);")
  > function event()
  >    while io.open("lost"):seek("end") == 0 do ffi.C.usleep(1000) end
  >    io.open("lost", "w"):close()
  > end
  > EOF
  $ lose truncate csv ndjson hdr
  --report=csv: lost was truncated or overwritten during the run: its content is lost
  1
  --report=ndjson: lost was truncated or overwritten during the run: its content is lost
  1
  --report=hdr: lost was truncated or overwritten during the run: its content is lost
  1
  $ cat >change.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int chdir(const char *); unsigned umask(unsigned);")
  > ffi.C.umask(511)
  > ffi.C.chdir("/")
  > function event() end
  > EOF
  $ umask 022
  $ sysbench "$PWD/change.lua" --events=1 run >text \
  >     --report=csv=moved.csv,json=moved.json,ndjson=moved.ndjson
  $ cat >proc.lua <<'EOF'
  > ffi.cdef[[int chdir(const char *); int setenv(const char *, const char *, int);]]
  > assert(ffi.C.chdir("/proc") == 0 and ffi.C.setenv("TMPDIR", "/proc", 1) == 0)
  > function event() end
  > EOF
  $ sysbench "$PWD/proc.lua" --events=1 --report=none,json=moved.json run
  $ sysbench "$PWD/proc.lua" --events=1 --report=none,json=- run 2>err | head -n 1
  {"format":"sysbench-result",
  $ stat -c '%A %n' moved.*
  -rw-r--r-- moved.csv
  -rw-r--r-- moved.json
  -rw-r--r-- moved.ndjson

If FILE is a pipe in the folder of the start, it is written to, not replaced.

  $ mkfifo pipe
  $ timeout 60 cat pipe >piped & reader=$!
  $ sysbench "$PWD/change.lua" --events=1 --report=none,json=pipe run
  $ if [ -p pipe ]; then wait $reader; else kill $reader; fi
  $ head -n 1 piped
  {"format":"sysbench-result",

FILE.part must be a regular file: links and pipes of this name are refused.

  $ echo precious >victim
  $ ln -s victim trap.json.part
  $ sysbench ./remove.lua --events=1 --report=json=trap.json run >text
  FATAL: --report=json: cannot write trap.json: its temporary file trap.json.part: it is a symbolic link
  [1]
  $ cat victim
  precious
  $ mkfifo pipe.json.part
  $ sysbench ./remove.lua --events=1 --report=json=pipe.json run >text
  FATAL: --report=json: cannot write pipe.json: its temporary file pipe.json.part: it is no regular file
  [1]

No cell of a CSV file is a formula.

  $ cat >formula.lua <<'EOF'
  > local names = {"=1+1", "+1", "-1", "@SUM(1,2)", "a=1", "  =1", " a"}
  > function event()
  >    for _, name in ipairs(names) do
  >       sysbench.op.finish(sysbench.op.start(name))
  >    end
  > end
  > EOF
  $ sysbench ./formula.lua --events=1 --report=csv=f.csv run >text
  $ grep operation f.csv | cut -d , -f 4-5 | sed 's/,$//'
  '=1+1
  '+1
  '-1
  "'@SUM(1,2)"
  a=1
  '  =1
   a

What a script does to its process does not change what is written. `written` checks
every kind of report, and prints the exit status and messages. A process that a script
ends frees nothing, and glibc loses the path of locales.

  $ export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
  $ written() { cat >process.lua; cat >>process.lua <<'END'
  > n = 0
  > size = sysbench.metric("size", {kind = "distribution"})
  > local inner = event
  > function event()
  >    n = n + 1
  >    size:record(1.5)
  >    ffi.C.usleep(1000)
  >    if inner then inner() end
  > end
  > END
  >     rm -f p.*
  >     sysbench ./process.lua --time=0.5 --report-interval=0.1 --report=$formats \
  >         --verbosity=3 "$@" run 2>err >p.text
  >     status=$?; cat err; [ $status = 0 ] || echo "status $status"
  >     "$check" p.json && /usr/bin/python3 values.py || echo "wrong"; }
  $ formats=text,json=p.json,csv=p.csv,ndjson=p.nd,hdr=p.hdr,hgrm=p.hgrm,junit=p.xml
  $ cat >values.py <<'EOF'
  > import csv, json, re, xml.dom.minidom
  > run = json.load(open('p.json'))['runs'][0]
  > assert run['options'] and run['metrics'][0]['min'] == 1.5
  > lines = [json.loads(line) for line in open('p.nd')]
  > assert lines[-1]['line'] == 'end' and len(lines) > 4
  > for row in csv.DictReader(open('p.csv')):
  >     for name, value in row.items():
  >         if value and name not in ('group', 'name', 'stage'):
  >             float(value)
  > xml.dom.minidom.parse('p.xml')
  > for line in open('p.hdr'):
  >     if not line.startswith(('#', '"')):
  >         [float(n) for n in re.sub('^Tag=[^,]*,', '', line).split(',')[:3]]
  > for line in open('p.hgrm'):
  >     if re.match(' *[0-9]', line):
  >         [float(n) for n in line.split()[:3] if n != 'inf']
  > text = open('p.text').read()
  > assert text.startswith('sysbench 2.')
  > assert re.search(r'^\[ \d\.\ds \] thds: 1 [te]ps: \d+\.\d\d ', text, re.M)
  > assert re.search(r'^ +total time: +\d\.\d+s$', text, re.M)
  > assert re.search(r'^size +\d+ +1\.5 +1\.5 +1\.5 +1\.5$', text, re.M)
  > EOF
  $ cat >cdef <<'EOF'
  > ffi.cdef[[
  > int close(int); int open(const char *, int, ...); int dup2(int, int);
  > int setenv(const char *, const char *, int); int usleep(unsigned);
  > typedef void (*handler)(int); handler signal(int, handler);
  > unsigned alarm(unsigned); int fork(void); void exit(int);
  > char *setlocale(int, const char *); void *uselocale(void *);
  > void *newlocale(int, const char *, void *);
  > int snprintf(char *, size_t, const char *, ...);]]
  > EOF

Locales with a decimal comma, of the process and of the thread. Values of SQL have a
point, too.

  $ mkdir locales
  $ localedef -f UTF-8 -i de_DE locales/de_DE.UTF-8 2>/dev/null || echo skip >no_locale
  $ export LOCPATH=$PWD/locales
  $ german() { if [ -e no_locale ]; then cat >with; else (cat cdef; cat) | written "$@"; fi; }
  $ share='sysbench.cmdline.options = {share = {"share", 0.25}}
  > function event() assert(sysbench.opt.share == 0.25) end'
  $ echo "assert(ffi.C.setlocale(6, 'de_DE.UTF-8') ~= nil) $share" | german
  $ echo "assert(os.setlocale('de_DE.UTF-8')) $share" | german --workers=1
  $ echo "local german = ffi.C.newlocale(8127, 'de_DE.UTF-8', nil)
  > assert(german ~= nil and ffi.C.uselocale(german) ~= nil) $share" | german
  $ (cat cdef; echo "os.setlocale('de_DE.UTF-8')
  > local con, insert, value
  > function thread_init()
  >    con = sysbench.sql.driver():connect()
  >    con:query('CREATE TABLE numbers(n DOUBLE)')
  >    insert = con:prepare('INSERT INTO numbers VALUES(?)')
  >    value = insert:bind_create(sysbench.sql.type.DOUBLE)
  >    insert:bind_param(value)
  >    value:set(1.5)
  > end
  > function event() insert:execute() end") |
  >     written --db-driver=sqlite --sqlite-db=n.sqlite
  $ if ! [ -e no_locale ]; then
  >     sysbench cpu --events=1 --report=none,web=0 run 2>&1 | grep -q 'Live view' && web=yes
  > fi
  $ cat >ask.py <<'EOF'
  > import re, subprocess, sys, urllib.request
  > p = subprocess.Popen(['sysbench', './web.lua', '--time=60', '--report-interval=0.1',
  >     '--report=none,web=127.0.0.1:0', 'run'], stderr=subprocess.PIPE, text=True)
  > url = next(line for line in p.stderr if 'Live view' in line).split()[-1]
  > text = ''
  > while not re.search(r'^sysbench_metric_value.* ', text, re.M):
  >     text = urllib.request.urlopen(url + 'metrics').read().decode()
  > p.terminate()
  > p.wait()
  > print(re.findall(r'^sysbench_metric_value.* (.*)', text, re.M))
  > EOF
  $ cat >web.lua <<'EOF'
  > assert(os.setlocale("de_DE.UTF-8"))
  > local depth = sysbench.metric("depth", "gauge")
  > function event() depth:set(1.25) sysbench.user.think(0.01) end
  > EOF
  $ if [ "$web" ]; then /usr/bin/python3 ask.py; else echo "['1.25']"; fi
  ['1.25']
  $ sqlite3 n.sqlite 'SELECT DISTINCT n, typeof(n) FROM numbers'
  1.5|real

The standard streams closed, or replaced, at any time.

  $ streams='for fd = 0, 2 do ffi.C.close(fd) end'
  $ (cat cdef; echo "$streams") | written
  $ (cat cdef; echo "function thread_init() $streams end") | written
  $ (cat cdef; echo "function event() $streams end") | written
  $ (cat cdef; echo 'local fd = ffi.C.open("other", 1 + 64, ffi.cast("int", 420))
  > assert(fd > 2 and ffi.C.dup2(fd, 1) == 1 and ffi.C.dup2(fd, 2) == 2)') | written
  $ find other -size +0
  $ (cat cdef; echo 'io.stdin:close() io.stdout:close() io.stderr:close() io.read("*a")
  > io.stdout:setvbuf("full") io.output("other") io.close()') | written

All other files closed: each report that is lost has a message.

  $ (cat cdef; echo 'function thread_init() for fd = 3, 255 do ffi.C.close(fd) end end') |
  >     written 2>&1 | sed -n 's/: Bad file descriptor.*//p' | sort -u
  ALERT: --report=csv: cannot write p.csv
  ALERT: --report=hdr: cannot write p.hdr
  ALERT: --report=hgrm: cannot write p.hgrm
  ALERT: --report=json: cannot keep the figures of an interval
  ALERT: --report=json: cannot write p.json
  ALERT: --report=junit: cannot write p.xml
  ALERT: --report=ndjson: cannot write p.nd
  $ grep -c 'total number of events: *[1-9]' p.text
  1

The environment, handlers of signals (HUP INT USR1 USR2 PIPE ALRM TERM CHLD XFSZ: 0 is
SIG_DFL, 1 is SIG_IGN), and child processes.

  $ (cat cdef; echo 'for _, name in ipairs{"TZ", "LANG", "LC_ALL", "HOME", "TMPDIR",
  >     "PATH", "SYSBENCH_TIME", "SYSBENCH_REPORT", "SB_SERVERS_DIR"} do
  >     ffi.C.setenv(name, "/none", 1)
  > end') | written
  $ for action in 0 1; do
  >     (cat cdef; echo "for _, sig in ipairs{1, 2, 10, 12, 13, 14, 15, 17, 25} do
  >     ffi.C.signal(sig, ffi.cast('handler', $action)) end") | written
  > done
  $ (cat cdef; echo 'function event()
  >     if n == 9 and ffi.C.fork() == 0 then ffi.C.exit(0) end
  >     if n == 19 and ffi.C.fork() == 0 then os.exit(0) end
  >     os.execute("true")
  >     io.popen("echo"):close()
  > end') | written

A script that ends its process, by a signal or by C.

  $ (cat cdef; echo 'ffi.C.alarm(1)') | written --time=60
  SIGALRM: stopping once the events in progress have ended; a second signal exits at once.
  status 142
  $ (cat cdef; echo 'function event() ffi.C.exit(3) end') | written 2>/dev/null | head -n 2
  WARNING: the script ended the program with exit(); the command is not complete, and there is no report
  status 3

A Lua state that fails because compiled code calls a callback ends the process, too. The
message does not say that the script ended it.

  $ cat >panic.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef[[void *bsearch(const void *, const void *, size_t, size_t,
  >     int (*)(const void *, const void *));]]
  > local value, sizes = ffi.new("int[1]"), ffi.new("size_t[1001]")
  > local equal = ffi.cast("int (*)(const void *, const void *)", function() return 0 end)
  > sizes[1000] = 1
  > function event()
  >    for i = 1, 1000 do ffi.C.bsearch(value, value, sizes[i], 4, equal) end
  > end
  > EOF
  $ sysbench panic.lua --events=1 run 2>&1 >text
  FATAL: a Lua state has failed outside of the script: bad callback
  [1]

A report for /dev/stdout is a part of the standard output, also if that is a file.

  $ echo before >both
  $ sysbench cpu --events=3 --time=0 --report=text,csv=/dev/stdout run >>both
  $ grep -c '^before$\|^time,\|^General statistics' both
  3

A file that ends within its rows, or has other values in their place: the message
names the file and the place.

  $ run --time=1 --report-interval=0.2 --report=none,json=r.json
  $ says() { sysbench show "$1" 2>&1 | sed 's/column [0-9]*/column N/'; }
  $ at=$(grep -n '"intervals"' r.json | cut -d : -f 1)
  $ line() { sed -n "$((at + $1))p" r.json; }
  $ cut_after() {  # the head of the file, and what follows of the next row
  >     { sed "$((at + $1))q" r.json; printf %s "$2"; } >cut.json
  >     says cut.json | sed "s/line $((at + $3))/line AT/"
  > }
  $ cut_after 0 '' 1
  FATAL: cut.json is not a complete JSON document: line AT, column N: ']' expected near end of file
  $ cut_after 1 '[0.' 2
  FATAL: cut.json is not a complete JSON document: line AT, column N: invalid token near '0.'
  $ cut_after 1 '[0.4,1' 2
  FATAL: cut.json is not a complete JSON document: line AT, column N: ']' expected near end of file
  $ cut_after 1 '[0.4,nul' 2
  FATAL: cut.json is not a complete JSON document: line AT, column N: invalid token near 'nul'
  $ change() {  # an expression that changes the run
  >     /usr/bin/python3 -c "import json, sys
  > d = json.load(open('r.json')); r = d['runs'][0]
  > $1
  > json.dump(d, open('changed.json', 'w'))"
  >     says changed.json | head -n 1
  > }
  $ change "r['intervals']['rows'][1] = {'a': 1}"
  FATAL: changed.json: row 2 of the intervals is not a list
  $ change "r['intervals']['rows'][2][1] = 'x'"
  FATAL: changed.json: row 3 of the intervals has a value that is not a number
  $ change "r['histograms']['rows'][0] = 5"
  FATAL: changed.json: row 1 of the histograms is not a list
  $ change "r['intervals']['rows'] = 5"
  FATAL: changed.json: "rows" is not a list of rows
  $ change "r['intervals'] = []"
  FATAL: changed.json: "intervals" is not an object
  $ change "r['operations'] = {}"
  FATAL: changed.json: "operations" is not a list
  $ change "d['runs'] = [5]"
  FATAL: changed.json is not a result file (written by --report=json=FILE)
