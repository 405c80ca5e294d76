SPDX-License-Identifier: GPL-2.0-or-later

Commands: standard ones and a script's own, in one thread or in all threads.

  $ cat >std.lua <<'EOF'
  > function prepare() print("prepare", sysbench.tid) end
  > function cleanup() print("cleanup") end
  > function help() print("my help") end
  > function event() end
  > EOF
  $ sb() { sysbench "$@" | sed -e '1,2d'; }
  $ sb std.lua prepare --threads=3
  prepare	0
  $ sb std.lua cleanup
  cleanup
  $ sb std.lua help
  my help

A standard command that a script does not implement, and an unknown command.

  $ echo 'function event() end' >e.lua
  $ for c in prepare cleanup help jump; do
  >     sysbench ./e.lua $c 2>&1 >out; echo $?
  > done
  'e.lua' test does not implement the 'prepare' command.
  1
  'e.lua' test does not implement the 'cleanup' command.
  1
  'e.lua' test does not implement the 'help' command.
  1
  Unknown command: jump. Supported commands: run
  1
  $ sysbench cpu prepare 2>&1 >out
  'cpu' test does not implement the 'prepare' command.
  [1]

A command that is declared before its function is defined.

  $ cat >late.lua <<'EOF'
  > sysbench.cmdline.commands = {prepare = {prepare, true}, fill = {fill}}
  > local function prepare() end
  > local function fill() end
  > function event() end
  > EOF
  $ for c in prepare fill cleanup; do sysbench late.lua $c 2>&1 >out; done
  sysbench.cmdline.commands.prepare has no function (is it defined further down?)
  sysbench.cmdline.commands.fill has no function (is it defined further down?)
  'late.lua' test does not implement the 'cleanup' command.
  [1]

A script's own commands. They may replace standard ones. The exit status is 1 if
they return false or raise an error.

  $ cat >own.lua <<'EOF'
  > local function say(word)
  >    return function() print(word) end
  > end
  > local function all()
  >    io.write("all " .. sysbench.tid .. "\n") -- print() writes twice
  > end
  > sysbench.cmdline.commands = {
  >    greet = {say("hello")},
  >    run = {say("my own run")},
  >    no = {function() return false end},
  >    oops = {function() error("oops") end},
  >    all = {all, sysbench.cmdline.PARALLEL_COMMAND},
  >    part = {function() if sysbench.tid == 1 then error("one") end end,
  >            sysbench.cmdline.PARALLEL_COMMAND},
  > }
  > EOF
  $ sb own.lua greet
  hello
  $ sb own.lua run
  my own run
  $ sysbench own.lua no 2>&1 >out
  FATAL: the 'no' command of own.lua failed (it returned false)
  [1]
  $ sysbench own.lua oops 2>&1 >out
  FATAL: `oops' function failed: own.lua:11: oops
  [1]

Parallel commands run once in each thread, each with its own Lua state.

  $ sysbench own.lua all | sed 1,2d
  all 0
  $ sysbench own.lua all --threads=3 | sed 1,2d | sort
  
  Initializing worker threads...
  all 0
  all 1
  all 2
  $ sysbench own.lua part --threads=3 2>&1 >out
  FATAL: `part' function failed: own.lua:13: one
  [1]
