SPDX-License-Identifier: GPL-2.0-or-later

`sysbench show FILE` prints the report of a run again.

  $ run() { sysbench "$@" --threads=2 run; }
  $ same() {  # the report in the file `text` and that of the result file
  >     sed -n '/^Threads started/,$p' text | sed 1,2d >printed
  >     sysbench show "$1" | sed 1,2d | diff printed -
  > }

A closed loop, an open loop, several percentiles, operations, a histogram.

  $ run oltp_read_write --db-driver=null --events=200 --report=json=r.json >text
  $ same r.json
  $ sysbench show r.json | head -1 | sed 's/20.*Z/TIME/'
  r.json: oltp_read_write, started TIME
  $ run oltp_read_write --db-driver=null --events=200 --rate=2000 \
  >     --percentile=50,99.9 --report-operations --histogram \
  >     --report=json=r.json >text
  $ same r.json

Options given now replace those of the run.

  $ sysbench show r.json --percentile=75 --histogram=off | grep -c 'percentile:'
  1
  $ sysbench show r.json --percentile=75 | grep 'percentile:' | sed 's/ *[0-9.]*$//'
           75th percentile:

A file with the layout of another program.

  $ /usr/bin/python3 -m json.tool r.json other.json
  $ same other.json

Built-in tests, a script without a database, errors, a failed run.

  $ run cpu --events=20 --report=json=r.json >text
  $ same r.json
  $ run memory --memory-total-size=1M --report=json=r.json >text
  $ same r.json
  $ cat >e.lua <<'EOF'
  > function event()
  >    if sysbench.rand.uniform(1, 2) == 1 then
  >       error({errcode = sysbench.error.RESTART_EVENT})
  >    end
  > end
  > EOF
  $ run e.lua --events=20 --report=json=r.json >text 2>errors
  $ same r.json 2>again
  $ grep -v '^WARNING' errors | diff - again
  $ run e.lua --events=20 --max-restarts=1 --max-failed=0 --restart-backoff=0 \
  >     --rand-seed=1 --report=json=r.json >text 2>errors
  [1]
  $ same r.json 2>again
  $ echo 'function thread_init() error("no") end function event() end' >bad.lua
  $ run bad.lua --report=none,json=r.json 2>/dev/null
  [1]
  $ sysbench show r.json | sed 's/started 20.*/started TIME/'
  r.json: bad.lua, started TIME
  
  The run has no figures: *: no (glob)

Wrong files.

  $ sysbench show
  show: the name of a result file is missing
  Usage: sysbench show [OPTIONS] FILE...
  [1]
  $ sysbench show nothing.json
  FATAL: cannot read nothing.json: No such file or directory
  [1]
  $ head -c 3000 other.json >cut.json
  $ sysbench show cut.json
  FATAL: cut.json is not a complete JSON document: line *, column *: * (glob)
  [1]
  $ echo '{"format": "sysbench-result", "version": 99, "runs": [], "more": 1}' >new.json
  $ sysbench show new.json
  WARNING: new.json is a result file of version 99; this program reads version 1 and ignores what is new

A script with the name of a command runs if a command of workloads follows.

  $ echo 'function event() end function help() print("mine") end' >show.lua
  $ sysbench show help | tail -1
  mine
  $ sysbench show run --events=1 | grep -c 'number of events'
  1
  $ rm show.lua; sysbench show help | head -1
  Usage: sysbench show [OPTIONS] FILE...
