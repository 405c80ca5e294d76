SPDX-License-Identifier: GPL-2.0-or-later

Whether the figures of a run may be believed. Events of this script sleep; longer when
`after` seconds are over.

  $ unset SYSBENCH_REPORT_VALIDITY
  $ cat >e.lua <<'LUA'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned int); int gettimeofday(long *, void *);")
  > sysbench.cmdline.options = { after = { "", 1000000.0 } }
  > local now = ffi.new("long[2]")
  > local function seconds()
  >    ffi.C.gettimeofday(now, nil)
  >    return tonumber(now[0]) + tonumber(now[1]) / 1e6
  > end
  > local begin
  > function event()
  >    begin = begin or seconds()
  >    ffi.C.usleep(seconds() < begin + sysbench.opt.after and 10000 or 80000)
  > end
  > LUA
  $ run() { sysbench e.lua "$@" run; }
  $ validity() { sed -n '/^Validity:/,/^$/p'; }
  $ states() { python3 -c 'import json, sys
  > for c in json.load(open(sys.argv[1]))["runs"][0]["validity"]["checks"]:
  >     if c["name"] in sys.argv:
  >         print(c["name"], c["state"])' "$@"; }

A run of 20 events. The machine of the tests may be busy, so its check is left out.

  $ run --events=20 --report-validity >out
  $ validity <out | sed -E '/^    machine/,/^    network/{/^    network/!d}; 1d'
      steady      unknown   the run has 0 whole intervals; 10 are needed
                            measure longer, or use a shorter --report-interval
      cached      n/a       no database was used
      debt        n/a       no database was used
      durable     n/a       no database was used
      statistics  n/a       no database was used
      plans       n/a       no database was used
      network     n/a       no server was used
      client      n/a       no server was used
      samples     doubtful  p95 rests on 1 event
                            measure 10 times as long, or use a lower percentile
      censored    ok        all events that were started were completed
      skew        n/a       no database was used
      misses      n/a       no statement looks for rows
      errors      ok        0 % of the attempts at an event failed or were
                            repeated
  

With a result file, a line on stderr; without one, nothing. Not if it is switched off.

  $ run --events=20 --report=none,json=r.json 2>&1 |
  >     grep -o '^WARNING: validity: \|samples is .*event'
  WARNING: validity: 
  samples is doubtful: p95 rests on 1 event
  $ run --events=20 --report=none,json=off.json --report-validity=off
  $ grep -c validity off.json
  1
  $ run --events=20 --report-validity=off | validity
  $ run --events=20 2>&1 >/dev/null
  $ sysbench show --validity r.json | validity | grep -o '^    [sce][a-z]*  *[a-z/]*'
      steady      unknown
      cached      n/a
      statistics  n/a
      client      n/a
      samples     doubtful
      censored    ok
      skew        n/a
      errors      ok
  $ sysbench show r.json | validity
  $ sysbench show --validity off.json | validity
  Validity: the figures of the run were not checked
  

A run that slows down in its middle: when, by how much, and what to do. One that does
not is steady.

  $ slow() { run --threads=8 --time=3 --report-interval=0.1 --after=1.7 --report=none "$@"; }
  $ slow --report=none,json=slow.json 2>err
  $ grep -o 'steady is bad: from [^;]*; that changes its mean by [0-9]* %' err |
  >     sed -E 's/[0-9.]+/N/g'
  steady is bad: from N s to N s, throughput was N % higher than from N s on; that changes its mean by N %
  $ sysbench show --validity slow.json | validity | sed -n '/^    steady/,/^    cached/p' |
  >     tr -s ' \n' ' ' | sed -E 's/[0-9.]+/N/g; s/cached.*//'
   steady bad from N s to N s, throughput was N % higher than from N s on; that changes its mean by N % find out what happened at N s, or measure longer  (no-eol)
  $ run --threads=8 --time=3 --report-interval=0.1 --report=none,json=even.json \
  >     --warmup-time=0.5 2>/dev/null
  $ states even.json samples censored errors
  samples ok
  censored ok
  errors ok

Among intervals that differ much, a change would not be seen: 100 events of 2 ms and 4 of
50 ms in turns.

  $ cat >turns.lua <<'LUA'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned int);")
  > local n = 0
  > function event()
  >    n = n + 1
  >    ffi.C.usleep(n % 104 < 100 and 2000 or 50000)
  > end
  > LUA
  $ sysbench turns.lua --time=0 --events=624 --report-interval=0.1 \
  >     --report=none,json=turns.json run 2>/dev/null
  $ sysbench show --validity turns.json | validity | sed -n '/^    steady/,/^    cached/p' |
  >     tr -s ' \n' ' ' | sed -E 's/[0-9.]+/N/g; s/cached.*//; s/throughput|the mean latency/X/'
   steady unknown X differs so much between intervals that it is known only within N % measure longer; find out what else uses the machines  (no-eol)
  $ "$SB_SRCDIR"/tests/check-result r.json slow.json even.json turns.json
  $ python3 -c 'import json
  > for p in json.load(open("even.json"))["runs"][0]["validity"]["percentiles"]:
  >     print(p["percentile"], p["beyond"] > 20, p["lower_bound"])'
  95 True False

With stages, the load changes on purpose.

  $ run --stages='threads=1 for 1s; threads=2 for 1s' --report=none,json=s.json 2>/dev/null
  $ states s.json steady
  steady n/a

Attempts that fail: events of which a fifth is given up, and of which one of 50 is
repeated once.

  $ cat >errors.lua <<'LUA'
  > sysbench.cmdline.options = { every = { "", 5 }, row = { "", 1 } }
  > local n = 0
  > function event()
  >    n = n + 1
  >    if n % sysbench.opt.every < sysbench.opt.row then
  >       error({ errcode = sysbench.error.RESTART_EVENT })
  >    end
  > end
  > LUA
  $ sysbench errors.lua --events=300 --row=2 --max-restarts=1 \
  >     --report=none,json=e.json run 2>/dev/null
  $ states e.json errors censored
  censored doubtful
  errors bad

Percentiles that are only lower bounds are marked where the checks were made.

  $ percentiles() { grep -o '[0-9]*th percentile:.*' | sed -E 's/ +[0-9.]+$/ N/; s/: +/: /'; }
  $ sysbench show --percentile=50,95 e.json 2>/dev/null | percentiles
  95th percentile: > N
  50th percentile: N
  $ sysbench errors.lua --events=300 --row=2 --max-restarts=1 --report-validity run \
  >     2>/dev/null | percentiles
  95th percentile: > N
  $ sysbench errors.lua --events=300 --row=2 --max-restarts=1 run 2>/dev/null | percentiles
  95th percentile: N
  $ sysbench errors.lua --rate=3000 --events=300 --row=2 --max-restarts=1 --percentile=50,95 \
  >     --report-validity run 2>/dev/null | grep -A3 '^Open loop' | tr -s ' ' |
  >     sed -E 's/[0-9]+\.[0-9]+/N/g'
  Open loop (ms): min avg 50% 95% max
   response time N N N > N N
   service time N N N > N N
   lag N N N N N

Comparisons, sweeps and sums say which figures are doubtful. The machine's check is left
out.

  $ sysbench errors.lua --events=310 --row=2 --max-restarts=1 \
  >     --report=none,json=f.json run 2>/dev/null
  $ sysbench compare e.json f.json --json=c.json >out
  [4]
  $ grep -o 'Validity of e.json: bad (\|errors: [0-9.]* % of the attempts\|^p95.*' out |
  >     sed -E 's/[0-9]+\.[0-9]+/N/g; s/^(p95.*> N +> N).*/\1/' | tr -s ' '
  p95, ms > N > N
  Validity of e.json: bad (
  errors: N % of the attempts
  errors: N % of the attempts
  $ python3 -c 'import json
  > c = json.load(open("c.json"))
  > s = c["sides"][1]["validity"]
  > print(s["bad"], s["doubtful"], s["checks"]["errors"], len(c["notes"]) > 1,
  >       [f["lower_bounds"] for f in c["figures"] if f["figure"] in ("p50", "p95")])'
  1 0 1 True [[False, False], [True, True]]
  $ sysbench merge e.json f.json --output=m.json 2>/dev/null
  $ sysbench show --validity m.json 2>/dev/null | validity | grep -o '^    errors.*run 1'
      errors      bad       run 1
  $ sysbench errors.lua --events=300 --sweep=row=0,2 --max-restarts=1 \
  >     --report=json=w.json run >out 2>err
  $ grep -c WARNING err
  0
  [1]
  $ grep -o '^  *2 .* 1 bad\|^Validity: . of 2 runs .*\|errors in 1' out |
  >     sed -E 's/^ .*( 1 bad)/\1/; s/(of 2 runs).*(doubtful or bad).*(errors in 1).*/\1 \2 \3/; s/: ./: N/'
   1 bad
  Validity: N of 2 runs doubtful or bad errors in 1
  $ sysbench errors.lua --events=300 --sweep=row=0,2 --max-restarts=1 \
  >     --report=none,json=w.json run 2>&1 | grep -c '^WARNING: validity: . of 2 runs'
  1
  $ "$SB_SRCDIR"/tests/check-result m.json w.json

A user that completes nothing.

  $ cat >idle.lua <<'LUA'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned int);")
  > function event(user)
  >    ffi.C.usleep(1000)
  >    if user == 0 then error({ errcode = sysbench.error.RESTART_EVENT }) end
  > end
  > LUA
  $ sysbench idle.lua --threads=3 --time=1.1 --report-validity run 2>/dev/null | validity |
  >     tr -s ' \n' ' ' | grep -o '1 of 3 users completed no event'
  1 of 3 users completed no event

  $ sysbench errors.lua --every=51 --events=1000 --report=none,json=e.json run 2>/dev/null
  $ states e.json errors censored
  censored ok
  errors doubtful
  $ sysbench errors.lua --every=500 --events=1000 --report=none,json=e.json run 2>/dev/null
  $ states e.json errors censored
  censored ok
  errors ok

Statements that find nothing: run with more rows than were prepared. SQLite says
whether commits wait for the device, and whether tables were analyzed.

  $ lite() { sysbench "$@" --db-driver=sqlite --sqlite-db=l.sqlite --tables=1; }
  $ lite oltp_read_only --table-size=1000 prepare >/dev/null
  $ lite oltp_point_select --table-size=3000 --events=1000 --rand-type=uniform \
  >     --report=none,json=l.json run 2>/dev/null
  $ states l.json misses durable cached statistics client skew
  cached ok
  durable n/a
  statistics doubtful
  client n/a
  skew ok
  misses bad
  $ lite oltp_update_index --table-size=1000 --events=10 --sqlite-synchronous=off \
  >     --report=none,json=l.json run 2>/dev/null
  $ states l.json misses durable
  durable doubtful
  misses ok
  $ lite oltp_update_index --table-size=1000 --events=10 --sqlite-synchronous=full \
  >     --report=none,json=l.json run 2>/dev/null
  $ states l.json durable
  durable ok
  $ echo 'ANALYZE' | sqlite3 l.sqlite
  $ lite oltp_read_only --table-size=1000 --events=10 --report=none,json=l.json run 2>/dev/null
  $ states l.json statistics
  statistics ok
  $ lite oltp_read_only --table-size=1000 cleanup >/dev/null

Keys that were drawn before the measured part do not count.

  $ cat >warm.lua <<'LUA'
  > local con, begun
  > function thread_init() con = sysbench.sql.driver():connect() end
  > function event()
  >    for _ = 1, begun and 1 or 20000 do
  >       sysbench.rand.default(1, begun and 5000 or 10)
  >    end
  >    begun = true
  >    con:query("SELECT 1")
  > end
  > LUA
  $ lite warm.lua --warmup-time=1 --time=0.5 --report-validity run 2>/dev/null |
  >     grep -o 'skew .* keys'
  skew        ok        the hottest 1 % of 5000 keys
  $ lite warm.lua --time=0 --events=500 --report-validity run 2>/dev/null | grep -o 'skew .* keys'
  skew        ok        the hottest of 10 keys

Limits.

  $ run --events=20 --assert='validity==ok' 2>&1 >/dev/null | grep -o 'limit not kept.*:'
  limit not kept: validity==ok:
  $ run --events=20 2>/dev/null >out \
  >     --assert='validity.samples==doubtful, validity.errors==ok, validity.known>=2'
  $ sed -n '/^Limits/,$p' out
  Limits:
      validity.samples==doubtful          doubtful  kept
      validity.errors==ok                       ok  kept
      validity.known>=2                          4  kept
  
  $ run --events=20 --assert='validity.samples==ok' --report=json=a.json >/dev/null 2>err
  [3]
  $ grep -v WARNING err
  limit not kept: validity.samples==ok: doubtful (p95 rests on 1 event)
  $ python3 -c 'import json
  > print(json.load(open("a.json"))["runs"][0]["limits"])'
  [{'limit': 'validity.samples==ok', 'value': 'doubtful', 'unit': '', 'passed': False, 'why': 'p95 rests on 1 event'}]
  $ sysbench show a.json | sed -n '/^Limits/,$p'
  Limits:
      validity.samples==ok          doubtful  not kept (p95 rests on 1 event)
  
  $ run --events=1 --report-validity=off --assert='validity!=bad' 2>&1 | tail -2
  
  limit not kept: validity!=bad: no value (the figures of the run were not checked)
  $ run --assert='validity.stedy==ok'
  --assert: 'validity.stedy==ok', character 10: unknown check 'stedy' (must be known, steady, cached, debt, durable, statistics, plans, machine, network, client, samples, censored, skew, misses or errors)
  [1]
  $ run --assert='validity<ok'
  --assert: 'validity<ok', character 9: expected == or != to compare a state
  [1]
  $ run --assert='validity==fine'
  --assert: 'validity==fine', character 11: expected a state: ok, doubtful, bad, unknown or n/a
  [1]
  $ run --assert='validity==ok abort'
  --assert: 'validity==ok abort', character 14: checks are made when the run has ended
  [1]
  $ run --rate=max --rate-limit='validity==ok' | grep '^--'
  --rate-limit: 'validity==ok', character 11: checks cannot be a limit of the search for a rate
  [1]

--until: the run ends when its figures are known so exactly, or at --time.

  $ run --threads=8 --time=30 --report-interval=0.1 --until='tps within 30%, p50 within 40%' \
  >     --report=json=u.json >out 2>/dev/null
  $ sed -n '/^Until/,/^$/p' out | sed -E 's/ +[0-9.]+ %$/ N %/; s/ [0-9.]+ s$/ N s/'
  Until: reached after N s
      tps within 30% N %
      p50 within 40% N %
  
  $ python3 -c 'import json
  > run = json.load(open("u.json"))["runs"][0]
  > print(run["until"]["reached"], run["until"]["steady"], run["end"]["reason"],
  >       5.9 < run["end"]["seconds"] < 30)'
  True True limit True
  $ "$SB_SRCDIR"/tests/check-result u.json
  $ run --threads=8 --time=2 --report-interval=0.1 --after=0.7 --until='tps within 1%' 2>/dev/null |
  >     sed -n '/^Until/,/^$/p' |
  >     sed -E 's/ +[0-9.]+ %$| +unknown$/ N/; s/ [0-9.]+ s$/ N s/'
  Until: not reached in N s
      tps within 1% N
  
  $ run --until='p99 inside 5%'
  --until: 'p99 inside 5%': expected 'within' after the figure
  [1]
  $ run --until='tps within 5%' --time=0 | grep '^--'
  --until: --time or --events, the maximum, is required
  [1]
  $ run --until='tps within 5%' --stages='threads=1 for 1s' | grep '^--'
  --until cannot be used with --stages, which changes the load
  [1]
