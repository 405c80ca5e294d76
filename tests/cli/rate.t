SPDX-License-Identifier: GPL-2.0-or-later

Rates that the run finds itself. An event of this script takes at least 10 ms,
so 8 users complete at most 800 per second.

  $ cat >s.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned);")
  > function event() ffi.C.usleep(10000) end
  > EOF
  $ run() { sysbench s.lua --threads=8 --rate-probe-time=0.4 "$@" run; }
  $ numbers() { sed -E 's/[0-9]+\.[0-9]+(e[-+][0-9]+)?|[0-9]+( ms)/N\2/g'; }
  $ section() { sed -n '/^Rate/,/^$/p'; }

A percentage of the maximum: 800 per second and at most one event more per user.

  $ run --rate=50% --time=0.5 --warmup-time=0.1 --forced-shutdown=3 \
  >     --report=text,json=half.json >out
  $ sed -n '/^Target/,/^Time/p; /^Forc/p; /^Warming/p; /^Maximum/,/^Rate of/p' out | numbers
  Target transaction rate: 50% of the maximum
  Time before the measured part: about N seconds
  Forcing shutdown N seconds after the measured part begins
  Warming up for N seconds...
  Maximum of a closed loop: N/sec
  Rate of the measured part: N/sec
  $ sed -n '/^Rate (/,/^$/p' out | numbers
  Rate (50% of the maximum):
      maximum of a closed loop:            N per sec.
      rate of the measured part:           N per sec.
  
  $ python3 -c 'import json
  > r = json.load(open("half.json"))["runs"][0]
  > s = r["search"]
  > print(0 < s["maximum"] <= 800 + 8 / 0.3, abs(s["rate"] * 2 - s["maximum"]) < 1e-6,
  >       r["open_loop"], [o["value"] for o in r["options"] if o["name"] == "rate"])'
  True True True ['50%']

The measured part has the arrivals of a run with the same rate and seed.

  $ run --rate=50% --time=0.5 --rand-seed=7 --report=json=found.json >out
  $ python3 -c 'import json, subprocess
  > def run(file): return json.load(open(file))["runs"][0]
  > found = run("found.json")
  > subprocess.run(["sysbench", "s.lua", "--threads=8", "--time=0.5", "--rand-seed=7",
  >     "--rate=%r" % found["search"]["rate"], "--report=json=given.json",
  >     "--verbosity=0", "run"])
  > a, b = (r["counters"]["scheduled"] for r in (found, run("given.json")))
  > print(a > 0 and a == b or (a, b))'
  True

The highest rate that keeps a limit. The queue of a rate above 800 per second
grows, so response times exceed the limit, whatever the machine does. The final
report says how sure the result is.

  $ run --rate=max --rate-limit='p99<40ms, errors==0' --rate-trial-time=0.5 \
  >     --rate-trials=12 --time=0.5 --report=text,json=max.json >out
  $ sed -n '/^Target/p; /^Maximum/,/^$/p' out | numbers
  Target transaction rate: the highest that keeps p99<40ms, errors==0
  Maximum of a closed loop: N/sec
  
  $ grep -c '^trial [0-9]*: rate: [0-9.]*/sec, p99<40ms: [0-9.]* ms, .*kept' out
  12
  $ section <out | sed -n '/^Rate search/,$p' | numbers |
  >     sed -E -e 's/\([0-9]+ kept/(K kept/' -e '/The rate is|The limit is|maximum of a closed loop[ ,]/d' \
  >     -e 's/(did not keep|kept) the limit \(/KEPT (/' \
  >     -e 's/(per sec\.), .*/\1/'
  Rate search (p99<40ms, errors==0):
      maximum of a closed loop:            N per sec.
      kept in half of the trials:          N per sec.
      95% confidence interval:             N to N per sec.
      kept in 95% of trials (estimate):    N per sec.
      trials:                              12 (K kept the limit)
      measured part:                       KEPT (N ms)
      rate of the measured part:           N per sec.
  
  $ python3 -c 'import json
  > r = json.load(open("max.json"))["runs"][0]
  > s = r["search"]
  > print(s["low"] <= s["highest"] <= s["high"], s["highest"] < 900,
  >       s["safe"] <= s["highest"], s["rate"] == s["safe"],
  >       len(s["trials"]), r["open_loop"], s["end"] in ("found", "exhausted", "below"))
  > print(all(not t["kept"] for t in s["trials"] if t["rate"] > 1000))
  > print(all(t["kept"] == (t["missed"] is None and not t["queue_grew"])
  >           for t in s["trials"]))'
  True True True True 12 True True
  True
  True

Result files are valid, and `show` prints the section again.

  $ "$SB_SRCDIR/tests/check-result" half.json max.json || [ $? = 80 ]
  $ sysbench show max.json | sed -n '/^Rate search/,/^$/p' >shown
  $ section <out | sed -n '/^Rate search/,$p' | diff - shown

Stages may follow, at percentages of the rate that was found, with the same users.

  $ run --rate=max --rate-limit='p99<40ms' --rate-trial-time=0.5 --rate-trials=4 \
  >     --stages='rate=80% for 0.3s; spike: rate=50%..300% for 0.2s; rate=0 for 0.1s' \
  >     --report-operations --report=text,json=chain.json >out
  $ sed -n '/^Rate found/p; /  measured part:/p; /rate found/p' out | numbers
  Rate found, 100 % of the stages: N/sec
      rate found, 100% of the stages:      N per sec.
  $ sed -n '/^Stages (/,/^$/p' out | awk '{ print $1 }'
  Stages
  rate=80%
  spike
  rate=0
  
  $ python3 -c 'import json
  > r = json.load(open("chain.json"))["runs"][0]
  > found = r["search"]["rate"]
  > print([[round(x / found, 6) for x in s["rate"]] for s in r["stages"]],
  >       r["search"]["measured_kept"], r["search"]["rate"] == r["search"]["safe"])
  > print(r["counters"]["scheduled"] == sum(s["counters"]["scheduled"] for s in r["stages"]))'
  [[0.8, 0.8], [0.5, 3.0], [0.0, 0.0]] None True
  True
  $ sysbench show chain.json | sed -n '/^Rate search/,/^$/p; /^Stages/,/^$/p' >shown
  $ sed -n '/^Rate search/,/^$/p; /^Stages (/,/^$/p' out | diff - shown
  $ "$SB_SRCDIR/tests/check-result" chain.json || [ $? = 80 ]
  $ run --rate=50% --stages='for 0.2s; rate=200% for 0.1s' --report=text,json=chain.json >out
  $ python3 -c 'import json
  > r = json.load(open("chain.json"))["runs"][0]
  > print([round(s["rate"][0] / r["search"]["maximum"], 6) for s in r["stages"]])'
  [0.5, 1.0]

A limit that no rate keeps, and one that every rate keeps: rates beyond the bounds
of the search are unknown. The events of the second script are slow only while the
maximum is measured, as with a cold cache.

  $ search() {
  >     sysbench "$@" --threads=8 --rate=max --rate-probe-time=0.4 \
  >         --rate-trial-time=0.2 --time=0.2 --report=text,json=end.json run 2>err |
  >         section | sed -n '/^Rate search/,$p' >found
  > }
  $ ended() { python3 -c 'import json
  > s = json.load(open("end.json"))["runs"][0]["search"]
  > print(s["end"], [n for n in ("highest", "low", "high", "safe") if s[n] is None],
  >       s["rate"] == s["bounds"][0])'; }
  $ search s.lua --rate-limit='p99<1ms'
  $ sed -E '/maximum|trials: +[0-9]|measured part/d' found
  Rate search (p99<1ms):
      kept in half of the trials:          unknown (below 50.00 per sec.)
      kept in 95% of trials (estimate):    unknown (below 50.00 per sec.)
      The limit is not kept even at 50 per sec., the lowest rate of the search.
  
  $ grep 'trials: *[0-9]' found | sed 's/[0-9][0-9]*/N/'; grep 'part: *[0-9]' found
      trials:                              N (0 kept the limit)
      rate of the measured part:           50.00 per sec.
  $ grep -c 'measured part:  *did not keep the limit' found
  1
  $ ended
  below ['highest', 'low', 'high', 'safe'] True
  $ cat err; sysbench s.lua --threads=8 --rate=max --rate-limit='p99<1ms' \
  >     --rate-probe-time=0.4 --rate-trial-time=0.2 --time=0.2 run >out 2>&1
  --rate=max: no rate was found that keeps --rate-limit=p99<1ms
  [3]
  $ python3 -c 'import json
  > print(json.load(open("end.json"))["runs"][0]["end"]["status"])'
  3
  $ "$SB_SRCDIR/tests/check-result" end.json || [ $? = 80 ]
  $ sysbench show end.json | sed -n '/^Rate search/,/^$/p' | diff found -

  $ cat >c.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned);")
  > local n = 0
  > function event()
  >    n = n + 1
  >    ffi.C.usleep(n <= 12 and 40000 or 100)
  > end
  > EOF
  $ for i in 1 2 3 4 5 6 7 8; do  # a busy machine may disturb a trial
  >     search c.lua --rate-limit='errors==0'; grep -q '"above"' end.json && break
  > done
  $ numbers <found | sed -E '/maximum|trials: +[0-9]|measured part/d'
  Rate search (errors==0):
      kept in half of the trials:          unknown (above N per sec.)
      kept in 95% of trials (estimate):    N per sec.
      The limit is kept even at N per sec., the highest rate of the search.
  
  $ ended
  above ['highest', 'low', 'high'] False
  $ "$SB_SRCDIR/tests/check-result" end.json || [ $? = 80 ]
  $ sysbench show end.json | sed -n '/^Rate search/,/^$/p' | diff found -

An interval that ends above the maximum of a closed loop, or at a bound of the search.

  $ bounds() {  # high, bounds, rate of a trial that kept the limit
  >     python3 - "$@" <<'EOF'
  > import json, sys
  > d = json.load(open("max.json"))
  > s = d["runs"][0]["search"]
  > s.update(maximum=500, low=400, highest=450, high=float(sys.argv[1]),
  >          bounds=json.loads(sys.argv[2]))
  > for t in s["trials"]:
  >     t.update(rate=400, kept=True)
  > s["trials"][0]["rate"] = float(sys.argv[3])
  > json.dump(d, open("bounds.json", "w"))
  > EOF
  >     sysbench show bounds.json | grep -E '^ +(95%|.*closed loop[, ])'
  > }
  $ bounds 500 '[1, 9999]' 400
      95% confidence interval:             400.00 to 500.00 per sec.
  $ bounds 600 '[1, 9999]' 400
      95% confidence interval:             400.00 to 600.00 per sec.
      The interval ends above the maximum of a closed loop, but no trial there kept the limit.
  $ bounds 600 '[1, 600]' 550
      95% confidence interval:             400.00 to 600.00 per sec., to the highest rate of the search
      1 trial above the maximum of a closed loop kept the limit: the measured maximum is too low.

Operations can be limited, too, and all limits must be kept.

  $ one() { sysbench oltp_point_select --db-driver=null --rate=max "$@" \
  >     --rate-probe-time=0.5 --rate-trial-time=0.1 --rate-trials=1 --time=0.1 \
  >     run 2>/dev/null | sed -n -e 's/: the queue grew$//' \
  >     -e 's/^trial 1: rate: [0-9.]*[^,]*, //p' | numbers; }
  $ one --rate-limit='point_selects.min<1h,read.count==0'
  point_selects.min<1h: N ms, not kept: read.count==0: [1-9][0-9]* (re)
  $ one --rate-limit='read.count==0'
  read.count==0: [1-9][0-9]*, not kept (re)
  $ one --rate-limit='select.p99<1h'
  select.p99<1h: no value, not kept

The program says how long a search takes.

  $ run --rate=max --rate-limit='p99<1s' --rate-trial-time=0.4 --rate-trials=3 \
  >     --time=0.1 | grep '^Time'
  Time before the measured part: usually less than 2 seconds (up to 3 trials)

A signal ends the search. The figures are those of the last part, here a trial.

  $ rm out; sysbench s.lua --threads=8 --rate-probe-time=0.4 --rate=max \
  >     --rate-limit='p99<1s' --report=text,json=int.json run >out 2>err &
  $ for i in $(seq 600); do grep -qs '^Maximum' out && break; sleep 0.1; done
  $ kill -TERM $!; wait $!
  [143]
  $ cat err
  SIGTERM: stopping once the events in progress have ended; a second signal exits at once.
  WARNING: the run ended before its rate was found; the figures are those of the last part of the search
  $ section <out | sed 's/[0-9.]* per/N per/'
  Rate search (p99<1s):
      maximum of a closed loop:            N per sec.
  
  $ "$SB_SRCDIR/tests/check-result" int.json

In the first part, the maximum is not known yet.

  $ rm out int.json; sysbench s.lua --threads=8 --rate-probe-time=1h --rate=80% \
  >     --report=text,json=int.json run >out 2>err &
  $ for i in $(seq 600); do grep -qs 'Threads started' out && break; sleep 0.1; done
  $ sleep 0.1; kill -TERM $!; wait $!
  [143]
  $ section <out
  Rate (80% of the maximum):
      maximum of a closed loop:            unknown
  
  $ "$SB_SRCDIR/tests/check-result" int.json
  $ python3 -c 'import json
  > print(json.load(open("int.json"))["runs"][0]["search"]["maximum"])'
  None
  $ sysbench show int.json 2>&1 >/dev/null
  WARNING: int.json: the run ended during its warm-up; the figures are those of the warm-up
  $ sysbench show int.json 2>/dev/null | section
  Rate (80% of the maximum):
      maximum of a closed loop:            unknown
  

Users that end by themselves end the search without a rate: the run has failed.

  $ echo 'function event() return true end' >ends.lua
  $ sysbench ends.lua --rate=80% --report=text,json=ends.json run 2>&1 >/dev/null |
  >     grep FATAL
  FATAL: the users ended before the search for the rate did, so there is no measured part
  $ sysbench ends.lua --rate=max --rate-limit='p99<1s' run >out 2>&1
  [1]
  $ python3 -c 'import json
  > print(json.load(open("ends.json"))["runs"][0]["end"]["reason"])'
  failed

A call that hangs in a trial and cannot be canceled: the message says that the search
cannot continue, and that the user is still busy.

  $ cat >h.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned);")
  > function event()
  >    local f = io.open("hang")
  >    if f then f:close() end
  >    ffi.C.usleep(f and 4000000000 or 1000)
  > end
  > EOF
  $ sysbench h.lua --rate-probe-time=0.4 --rate-trial-time=0.5 --rate=max \
  >     --rate-limit='p99<1h' --shutdown-grace=0.5 run >out 2>err &
  $ for i in $(seq 600); do grep -qs '^trial 1:' out && break; sleep 0.1; done
  $ touch hang; wait $!
  [2]
  $ grep FATAL err
  FATAL: trial [0-9]*: 1 of 1 users do not return from their events; the search for the rate cannot continue \(--shutdown-grace\); 1 of 1 users are still busy although their calls were canceled; .* (re)

An error ends it, too.

  $ cat >f.lua <<'EOF'
  > local n = 0
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned);")
  > function event()
  >    n = n + 1
  >    if n == 30 then error("the server has gone away") end
  >    ffi.C.usleep(10000)
  > end
  > EOF
  $ sysbench f.lua --rate=max --rate-limit='p99<1s' --rate-probe-time=1h \
  >     --report-errors=off run >out
  WARNING: the run ended before its rate was found; the figures are those of the last part of the search
  FATAL: `thread_run' function failed: f.lua:6: the server has gone away
  [1]
  $ grep -c 'The run failed' out
  1

Scripts see the option: a number as before, otherwise its text.

  $ cat >o.lua <<'EOF'
  > function help() print(type(sysbench.opt.rate), sysbench.opt.rate) end
  > EOF
  $ opt() { sysbench o.lua --verbosity=0 "$@" help; }
  $ opt; opt --rate=1.5k; opt --rate=80%; opt --rate=MAX --rate-limit='p99<1'
  number	0
  number	1500
  string	80%
  string	max

Bad values.

  $ bad() { sysbench s.lua "$@" run >out; }
  $ bad --rate=max
  --rate=max requires --rate-limit, such as --rate-limit='p99<10ms'
  [1]
  $ bad --rate=100 --rate-limit='p99<1'
  --rate-limit is only used with --rate=max
  [1]
  $ bad --rate=max --rate-limit='p99<1' --stages='rate=80% for 1s; rate=9 for 1s'
  --stages with --rate=max: a stage can only set a rate in percent of the rate that is found, such as rate=80%
  [1]
  $ bad --rate=80% --stages='threads=2 for 1s'
  --stages with --rate=N%: a stage can only set a rate in percent of the rate that is found, such as rate=80%
  [1]
  $ sysbench --mix=s.lua --rate=80% --stages='for 1s' run >out
  --stages with --rate=N% cannot be combined with --mix
  [1]
  $ bad --rate=fast
  Invalid value for the 'rate' option: 'fast' (must be a number, a percentage such as 80%, or max)
  [1]
  $ bad --rate=0%
  Invalid value for the 'rate' option: '0%' (must be a number, a percentage such as 80%, or max)
  [1]
  $ bad --rate=-5
  Invalid value for the 'rate' option: '-5' (the minimum is 0)
  [1]
  $ bad --rate=max --rate-limit='p99<10ms, tps>5'
  --rate-limit: 'tps>5', character 15: a rate cannot be a limit of the search for a rate
  [1]
  $ bad --rate=max --rate-limit='p99>10ms'
  --rate-limit: 'p99>10ms', character 5: the search requires a maximum: use <, <= or ==0
  [1]
  $ bad --rate=max --rate-limit='errors==5'
  --rate-limit: 'errors==5', character 10: the search requires a maximum: == only with 0
  [1]
  $ bad --rate=max --rate-limit='p99<1' --rate-probe-time=0.2 --rate-trial-time=0.01
  WARNING: the run ended before its rate was found; the figures are those of the last part of the search
  FATAL: a trial of 0.01 s would have at most * events; the minimum is 20 (--rate-trial-time) (glob)
  [1]
