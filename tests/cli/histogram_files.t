SPDX-License-Identifier: GPL-2.0-or-later

Files for HdrHistogram's tools: --report=hdr=FILE, hgrm=FILE. tests/db/test_hdr
reads them with its library.

  $ echo 'function event() end' >e.lua
  $ run() { sysbench e.lua --report=none,hdr=l.hdr,hgrm=t.hgrm "$@" run; }
  $ run --time=0.35 --report-interval=0.1 --warmup-time=0.2
  $ sed -E -e 's/[0-9]+\.[0-9]+/N/g' -e 's/,N,N,HISTFAAA[A-Za-z0-9+\/]+=*$/,N,N,HIST/' \
  >     -e 's/[A-Z][a-z]+ .* UTC 20.*/DATE/' l.hdr | uniq
  #[Logged with sysbench N.0]
  #[Histogram log format version N]
  #[StartTime: N (seconds since epoch), DATE
  #[BaseTime: N (seconds since epoch)]
  "StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
  N,N,N,HIST

The intervals of the warm-up are not in the log.

  $ [ "$(grep -c HIST l.hdr)" -le 6 ] || cat l.hdr
  $ grep -c '^0.000,' l.hdr
  1

The last lines are those of operations, of the whole run.

  $ sysbench oltp_read_only --db-driver=null --time=0.3 --report-interval=0.1 \
  >     --report=none,hdr=l.hdr,json=i.json run
  $ sed -n '/^Tag/,$p' l.hdr | cut -d , -f 1-2
  Tag=prepare,0.000
  Tag=begin,0.000
  Tag=point_selects,0.000
  Tag=simple_ranges,0.000
  Tag=sum_ranges,0.000
  Tag=order_ranges,0.000
  Tag=distinct_ranges,0.000
  Tag=commit,0.000
  $ rm i.json

A run that does not start leaves a log without intervals, an interrupted one is
complete.

  $ echo 'function thread_init() error("no") end function event() end' >no.lua
  $ sysbench no.lua --report=none,hdr=l.hdr,hgrm=t.hgrm run 2>/dev/null
  [1]
  $ wc -l <l.hdr
  5
  $ tail -n 2 t.hgrm
  #[Max     =        0.000, Total count    =            0]
  #[Buckets =           38, SubBuckets     =         2048]
  $ sysbench e.lua --time=60 --report=none,json=i.json,hdr=l.hdr,hgrm=t.hgrm run \
  >     2>/dev/null &
  > pid=$!
  $ while ! [ -s i.json.part ] && ! grep -q HIST l.hdr; do sleep 0.1; done
  $ kill -INT $pid; wait $pid
  [130]
  $ completed=$(grep -o '"completed":[0-9]*' i.json | head -n 1)
  $ grep -c "Total count    = *${completed#*:}]" t.hgrm
  1
  $ ls
  e.lua
  i.json
  l.hdr
  no.lua
  t.hgrm

Errors.

  $ run --report=none,hdr=/dev/full --events=9
  ALERT: --report=hdr: cannot write /dev/full: No space left on device; the run continues without this report
  [1]
  $ run --report=none,hgrm=/dev/full --events=9
  ALERT: --report=hgrm: cannot write /dev/full: No space left on device
  [1]
  $ run --report=none,junit=/dev/full --events=9
  ALERT: --report=junit: cannot write /dev/full: No space left on device
  [1]
