SPDX-License-Identifier: GPL-2.0-or-later

Files and folders that are not writable. Root can write all files, so the test
changes to another user.

  $ [ -e "$SB_BUILDDIR/src/drivers/.libs/sqlite.so" ] || exit 80
  $ as=
  $ if [ "$(id -u)" = 0 ]; then
  >     command -v setpriv >/dev/null || exit 80
  >     chmod a+x . ..
  >     as='setpriv --reuid=65534 --regid=65534 --clear-groups'
  >     $as sysbench --list 2>/dev/null | grep -q ' sqlite -' || exit 80
  > fi
  $ sb() { $as sysbench "$@" --db-driver=sqlite --table-size=100 --threads=2 \
  >     --events=10 --time=0 2>err >out && return
  >     sed -n 's/.*connection creation failed: //p; s/ (query.*//
  >         s/.*SQL error, errno = \([0-9]*\), .*: \(attempt\)/\1: \2/p' err
  >     return 1; }
  $ mkdir folder
  $ sysbench oltp_read_write --db-driver=sqlite --table-size=100 \
  >     --sqlite-db=folder/wal.db prepare >out 2>&1 || cat out
  $ sysbench oltp_read_write --db-driver=sqlite --table-size=100 \
  >     --sqlite-journal-mode=delete --sqlite-db=folder/plain.db prepare \
  >     >out 2>&1 || cat out
  $ chmod a-w folder folder/*

Both formats can be read, and no other files are left in the folder.

  $ sb oltp_read_only --sqlite-db=folder/plain.db run || cat err
  $ cat err
  $ sb oltp_read_only --sqlite-db=folder/wal.db run || cat err
  $ cat err
  Database 'folder/wal.db' is opened as immutable, because its folder is not writable. Other processes must not change it during the run.
  $ ls folder
  plain.db
  wal.db
  $ cp folder/wal.db 'folder%?#.db' && chmod 444 'folder%?#.db'
  $ sb oltp_read_only '--sqlite-db=folder%?#.db' run || cat err

Errors name the cause.

  $ sb oltp_read_write --sqlite-db=folder/plain.db run
  8: attempt to write a readonly database: folder 'folder' is not writable: Permission denied
  [1]
  $ sb oltp_read_write --sqlite-db=folder/new.db prepare
  cannot open database 'folder/new.db': unable to open database file: folder 'folder' is not writable: Permission denied
  [1]
  $ sb oltp_read_write --sqlite-db=nowhere/new.db prepare
  cannot open database 'nowhere/new.db': unable to open database file: folder 'nowhere': No such file or directory
  [1]
  $ sb oltp_read_write --sqlite-db=out/new.db prepare
  cannot open database 'out/new.db': unable to open database file: 'out' is not a folder
  [1]
  $ sb oltp_read_write --sqlite-db=folder run
  cannot open database 'folder': unable to open database file: it is a folder
  [1]

A log file may have changes that the database file lacks. Such a database is not
opened as immutable.

  $ chmod u+w folder && echo log >folder/wal.db-wal && chmod a-w folder
  $ sb oltp_read_only --sqlite-db=folder/wal.db run
  cannot use database 'folder/wal.db': unable to open database file: folder 'folder' is not writable: Permission denied
  [1]

cleanup frees the space if no table is left in the file.

  $ chmod u+w folder
  $ own() { sysbench "$@" --db-driver=sqlite --sqlite-db=own.db \
  >     --sqlite-busy-timeout=600 >out 2>&1 || cat out; }
  $ size() { wc -c <own.db | tr -d ' '; }
  $ own oltp_read_write --table-size=10000 --sqlite-page-size=4096 prepare
  $ [ "$(size)" -gt 1000000 ] || size
  $ own oltp_read_write cleanup
  $ size
  4096

If the file has another table, only the tables of the workload change.

  $ own oltp_read_write --table-size=10000 prepare
  $ cat >other.lua <<'END'
  > function event()
  >    local con = sysbench.sql.driver():connect()
  >    con:query("CREATE TABLE other (a TEXT)")
  >    con:query("INSERT INTO other VALUES ('kept')")
  >    con:disconnect()
  > end
  > END
  $ own other.lua --events=1 --time=0 run
  $ own oltp_read_write cleanup
  $ [ "$(size)" -gt 1000000 ] || size
  $ grep -c kept own.db
  1
