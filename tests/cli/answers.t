SPDX-License-Identifier: GPL-2.0-or-later

Results and verdicts of a script: sysbench.result(), sysbench.verdict().

  $ cat >own.lua <<'END'
  > local ran = 0
  > function event() end
  > function sysbench.hooks.report_line(stat, final)
  >    if final then
  >       sysbench.result("seen", stat.events, {better = "higher"})
  >       return "a line of the script"
  >    end
  > end
  > function done()
  >    sysbench.result("lost", 3021LL, {better = "lower", unit = "writes",
  >       headline = true})
  >    sysbench.result("outage", 4.0312, {better = "lower", unit = "s"})
  >    sysbench.result("ready", nil, {why = "no server accepts writes"})
  >    sysbench.verdict(true, "all are there", "consistency")
  >    sysbench.verdict(false, "3021 acknowledged writes are lost")
  >    sysbench.verdict(nil, "not looked for", "doubled")
  > end
  > END
  $ run() { sysbench own.lua --events=10 "$@" run; }

The text report ends with them. A verdict that is not true is a line on stderr, and
status 3.

  $ run --report=text,json=own.json,ndjson=own.ndjson 2>err >out
  [3]
  $ sed -n '/^a line/,$p' out
  a line of the script
  Results:
      lost                                       3021 writes (headline)
      seen                                         10
      outage                                    4.031 s
      ready                                   unknown (no server accepts writes)
      consistency: passed: all are there
      verdict: not passed: 3021 acknowledged writes are lost
      doubled: unknown: not looked for
  
  $ cat err
  verdict not passed: 3021 acknowledged writes are lost
  doubled unknown: not looked for
  $ sysbench show own.json | sed -n '/^Results/,$p' >shown
  $ sed -n '/^Results/,$p' out | diff - shown

Files have them, although they were complete before done() ran.

  $ member() { python3 -c 'import json, sys
  > run = json.loads(open(sys.argv[1]).read().splitlines()[-1]) \
  >    if sys.argv[1].endswith("ndjson") else json.load(open(sys.argv[1]))["runs"][0]
  > for name in sys.argv[2:]: print(json.dumps(run.get(name)))' "$@"; }
  $ member own.json headline results verdicts >members
  $ cat members
  {"figure": "lost", "value": 3021, "unit": "writes", "better": "lower", "chosen": false}
  [{"name": "seen", "value": 10, "unit": "", "better": "higher"}, {"name": "lost", "value": 3021, "unit": "writes", "better": "lower", "headline": true}, {"name": "outage", "value": 4.0312, "unit": "s", "better": "lower"}, {"name": "ready", "value": null, "unit": "", "better": null, "why": "no server accepts writes"}]
  [{"name": "consistency", "passed": true, "text": "all are there"}, {"name": "verdict", "passed": false, "text": "3021 acknowledged writes are lost"}, {"name": "doubled", "passed": null, "text": "not looked for"}]
  $ member own.ndjson headline results verdicts | diff members -
  $ "$SB_SRCDIR/tests/check-result" own.json

Limits of results, in their unit or as a time; JUnit has both.

  $ run --assert='seen==10,own.lost<1k,outage<5s,outage<4031ms,ready<1,nope<1,
  >     outage<5%,lost<1s' --report=text,junit=own.xml 2>&1 | sed -n '/^Limits/,$p'
  Limits:
      seen==10                     10  kept
      own.lost<1k         3021 writes  not kept
      outage<5s              4.0312 s  kept
      outage<4031ms          4.0312 s  not kept
      ready<1                no value  not kept (no server accepts writes)
      nope<1                 no value  not kept (the workload did not report it)
      outage<5%              no value  not kept (the unit of the result is s, not %)
      lost<1s                no value  not kept (the unit of the result is writes, not a time)
  
  verdict not passed: 3021 acknowledged writes are lost
  doubled unknown: not looked for
  limit not kept: own.lost<1k: 3021 writes
  limit not kept: outage<4031ms: 4.0312 s
  limit not kept: ready<1: no value (no server accepts writes)
  limit not kept: nope<1: no value (the workload did not report it)
  limit not kept: outage<5%: no value (the unit of the result is s, not %)
  limit not kept: lost<1s: no value (the unit of the result is writes, not a time)
  $ grep -A1 -E '<testsuite |"(consistency|verdict|doubled)"' own.xml |
  >     sed -E 's/ (time|timestamp|hostname)="[^"]*"//g'
    <testsuite name="sysbench" tests="12" failures="8" errors="0" skipped="0">
      <testcase classname="own.lua" name="run"/>
  --
      <testcase classname="own.lua" name="consistency">
        <system-out>all are there</system-out>
  --
      <testcase classname="own.lua" name="verdict">
        <failure type="verdict" message="3021 acknowledged writes are lost"/>
      </testcase>
      <testcase classname="own.lua" name="doubled">
        <failure type="verdict" message="unknown: not looked for"/>
      </testcase>

The headline: a figure of the run, or a result.

  $ headline() { run "$@" 2>err | grep '(.*headline)' || cat err; }
  $ headline --headline=outage
      outage                                    4.031 s (headline)
  $ headline --headline=own.outage
      outage                                    4.031 s (headline)
  $ headline --headline=events
      events                                       10 (headline)
  $ headline --headline=ready
      ready                                   unknown (no server accepts writes; headline)
  $ headline --headline=response.p99
      response.p99                            unknown (it is only measured with --rate; headline)
  $ headline --headline='lost<1'
  --headline: 'lost<1', character 5: expected only the name of a figure
  $ headline --headline=validity
  --headline: 'validity', character 9: a state cannot be the headline
  $ headline --headline=tsp
  --headline: 'tsp', character 1: unknown figure 'tsp' (did you mean tps?)

Names are checked before the run if the workload declares its results, or cannot have
any.

  $ cat >known.lua <<'END'
  > sysbench.results = {lost = {better = "lower", unit = "writes", headline = true}}
  > function event() end
  > function done() sysbench.result("lost", 0) end
  > END
  $ sysbench known.lua --events=1 --assert=lost==0 run | sed -n '/^Results/,$p'
  Results:
      lost                                          0 writes (headline)
  
  Limits:
      lost==0          0 writes  kept
  
  $ sysbench failover help | sed -n '/^Results/,$p'
  Results, for --assert and --headline: acknowledged, doubled, lost,
  refused_stored, unavailable
  
  $ sysbench known.lua --assert=losst==0 --report=none run
  --assert: 'losst' is neither a figure nor a result of the workload (did you mean lost?)
  [1]
  $ sysbench known.lua --headline=other.lost --report=none run
  --headline: 'other.lost' is neither a figure nor a result of the workload
  [1]
  $ sysbench failover --db-driver=null --headline=nothing --report=none cleanup
  Dropping table 'failover'...
  Dropping table 'failover_users'...
  $ sysbench cpu --assert=lost==0 run 2>&1 | tail -1
  --assert: 'lost' is neither a figure nor a result of the workload
  $ sysbench oltp_read_only --db-driver=null --assert=lost==0 run 2>&1 | tail -1
  --assert: 'lost' is neither a figure nor a result of the workload
  $ sysbench known.lua --assert='lost==0 abort' run
  --assert: 'lost==0 abort', character 9: results are known when the run has ended
  [1]
  $ sysbench known.lua --rate=max --rate-limit='lost<1' --report=none run
  --rate-limit: 'lost<1', character 6: results of a workload cannot be a limit of the search for a rate
  [1]

A failed run keeps its status, an interrupted one does not. Checkpoints are no place for results.

  $ cat >failed.lua <<'END'
  > function event() error("no", 0) end
  > function sysbench.hooks.run_failed() sysbench.verdict(false, "it failed") end
  > END
  $ sysbench failed.lua --report=none --report-errors=off run
  FATAL: `thread_run' function failed: no
  verdict not passed: it failed
  [1]
  $ cat >long.lua <<'END'
  > function event() io.open("started", "w"):close() sysbench.user.wait(0.01) end
  > function done() sysbench.verdict(false, "it found something") end
  > END
  $ sysbench long.lua --time=100 --report=none run 2>err & pid=$!
  $ for i in $(seq 1000); do [ -e started ] && break; sleep 0.02; done
  $ kill -INT $pid; wait $pid
  [3]
  $ grep verdict err
  verdict not passed: it found something
  $ cat >checkpoint.lua <<'END'
  > function event() sysbench.user.wait(0.001) end
  > function sysbench.hooks.report_cumulative(stat)
  >    local ok, why = pcall(sysbench.result, "n", 1)
  >    print(ok, why)
  > end
  > END
  $ sysbench checkpoint.lua --time=1 --report-checkpoints=0.1 run | grep -E '^(true|false)'
  false\tsysbench.result() can only be called when the run has ended: in done(), in hooks.run_failed, or for the whole run in hooks.report_line or hooks.report_cumulative (esc)
  true\tnil (esc)

What is refused.

  $ cat >wrong.lua <<'END'
  > function event()
  >    print(select(2, pcall(sysbench.verdict, true, "x")))
  > end
  > local function try(f, ...) print((select(2, pcall(f, ...)))) end
  > function done()
  >    local result, verdict = sysbench.result, sysbench.verdict
  >    result("a", 1, {headline = true})
  >    for _, call in ipairs{
  >       {"a", 2}, {"tps", 1}, {"p99", 1}, {"", 1}, {"a b", 1}, {"1a", 1}, {"a.b", 1},
  >       {("x"):rep(65), 1}, {1, 1}, {"b\0", 1}, {"b", "1"}, {"b"}, {"b", 1 / 0},
  >       {"b", 0 / 0}, {"b", true}, {"b", 1, {headline = true}}, {"b", 1, "s"},
  >       {"b", 1, {unit = 1}}, {"b", 1, {units = "s"}}, {"b", 1, {better = "less"}},
  >       {"b", 1, {unit = ("u"):rep(33)}}, {"b", 1, {unit = "a\nb"}}} do
  >       try(result, unpack(call, 1, 3))
  >    end
  >    try(verdict, 1, "x")
  >    try(verdict, true)
  >    try(verdict, true, "x", "a-b")
  >    verdict(true, "x")
  >    try(verdict, true, "y")
  >    for i = 1, 99 do result("r" .. i, i) end
  >    try(result, "r100", 1)
  > end
  > END
  $ sysbench wrong.lua --events=1 --report=none run
  sysbench.verdict() can only be called when the run has ended: in done(), in hooks.run_failed, or for the whole run in hooks.report_line or hooks.report_cumulative
  the result 'a' was already given
  'tps' cannot be the name of a result: it is a figure of every run
  'p99' cannot be the name of a result: it is a figure of every run
  '' cannot be the name of a result: at most 64 letters, digits and '_' are allowed, and a letter must come first
  'a b' cannot be the name of a result: at most 64 letters, digits and '_' are allowed, and a letter must come first
  '1a' cannot be the name of a result: at most 64 letters, digits and '_' are allowed, and a letter must come first
  'a.b' cannot be the name of a result: at most 64 letters, digits and '_' are allowed, and a letter must come first
  'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' cannot be the name of a result: it is too long
  the name of a result must be a string
  the name of a result must not contain a zero byte
  the value of a result must be a number, or nil and 'why', not a string
  the value of 'b' is unknown: give the reason, {why = "..."}
  the value of 'b' must be finite
  the value of a result is not a number (NaN)
  the value of a result must be a number, or nil and 'why', not a boolean
  the headline is already the result 'a'
  the options of a result must be a table
  'unit' of a result must be a string
  a result has no option 'units' (must be better, unit, headline or why)
  'better' of a result must be "lower" or "higher"
  'unit' of a result has 33 bytes; the maximum is 32
  'unit' of a result must be one line without control characters
  the first argument of sysbench.verdict() must be true, false or nil
  the text of a verdict must be a string, not a nil
  'a-b' cannot be the name of a verdict: at most 64 letters, digits and '_' are allowed, and a letter must come first
  the verdict 'verdict' was already given
  too many results; the maximum is 100

A text may be a message of a server: it is shortened at the end of a character, and printed
on one line.

  $ cat >texts.lua <<'END'
  > function event() end
  > function done()
  >    sysbench.result("long", nil, {why = ("x"):rep(499) .. "\u{e4}"})
  >    sysbench.verdict(false, "a\nb\27]0;x\7 " .. ("\u{e4}"):rep(300))
  > end
  > END
  $ sysbench texts.lua --events=1 --report=text,json=texts.json run 2>/dev/null >out
  [3]
  $ sed -n '/^Results/,/^$/p' out | sed 's/xxx*/x/; s/x07 .*/x07/'
  Results:
      long                                    unknown (x)
      verdict: not passed: a b\x1b]0;x\x07
  
  $ python3 -c 'import json
  > r = json.load(open("texts.json"))["runs"][0]
  > print(*(len(t.encode()) for t in (r["results"][0]["why"], r["verdicts"][0]["text"])))'
  499 500

Names of results have no full stops, and those of figures do. What can only be meant to be a
result is an error before the run.

  $ cat >lag.lua <<'END'
  > sysbench.results = {lag_max = {better = "lower", unit = "s"}}
  > function event() end
  > function done() sysbench.result("lag_max", 1) end
  > END
  $ lag() { sysbench lag.lua --events=1 --report=none "$@" run 2>&1 | tail -n 1; }
  $ lag --assert='lag.lag.max < 2s'
  --assert: 'lag.lag.max' is neither a figure nor a result of the workload (did you mean lag.lag_max?)
  $ lag --assert='lag.max<2s'
  --assert: 'lag.max' is neither a figure nor a result of the workload (did you mean lag_max?)
  $ lag --headline=lag.lag.max
  --headline: 'lag.lag.max' is neither a figure nor a result of the workload (did you mean lag.lag_max?)
  $ lag --assert='lag.max<2s' --rate=1000
  $ lag --assert='lag.lag.avg<2s'
  limit not kept: lag.lag.avg<2s: no value (there are no operations)
  $ lagging() { sysbench --mix=a=lag.lua,b=lag.lua --events=2 --report=none "$@" run 2>&1 | tail -n 1; }
  $ lagging --assert='b.lag.max<2s'
  --assert: 'b.lag.max' is neither a figure nor a result of the workload (did you mean b.lag_max?)
  $ lagging --assert='b.lag.avg<2s'
  --assert: 'b.lag.avg' is neither a figure nor a result of the workload
  $ lagging --assert='b.lag_max<2s'

In a mix, names begin with that of the workload.

  $ cat >one.lua <<'END'
  > function event() end
  > function done()
  >    sysbench.result("lost", 1, {headline = true})
  >    sysbench.result("only", 5, {unit = "%"})
  >    sysbench.verdict(false, "one is lost")
  > end
  > END
  $ sed 's/false/true/; s/"only"/"mine"/' one.lua >two.lua
  $ mix() { sysbench --mix=a=one.lua,b=two.lua --events=10 "$@" run; }
  $ mix --report=text,json=mix.json --headline=b.lost \
  >     --assert='only<=5%,a.lost==1,b.lost==0,lost==1,b.mine==5' 2>&1 | sed -n '/^Results/,$p'
  Results:
      b.lost                                        1 (headline)
      a.lost                                        1
      a.only                                        5 %
      b.mine                                        5 %
      a.verdict: not passed: one is lost
      b.verdict: passed: one is lost
  
  Limits:
      only<=5%                5 %  kept
      a.lost==1                 1  kept
      b.lost==0                 1  not kept
      lost==1            no value  not kept (several workloads report it: write WORKLOAD.RESULT)
      b.mine==5               5 %  kept
  
  a.verdict not passed: one is lost
  limit not kept: b.lost==0: 1
  limit not kept: lost==1: no value (several workloads report it: write WORKLOAD.RESULT)
  $ "$SB_SRCDIR/tests/check-result" mix.json
  $ mix --report=text 2>/dev/null | grep -c headline
  0
  [1]
  $ mix --headline=a.tps 2>/dev/null | grep -E -o 'a.tps .*/s.*'
  a\.tps .* /s \(headline\) (re)

Comparisons have results, and the headline that was chosen decides. What is 0 on one side
has no difference in percent.

  $ cat >speed.lua <<'END'
  > sysbench.cmdline.options = {n = {"number", 0}}
  > function event() end
  > function done()
  >    local n = sysbench.opt.n
  >    sysbench.result("lost", n < 10 and 0 or 3, {better = "lower", unit = "writes"})
  >    sysbench.result("none", 0)
  >    sysbench.result("speed", n, {better = "higher", unit = "/s"})
  >    sysbench.result("took", n, {better = "lower", unit = "s"})
  >    sysbench.result("odd", n)
  > end
  > END
  $ for n in 5.1 5.2 5.3 11.1 11.2 11.3; do
  >     sysbench speed.lua --events=1 --n=$n --headline=speed --report=none,json=n$n.json run
  > done
  $ sysbench compare n5.1.json,n5.2.json,n5.3.json n11.1.json,n11.2.json,n11.3.json \
  >     --json=compared.json >out
  $ grep -E '^(lost|none|speed|took|odd|Verdict)' out
  speed, /s                               5.2       11.2  +115.* better (glob)
  lost, writes                              0          3          -          - .. -          differs
  none                                      0          0          -          - .. -          equal
  took, s                                 5.2       11.2  +115.* worse (glob)
  odd                                     5.2       11.2  +115.* higher (glob)
  Verdict: B is better than A: speed +115.* %). (glob)
  $ python3 -c 'import json
  > for f in json.load(open("compared.json"))["figures"]:
  >    if "better" in f: print(f["group"], f["name"], f["better"], f["words"])'
  headline speed higher better
  result lost lower differs
  result none None equal
  result took lower worse
  result odd None higher

In a sweep, peak and knee are those of the headline.

  $ swept() { sysbench speed.lua --events=1 --sweep=n=4,8 --repeat=2 "$@" run >out; sed -n '/^n /p; /^Peak/p; /^Knee/p; /^No/p' out; }
  $ swept --headline=speed --report=json=swept.json
  n  runs     events/s     +/-     p50 ms     p95 ms     +/-     p99 ms   errors   speed /s lost writes       none     took s
  Peak of speed: 8.00 /s at n=8; still rising at the highest value
  Knee: n=8, the lowest with 95 % of the peak
  $ "$SB_SRCDIR"/tests/check-result swept.json
  $ sysbench show swept.json | grep ^Peak
  Peak of speed: 8.00 /s at n=8; still rising at the highest value
  $ swept --headline=took | grep ^No
  No peak: a lower took is better.

A headline that is 0 in all runs of a side decides, too, although there is no difference in
percent.

  $ cat >lost.lua <<'END'
  > sysbench.cmdline.options = {n = {"number", 0}}
  > function event() end
  > function done() sysbench.result("lost", sysbench.opt.n, {better = "lower"}) end
  > END
  $ for run in a0 b0 c0 a7 b3021; do
  >     sysbench lost.lua --events=1 --n=${run#?} --headline=lost.lost --report=none,json=$run.json run
  > done
  $ lost() { sysbench compare "$@" >out; echo $?; sed -n '/^lost/p; /^Verdict/,$p' out | sed 's/   */  /g'; }
  $ lost a0.json b0.json
  0
  lost  0  0  -  - .. -  equal
  Verdict: B is equivalent to A: lost 0 against 0.
  Two single runs: the deviation between repeated runs is unknown. Repeat the runs to be sure.
  $ lost a0.json b3021.json
  3
  lost  0  3021  -  - .. -  worse
  Verdict: B is worse than A: lost 3021 against 0.
  Two single runs: the deviation between repeated runs is unknown. Repeat the runs to be sure.
  $ lost a7.json,b3021.json a0.json,b0.json | sed 4d
  0
  lost  1514  0  -  - .. -  better
  Verdict: B is better than A: lost 0 against 1514.
  $ lost a0.json,b0.json c0.json,a7.json --pass=not-worse | sed 4d
  5
  lost  0  3.5  -  - .. -  differs
  Verdict: B may be better or worse than A: lost 3.5 against 0.
  $ lost a0.json b0.json --pass=not-worse | head -n 1
  0
  $ lost a7.json b3021.json | sed -n '1p; /^Verdict/p'
  4
  Verdict: none, too little data.

A file may contain anything. Nothing in it is executed by the terminal.

  $ for run in a b; do
  >     python3 -c 'import json, sys
  > document = json.load(open(sys.argv[1]))
  > run = document["runs"][0]
  > evil = "\x1b]0;x\x07\n"
  > run["headline"].update(figure=evil + "lost", unit=evil)
  > run["verdicts"] = [{"name": "v", "workload": evil, "passed": False, "text": evil}]
  > run["results"][0].update(workload=evil, unit=evil, value=None, why=evil)
  > run["labels"] = {"side": evil + sys.argv[1]}
  > json.dump(document, sys.stdout)' ${run}0.json >evil-$run.json
  > done
  $ sysbench compare evil-a.json evil-b.json >out
  $ sed -n 's/^Verdict: //p' out
  \x1b]0;x\x07 b0.json is equivalent to \x1b]0;x\x07 a0.json: \x1b]0;x\x07 lost 0 against 0.
  $ sysbench compare --pass=better,worse,equivalent,inconclusive \
  >     evil-a.json,a7.json,b3021.json evil-b.json >mixed
  $ grep -c 'is a single run' mixed
  1
  $ sysbench history evil-a.json evil-b.json >>out
  [5]
  $ sysbench show evil-a.json >shown
  $ sed -n '/^Results/,/^$/p' shown | sed 's/   */  /g'
  Results:
    \x1b]0;x\x07 lost  0 \x1b]0;x\x07 (headline)
    \x1b]0;x\x07.lost  unknown (\x1b]0;x\x07)
    \x1b]0;x\x07.v: not passed: \x1b]0;x\x07
  
  $ LC_ALL=C grep -c "$(printf '[\001-\010\013-\037]')" out mixed shown
  out:0
  mixed:0
  shown:0
  [1]

Merged files have none: neither the sum nor the mean of two answers is one.

  $ run --report=none,json=other.json 2>/dev/null
  [3]
  $ sysbench merge --output=merged.json own.json other.json 2>/dev/null
  $ member merged.json headline results verdicts
  null
  null
  null
