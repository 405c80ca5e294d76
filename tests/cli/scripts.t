SPDX-License-Identifier: GPL-2.0-or-later

Scripts from a file, by the name of a module, and from standard input; messages
if a script is missing or wrong.

  $ mkdir dir
  $ cat >dir/mine.lua <<'EOF'
  > print("body", sysbench.cmdline.script_path, sysbench.cmdline.command)
  > function prepare() print("prepare") end
  > EOF
  $ sb() { sysbench "$@" | sed -e '1,2d'; }

A path with or without its .lua, a module on package.path, --test=.

  $ sb dir/mine.lua prepare
  body	dir/mine.lua	prepare
  prepare
  $ sb dir/mine prepare
  body	dir/mine	prepare
  prepare
  $ LUA_PATH="$PWD/dir/?.lua;;" sb mine prepare
  body	mine	prepare
  prepare
  $ sb --test=dir/mine.lua prepare 2>err
  body	dir/mine.lua	prepare
  prepare
  $ cat err
  WARNING: --test is deprecated, use the name of the script as the first argument instead

require() finds a module beside the script, before those of the current folder, of
package.path and of the bundled workloads.

  $ echo 'function cleanup() print("mine") end' >dir/common.lua
  $ echo 'function cleanup() print("of the folder") end' >common.lua
  $ echo 'require("common")' >dir/user.lua
  $ sb dir/user.lua cleanup
  mine
  $ LUA_PATH="$PWD/?.lua;;" sb dir/user.lua cleanup
  mine
  $ rm dir/common.lua
  $ sb dir/user.lua cleanup
  of the folder
  $ rm common.lua

Of the bundled workloads it finds those of 1.0 and sb.*.

  $ for name in common json; do
  >     echo "print(pcall(require, '$name'))" >dir/user.lua
  >     sb dir/user.lua | sed -n 1p
  > done
  false	module 'common' not found:
  false	module 'json' not found:
  $ for name in oltp_common oltp_read_write .oltp_common sb.weights; do
  >     echo "print(pcall(require, '$name'))" >dir/user.lua
  >     sb dir/user.lua help 2>err | sed -n 1p | cut -f 1
  > done
  true
  true
  true
  true

A module of the current folder replaces that of an installed workload, however that
is found.

  $ echo 'error("mine", 0)' >oltp_common.lua
  $ sysbench oltp_insert help 2>&1 | grep mine
  FATAL: mine
  $ ln -s "$SB_SRCDIR/tests/lua" linked
  $ sysbench linked/oltp_insert.lua help 2>&1 | grep mine
  FATAL: mine
  $ rm oltp_common.lua linked

The parts of the installed workloads, sb.*, are only replaced for scripts of users.

  $ mkdir sb
  $ echo 'error("mine", 0)' >sb/sbtest.lua
  $ sb oltp_insert prepare --db-driver=null --table-size=1 | sed -n 1p
  Creating table 'sbtest1'...
  $ echo 'require("sb.sbtest")' >uses.lua
  $ sysbench uses.lua help 2>&1 | grep mine
  FATAL: mine
  $ rm -r sb uses.lua

A script that changes the current folder is still found, and so are the modules beside
it.

  $ cat >dir/moves.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int chdir(const char *);")
  > if sysbench.cmdline.main_state then ffi.C.chdir("/") end
  > function thread_init() print(require("beside_it")) end
  > function event() print(debug.getinfo(1).source) return true end
  > EOF
  $ echo 'return debug.getinfo(1).source' >dir/beside_it.lua
  $ sb dir/moves.lua run --threads=2 | grep '^@'
  @dir/beside_it.lua
  @dir/beside_it.lua
  @dir/moves.lua
  @dir/moves.lua

The same path in another folder is another file, also one of the same age.

  $ mkdir one two
  $ echo 'print("one")' >one/part.lua; echo 'print("two")' >two/part.lua
  $ touch -d 2026-01-01 one/part.lua two/part.lua
  $ cat >parts.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int chdir(const char *);")
  > for _, folder in ipairs{"one", "../two"} do
  >    ffi.C.chdir(folder)
  >    dofile("part.lua")
  > end
  > EOF
  $ sysbench parts.lua 2>&1 | grep '^one\|^two'
  one
  two
  $ rm -r one two

A rounding mode that a script sets does not affect the program.

  $ cat >rounds.lua <<'EOF'
  > local ffi = require("ffi")
  > ffi.cdef("int fesetround(int); int fegetround(void);")
  > local upward = jit.arch == "arm64" and 0x400000 or 0x800
  > function init() ffi.C.fesetround(upward) end
  > function event() return true end
  > function done() print(ffi.C.fegetround()) end
  > EOF
  $ sb rounds.lua run | tail -n 1
  0

The path of modules is LUA_PATH; two semicolons in it are the default path.

  $ echo 'print(package.path)' >path.lua
  $ path() { sb path.lua | cut -d ';' "$@" | tr ';' '\n'; }
  $ HOME=/home/me LUA_PATH='/first/?.lua;;/last/?.lua' path -f 1-12
  /first/?.lua
  ./?.lua
  ./?/init.lua
  ./src/lua/?.lua
  /home/me/.luarocks/share/lua/5.1/?.lua
  /home/me/.luarocks/share/lua/5.1/?/init.lua
  /home/me/.luarocks/share/lua/?.lua
  /usr/local/share/lua/5.1/?.lua
  /usr/local/share/lua/5.1/?/init.lua
  /usr/share/lua/5.1/?.lua
  /usr/share/lua/5.1/?/init.lua
  /last/?.lua
  $ (unset HOME LUA_PATH; path -f 1,3,4)
  ./?.lua
  ./src/lua/?.lua
  /usr/local/share/lua/5.1/?.lua
  $ LUA_PATH='/only/?.lua' path -f 1-2
  /only/?.lua
  /only/?.lua

A module on package.path does not hide a workload.

  $ echo 'print("not the workload")' >dir/json.lua
  $ LUA_PATH="$PWD/dir/?.lua;;" sysbench json help | grep -c 'not the workload'
  0
  [1]

--verbosity hides the warning of deprecated options.

  $ sysbench --test=dir/mine.lua --num-threads=1 --verbosity=1 prepare
  body	dir/mine.lua	prepare
  prepare
  $ sysbench --test=dir/mine.lua --num-threads=1 --verbosity=2 prepare
  WARNING: deprecated options: --test (use the name of the script as the first argument), --num-threads (use --threads)
  body	dir/mine.lua	prepare
  prepare

Without a command only the body of the script runs: sysbench as an interpreter.

  $ sb dir/mine.lua
  body	dir/mine.lua	nil

From standard input, with the name "-" or without a name; only the body runs.

  $ echo 'print("typed", sysbench.version ~= nil)' | sb
  typed	true
  $ echo 'function event() print("no") end print("typed")' | sb - run
  typed

An installed workload is found by its name, and by an old path that does not
exist, with a notice.

  $ sb oltp_point_select.lua run --db-driver=null --events=1 --time=0 |
  >     grep 'of events'
      total number of events:              1
  $ sb --test=/usr/old/tests/db/oltp.lua help 2>&1 | grep -o 'NOTICE.*using'
  NOTICE: no such file: /usr/old/tests/db/oltp.lua; using

A script that does not exist, cannot be read, or is not valid Lua.

  $ sysbench none.lua run 2>&1 >out
  FATAL: Cannot find benchmark 'none.lua': no such built-in test, file or module (searched: the current folder, the Lua path, *) (glob)
  [1]
  $ printf 'local x = 1\nfunction event( end\n' >broken.lua
  $ sysbench broken.lua run 2>&1 >out
  FATAL: broken.lua:2: <name> or '...' expected near 'end'
  [1]
  $ echo 'x = = 1' | sysbench 2>&1 >out
  FATAL: stdin:1: unexpected symbol near '='
  [1]
  $ echo 'local t = nil; t.x = 1' >fails.lua
  $ sysbench fails.lua run 2>&1 >out
  FATAL: *fails.lua:1: attempt to index local 't' (a nil value) (glob)
  [1]

Without event() there is nothing to run, and the run does not start.

  $ echo 'function prepare() end' >noevent.lua
  $ sysbench noevent.lua run 2>err | grep -c threads
  0
  [1]
  $ cat err
  FATAL: cannot find the event() function in noevent.lua

An error in event() ends the run. The report is still printed, and the message
has the line number.

  $ cat >third.lua <<'EOF'
  > local n = 0
  > function event()
  >    n = n + 1
  >    if n == 3 then error("no more") end
  > end
  > EOF
  $ sysbench third.lua run --time=600 >out 2>err
  [1]
  $ grep 'number of events' out
      total number of events:              2
  $ grep FATAL err
  FATAL: `thread_run' function failed: third.lua:4: no more

An error in an earlier hook also ends the run.

  $ echo 'function event() end function init() error("init no") end' >i.lua
  $ sysbench i.lua run 2>&1 >out
  FATAL: `init' function failed: i.lua:1: init no
  [1]
  $ echo 'function event() end function thread_init() x.y = 1 end' >t.lua
  $ sysbench t.lua run --threads=3 2>&1 >out | sed 1q
  FATAL: `thread_init' function failed: t.lua:1: attempt to index global 'x' (a nil value)

The output of hooks appears in the same place as in sysbench 1.0.

  $ cat >hooks.lua <<'EOF'
  > function init() print("init") end
  > function thread_init(id) print("thread_init", id) end
  > function event(id) end
  > function thread_done(id) print("thread_done", id) end
  > function done() print("done") end
  > sysbench.hooks.report_cumulative = function(stat)
  >    print("events", stat.events)
  > end
  > EOF
  $ sb hooks.lua run --events=3 --time=0 --rand-seed=5
  init
  Running the test with following options:
  Number of threads: 1
  Initializing random number generator from seed (5).
  
  
  Initializing worker threads...
  
  thread_init	0
  Threads started!
  
  thread_done	0
  events	3
  done

Documents are garbage soon. It is collected before the heap has grown much, from the
first document on.

  $ cat >documents.lua <<'EOF'
  > function event()
  >    local mongodb = sysbench.mongodb
  >    local bytes = mongodb.encode{a = 1, b = {1, 2, 3}, c = "text"}
  >    collectgarbage()
  >    local live = collectgarbage("count")
  >    local most = live
  >    for i = 1, 20000 do
  >       mongodb.decode(bytes)
  >       most = math.max(most, collectgarbage("count"))
  >    end
  >    print("heap:", most / live < 1.5)
  > end
  > EOF
  $ sysbench documents.lua run --db-driver=null --events=1 | grep heap
  heap:	true

A script of 0.5 throws the number of the error: the event is restarted.

  $ cat >number.lua <<'EOF'
  > local tries = 0
  > function event()
  >    tries = tries + 1
  >    if tries == 1 then error(sysbench.error.RESTART_EVENT, 0) end
  > end
  > function thread_done() print("tries:", tries) end
  > EOF
  $ sysbench number.lua run --db-driver=null --events=2 --time=0 2>err | grep tries
  tries:	3

If an event itself raises RESTART_EVENT, the program rolls back on all connections of
the user.

  $ cat >again.lua <<'EOF'
  > local con, tries = nil, 0
  > function thread_init()
  >    con = sysbench.sql.driver():connect()
  >    con:query("CREATE TABLE t (a INTEGER)")
  > end
  > function event()
  >    tries = tries + 1
  >    con:query("BEGIN")
  >    con:query("INSERT INTO t VALUES (1)")
  >    if tries < 3 then
  >       error({errcode = sysbench.error.RESTART_EVENT})
  >    end
  >    con:query("COMMIT")
  > end
  > function thread_done()
  >    print("rows:", con:query_row("SELECT COUNT(*) FROM t"))
  > end
  > EOF
  $ sysbench again.lua run --db-driver=sqlite --sqlite-db=again.db --events=1 --time=0 \
  >     2>&1 | grep -E 'rows|FATAL'
  rows:	1

A connection that the script has dropped before does not prevent that.

  $ sed 's/^   if tries < 3 then/&\
  >       if tries == 1 then\
  >          do local dropped = sysbench.sql.driver():connect() end\
  >          collectgarbage() collectgarbage()\
  >       end/' again.lua >dropped.lua
  $ sysbench dropped.lua run --db-driver=sqlite --sqlite-db=dropped.db --events=1 --time=0 \
  >     2>&1 | grep -E 'rows|FATAL|ALERT'
  rows:	1

The user thinks after an event that was given up, too.

  $ cat >fails.lua <<'EOF'
  > function event() error({errcode = sysbench.error.RESTART_EVENT}) end
  > EOF
  $ sysbench fails.lua run --db-driver=null --events=3 --time=0 --max-restarts=1 \
  >     --think-time=0.3s 2>err | awk '/total time:/ { print ($3 + 0 >= 0.6) }'
  1

The command line in an advice reaches the same database, and shows no secret.

  $ sysbench oltp_read_write --tables=2 --sqlite-db="it's" --sqlite-create=on \
  >     --db-driver=sqlite --mysql-password=geheim --threads=2 --time=1 run 2>&1 |
  >     sed -n 's/^FATAL: //p'
  table 'sbtest1' does not exist: create it with: sysbench oltp_read_write --tables=2 '--sqlite-db=it'\''s' --sqlite-create=on --db-driver=sqlite --mysql-password=... prepare
  $ cat >line.lua <<'EOF'
  > sysbench.cmdline.options = {mine = {"", "a"}}
  > function prepare() print(sysbench.cmdline.command_line("run")) end
  > EOF
  $ sb line.lua --mine='b c' --db-debug --report-interval=1 prepare
  sysbench line.lua '--mine=b c' --db-debug run

Options of a connection that are no table.

  $ echo 'function init() sysbench.sql.driver():connect("host=db1") end function event() end' >options.lua
  $ sysbench options.lua --db-driver=null run 2>&1 | grep FATAL
  FATAL: `init' function failed: options.lua:1: connect() takes a table of options, such as {mysql_host = "db1"}, not a string
  $ fails() {
  >     echo "function init() $1 end function event() end" >options.lua
  >     sysbench options.lua --db-driver=null run 2>&1 | grep FATAL
  > }
  $ fails 'sysbench.mongodb.connect("x")'
  FATAL: `init' function failed: options.lua:1: connect() takes a table of options, such as {mysql_host = "db1"}, not a string
  $ fails 'sysbench.sql.driver():connect{password = {}}'
  FATAL: `init' function failed: options.lua:1: connect{password = ...}: the value must be a string, a number or a boolean, not a table
  $ fails 'sysbench.sql.driver({})'
  FATAL: `init' function failed: options.lua:1: driver() requires a string, not a table

math.random() gives each user and the main state its own sequence, which the seed
repeats, also if the script needs complete tables. After math.randomseed(x) the
sequence depends only on x.

  $ cat >numbers.lua <<'EOF'
  > local function numbers(what)
  >    print(what, math.random(), math.random(1000000), math.random(5, 1000000))
  > end
  > function init() numbers("main") end
  > function thread_init()
  >    numbers("user " .. sysbench.tid)
  >    math.randomseed(42)
  >    numbers("seeded")
  > end
  > function event() end
  > EOF
  $ (cat numbers.lua; echo 'pairs({})') >full.lua
  $ for script in numbers full; do
  >    for run in 1.a 1.b 2.a; do
  >       sysbench $script.lua --threads=3 --events=1 --db-driver=null \
  >           --rand-seed=${run%.*} run |
  >       grep -E '^(main|user|seeded)' | sort >$script.$run
  >    done
  > done
  $ cmp numbers.1.a numbers.1.b && cmp numbers.1.a full.1.a && cmp numbers.2.a full.2.a
  $ grep -E 'main|user' numbers.1.a numbers.2.a | cut -f 2-4 | tr '\t' '\n' | sort | uniq -d
  $ grep -h seeded numbers.1.a numbers.2.a | sort -u | wc -l
  1

A file in the current folder that has the name of a workload hides it, which a notice
says unless the user named the file. If it is no workload, that is said; a folder hides
nothing.

  $ mkdir hides && cd hides
  $ echo '{"a": 1}' >json
  $ printf '\177ELF\001' >ycsb
  $ : >crud
  $ echo 'return {encode = tostring}' >vector.lua
  $ mkdir oltp_insert
  $ echo 'return' >mine.lua
  $ hides() { sysbench "$@" --db-driver=null 2>&1 | sed -e '1,2d' -e 's, /[^ ]*/, DIR/,'; }
  $ hides json run
  FATAL: json in the current folder is not a Lua script (json:1: unexpected symbol near '{'); to run the installed workload with this name, give its path: DIR/json.lua
  $ hides ycsb run
  FATAL: ycsb in the current folder is not a Lua script (ycsb:1: unexpected symbol near 'char(127)'); to run the installed workload with this name, give its path: DIR/ycsb.lua
  $ hides crud run
  FATAL: cannot find the event() function in crud, a file of the current folder that hides the workload DIR/crud.lua
  $ hides vector prepare
  NOTICE: using vector.lua in the current folder, not the installed DIR/vector.lua
  'vector' test does not implement the 'prepare' command: a file of the current folder hides the workload DIR/vector.lua.
  $ hides ./vector.lua prepare
  'vector.lua' test does not implement the 'prepare' command.
  $ hides mine prepare
  'mine' test does not implement the 'prepare' command.
  $ hides oltp_insert help | head -n 1
  oltp_insert options:
  $ echo 'function event() end' >latency.lua
  $ cp latency.lua mine.lua
  $ notice() { sysbench "$@" --db-driver=null --events=1 run 2>&1 | grep NOTICE; }
  $ notice latency | sed 's, /[^ ]*/, DIR/,'
  NOTICE: using latency.lua in the current folder, not the installed DIR/latency.lua
  $ notice latency --sweep=threads=1,2 --repeat=2 | wc -l
  1
  $ notice latency.lua
  [1]
  $ notice ./latency
  [1]
  $ notice mine
  [1]
  $ notice latency --verbosity=2
  [1]
  $ (cd "$SB_SRCDIR/tests/lua" && notice oltp_insert)
  [1]
  $ cd ..

A script that sends pipelines outside event() does not keep their connections.

  $ cat >outside.lua <<'EOF'
  > local function kept()
  >    local cons = setmetatable({}, { __mode = "v" })
  >    for i = 1, 20 do
  >       local con = sysbench.sql.driver():connect()
  >       con:pipeline_begin()
  >       con:query("SELECT 1")
  >       con:pipeline_send()
  >       con:pipeline_next()
  >       cons[i] = con
  >    end
  >    collectgarbage()
  >    collectgarbage()
  >    local n = 0
  >    for _ in pairs(cons) do n = n + 1 end
  >    print(n < 10)
  > end
  > sysbench.cmdline.commands = { mine = { kept } }
  > function event() end
  > function thread_run() kept() end
  > EOF
  $ sysbench outside.lua --db-driver=null mine | grep -E "true|false"
  true
  $ sysbench outside.lua --db-driver=null --threads=1 run | grep -E "true|false"
  true

Rows of a bulk insert or a loader, and statements of a pipeline, that a script collects
but never sends are lost, which is said once.

  $ cat >unsent.lua <<'EOF'
  > function thread_init()
  >    con = sysbench.sql.driver():connect()
  >    if UNSENT == "loads" then loader = con:load("t", "a")
  >    elseif UNSENT == "rows" then con:bulk_insert_init("INSERT INTO t VALUES")
  >    else con:pipeline_begin() end
  > end
  > function event()
  >    for _ = 1, N do
  >       if UNSENT == "loads" then loader:int(1)
  >       elseif UNSENT == "rows" then con:bulk_insert_next("(1)")
  >       else con:query("INSERT INTO t VALUES (1)") end
  >    end
  >    return N == 1
  > end
  > function thread_done()
  >    if DONE and UNSENT == "rows" then con:bulk_insert_done()
  >    elseif DONE and UNSENT == "loads" then loader:close()
  >    elseif DONE then con:pipeline_send() end
  > end
  > EOF
  $ unsent() { (echo "UNSENT, DONE, N = '$1', $2, ${3:-2}"; cat unsent.lua) >unsent_$1.lua
  >     sysbench unsent_$1.lua --db-driver=null --threads=2 --events=10 --time=0 \
  >         run 2>&1 | sed -n 's/last [0-9]* /last N /; /WARNING/p'; }
  $ unsent rows false
  WARNING: the last N rows of bulk_insert_next() were not sent, because no bulk_insert_done() followed
  $ unsent statements false
  WARNING: the last N statements of pipeline_begin() were not sent, because no pipeline_send() followed
  $ unsent rows false 1
  WARNING: the last row of bulk_insert_next() was not sent, because no bulk_insert_done() followed
  $ unsent statements false 1
  WARNING: the last statement of pipeline_begin() was not sent, because no pipeline_send() followed
  $ unsent loads false
  WARNING: rows for table 't' are lost, because the script did not close their loader
  $ unsent loads true
  $ unsent rows true
  $ unsent statements true
