SPDX-License-Identifier: GPL-2.0-or-later

--report=web=ADDR:PORT: a page and figures during the run. tests/page/ opens it
in a browser; tests/fault/test_web asks for it. Nothing here needs the charts library.

  $ run() {
  >     sysbench oltp_read_only --db-driver=null "$@" run 2>log; status=$?
  >     grep -v 'the charts library is missing' log >&2
  >     return $status
  > }
  $ if run --events=1 --report=none,web=0 2>&1 | grep 'without libmicrohttpd'; then
  >     exit 80
  > fi

Port 0 chooses a port and prints it; on this machine only.

  $ run --events=1 --report=none,web=127.0.0.1:0
  Live view: http://127.0.0.1:[1-9][0-9]*/ (re)
  $ run --events=1 --report=none,web=0
  Live view: http://127.0.0.1:[1-9][0-9]*/ (re)
  $ run --events=1 --report=none,web=:0
  Live view: http://127.0.0.1:[1-9][0-9]*/ (re)
  $ run --events=1 --report=none,web=localhost:0
  Live view: http://localhost:[1-9][0-9]*/ (re)

The address is printed on stderr, and not in the report on stdout.

  $ run --events=1 --report=web=0 2>/dev/null | grep -c 'Live view'
  0
  [1]

Bad addresses, before the load starts.

  $ for a in x 127.0.0.1 127.0.0.1:65536 127.0.0.1:http ::1:80 example.com:80; do
  >     run --events=1 --report=none,web=$a || echo "status $?"
  > done
  FATAL: --report=web: 'x' is not an address and a port, such as 127.0.0.1:8080
  status 1
  FATAL: --report=web: '127.0.0.1' is not an address and a port, such as 127.0.0.1:8080
  status 1
  FATAL: --report=web: '127.0.0.1:65536' is not an address and a port, such as 127.0.0.1:8080
  status 1
  FATAL: --report=web: '127.0.0.1:http' is not an address and a port, such as 127.0.0.1:8080
  status 1
  FATAL: --report=web: '::1:80' is not an address and a port, such as 127.0.0.1:8080
  status 1
  FATAL: --report=web: 'example.com:80' is not an address and a port, such as 127.0.0.1:8080
  status 1
  $ run --events=1 --report=none,web
  --report=web: the target is missing: write web=ADDR:PORT
  [1]

An address of another machine (192.0.2.0/24 is for documentation).

  $ run --events=1 --report=web=192.0.2.1:8080 | sed -n '/Init/,$p'
  FATAL: --report=web: cannot listen on 192.0.2.1:8080: Cannot assign requested address

Temporary files for the rows.

  $ TMPDIR=$PWD/none run --events=1 --report=none,web=0
  FATAL: --report=web: cannot create a temporary file in /*/none: No such file or directory (glob)
  [1]

The disk is full: the run goes on, says so once, and fails.

  $ { (ulimit -f 1; sysbench oltp_read_only --db-driver=null --null-latency=1ms \
  >     --report-interval=0.1 --time=1 --report=web=0 run); echo "status $?"; } 2>err |
  >     grep -o 'total number of events\|status.*'
  total number of events
  status 1
  $ grep -v -e 'Live view' -e 'the charts library is missing' err
  ALERT: --report=web: cannot keep the figures of an interval: File too large; the run continues, and intervals are missing in this report
