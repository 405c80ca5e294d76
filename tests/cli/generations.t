SPDX-License-Identifier: GPL-2.0-or-later

Not with tsan: one thread.

The same work with the command lines of sysbench 0.4, 0.5 and 1.0, with the
driver that needs no database: 20 queries per transaction, 21 in 0.4.

  $ sb() { sysbench --db-driver=null "$@" 2>err |
  >     grep -E 'Number of threads|number of events|  (read|write|other): '; }
  $ sb oltp_read_write --threads=2 --events=10 run
  Number of threads: 2
          read:                            140
          write:                           40
          other:                           20
      total number of events:              10
  $ cat err
  $ sb --test=oltp.lua --num-threads=2 --max-requests=10 run
  Number of threads: 2
          read:                            140
          write:                           40
          other:                           20
      total number of events:              10
  $ cat err
  WARNING: deprecated options: --test (use the name of the script as the first argument), --num-threads (use --threads), --max-requests (use --events)
  $ sb --test=oltp --num-threads=2 --max-requests=10 run
  Number of threads: 2
          read:                            140
          write:                           50
          other:                           20
      total number of events:              10

Their own options, with dashes or underscores.

  $ sb oltp_read_write --point-selects=1 --range_selects=off --skip-trx \
  >     --events=10 run
  Number of threads: 1
          read:                            10
          write:                           40
          other:                           0
      total number of events:              10
  $ sb --test=oltp.lua --oltp-point-selects=1 --oltp_range_selects=off \
  >     --oltp-skip-trx=on --max-requests=10 run
  Number of threads: 1
          read:                            10
          write:                           40
          other:                           0
      total number of events:              10
  $ sb --test=oltp --oltp-test-mode=simple --max-requests=10 run
  Number of threads: 1
          read:                            10
          write:                           0
          other:                           0
      total number of events:              10

A time limit alone, in both spellings: without it the run takes an hour.

  $ export SYSBENCH_TIME=3600
  $ for t in --time --max-time; do
  >     sysbench --db-driver=null oltp_point_select $t=0.2 run 2>err |
  >         sed -n 's/.*total time: *[0-9]\{1,3\}\..*/limited/p'
  > done
  limited
  limited
  $ for t in --time --max-time; do
  >     sysbench --db-driver=null oltp_point_select $t=0.2 --print-config run \
  >         2>err | grep -o '^time=[0-9.a-z]*'
  > done
  time=0.2
  time=0.2
