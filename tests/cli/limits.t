SPDX-License-Identifier: GPL-2.0-or-later

Limits: --assert. An event of this script takes at least 1 ms.

  $ cat >e.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned int)")
  > function event() ffi.C.usleep(1000) end
  > EOF
  $ run() { sysbench e.lua --events=20 "$@" run; }
  $ figures() {
  >     sed -E -e '1,/^Limits/d; /^$/d; s/  +/ /g' \
  >         -e 's, [0-9.]+( ms| /s| %)? (kept|not kept), N\1 \2,'
  > }

Limits that are kept.

  $ run --assert='p99<10s, tps>1,errors==0, events == 20, failed<1%' >out
  $ figures <out
   p99<10s N ms kept
   tps>1 N /s kept
   errors==0 N kept
   events == 20 N kept
   failed<1% N % kept

Standard output that is full: a limit that was not kept is still status 3, because
stderr names it; a successful run has failed. The result file says the same, and
JUnit says what failed.

  $ full() { run "$@" --report=text,json=full.json,junit=full.xml >/dev/full; echo "$?"
  >     python3 -c 'import json
  > print(json.load(open("full.json"))["runs"][0]["end"]["status"])'
  >     grep -o '<error .*' full.xml; }
  $ full --assert='events==0'
  limit not kept: events==0: 20
  FATAL: cannot write to standard output: No space left on device
  3
  3
  [1]
  $ full --assert='events==20'
  FATAL: cannot write to standard output: No space left on device
  1
  1
  <error type="report" message="the run itself was successful, but a report could not be written completely"/>

Limits that are not kept: the value, a line on stderr, status 3. A figure
without a value is not kept.

  $ run --assert='min<1ms,tps>1,x.p99<1,lag.p99<1' 2>err >out
  [3]
  $ sed 's/[0-9.]* ms/N ms/' err
  limit not kept: min<1ms: N ms
  limit not kept: x.p99<1: no value (there are no operations)
  limit not kept: lag.p99<1: no value (it is only measured with --rate)
  $ figures <out | grep 'not kept'
   min<1ms N ms not kept
   x.p99<1 no value not kept (there are no operations)
   lag.p99<1 no value not kept (it is only measured with --rate)
  $ run --report=none --assert=min\<1ms 2>/dev/null
  [3]

Without limits, the output does not change.

  $ run | grep -c Limits
  0
  [1]

Operations by name, by kind, and with a similar name.

  $ sb() { sysbench oltp_read_write --db-driver=null --events=9 "$@" run; }
  $ sb --assert='point_selects.count==90,"point_selects".p99<10s,read.count==126,
  >     write.errors==0' | figures
   point_selects.count==90 N kept
   "point_selects".p99<10s N ms kept
   read.count==126 N kept
   write.errors==0 N kept
  $ sb --report=none --assert='point_select.p99<1'
  limit not kept: point_select.p99<1: no value (no operation has this name (did you mean point_selects?))
  [3]

During the run, a name that is similar to that of an operation is a warning, or to that of a
stage if it is quoted or a plural.

  $ sysbench oltp_read_write --db-driver=null --threads=1 --stages='soak: for 600s' \
  >     --report-interval=0.1 --report=none --verbosity=2 run \
  >     --assert='point_select.p99<1,"soka".p99<1,soaks.p99<1,nothing.p99<1,read.p99<9,events<1 abort' 2>&1 |
  >     grep -e WARNING -e soa
  WARNING: --assert: point_select.p99<1: there is no operation 'point_select' so far (did you mean point_selects?)
  WARNING: --assert: "soka".p99<1: there is no operation 'soka' so far (did you mean soak?)
  WARNING: --assert: soaks.p99<1: there is no operation 'soaks' so far (did you mean soak?)
  limit not kept: "soka".p99<1: no value (no operation has this name (did you mean soak?))
  limit not kept: soaks.p99<1: no value (no operation has this name (did you mean soak?))

Checkpoints do not reset what is compared.

  $ sysbench e.lua --time=0.3 --report-checkpoints=0.2 --events=0 \
  >     --assert='tps>1' run | figures
   tps>1 N /s kept
  $ run --report-checkpoints=0.005 --assert=events==20 | figures
   events==20 N kept

Limits of a stage, and spaces. The result file and JUnit have them as given.

  $ staged() {
  >     sysbench e.lua --stages='a: threads=1 for 0.2s; soak: threads=2 for 0.2s' "$@" run
  > }
  $ staged --report=text,json=s.json,junit=s.xml \
  >     --assert='soak.p99.9 < 10 s, a.tps>1/s,soak.failed < 1 %,soak.lag.p99<1 ms' >out 2>err
  [3]
  $ cat err
  limit not kept: soak.lag.p99<1 ms: no value (it is only measured with --rate)
  $ figures <out | head -n 4
   soak.p99.9 < 10 s N ms kept
   a.tps>1/s N /s kept
   soak.failed < 1 % N % kept
   soak.lag.p99<1 ms no value not kept (it is only measured with --rate)
  $ sysbench show s.json | sed -n '/^Limits/,/^$/p' >shown
  $ sed -n '/^Limits/,/^$/p' out | diff - shown
  $ grep -o 'name="soak[^"]*"' s.xml
  name="soak.p99.9 &#60; 10 s"
  name="soak.failed &#60; 1 %"
  name="soak.lag.p99&#60;1 ms"

A stage after the end of the run has no value. A limit with `abort` is only checked in
its stage.

  $ staged --events=20 --report=none --assert='soak.events>0, a.events==20'
  limit not kept: soak.events>0: no value (the run ended before this stage)
  [3]
  $ sysbench e.lua --stages='a: threads=1 for 0.3s; soak: for 600s' \
  >     --report-interval=0.1 --report=none --assert='soak.events<1 abort,a.events>1' run 2>&1 |
  >     sed -E 's/after [0-9.]+ s: [0-9]+/after N s: N/; s/: [0-9]+$/: N/'
  ALERT: the limit soak.events<1 abort was not kept after N s: N; ending the run
  limit not kept: soak.events<1 abort: N

Names that cannot exist are errors before the load starts, but not for other commands.

  $ staged --assert='soka.failed<1%' >/dev/null
  --assert: 'soka.failed<1%', character 6: 'failed' is not measured for operations, and no stage or workload is called 'soka' (did you mean soak?)
  [1]
  $ staged --assert='p99<1s, sok.p99<1ms' >/dev/null
  --assert: 'sok.p99<1ms', character 9: no stage is called 'sok' (did you mean soak?); if an operation is, write "sok"
  [1]
  $ run --assert='beside.p99<2x' >/dev/null
  --assert: 'beside.p99<2x', character 1: figures beside a command require --beside
  [1]
  $ run --assert='costs.usd_per_million_events<2' >/dev/null
  --assert: 'costs.usd_per_million_events<2', character 1: usd_per_million_events requires --price
  [1]
  $ run --assert='validity.stedy==ok' 2>&1 | cut -c1-60
  --assert: 'validity.stedy==ok', character 10: unknown check 
  $ sysbench oltp_read_only --db-driver=null --assert='beside.p99<2x' prepare | grep -c Prepared
  1

A limit with `abort` ends the run. The interval is a second without
--report-interval.

  $ sysbench e.lua --time=600 --assert='max<1us abort' --verbosity=0 run 2>err
  [3]
  $ sed 's/[0-9.]* ms/N ms/' err
  limit not kept: max<1us abort: N ms
  $ sysbench e.lua --time=600 --report-interval=0.1 \
  >     --assert='events<50 abort,tps>1 abort after 5s' run 2>err >out
  [3]
  $ sed -E 's/after [0-9.]+ s: [0-9]+/after N s: N/; s/: [0-9]+$/: N/' err
  ALERT: the limit events<50 abort was not kept after N s: N; ending the run
  limit not kept: events<50 abort: N
  $ sysbench oltp_read_write --db-driver=null --time=600 --report-interval=0.1 \
  >     --assert='point_selects.max<1ns abort' --report=none run 2>/dev/null
  [3]

A failed or interrupted run keeps its status.

  $ echo 'function event() error("no") end' >bad.lua
  $ sysbench bad.lua --report=none --assert='events==0,p99<1' run 2>&1 |
  >     grep limit
  limit not kept: p99<1: no value (no event was completed)
  $ sysbench bad.lua --report=none --assert=events==0 run 2>/dev/null
  [1]
  $ echo 'function thread_init() error("no") end function event() end' >no.lua
  $ sysbench no.lua --report=none,junit=n.xml --assert=events==0 run 2>/dev/null
  [1]

A report that could not be written is no failure of the run, and JUnit says so.

  $ run --report=none,json=/dev/full,junit=unwritten.xml 2>/dev/null
  [1]
  $ grep -o '<error.*' unwritten.xml
  <error type="report" message="the run itself was successful, but a report could not be written completely"/>

Errors come before the load starts.

  $ run --assert='p99<10ms,tsp>1'
  --assert: 'tsp>1', character 10: unknown figure 'tsp' (did you mean tps?)
  [1]
  $ run --assert='events>5 abort'
  --assert: 'events>5 abort', character 10: a limit with 'abort' on a count that grows must be a maximum: use < or <=
  [1]

Files have the limits. JUnit XML is well-formed, with any text in it.

  $ run --report=none,json=r.json,ndjson=r.nd,junit=j.xml \
  >     --assert='tps>1,"<&> x".p99<1s,p9>1h' 2>/dev/null
  [3]
  $ "$SB_SRCDIR/tests/check-result" || exit 80 # needs python3-jsonschema
  $ "$SB_SRCDIR/tests/check-result" r.json
  $ cat >show.py <<'EOF'
  > import json, sys
  > import xml.etree.ElementTree as xml
  > def value(v): return v if v is None else "N"
  > for l in json.load(open("r.json"))["runs"][0]["limits"]:
  >     print(l["limit"], value(l["value"]), l["unit"], l["passed"])
  > lines = [json.loads(line) for line in open("r.nd")]
  > print([l["passed"] for l in lines[-1]["limits"]])
  > for name in "j.xml", "n.xml":
  >     suites = xml.parse(name).getroot()
  >     suite = suites[0]
  >     cases = suite.findall("testcase")
  >     print(suites.tag, suite.tag, suite.get("tests") == str(len(cases)),
  >         suite.get("failures"), suite.get("errors"))
  >     for c in cases:
  >         print(c.get("classname"), c.get("name"), *[e.tag for e in c])
  > EOF
  $ /usr/bin/python3 show.py
  tps>1 N /s True
  "<&> x".p99<1s None ms False
  p9>1h N ms False
  [True, False, False]
  testsuites testsuite True 2 0
  e.lua run
  e.lua tps>1 system-out
  e.lua "<&> x".p99<1s failure
  e.lua p9>1h failure
  testsuites testsuite True 1 1
  no.lua run error
  no.lua events==0 failure
