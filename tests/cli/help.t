SPDX-License-Identifier: GPL-2.0-or-later

Not with tsan: one thread.

--help and --list, and the help of a test.

  $ sysbench --help >help
  $ grep -E '^[A-Z].*:$' help | grep -v 'driver options\|^SQLite\|^My\|^Pos\|^Mo'
  Usage:
  General options:
  Pseudo-Random Numbers Generator options:
  Log options:
  Report options:
  Mix options:
  Sweep options:
  Options of a command beside the run:
  Options for several clients:
  General database options:
  Server statistics options:
  Program options:
  Database drivers:
  Built-in tests:
  Commands on result files:
  $ grep -E '^  --(threads|time|rand-type|config-file|num-threads)=' help |
  >     sed 's/  */ /g'
   --threads=N number of users (threads, unless users share workers) [1]
   --time=DURATION limit for total execution time in seconds [10]
   --num-threads=N deprecated alias for --threads [1]
   --rand-type=STRING random numbers distribution {uniform,gaussian,special,pareto,zipfian} [special]
   --config-file=FILENAME read options from this file, one name=value per line; lines below [WORKLOAD] apply to that workload only
  $ sysbench cpu run --help | cmp - help
  $ sysbench -h | cmp - help

The usage names each form; 'help' alone is the same, unless a script has that name.

  $ sed -n '/^Usage/,/^$/p' help
  Usage:
    sysbench [options]... [testname] [command]
    sysbench [options]... --mix=TEST:WEIGHT,... [command]
    sysbench compare|merge|report|show [options]... FILE...
  
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

  $ tail -n 1 help
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
