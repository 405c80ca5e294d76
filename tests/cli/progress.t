SPDX-License-Identifier: GPL-2.0-or-later

--progress: a line on stderr, on terminals only.

  $ cat >terminal.py <<'EOF'
  > # Runs a command on a terminal, and prints its progress lines.
  > import fcntl, os, pty, re, struct, sys, termios
  > pid, fd = pty.fork()
  > if pid == 0:
  >     fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack(
  >         "HHHH", 25, int(os.environ.get("COLUMNS", 200)), 0, 0))
  >     os.execvp(sys.argv[1], sys.argv[1:])
  > out = b""
  > try:
  >     while True:
  >         data = os.read(fd, 4096)
  >         if not data:
  >             break
  >         out += data
  > except OSError:
  >     pass  # the end
  > os.waitpid(pid, 0)
  > for line in re.findall(rb"\r([^\r\n]+?)\x1b\[K", out):
  >     print(re.sub(r"[0-9.]+", "N", line.decode()))
  > EOF
  $ /usr/bin/python3 -c 'import pty; pty.openpty()' 2>/dev/null || exit 80
  $ terminal() { /usr/bin/python3 terminal.py sysbench "$@" run | sort -u; }
  $ echo 'function event() end' >e.lua
  $ terminal e.lua --time=2 --think-time=1ms
  N:N left: N user, N events/s, pN N ms
  $ terminal e.lua --time=2 --think-time=1ms --threads=2 --rate=100
  N:N left: N users, N events/s, pN N ms, queue N
  $ terminal e.lua --time=2 --think-time=1ms --progress=off
  $ terminal e.lua --time=2 --think-time=1ms --verbosity=2

With interval lines only on request.

  $ terminal e.lua --time=1 --think-time=1ms --report-interval=0.5
  $ terminal e.lua --time=1 --think-time=1ms --report-interval=0.5 --progress
  N:N left: N user, N events/s, pN N ms

While the rate is being found.

  $ terminal e.lua --time=0.1 --think-time=1ms --rate=max \
  >     --rate-limit='p99<10s' --rate-probe-time=0.5 --rate-trial-time=1 \
  >     --rate-trials=2 | grep -v '^N:N left'
  maximum of a closed loop: N:N left
  trial N of at most N: N events/s, N:N left

In a sweep, with the number of the run, also during a pause.

  $ terminal e.lua --time=2 --think-time=1ms --sweep=threads=1,2 \
  >     --sweep-pause=1
  pause, N:N left until run N/N
  run N/N (last ends in N:N), N:N left: N user, N events/s, pN N ms
  run N/N (last ends in N:N), N:N left: N users, N events/s, pN N ms

A line is shorter than the terminal is wide.

  $ COLUMNS=40 terminal e.lua --time=2 --think-time=1ms --threads=2 --rate=100
  N:N left: N users, N events/s

Nothing of it without a terminal.

  $ sysbench e.lua --time=2 --think-time=1ms --progress run 2>&1 |
  >     grep -c 'left:'
  0
  [1]
