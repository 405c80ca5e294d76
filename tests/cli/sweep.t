SPDX-License-Identifier: GPL-2.0-or-later

`--sweep` and `--repeat`: several runs in one command. An event of this script
takes 1 ms; with `--fail=1` the run fails.

  $ cat >e.lua <<'EOF'
  > sysbench.cmdline.options = {
  >     fail = {"fail if 1", 0}, label2 = {"a text", "a"} }
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned int)")
  > function event()
  >     if sysbench.opt.fail == 1 then error("failed as asked") end
  >     ffi.C.usleep(1000)
  > end
  > function prepare()
  >     local f = io.open("commands", "a")
  >     f:write("prepare ", sysbench.opt.label2, "\n")
  >     f:close()
  > end
  > function cleanup()
  >     local f = io.open("commands", "a")
  >     f:write("cleanup ", sysbench.opt.label2, "\n")
  >     f:close()
  > end
  > EOF
  $ sweep() { sysbench e.lua --events=50 "$@" run 2>err; }
  $ lines() { sed -E 's/[0-9.]+ events.s, p95 [0-9.]+ ms/FIGURES/'; }
  $ of() {  # a Python expression of the document d and its runs r
  >     /usr/bin/python3 -c "import json
  > d = json.load(open('s.json'))
  > r = d['runs']
  > print($1)"
  > }
  $ values() { of '*["/".join([*x["swept"].values(), str(x["round"])]) for x in r]'; }

One run for each value, in rounds. The result file has all runs and is valid;
the folder of finished runs is removed.

  $ sweep --sweep=threads=1,2,2..4 --repeat=2 --report=json=s.json >out
  $ sed '/^threads/,$d' out | lines
  sysbench * (glob)
  
  Sweep of e.lua: 6 runs (3 combinations, 2 rounds)
  
  [1/6] threads=1: FIGURES
  [2/6] threads=2: FIGURES
  [3/6] threads=4: FIGURES
  [4/6] threads=1: FIGURES
  [5/6] threads=2: FIGURES
  [6/6] threads=4: FIGURES
  
  $ sed -n '/^threads/,/^$/p' out | sed -E 's/ +/ /g; s/ [0-9.]+%?( |$)/ N /g; s/ [0-9.]+%?( |$)/ N /g; s/ $//'
  threads runs events/s +/- p50 ms p95 ms +/- p99 ms errors
   N N N N N N N N N
   N N N N N N N N N
   N N N N N N N N N
  
  $ "$SB_SRCDIR"/tests/check-result s.json
  $ of '*["%d/%d" % (x["place"], x["places"]) for x in r]'
  1/6 2/6 3/6 4/6 5/6 6/6
  $ values
  1/1 2/1 4/1 1/2 2/2 4/2
  $ of 'd["sweep"]["axis"], [p["runs"] for p in d["sweep"]["points"]]'
  threads [2, 2, 2]
  $ of '[("knee" in g) == g["resolved"] for g in d["sweep"]["groups"]]'
  [True]
  $ ls
  e.lua
  err
  out
  s.json
  $ cat err

Stages that keep the swept value, or take a share of it, can be swept.

  $ sweep --sweep=threads=1,2 --events=0 --stages='rate=200 for 0.1s; rate=0 for 0.1s' --report=none,json=s3.json
  $ /usr/bin/python3 -c "import json; print([[s['threads'] for s in r['stages']] for r in json.load(open('s3.json'))['runs']])"
  [[[1, 1], [1, 1]], [[2, 2], [2, 2]]]
  $ sweep --sweep=rate=200,400 --events=0 --stages='rate=50% for 0.1s; rate=0..100% for 0.1s' --report=none,json=s3.json
  $ /usr/bin/python3 -c "import json; print([[s['rate'] for s in r['stages']] for r in json.load(open('s3.json'))['runs']])"
  [[[100, 100], [0, 200]], [[200, 200], [0, 400]]]

With --rate there is no peak: the lines say which rates were reached, and with
--rate=max which rates were found. With this seed, no event is due in the last 0.3 s.

  $ sweep --sweep=rate=5,100000 --events=0 --time=2 --rand-seed=4 --report=json=s3.json | grep ^Rates
  Rates reached: up to rate=5, not rate=100000 (at least 99 % of the arrivals completed)
  $ "$SB_SRCDIR"/tests/check-result s3.json
  $ sweep --sweep=threads=1,2 --rate=max --rate-limit='p99<1h' --rate-trials=9 \
  >     --rate-trial-time=0.1 --rate-probe-time=0.5 --report=json=s3.json >found
  $ grep '^threads' found
  threads  runs     events/s     +/-    highest/s     +/-     p50 ms     p95 ms     +/-     p99 ms   errors
  $ grep -c '^.[12]/2. .* ms, highest rate [0-9.]*/s$' found
  2
  $ grep -c -e '^Highest rate that keeps the limit: ' -e '^No highest rate can be named: ' found
  1
  $ "$SB_SRCDIR"/tests/check-result s3.json
  $ /usr/bin/python3 -c "import json
  > d = json.load(open('s3.json'))
  > print([p['search']['highest'][k] == r['search'][v] for p, r in
  >     zip(d['sweep']['points'], d['runs'])
  >     for k, v in zip(('value', 'low', 'high'), ('highest', 'low', 'high'))])"
  [True, True, True, True, True, True]
  $ sysbench show s3.json | grep -c -e '^Highest rate that' -e '^No highest rate can'
  1

Every run has a process, options and a seed of its own.

  $ of 'len(set(x["seed"] for x in r))'
  6
  $ of '[o["value"] for x in r for o in x["options"] if o["name"] == "threads"]'
  ['1', '2', '4', '1', '2', '4']

The table again from the file, after the reports of the runs.

  $ sysbench show s.json >shown
  $ grep -c '^General statistics' shown
  6
  $ sed -n '/^s.json/{n;p;}' shown | head -2
  threads=1, round 1
  threads=2, round 1
  $ sed -n '/^threads /,$p' out >table
  $ sed -n '/^threads /,$p' shown | diff table -

A run has one throughput: that of its own report is in its line, in the table and in
`compare`, although the last interval is short.

  $ sysbench oltp_point_select --db-driver=null --time=0.35 --report-interval=0.1 --report=none,json=s2.json --sweep=threads=1,2 run
  $ sysbench show s2.json >shown
  $ sed -nE 's/^ +transactions: .*\((.*) per sec.*/\1/p' shown >own
  $ awk '/^threads /,/^$/ { if ($1 ~ /^[0-9]/) print $3 }' shown | diff own - && wc -l <own
  2
  $ sysbench compare --at=threads=1 s2.json s2.json |
  >     awk '/^throughput/ { print $3, $4 }' >values

`own` has two decimals, so its value may be 0.005 less or more than the one that
`compare` rounds.

  $ awk 'function shown(x) { return sprintf(x < 1000 ? "%.4g" : "%.0f", x) }
  >     FNR == NR { if (FNR == 1) { low = shown($1 - .005); high = shown($1 + .005) }; next }
  >     { print $1 == $2 && ($1 == low || $1 == high) ? "same" : $0 " " low " " high }' \
  >     own values
  same

Users may share workers in some points and have threads in others. Latencies then do not
include the same, and a line says so.

  $ two() {
  >     sysbench oltp_point_select --db-driver=null --events=50 "$@" run | grep ^Users
  > }
  $ two --sweep=threads=1,2 --workers=2
  [1]
  $ two --sweep=workers=users,2 --threads=2 --report=json=w.json
  Users shared workers with workers=2: latencies there do not include client delay.
  $ sysbench show w.json | grep ^Users
  Users shared workers with workers=2: latencies there do not include client delay.
  $ two --sweep=threads=1,2 --sweep=workers=users,1,2 --report=json=w2.json
  Users shared workers with workers=1 and 2: latencies there do not include client delay.

--workers=auto shares workers from a number of users on. Then combinations of options.

  $ share() {  # CONDITION of t threads and n tables: these runs have workers
  >     sysbench oltp_point_select --db-driver=null --events=50 --sweep=threads=1..4 \
  >         --sweep=tables=1,2 --report=none,json=w.json run >shown
  >     /usr/bin/python3 -c "import json
  > d = json.load(open('w.json'))
  > for r in d['runs']:
  >     t, n = [int(v) for v in r['swept'].values()]
  >     if $1:
  >         r['workers'] = 2
  > json.dump(d, open('w.json', 'w'))"
  >     sysbench show w.json | grep ^Users
  > }
  $ share 't > 1'
  Users shared workers with threads=2 and 4: latencies there do not include client delay.
  $ share 'n == 2'
  Users shared workers with tables=2: latencies there do not include client delay.
  $ share 't > 2 and n == 2'
  Users shared workers with 1 of 6 combinations: latencies there do not include client delay.
  $ share 'True'
  [1]

Two sweeps are compared at one value; other runs are no repeats of it.

  $ sysbench compare s.json s.json
  FATAL: s.json is a sweep: its runs have different values of threads; choose one with --at=threads=VALUE
  [1]
  $ sysbench compare --at=threads=4 s.json s.json | sed -n '1s/of [0-9.]* s/of N s/p'
  A: s.json: e.lua, 2 runs of N s, 4 threads
  $ sysbench compare --at=threads=3 s.json s.json
  FATAL: --at: s.json has no run with these values; it has threads=1, 2, 4
  [1]
  $ sed 's/"swept":{"threads"/"swept":{"x_y"/g' s.json >other.json
  $ sysbench compare --at=x-y=4 other.json other.json | grep -o '2 runs of'
  2 runs of
  2 runs of

Two values of one sweep.

  $ sysbench compare s.json:threads=1 s.json:threads=4 |
  >     sed -n '1,2s/of [0-9.]* s/of N s/p; s/\(Verdict: [^:]*\):.*/\1/p'
  A (threads=1): s.json:threads=1: e.lua, 2 runs of N s, 1 thread
  B (threads=4): s.json:threads=4: e.lua, 2 runs of N s, 4 threads
  Verdict: threads=4 * threads=1 (glob)
  $ sysbench compare s.json:threads=3 s.json:threads=4
  FATAL: s.json:threads=3 has no run with these values; it has threads=1, 2, 4
  [1]
  $ sysbench compare --at=threads=1 --at=threads=4 s.json s.json
  --at was given 2 times and applies to both sides: separate several values by commas, or add values to the names of files (s.json:threads=8)
  [1]

Several options: all combinations; the options of a script, too.

  $ sweep --sweep=label2=x,y --sweep=threads=1..2 --report=json=s.json |
  >     sed -n '/^\[/p' | lines
  [1/4] label2=x threads=1: FIGURES
  [2/4] label2=x threads=2: FIGURES
  [3/4] label2=y threads=1: FIGURES
  [4/4] label2=y threads=2: FIGURES
  $ of '[g["options"] for g in d["sweep"]["groups"]]'
  [{'label2': 'x'}, {'label2': 'y'}]

Without a result file there are only lines and the table. An option without
numbers has no knee. `--repeat` alone repeats the run.

  $ sweep --sweep=label2=x,y | grep -e '^\[' -e '^Knee' | lines
  [1/2] label2=x: FIGURES
  [2/2] label2=y: FIGURES
  $ sweep --repeat=2 | sed -n '/^\[/p' | lines
  [1/2] FIGURES
  [2/2] FIGURES
  $ sweep --repeat=1 | grep -c '^General statistics'
  1

A difference that is certain: the value with the highest throughput is the peak, and the
lowest one with 95 % of it the knee.

  $ cat >ms.lua <<'EOF'
  > sysbench.cmdline.options = { ms = { "", 1 } }
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned int)")
  > function event() ffi.C.usleep(sysbench.opt.ms * 1000) end
  > EOF
  $ sysbench ms.lua --time=0 --events=5 --sweep=ms=1,60 --repeat=3 --report=json=ms.json run |
  >     sed -n 's/Peak: [0-9.]* /Peak: N /p; /^Knee/p'
  Peak: N events/s at ms=1
  Knee: ms=1, the lowest with 95 % of the peak
  $ /usr/bin/python3 -c "import json; print(json.load(open('ms.json'))['sweep']['groups'][0]['peak']['value'])"
  1
  $ rm ms.lua ms.json

Notices that differ only in numbers are shown once. The first line says how long the
sweep takes.

  $ sysbench cpu --workers=2 --events=1 --time=0 --sweep=threads=1,2,3 --report=none run
  --workers has no effect on the built-in test 'cpu': each of its users has a thread
  2 messages of later runs were not shown, because earlier runs had the same
  $ sysbench e.lua --time=0.5 --warmup-time=0.1 --sweep-pause=0.1 --sweep=threads=1,2 run |
  >     grep Sweep
  Sweep of e.lua: 2 runs, at least 1s

A random order measures every point in every round; the seed repeats it.

  $ random() { sweep --sweep=threads=1..6:1 --repeat=2 --events=1 --sweep-order=random "$@" | sed -n 's/^.*threads=\([0-9]*\):.*/\1/p' | tr '\n' ' '; }
  $ random --rand-seed=7 >a; random --rand-seed=7 >b; random --rand-seed=8 >c
  $ cmp a b; cmp -s a c
  [1]
  $ tr ' ' '\n' <a | head -6 | sort | tr '\n' ' '
  1 2 3 4 5 6  (no-eol)
  $ tr ' ' '\n' <a | sed -n 7,12p | sort | tr '\n' ' '
  1 2 3 4 5 6  (no-eol)

Commands before and after each run have its options.

  $ sweep --sweep=label2=x,y --sweep-before=cleanup,prepare --sweep-after=cleanup >out
  $ cat commands
  cleanup x
  prepare x
  cleanup x
  cleanup y
  prepare y
  cleanup y

A command after a run that fails: the run and its figures stay, and --sweep-resume
repeats only the command. A command before a run that fails: there is no run.

  $ cat >step.lua <<'EOF'
  > function init() io.open("runs", "a"):write(sysbench.opt.threads, " ") end
  > function event() end
  > function cleanup() if sysbench.opt.threads == 2 and io.open("broken") then error("no cleanup") end end
  > function prepare() cleanup() end
  > EOF
  $ step() { sysbench step.lua --events=5 --sweep=threads=1,2 --report=json=s.json "$@" run 2>err; }
  $ touch broken
  $ step --sweep-after=cleanup >out
  [1]
  $ grep -e '^\[' out | lines
  [1/2] threads=1: FIGURES
  [2/2] threads=2: FIGURES, a command after it failed
  $ grep ALERT err
  ALERT: cleanup after the run threads=2 failed, exit status 1
  ALERT: the commands after 1 of 2 runs failed; the figures of these runs are kept
  ALERT: the finished runs are in s.json.sweep; add --sweep-resume to repeat only these commands
  $ values
  1/1 2/1
  $ of '[(p["runs"], p["failed"]) for p in d["sweep"]["points"]]'
  [(1, 0), (1, 0)]
  $ ls s.json.sweep
  lock
  plan.json
  run-0001.json
  run-0002.after.json
  run-0002.json
  $ step --sweep-after=cleanup --sweep-resume | grep '^\[' | lines
  [1/2] threads=1: FIGURES (measured before)
  [2/2] threads=2: FIGURES, a command after it failed (measured before)
  $ rm broken; step --sweep-after=cleanup --sweep-resume | grep '^\[' | lines
  [1/2] threads=1: FIGURES (measured before)
  [2/2] threads=2: FIGURES (measured before)
  $ values; cat runs
  1/1 2/1
  1 2  (no-eol)
  $ ls -d s.json.sweep
  ls: cannot access 's.json.sweep': No such file or directory
  [2]
  $ touch broken
  $ step --sweep-after=cleanup --assert='events==0' >out
  [1]
  $ grep -e '^\[' out | lines
  [1/2] threads=1: FIGURES, a limit was not kept
  [2/2] threads=2: FIGURES, a limit was not kept, a command after it failed
  $ rm -r s.json.sweep
  $ step --sweep-before=prepare | grep -e '^\[' | lines
  [1/2] threads=1: FIGURES
  [2/2] threads=2: failed, exit status 1
  $ grep before err
  ALERT: prepare before the run threads=2 failed, exit status 1
  $ rm -r s.json.sweep broken
  $ touch broken; sysbench step.lua --events=5 --threads=2 --repeat=1 --sweep-resume --sweep-after=cleanup --report=json=s.json run 2>&1 | tail -1
  FATAL: --sweep-resume: there is no interrupted sweep in s.json.sweep: begin one without --sweep-resume
  $ sysbench step.lua --events=5 --threads=2 --repeat=2 --sweep-stop --sweep-after=cleanup run 2>&1 | grep after | lines
  ALERT: cleanup after the run failed, exit status 1
  [1/2] FIGURES, a command after it failed
  ALERT: the commands after 1 of 2 runs failed; the figures of these runs are kept
  $ rm broken

With --sweep-resume the commands that are left come first, also those after a run
that failed: here no run can begin while there is a table.

  $ cat >table.lua <<'EOF'
  > local function is(name) return io.open(name) ~= nil end
  > local function run_is(name) return is(name .. sysbench.opt.threads) end
  > function event() if run_is("bad") then error("bad run") end end
  > function prepare()
  >     if is("table") then error("there is a table") end
  >     io.open("table", "w"):close()
  > end
  > function cleanup()
  >     if run_is("broken") then error("no cleanup") end
  >     os.remove("table")
  > end
  > EOF
  $ tables() {
  >     sysbench table.lua --events=5 --sweep=threads=1,2 --report=json=s.json \
  >         --sweep-before=prepare --sweep-after=cleanup "$@" run 2>err |
  >         grep '^\[' | lines
  > }
  $ touch bad1 broken2; tables
  [1/2] threads=1: failed, exit status 1
  [2/2] threads=2: FIGURES, a command after it failed
  $ rm bad1; tables --sweep-resume --sweep-stop
  $ grep ALERT err
  ALERT: cleanup after the run threads=2 failed, exit status 1
  ALERT: the sweep ended early: 1 of 2 runs are measured
  ALERT: the commands after 1 of 2 runs failed; the figures of these runs are kept
  ALERT: the finished runs are in s.json.sweep; add --sweep-resume to measure the others
  $ rm broken2; tables --sweep-resume
  [1/2] threads=1: FIGURES
  [2/2] threads=2: FIGURES (measured before)
  $ touch bad1 broken1 broken2; tables
  [1/2] threads=1: failed, exit status 1
  [2/2] threads=2: failed, exit status 1
  $ rm bad1 broken1 broken2; tables --sweep-resume
  [1/2] threads=1: FIGURES
  [2/2] threads=2: FIGURES

Files that are removed while a sweep runs. A run whose file is lost is measured again
when the sweep is resumed.

  $ cat >remove.lua <<'EOF'
  > function event() end
  > function prepare()
  >     if io.open("s.json.sweep/run-0002.json") then os.execute(io.open("do"):read()) end
  > end
  > EOF
  $ remove() {
  >     echo "$1" >do; shift
  >     sysbench remove.lua --events=1 --repeat=3 --sweep-before=prepare \
  >         --report=json=s.json "$@" run 2>err >out; status=$?
  >     sed -n '/^\[/p; /^runs/p' out | lines | cut -c-15
  >     grep -v 'report=json' err
  >     return $status
  > }
  $ remove 'rm s.json.sweep/run-0001.json'
  [1/3] FIGURES
  [2/3] FIGURES
  [3/3] FIGURES
  runs     events
  ALERT: s.json.sweep/run-0001.json was removed or damaged during the sweep
  ALERT: the sweep ended early: 2 of 3 runs are measured
  ALERT: the finished runs are in s.json.sweep; add --sweep-resume to measure the others
  [1]
  $ remove true --sweep-resume | head -2
  [1/3] FIGURES
  [2/3] FIGURES (
  $ remove 'rm -r s.json.sweep'
  [1/3] FIGURES
  [2/3] FIGURES
  FATAL: s.json.sweep was removed or replaced during the sweep: the results of its runs are only in the lines above
  [1]
  $ ls s.json.sweep
  ls: cannot access 's.json.sweep': No such file or directory
  [2]

Names of reports that the sweep has chosen are those of regular files, also if a pipe of
that name is made during the sweep.

  $ cat >plant.lua <<'EOF'
  > function event() end
  > function prepare() os.execute("rm -f y-2.csv; mkfifo y-2.csv") end
  > EOF
  $ sysbench plant.lua --events=1 --repeat=2 --sweep-before=prepare --report=csv=y.csv run 2>&1 >out
  FATAL: --report=csv: cannot write y-2.csv: it is no regular file
  ALERT: 1 of 2 runs failed
  [1]
  $ rm y-1.csv y-2.csv

A signal during a command after a run: the command has not failed, and
--sweep-resume executes it.

  $ cat >slow.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned int)")
  > function event() end
  > function cleanup()
  >     io.open("cleaning", "w"):close()
  >     while not io.open("go") do ffi.C.usleep(1000) end
  > end
  > EOF
  $ slow() { exec sysbench slow.lua --events=5 --sweep=threads=1,2 --report=json=s.json --sweep-after=cleanup "$@" run; }
  $ (slow >out 2>err) & pid=$!
  $ for _ in $(seq 1200); do [ -e cleaning ] && break; sleep 0.05; done
  $ kill -INT $pid; wait $pid
  [130]
  $ grep '^\[' out | lines
  [1/2] threads=1: FIGURES, the commands after it were not completed
  $ grep ALERT err
  ALERT: the sweep ended early: 1 of 2 runs are measured
  ALERT: the commands after 1 of 2 runs were not completed; the figures of these runs are kept
  ALERT: the finished runs are in s.json.sweep; add --sweep-resume to measure the others
  $ touch go; (slow --sweep-resume 2>err) | grep '^\[' | lines
  [1/2] threads=1: FIGURES (measured before)
  [2/2] threads=2: FIGURES
  $ cat err; rm go cleaning

If a signal interrupts a run or a command before it, --sweep-resume first executes the
commands after the run, which remove the table, and then succeeds. If a signal arrives
when the run has ended, but not yet its process (here, closing its state waits), the run
counts.

  $ cat >hold.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned int)")
  > local function is(name) return io.open(name) ~= nil end
  > local function hold(where)
  >     if sysbench.opt.threads ~= 2 or not is("hold-" .. where) then return end
  >     io.open("held", "w"):close()
  >     while is("hold-" .. where) do ffi.C.usleep(1000) end
  > end
  > function prepare()
  >     if is("table") then error("there is a table") end
  >     io.open("table", "w"):close()
  >     hold("prepare")
  > end
  > function init()
  >     kept = ffi.gc(ffi.new("char[1]"), function() hold("end") end)
  > end
  > function event() hold("event") end
  > function cleanup() os.remove("table") end
  > EOF
  $ hold() {
  >     exec sysbench hold.lua --events=5 --sweep=threads=1,2,3 --report=json=s.json \
  >         --sweep-before=prepare --sweep-after=cleanup --shutdown-grace=0.1 "$@" run
  > }
  $ interrupt() {
  >     touch "hold-$1"
  >     (hold >out 2>err) & pid=$!
  >     for _ in $(seq 1200); do [ -e held ] && break; sleep 0.05; done
  >     kill -INT $pid; wait $pid
  >     echo "status $?"; grep '^\[' out | lines
  >     rm "hold-$1" held
  >     (hold --sweep-resume 2>err) | grep '^\[' | lines
  >     ls -d table s.json.sweep 2>/dev/null || true
  > }
  $ interrupt event
  status 130
  [1/3] threads=1: FIGURES
  [1/3] threads=1: FIGURES (measured before)
  [2/3] threads=2: FIGURES
  [3/3] threads=3: FIGURES
  $ interrupt prepare
  status 130
  [1/3] threads=1: FIGURES
  [1/3] threads=1: FIGURES (measured before)
  [2/3] threads=2: FIGURES
  [3/3] threads=3: FIGURES
  $ interrupt end
  status 130
  [1/3] threads=1: FIGURES
  [2/3] threads=2: FIGURES, the commands after it were not completed
  [1/3] threads=1: FIGURES (measured before)
  [2/3] threads=2: FIGURES (measured before)
  [3/3] threads=3: FIGURES

A script that ends the process when it is loaded: its exit status has no meaning for
the sweep, and no run is made.

  $ for i in 64 65 66 67 3; do
  >     echo "function event() end; io.stderr:write('loaded', string.char(10)); os.exit($i)" >exit.lua
  >     sysbench exit.lua --repeat=2 --events=1 run >out; echo "$? $(grep -c '^\[' out)"
  > done
  loaded
  64 0
  loaded
  65 0
  loaded
  66 0
  loaded
  67 0
  loaded
  3 0
  $ echo 'os.exit(0)' >exit.lua
  $ sysbench exit.lua --sweep=threads=1 --sweep=threads=2 run >out
  --sweep: --threads is swept twice
  [1]

A run that fails is reported, and the sweep goes on. Its folder stays, and
--sweep-resume repeats only this run.

  $ sweep --sweep=fail=0,1,0.5 --report=json=s.json >out
  [1]
  $ grep -e '^\[' out | lines
  [1/3] fail=0: FIGURES
  [2/3] fail=1: failed, exit status 1
  [3/3] fail=0.5: FIGURES
  $ grep -c '  1 failed$' out
  1
  $ grep ALERT err
  ALERT: 1 of 3 runs failed
  ALERT: the finished runs are in s.json.sweep; add --sweep-resume to measure the others
  $ "$SB_SRCDIR"/tests/check-result s.json
  $ sweep --sweep=fail=0,1,0.5 --report=json=s.json --sweep-resume | grep '^\[' | lines
  [1/3] fail=0: FIGURES (measured before)
  [2/3] fail=1: failed, exit status 1
  [3/3] fail=0.5: FIGURES (measured before)
  $ rm -r s.json.sweep
  $ sweep --sweep=fail=1,0 --sweep-stop --report=json=s.json | grep '^\['
  [1/2] fail=1: failed, exit status 1
  $ rm -r s.json.sweep

The process of a run is killed, ends without a result, or leaves a damaged one: one
sentence names the run and the reason, and the other runs are kept.

  $ cat >die.lua <<'EOF'
  > sysbench.cmdline.options = { how = {"How the run ends", "well"} }
  > local ffi = require("ffi")
  > ffi.cdef "void _exit(int);"
  > function event()
  >     local how = sysbench.opt.how
  >     if how == "killed" then
  >         os.execute("kill -9 $PPID")
  >     elseif how == "damaged" then
  >         local f = io.open("s.json.sweep/run-0004.new.json", "w")
  >         f:write('{"format": "sysbench-result", "runs": [{"intervals": {"rows": [[0.')
  >         f:close()
  >     end
  >     if how ~= "well" then ffi.C._exit(0) end
  > end
  > EOF
  $ sysbench die.lua --events=1 --time=0 --sweep=how=killed,silent,well,damaged \
  >     --report=json=s.json run >out 2>err
  [1]
  $ grep '^\[' out | lines
  [1/4] how=killed: failed, exit status 137
  [2/4] how=silent: failed, exit status 0
  [3/4] how=well: FIGURES
  [4/4] how=damaged: failed, exit status 0
  $ cat err
  ALERT: the run how=killed wrote no result: its process was killed by signal 9
  ALERT: the run how=silent wrote no result: its process ended with exit status 0
  ALERT: the run how=damaged wrote a damaged result (s.json.sweep/run-0004.failed.json is not a complete JSON document: line 1, column 66: invalid token near '0.'): its process ended with exit status 0
  ALERT: 3 of 4 runs failed
  ALERT: the finished runs are in s.json.sweep; add --sweep-resume to measure the others
  $ sysbench die.lua --events=1 --time=0 --sweep=how=killed,silent,well,damaged \
  >     --report=json=s.json --sweep-resume run 2>err | grep '^\[3' | lines
  [3/4] how=well: FIGURES (measured before)
  $ rm -r s.json.sweep

A sweep whose runs all failed has nothing to keep: the next one replaces it, with
--sweep-resume it is continued.

  $ sweep --fail=1 --sweep=threads=1,2 --report=json=s.json >/dev/null
  [1]
  $ grep ALERT err
  ALERT: 2 of 2 runs failed
  ALERT: no run is finished; begin again, or add --sweep-resume to continue the sweep in s.json.sweep
  $ ls s.json.sweep | grep run
  run-0001.json
  run-0002.json
  $ sweep --fail=1 --sweep=threads=1,2 --report=json=s.json --sweep-resume | grep '^\[' | lines
  [1/2] threads=1: failed, exit status 1
  [2/2] threads=2: failed, exit status 1
  $ sweep --sweep=fail=0,1 --report=json=s.json | grep '^\[' | lines
  [1/2] fail=0: FIGURES
  [2/2] fail=1: failed, exit status 1
  $ sweep --sweep=fail=0,1 --report=json=s.json >/dev/null
  [1]
  $ cat err
  FATAL: s.json.sweep has finished runs of an interrupted sweep: continue it with --sweep-resume, or remove the folder
  $ rm -r s.json.sweep

A limit that is not kept: status 3, without a failure.

  $ sweep --sweep=threads=1,2 --assert='events==0' --report=json=s.json >out
  [3]
  $ grep '^\[' out | lines
  [1/2] threads=1: FIGURES, a limit was not kept
  [2/2] threads=2: FIGURES, a limit was not kept
  $ ls -d s.json.sweep
  ls: cannot access 's.json.sweep': No such file or directory
  [2]

Interrupted by SIGINT: the run in progress ends, the result has the finished
ones, and the status is 130. Another attempt without --sweep-resume loses
nothing.

  $ finished() { for _ in $(seq 1200); do grep -q "^.$1/3" out && return; sleep 0.05; done; cat out err; }
  $ long() { exec sysbench e.lua --sweep=threads=1,2,3 --events=0 --time=1 --report=json=s.json "$@" run; }
  $ rm -f s.json
  $ : >out; (long >out 2>err) & pid=$!
  $ finished 1; sleep 0.2; kill -INT $pid; wait $pid
  [130]
  $ grep '^\[' out | lines
  [1/3] threads=1: FIGURES
  $ grep ALERT err
  ALERT: the sweep ended early: 1 of 3 runs are measured
  ALERT: the finished runs are in s.json.sweep; add --sweep-resume to measure the others
  $ values
  1/1
  $ "$SB_SRCDIR"/tests/check-result s.json
  $ (long --verbosity=0)
  FATAL: s.json.sweep has finished runs of an interrupted sweep: continue it with --sweep-resume, or remove the folder
  [1]
  $ (long --sweep-resume --verbosity=0 --events=1)
  FATAL: the sweep in s.json.sweep cannot be continued: --events differs from that of the interrupted sweep; give the same options, or remove the folder and begin again without --sweep-resume
  [1]

Killed by SIGKILL: the run in progress ends, too, and no finished run is lost.

  $ : >out; (long --sweep-resume >out 2>err) & pid=$!
  $ finished 2; kill -KILL $pid; wait $pid 2>/dev/null
  [137]
  $ flock -w 60 s.json.sweep/plan.json true
  $ (long --sweep-resume 2>err) | grep '^\[' | lines
  [1/3] threads=1: FIGURES (measured before)
  [2/3] threads=2: FIGURES (measured before)
  [3/3] threads=3: FIGURES
  $ values
  1/1 2/1 3/1
  $ "$SB_SRCDIR"/tests/check-result s.json
  $ ls -d s.json.sweep
  ls: cannot access 's.json.sweep': No such file or directory
  [2]
  $ sweep --sweep=threads=1,2 --report=json=s.json --sweep-resume >/dev/null
  [1]
  $ cat err
  FATAL: --sweep-resume: there is no interrupted sweep in s.json.sweep: begin one without --sweep-resume

SIGHUP (the terminal is gone) and SIGPIPE (the output has no reader) end a sweep
in order, too: no folder and no process stays. With two threads, the event ends when
the file `gone` exists.

  $ cat >wait.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned int)")
  > function event()
  >     while sysbench.opt.threads == 2 and not io.open("gone") do
  >         ffi.C.usleep(1000)
  >     end
  > end
  > EOF
  $ mkdir tmp
  $ waits() { exec env TMPDIR=tmp sysbench wait.lua --sweep=threads=1,2,3 --events=1 run 2>err; }
  $ : >out; (waits >out) & pid=$!
  $ finished 1; ls tmp | wc -l; kill -HUP $pid; touch gone; wait $pid
  1
  [129]
  $ ls tmp
  $ rm gone
  $ waits | { head -5 | lines; exec <&-; touch gone; }
  sysbench * (glob)
  
  Sweep of wait.lua: 3 runs
  
  [1/3] threads=1: FIGURES
  $ cat err
  ALERT: the sweep ended early: 2 of 3 runs are measured
  $ ls tmp

Where SIGPIPE is ignored, the runs are measured.

  $ (trap '' PIPE; sweep --sweep=threads=1,2 --report=json=s.json; echo $? >status) | true
  $ cat status err
  1
  FATAL: cannot write to standard output: Broken pipe
  $ values
  1/1 2/1

A plan that is damaged or gone: the message says what to do, and no run is lost.

  $ sweep --sweep=fail=0,1 --report=json=d.json >/dev/null
  [1]
  $ head -c 20 d.json.sweep/plan.json >cut; mv cut d.json.sweep/plan.json
  $ damaged() { sweep --sweep=fail=0,1 --report=json=d.json "$@" >/dev/null; tail -1 err; }
  $ damaged --sweep-resume
  FATAL: d.json.sweep/plan.json is missing or damaged, so the sweep cannot be continued: rename the folder, whose run-NNNN.json are complete results, and begin again without --sweep-resume
  $ damaged | cut -d, -f1
  FATAL: d.json.sweep/plan.json is missing or damaged
  $ rm d.json.sweep/plan.json; damaged --sweep-resume | cut -d, -f1
  FATAL: d.json.sweep/plan.json is missing or damaged
  $ mv d.json.sweep old; sysbench show old/run-0001.json | grep -c '^General statistics'
  1
  $ damaged --sweep-resume
  FATAL: --sweep-resume: there is no interrupted sweep in d.json.sweep: begin one without --sweep-resume
  $ ls -d d.json.sweep
  ls: cannot access 'd.json.sweep': No such file or directory
  [2]
  $ rm -r old d.json

The file of a finished run that is damaged: the run is repeated, and a warning says so.

  $ sweep --sweep=fail=0,1 --report=json=d.json >/dev/null
  [1]
  $ head -c 2000 d.json.sweep/run-0001.json >cut; mv cut d.json.sweep/run-0001.json
  $ sweep --sweep=fail=0,1 --report=json=d.json --sweep-resume | grep '^\[' | lines
  [1/2] fail=0: FIGURES
  [2/2] fail=1: failed, exit status 1
  $ grep damaged err
  WARNING: d.json.sweep/run-0001.json is damaged: the run fail=0 is repeated
  $ rm -r d.json d.json.sweep

The file of a finished run that another program has reformatted: the run is kept.

  $ sweep --sweep=fail=0,1 --report=json=d.json >/dev/null
  [1]
  $ python3 -m json.tool --indent 3 --sort-keys d.json.sweep/run-0001.json >new
  $ mv new d.json.sweep/run-0001.json; rm d.json
  $ sweep --sweep=fail=0,1 --report=json=d.json --sweep-resume | grep '^\[' | lines
  [1/2] fail=0: FIGURES (measured before)
  [2/2] fail=1: failed, exit status 1
  $ sysbench show d.json 2>/dev/null | grep -c '^General statistics'
  2
  $ rm -r d.json d.json.sweep

A folder of the user is left alone.

  $ mkdir u.json.sweep; echo mine >u.json.sweep/run-notes.txt
  $ sysbench e.lua --events=1 --sweep=threads=1,2 --report=json=u.json --verbosity=0 run
  FATAL: u.json.sweep has files, but is not the folder of a sweep: move it, or choose another result file
  [1]
  $ ls u.json.sweep
  run-notes.txt

An alias is swept as its option. A password in a URL is used, and shown nowhere.

  $ sweep --sweep=num-threads=1,2 --report=json=s.json | grep '^\[' | lines
  [1/2] threads=1: FIGURES
  [2/2] threads=2: FIGURES
  $ cat >url.lua <<'EOF'
  > sysbench.cmdline.options = { url = {"", ""} }
  > function event()
  >     io.open("seen", "a"):write(sysbench.opt.url, "\n")
  > end
  > EOF
  $ sysbench url.lua --events=1 --sweep=url=mongodb://u:hunter8@a/db,mongodb://u:hunter9@b/db --report=json=s.json,csv=s.csv,text run >out
  $ cat seen
  mongodb://u:hunter8@a/db
  mongodb://u:hunter9@b/db
  $ of '[x["swept"]["url"] for x in r]'
  ['mongodb://u:***@a/db', 'mongodb://u:***@b/db']
  $ ls s*.csv
  s-url=mongodb:__u:___@a_db-1.csv
  s-url=mongodb:__u:___@b_db-1.csv
  $ grep -l hunter out s.json s*.csv
  [1]

Other reports are written for each run; the page has all runs.

  $ mkdir r; sweep --sweep=threads=1,2 --report=csv=r/a.csv,hgrm=r/b,ndjson=r/c.x.nd >/dev/null
  $ ls r
  a-threads=1-1.csv
  a-threads=2-1.csv
  b-threads=1-1
  b-threads=2-1
  c.x-threads=1-1.nd
  c.x-threads=2-1.nd
  $ sweep --sweep=threads=1,2 --report=csv=- >out
  [1]
  $ cat err
  FATAL: --report=csv: the runs of a sweep cannot share standard output
  $ sweep --sweep=threads=1,2 --report=text | grep -c '^General statistics'
  2
  $ sweep --sweep=threads=1,2 --report=none,json=- >s.json; values
  1/1 2/1

What cannot be swept is found before the first run.

  $ wrong() { sweep "$@" >/dev/null; tail -1 err; }
  $ wrong --sweep=threads=
  --sweep: threads has no values
  $ wrong --sweep=threads=9..1
  --sweep: '9..1' is not a range: the end is below the start
  $ wrong --sweep=threads=1..1000:1 --repeat=2
  --sweep: 2000 runs are too many; the maximum is 1000
  $ wrong --sweep=thraeds=1,2
  --sweep: there is no option --thraeds (did you mean --threads?)
  $ wrong --sweep=threads=1,many
  Invalid value for the 'threads' option: 'many' (must be a whole number)
  $ wrong --sweep=threads=1,2 --threads=4
  --threads is given, and it is also swept: use only one of them
  $ wrong --sweep=threads=1,2 --sweep=threads=4
  --sweep: --threads is swept twice
  $ wrong --sweep=report=text
  --sweep: --report cannot be swept
  $ wrong --sweep=threads=1,2 --no-such-option
  invalid option: --no-such-option
  $ wrong --repeat=0
  Invalid value for the 'repeat' option: '0' (the minimum is 1)
  $ wrong --num-threads=4 --sweep=threads=1,2
  --num-threads is given, and --threads is also swept: use only one of them
  $ wrong --sweep=mysql-password=a,b
  --sweep: the value of --mysql-password is a secret, which cannot be swept
  $ wrong --sweep=threads=1,2 --sweep-before=nosuch
  --sweep-before: 'e.lua' test does not implement the 'nosuch' command.
  $ wrong --sweep=threads=1,2 --sweep-after=prepare,nosuch
  --sweep-after: 'e.lua' test does not implement the 'nosuch' command.
  $ wrong --sweep='rate-limit=p99<1ms,p99<2ms'
  --rate-limit is only used with --rate=max
  $ wrong --rate=max --sweep='rate-limit=p99<1ms,p99' | cut -d: -f1
  --rate-limit
  $ wrong --sweep=threads=1,2 --stages='threads=4 for 1s; for 1s'
  --threads is swept, but --stages sets it, too, so the runs would not have the swept values: use only one of them
  $ wrong --sweep=label2=x --sweep=threads=1,2 --stages='rate=9 for 1s; threads=..4 for 1s' | cut -d, -f1
  --threads is swept
  $ wrong --sweep=rate=100,200 --stages='rate=50% for 1s; rate=50%..300 for 1s'
  --rate is swept, but --stages sets it, too, so the runs would not have the swept values: give the rates of --stages in percent of --rate (rate=50%)
  $ wrong --sweep=rate=100,max --rate-limit='p99<1s' --stages='rate=50% for 1s'
  --rate-limit is only used with --rate=max
  $ wrong --sweep=threads=1,2 --report=csv=no/s.csv
  FATAL: --report=csv: cannot write no/s-threads=1-1.csv: No such file or directory
  $ wrong --sweep=threads=1,2 --report=json=no/s.json
  FATAL: --report=json: cannot write no/s.json: No such file or directory
  $ sysbench e.lua --sweep=threads=1,2 prepare
  sysbench * (glob)
  
  --sweep only applies to the command run, not to prepare
  [1]

A script from standard input is passed to each run.

  $ for test in - /dev/stdin; do
  >     sysbench --events=5 --sweep=threads=1,2 $test run <e.lua | grep -c '^\[[12]/2\].*events/s'
  > done
  2
  2

A script that has options of these names keeps them.

  $ cat >own.lua <<'EOF'
  > sysbench.cmdline.options = { repeat_ = {"", 1} }
  > sysbench.cmdline.options["repeat"] = {"", 1}
  > sysbench.cmdline.options.sweep = {"", "none"}
  > function event() end
  > function prepare() print(sysbench.opt["repeat"], sysbench.opt.sweep) end
  > EOF
  $ sysbench own.lua --events=1 --repeat=3 --sweep=all --report=none,csv=- run | grep -c '^time,'
  1
  $ sysbench own.lua --repeat=3 --sweep=all prepare | tail -1
  3\tall (esc)

--sweep from the environment, and from a config file.

  $ SYSBENCH_SWEEP=threads=1,2 sysbench e.lua --events=1 run | grep -c '^\['
  2

In a config file, --sweep does not apply to other commands.

  $ printf 'sweep = threads=1,2\nevents = 1\n' >c.cnf
  $ sysbench e.lua --config-file=c.cnf prepare >/dev/null
  $ sysbench e.lua --config-file=c.cnf --threads=3 run 2>&1 | tail -1
  --threads is given, and it is also swept: use only one of them
  $ sysbench e.lua --config-file=c.cnf run | grep -c '^\['
  2

With SQLite, each run has connections of its own.

  $ sysbench oltp_point_select --db-driver=sqlite --table-size=100 prepare >/dev/null
  $ sysbench oltp_point_select --db-driver=sqlite --table-size=100 --events=50 --sweep=db-ps-mode=auto,disable --report=json=s.json run | grep '^\[' | lines
  [1/2] db-ps-mode=auto: FIGURES
  [2/2] db-ps-mode=disable: FIGURES
  $ "$SB_SRCDIR"/tests/check-result s.json

Distributions of the script are columns, with the average of all repeats.

  $ cat >m.lua <<'EOF'
  > sysbench.cmdline.options = {effort = {"a number", 1}}
  > local recall = sysbench.metric("recall", {kind = "distribution"})
  > local hits = sysbench.metric("hits")
  > local n = 0
  > function event()
  >     n = n + 1
  >     hits:add(1)
  >     recall:record(sysbench.opt.effort / 8 + n % 2 / 4)
  > end
  > EOF
  $ sysbench m.lua --events=20 --sweep=effort=2,4 --repeat=2 --report=json=s.json run |
  >     awk '/^effort/ { print $NF; n = 3 } n-- > 0 && !/effort/ { print $1, $NF }'
  recall
  2 0.375
  4 0.625
  $ of '*[p["metrics"] for p in d["sweep"]["points"]]'
  {'recall': 0.375} {'recall': 0.625}
  $ "$SB_SRCDIR"/tests/check-result s.json

A run that the script has ended is not a run that missed a limit, whatever its status.

  $ echo 'function event() os.exit(3) end' >x.lua
  $ sysbench x.lua --sweep=threads=1 --report=json=x.json run 2>/dev/null | grep '^\['
  [1/1] threads=1: failed, exit status 3
