SPDX-License-Identifier: GPL-2.0-or-later
Not with asan, tsan: they handle faults and memory themselves.

  $ ulimit -c 0
  $ bench() { sysbench --workers=1 --threads=4 --time=0 "$@" run >out 2>err; }
  $ cat >block.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned);")
  > local function slow(n)
  >    ffi.C.usleep(n)
  > end
  > function event()
  >    local n = 0
  >    for i = 1, 100 do
  >       n = n + i
  >    end
  >    slow(20000)
  > end
  > EOF

A line that blocks the worker of several users is named, once. The events all
run, and are all counted.

  $ bench --events=40 block.lua
  $ cat err
  WARNING: block.lua:4 held a worker for * ms, and its 3 other users waited; use --workers=users for scripts that block or compute (glob)
  $ grep 'number of events' out
      total number of events:              40
  $ bench --events=40 --warmup-time=0 --rate=10000 block.lua; grep -c 'block.lua:4 held' err
  1
  $ bench --events=40 --event-loop=epoll --luajit-cmd=off block.lua
  $ grep -c 'block.lua:4 held' err
  1

The same if the event computes.

  $ cat >compute.lua <<'EOF'
  > local clock = os.clock
  > function event()
  >    local sum, stop = 0, clock() + 0.03
  >    while clock() < stop do
  >       for i = 1, 1000 do sum = sum + i end
  >    end
  > end
  > EOF
  $ bench --events=40 compute.lua
  $ cat err
  WARNING: compute.lua:[45] held a worker for \d+ ms, and its 3 other users waited; use --workers=users for scripts that block or compute (re)

The same in a mix, if the workload that blocks has few of the events.

  $ cat >quick.lua <<'EOF'
  > function event() end
  > EOF
  $ bench --mix=block.lua:1,quick.lua:99 --events=4000 --rand-seed=1
  $ cat err
  WARNING: block.lua:4 held a worker for * ms, and its 3 other users waited; use --workers=users for scripts that block or compute (glob)
  $ grep 'number of events' out
      total number of events:              4000

A user alone on its worker, or with a thread of its own, holds up no other.

  $ bench --events=20 --threads=1 block.lua; cat err
  $ bench --events=20 --workers=users block.lua; cat err

Before and after their events, users may block. Waiting by functions of the
program holds nothing up.

  $ cat >waits.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned);")
  > function thread_init() ffi.C.usleep(20000) end
  > function event() sysbench.user.wait(0.02) end
  > function thread_done() ffi.C.usleep(20000) end
  > EOF
  $ bench --events=40 waits.lua; cat err

A bundled workload does not block by itself, so it gets no such advice: here its
random numbers take long, elsewhere the machine is busy.

  $ mkdir workloads
  $ cp block.lua workloads/held.lua
  $ SYSBENCH_LUA_DIR=$PWD/workloads bench --events=40 held; cat err

A loop of the script's own is named without a line.

  $ cat >own.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned);")
  > function thread_run(id)
  >    while ffi.C.sb_more_events(id) do
  >       ffi.C.usleep(20000)
  >       ffi.C.sb_event_stop(id)
  >    end
  > end
  > EOF
  $ bench --events=20 own.lua; cat err
  WARNING: thread_run() of own.lua held a worker for * ms, and its 3 other users waited (which line did so is not known); use --workers=users for scripts that block or compute (glob)

So is a user that blocks its worker for long, but once. One that waits by
functions of the program for the same time is not.

  $ cat >once.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned);")
  > local waited = false
  > function event()
  >    sysbench.user.wait(0.005)
  >    if not waited and sysbench.tid == 2 then
  >       waited = true
  >       ffi.C.usleep(1000000)
  >    end
  > end
  > EOF
  $ bench --events=40 once.lua; cat err
  WARNING: event\(\) of once.lua held a worker for (at least )?\d+ ms, and its 3 other users waited \(which line did so is not known\); use --workers=users for scripts that block or compute (re)
  $ bench --rate=50% --rate-probe-time=2s --events=20 once.lua; cat err
  WARNING: event\(\) of once.lua held a worker for (at least )?\d+ ms, and its 3 other users waited \(which line did so is not known\); use --workers=users for scripts that block or compute (re)

The reported time is that of one user, even if several users block one after the other.
The first two users wait, so that they do not take the events of the others.

  $ cat >all.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned);")
  > function event()
  >    if sysbench.tid >= 2 then ffi.C.usleep(1000000) end
  >    sysbench.user.wait(sysbench.tid < 2 and 3 or 0.005)
  > end
  > EOF
  $ bench --events=4 all.lua; cat err
  WARNING: event\(\) of all.lua held a worker for (at least )?1?\d{1,3} ms, and its 3 other users waited \(which line did so is not known\); use --workers=users for scripts that block or compute (re)

  $ sed -i 's/ffi.C.usleep(1000000)/sysbench.user.wait(1)/' once.lua
  $ bench --events=40 once.lua; cat err

Users that come later may block before their events, too.

  $ cat >late.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int usleep(unsigned);")
  > function thread_init() ffi.C.usleep(200000) end
  > function event() sysbench.user.wait(0.005) end
  > EOF
  $ bench "--stages=threads=2 for 1s; threads=4 for 1s" late.lua; cat err

A stack that overflows is named.

  $ cat >deep.lua <<'EOF'
  > local function deep(n)
  >    return n and (string.gsub("x", "x", function() deep(n > 1 and n - 1) end))
  > end
  > function event()
  >    if sysbench.tid >= tonumber(os.getenv("FIRST")) then deep(300) end
  >    sysbench.user.wait(0.001)
  > end
  > EOF
  $ export FIRST=10
  $ bench --threads=12 --events=100000 deep.lua
  [1]
  $ sed 's/user 1[01]/user N/' err
  
  FATAL: the stack of user N overflowed (256 KiB): functions in C called each other too deeply, for example string.gsub() with a function that calls it again; use fewer levels or a larger --thread-stack-size
  $ export FIRST=0
  $ bench --events=20 --thread-stack-size=16M deep.lua; cat err
  $ bench --events=20 --workers=users deep.lua
  [1]
  $ grep -c 'FATAL: the stack of user [0-3] overflowed (256 KiB)' err
  1

An overflow of the main thread's stack is named, too, in any function of the script,
and so is one in check_tables. If the run had ended, its report exists.

  $ cat >main.lua <<'EOF'
  > local function deep() return (("x"):gsub("x", deep)) end
  > local function at(place) if place == os.getenv("DEEP") then deep() end end
  > at("body")
  > function event() end
  > function init() at("init") end
  > function prepare() at("prepare") end
  > function done() at("done") end
  > function sysbench.hooks.report_cumulative(stat)
  >    at("report") sysbench.report_default(stat)
  > end
  > function sysbench.hooks.check_tables() at("check") end
  > EOF
  $ deep() { rm -f d.json; DEEP=$1 sysbench main.lua --events=10 --time=0 \
  >     --report=json=d.json "${2-run}" >out 2>err; echo "$? $(ls d.json 2>/dev/null)"
  >     sed -n 's/^FATAL: \(.*\) (.* KiB): functions in C .* a larger/\1:/p' err; }
  $ ulimit -Ss 8192
  $ deep body
  1 
  the stack of the main thread (which runs the body of the script, init(), done(), commands and report hooks) overflowed: 'ulimit -s'
  $ deep init | grep -c overflowed
  1
  $ deep prepare prepare | grep -c overflowed
  1
  $ deep report | sed 's/(.*)/()/'
  1 d.json
  the stack of the main thread () overflowed: 'ulimit -s'
  $ deep done | sed 's/(.*)/()/'
  1 d.json
  the stack of the main thread () overflowed: 'ulimit -s'
  $ grep -c '^\[ .*thds: ' out
  1
  $ deep check
  1 
  the stack of the hook check_tables overflowed: --thread-stack-size

If the system refuses memory, the run ends, and its users do so in order.

  $ cat >memory.lua <<'EOF'
  > local t = {}
  > function event()
  >    t[#t + 1] = string.rep(tostring(#t), 200000)
  > end
  > function thread_done(id) print("done", id) end
  > EOF
  $ (ulimit -v 400000; bench --events=100000000 memory.lua)
  [1]
  $ grep FATAL err
  FATAL: out of memory: the Lua state of (user 0|3 users) has \d+ MiB, and the system refuses more \(limit of address space, ulimit -v: 400000 KiB\) (re)
  $ grep -c '^done' out
  4

The message appears once, with the same figure as in the report, even if the system
refuses memory again because the reserve is too small.

  $ cat >again.lua <<'EOF'
  > function event()
  >    for i = 1, 3 do
  >       pcall(string.rep, "x", 5e8)
  >       more = ("y"):rep(2e6 * i)
  >    end
  > end
  > EOF
  $ for workers in 1 users; do
  >     (ulimit -v 400000; bench --events=1 --threads=1 --workers=$workers again.lua)
  >     grep -c 'FATAL: out of memory' err
  >     cat out err | grep -o 'user 0 has [0-9]* .iB' | uniq | wc -l
  > done
  1
  1
  1
  1

A hook of reports that uses up the memory does not keep the run from its report.

  $ cat >hook.lua <<'EOF'
  > local n = 0
  > function event() n = n + 1 return n > 9 end
  > function sysbench.hooks.report_cumulative()
  >    local t = {}
  >    for i = 1, 1e9 do t[i] = ("x"):rep(1e4) .. i end
  > end
  > EOF
  $ (ulimit -v 400000; bench --report=text,json=hook.json hook.lua)
  [1]
  $ grep FATAL err; grep -c 'total time:' out
  FATAL: `report_cumulative' function failed: not enough memory
  1
  $ "$SB_SRCDIR/tests/check-result" hook.json

At the start, memory may be refused to a stack, to a Lua state that LuaJIT is creating, or
to the stack of the main thread: whatever it is, one sentence says so.

  $ echo 'function event() end' >small.lua
  $ st=1 limit=60000
  $ while [ $st != 0 ] && [ $limit -lt 400000 ]; do
  >     limit=$((limit + 1500)) st=0
  >     (ulimit -v $limit; bench --events=100 --threads=100 small.lua) || st=$?
  >     echo "$st $(grep -c FATAL err)"
  >     cat err >>all
  > done | uniq
  1 1
  0 0
  $ grep -v "(limit of address space, ulimit -v: [0-9]* KiB)$" all | grep . | sort -u
  $ grep -q "cannot create user [0-9]* of 100: no memory for a stack of 256 KiB (" all
