SPDX-License-Identifier: GPL-2.0-or-later

Not with tsan: one thread.

Wrong usage: one sentence on standard error names the option and the limit,
nothing else is printed, and the exit status is 1.

  $ echo 'function event() end' >e.lua
  $ cat >own.lua <<'EOF'
  > sysbench.cmdline.options = {
  >    rows = {"rows", 10}, ["batch-size"] = {"rows at once", 5},
  > }
  > function event() end
  > EOF
  $ sb() { sysbench "$@" --events=1 2>&1 >out; }

The message for an unknown option suggests the most similar one, with dashes or
underscores as the user typed them.

  $ sb own.lua run --rwos=3
  invalid option: --rwos (did you mean --rows?)
  [1]
  $ sb own.lua run --batch_sise=3
  invalid option: --batch_sise (did you mean --batch_size?)
  [1]
  $ sb cpu run --cpu-max-prim=3
  invalid option: --cpu-max-prim (did you mean --cpu-max-prime?)
  [1]
  $ sb cpu run --nothing-like-it
  invalid option: --nothing-like-it
  [1]
  $ sb cpu run -x
  invalid option: -x (options begin with two dashes)
  [1]
  $ sb cpu run -pSECRET
  invalid option: -p*** (options begin with two dashes)
  [1]
  $ sb cpu run -pSECRET==
  invalid option: -p*** (options begin with two dashes)
  [1]
  $ sb cpu run --beside-outptu=x
  invalid option: --beside-outptu (did you mean --beside-output?)
  [1]
  $ sb cpu run -p SECRET
  invalid option: -p (options begin with two dashes)
  [1]
  $ sb oltp_read_only --mysql-password SECRET run
  Unrecognized command line argument after --mysql-password: write --mysql-password=...
  [1]
  $ sb --mysql-password SECRET oltp_read_only run
  Unrecognized command line argument after --mysql-password: write --mysql-password=...
  [1]
  $ sb --password SECRET run
  Unrecognized command line argument after --password: write --password=...
  [1]
  $ sb --auth-token SECRET
  Unrecognized command line argument after --auth-token: write --auth-token=...
  [1]
  $ sb oltp_read_only --db-driver=sqlite run --mysql-pasword SECRET
  Unrecognized command line argument after --mysql-pasword: write --mysql-pasword=...
  [1]

No message shows a secret of an argument, wherever it is written.

  $ for a in -p=SECRET --mysql-passwordSECRET --mysql-password:SECRET \
  >     --mysql-paswordSECRET --mysql-pasword:SECRET --mysql-pasword=SECRET \
  >     --sweep=mysql-password:SECRET password=SECRET me://u:SECRET@host \
  >     --label=password:SECRET --stages=password=SECRET --assert=pwd=SECRET \
  >     --report=json=http://u:SECRET@h/ --report=web=u:SECRET@h \
  >     --report=u:SECRET@h --db-driver=me://u:SECRET@h \
  >     --config-file=me://u:SECRET@h --help=token=SECRET; do
  >     sb cpu run "$a" 2>&1 | grep .
  > done | sed 's/ (must be one of.*//; s/ in [^ ]*; drivers:.*//'
  invalid option: -p=*** (options begin with two dashes)
  invalid option: --mysql-password... (did you mean --mysql-password=...?)
  invalid option: --mysql-password... (did you mean --mysql-password=...?)
  invalid option: --mysql-pasw... (did you mean --mysql-password=...?)
  invalid option: --mysql-pasw... (did you mean --mysql-password=...?)
  invalid option: --mysql-pasword (did you mean --mysql-password?)
  --sweep: 'mysql-password:***' is not of the form OPTION=VALUE,VALUE,...
  Unrecognized command line argument: password=***
  Unrecognized command line argument: me://u:***@host
  --label: 'password:***' is not of the form KEY=VALUE
  Invalid value for the 'stages' option: stage 1, character 1, 'password=***': there is no setting 'password'; a stage has threads, rate and mix
  --assert: 'pwd=***', character 4: expected one of < <= > >= == !=
  FATAL: --report=json: cannot write http://u:***@h/: No such file or directory
  FATAL: --report=web: 'u:***@h' is not an address and a port, such as 127.0.0.1:8080
  --report: unknown report 'u:***@h'
  FATAL: there is no driver 'me://u:***@h'
  FATAL: cannot read the config file 'me://u:***@h': No such file or directory
  Invalid value for the 'help' option: 'token=***'
  $ sb me://u:SECRET@host run 2>&1 | sed 's/ (searched.*//'
  FATAL: Cannot find benchmark 'me://u:***@host': no such built-in test, file or module
  $ sb cpu token=SECRET
  Unknown command: token=***. Supported commands: help, run
  [1]
  $ printf 'mysql-password =\nSECRET\n[me://u:SECRET@h]\n' >secret.cnf
  $ sb cpu run --config-file=secret.cnf --time=0.1 | grep WARNING
  WARNING: secret.cnf:2: unknown option; a value must be in the line of its option
  $ sb cpu run --config-file=secret.cnf --config-strict
  secret.cnf:3: unknown workload in [me://u:***@h]
  [1]
  $ sysbench oltp_read_only --db-driver=null --mysql-password run --events=1 |
  >     grep -c 'total number of events: *1$'
  1
  $ sb cpu run -percentile=99
  invalid option: -percentile=99 (options begin with two dashes)
  [1]
  $ sb cpu run -pgsql-host=db
  invalid option: -pgsql-host=db (options begin with two dashes)
  [1]
  $ echo 'mysql-user=mysql -p SECRET' >one.cnf
  $ sysbench oltp_read_only --config-file=one.cnf --print-config run | grep -o "^#mysql-user=mysql -p [^ ]*"
  #mysql-user=mysql -p ***
  $ echo '--threads=4 --mysql-password SECRET run' >one.cnf
  $ sb cpu --config-file=one.cnf run
  Invalid value for the 'threads' option: '4 --mysql-password *** run' (must be a whole number), set by one.cnf:1
  [1]
  $ sb cpu run --
  invalid option: -- (a name must follow the dashes)
  [1]
  $ sb cpu run --threads 4
  Invalid value for the 'threads' option: '' (must be a whole number; write --threads=...)
  [1]

Old scripts declare no options: unknown options become globals, with a warning
if they are similar to an option.

  $ sb e.lua run --trheads=3
  WARNING: unknown option --trheads is passed to the script as a global; did you mean --threads?
  $ sb e.lua run --tabel-size=3
  WARNING: unknown option --tabel-size is passed to the script as a global; did you mean --table-size?
  $ sb e.lua run --oltp_tabel_size=3
  WARNING: unknown option --oltp_tabel_size is passed to the script as a global; did you mean --oltp_table_size?
  $ sb e.lua run --nothing-like-it=3 --table-size=3 --oltp-table-size=3

Values of the wrong type.

  $ sb e.lua run --threads=x
  Invalid value for the 'threads' option: 'x' (must be a whole number)
  [1]
  $ sb e.lua run --rate=fast
  Invalid value for the 'rate' option: 'fast' (must be a number, a percentage such as 80%, or max)
  [1]
  $ sb e.lua run --time=10x
  Invalid value for the 'time' option: '10x' (must be a duration such as 10, 250ms or 1h30m)
  [1]
  $ sb e.lua run --thread-stack-size=1Z
  Invalid value for the 'thread-stack-size' option: '1Z' (must be a size such as 512, 64K or 10M)
  [1]
  $ sb e.lua run --debug=maybe
  Invalid value for the 'debug' option: 'maybe' (must be on or off)
  [1]
  $ sb e.lua run --rand-type=odd
  Invalid value for the 'rand-type' option: 'odd' (must be one of uniform, gaussian, special, pareto, zipfian)
  [1]
  $ sb own.lua run --rows=many
  Invalid value for the 'rows' option: 'many' (must be a number)
  [1]

Values out of range.

  $ sb e.lua run --threads=0
  Invalid value for the 'threads' option: '0' (the minimum is 1)
  [1]
  $ sb e.lua run --threads=2M
  Invalid value for the 'threads' option: '2M' (the maximum is 1000000)
  [1]
  $ sb e.lua run --threads=99999999999999999999
  Invalid value for the 'threads' option: '99999999999999999999' (the maximum is 1000000)
  [1]
  $ sb e.lua run --time=-5
  Invalid value for the 'time' option: '-5' (the minimum is 0s)
  [1]
  $ sb e.lua run --verbosity=9
  Invalid value for the 'verbosity' option: '9' (the maximum is 5)
  [1]
  $ sb e.lua run --rate=-1
  Invalid value for the 'rate' option: '-1' (the minimum is 0)
  [1]

Combinations of options.

  $ sb e.lua run --percentile=0 --histogram
  --histogram cannot be used with --percentile=0
  [1]
  $ sb e.lua run --report-checkpoints=2,1
  Invalid value for the 'report-checkpoints' option: '1' (seconds, each later than the one before)
  [1]
  $ sb e.lua run --forced-shutdown=soon
  Invalid value for the 'forced-shutdown' option: 'soon' (seconds, a percentage of --time, or 'off')
  [1]

Tests, commands and drivers that do not exist.

  $ sb nosuch run
  FATAL: Cannot find benchmark 'nosuch': no such built-in test, file or module (searched: the current folder, the Lua path, *) (glob)
  [1]
  $ sb oltp_raed_write run
  FATAL: Cannot find benchmark 'oltp_raed_write': no such built-in test, file or module (did you mean oltp_read_write?)
  [1]
  $ sb mongodb/oltpp.lua run
  FATAL: Cannot find benchmark 'mongodb/oltpp.lua': no such built-in test, file or module (did you mean mongodb/oltp.lua?)
  [1]
  $ sb memry run
  FATAL: Cannot find benchmark 'memry': no such built-in test, file or module (did you mean memory?)
  [1]
  $ sb onw.lua run
  FATAL: Cannot find benchmark 'onw.lua': no such built-in test, file or module (did you mean own.lua?)
  [1]
  $ sb cpu
  The 'cpu' test requires a command argument. See 'sysbench cpu help'
  [1]
  $ sb cpu jump
  Unknown command: jump. Supported commands: help, run
  [1]
  $ sb oltp_read_write runn
  Unknown command: runn (did you mean run?). Supported commands: check, cleanup, help, prepare, prewarm, run, warmup
  [1]
  $ sb cpu run too much
  Unrecognized command line argument: too
  [1]
  $ sb oltp_point_select run --db-driver=nosuch | grep -o "no driver 'nosuch'"
  no driver 'nosuch'

Messages name the source of a wrong value.

  $ SYSBENCH_THREADS=x sb e.lua run
  Invalid value for the 'threads' option: 'x' (must be a whole number), set by SYSBENCH_THREADS
  [1]
  $ printf 'time=3\nthreads=x\n' >my.cnf
  $ sb e.lua run --config-file=my.cnf
  Invalid value for the 'threads' option: 'x' (must be a whole number), set by my.cnf:2
  [1]
  $ echo 'threads 3' >my.cnf
  $ sb e.lua run --config-file=my.cnf
  my.cnf:1: '=' must follow the option name
  [1]
  $ sb e.lua run --config-file=none.cnf
  FATAL: cannot read the config file 'none.cnf': No such file or directory
  [1]

Errors of installed workloads do not contain line numbers and function names of the
workload. Errors of a user's script do, as in 1.0.

  $ oltp() { sysbench oltp_read_write --db-driver=sqlite --verbosity=0 "$@"; }
  $ oltp --sqlite-db=/none/x prepare
  FATAL: connection creation failed: cannot open database '/none/x': unable to open database file: folder '/none': No such file or directory
  [1]
  $ oltp --tables=0 run
  FATAL: --tables must be from 1 to *, not 0 (glob)
  [1]
  $ oltp --check-tables=off --report-errors=off run
  FATAL: SQL error, errno = 1, state = '42S02': no such table: sbtest1 (* (glob)
  [1]
  $ cp "$SB_SRCDIR/tests/lua/oltp_read_write.lua" mine.lua
  $ echo 'function thread_init() error("no") end' >>mine.lua
  $ sysbench mine.lua --db-driver=sqlite --check-tables=off --verbosity=0 run 2>&1 | sed 's/:[0-9]*:/:N:/'
  FATAL: `thread_init' function failed: mine.lua:N: no
  $ sysbench --list | sed -n '/^Workloads/,/^$/s/^  \([^ ]*\) - .*/\1/p' >names
  $ wc -l <names | awk '{ print ($1 > 20) }'
  1
  $ while read -r name; do
  >     for command in prepare run check; do
  >         sysbench "$name" --db-driver=null --null-failure-rate=1 --null-failure=fatal \
  >             --events=3 --time=1 "$command" 2>&1 >/dev/null </dev/null |
  >             grep -e '[.]lua:[0-9]' -e "' function failed"
  >     done
  > done <names
  [1]

Two workloads are called oltp: the test of 0.4, and oltp.lua of 0.5. For an
option that only the other one has, the error says so.

  $ sb oltp run --oltp-tables-count=4
  invalid option: --oltp-tables-count (an option of oltp.lua, the 0.5 workload; 'sysbench oltp' runs the 0.4 test)
  [1]
  $ sb oltp.lua run --oltp_test_mode=simple
  invalid option: --oltp_test_mode (an option of 'sysbench oltp', the 0.4 test; oltp.lua is the 0.5 workload)
  [1]
  $ sb oltp run --nothing-like-it
  invalid option: --nothing-like-it
  [1]
  $ sysbench oltp help | sed -n 3p
  The test of sysbench 0.4; oltp.lua is the workload of 0.5.
  $ sysbench oltp.lua help | sed -n 3p
  The workload of sysbench 0.5; 'sysbench oltp', without .lua, is the test of 0.4.
  $ sysbench --list | grep -o -e '^  oltp.lua.*(.*)' -e '^  oltp_0_4.*run'
    oltp.lua - The classic OLTP mix with the options of sysbench 0.5 ('sysbench oltp', without .lua, runs oltp_0_4)
    oltp_0_4 - The test of sysbench 0.4, which 'sysbench oltp' and --test=oltp run

--new-workload writes a new file only.

  $ sysbench --new-workload=tpl
  Created the workload tpl.lua. To try it:
    sysbench tpl.lua --db-driver=sqlite --sqlite-db=tpl.db prepare
    sysbench tpl.lua --db-driver=sqlite --sqlite-db=tpl.db run
  $ head -5 tpl.lua | tail -1
  -- an account and its last transfers. Three tables: branches, accounts and
  $ grep -c bank tpl.lua
  0
  [1]
  $ sysbench --new-workload=tpl.lua
  FATAL: cannot write tpl.lua: File exists
  [1]
  $ sysbench --new-workload=a/b
  --new-workload must consist of letters, digits and '_', not 'a/b'
  [1]
  $ sysbench --new-workload=tpl.txt
  --new-workload must consist of letters, digits and '_', not 'tpl.txt'
  [1]
  $ sysbench --new-workload tpl2 2>&1 >out
  Invalid value for --new-workload: a name is required; write --new-workload=...
  [1]
  $ sysbench --new-workload </dev/null
  Invalid value for --new-workload: a name is required; write --new-workload=...
  [1]
  $ ls tpl2* 2>/dev/null
  [2]
