SPDX-License-Identifier: GPL-2.0-or-later

Not with tsan: one thread.

Sources of options and their precedence, units of values, the config file,
--print-config, and values that are never shown.

  $ cat >show.lua <<'EOF'
  > sysbench.cmdline.options = {
  >    rows = {"rows", 10},
  >    name = {"a text", "none"},
  >    ["fast-mode"] = {"a switch", false},
  >    parts = {"a list", {"a", "b"}},
  >    ["my-password"] = {"a secret", ""},
  > }
  > function prepare()
  >    local o = sysbench.opt
  >    print(("threads=%d time=%g rows=%d name=%s fast=%s parts=%s"):format(
  >       o.threads, o.time, o.rows, o.name, tostring(o.fast_mode),
  >       table.concat(o.parts, "+")))
  > end
  > EOF
  $ sb() { sysbench show.lua prepare "$@" | grep -v -e '^sysbench ' -e '^$'; }
  $ sb
  threads=1 time=10 rows=10 name=none fast=false parts=a+b

The command line overrides the environment, which overrides the config file,
which overrides defaults, both for options of the program and of scripts.

  $ cat >my.cnf <<'EOF'
  > # headers that name no workload, and comments, are skipped
  > [client]
  > threads = 2
  > --time=2   # two seconds
  > rows=2
  > name="two # not a comment"
  > parts=c,d
  > fast_mode
  > EOF
  $ sb --config-file=my.cnf
  threads=2 time=2 rows=2 name=two # not a comment fast=true parts=c+d
  $ export SYSBENCH_THREADS=3 SYSBENCH_ROWS=3 SYSBENCH_FAST_MODE=off
  $ sb --config-file=my.cnf
  threads=3 time=2 rows=3 name=two # not a comment fast=false parts=c+d
  $ sb --config-file=my.cnf --threads=4 --rows=4 --name= --parts=e
  threads=4 time=2 rows=4 name= fast=false parts=e

Dashes and underscores are equivalent. Deprecated names work with a warning; the
current name overrides them.

  $ sb --fast_mode --num-threads=5 --max-time=6
  WARNING: deprecated options: --num-threads (use --threads), --max-time (use --time)
  threads=5 time=6 rows=3 name=none fast=true parts=a+b
  $ sb --threads=6 --num_threads=5 2>&1
  WARNING: --num-threads is deprecated, use --threads instead
  threads=6 time=10 rows=3 name=none fast=false parts=a+b

Several share one line, which --verbosity hides or shows.

  $ sb --num-threads=5 --max-time=6 --verbosity=1
  threads=5 time=6 rows=3 name=none fast=false parts=a+b
  $ sb --num-threads=5 --max-time=6 --verbosity=2
  WARNING: deprecated options: --num-threads (use --threads), --max-time (use --time)
  threads=5 time=6 rows=3 name=none fast=false parts=a+b
  $ sb --num-threads=5 --verbosity=1 --debug
  WARNING: --num-threads is deprecated, use --threads instead
  threads=5 time=10 rows=3 name=none fast=false parts=a+b

The oldest name, --max-requests, removes the time limit if no time is given.

  $ sb --max-requests=10 2>err
  threads=3 time=0 rows=3 name=none fast=false parts=a+b
  $ sb --max-requests=10 --time=4 2>err
  threads=3 time=4 rows=3 name=none fast=false parts=a+b
  $ sb --events=10
  threads=3 time=10 rows=3 name=none fast=false parts=a+b
  $ unset SYSBENCH_THREADS SYSBENCH_ROWS SYSBENCH_FAST_MODE

Durations and numbers with units.

  $ sb --threads=1k --time=1h30m
  threads=1000 time=5400 rows=10 name=none fast=false parts=a+b
  $ sb --time=250ms
  threads=1 time=0.25 rows=10 name=none fast=false parts=a+b

Unknown options in the file or the environment are warnings, not errors.

  $ echo 'trheads=2' >typo.cnf
  $ SYSBENCH_NOTHING=1 sb --config-file=typo.cnf 2>&1
  WARNING: SYSBENCH_NOTHING is not an option
  WARNING: typo.cnf:1: unknown option 'trheads' (did you mean threads?)
  threads=1 time=10 rows=10 name=none fast=false parts=a+b

With --config-strict they are errors, as on the command line.

  $ sb --config-file=typo.cnf --config-strict 2>&1
  typo.cnf:1: unknown option 'trheads' (did you mean threads?)
  [1]
  $ sysbench show.lua prepare --config-file=typo.cnf --config-strict 2>&1 >out
  typo.cnf:1: unknown option 'trheads' (did you mean threads?)
  [1]
  $ (echo config-strict; cat typo.cnf) >strict.cnf
  $ sb --config-file=strict.cnf 2>&1
  strict.cnf:2: unknown option 'trheads' (did you mean threads?)
  [1]

Sections apply to the workload they name and override the settings above them.
In a file with sections, unknown options are errors, except in the sections of
other workloads.

  $ cat >sections.cnf <<'EOF'
  > threads = 2
  > rows = 2
  > [cpu, memory]
  > cpu-max-prime = many
  > tabel-size = 3
  > [sh*]  # as --list would name it
  > rows = 3
  > [oltp_*]
  > rows = 4
  > [no_such_test]
  > rows = 5
  > [show.lua]
  > name = mine
  > EOF
  $ sb --config-file=sections.cnf 2>&1
  WARNING: sections.cnf:10: unknown workload in [no_such_test]; its settings are ignored
  threads=2 time=10 rows=3 name=mine fast=false parts=a+b
  $ sb --config-file=sections.cnf --config-strict 2>&1
  sections.cnf:10: unknown workload in [no_such_test]
  [1]
  $ sb --config-file=sections.cnf --rows=6 --verbosity=1 2>&1
  threads=2 time=10 rows=6 name=mine fast=false parts=a+b
  $ sed -i '/no_such/,+1d; s/^name/nmae/' sections.cnf
  $ sb --config-file=sections.cnf 2>&1
  sections.cnf:11: unknown option 'nmae' (did you mean name?)
  [1]
  $ sed -i '/nmae/d; s/^threads/trheads/' sections.cnf
  $ sb --config-file=sections.cnf 2>&1
  sections.cnf:1: unknown option 'trheads' (did you mean threads?)
  [1]
  $ sed -i 's/^trheads/threads/' sections.cnf
  $ sysbench cpu run --config-file=sections.cnf 2>&1 | tail -n 1
  Invalid value for the 'cpu-max-prime' option: 'many' (must be a whole number), set by sections.cnf:4

The two workloads called oltp are distinguished as on the command line.

  $ cat >oltp.cnf <<'EOF'
  > [oltp]
  > oltp-table-size = 4
  > [oltp.lua]
  > oltp-table-size = 5
  > [mongodb/oltp]
  > table-size = 6
  > EOF
  $ for test in oltp oltp_0_4.lua oltp.lua mongodb/oltp; do
  >     sysbench $test --config-file=oltp.cnf --print-config |
  >         grep '^[a-z_]*table[-_]size'
  > done
  oltp_table_size=4                # oltp.cnf:2
  oltp_table_size=4                # oltp.cnf:2
  oltp_table_size=5                # oltp.cnf:4
  table_size=6                     # oltp.cnf:6

Invalid section headers.

  $ printf '[show\nrows=1\n' >broken.cnf; sb --config-file=broken.cnf 2>&1
  broken.cnf:1: no closing bracket
  [1]
  $ echo '[show] rows=1' >broken.cnf; sb --config-file=broken.cnf 2>&1
  broken.cnf:1: text after the closing bracket
  [1]
  $ echo '[ ]' >broken.cnf; sb --config-file=broken.cnf 2>&1
  broken.cnf:1: no section name
  [1]

The file can also name the test.

  $ echo 'test=show.lua' >test.cnf
  $ sysbench --config-file=test.cnf prepare | tail -n 1
  threads=1 time=10 rows=10 name=none fast=false parts=a+b

A command line is no line of a config file, unless it is a value in quotes.

  $ echo 'name=me --threads=2 --rows=3' >line.cnf
  $ sb --config-file=line.cnf
  line.cnf:1: another option follows the value; write one option per line, or put the value in quotes
  [1]
  $ echo 'name=me --rows=3' >line.cnf
  $ sb --config-file=line.cnf
  line.cnf:1: another option follows the value; write one option per line, or put the value in quotes
  [1]
  $ echo 'beside-output=out --rows=3' >line.cnf # declared before the other
  $ sb --config-file=line.cnf
  line.cnf:1: another option follows the value; write one option per line, or put the value in quotes
  [1]
  $ echo 'name=me threads=2' >line.cnf
  $ sb --config-file=line.cnf
  line.cnf:1: another option follows the value; write one option per line, or put the value in quotes
  [1]
  $ echo 'name="me --threads=2" # mine' >line.cnf
  $ sb --config-file=line.cnf
  threads=1 time=10 rows=10 name=me --threads=2 fast=false parts=a+b
  $ cat >line.cnf <<'EOF'
  > name=me --no-option=1 other=2
  > beside=dump --threads=2
  > db-init-sql=SELECT 1 --time=5
  > EOF
  $ sb --config-file=line.cnf
  threads=1 time=10 rows=10 name=me --no-option=1 other=2 fast=false parts=a+b
  $ echo 'stages=threads=2 for 1s; threads=1 for 1s' >line.cnf
  $ sb --config-file=line.cnf
  threads=2 time=2 rows=10 name=none fast=false parts=a+b

--print-config prints each option with its value and source; the options that
are set can be read back. It runs nothing.

  $ SYSBENCH_NAME=env sysbench show.lua prepare --print-config \
  >     --config-file=my.cnf --rows=7 --max-time=8 --my-password=hunter2 \
  >     2>/dev/null >all
  $ grep -E '^#?(threads|time|events|config-file|rows|name|parts|my-)' all |
  >     sed 's/  */ /'
  #config-file=my.cnf # command line
  threads=2 # my.cnf:3
  #events=0 # default
  time=8 # command line, as --max-time
  #threads-per-rank=0 # default
  #my-password=*** # command line
  name=env # SYSBENCH_NAME
  parts=c,d # my.cnf:7
  rows=7 # command line
  $ sb --config-file=all
  threads=2 time=8 rows=7 name=env fast=true parts=c+d

It needs no command, even if the script does.

  $ sysbench oltp_read_write --tables=3 --print-config | grep ^tables
  tables=3                         # command line

Secrets are not shown there, in messages, in the list of processes, or to
scripts that read the command line.

  $ grep -c hunter2 all
  0
  [1]
  $ cat >secret.lua <<'EOF'
  > sysbench.cmdline.options = {
  >    password = {"", ""}, url = {"", ""}, key = {"", 1},
  > }
  > function prepare()
  >    print((io.open("/proc/self/cmdline"):read("*a"):gsub("%z", " ")))
  >    print(table.concat(sysbench.cmdline.argv, " "))
  >    print(sysbench.opt.password, sysbench.opt.url)
  > end
  > EOF
  $ sysbench secret.lua prepare --password=hunter2 --url=x://me:pw@host/db |
  >     sed -e 1,2d
  sysbench secret.lua prepare --password=******* --url=x://me:**@host/db 
  secret.lua prepare --password=******* --url=x://me:**@host/db
  hunter2	x://me:pw@host/db
  $ sysbench secret.lua prepare --key=x://me:pw@host/db 2>&1 >out
  Invalid value for the 'key' option: 'x://me:***@host/db' (must be a number)
  [1]

Scripts see the percentile of the classic lines as a number, as in 1.0, even if
a list is given.

  $ cat >pct.lua <<'LUA'
  > function event() return true end
  > function init() print(type(sysbench.opt.percentile),
  >    sysbench.opt.percentile) end
  > LUA
  $ sysbench pct.lua run | grep ^number
  number\t95 (esc)
  $ sysbench pct.lua --percentile=99,50 run | grep ^number
  number\t99 (esc)

Options of the OLTP workloads that leave events without statements, or have no effect.

  $ warnings() { sysbench "$@" --db-driver=null --events=1 run 2>&1 | grep WARNING; }
  $ none='--point-selects=0 --range-selects=off --index-updates=0
  >     --non-index-updates=0 --delete-inserts=0'
  $ warnings oltp_read_write $none
  WARNING: all numbers of statements are 0: transactions are only BEGIN and COMMIT
  $ warnings oltp_read_only $none --skip-trx --check-tables=off
  WARNING: all numbers of statements are 0: events do nothing
  $ warnings oltp_write_only $none --index-updates=1
  [1]
  $ warnings oltp_read_write --range-selects=off --sum-ranges=3
  WARNING: --sum-ranges=3 has no effect: --range-selects=off turns off all ranges
  $ warnings oltp_point_select --point-selects=5
  WARNING: --point-selects has no effect: an event of oltp_point_select is one query
  $ for script in read_write read_only write_only point_select update_index; do
  >     warnings oltp_$script
  > done
  [1]
