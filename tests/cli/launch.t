SPDX-License-Identifier: GPL-2.0-or-later

`--launch`: a sweep starts its runs with a launcher. tests/db/test_mpi_plans uses
those of MPI.

  $ cat >e.lua <<'EOF'
  > function event() end
  > function prepare()
  >     local f = io.open("commands", "a")
  >     f:write("prepare\n")
  >     f:close()
  > end
  > EOF
  $ sweep() { sysbench e.lua --events=50 "$@" run 2>err; }
  $ runs() { grep '^\[' out | sed -E 's/[0-9.]+ events.s, p95 [0-9.]+ ms/FIGURES/'; }

A launcher starts each run, and the commands before and after it.

  $ cat >launcher <<'EOF'
  > #!/bin/sh
  > echo "$1 ($4 $5)" >>launched
  > shift
  > exec "$@"
  > EOF
  $ chmod +x launcher
  $ sweep --sweep=threads=1,2 --sweep-before=prepare \
  >     --launch='./launcher "a b"' --report=json=s.json >out; runs
  [1/2] threads=1: FIGURES
  [2/2] threads=2: FIGURES
  $ cat launched commands
  a b (--mpi=auto e.lua)
  a b (--mpi=auto e.lua)
  a b (--mpi=auto e.lua)
  a b (--mpi=auto e.lua)
  prepare
  prepare

A launcher of any length: the list of hosts may be long.

  $ hosts=$(printf 'host%04d.example.com,' $(seq 1 400))
  $ sweep --sweep=threads=1 --launch="./launcher $hosts" >out; runs
  [1/1] threads=1: FIGURES
  $ tail -1 launched | sed "s/^$hosts/HOSTS/"
  HOSTS (--mpi=auto e.lua)

Errors of the launcher are reported, and finished runs are kept.

  $ cat >launcher <<'EOF'
  > #!/bin/sh
  > rm launcher
  > exec "$@"
  > EOF
  $ chmod +x launcher
  $ sweep --sweep=threads=1,2 --launch=./launcher --report=json=s.json >out; runs
  [1/2] threads=1: FIGURES
  $ grep -v '^sh:' err
  ALERT: the sweep ended early: 1 of 2 runs are measured
  ALERT: the finished runs are in s.json.sweep; add --sweep-resume to measure the others
  FATAL: --launch: './launcher' cannot be executed, or cannot execute sysbench on a host (exit status 127)
  $ printf '#!/bin/sh\nexec "$@"\n' >launcher
  $ chmod +x launcher
  $ sweep --sweep=threads=1,2 --launch=./launcher --launch-timeout=90s \
  >     --sweep-resume --report=json=s.json >out; runs
  [1/2] threads=1: FIGURES (measured before)
  [2/2] threads=2: FIGURES
  $ sweep --sweep=threads=1 --launch=true >out; runs; head -1 err
  [1/1] threads=1: failed, exit status 1
  ALERT: --launch: 'true' ended with exit status 0 before all ranks were started, or rank 0 cannot write to * (glob)
  $ sweep --sweep=threads=1 --launch='sleep 1000;' --launch-timeout=0.5s >out
  [1]
  $ runs; head -1 err
  [1/1] threads=1: failed, exit status 143
  ALERT: --launch: 'sleep 1000;' did not start all ranks within 0.5 s (--launch-timeout), or rank 0 cannot write to * (glob)

A launcher that kills rank 0, as some do when another rank is lost.

  $ cat >killer <<'EOF'
  > #!/bin/sh
  > exec 3<&0
  > "$@" <&3 &
  > tries=0
  > until [ -e begun ] || [ $tries = 600 ]; do
  >     sleep 0.1
  >     tries=$((tries + 1))
  > done
  > kill -9 $!
  > exit 9
  > EOF
  $ chmod +x killer
  $ cat >begun.lua <<'EOF'
  > function thread_init() io.open("begun", "w"):close() end
  > function event() end
  > EOF
  $ sysbench begun.lua --time=600 --rate=1 --sweep=threads=2 --launch=./killer run >out 2>err
  [1]
  $ runs; head -1 err
  [1/1] threads=2: failed, exit status 9
  ALERT: the run threads=2 wrote no result: its launcher ended with exit status 9

Ctrl-C while a launcher starts the ranks is no error of the launcher.

  $ cat >slow <<'EOF'
  > #!/bin/sh
  > trap 'exit 130' INT
  > kill -INT $PPID
  > tries=0
  > until [ $tries = 600 ]; do
  >     sleep 0.1
  >     tries=$((tries + 1))
  > done
  > EOF
  $ chmod +x slow
  $ sweep --sweep=threads=1,2 --launch=./slow >out
  [130]
  $ runs; cat err
  ALERT: the sweep ended early: 0 of 2 runs are measured

Exit status 127 means that nothing was executed, unless the run has started.

  $ sweep --sweep=threads=1,2 --launch='sh -c "exit 127"' >out
  [1]
  $ runs; tail -1 err
  FATAL: --launch: 'sh -c "exit 127"' cannot be executed, or cannot execute sysbench on a host (exit status 127)
  $ echo 'function event() os.exit(127) end' >exits.lua
  $ sysbench exits.lua --events=1 --sweep=threads=1,2 --launch=env run >out 2>err
  [1]
  $ runs; head -2 err
  [1/2] threads=1: failed, exit status 127
  [2/2] threads=2: failed, exit status 127
  FATAL: the script ended the run with os.exit(127)
  ALERT: the run threads=1 wrote no result: its launcher ended with exit status 127

Settings that do not arrive.

  $ sweep --repeat=1 --sweep=threads=1 --launch='sh -c "exec \"\$@\" </dev/null" sh' >out
  [1]
  $ head -1 err
  this process gets no settings on standard input: a launcher (--launch) must connect it with rank 0, and belong to an MPI that sysbench was built with
  $ echo e.lua | sysbench --setup-from-stdin
  this process is sysbench *, but its settings are from another program (glob)
  [1]
  $ sysbench e.lua --launch=env prepare 2>&1 >/dev/null
  --launch only applies to the command run, not to prepare
  [1]
