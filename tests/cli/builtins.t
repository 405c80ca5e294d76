SPDX-License-Identifier: GPL-2.0-or-later

Not with tsan: one thread.

Built-in tests that end by themselves do not warn of an endless test.

  $ sb() { sysbench "$@" 2>&1 >out; }
  $ sb memory run --time=0 --events=0 --memory-total-size=1M
  $ grep 'Total operations' out | sed 's/(.*//'
  Total operations: 1024 
  $ sb mutex run --time=0 --mutex-locks=10

Each of their users has a thread. A notice says so if --workers asks for workers.

  $ sb memory run --memory-total-size=1M --threads=4 --workers=2
  --workers has no effect on the built-in test 'memory': each of its users has a thread
  $ sb mutex run --mutex-locks=10 --workers=processors
  --workers has no effect on the built-in test 'mutex': each of its users has a thread
  $ sb mutex run --mutex-locks=10 --workers=users
  $ sb mutex run --mutex-locks=10 --workers=auto --threads=100

A warning is printed for built-in tests that do not end, and for scripts that do not
declare that they end.

  $ warned() {
  >     : >err
  >     sysbench "$@" run --time=0 >out 2>err & pid=$!
  >     until grep -q . err || ! kill -0 $pid 2>kill; do sleep 0.05; done
  >     kill -s TERM $pid 2>kill
  >     wait $pid 2>kill
  >     head -1 err
  > }
  $ warned memory --memory-total-size=0
  WARNING: Both event and time limits are disabled, running an endless test
  $ warned cpu
  WARNING: Both event and time limits are disabled, running an endless test
  $ echo 'function event() return true end' >ends.lua
  $ warned ends.lua
  WARNING: Both event and time limits are disabled, running an endless test
  $ cat >>ends.lua <<'EOF'
  > sysbench.cmdline.options = { count = {"", 0} }
  > function sysbench.hooks.ends_by_itself() return sysbench.opt.count > 0 end
  > EOF
  $ warned ends.lua
  WARNING: Both event and time limits are disabled, running an endless test
  $ sb ends.lua --count=1 --time=0 run
  $ sb --db-driver=null iibench --max-rows=1 --time=0 --verbosity=2 run | grep -c endless
  0
  [1]

A mix warns if one of its workloads does not say that it ends.

  $ warned --mix=ends.lua,b=ends.lua --b.count=1
  WARNING: Both event and time limits are disabled, running an endless test
  $ cat >one.lua <<'EOF'
  > function event() sysbench.user.stop() end
  > function sysbench.hooks.ends_by_itself() return true end
  > EOF
  $ sb --mix=one.lua,b=one.lua --time=0 run
  $ rm one.lua

Below verbosity 3 their commands print nothing.

  $ files="--file-num=2 --file-total-size=64K"
  $ sysbench fileio prepare $files --verbosity=2
  $ ls
  ends.lua
  err
  kill
  out
  test_file.0
  test_file.1
  $ sysbench fileio prepare $files | sed 1,2d
  2 files, 32Kb each, 0Mb total
  Creating files for the test...
  Extra file open flags: (none)
  Reusing existing file test_file.0
  Reusing existing file test_file.1
  No bytes written.
  $ sysbench fileio run $files --file-test-mode=rndrw --events=10 --verbosity=2
  $ sysbench fileio cleanup $files --verbosity=2
  $ ls test_file* 2>err
  [2]

Asynchronous requests, where the system allows them.

  $ sysbench fileio prepare $files --validate --verbosity=2
  $ async() {
  >     sb fileio run $files --file-test-mode=rndrw --file-io-mode=async --validate \
  >         --threads=2 --events=200 --time=0 --file-async-backlog=10
  > }
  $ async >err || grep -q io_uring err || cat err
  $ [ -s err ] || [ "$(grep -cE 'asynchronous I/O mode|events: +200$' out)" = 2 ] || cat out

A container that forbids io_uring: a filter that makes io_uring_setup() fail with EPERM.

  $ cat >forbid.py <<'EOF'
  > import ctypes, os, struct, sys
  > code = [(0x20, 0, 0, 0), (0x15, 0, 1, 425), (6, 0, 0, 0x50001), (6, 0, 0, 0x7fff0000)]
  > text = b"".join(struct.pack("HBBI", *line) for line in code)
  > program = ctypes.create_string_buffer(text)
  > filter = struct.pack("HxxxxxxP", len(code), ctypes.addressof(program))
  > libc = ctypes.CDLL(None)
  > assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, filter, 0, 0) == 0
  > os.execvp(sys.argv[1], sys.argv[1:])
  > EOF
  $ /usr/bin/python3 forbid.py sysbench fileio run $files --file-test-mode=rndrd \
  >     --file-io-mode=async 2>&1 >out |
  >     sed -E 's/and this sysbench was built without liburing|which this system refuses: Function not implemented \(it requires Linux 5.6\)/which this system refuses: Operation not permitted (forbidden by the seccomp profile of a container or by the sysctl kernel.io_uring_disabled)/'
  FATAL: --file-io-mode=async requires io_uring, which this system refuses: Operation not permitted (forbidden by the seccomp profile of a container or by the sysctl kernel.io_uring_disabled); use sync or mmap
  $ sysbench fileio cleanup $files --verbosity=2
  $ rm err forbid.py

A block that is greater than the total would not be transferred once.

  $ sysbench memory run --memory-block-size=2M --memory-total-size=1M 2>&1 >out
  FATAL: --memory-block-size=2097152 is greater than --memory-total-size=1048576: no block would be transferred
  [1]

seqwr creates the files again, and says so if there are some.

  $ seq="--file-num=1 --file-total-size=64K"
  $ sysbench fileio prepare $seq --verbosity=2
  $ sysbench fileio run $seq --file-test-mode=seqwr --events=1 2>&1 >out
  WARNING: seqwr truncates the existing files, such as test_file.0, and writes them again: run 'prepare' again before using another mode
  $ sysbench fileio run $seq --file-test-mode=seqrd --events=1 2>&1 >out | sed 's/.*Did you/Did you/'
  Did you run 'prepare' with different --file-total-size or --file-num values, or 'run' with --file-test-mode=seqwr, which truncates the files?
  $ sysbench fileio cleanup $seq --verbosity=2
  $ sysbench fileio run $seq --file-test-mode=seqwr --events=1 2>&1 >out

Options without an effect, and a run without events.

  $ warnings() { sysbench "$@" run 2>&1 | grep WARNING; }
  $ warnings memory --memory-total-size=1M --events=3 --warmup-time=1
  WARNING: --events has no effect on the built-in test 'memory': its own options limit its events
  WARNING: --warmup-time has no effect on the built-in test 'memory'
  $ warnings mutex --mutex-locks=1 --events=3
  WARNING: --events has no effect on the built-in test 'mutex': its own options limit its events
  $ warnings mutex --mutex-locks=1
  [1]
  $ warnings cpu --rate=0.01 --time=0.1 --rand-seed=1 | sed 's/in [0-9.]* s/in N s/'
  WARNING: no event was completed in N s, so there are no figures
  $ warnings cpu --events=1
  [1]
