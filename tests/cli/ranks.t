SPDX-License-Identifier: GPL-2.0-or-later

Not with tsan: processes that share nothing.

Several processes, the ranks, carry out one run: each has a part of the users,
the rate and the events. Together they do what one process would do.

  $ check="$SB_SRCDIR/tests/check-result"
  $ "$check" || exit 80
  $ cat >keys.lua <<'EOF'
  > local n = 0
  > function event()
  >    n = n + 1
  >    print("user", sysbench.tid, sysbench.opt.threads,
  >       sysbench.rand.default(1, 1000000), sysbench.rand.unique() < 2^32)
  >    if n == 3 then sysbench.user.stop() end
  > end
  > EOF
  $ one() { sysbench "$@" --rand-seed=5 run; }
  $ ranks() { # number argument...
  >     n=$1; shift
  >     for i in $(seq 0 $((n - 1))); do
  >         one "$@" --ranks=$n --rank=$i || echo "rank $i: $?"
  >     done
  > }
  $ keys() { grep ^user | sort; }
  $ one keys.lua --threads=8 --time=0 2>/dev/null | keys >1
  $ ranks 3 keys.lua --threads=8 --time=0 2>/dev/null | keys >3
  $ ranks 3 keys.lua --threads=8 --time=0 --rank-weight=1,1,2 2>/dev/null | keys >w
  $ wc -l <1
  24
  $ cmp 1 3 && cmp 1 w

Numbers that must be unique are unique among all ranks.

  $ cat >unique.lua <<'EOF'
  > local local_users = sysbench.local_sequence("users")
  > function init() sysbench.sequence("ids", 2000) end
  > function event()
  >    print("unique", sysbench.rand.unique())
  >    print("id", sysbench.sequence("ids"):next())
  >    local_users:next()
  > end
  > function done()
  >    print("of", sysbench.rank, sysbench.ranks, local_users:last(), sysbench.local_tid)
  > end
  > EOF
  $ ranks 3 unique.lua --threads=6 --events=9000 --time=0 >out
  $ for name in unique id; do grep "^$name" out | sort -u | wc -l; done
  9000
  9000
  $ grep '^id' out | awk '$2 <= 2000'
  $ grep ^of out
  of\t0\t3\t3000\t0 (esc)
  of\t1\t3\t3000\t0 (esc)
  of\t2\t3\t3000\t0 (esc)

The sum of the results is the result of the whole run: the events are exact.

  $ cat >s.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned);")
  > function event() ffi.C.usleep(1000) end
  > EOF
  $ for i in 0 1 2; do
  >     one s.lua --threads=8 --events=1000 --time=0 --ranks=3 --rank=$i \
  >         --report=text,json=$i.json >$i.out || echo "rank $i: $?"
  > done
  $ sed -n '/^Number/,/^Rank/p' 0.out 1.out 2.out
  Number of threads: 8
  Rank 0 of 3: threads 0 to 1
  Number of threads: 8
  Rank 1 of 3: threads 2 to 4
  Number of threads: 8
  Rank 2 of 3: threads 5 to 7
  $ grep -h 'total number of events' ?.out
      total number of events:              250
      total number of events:              375
      total number of events:              375
  $ "$check" 0.json 1.json 2.json
  $ cat >print.py <<'EOF'
  > import json, sys
  > r = json.load(open(sys.argv[1]))["runs"][0]
  > print(r["threads"], r["counters"]["completed"], r.get("rank"))
  > for m in r.get("merged", []):
  >     print(m["rank"]["rank"], m["threads"], m["events"], sorted(m["percentiles"]))
  > EOF
  $ python3 print.py 1.json
  3 375 {'rank': 1, 'ranks': 3, 'first_user': 2, 'users': 3, 'total_users': 8}
  $ sysbench merge 2.json 0.json 1.json --output=sum.json 2>err
  $ grep -v 'apart\|not at the same time' err
  [1]
  $ "$check" sum.json
  $ python3 print.py sum.json
  8 1000 None
  2 3 375 .* (re)
  0 2 250 .* (re)
  1 3 375 .* (re)

The number of users of a stage is the total of all ranks.

  $ for i in 0 1; do
  >     one s.lua --threads=6 --ranks=2 --rank=$i --report=none,json=st$i.json \
  >         --stages='low: threads=2 rate=60 for 1s; high: threads=6 for 1s' &
  > done; wait
  $ sysbench merge st0.json st1.json --output=sum.json 2>err
  $ "$check" st0.json st1.json sum.json
  $ python3 - <<'EOF'
  > import json
  > runs = [json.load(open(f))["runs"][0] for f in
  >     ("st0.json", "st1.json", "sum.json")]
  > for s in runs[2]["stages"]:
  >     print(s["name"], s["threads"], s["rate"])
  > n = [[s["counters"]["completed"] for s in r["stages"]] for r in runs]
  > print([a + b - c for a, b, c in zip(*n)], min(map(min, n)) > 0)
  > c = runs[2]["counters"]  # the last arrivals may be too late for a busy machine
  > print(c["completed"] + c["queue"] + c["unfinished"] == c["scheduled"])
  > EOF
  low [2, 2] [60, 60]
  high [6, 6] [60, 60]
  [0, 0] True
  True

A rank that is missing, or belongs to another run, is named.

  $ sysbench merge 2.json 0.json 2>&1 >/dev/null | grep missing
  WARNING: 1 of 3 ranks is missing (rank 1): the totals are not those of the whole run
  $ sed '/"started"/s/Z"/1Z"/' 2.json >again.json
  $ sysbench merge 2.json 0.json again.json --output=sum.json 2>&1 | grep ranks.of
  FATAL: the files are not ranks of one run: rank 2 occurs twice
  $ sed 's/"seed":"5"/"seed":"6"/' 1.json >other.json
  $ sysbench merge 0.json other.json 2.json --output=sum.json 2>&1 | grep ranks.of
  FATAL: the files are not ranks of one run: --rand-seed differs
  $ sed 's/"ranks":3/"ranks":4/' 1.json >other.json
  $ sysbench merge 0.json other.json 2.json --output=sum.json 2>&1 | grep ranks.of
  FATAL: the files are not ranks of one run: one is of 3 ranks, another of 4
  $ sed 's/"rank-weight","value":""/"rank-weight","value":"1,1,2"/' 1.json >other.json
  $ sysbench merge 0.json other.json 2.json --output=sum.json 2>&1 | grep ranks.of
  FATAL: the files are not ranks of one run: --rank-weight differs
  $ one s.lua --events=5 --time=0 --report=none,json=alone.json
  $ sysbench merge 0.json alone.json --output=sum.json 2>&1 | grep ranks.of
  FATAL: the files are not ranks of one run: some have no rank

The arrivals of a rate are divided, too: together the ranks have those of one
process, each of them once. All begin at the same time. A busy machine also gets the
warning about the cost of a division.

  $ at=$(date -d '+3 seconds' +%s)
  $ for i in 0 1 2; do
  >     one s.lua --threads=6 --rate=200 --time=2 --ranks=3 --rank=$i --start-at=$at \
  >         --report=none,json=$i.json &
  > done; wait
  $ one s.lua --threads=6 --rate=200 --time=2 --report=none,json=whole.json
  $ sysbench merge 0.json 1.json 2.json --output=sum.json 2>err
  $ grep -v "^WARNING: the division" err
  [1]
  $ "$check" sum.json
  $ python3 -c 'import json
  > sum, whole, *rank = [json.load(open(f + ".json"))["runs"][0]
  >                      for f in ("sum", "whole", "0", "1", "2")]
  > print(sum["counters"]["scheduled"] == whole["counters"]["scheduled"],
  >       all(r["counters"]["scheduled"] > 60 for r in rank))
  > print(all(m["started"].startswith(rank[0]["started"][:19]) for m in sum["merged"]))'
  True True
  True

A mix by users has all its workloads in each rank.

  $ cat >u.lua <<'EOF'
  > local n = 0
  > function event()
  >    n = n + 1
  >    if n == 3 then sysbench.user.stop() end
  > end
  > EOF
  $ cp u.lua v.lua
  $ for i in 0 1; do
  >     sysbench --mix=u:1,v:1 --mix-by=users --threads=8 --time=0 --events=100 \
  >         --ranks=2 --rank=$i --rand-seed=1 --report=none,json=$i.json run
  > done
  $ python3 -c 'import json
  > for f in "01":
  >     r = json.load(open(f + ".json"))["runs"][0]
  >     print([(o["name"], o["latency"]["count"]) for o in r["operations"]])'
  [('u', 6), ('v', 6)]
  [('u', 6), ('v', 6)]

Other commands are those of rank 0.

  $ prepare() {
  >     sysbench oltp_insert --db-driver=null --ranks=2 --rank=$1 prepare 2>&1 >out
  > }
  $ prepare 1
  rank 1 has nothing to do: rank 0 carries out 'prepare'
  $ prepare 0
  $ grep -c Prepared out
  1

Rank 0 starts the command beside the run.

  $ for i in 0 1; do
  >     one s.lua --ranks=2 --rank=$i --time=0.5 --report=none --beside-start=0 \
  >         --beside='echo started >>beside' >/dev/null
  > done
  $ cat beside
  started

Options of the run may be given for other commands, too.

  $ sysbench oltp_insert --db-driver=null --ranks=2 --rank=0 --start-at=1 prepare >out
  $ grep -c Prepared out
  1

Wrong options.

  $ one s.lua --rank=1 2>&1 >/dev/null
  --rank=1 requires --ranks, the number of processes
  [1]
  $ sysbench s.lua --ranks=2 --rank=1 run 2>&1 >/dev/null
  --ranks requires --rand-seed: all ranks must use the same seed
  [1]
  $ one s.lua --ranks=2 --rank=2 2>&1 >/dev/null
  --rank=2: with --ranks=2, ranks are numbered from 0 to 1
  [1]
  $ one s.lua --ranks=3 --rank=1 --threads=2 2>&1 >/dev/null
  rank 0 would have no user: 2 users for 3 ranks (--threads is the total of all ranks)
  [1]
  $ one s.lua --ranks=3 --rank=1 --rank-weight=1,1 2>&1 >/dev/null
  --rank-weight: 2 weights for 3 ranks; each rank needs one
  [1]
  $ one s.lua --ranks=2 --rank=1 --rank-weight=1,0 2>&1 >/dev/null
  --rank-weight: '0' is not a number from 1e-6 to 1e6
  [1]
  $ one s.lua --ranks=2 --rank=1 --rank-weight=1,2 --threads-per-rank=2 2>&1 >/dev/null
  --threads-per-rank and --rank-weight cannot be combined: the first gives all ranks the same number of threads
  [1]
  $ one s.lua --ranks=2 --rank=1 --beside=true --beside-alone 2>&1 >/dev/null
  --beside-alone cannot be combined with several ranks: the other ranks would run while the command runs without load
  [1]
  $ for w in 'ycsb --workload=d' 'ingest --batch-size=2000' 'bulk_insert --tables=1' crud; do
  >     one $w --ranks=2 --rank=1 --threads=4 --db-driver=null 2>&1 >/dev/null |
  >         grep -o 'cannot be divided.*' | sort -u
  > done
  cannot be divided among ranks if it inserts records
  cannot be divided among ranks with --batch-size above 1024
  cannot be divided among ranks if --tables is less than --threads
  cannot be divided among ranks yet
  $ one s.lua --rank-weight=1 2>&1 >/dev/null
  --rank-weight is only used with several ranks
  [1]
  $ one s.lua --ranks=2 --rank=1 --rate=50% 2>&1 >/dev/null
  --rate=N% cannot be combined with --ranks: a rank does not know the rates of the others; use MPI, or give the rate as a number
  [1]
  $ one cpu --ranks=2 --rank=1 2>&1 >/dev/null
  the built-in test 'cpu' cannot be divided among ranks
  [1]
  $ one s.lua --ranks=2 --rank=1 --repeat=2 2>&1 >/dev/null
  --sweep and --repeat cannot be combined with --ranks: the runs of the ranks would not begin at the same time; use --launch
  [1]
  $ one connect --ranks=2 --rank=1 --db-driver=null 2>&1 >/dev/null | grep -o 'connect: .*'
  connect: this workload cannot be divided among ranks yet
  $ one s.lua --start-at=tomorrow 2>&1 >/dev/null
  Invalid value for the 'start-at' option: 'tomorrow' (2026-11-23T12:00:00Z, or seconds since 1970)
  [1]
  $ SLURM_PROCID=1 SLURM_NTASKS=2 sysbench s.lua --ranks=auto --threads=4 --time=0 \
  >     --events=10 --rand-seed=1 run | grep '^Rank'
  Rank 1 of 2: threads 2 to 3

A script may use these names for its own options.

  $ cat >own.lua <<'EOF'
  > sysbench.cmdline.options = { rank = {"", 3}, ranks = {"", "x"} }
  > function event() print(sysbench.opt.rank, sysbench.opt.ranks) end
  > EOF
  $ sysbench own.lua --rank=7 --ranks=abc --events=1 run | grep abc
  7\tabc (esc)
  $ cat >numbers.lua <<'EOF'
  > sysbench.cmdline.options = { rank = {"", 3}, ranks = {"", 4} }
  > function event()
  >    print("own", sysbench.sequence("a"):next(), sysbench.ranks, sysbench.opt.rank)
  > end
  > EOF
  $ sysbench numbers.lua --rank=1 --ranks=3 --events=1 run | grep own
  own\t1\t1\t1 (esc)

A run that is stopped before --start-at, and users that are ready too late.

  $ rm -f out; env --default-signal=INT sysbench s.lua --start-at=$(date -d '+1 hour' +%s) \
  >     run >out 2>err &
  $ while ! grep -qs Initializing out; do sleep 0.05; done; sleep 0.3; kill -INT $!; wait $!
  [130]
  $ cat err
  SIGINT: stopping once the events in progress have ended; a second signal exits at once.
  $ cat >late.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned);")
  > function thread_init()
  >    while os.time() <= tonumber(os.getenv("AT")) do ffi.C.usleep(100000) end
  > end
  > function event() end
  > EOF
  $ export AT=$(date -d '+3 seconds' +%s)
  $ cat >then.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("struct now { long s, us; }; int gettimeofday(struct now *, void *);")
  > function event() -- os.time() may be some milliseconds behind
  >    local now = ffi.new("struct now")
  >    ffi.C.gettimeofday(now, nil)
  >    print(tonumber(now.s) >= tonumber(os.getenv("AT")))
  > end
  > EOF
  $ sysbench then.lua --start-at=$AT --events=1 --report=none run
  true
  $ export AT=$(date -d '+3 seconds' +%s)
  $ sysbench late.lua --start-at=$AT --events=1 run 2>&1 >/dev/null
  WARNING: all users were ready [0-9.e-]* s after --start-at; the run starts now (re)
