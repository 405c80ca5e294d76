SPDX-License-Identifier: GPL-2.0-or-later

--report-context says at the end of the report what was measured.

  $ run() { sysbench oltp_point_select --db-driver=null --events=5 "$@" run; }
  $ context() { sed -n '/^Context:/,$p'; }
  $ run --rand-seed=7 --label=disk=nvme,note=first --report-context >text
  $ context <text | sed -e 's/20[0-9-]*T[0-9:.]*Z/TIME/' \
  >     -e '/ host:\| processor:\| machine:\| system:\| limits of /d'
  Context:
      workload:                            oltp_point_select
      started:                             TIME
      seed:                                7
      users:                               1, with a thread
      label disk:                          nvme
      label note:                          first
  
  Server:
      name:                                null driver
      driver:                              null
      client library:                      none
      statements:                          sent by the client library
      settings:
          latency:                         0
  
  $ grep -c ' host:\| machine:\| system:' text
  3

How users were run: what the run had, not what was asked for.

  $ users() { sed -n 's/^    users:  *//p'; }
  $ run --threads=3 --workers=2 --event-loop=epoll --report-context | users
  3, on 2 workers (epoll, batch)
  $ run --threads=3 --workers=8 --rate=1000 --event-loop=epoll --report-context | users
  3, on 3 workers (epoll, normal)
  $ run --threads=3 --report-context | users
  3, each with a thread
  $ run --workers=1 --report-context | users | sed 's/io_uring/epoll/'
  1, on 1 worker (epoll, batch)
  $ sysbench threads --threads=2 --workers=2 --events=1 --report-context run 2>&1 |
  >     grep -v "no effect" | users
  2, each with a thread

How a run was measured, for those who want to judge or repeat it. The command line is as
a shell reads it.

  $ unset SYSBENCH_REPORT_COSTS
  $ lite="--db-driver=sqlite --sqlite-db=my.db"
  $ sysbench oltp_point_select $lite --table-size=100 prepare >/dev/null
  $ echo 'table-size=100' >sysbench.cnf
  $ SYSBENCH_EVENTS=5 SYSBENCH_REPORT_VALIDITY=auto sysbench oltp_point_select \
  >     --config-file=sysbench.cnf $lite --rand-seed=7 --time=0 \
  >     --label="note=it's slow,link=http://u:SECRET@host/" \
  >     --report=none,json=d.json run 2>/dev/null
  $ sysbench show --disclosure d.json >text
  $ sed -n '1,/^Program/p' text
  How this was measured
  
  Command line:
      sysbench --events=5 --time=0 --rand-seed=7 --report-validity=auto \
          '--label=note=it'\''s slow,link=http://u:***@host/' \
          --db-driver=sqlite --sqlite-db=my.db --table_size=100 \
          oltp_point_select run
  
  Program:
  $ sed -n '/^Run/,/^Server/p' text | sed -e 's/20[0-9-]*T[0-9:.]*Z/TIME/' \
  >     -e '/ host:\| processor:\| machine:\| system:\| limits of \| clock \| freq/d' \
  >     -e 's/[0-9.]* s$/SECONDS/'
  Run:
      measured part:                       SECONDS
      workload:                            oltp_point_select
      started:                             TIME
      seed:                                7
      users:                               1, with a thread
      label note:                          it's slow
      label link:                          http://u:***@host/
  
  Server:
  $ sed -n '/^Server/,/^Validity/p' text | grep -v '^ *[A-Z_]*:' |
  >     sed "s|SQLite [0-9.]*|SQLite|; s|$PWD|DIR|; s|[0-9a-f]\{64\}|SUM|; /^Val/d" |
  >     sed 's/[0-9.]* MB/SIZE/'
  Server:
      name:                                SQLite
      address:                             DIR/my.db
      driver:                              sqlite
      client library:                      SQLite
      statements:                          sent by the client library
      settings, without the defaults of the server:
          journal_mode:                    wal
          synchronous:                     1
  
  Scripts, with the SHA-256 of their files:
      oltp_point_select.lua    SUM
      oltp_common.lua          SUM
      dialect.lua              SUM
      generic.lua              SUM
      options.lua              SUM
      sbtest.lua               SUM
      sbtest_check.lua         SUM
      check.lua                SUM
      tables.lua               SUM
      sqlite.lua               SUM
  
  Data that was used, after the run, as the server says:
      database:                            SIZE
      sbtest1:                             100 rows
  
  $ eval "$(sed -n '/^Command/,/^$/p' text | sed 1d) --report=none,json=again.json" 2>/dev/null
  $ /usr/bin/python3 -c "import json
  > options = lambda name: [(o['name'], o['value']) for o in json.load(
  >     open(name))['runs'][0]['options'] if o['name'] not in
  >     ('report', 'config-file')]
  > print([(a, b) for a, b in zip(options('d.json'), options('again.json')) if a != b])"
  []

It has the older name of --events, but not when the run began or where its files were.
Long values are cut.

  $ command_of() { sysbench show --disclosure $1 | sed -n '/^Command/,/^$/p'; }
  $ sysbench oltp_point_select --db-driver=null --max-requests=5 --config-strict=off \
  >     --report=none,json=1.json run
  WARNING: --max-requests is deprecated, use --events instead
  $ command_of 1.json | grep -o -e '--max-requests=5' -e '--events' -e '--config[^ ]*'
  --max-requests=5
  $ run --label=long=$(printf '%5000s' | tr ' ' x) --report=none,json=long.json
  $ command_of long.json | grep -o 'xxx[.][.]*'
  xxx...

The SHA-256 is what sha256sum prints.

  $ grep -c "$(sha256sum <"$SB_SRCDIR/tests/lua/oltp_common.lua" | cut -c1-64)" text
  1

Of several processes, the first one is known; older files do not say it.

  $ run --threads=3 --workers=2 --event-loop=epoll --report=none,json=1.json
  $ run --threads=2 --report=none,json=2.json
  $ sysbench merge 1.json 2.json 2>/dev/null | sysbench show --report-context - | users
  5; those of the first process on 2 workers (epoll, batch)
  $ sysbench merge 2.json 1.json 2>/dev/null | tee sum.json |
  >     sysbench show --report-context - | users
  5; those of the first process on 2 workers (epoll, batch)
  $ command_of sum.json
  Command line: none, merged from 2 runs
  
  $ /usr/bin/python3 -c "import json
  > print([(m['threads'], m['workers'], m['event_loop'], m['worker_policy'])
  >        for m in json.load(open('sum.json'))['runs'][0]['merged']])"
  [(2, None, None, None), (3, 2, 'epoll', 'batch')]
  $ sed 's/"workers":2,//' 1.json | sysbench show --report-context - | users

The context is not printed without the option, below verbosity 3, without the text
report, after a report hook of the script, or by other commands.

  $ run >text; context <text
  $ run --report-context --verbosity=0
  $ run --report-context --report=none
  $ run --report-context --report=none,json=- | head -c 10
  {"format": (no-eol)
  $ sysbench oltp_point_select --db-driver=null prepare --report-context | context
  $ cat >own.lua <<'EOF'
  > function event() end
  > function sysbench.hooks.report_cumulative(stat) print("own") end
  > EOF
  $ sysbench own.lua --events=1 --report-context run | sed -n '/own/,$p'
  own

Built-in tests and scripts without a database; a script's own option of that
name.

  $ sysbench cpu --events=1 --report-context run | context | grep -c 'workload: *cpu'
  1
  $ echo 'function event() end' >e.lua
  $ sysbench e.lua --events=1 --report-context run | grep -c '^Server:'
  0
  [1]
  $ cat >taken.lua <<'EOF'
  > sysbench.cmdline.options = { report_context = {"mine", 3} }
  > function event() print(sysbench.opt.report_context) end
  > EOF
  $ sysbench taken.lua --events=1 --report-context=5 run | grep -x -e 5 -e Context:
  5

`sysbench show` prints the context of the run in a file.

  $ run --report-context --report=json=r.json >text
  $ context <text >of-run
  $ sysbench show r.json | context | diff of-run -
  $ sysbench show --report-context=off r.json | context
  $ run --report=none,json=s.json
  $ sysbench show s.json | context
  $ sysbench show --report-context s.json | context | grep -c '^    name: *null driver'
  1
  $ sysbench show --report-context --verbosity=0 s.json | context
