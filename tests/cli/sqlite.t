SPDX-License-Identifier: GPL-2.0-or-later

The main task without a server: prepare, run, cleanup.

  $ [ -e "$SB_BUILDDIR/src/drivers/.libs/sqlite.so" ] || exit 80
  $ sb() { sysbench oltp_read_write --db-driver=sqlite --tables=2 \
  >     --table-size=100 --threads=2 --sqlite-busy-timeout=600 "$@"; }
  $ sb prepare >out 2>&1 || cat out
  $ ls sbtest.sqlite
  sbtest.sqlite

Event limits are exact, and the figures are right: 20 queries per transaction.

  $ sb --events=50 --time=0 run >report 2>err || cat report err
  $ grep -E 'number of events|transactions:|read:|write:|other:' report |
  >     sed 's/ *(.*//'
          read:                            700
          write:                           200
          other:                           100
      transactions:                        50
      total number of events:              50
  $ grep -E '^(FATAL|ALERT)' err
  [1]

Without the tables a run ends with status 1, and the message says what to do.

  $ sb cleanup >out 2>&1 || cat out
  $ sb --events=1 --time=0 run >out 2>err
  [1]
  $ grep -q prepare err

An error that ends the run is also in the table of errors. Neither prints
control characters to the terminal.

  $ cat >wipe.lua <<'EOT'
  > function thread_init() con = sysbench.sql.driver("sqlite"):connect() end
  > function event() con:query('SELECT "\27[2J\7" FROM "\27[31m\194\155red"') end
  > EOT
  $ sysbench wipe.lua run --events=1 --verbosity=2 2>err
  [1]
  $ sed -e 's/[0-9]*\.[0-9]*s/Ns/' -e 's/(was [^)]*)/HINT/' \
  >     -e 's/^FATAL: .*lua:2:/FATAL:/' err
  Errors by code:
      driver         code state       count   first seen  sample
      sqlite            1 42S02           1       Ns  no such table: \x1b[31m\xc2\x9bred HINT
      ignored: 0, restarted: 0, given up: 0, fatal: 1; failed events: 1
  FATAL: SQL error, errno = 1, state = '42S02': no such table: \x1b[31m\xc2\x9bred HINT (query: SELECT "\x1b[2J\x07" FROM "\x1b[31m\xc2\x9bred")
  $ LC_ALL=C tr -d '\n\t\040-\176' <err | wc -c
  0

If another connection has changed the columns of a table, the next execution returns the
new columns, for plain and for prepared statements.

  $ cat >columns.lua <<'EOT'
  > function event()
  >    local drv = sysbench.sql.driver()
  >    local con, other = drv:connect(), drv:connect()
  >    con:query("CREATE TABLE c(a INT, b INT)")
  >    con:query("INSERT INTO c VALUES(5, 6)")
  >    local all = con:prepare("SELECT * FROM c")
  >    all:execute()
  >    print(con:query_row("SELECT * FROM c"))
  >    other:query("ALTER TABLE c ADD d INT DEFAULT 7")
  >    print(con:query_row("SELECT * FROM c"))
  >    print(all:execute().nfields)
  >    other:query("ALTER TABLE c DROP COLUMN b")
  >    print(con:query("SELECT * FROM c").nfields, all:execute().nfields)
  > end
  > EOT
  $ sysbench columns.lua --sqlite-db=c.db --verbosity=0 --events=1 run
  5\t6 (esc)
  5\t6\t7 (esc)
  3
  2\t2 (esc)
