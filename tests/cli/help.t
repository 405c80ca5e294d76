SPDX-License-Identifier: GPL-2.0-or-later

Not with tsan: one thread.

--help: the options that are used most, and the names of all sections.

  $ unset COLUMNS
  $ sysbench --help >help
  $ grep -E '^[A-Z].*:$' help | grep -v '^SQLite\|^My\|^Pos\|^Mo'
  Usage:
  General options:
  Rate options:
  Pseudo-Random Numbers Generator options:
  Log options:
  Report options:
  Mix options:
  Sweep options:
  General database options:
  Program options:
  Commands on result files:
  $ options() { grep -o -e '^  --[a-z0-9-]*' "$@" | sed 's/.* --//'; }
  $ options help | wc -l | awk '{ print ($1 > 25), ($1 < 40) }'
  1 1
  $ COLUMNS=500 sysbench --help | grep -E '^  --(threads|time|rand-type|config-file)=' |
  >     sed 's/  */ /g'
   --threads=N number of users (threads, unless users share workers) [1]
   --time=DURATION limit for total execution time in seconds [10]
   --config-file=FILENAME read options from this file, one name=value per line; lines below [WORKLOAD] apply to that workload only
  $ sysbench -h | cmp - help
  $ sysbench --help=yes | cmp - help
  $ sections() { sed -n '/^More options/,/^$/s/^  \([a-z]*\) .*/\1/p' help; }
  $ sections | grep -v -e mongodb -e mysql -e pgsql -e sqlite | tr '\n' ' '
  general rate workers random log report mix sweep ab beside clients database server settle program null all  (no-eol)

--help=all has everything, --help=SECTION one section. Each option is in one
section: those of the help and those of --print-config.

  $ sysbench --help=all >all
  $ grep -E '^[A-Z].*:$' all | grep -v '^SQLite\|^My\|^Pos\|^Mo'
  Usage:
  General options:
  Rate options:
  Worker options:
  Pseudo-Random Numbers Generator options:
  Log options:
  Report options:
  Mix options:
  Sweep options:
  A/B options:
  Options of a command beside the run:
  Options for several clients:
  General database options:
  Server statistics options:
  Settling options:
  Program options:
  Database drivers:
  Built-in tests:
  Commands on result files:
  $ for section in $(sections | grep -v all); do
  >     sysbench --help="$section" >one || echo "$section: $?"
  >     sed -n 2p one | grep -q '^  --' || echo "$section: empty"
  >     grep -v '^  ' one | wc -l | grep -v '^ *1$'
  >     options one
  > done | sort >of_sections
  $ uniq -d of_sections
  $ options all | sort | diff of_sections -
  $ grep -c . of_sections | awk '{ print ($1 > 100) }'
  1
  $ sysbench --print-config | sed -n 's/^#*\([a-z0-9-]*\)=.*/\1/p' | sort |
  >     comm -23 - of_sections
  test
  $ sysbench --help=rate cpu run | head -n 1
  Rate options:
  $ sysbench --help=nosuch 2>&1 >out | sed 's/mongodb, \|mysql, \|pgsql, \|sqlite, //g'
  Invalid value for the 'help' option: 'nosuch' (must be one of general, rate, workers, random, log, report, mix, sweep, ab, beside, clients, database, server, settle, program, null, all)
  $ sysbench --help=nosuch 2>err
  [1]
  $ cat out

Drivers are listed in the order of their names, not in that of the folder.

  $ sysbench --list | sed -n '/^Database drivers/,/^$/s/^  \([a-z]*\) - .*/\1/p' >drivers
  $ grep -x null drivers
  null
  $ LC_ALL=C sort -c drivers

No line is wider than the terminal, or than COLUMNS says.

  $ widest() { awk '{ if (length > n) n = length } END { print n }' "$@"; }
  $ widest help all
  80
  $ for test in tpcc fileio crud; do sysbench $test help; done | widest
  80
  $ sysbench compare --help | widest
  80
  $ COLUMNS=50 sysbench --help=all | sed '/^  --/s/.*//' | widest
  50
  $ cat >long.lua <<'EOF'
  > sysbench.cmdline.options = {
  >    list = {("äöü "):rep(17),
  >       ("one,two,three,four,"):rep(6) .. "five"},
  >    lines = {"first\nsecond"},
  > }
  > EOF
  $ sysbench long.lua help | sed '1,2d; s/ä/a/g; s/ö/o/g; s/ü/u/g'
  long.lua options:
    --lines=STRING first
                   second
    --list=STRING  aou aou aou aou aou aou aou aou aou aou aou aou aou aou aou aou
                   aou
                   [one,two,three,four,one,two,three,four,one,two,three,four,one,
                   two,three,four,one,two,three,four,one,two,three,four,five]
  

--help with a workload is the help of that workload.

  $ sysbench cpu run --help
  Usage: sysbench [options]... cpu help|run
  
  cpu options:
    --cpu-max-prime=N upper limit for primes generator [10000]
  
  See 'sysbench --help' for the options of all workloads, such as --threads,
  --time and --db-driver.
  $ sysbench --help oltp_read_write | sed -n '1,/options:/p'
  Usage: sysbench [options]... oltp_read_write
      check|cleanup|help|prepare|prewarm|run|warmup
  
  oltp_read_write options:
  $ sysbench oltp_read_write help | sed 1,2d >want
  $ sysbench oltp_read_write --rate=max --not-yet=1 --help | grep -c -x -F -f want |
  >     awk '{ print ($1 > 30) }'
  1
  $ sysbench --mix=crud:2,oltp_insert --help | grep -e Usage -e options:
  Usage: sysbench [options]... --mix=crud:2,oltp_insert cleanup|help|prepare|run
  crud: crud options:
  oltp_insert: oltp_insert options:
  $ echo 'function event() end' >bare.lua
  $ sysbench bare.lua --help | head -n 4
  Usage: sysbench [options]... bare.lua run
  
  This workload has no options of its own.
  
  $ sysbench nosuch --help
  FATAL: Cannot find benchmark 'nosuch': no such built-in test, file or module (searched: the current folder, the Lua path, *) (glob)
  [1]

The usage names each form; 'help' alone is the same, unless a script has that name.

  $ sed -n '/^Usage/,/^$/p' help
  Usage:
    sysbench [options]... [testname] [command]
    sysbench [options]... --mix=TEST:WEIGHT,... [command]
    sysbench compare|history|merge|report|rerun|show [options]... FILE...
  
  $ mkdir empty; cd empty
  $ sysbench help | sed 1,2d | cmp - ../help
  $ sysbench help run
  sysbench * (glob)
  
  FATAL: Cannot find benchmark 'help': no such built-in test, file or module (a workload is missing, as in 'sysbench oltp_read_write help'; 'sysbench --list' shows all)
  [1]
  $ echo 'print("a script")' >help.lua
  $ sysbench help | tail -n 1
  a script
  $ cd ..

--help and --list work in any position and with any other arguments.

  $ sysbench --list >list
  $ grep -E '^[A-Z].*:$' list | sed 's/ (.*)//'
  Workloads:
  Database drivers:
  Built-in tests:
  $ grep -E '^  (oltp_read_write|oltp.lua|null|cpu) ' list | cut -d' ' -f3,4
  oltp.lua -
  oltp_read_write -
  null -
  cpu -

The template driver is built but not listed.

  $ grep ' template ' list help
  [1]

Each listed workload has help.

  $ sed -n '/^Workloads/,/^$/s/^  \([^ ]*\) - .*/\1/p' list >names
  $ while read -r name; do
  >     sysbench "$name" help >out 2>err </dev/null || echo "$name: $?"
  >     grep -q -e --help -e ' --[a-z]' out || echo "$name: no options"
  > done <names

The help of a built-in test or a script lists its own options.

  $ sysbench cpu help | sed 1,2d
  cpu options:
    --cpu-max-prime=N upper limit for primes generator [10000]
  
  $ cat >own.lua <<'EOF'
  > sysbench.cmdline.options = {
  >    rows = {"how many rows", 10}, name = {"its name", "x"},
  >    ["fast-mode"] = {"no checks", false}, bare = {"no default"},
  > }
  > EOF
  $ sysbench own.lua help | grep -- --
    --bare=STRING        no default
    --fast-mode[=on|off] no checks [off]
    --name=STRING        its name [x]
    --rows=N             how many rows [10]

The options that a script declares are listed in its help with its descriptions,
even if the core has the same option.

  $ cat >core.lua <<'EOF'
  > sysbench.cmdline.options = {
  >    ["report-interval"] = {"how often", 5}, threads = {"how many", 3},
  > }
  > EOF
  $ sysbench core.lua help | sed 1,2d
  core.lua options:
    --report-interval=N how often [5]
    --threads=N         how many [3]
  

The help explains the suffixes of numbers, sizes and durations, and they work.

  $ COLUMNS=500 sysbench --help | tail -n 1
  Suffixes: numbers (N) take k, M, G, T (powers of 1,000), sizes (SIZE) take K, M, G, T (powers of 1,024), durations (DURATION) take us, ms, s, m, h, d, also combined (1h30m). Durations without a suffix are in seconds.
  $ cat >suffixes.lua <<'EOF'
  > sysbench.cmdline.options = { share = {"a number", 1} }
  > function init()
  >    local o = sysbench.opt
  >    print(o.events, o.rate, o.share, o.thread_stack_size, o.time, o.warmup_time)
  > end
  > function event() return true end
  > EOF
  $ sysbench suffixes.lua --verbosity=0 --events=2G --rate=1.5k --share=10k \
  >     --thread-stack-size=512K --time=1h30m --warmup-time=0.1 run
  2000000000	1500	10000	524288	5400	0.1
  $ sysbench suffixes.lua --share=10x --verbosity=0 run
  Invalid value for the 'share' option: '10x' (must be a number)
  [1]
