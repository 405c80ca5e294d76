SPDX-License-Identifier: GPL-2.0-or-later

`sysbench ab`: two sides, measured in pairs until the answer is known. The differences here
are much larger than what runs deviate by, or come from a list.

  $ ab() {
  >     sysbench ab "$@" run >all 2>&1; st=$?
  >     sed '/^sysbench 2/,/^$/d' all; rm all
  >     return $st
  > }
  $ both="oltp_point_select --db-driver=null --time=0 --events=100"
  $ lines() {  # without the table of figures and without numbers
  >     sed 's/[0-9.]* and [0-9.]* ev/N and N ev/; s/old [0-9.]*, new [0-9.]*/old N, new N/
  >         s/[-+][0-9.]* %/P/g; s/ of [0-9.e-]* s,/ of T s,/
  >         /^With/d; /^figure/,/^The first/d; /^Validity/d; /^$/d
  >         # found by chance
  >         /^The second run/d; /^Runs after/d'
  > }
  $ ab $both --a='old: --null-latency=1ms' --b='new: --null-latency=20ms' --aa=1 --pairs=6 \
  >     --events=30 --report=json=ab.json,html=ab.html >out
  [3]
  $ lines <out
  oltp_point_select: old and new, up to 6 pairs of runs after 1 A/A pairs, margin 2 %
  old: --null-latency=1ms
  new: --null-latency=20ms
  A/A pair 1: N and N events/s, P
  Pair 1 of 6: old N, new N events/s, P
  Pair 2 of 6: old N, new N events/s, P
  Pair 3 of 6: old N, new N events/s, P
  Pair 4 of 6: old N, new N events/s, P
  Pair 5 of 6: old N, new N events/s, P; all pairs: P (P to P)
  A (old): oltp_point_select, 5 runs of T s, 1 thread
  B (new): oltp_point_select, 5 runs of T s, 1 thread
  Options that differ: null-latency 1ms / 20ms
  Settings of the server that differ: latency 1ms / 20ms
  Verdict: new is worse than old: throughput P (interval P to P).
  The answer took 5 of 6 pairs.
  $ ls
  ab.html
  ab.json
  out
  $ /usr/bin/python3 -c 'import json
  > d = json.load(open("ab.json"))
  > ab = d["ab"]
  > print(ab["a"], ab["b"], ab["pairs"], ab["planned"], ab["aa"], ab["verdict"])
  > print(-1 < ab["low"] < ab["difference"] < ab["high"] < -0.1)
  > print([r["swept"]["side"] for r in d["runs"]])'
  old new 5 6 1 lower
  True
  ['A/A', 'A/A', 'old', 'new', 'old', 'new', 'old', 'new', 'old', 'new', 'old', 'new']

Servers settle before each run. The null driver cannot, which is only said with --settle.

  $ few() {
  >     ab $both --a='o: --rate=90' --b='n: --rate=900' --aa=0 --pairs=5 --events=2 \
  >         --report=text "$@" | grep -c 'was settled'
  > }
  $ few
  0
  [1]
  $ few --settle=2s
  10

The runs of the sides can be compared again, without those that were measured first.

  $ sysbench compare --paired ab.json:side=old ab.json:side=new >out
  [3]
  $ grep -e '^[AB] ' -e '^Verdict: new\|^Verdict: side' out | lines | sed 's/, P.*/, P/'
  A (side=old): ab.json:side=old: oltp_point_select, 5 runs of T s, 1 thread
  B (side=new): ab.json:side=new: oltp_point_select, 5 runs of T s, 1 thread
  Verdict: side=new is worse than side=old: throughput P (interval P to P).

A server that is switched. Here, the command says how long an event takes; the differences
of pairs have alternating signs, so there is no answer. More pairs continue the experiment.

  $ cat >slow.lua <<'EOF'
  > sysbench.cmdline.options = { batch = { "", 1 } }
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned int)")
  > local ms = 0
  > function thread_init() ms = tonumber(io.open("ms"):read("*n")) end
  > function event() ffi.C.usleep(ms * 1000 * sysbench.opt.batch) end
  > EOF
  $ cat >switch <<'EOF'
  > echo "$1" >>switched
  > n=$(grep -c . switched)
  > # One of A and one of B: as fast, or four times as fast or slow.
  > case $(((n + 1) / 2 % 2)) in
  > 0) [ "$1" = A ] && echo 1 >ms || echo 4 >ms ;;
  > 1) [ "$1" = A ] && echo 4 >ms || echo 1 >ms ;;
  > esac
  > EOF
  $ switched="slow.lua --time=0 --events=20 --a=A --b=B --aa=0"
  $ ab $switched --switch='sh switch {side}' --pairs=5 --report=json=s.json >out
  [5]
  $ grep -o -e '^Verdict:[^:]*' -e '^The answer is not known after 5 pairs' out
  Verdict: B may be better or worse than A
  The answer is not known after 5 pairs
  $ ls -d s.json*
  s.json
  s.json.sweep
  $ sort switched | uniq -c | tr -s ' '
   5 A
   5 B
  $ ab $switched --switch='sh switch {side}' --pairs=6 --report=json=s.json
  FATAL: s.json.sweep has finished runs of an interrupted sweep: continue it with --sweep-resume, or remove the folder
  [1]
  $ ab $switched --switch='sh switch {side}' --pairs=6 --report=json=s.json --sweep-resume >out
  [5]
  $ grep -c '^Pair' out; grep -c . switched
  6
  12
  $ /usr/bin/python3 -c 'import json
  > ab = json.load(open("s.json"))["ab"]
  > print(ab["pairs"], ab["planned"], ab["verdict"])'
  6 5 unknown

A command that fails, and a side that fails in the middle.

  $ rm -rf s.json* switched
  $ ab $switched --switch='echo {side} >>switched; test $(grep -c . switched) -lt 4' \
  >     --report=json=s.json >out
  [1]
  $ grep -v -e '^slow' -e ^Pair -e '^$' out
  ALERT: --switch: 'echo * failed, exit status 1 (glob)
  [4/40] *: failed, exit status 1 (glob)
  ALERT: the sweep ended early: 3 of 40 runs are measured
  ALERT: the finished runs are in s.json.sweep; add --sweep-resume to measure the others
  $ grep -c . switched
  4
  $ rm -rf s.json* switched
  $ ab $switched --switch='test {side} = A && echo 1 >ms || rm -f ms' --report=none >out
  [1]
  $ grep -c '^FATAL.*slow.lua' out
  1

Scripts of both sides.

  $ echo 'sysbench.cmdline.options = { ms = { "", 1 } }
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned int)")
  > function event() ffi.C.usleep(sysbench.opt.ms * 1000) end' >fast.lua
  $ echo 1 >ms
  $ ab --a='one: slow.lua --batch=40' --b="two: fast.lua --ms='1'" --aa=0 --time=0 --events=5 \
  >     --pairs=6 --report=none
  $ ab --a='one: slow.lua --batch=40' --b="two: fast.lua --ms='1'" --aa=0 --time=0 --events=5 \
  >     --pairs=6 |
  >     grep -e ^Scripts -e ^one -e ^two -e ^Work -e ^Verdict | lines
  Scripts: one and two, up to 6 pairs of runs after 0 A/A pairs, margin 2 %
  one: slow.lua --batch=40
  two: fast.lua --ms=1
  Workloads that differ: test slow.lua / fast.lua
  Verdict: two is better than one: throughput P (interval P to P).

Two builds. Here, the program of one side is a script that executes the other. The
result names both, and so do comparisons.

  $ self=$(readlink -f "$(command -v sysbench)")
  $ printf '#!/bin/sh\nexec sysbench "$@"\n' >old && chmod +x old
  $ builds="$both --aa=1 --pairs=5 --margin=99 --report=json=v.json --b=new"
  $ known() { case $? in 0 | 3 | 5) ;; *) false ;; esac; }  # any verdict
  $ ab $builds --a="old: --program=./old" >out; known
  $ grep -e '^old' -e '^new' -e '^Programs' out | sed 's|/[^ ]*/sysbench|SELF|g'
  old: ./old (sysbench 2.0.0)
  new: SELF (sysbench 2.0.0)
  Programs that differ: file ./old (sysbench 2.0.0) / SELF (sysbench 2.0.0)
  $ sysbench compare --paired v.json:side=old v.json:side=new | grep -c '^Programs that differ: file ./old '
  1
  $ sysbench show v.json | tail -n 2 | sed 's|/[^ ]*/sysbench|SELF|'
  old: ./old (sysbench 2.0.0)
  new: SELF (sysbench 2.0.0)

Another program has drivers and workloads of its own: not those of the caller, but those that
it names itself. The same holds for the path of modules.

  $ mkdir mine theirs
  $ cp "$SB_BUILDDIR/src/drivers/.libs/null.so" mine
  $ for side in mine theirs; do
  >     echo "function event() end
  >     function thread_done() os.execute('echo $side ' .. require('name') .. ' >>ran') end" >$side/own.lua
  >     echo "return '$side'" >$side/name.lua
  > done
  $ export SYSBENCH_DRIVER_DIR=$PWD/mine SYSBENCH_LUA_DIR=$PWD/mine LUA_PATH=mine/?.lua
  $ builds2="own --db-driver=null --time=0 --events=9 --aa=0 --pairs=5 --margin=99 --report=none"
  $ printf '#!/bin/sh\nSYSBENCH_LUA_DIR=theirs LUA_PATH=theirs/?.lua exec sysbench "$@"\n' >old
  $ ab $builds2 --b=new --a='old: --program=./old' >out; known
  $ sort ran | uniq -c | tr -s ' '
   5 mine mine
   5 theirs theirs
  $ printf '#!/bin/sh\nSYSBENCH_DRIVER_DIR=none exec sysbench "$@"\n' >old
  $ ab $builds2 --b=new --a='old: --program=./old'
  FATAL: there is no driver 'null' in none; drivers: none
  old: its program, ./old (sysbench 2.0.0), failed when it checked the options, exit status 1
  [1]
  $ unset LUA_PATH
  $ ab $builds2 --b=new --a="old: --program=$self"
  FATAL: Cannot find benchmark 'own': * (glob)
  old: its program, /*/sysbench (sysbench 2.0.0), failed when it checked the options, exit status 1 (glob)
  [1]
  $ unset SYSBENCH_DRIVER_DIR SYSBENCH_LUA_DIR
  $ printf '#!/bin/sh\nexec sysbench "$@"\n' >old

A program that fails in the third run; another program cannot continue the experiment.

  $ cat >bad <<'EOF'
  > #!/bin/sh
  > echo >>starts
  > # --version, the check, two runs
  > [ $(grep -c '' starts) -lt 5 ] || exit 9
  > exec sysbench "$@"
  > EOF
  $ chmod +x bad; rm -rf v.json*
  $ ab $builds --a='old: --program=./bad' >out
  [1]
  $ sed -n 's/^.[0-9]*\/12. //p; /^ALERT/p' out
  old: failed, exit status 9
  ALERT: the run old wrote no result: its process ended with exit status 9
  ALERT: the sweep ended early: * of 12 runs are measured (glob)
  ALERT: the finished runs are in v.json.sweep; add --sweep-resume to measure the others
  $ ab $builds --a='old: --program=./old' --sweep-resume
  FATAL: the sweep in v.json.sweep cannot be continued: --a or --b differs from that of the interrupted sweep; give the same options, or remove the folder and begin again without --sweep-resume
  [1]
  $ ab $builds --a='older: --program=./old' --sweep-resume
  FATAL: the sweep in v.json.sweep cannot be continued: --a or --b differs from that of the interrupted sweep; give the same options, or remove the folder and begin again without --sweep-resume
  [1]

Programs are checked before the first run.

  $ for text in 'echo sysbench 1.0.20' 'echo yes' \
  >     'test $1 = --version && echo sysbench 2.9.0 || exec sysbench "$@"'; do
  >     printf '#!/bin/sh\n%s\n' "$text" >old
  >     ab $both --b=new --report=none --a='old: --program=./old'
  > done
  --a: ./old is sysbench 1.0.20, which writes no result files: at least sysbench 2.0 is required
  --a: ./old is not sysbench: with --version, it prints something else
  this process is sysbench 2.0.0, but its settings are from sysbench 2.9.0
  old: its program, ./old (sysbench 2.9.0), failed when it checked the options, exit status 1
  [1]
  $ printf '#!/bin/sh\nsleep 600 &\necho sysbench 1.0.20\nexec sleep 600 >&-\n' >old
  $ timeout 25 sysbench ab $both --b=new --report=none --a='old: --program=./old' run
  --a: ./old is sysbench 1.0.20, which writes no result files: at least sysbench 2.0 is required
  [1]
  $ ab $both --b=new --report=none --a='old: --program=./none'
  --a: cannot execute ./none: No such file or directory
  [1]
  $ ab $both --b=new --report=none --a="old: --program=$self --bogus=1"
  invalid option: --bogus
  old: its program, /*/sysbench (sysbench 2.0.0), failed when it checked the options, exit status 1 (glob)
  [1]
  $ ab $both --a=old --b='new: --program='
  --b: --program= requires a file
  [1]
  $ echo 'sysbench.cmdline.options = { program = { "", 1 } }
  > function event() end' >own.lua
  $ ab own.lua --a=old --b="new: --program=$self" --time=0 --events=1
  ab: the test has an option --program of its own, so the sides cannot name their programs
  [1]

Options are checked before the first run; secrets are not shown.

  $ ab $both --a=x --b='y: --threads=2' --bogus=1
  invalid option: --bogus
  [1]
  $ ab $both --a=x --b='y: --threads=no'
  Invalid value for the 'threads' option: 'no' (must be a whole number)
  [1]
  $ ab $both --a=x --b='y: --mysql-password=hush' --aa=0 --pairs=5 --margin=99 \
  >     --report=json=p.json >out 2>&1; grep '^y' out
  y: --mysql-password=***
  $ grep -rl hush . | wc -l
  0
  $ ab $both --a=x --b=x
  --a and --b: both sides are named x
  [1]
  $ ab $both --a=x --b=y
  ab: both sides are the same: give one of them options (--b='new: --pgsql-host=db2'), or use --switch
  [1]
  $ ab $both --a=x --b='y: threads=1'
  --b: 'threads=1' is not an option: 'NAME: [SCRIPT] --OPTION=VALUE ...' is expected
  [1]
  $ ab $both --a=x --b="y: --label='a=b"
  --b: a quotation mark has no end
  [1]
  $ ab $both --a=x --b='y: fast.lua'
  ab: either both sides have a script of their own, or the command line has one for both
  [1]
  $ ab $both --a=x --b='y: --threads=2' --repeat=3
  ab: --sweep and --repeat cannot be combined with it
  [1]
  $ ab slow.lua --a='x: --a=1' --b=y
  --a: --a cannot differ between the sides
  [1]
  $ sysbench ab oltp_point_select --a=x --b=y prepare 2>&1 | tail -1
  Usage: sysbench ab TEST --a='NAME: --OPTION=VALUE ...' --b=... [options]... run
