SPDX-License-Identifier: GPL-2.0-or-later

Nothing that a user's script does reaches another user, whatever the number of threads
that run the users. Each event waits for the server between writing and reading, so that
the users take turns.

  $ users() {
  >     for w in 1 2 users; do
  >         timeout 100 sysbench "$1" --db-driver=null --null-latency=1ms --threads=8 \
  >             --workers=$w --rand-seed=7 --report=none ${2:---events=80 --time=0} run 2>&1 ||
  >             echo "failed with --workers=$w"
  >     done
  > }
  $ cat >wait.lua <<'END'
  > local wait = {}
  > function wait.connect() wait.con = sysbench.sql.driver():connect() end
  > function wait.turn() wait.con:query("SELECT 1") end
  > return wait
  > END

Globals: of the script, in _G, of files that it loads, of texts and of functions with
an environment.

  $ echo 'file_tid = sysbench.tid; function of_file() return file_tid, tid end' >file.lua
  $ cat >globals.lua <<'END'
  > local wait = require("wait")
  > dofile("file.lua")
  > function thread_init(id)
  >    wait.connect()
  >    tid, _G.other = id, id
  >    assert(rawget(_G, "tid") == id and _G._G == _G and getfenv(0) == _G)
  >    assert(getfenv(1) == _G and getfenv(of_file) == _G)
  >    loadstring("text = sysbench.tid; function of_text() return text end")()
  >    assert(loadfile("file.lua"))()
  >    apart = setfenv(function() inner = id; return inner end, { })
  > end
  > function event(id)
  >    n = (n or 0) + 1
  >    local mine = n
  >    wait.turn()
  >    assert(n == mine and tid == id and other == id and id == sysbench.tid)
  >    local a, b = of_file()
  >    assert(a == id and b == id)
  >    assert(text == id and of_text() == id and apart() == id and inner == nil)
  >    for name, value in pairs(_G) do
  >       assert(name ~= "tid" or value == id)
  >    end
  > end
  > function thread_done(id)
  >    assert(tid == id and thread_id == id)
  > end
  > END
  $ users globals.lua

Modules: their locals, package.loaded, module(), and one that is loaded again.

  $ echo 'local n = 0; return { add = function() n = n + 1; return n end }' >counter.lua
  $ echo 'module("old", package.seeall); function set(v) value = v end' >old.lua
  $ cat >modules.lua <<'END'
  > local wait, counter = require("wait"), require("counter")
  > require("old")
  > local n = 0
  > function thread_init(id)
  >    wait.connect()
  >    old.set(id)
  >    package.loaded.mine = { id = id }
  >    package.preload.made = function(name) return { name = name, id = id } end
  >    assert(require("made").id == id)
  > end
  > function event(id)
  >    n = n + 1
  >    assert(counter.add() == n)
  >    wait.turn()
  >    assert(require("counter") == counter and require("mine").id == id)
  >    assert(old.value == id and package.loaded.old == old)
  >    if id == 1 then
  >       package.loaded.counter = nil
  >       assert(require("counter").add() == 1)
  >       package.loaded.counter = counter
  >    end
  > end
  > END
  $ users modules.lua

Functions and tables of sysbench, options, and the metatable of globals.

  $ cat >replaced.lua <<'END'
  > local wait = require("wait")
  > sysbench.cmdline.options = { answer = {"of this test", 42} }
  > local again, restarted
  > function thread_init(id)
  >    wait.connect()
  >    sysbench.mine = id
  >    sysbench.opt.answer = id
  >    sysbench.opt.more = id
  >    sysbench.rand.uniform = function() return id end
  >    sysbench.hooks.before_restart_event = function() restarted = id end
  >    if id == 0 then
  >       sysbench.rand.default = nil
  >       function print() error("replaced") end
  >       math.floor = nil
  >       setmetatable(_G, {
  >          __index = function(_, name) error("no global " .. name) end,
  >          __newindex = function(_, name) error("new global " .. name) end
  >       })
  >    else
  >       setmetatable(_G, { __index = function(_, name) return name .. id end })
  >    end
  > end
  > function event(id)
  >    wait.turn()
  >    assert(sysbench.mine == id and sysbench.opt.answer == id and sysbench.opt.more == id)
  >    assert(sysbench.rand.uniform(1, 2) == id)
  >    assert((sysbench.rand.default == nil) == (id == 0))
  >    assert((math.floor == nil) == (id == 0))
  >    if id == 0 then
  >       assert(not pcall(function() return unknown end))
  >       assert(not pcall(function() unknown = 1 end))
  >    else
  >       assert(unknown == "unknown" .. id)
  >       new = id
  >    end
  >    if not again and id ~= 0 then
  >       again = true
  >       error({ errcode = sysbench.error.RESTART_EVENT })
  >    end
  >    assert(id == 0 or restarted == id)
  > end
  > END
  $ users replaced.lua | grep -e FATAL -e 'failed with'
  [1]

Libraries of Lua that the script changes for itself: string functions as methods, too.

  $ cat >libraries.lua <<'END'
  > local wait = require("wait")
  > local format = string.format
  > function thread_init(id)
  >    wait.connect()
  >    string.id = function(s) return s .. id end
  >    string.format = function(...) return format(...) .. id end
  >    getmetatable("").__add = function(a, b) return a .. "+" .. b .. id end
  > end
  > function event(id)
  >    wait.turn()
  >    assert(("x"):id() == "x" .. id and ("%d"):format(5) == "5" .. id)
  >    assert("a" + "b" == "a+b" .. id)
  > end
  > END
  $ users libraries.lua

Declarations and types of ffi, which each user makes again.

  $ cat >types.lua <<'END'
  > local wait, ffi = require("wait"), require("ffi")
  > ffi.cdef[[
  >    typedef struct { int id; double value; } sb_test_t;
  >    int getpid(void);
  > ]]
  > local class = ffi.metatype("struct { int id; }", {
  >    __index = { get = function(self) return self.id end }
  > })
  > local z = ffi.load("z", true)
  > ffi.cdef("const char *zlibVersion(void);")
  > function thread_init(id)
  >    wait.connect()
  >    value, object = ffi.new("sb_test_t", id, id / 2), class(id)
  > end
  > function event(id)
  >    wait.turn()
  >    assert(value.id == id and value.value == id / 2 and object:get() == id)
  >    assert(ffi.C.getpid() > 0 and #ffi.string(z.zlibVersion()) > 0)
  > end
  > END
  $ users types.lua

Random numbers: math.random() and sysbench.rand use the user's own stream, and the
numbers do not depend on the workers.

  $ cat >random.lua <<'END'
  > local wait = require("wait")
  > local drawn = {}
  > function thread_init() wait.connect() end
  > function event(id)
  >    drawn[#drawn + 1] = sysbench.rand.uniform(1, 999)
  >    drawn[#drawn + 1] = math.random(999)
  >    wait.turn()
  >    if #drawn == 6 then
  >       print(id .. ": " .. table.concat(drawn, " "))
  >       sysbench.user.stop()
  >    end
  > end
  > END
  $ users random.lua --time=100 >numbers
  $ wc -l <numbers
  24
  $ sort -u numbers | wc -l
  8

A call that waits in a coroutine of the script, in a protected call, a metamethod, an
iterator, a comparison, a callback, and while a module is loaded. Finalizers run.

  $ echo 'local wait = require("wait"); wait.connect(); wait.turn(); return wait' >loads.lua
  $ cat >waits.lua <<'END'
  > local wait = require("loads")
  > function event(id)
  >    local t = {}
  >    local co = coroutine.wrap(function(a)
  >       for i = 1, 3 do
  >          wait.turn()
  >          a = a + coroutine.yield(a)
  >       end
  >       return "end"
  >    end)
  >    assert(co(id) == id and co(1) == id + 1 and co(1) == id + 2 and co(1) == "end")
  >    local inner = coroutine.create(function()
  >       local deep = coroutine.create(function() wait.turn(); return id end)
  >       wait.turn()
  >       return select(2, coroutine.resume(deep)), coroutine.status(deep)
  >    end)
  >    local ok, a, b = coroutine.resume(inner)
  >    assert(ok and a == id and b == "dead" and coroutine.status(inner) == "dead")
  >    local never = coroutine.create(function() wait.turn(); coroutine.yield(id) end)
  >    assert(coroutine.resume(never))
  >    assert(pcall(wait.turn))
  >    local ok, why = xpcall(function() wait.turn(); error("x" .. id, 0) end,
  >       function(text) wait.turn(); return text .. "!" end)
  >    assert(not ok and why == "x" .. id .. "!")
  >    setmetatable(t, {
  >       __index = function(_, k) wait.turn(); return k .. id end,
  >       __lt = function(x, y) wait.turn(); return true end,
  >       __concat = function(x, y) wait.turn(); return "joined" .. id end
  >    })
  >    assert(t.a == "a" .. id and t < setmetatable({}, getmetatable(t)))
  >    assert(t .. "" == "joined" .. id)
  >    for i in function(_, k) wait.turn(); return k ~= id and id or nil end do
  >       assert(i == id)
  >    end
  >    local list = { 3, 1, 2, id }
  >    table.sort(list, function(x, y) wait.turn(); return x < y end)
  >    assert(list[1] <= list[2] and list[2] <= list[3] and list[3] <= list[4])
  >    assert(("abc"):gsub(".", function(c) wait.turn(); return c .. id end) ==
  >       "a" .. id .. "b" .. id .. "c" .. id)
  >    local old = newproxy(true)
  >    getmetatable(old).__gc = function() collected = (collected or 0) + 1 end
  >    old = nil
  >    for i = 1, 10000 do
  >       collectgarbage()
  >       if collected then break end
  >    end
  >    assert(collected)
  > end
  > END
  $ users waits.lua

1,000 users of a state have the traces of LuaJIT in common: there are as many as with 3. A
few side traces more or less depend on which way becomes hot first. Users with a
prototype of each function would have hundreds.

  $ cat >traces.lua <<'END'
  > local wait, state = require("wait"), debug.getregistry()
  > local function sum(n)
  >    local all = 0
  >    for i = 1, n do all = all + sysbench.rand.uniform(1, 100) end
  >    return all
  > end
  > function thread_init(id)
  >    wait.connect()
  >    stmt = wait.con:prepare("SELECT ?")
  >    param = stmt:bind_create(sysbench.sql.type.INT)
  >    stmt:bind_param(param)
  >    if id == 0 or state.traces then return end -- user 0 has a state of its own
  >    state.traces = { start = 0, stop = 0, abort = 0, flush = 0 }
  >    require("jit").attach(function(what)
  >       state.traces[what] = state.traces[what] + 1
  >    end, "trace")
  > end
  > local n = 0
  > function event()
  >    n = n + 1
  >    param:set(sum(10))
  >    stmt:execute()
  >    wait.turn()
  >    if n == 200 then sysbench.user.stop() end
  > end
  > function thread_done() return state.traces end
  > function done(results)
  >    local t = results[2].value -- of the state, like all but the first
  >    print(("%d %d %d"):format(t.stop, t.abort, t.flush))
  > end
  > END
  $ traces() {
  >     timeout 100 sysbench traces.lua --db-driver=null --null-latency=0.1ms \
  >         --threads=$1 --workers=1 --time=90 --report=none run 2>&1
  > }
  $ traces 3 >few; traces 1000 >many
  $ cat few many | awk '{ line[NR] = $0; made[NR] = $1; failed[NR] = $2 + $3 }
  >     END { if (NR != 2 || made[1] == 0 || made[2] > made[1] + 10 ||
  >         failed[2] > failed[1] + 10) print "few: " line[1] ", many: " line[2] }'

Names, lines and levels that scripts ask for.

  $ cat >names.lua <<'END'
  > local here = debug.getinfo(1, "Sl")
  > assert(here.short_src == "names.lua" and here.currentline == 1)
  > local name, more = ...
  > assert(name == nil and more == nil)
  > local function level(n) return debug.getinfo(n, "S").short_src end
  > function event(id)
  >    local ok, why = pcall(error, "text")
  >    assert(level(2) == "names.lua" and why == "text")
  >    ok, why = pcall(function() error("text") end)
  >    assert(why == "names.lua:9: text", why)
  >    ok, why = pcall(loadstring("error('text')", "=chunk"))
  >    assert(why == "chunk:1: text", why)
  > end
  > END
  $ users names.lua

A finalizer runs in the turn of any user, so it cannot wait.

  $ cat >finalizer.lua <<'END'
  > function thread_init() con = sysbench.sql.driver():connect() end
  > function event()
  >    local mine = con
  >    getmetatable(newproxy(true)).__gc = function() mine:query("SELECT 1") end
  >    for i = 1, 1000 do local t = { } end
  >    mine:query("SELECT 2")
  > end
  > END
  $ sysbench finalizer.lua --db-driver=null --null-latency=1ms --threads=8 --workers=1 \
  >     --time=60 --report=none run 2>&1 | grep FATAL
  FATAL: *a finalizer (__gc) called sb_con_query(): finalizers must not use the database (glob)

It is recognized even if it collects garbage first.

  $ sed 's/function() mine/function() collectgarbage() collectgarbage("step") mine/' \
  >     finalizer.lua >collects.lua
  $ sysbench collects.lua --db-driver=null --null-latency=1ms --threads=8 --workers=1 \
  >     --time=60 --report=none run 2>&1 | grep FATAL
  FATAL: *a finalizer (__gc) called sb_con_query(): finalizers must not use the database (glob)

An error in a finalizer of a C type ends the run.

  $ cat >type.lua <<'END'
  > local ffi = require("ffi")
  > ffi.cdef("typedef struct { int x; } typed_t;")
  > local typed = ffi.metatype("typed_t", { __gc = function() error("collected") end })
  > function event() for _ = 1, 1000 do local t = typed() end end
  > END
  $ for w in 1 users; do
  >     sysbench type.lua --db-driver=null --threads=2 --workers=$w --time=60 --report=none \
  >         run 2>&1 | grep FATAL
  > done
  FATAL: *type.lua:3: collected (glob)
  FATAL: *type.lua:3: collected (glob)

Connections that a script drops are closed, although its collectgarbage() is a step.

  $ cat >leak.lua <<'END'
  > function thread_init() drv = sysbench.sql.driver() end
  > function event() drv:connect():query("SELECT 1") end
  > END
  $ (ulimit -n 260; sysbench leak.lua --db-driver=sqlite --sqlite-db=leak.db --threads=8 \
  >     --workers=1 --events=1000 --time=0 run 2>err) | grep 'number of events'
      total number of events:              1000

Users with an event loop of their own run compiled code.

  $ cat >compiled.lua <<'END'
  > local function look()
  >    if n == 0 then print("compiles:", (jit.status())) end
  > end
  > function thread_run()
  >    n = 0
  >    sysbench.user.wait(0.01)
  >    look()
  > end
  > END
  $ sysbench compiled.lua --threads=3 --workers=1 --time=1 run | grep compiles
  compiles:	true
  compiles:	true
  compiles:	true

The users of a script of 0.5 share the functions of its API: 300 users compile as little as 3.

  $ cat >old_api.lua <<'END'
  > local traces = 0
  > local function count(what) traces = traces + (what == "stop" and 1 or 0) end
  > function thread_init()
  >    if thread_id == 5 then jit.attach(count, "trace") end
  >    db_connect()
  > end
  > function event() db_query("SELECT 1") end
  > function thread_done()
  >    if thread_id == 5 then print("few traces:", traces < 40) end
  > end
  > END
  $ sysbench old_api.lua --db-driver=null --threads=300 --workers=1 --events=60000 --time=0 \
  >     run | grep few
  few traces:	true

A module in the current folder that replaces an installed one is the user's.

  $ mkdir -p own; cat >own/oltp_common.lua <<'END'
  > string.seen = (string.seen or 0) + 1
  > sysbench.opt = setmetatable({}, { __index = sysbench.opt })
  > function thread_init() print("seen:", string.seen) end
  > function event() end
  > END
  $ echo 'function execute_point_selects() end' >>own/oltp_common.lua
  $ (cd own && sysbench oltp_point_select --db-driver=null --threads=3 --workers=1 --events=3 \
  >     --time=0 run) | grep seen
  seen:	1
  seen:	1
  seen:	1

Extensions of LuaJIT change a library, but for all scripts alike.

  $ echo 'require("table.new") function event() end' >new.lua
  $ sysbench new.lua --threads=8 --workers=1 --events=80 --time=0 --report=none --debug \
  >     run 2>&1 | grep "of its own"
  [1]

Users do not wait for a first user whose thread_init() takes long.

  $ cat >slow.lua <<'END'
  > function thread_init(id) if id == 0 then os.execute("sleep 4") end end
  > function event() end
  > END
  $ sysbench slow.lua --threads=8 --workers=2 --events=80 --time=0 --report=none --debug \
  >     run 2>&1 | grep "of their own"
  DEBUG: users of slow.lua have Lua states of their own: the thread_init() of the first one took more than 2 s

--luajit-cmd works with users that share a state.

  $ sysbench new.lua --threads=8 --workers=1 --events=100000 --time=0 --luajit-cmd=v run 2>&1 |
  >     grep -c "TRACE *1 " | sed 's/[1-9].*/some/'
  some

If a user other than the first changes something for all users, the change is not
undone. If a script calls a C function that waits, each user has a state of its own. If
the name of the function is not in the code, calling it ends the program.

  $ cat >late.lua <<'END'
  > function thread_init(id) if id == 3 then string.mine = id end end
  > function event() end
  > END
  $ sysbench late.lua --threads=8 --workers=1 --events=80 --time=0 --report=none run
  WARNING: late.lua, user 3: it changes string; this affects all users that share its Lua state (--workers=users gives each user its own)
  $ cat >loop.lua <<'END'
  > local ffi, more_events = require("ffi"), "sb_more_events"
  > function thread_run(id)
  >    local con = sysbench.sql.driver():connect()
  >    while ffi.C[more_events](id) do
  >       con:query("SELECT 1")
  >       ffi.C.sb_event_stop(id)
  >    end
  > end
  > END
  $ sysbench loop.lua --db-driver=null --null-latency=1ms --threads=8 --workers=1 \
  >     --events=80 --time=0 run | grep "number of events"
      total number of events:              80
  $ sed -i 's/"sb_more_events"/"sb_more" .. "_events"/' loop.lua
  $ sysbench loop.lua --db-driver=null --null-latency=1ms --threads=8 --workers=1 \
  >     --rate=100 --events=80 --time=0 --report=none run
  FATAL: a script called through the FFI a function that waits, but its users share a Lua state (--workers=users gives each user its own)
  [1]

LuaJIT drops all compiled code of a state if a script compiles too much; --debug says so.

  $ cat >much.lua <<'END'
  > local kept = {} -- LuaJIT frees the code of functions that are collected
  > function event(id)
  >    for k = 1, 1500 do
  >       local f = loadstring("local n = 0 for i = 1, 100 do n = n + " .. k .. " end")
  >       kept[#kept + 1] = f
  >       f()
  >    end
  > end
  > END
  $ sysbench much.lua --threads=2 --workers=1 --events=30 --time=0 --report=none --debug \
  >     run 2>&1 | grep dropped | head -n 1
  DEBUG: a Lua state of much.lua dropped all its compiled code * times (glob)
