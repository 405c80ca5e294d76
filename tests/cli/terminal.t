SPDX-License-Identifier: GPL-2.0-or-later

Not with tsan: one thread.

On a terminal.

  $ /usr/bin/python3 -c 'import pty; pty.openpty()' 2>/dev/null || exit 80
  $ unset COLUMNS

The help is as wide as the terminal.

  $ cat >terminal.py <<'EOF'
  > import fcntl, os, pty, struct, sys, termios
  > pid, fd = pty.fork()
  > if pid == 0:
  >     fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("4H", 30, 100, 0, 0))
  >     os.execv(sys.argv[1], sys.argv[1:])
  > try:
  >     while data := os.read(fd, 4096):
  >         os.write(1, data)
  > except OSError:
  >     pass
  > EOF
  $ /usr/bin/python3 terminal.py "$SYSBENCH" --help=all |
  >     tr -d '\r' | awk '{ if (length > n) n = length } END { print n }'
  100

Without a workload, the program does not wait for a script.

  $ /usr/bin/python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' sysbench </dev/null |
  >     tr -d '\r' | head -n 1
  Which workload? For example: sysbench oltp_read_write run. 'sysbench --list' shows the workloads, 'sysbench --help' the options; 'sysbench -' reads a script from the terminal.
