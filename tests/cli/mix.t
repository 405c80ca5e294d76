SPDX-License-Identifier: GPL-2.0-or-later

A mix of workloads: --mix.

  $ cat >view.lua <<'END'
  > sysbench.cmdline.options = {
  >    tables = { "Number of tables", 1 }, word = { "A word", "x" }
  > }
  > function thread_init() con = sysbench.sql.driver():connect() end
  > function event()
  >    con:query("SELECT 1")
  >    local op = sysbench.op.start("part")
  >    sysbench.op.finish(op)
  > end
  > function prepare()
  >    print("view: prepare", sysbench.opt.tables, sysbench.opt.word)
  > end
  > function thread_done() con:disconnect() end
  > END
  $ cat >edit.lua <<'END'
  > sysbench.cmdline.options = { tables = { "Number of tables", 2 } }
  > local hits = sysbench.metric and sysbench.metric("hits")
  > function thread_init() con = sysbench.sql.driver():connect() end
  > function event()
  >    con:query("UPDATE t SET x = 1")
  >    con:query("UPDATE t SET x = 2")
  >    hits:add(1)
  > end
  > function prepare() print("edit: prepare", sysbench.opt.tables) end
  > sysbench.hooks.report_line = function(r)
  >    return "edit: hits " .. (r.metrics.hits and r.metrics.hits.sum or 0)
  > end
  > END

Each workload has its own figures. The seed decides which workload executes an event.
981 of 9000 events is within the random variation of one in nine.

  $ sysbench --mix=view.lua:8,edit:1 --db-driver=null --events=9000 \
  >     --rand-seed=5 --report-operations --report=json=a.json run >out
  $ grep '^Mix' out
  Mix by events: view.lua:8,edit:1
  $ table() { sed -n "/^$1/,/^\$/p" | awk '{ print $1, $2, $4 }'; }
  $ table Workload <out
  Workload (ms) per
  view 8019 0
  edit 981 0
    
  $ table Operation <out
  Operation (ms) per
  view/select 8019 0
  view/part 8019 0
  edit/update 1962 0
    
  $ grep hits out | awk '{ print $1, $2, $3 }'
  edit/hits 981 * (glob)
  edit: hits 981
  $ grep 'total number of events' out
      total number of events:              9000

Each interval has a line for each workload, and so has the warm-up.

  $ sysbench --mix=view.lua,edit --db-driver=null --warmup-time=0.3 --time=0.3 \
  >     --report-interval=0.1 run | grep '^\[' | sed 's/[0-9][0-9.]*/N/g' | sort -u
  [ Ns ]   edit: eps: N lat (ms,N%): N err/s: N
  [ Ns ]   view: eps: N lat (ms,N%): N err/s: N
  [ Ns ] (warm-up)   edit: eps: N lat (ms,N%): N err/s: N
  [ Ns ] (warm-up)   view: eps: N lat (ms,N%): N err/s: N
  [ Ns ] (warm-up) edit: hits N
  [ Ns ] (warm-up) thds: N tps: N qps: N (r/w/o: N/N/N) lat (ms,N%): N err/s: N reconn/s: N
  [ Ns ] edit: hits N
  [ Ns ] thds: N tps: N qps: N (r/w/o: N/N/N) lat (ms,N%): N err/s: N reconn/s: N

The rows of files have them, too, and the times are response times in an open loop.

  $ sysbench --mix=view.lua,edit --db-driver=null --rate=500 --time=1 \
  >     --report=none,json=i.json,ndjson=i.ndjson,csv=i.csv run
  $ cut -d, -f3,4 i.csv | sort -u | grep operation
  operation,edit
  operation,edit/update
  operation,view
  operation,view/part
  operation,view/select
  $ grep -q '"operation":{.*"edit":{"count":[1-9]' i.ndjson
  $ grep -o '"name":"[^"]*","kind":"workload".*"kind":"[a-z]*"' i.json |
  >     grep -o '"kind":"response"' | sort -u
  "kind":"response"
  $ "$SB_SRCDIR/tests/check-result" i.json

By shares of users; each user has the connections of its workload only.

  $ for name in one two; do
  >     echo "function thread_init() print('$name') end function event() end" >$name.lua
  > done
  $ sysbench --mix=one.lua:3,two:1 --mix-by=users --threads=8 --events=10 run >out
  $ grep '^Mix' out
  Mix by users: one.lua:3,two:1
  $ grep -c '^one$' out
  6
  $ grep -c '^two$' out
  2

Options: of one workload, of all that declare them, from sections of a file.

  $ sysbench --mix=view.lua,edit --tables=4 --edit.tables=7 --view.word=w prepare |
  >     grep prepare
  view: prepare\t4\tw (esc)
  edit: prepare\t7 (esc)
  $ cat >mix.cnf <<'END'
  > mix=view.lua:8,w=edit.lua:1
  > db-driver=null
  > [view]
  > tables=11
  > [edit]
  > tables=5
  > END
  $ sysbench --config-file=mix.cnf prepare
  sysbench * (glob)
  
  Workload view:
  view: prepare\t11\tx (esc)
  
  Workload w:
  edit: prepare\t5 (esc)
  
  $ sysbench --config-file=mix.cnf --w.tables=6 --view.rand-type=zipfian \
  >     --print-config prepare | grep -e '^mix' -e 'tables=' -e 'rand-type'
  mix=view.lua:8,w=edit.lua:1      # mix.cnf:1
  #rand-type=special               # default
  view.tables=11                   # mix.cnf:4
  view.rand-type=zipfian           # command line
  w.tables=6                       # command line

The same workload twice, with names. Drivers of their own. A secret is not shown.

  $ sysbench --mix=a=view.lua,b=view.lua --a.db-driver=null \
  >     --b.db-driver=sqlite --b.sqlite-db=b.db --events=100 --rand-seed=1 \
  >     --report=json=b.json run | table Workload | sed 's/[1-9][0-9]* 0$/N 0/'
  Workload (ms) per
  a N 0
  b N 0
    
  $ ls b.db
  b.db
  $ grep -o '"driver":"[a-z]*"' b.json | sort -u
  "driver":"null"
  "driver":"sqlite"
  $ sysbench --mix=a=view.lua --a.mysql-password=geheim --print-config run |
  >     grep 'a.mysql-password'
  #a.mysql-password=*** * (glob)

Weights by stages. Result files have the mix in force and are read back.

  $ sysbench --mix=view.lua,edit.lua --db-driver=null \
  >     --stages='mix=view for 0.3s; both: mix=view:1/edit:3 for 0.3s' \
  >     --report=json=s.json run >out
  $ grep -o '"mix":"[^"]*"' s.json
  "mix":"view:1"
  "mix":"view:1/edit:3"
  $ sysbench show s.json >shown
  $ sed -n '/^Workload/,/^Counter/p' out >printed
  $ sed -n '/^Workload/,/^Counter/p' shown | diff printed -
  $ sed -n '/^Workload/,/hits/p' shown | awk '{ print $1 }' |
  >     sed '/^mix=view/,/^both/{/^edit$/d}'
  Workload
  view
  edit
  
  Stages
  mix=view
  view
  both
  view
  edit
  
  Counter
  edit/hits

Results of several processes are added, also by workload.

  $ for seed in 1 2; do
  >     sysbench --mix=view.lua,edit.lua --db-driver=null --rand-seed=$seed \
  >         --stages='mix=view for 0.2s; both: mix=view:1/edit:3 for 0.2s' \
  >         --report=none,json=p$seed.json run
  > done
  $ sysbench merge --output=p.json p1.json p2.json
  $ "$SB_SRCDIR/tests/check-result" p1.json p2.json p.json
  $ sysbench show p.json | grep -A 2 '^both' | awk '{ print $1 }'
  both
  view
  edit

By users, one of two changes its workload: it comes again, and connects. On a busy
machine that may take longer than a stage.

  $ echo 'function thread_init() print("two") sysbench.sql.driver():connect() end' >>two.lua
  $ for s in 0.2 1 5 25; do
  >     sysbench --mix=one.lua,two --mix-by=users --threads=2 --report-operations --db-driver=null \
  >         --stages="mix=one for $s; mix=one/two for $s" run >out
  >     if grep -q '^two$' out; then break; fi
  > done
  $ grep -q '^two$' out || echo "no user has changed its workload within $s s"
  $ grep -e '^one$' -e '^two$' out
  one
  one
  two
  $ grep '^connect' out | awk '{ print $1, $2 }'
  connect 1
  $ "$SB_SRCDIR/tests/check-result" a.json b.json s.json

Limits of one workload. Restarts and failed events are counted for each.

  $ sysbench --mix=view.lua,edit.lua --db-driver=null --events=100 \
  >     --assert='view.count>20, edit/update.errors==0, view.p95<1s, edit.failed<1%,
  >         edit.restarts==0, edit.events>20, view.qps>1, edit/write.count>20' run |
  >     sed -n '/^Limits/,$p' | awk '{ print $1, $NF }'
  Limits: Limits:
  view.count>20 kept
  edit/update.errors==0 kept
  view.p95<1s kept
  edit.failed<1% kept
  edit.restarts==0 kept
  edit.events>20 kept
  view.qps>1 kept
  edit/write.count>20 kept
   
Metrics of scripts may be called as the columns of this table.

  $ cat >retry.lua <<'END'
  > local n = 0
  > local restarts = sysbench.metric and sysbench.metric("restarts")
  > local failed = sysbench.metric and sysbench.metric("failed", { kind = "gauge" })
  > function event()
  >    n = n + 1
  >    failed:set(7)
  >    if n % 4 == 0 then
  >       restarts:add(1)
  >       error({ errcode = sysbench.error.RESTART_EVENT })
  >    end
  > end
  > sysbench.hooks.report_cumulative = function() print("not called") end
  > END
  $ sysbench --mix=retry.lua,view.lua --db-driver=null --events=90 \
  >     --rand-seed=2 --restart-backoff=0 --report=text --report=json=r.json run 2>err >out
  $ sed -n '/^Workload/,/^$/p' out >table
  $ awk '$1 == "retry" { print $4 == $5 && $5 == int(($2 + $5) / 4), $6 }' table
  1 0
  $ n=$(awk '$1 == "retry" { print $5 }' table)
  $ test "$n" -gt 0
  $ grep '^retry/[rf]' out | awk -v n="$n" '{ print $1, $2 == n, $2 == 7 }'
  retry/restarts 1 0
  retry/failed 0 1
  $ sysbench show r.json 2>err2 | sed -n '/^Workload/,/^$/p' | diff table -
  $ "$SB_SRCDIR/tests/check-result" r.json
  $ sysbench --mix=retry.lua,view.lua --db-driver=null --restart-backoff=0 \
  >     --stages='for 0.3s; both: mix=retry:3/view for 0.3s' \
  >     --report=text --report=json=q.json run 2>err2 >out
  $ sed -n '/^Stages (/,/^$/p' out >table
  $ awk '$1 == "retry" { print ($5 > 0); errors += $4; ended += $5 + $6 }
  >     END { print errors == ended }' table
  1
  1
  1
  $ sysbench show q.json 2>err2 | sed -n '/^Stages (/,/^$/p' | diff table -
  $ "$SB_SRCDIR/tests/check-result" q.json
  $ echo 'local n = 0 function event() n = n + 1 if n > 5 then ' \
  >     'error({ errcode = sysbench.error.RESTART_EVENT }) end end' >giveup.lua
  $ sysbench --mix=giveup.lua --events=9 --max-restarts=1 --restart-backoff=0 \
  >     run 2>err2 | awk '$1 == "giveup" { print $2, $4, $5, $6 }'
  5 8 4 4
  $ grep WARNING err
  WARNING: the report hooks of 'retry' are not called in a mix

A workload without events is listed, also by files.

  $ sysbench --mix=view.lua:1e9,edit.lua:1e-6 --db-driver=null --events=5 \
  >     --report=text --report=json=z.json run >out
  $ sed -n '/^Workload/,/^$/p' out >table
  $ awk '{ print $1, $2 }' table
  Workload (ms)
  view 5
  edit 0
   
  $ sysbench show z.json | sed -n '/^Workload/,/^$/p' | diff table -
  $ "$SB_SRCDIR/tests/check-result" z.json

A workload with an event loop of its own can be used by users only. A loop that ends
ends its user.

  $ cat >own.lua <<'END'
  > ffi.cdef("bool sb_more_events(int); void sb_event_start(int);" ..
  >          "void sb_event_stop(int);")
  > function thread_run()
  >    while ffi.C.sb_more_events(0) do
  >       ffi.C.sb_event_start(0)
  >       ffi.C.sb_event_stop(0)
  >    end
  > end
  > END
  $ sysbench --mix=own.lua,view.lua --db-driver=null --events=10 run >out
  --mix: 'own' has an event loop of its own, thread_run(): use --mix-by=users
  [1]
  $ sysbench --mix=own.lua,view.lua --mix-by=users --threads=2 \
  >     --db-driver=null --events=10 run | grep 'total number'
      total number of events:              10
  $ echo 'local n = 0 function event() n = n + 1 return n > 5 end' >end.lua
  $ sysbench --mix=end.lua,view.lua --db-driver=null --time=1h run |
  >     awk '$1 == "end" { print $1, $2 }'
  end 5

Old scripts, which declare no options, get all settings that the program does not have.

  $ cat >old.lua <<'END'
  > function event()
  >    if not told then print(size, word, flag, bare) told = 1 end
  > end
  > END
  $ sysbench --mix=old.lua,view.lua --size=5 --old.word=a --old.flag --bare \
  >     --tables=3 --db-driver=null --events=50 --verbosity=1 run
  5\ta\ton\ton (esc)

Tables: each workload prepares, checks and removes its own.

  $ options="--mix=w=oltp_write_only,p=oltp_point_select:3 --db-driver=sqlite \
  >     --table-size=100 --w.sqlite-db=w.db --p.sqlite-db=p.db --p.tables=2"
  $ sysbench $options prepare | grep -e Workload -e Creating.table
  Workload w:
  Creating table 'sbtest1'...
  Workload p:
  Creating table 'sbtest1'...
  Creating table 'sbtest2'...
  $ sysbench $options --events=400 --rand-seed=3 run | table Workload |
  >     sed 's/[1-9][0-9]* 0$/N 0/'
  Workload (ms) per
  w N 0
  p N 0
    
  $ sysbench $options check | grep -v -e sysbench -e '^$'
  Workload w:
  sbtest1: 100 rows, all in order, and their index agrees with them
  Workload p:
  sbtest1: 100 rows, all in order, and their index agrees with them
  sbtest2: 100 rows, all in order, and their index agrees with them
  $ sysbench $options --p.tables=3 run >out
  FATAL: table 'sbtest3' does not exist: * (glob)
  [1]
  $ sysbench $options --w.sqlite-db=p.db prepare 2>&1 >out | sed 's/Table.*/.../'
  FATAL: ...
  $ sysbench $options cleanup | grep -c Dropping
  3
  $ sysbench --mix=oltp_write_only,r=oltp_read_only --db-driver=sqlite \
  >     --sqlite-db=s.db --table-size=10 prepare 2>err >out
  [1]
  $ tail -n 1 err
  Workloads that use the same tables are prepared by one of them, without --mix.

Errors.

  $ mix() { sysbench "$@" --db-driver=null --time=1 run >out; }
  $ mix --mix=view.lua:0
  Invalid value for the 'mix' option: workload 1, 'view.lua:0': the weight must be above 0 and at most 1000000000
  [1]
  $ mix --mix=view.lua,view.lua:2
  Invalid value for the 'mix' option: workload 2, 'view.lua:2': this name occurs twice; give other names: a=WORKLOAD,b=WORKLOAD
  [1]
  $ mix --mix=view.lua,nosuch
  FATAL: Cannot find benchmark 'nosuch': no such built-in test, file or module (searched: the current folder, the Lua path, *) (glob)
  [1]
  $ mix --mix=view.lua,cpu
  --mix: 'cpu' is a built-in test; only scripts can be mixed
  [1]
  $ mix --mix=view.lua,edit --view.tabels=3
  invalid option: --view.tabels (did you mean --view.tables?)
  [1]
  $ mix --mix=view.lua,edit --view.threads=3
  --view.threads: --threads applies to all workloads of a mix
  [1]
  $ for name in threads report-operations verbosity report debug repeat sweep \
  >     db-debug db-ps-mode server-stats config-file mix rand-seed; do
  >     mix --mix=view.lua,edit --view.$name=1 2>&1 | grep -q 'applies to all' ||
  >         echo "--$name is accepted"
  > done
  $ sysbench --mix=view.lua,edit --view.rand-type=uniform --edit.sqlite-db=x.db \
  >     --edit.db-driver=sqlite --print-config run | grep '^[a-z]*\.' | cut -d' ' -f1
  view.rand-type=uniform
  edit.sqlite-db=x.db
  edit.db-driver=sqlite
  $ mix --mix=view.lua:8,edit --mix-by=users --threads=4
  --mix-by=users: 4 users are too few for one user per workload; with these weights, the minimum is --threads=5
  [1]
  $ mix --mix=view.lua:8,edit --mix-by=users --stages='threads=1..4 for 1s'
  --mix-by=users: the users of the stages are too few for the workload 'edit' to have one in any of them
  [1]
  $ mix --mix=view.lua,edit --assert='veiw.p99<1s'
  --assert: 'veiw.p99<1s', character 1: no workload is called 'veiw', and operations of a mix are called WORKLOAD/NAME (did you mean view?)
  [1]
  $ mix --mix=view.lua:8,edit --mix-by=users --time=0.01 \
  >     --stages='threads=4 for 1s; threads=2, mix=view/edit for 1s'
  $ mix --mix=view.lua,read.lua
  Invalid value for the 'mix' option: workload 2, 'read.lua': this name has another meaning in limits and figures; another one can be given: NAME=WORKLOAD
  [1]
  $ mix --mix=view.lua,edit --stages='mix=view:1/other:2 for 1s'
  Invalid value for the 'stages' option: stage 1, character 1, 'mix=view:1/other:2': 'other' is not in --mix, which has view, edit
  [1]
  $ sysbench --mix=view.lua edit.lua run >out
  --mix and the test 'edit.lua' cannot be combined
  [1]
  $ sysbench --mix=view.lua prepare run >out
  --mix already names the workloads; only a command may follow, not 'prepare run'
  [1]
  $ sysbench --mix=view.lua,edit check >out
  no workload of --mix implements the 'check' command.
  [1]
  $ sysbench --mix=view.lua,edit >out
  --mix requires a command, such as prepare, run or cleanup
  [1]

A script for 1.0 may have an option of that name.

  $ cat >mix.lua <<'END'
  > sysbench.cmdline.options = { mix = { "Kind of mix", "none" } }
  > function event() if not told then print(sysbench.opt.mix) told = 1 end end
  > END
  $ sysbench mix.lua --mix=9:x --db-driver=null --events=1 --verbosity=1 run
  9:x
  $ echo 'function event() if not told then print(mix, kind) told = 1 end end' >global.lua
  $ sysbench --test=global.lua --mix=3 --kind=x --events=1 --verbosity=0 run
  3\tx (esc)
  $ sysbench global.lua --mix=3 --events=1 --verbosity=0 run
  3\tnil (esc)

A sweep over a mix. The commands between the runs are those of its workloads.

  $ cat >note.lua <<'END'
  > function event() end
  > function prepare() local f = io.open("noted", "a") f:write("x\n") f:close() end
  > END
  $ sysbench --mix=note.lua,edit --db-driver=null --events=20 \
  >     --sweep=threads=1,2 --sweep-before=prepare run | grep -c '^\['
  2
  $ cat noted
  x
  x
  $ sysbench --mix=note.lua,edit --db-driver=null --events=20 \
  >     --sweep=threads=1,2 --sweep-before=nosuch --verbosity=0 run
  --sweep-before: 'note.lua,edit' test does not implement the 'nosuch' command.
  [1]
  $ sysbench --mix=note.lua,edit --db-driver=null --threads=2 --events=20 \
  >     --sweep=mix-by=events,users run | grep -c '^\['
  2
  $ sysbench --mix=note.lua:3,edit --db-driver=null --threads=2 --events=20 \
  >     --sweep=mix-by=events,users run >out
  --mix-by=users: 2 users are too few for one user per workload; with these weights, the minimum is --threads=3
  [1]
  $ grep '^\[' out
  [1]

A mix cannot be swept; an option of a script of this name can.

  $ sysbench --sweep=mix=note.lua,edit --verbosity=0 run
  --sweep: --mix cannot be swept; measure each mix in a run of its own, and compare the results
  [1]
  $ sysbench --mix=note.lua --sweep=mix=note.lua,edit --verbosity=0 run
  --sweep: --mix cannot be swept; measure each mix in a run of its own, and compare the results
  [1]
  $ sysbench mix.lua --events=1 --sweep=mix=a,b run | grep -c '^\['
  2

A sweep continues with the same workloads only.

  $ echo 'function event() if io.open("no") then error("no") end end' >fail.lua
  $ touch no
  $ sweep() { sysbench "$@" --events=1 --sweep=threads=1,2 --report=json=f.json run; }
  $ sweep --mix=fail.lua >out 2>err
  [1]
  $ rm no
  $ sweep --mix=note.lua --sweep-resume 2>&1 >out | sed 's/.*: //'
  the test differs from that of the interrupted sweep; give the same options, or remove the folder and begin again without --sweep-resume
  $ sweep --mix=fail.lua --sweep-resume >out
