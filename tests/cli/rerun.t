SPDX-License-Identifier: GPL-2.0-or-later

`sysbench rerun FILE` repeats the run of a result file.

  $ quiet="--report=none,json"
  $ rerun() { sysbench rerun "$@"; case $? in 0|3|4) ;; *) return 1;; esac; }
  $ sysbench oltp_read_write --db-driver=sqlite --table-size=200 prepare >/dev/null
  $ sysbench oltp_read_write --db-driver=sqlite --table-size=200 \
  >     --range-size=7 --rand-type=zipfian --threads=1 --time=0 --events=40 \
  >     $quiet=run.json run
  $ cat >facts.py <<'EOT'
  > import json, sys
  > for name in sys.argv[1:]:
  >     run = json.load(open(name))["runs"][0]
  >     print(run["seed"], run["counters"]["completed"],
  >           [(o["name"], o["rows"], o["hits"]) for o in run["operations"]],
  >           [(o["name"], o["value"]) for o in run["options"]
  >            if o["source"] != "default"
  >            and o["name"] not in ("rand-seed", "report")])
  > EOT

It has the same options and the same seed, so it does the same work. The new file
is beside the old one.

  $ cp run.json kept.json
  $ rerun run.json >text
  $ sed -n '/^This run/,/^$/p' text | sed 's/started .*/started TIME/'
  This run repeats that of run.json, started TIME
  Nothing differs, as far as it is known before the run.
  
  $ sed -n '/^Comparison/,/^$/p' text | sed 's/of [0-9.e-]* s/of TIME/'
  Comparison with the repeated run:
  A (the repeated run): run.json: oltp_read_write, 1 run of TIME, 1 thread
  B (the new run): run-rerun.json: oltp_read_write, 1 run of TIME, 1 thread
  
  $ /usr/bin/python3 facts.py run.json run-rerun.json | sort -u | wc -l
  1
  $ cmp run.json kept.json

Each further run has a file of its own, and can be repeated, too.

  $ rerun run.json --report=none >/dev/null
  $ rerun run-rerun-2.json --report=none,json=next.json >/dev/null
  $ ls *.json
  kept.json
  next.json
  run-rerun-2.json
  run-rerun.json
  run.json
  $ /usr/bin/python3 facts.py *.json | sort -u | wc -l
  1

A report on standard output is alone there. --print-config only prints.

  $ rerun run.json --report=ndjson=-,json=next.json 2>text | grep -vc '^{'
  0
  [1]
  $ grep ^Comparison text
  Comparison with the repeated run:
  $ rm next.json
  $ sysbench rerun run.json --report=none,json=next.json --print-config | grep ^events
  events=40                        # command line
  $ ls next.json 2>/dev/null
  [2]

Options that are given replace those of the run, also by their older names. The
environment and config files do not.

  $ echo "threads=7" >sysbench.cnf
  $ SYSBENCH_SKIP_TRX=on sysbench rerun run.json --set range-size=9 --num-threads=2 \
  >     --set=events=50 --config-file=sysbench.cnf --report=text,json=new.json \
  >     2>/dev/null |
  >     sed -n '/^What/,/^$/p'
  What differs (then / now):
  Options that differ: threads 1 / 2, events 40 / 50, range_size 7 / 9
  
  $ /usr/bin/python3 facts.py new.json | grep -o ' 50 \['
   50 [

A script counts by its contents, with the modules that it loads.

  $ cat >own.lua <<'EOT'
  > sysbench.cmdline.options = {n = {"number", 1}, ["my-token"] = {"secret", ""}}
  > require("part")
  > function event() require("later") end
  > EOT
  $ echo 'return 1' >part.lua
  $ echo 'return 1' >later.lua
  $ sysbench own.lua --n=3 --time=0 --events=5 $quiet=own.json run
  $ rerun own.json --report=none >/dev/null
  $ mkdir elsewhere
  $ mv own.lua part.lua later.lua elsewhere
  $ sysbench rerun own.json --report=none
  FATAL: Cannot find benchmark 'own.lua': no such built-in test, file or module \(searched: .* (re)
  [1]
  $ cd elsewhere
  $ rerun ../own.json --report=none >/dev/null
  $ for file in own part later; do
  >     cp $file.lua kept
  >     echo '-- changed' >>$file.lua
  >     sysbench rerun ../own.json --report=none 2>&1 |
  >         sed 's/was [0-9a-f]* and is [0-9a-f]*$/was ONE and is OTHER/'
  >     mv kept $file.lua
  > done
  own.lua has changed since the run in ../own.json: its SHA-256 was ONE and is OTHER
  ./part.lua has changed since the run in ../own.json: its SHA-256 was ONE and is OTHER
  ./later.lua has changed since the run in ../own.json: its SHA-256 was ONE and is OTHER
  $ sysbench own.lua --time=0 --events=5 $quiet=own.json run
  $ echo 'require("another")' >>own.lua
  $ touch another.lua
  $ sed "s/$(sha256sum <later.lua | cut -c1-64)/$(sha256sum <own.lua | cut -c1-64)/" \
  >     own.json >other.json
  $ sysbench rerun other.json --report=none
  the run in other.json did not load ./another.lua (SHA-256 e3b0c44298fc)
  [1]
  $ sed 's/"scripts":/"older":/' own.json >older.json
  $ rerun older.json --report=none >/dev/null
  WARNING: older.json does not say which version of the script its run used
  $ cd ..

Also files that a script reads by sysbench.read_file(), as sql_file does.

  $ echo '-- @event one
  > SELECT 1;' >one.sql
  $ sysbench sql_file --file=one.sql --db-driver=sqlite --time=0 --events=5 \
  >     $quiet=file.json run
  $ rerun file.json --report=none >/dev/null
  $ echo 'SELECT 2;' >>one.sql
  $ sysbench rerun file.json --report=none 2>&1 | cut -d: -f1
  one.sql has changed since the run in file.json

Files do not have passwords.

  $ cp elsewhere/* .
  $ sysbench own.lua --my-token=abc --time=0 --events=1 $quiet=secret.json run
  $ sysbench rerun secret.json --report=none
  secret.json does not contain the value of --my-token: give the option again, in the environment, in a --config-file, or on the command line
  [1]
  $ echo 'my-token=abc' >secret.cnf
  $ rerun secret.json --report=none --my-token=abc >/dev/null
  $ (export SYSBENCH_MY_TOKEN=abc; rerun secret.json --report=none >/dev/null)
  $ rerun secret.json --report=none --config-file=secret.cnf >/dev/null
  $ sysbench own.lua --config-file=secret.cnf --time=0 --events=1 $quiet=cnf.json run
  $ rerun cnf.json --report=none >/dev/null

Mixes, built-in tests, options of old scripts, a failed run, a missed limit.

  $ sysbench --mix=own.lua:1,b=own.lua:2 --b.n=4 --time=0 --events=9 $quiet=mix.json run
  $ rerun mix.json --report=none,json=mix2.json >/dev/null
  $ /usr/bin/python3 facts.py mix.json mix2.json | uniq | wc -l
  1
  $ sysbench cpu --cpu-max-prime=100 --time=0 --events=9 $quiet=cpu.json run
  $ rerun cpu.json --report=none,json=cpu2.json >/dev/null
  $ /usr/bin/python3 facts.py cpu.json cpu2.json | uniq | wc -l
  1
  $ echo 'function event() assert(foo == "x") end' >old.lua
  $ sysbench old.lua --foo=x --time=0 --events=9 $quiet=old.json run
  $ rerun old.json --report=none >/dev/null
  $ sysbench rerun old.json --report=none --foo=y 2>&1 | grep -c Comparison
  0
  [1]
  $ sysbench cpu --cpu-max-prime=100 --time=0 --events=9 --assert='p99<0us' \
  >     $quiet=limit.json run 2>/dev/null
  [3]
  $ sysbench rerun limit.json --report=none 2>/dev/null | grep '^Comparison'
  Comparison with the repeated run:
  $ sysbench rerun limit.json --report=none >/dev/null 2>&1
  [3]

Options may have no value: the file has the one that this means, if it differs.

  $ cat >bare.lua <<'EOT'
  > sysbench.cmdline.options = {flag = {"flag", false}, name = {"name", "x"},
  >     list = {"list", {"a", "b"}}}
  > function event()
  >     local o = sysbench.opt
  >     assert(o.flag == true and o.name == "" and #o.list == 0)
  > end
  > EOT
  $ sysbench bare.lua --db-driver=sqlite --flag --name --list --settle --prewarm \
  >     --report-validity --report-costs --report-context --mysql-ssl --luajit-cmd \
  >     --debug --time=0 --events=1 $quiet=bare.json run 2>/dev/null
  $ rerun bare.json --report=none,json=bare2.json >/dev/null 2>&1
  $ /usr/bin/python3 - <<'EOT'
  > import json
  > for name in "bare.json", "bare2.json":
  >     print([o["name"] + "=" + o["value"]
  >            for o in json.load(open(name))["runs"][0]["options"]
  >            if o["source"] != "default" and o["name"] not in ("rand-seed", "report")])
  > EOT
  ['luajit-cmd=', 'events=1', 'time=0', 'debug=on', 'report-context=on', 'report-validity=on', 'report-costs=on', 'db-driver=sqlite', 'settle=on', 'prewarm=on', 'mysql-ssl=', 'flag=on', 'list=', 'name=']
  ['luajit-cmd=', 'events=1', 'time=0', 'debug=on', 'report-context=on', 'report-validity=on', 'report-costs=on', 'db-driver=sqlite', 'settle=on', 'prewarm=on', 'mysql-ssl=', 'flag=on', 'list=', 'name=']
  $ sysbench oltp_read_only --settle=yes --report-validity --print-config |
  >     grep -E '^(settle|report-validity)='
  report-validity=on               # command line
  settle=on                        # command line

Errors.

  $ sysbench rerun
  rerun: the name of a result file is missing
  [1]
  $ sysbench rerun run.json more.json
  rerun: too many files; the maximum is 1 (options are written as --NAME=VALUE or --set NAME=VALUE)
  [1]
  $ sysbench rerun missing.json
  cannot read missing.json: No such file or directory
  [1]
  $ sysbench rerun own.lua
  own.lua is not a result file (written by --report=json=FILE)
  [1]
  $ sysbench rerun - <run.json
  rerun reads its file several times: - is no regular file
  [1]
  $ sysbench rerun run.json --set
  --set: the option is missing: write --set NAME=VALUE
  [1]
  $ sysbench rerun run.json --set =2
  --set: the option is missing: write --set NAME=VALUE
  [1]
  $ sysbench rerun run.json --report=none --thraeds=2
  invalid option: --thraeds (did you mean --threads?)
  [1]
  $ sysbench rerun run.json --repeat=2
  rerun repeats one run as it was: --repeat cannot be given
  [1]
  $ ln -s run.json link.json
  $ sysbench rerun run.json --report=none,json=link.json
  --report: rerun does not replace the file that it repeats: run.json
  [1]
  $ sysbench rerun run.json --report=json=-
  --report: rerun compares the new result file, and cannot read - again
  [1]
  $ cmp run.json kept.json
  $ sysbench cpu --cpu-max-prime=100 --time=0 --events=2 --sweep=threads=1,2 \
  >     $quiet=sweep.json run >/dev/null
  $ sysbench rerun sweep.json
  rerun needs the file of one run, and sweep.json has the runs of a sweep: repeat the sweep, or measure one of its runs alone
  [1]
  $ sysbench merge cpu.json cpu2.json --output=sum.json
  $ sysbench rerun sum.json
  rerun needs the file of one run, and sum.json was merged from several
  [1]
  $ sysbench oltp_read_only --db-driver=null --ranks=2 --rank=0 --rand-seed=4 \
  >     --time=0 --events=4 $quiet=rank.json run
  $ sysbench rerun rank.json
  rerun needs the file of one run, and rank.json is about a run of several processes: start them as they were started then
  [1]
