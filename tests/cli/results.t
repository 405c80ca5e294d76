SPDX-License-Identifier: GPL-2.0-or-later

Tables that thread_done() returns reach done(), in the order of users, whether these
have threads of their own, share the Lua state of a worker, or have one each.

  $ cat >wait.lua <<'END'
  > local con
  > function thread_init() con = sysbench.sql.driver():connect() end
  > function event() con:query("SELECT 1") end
  > END
  $ cat >many.lua <<'END'
  > require("wait")
  > function thread_done(id)
  >    local list = {}
  >    for i = 1, 100 do list[i] = id * 100 + i end
  >    con, event = nil, nil
  >    collectgarbage()
  >    return { tid = sysbench.tid, list = list, name = ("user "):rep(id) .. id }
  > end
  > function done(results)
  >    assert(#results == sysbench.opt.threads)
  >    for i, r in ipairs(results) do
  >       local id, v = i - 1, r.value
  >       assert(r.tid == id and r.rank == 0 and r.visit == 1)
  >       assert(v.tid == id and v.name == ("user "):rep(id) .. id and #v.list == 100)
  >       for k = 1, 100 do assert(v.list[k] == id * 100 + k) end
  >    end
  >    print(#results .. " users")
  > end
  > END
  $ for w in users 1 2; do
  >     timeout 300 sysbench many.lua --db-driver=null --null-latency=1ms --threads=200 \
  >         --events=1000 --time=0 --workers=$w --report=none run
  > done
  200 users
  200 users
  200 users
  $ sed 's/^require.*/& string.mine = 1/' many.lua >alone.lua
  $ timeout 300 sysbench alone.lua --db-driver=null --null-latency=1ms --threads=20 \
  >     --events=100 --time=0 --workers=1 --debug --report=none run 2>&1 |
  >     grep -e 'Lua state' -e ' users$'
  DEBUG: each user of alone.lua has a Lua state of its own: it changes string
  20 users

A user that comes again has a result for each visit.

  $ cat >visits.lua <<'END'
  > local n = 0
  > function event() n = n + 1 sysbench.user.wait(0.001) end
  > function thread_done(id) return { id = id, n = n } end
  > function done(results)
  >    for _, r in ipairs(results) do
  >       print(r.tid, r.visit, r.value.id, r.value.n > 0)
  >    end
  > end
  > END
  $ for w in users 1; do
  >     for s in 0.2 1 5 25; do
  >         sysbench visits.lua --workers=$w --report=none run \
  >             --stages="threads=2 for ${s}s; threads=1 for ${s}s; threads=3 for ${s}s" \
  >             2>/dev/null >out
  >         [ "$(grep -c true out)" -lt 4 ] || break
  >     done
  >     cat out
  > done
  0\t1\t0\ttrue (esc)
  1\t1\t1\ttrue (esc)
  1\t2\t1\ttrue (esc)
  2\t1\t2\ttrue (esc)
  0\t1\t0\ttrue (esc)
  1\t1\t1\ttrue (esc)
  1\t2\t1\ttrue (esc)
  2\t1\t2\ttrue (esc)

In a mix, each workload has the results of its own users: by events, all of them have
both workloads.

  $ cat >one.lua <<'END'
  > function event() end
  > function thread_done(id) return { "one " .. id } end
  > function done(results)
  >    for _, r in ipairs(results) do print("one:", r.tid, r.visit, r.value[1]) end
  > end
  > END
  $ sed "s/\<one/two/g" one.lua >two.lua
  $ mix() { sysbench --mix=one.lua,two.lua --threads=2 --events=20 --time=0 --report=none "$@" run; }
  $ mix
  one:\t0\t1\tone 0 (esc)
  one:\t1\t1\tone 1 (esc)
  two:\t0\t1\ttwo 0 (esc)
  two:\t1\t1\ttwo 1 (esc)
  $ mix --mix-by=users --workers=1
  one:\t0\t1\tone 0 (esc)
  two:\t1\t1\ttwo 1 (esc)

If a result of one workload is too large, the run fails. The hook run_failed of each
workload gets the results that exist.

  $ cat >hook.lua <<'END'
  > function sysbench.hooks.run_failed(why, results)
  >    print(why)
  >    for _, r in ipairs(results) do print(r.tid, r.value[1]) end
  > end
  > END
  $ { cat hook.lua; sed 's/"two " .. id/("x"):rep(id < 1 and 2^20 or 1)/' two.lua; } >large.lua
  $ cat hook.lua one.lua >first.lua
  $ sysbench --mix=first.lua,large.lua --threads=2 --events=20 --time=0 --report=none run
  user 0: thread_done() returned more than 1 MB
  0\tone 0 (esc)
  1\tone 1 (esc)
  user 0: thread_done() returned more than 1 MB
  1\tx (esc)
  FATAL: user 0: thread_done() returned more than 1 MB
  [1]

The hook also gets the existing results if some users do not return.

  $ { cat hook.lua; echo 'local ffi = require("ffi") ffi.cdef("int pause(void);")'
  >   sed 's/event() end/event() if sysbench.tid == 1 then ffi.C.pause() end return true end/' one.lua
  > } >hangs.lua
  $ sysbench hangs.lua --workers=users --threads=3 --time=1 --shutdown-grace=2 \
  >     --report=none run 2>/dev/null | cut -c 1-35
  1 of 3 users are still busy althoug
  0\tone 0 (esc)
  2\tone 2 (esc)

Processes without MPI know only their own users.

  $ cat >rank.lua <<'END'
  > function event() return true end
  > function thread_done(id) return { id } end
  > function done(results)
  >    for _, r in ipairs(results) do print("rank " .. r.rank, r.tid, r.value[1]) end
  > end
  > END
  $ for rank in 0 1; do
  >     sysbench rank.lua --threads=3 --ranks=2 --rank=$rank --rand-seed=1 --report=none run
  > done
  rank 0\t0\t0 (esc)
  rank 1\t1\t1 (esc)
  rank 1\t2\t2 (esc)
