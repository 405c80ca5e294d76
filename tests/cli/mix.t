SPDX-License-Identifier: GPL-2.0-or-later

A mix of workloads: --mix.

  $ cat >read.lua <<'END'
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
  >    print("read: prepare", sysbench.opt.tables, sysbench.opt.word)
  > end
  > function thread_done() con:disconnect() end
  > END
  $ cat >write.lua <<'END'
  > sysbench.cmdline.options = { tables = { "Number of tables", 2 } }
  > local hits = sysbench.metric and sysbench.metric("hits")
  > function thread_init() con = sysbench.sql.driver():connect() end
  > function event()
  >    con:query("UPDATE t SET x = 1")
  >    con:query("UPDATE t SET x = 2")
  >    hits:add(1)
  > end
  > function prepare() print("write: prepare", sysbench.opt.tables) end
  > sysbench.hooks.report_line = function(r)
  >    return "write: hits " .. (r.metrics.hits and r.metrics.hits.sum or 0)
  > end
  > END

Each workload has its own figures. The seed decides which events are whose: of 9000,
981 is within what chance allows for one in nine.

  $ sysbench --mix=read.lua:8,write:1 --db-driver=null --events=9000 \
  >     --rand-seed=5 --report-operations --report=json=a.json run >out
  $ grep '^Mix' out
  Mix by events: read.lua:8,write:1
  $ table() { sed -n "/^$1/,/^\$/p" | awk '{ print $1, $2, $4 }'; }
  $ table Workload <out
  Workload (ms) per
  read 8019 0
  write 981 0
    
  $ table Operation <out
  Operation (ms) per
  read/select 8019 0
  read/part 8019 0
  write/update 1962 0
    
  $ grep hits out | awk '{ print $1, $2, $3 }'
  write/hits 981 * (glob)
  write: hits 981
  $ grep 'total number of events' out
      total number of events:              9000

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

  $ sysbench --mix=read.lua,write --tables=4 --write.tables=7 --read.word=w prepare |
  >     grep prepare
  read: prepare\t4\tw (esc)
  write: prepare\t7 (esc)
  $ cat >mix.cnf <<'END'
  > mix=read.lua:8,w=write.lua:1
  > db-driver=null
  > [read]
  > tables=11
  > [write]
  > tables=5
  > END
  $ sysbench --config-file=mix.cnf prepare
  sysbench * (glob)
  
  Workload read:
  read: prepare\t11\tx (esc)
  
  Workload w:
  write: prepare\t5 (esc)
  
  $ sysbench --config-file=mix.cnf --w.tables=6 --read.rand-type=zipfian \
  >     --print-config prepare | grep -e '^mix' -e 'tables=' -e 'rand-type'
  mix=read.lua:8,w=write.lua:1     # mix.cnf:1
  #rand-type=special               # default
  read.tables=11                   # mix.cnf:4
  read.rand-type=zipfian           # command line
  w.tables=6                       # command line

The same workload twice, with names. Drivers of their own. A secret is not shown.

  $ sysbench --mix=a=read.lua,b=read.lua --a.db-driver=null \
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
  $ sysbench --mix=a=read.lua --a.mysql-password=geheim --print-config run |
  >     grep 'a.mysql-password'
  #a.mysql-password=*** * (glob)

Weights by stages. Result files have the mix in force and are read back.

  $ sysbench --mix=read.lua,write.lua --db-driver=null \
  >     --stages='mix=read for 0.3s; both: mix=read:1/write:3 for 0.3s' \
  >     --report=json=s.json run >out
  $ grep -o '"mix":"[^"]*"' s.json
  "mix":"read:1"
  "mix":"read:1/write:3"
  $ sysbench show s.json | sed -n '/^Workload/,$p' | awk '{ print $1 }'
  Workload
  read
  write
  
  Stages
  mix=read
  both
  
  Counter
  write/hits
  

By users, one of two changes its workload: it comes again. On a busy machine that may
take longer than a stage.

  $ for s in 0.2 1 5 25; do
  >     sysbench --mix=one.lua,two --mix-by=users --threads=2 --report-operations \
  >         --stages="mix=one for $s; mix=one/two for $s" run >out
  >     ! grep -q '^two' out || break
  > done
  $ grep -e '^one$' -e '^two$' out
  one
  one
  two
  $ grep '^connect' out | awk '{ print $1, $2 }'
  connect 1
  $ "$SB_SRCDIR/tests/check-result" a.json b.json s.json

Limits of one workload. Restarts and failed events are counted for each.

  $ sysbench --mix=read.lua,write.lua --db-driver=null --events=100 \
  >     --assert='read.count>20, write/update.errors==0, read.p95<1s' run |
  >     sed -n '/^Limits/,$p' | awk '{ print $1, $NF }'
  Limits: Limits:
  read.count>20 kept
  write/update.errors==0 kept
  read.p95<1s kept
   
  $ cat >retry.lua <<'END'
  > local n = 0
  > function event()
  >    n = n + 1
  >    if n % 4 == 0 then
  >       error({ errcode = sysbench.error.RESTART_EVENT })
  >    end
  > end
  > sysbench.hooks.report_cumulative = function() print("not called") end
  > END
  $ sysbench --mix=retry.lua,read.lua --db-driver=null --events=90 \
  >     --rand-seed=2 --restart-backoff=0 run 2>err >out
  $ n=$(awk '$1 == "retry" { print $2 " " $4 }' out)
  $ awk '$1 == "retry/restarts" { print $2 }' out >restarts
  $ echo $n $(cat restarts) | awk '{ print ($2 == $3 && $2 == int(($1 + $2) / 4)) }'
  1
  $ grep WARNING err
  WARNING: the report hooks of 'retry' are not called in a mix

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
  $ sysbench --mix=own.lua,read.lua --db-driver=null --events=10 run >out
  --mix: 'own' has an event loop of its own, thread_run(): use --mix-by=users
  [1]
  $ sysbench --mix=own.lua,read.lua --mix-by=users --threads=2 \
  >     --db-driver=null --events=10 run | grep 'total number'
      total number of events:              10
  $ echo 'local n = 0 function event() n = n + 1 return n > 5 end' >end.lua
  $ sysbench --mix=end.lua,read.lua --db-driver=null --time=1h run |
  >     awk '$1 == "end" { print $1, $2 }'
  end 5

Old scripts, which declare no options, get all settings that the program does not have.

  $ cat >old.lua <<'END'
  > function event()
  >    if not told then print(size, word, flag, bare) told = 1 end
  > end
  > END
  $ sysbench --mix=old.lua,read.lua --size=5 --old.word=a --old.flag --bare \
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
  FATAL: `prepare' function failed: ...
  $ sysbench $options cleanup | grep -c Dropping
  3
  $ sysbench --mix=oltp_write_only,r=oltp_read_only --db-driver=sqlite \
  >     --sqlite-db=s.db --table-size=10 prepare 2>err >out
  [1]
  $ tail -n 1 err
  Workloads that use the same tables are prepared by one of them, without --mix.

Errors.

  $ mix() { sysbench "$@" --db-driver=null --time=1 run >out; }
  $ mix --mix=read.lua:0
  Invalid value for the 'mix' option: workload 1, 'read.lua:0': the weight must be above 0 and at most 1000000000
  [1]
  $ mix --mix=read.lua,read.lua:2
  Invalid value for the 'mix' option: workload 2, 'read.lua:2': this name occurs twice; give other names: a=WORKLOAD,b=WORKLOAD
  [1]
  $ mix --mix=read.lua,nosuch
  FATAL: Cannot find benchmark 'nosuch': no such built-in test, file or module
  [1]
  $ mix --mix=read.lua,cpu
  --mix: 'cpu' is a built-in test; only scripts can be mixed
  [1]
  $ mix --mix=read.lua,write --read.tabels=3
  invalid option: --read.tabels (did you mean --read.tables?)
  [1]
  $ mix --mix=read.lua,write --read.threads=3
  --read.threads: --threads applies to all workloads of a mix
  [1]
  $ mix --mix=read.lua:8,write --mix-by=users --threads=4
  --mix-by=users: 4 users are too few for each workload to have one; with these weights the minimum is --threads=5
  [1]
  $ mix --mix=read.lua,write --stages='mix=read:1/other:2 for 1s'
  Invalid value for the 'stages' option: stage 1, character 1, 'mix=read:1/other:2': 'other' is not in --mix, which has read, write
  [1]
  $ sysbench --mix=read.lua write.lua run >out
  --mix names the workloads: 'write.lua' cannot be given, too
  [1]
  $ sysbench --mix=read.lua,write check >out
  'read' does not implement the 'check' command.
  'write' does not implement the 'check' command.
  [1]
  $ sysbench --mix=read.lua,write >out
  --mix requires a command, such as prepare, run or cleanup
  [1]

A script for 1.0 may have an option of that name.

  $ cat >mix.lua <<'END'
  > sysbench.cmdline.options = { mix = { "Kind of mix", "none" } }
  > function event() if not told then print(sysbench.opt.mix) told = 1 end end
  > END
  $ sysbench mix.lua --mix=9:x --db-driver=null --events=1 --verbosity=1 run
  9:x

A sweep over a mix. The commands between the runs are those of its workloads.

  $ cat >note.lua <<'END'
  > function event() end
  > function prepare() local f = io.open("noted", "a") f:write("x\n") f:close() end
  > END
  $ sysbench --mix=note.lua,write --db-driver=null --events=20 \
  >     --sweep=threads=1,2 --sweep-before=prepare run | grep -c '^\['
  2
  $ cat noted
  x
  x
  $ sysbench --mix=note.lua,write --db-driver=null --events=20 \
  >     --sweep=threads=1,2 --sweep-before=nosuch --verbosity=0 run
  --sweep-before: 'note.lua,write' test does not implement the 'nosuch' command.
  [1]
