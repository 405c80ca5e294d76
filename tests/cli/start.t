SPDX-License-Identifier: GPL-2.0-or-later

Version and help do not depend on the folder or the environment.

  $ sysbench --version
  sysbench 2.0.0
  $ cd / && env -i "$SYSBENCH" --version
  sysbench 2.0.0
  $ cd "$CRAMTMP"
  $ sysbench --help | grep -c '^General options:$'
  1

The program finds its drivers and workloads from any folder.

  $ cd / && env -i "$SYSBENCH" --db-driver=null --events=7 --time=0 \
  >     oltp_point_select run | grep 'number of events'
      total number of events:              7
  $ cd "$CRAMTMP"

Wrong usage is reported on standard error, with exit status 1.

  $ sysbench --bogus cpu run 2>&1 >out
  invalid option: --bogus
  [1]
  $ sysbench --threads=x cpu run 2>&1 >out
  Invalid value for the 'threads' option: 'x' (must be a whole number)
  [1]
  $ sysbench nosuch run 2>&1 >out
  FATAL: Cannot find benchmark 'nosuch': no such built-in test, file or module (searched: the current folder, the Lua path, *) (glob)
  [1]

The limit for the start of users is printed as it was given.

  $ late() {
  >     sysbench oltp_point_select --db-driver=null --null-connect-latency=100 \
  >         --thread-init-timeout=$1 run 2>&1 >out | grep -o 'within .*!'
  > }
  $ late 0.1
  within 0.1 seconds!
  $ late 1
  within 1 seconds!

What is missing: a workload, a command, or both on a terminal.

  $ sysbench run 2>&1 >/dev/null
  FATAL: Cannot find benchmark 'run': no such built-in test, file or module (a workload is missing, as in 'sysbench oltp_read_write run'; 'sysbench --list' shows all)
  [1]
  $ sysbench connect 2>&1 >/dev/null
  FATAL: Command is required. Supported commands: run, help
  [1]

A wrong name of a driver.

  $ sysbench oltp_read_only --db-driver=SQLi run 2>&1 | grep -o 'no driver.*?)'
  no driver 'SQLi' (did you mean sqlite?)
  $ sysbench oltp_read_only --db-driver=embedded run 2>&1 | grep -o 'no driver.*?)'
  no driver 'embedded' (did you mean sqlite?)
  $ sysbench oltp_read_only --db-driver=sq run 2>&1 | grep -o 'no driver.*?)'
  no driver 'sq' (did you mean sqlite?)

Without the package of a driver, or of its client library:

  $ mkdir drivers
  $ export SYSBENCH_DRIVER_DIR=$PWD/drivers
  $ for driver in mysql mongodb pgsql; do
  >   [ ! -e "$SB_BUILDDIR/src/drivers/.libs/$driver.so" ] || break
  > done
  $ [ -e "$SB_BUILDDIR/src/drivers/.libs/$driver.so" ] || exit 80
  $ sysbench oltp_read_only --db-driver=$driver run 2>&1 | tail -n 1 |
  >   sed "s/$driver/NAME/g; s, in /.*/drivers, in DIR,"
  FATAL: there is no driver 'NAME' (package sysbench-NAME) in DIR; drivers: none
  $ grep -q 'libc\.so\.6' "$SB_BUILDDIR/src/drivers/.libs/null.so" || exit 80
  $ for to in libq.so.6 lib4.so.6; do
  >   LC_ALL=C sed "s/libc\.so\.6/$to/g" "$SB_BUILDDIR/src/drivers/.libs/null.so" \
  >     >drivers/null.so
  >   sysbench oltp_read_only --db-driver=null run 2>&1 | tail -n 1
  > done
  FATAL: the driver null needs the library libq.so.6, which is not installed; Debian's package has a name such as libq6
  FATAL: the driver null needs the library lib4.so.6, which is not installed; Debian's package has a name such as lib4-6
  $ unset SYSBENCH_DRIVER_DIR

A small stack of the main thread is raised, if the system allows it, or named.

  $ (ulimit -Ss 64; sysbench --db-driver=null oltp_point_select --events=10 --time=0 run) |
  >     grep events:
      total number of events:              10
  $ (ulimit -s 128; sysbench --version)
  FATAL: the stack is limited to 128 KiB (ulimit -s): the minimum is 256 KiB
  [1]
