SPDX-License-Identifier: GPL-2.0-or-later

Exit status: 0 fine, 1 wrong usage or a failed run, 2 forced to stop, 130 and
143 interrupted.

  $ echo 'function event() end' >e.lua
  $ sysbench e.lua run --events=1 >out
  $ sysbench e.lua run --events=1 --threads=0 >out 2>&1
  [1]
  $ echo 'function event() error("no") end' >bad.lua
  $ sysbench bad.lua run >out 2>&1
  [1]
  $ echo 'error("no")' | sysbench >out 2>&1
  [1]
  $ echo 'function event() end function done() error("no") end' >done.lua
  $ sysbench done.lua run --events=1 >out 2>&1
  [1]

A script may end the run by itself.

  $ echo 'function event() return true end' >ends.lua
  $ sysbench ends.lua run --threads=2 >out
  $ grep 'number of events' out
      total number of events:              0

Forced to stop: the report says how many were left.

  $ echo 'function event() while true do end end' >hang.lua
  $ sysbench hang.lua run --threads=2 --time=0.1 --forced-shutdown=0.1 \
  >     >out 2>err
  [2]
  $ cat err
  FATAL: The --max-time limit has expired, forcing shutdown...
  $ grep -E 'unfinished|number of events' out
  Number of unfinished transactions on forced shutdown: 2
      total number of events:              0

Interrupted: stops, reports, and says which signal it was by its status.

  $ cat >slow.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned);")
  > function event() ffi.C.usleep(1000) end
  > EOF
  $ interrupt() {
  >     : >out # what is left of the last run must not be taken for this one
  >     sysbench "$2" run --time=60 >out 2>err & pid=$!
  >     until grep -q 'Threads started' out; do sleep 0.05; done
  >     kill -s "$1" $pid
  >     [ -z "$3" ] || { sleep 0.2; kill -s "$3" $pid; }
  >     wait $pid
  > }
  $ interrupt INT slow.lua
  [130]
  $ grep -c 'number of events' out
  1
  $ interrupt TERM slow.lua
  [143]
  $ grep -c 'number of events' out
  1

The second signal leaves at once.

  $ interrupt TERM hang.lua TERM
  [143]
  $ grep -c 'number of events' out
  0
  [1]
