SPDX-License-Identifier: GPL-2.0-or-later
Not with asan, tsan: the workload is written in Lua.

failover on SQLite: writes that are acknowledged, lost, doubled.

  $ [ -e "$SB_BUILDDIR/src/drivers/.libs/sqlite.so" ] || exit 80
  $ failover() { sysbench failover --db-driver=sqlite --users=10 --verbosity=1 "$@"; }
  $ told() { grep -E '^failover: ([0-9]|lost|doubled|refused)|FATAL|^verdict' |
  >     cut -c 1-160; }
  $ failover prepare
  Creating table 'failover'...
  Creating table 'failover_users'...
  $ failover prepare 2>&1 | grep FATAL
  FATAL: Table 'failover' exists already. Remove it with the 'cleanup' command, or use another database.

A run without an outage. The record says what was acknowledged.

  $ failover --threads=2 --time=0 --events=100 --verbosity=3 --report-interval=1 \
  >     --record=first run >out 2>err || cat err
  $ told <out
  failover: 100 acknowledged writes: 0 lost, 0 stored more than once; 0 of unknown outcome, of which 0 are stored
  $ grep -E '^failover: (longest|no)' out
  failover: longest time without a success of any user: 0.* s, from 0.* s to * (glob)
  failover: no errors
  $ sed 's/last [0-9]*/last N/' first
  user 0 start 0 last N unknown refused
  user 1 start 0 last N unknown refused
  $ failover check --record=first
  failover: 100 writes, and all markers agree with them
  failover: 100 acknowledged writes: 0 lost, 0 stored more than once; 0 of unknown outcome, of which 0 are stored

The next run continues with the next numbers. One user, so that they are known.

  $ failover cleanup
  Dropping table 'failover'...
  Dropping table 'failover_users'...
  $ failover prepare >/dev/null
  $ failover --time=0 --events=20 --verify=off run
  $ failover --time=0 --events=30 --record=second run | told
  failover: 30 acknowledged writes: 0 lost, 0 stored more than once; 0 of unknown outcome, of which 0 are stored
  $ cat second
  user 0 start 20 last 50 unknown refused

A server that loses and doubles writes.

  $ sqlite3 sbtest.sqlite 'CREATE TRIGGER lose AFTER INSERT ON failover
  >     WHEN NEW.write_no IN (55, 56, 57, 60)
  >     BEGIN DELETE FROM failover WHERE id = NEW.id; END;
  >   CREATE TRIGGER double AFTER INSERT ON failover
  >     WHEN NEW.write_no = 58
  >     BEGIN INSERT INTO failover (user_no, write_no) VALUES (0, 58); END'
  $ failover --time=0 --events=10 --record=third run 2>&1 | told
  failover: 10 acknowledged writes: 4 lost, 1 stored more than once; 0 of unknown outcome, of which 0 are stored
  failover: lost: user 0: 55-57, user 0: 60
  failover: doubled: user 0: 58
  verdict not passed: acknowledged writes that were lost: 4, writes that are stored more than once: 1
  $ failover check --record=third 2>&1 | told
  failover: 10 acknowledged writes: 4 lost, 1 stored more than once; 0 of unknown outcome, of which 0 are stored
  failover: lost: user 0: 55-57, user 0: 60
  failover: doubled: user 0: 58
  FATAL: failover: acknowledged writes that were lost: 4, writes that are stored more than once: 1

A write of unknown outcome may be stored or not, a refused one must not.

  $ sqlite3 sbtest.sqlite 'DELETE FROM failover WHERE write_no = 58 AND id =
  >     (SELECT MAX(id) FROM failover WHERE write_no = 58)'
  $ echo 'user 0 start 50 last 60 unknown 54 55 56 57 60 refused' >known
  $ failover check --record=known 2>/dev/null | told
  failover: 5 acknowledged writes: 0 lost, 0 stored more than once; 5 of unknown outcome, of which 1 are stored
  $ echo 'user 0 start 50 last 60 unknown 54 55 refused 56 57 58 60' >known
  $ failover check --record=known 2>&1 | told
  failover: 4 acknowledged writes: 0 lost, 0 stored more than once; 2 of unknown outcome, of which 1 are stored; 4 refused, of which 1 are stored
  failover: refused, but stored: user 0: 58
  FATAL: failover: writes that were refused, but are stored: 1

Parts of transactions.

  $ failover check
  failover: user 0: its marker counts 60 writes, but 56 are stored
  FATAL: failover: problems: 1
  [1]
  $ sqlite3 sbtest.sqlite 'DROP TRIGGER lose; DROP TRIGGER double;
  >     UPDATE failover_users SET writes = 56, last_write = 60 WHERE user_no = 0;
  >     INSERT INTO failover (user_no, write_no) VALUES (77, 1);
  >     INSERT INTO failover (user_no, write_no) VALUES (3, 1);
  >     INSERT INTO failover (user_no, write_no) VALUES (3, 1)'
  $ failover check 2>&1
  failover: user 0: its marker has write 60 as the last one, but the last one stored is 59
  failover: user 3: surplus copies of its writes: 1
  failover: writes of users without a marker: 1
  FATAL: failover: problems: 3
  [1]

A run that fails is verified, too. Each try of write 62 fails; with one retry per
event, this is 5 failed events.

  $ sqlite3 sbtest.sqlite "DELETE FROM failover WHERE user_no IN (3, 77);
  >     CREATE TRIGGER never BEFORE INSERT ON failover WHEN NEW.write_no = 62
  >     BEGIN SELECT RAISE(ABORT, 'never'); END"
  $ failover --time=0 --events=6 --max-restarts=1 --max-failed=0 --record=broken run >out 2>err
  [1]
  $ told <out
  failover: 1 acknowledged writes: 0 lost, 0 stored more than once; 0 of unknown outcome, of which 0 are stored
  $ grep -c FATAL err
  1
  $ cat broken
  user 0 start 60 last 61 unknown refused
  $ sqlite3 sbtest.sqlite "DROP TRIGGER never;
  >   CREATE TRIGGER never BEFORE INSERT ON failover WHEN NEW.write_no = 64
  >     BEGIN SELECT RAISE(ABORT, 'never'); END;
  >   CREATE TRIGGER lose AFTER INSERT ON failover
  >     BEGIN DELETE FROM failover WHERE id = NEW.id; END"
  $ failover --time=0 --events=6 --max-restarts=1 --max-failed=0 run 2>&1 | told
  failover: 2 acknowledged writes: 2 lost, 0 stored more than once; 0 of unknown outcome, of which 0 are stored
  failover: lost: user 0: 62-63
  FATAL: *failed* (glob)
  verdict not passed: acknowledged writes that were lost: 2

An error before the first success of the run ends it.

  $ sqlite3 sbtest.sqlite 'UPDATE failover_users SET last_write = 63'
  $ failover --time=0 --events=6 run 2>&1 | grep -o 'SQL error, errno = 1811.*never'
  SQL error, errno = 1811, state = '*': never (glob)

A write that COMMIT refuses, by a deferred constraint. SQLite has not stored it.

  $ failover cleanup >/dev/null
  $ failover prepare >/dev/null
  $ sqlite3 sbtest.sqlite 'CREATE TABLE odd(n INTEGER PRIMARY KEY);
  >   CREATE TABLE even(n INTEGER REFERENCES odd DEFERRABLE INITIALLY DEFERRED);
  >   CREATE TRIGGER refuse AFTER INSERT ON failover WHEN NEW.write_no % 5 = 0
  >     BEGIN INSERT INTO even VALUES (NEW.write_no); END'
  $ failover --time=0 --events=9 --db-init-sql='PRAGMA foreign_keys = on' \
  >     --verbosity=3 --record=refused run >out 2>err || cat err
  $ told <out
  failover: 2 failed transactions, first at 0.* s; COMMIT refused: 2; COMMIT of unknown outcome: 0 (glob)
  failover: 9 acknowledged writes: 0 lost, 0 stored more than once; 0 of unknown outcome, of which 0 are stored; 2 refused, of which 0 are stored
  $ cat refused
  user 0 start 0 last 11 unknown refused 5 10
  $ sqlite3 sbtest.sqlite 'DROP TRIGGER refuse; DROP TABLE even; DROP TABLE odd'

A user of a run with stages that comes again continues with what it has published.

  $ failover --stages='threads=2 for 0.3s; threads=1 for 0.3s; threads=2 for 0.3s' \
  >     --record=again run | told
  failover: * acknowledged writes: 0 lost, 0 stored more than once; 0 of unknown outcome, of which 0 are stored (glob)
  $ awk '{ n += $6 - $4 } END { print n == writes ? "all" : n }' \
  >     writes="$(sqlite3 sbtest.sqlite 'SELECT COUNT(*) - 9 FROM failover')" again
  all

Outages. The null driver loses connections; nothing is stored, so nothing is verified.

  $ unanswered() { sed -n 's/.*COMMIT of unknown outcome: //p' out; }
  $ lossy() { sysbench failover --db-driver=null --null-failure=lost --time=0 \
  >     --events=2000 --null-failure-rate=0.01 --rand-seed=1 "$@" run >out 2>err || cat err; }
  $ count() { awk -v name="$1" '$1 == name { print $2; exit }' out; }
  $ lossy --threads=2 --report-operations
  $ grep -c 'first at [0-9.]* s; COMMIT refused: 0; COMMIT of unk' out
  1
  $ grep 'still failing' out
  failover: users still failing at the end: 0
  $ count acknowledged
  2000
  $ awk '$1 == "marker" || $1 == "write" { print $1 }' out | sort
  marker
  write
  $ [ "$(count outage)" != 0 ] && [ "$(count unknown)" -gt 0 ] && echo some
  some
  $ [ "$(unanswered)" = "$(count unknown)" ] || cat out
  $ for unknown in skip look repeat; do
  >     lossy --unknown=$unknown --record=$unknown
  >     awk '{ print $6 - $4 - (NF - 8), (NF > 8) }' $unknown
  > done
  2000 1
  2000 0
  2000 0

Errors that no list names are retried after the first success of the run. The answer
1213 to a COMMIT refuses it, 1105 leaves it unknown.

  $ lossy --null-failure=fatal
  $ count acknowledged
  2000
  $ lossy --null-failure=fatal --null-failure-rate=1 | grep -o 'errno = 1105' | uniq
  errno = 1105
  $ lossy --null-failure=restart --record=restart
  $ [ "$(count refused)" -gt 0 ] && unanswered
  0
  $ awk '{ print $7, $8, $6 - $4 - (NF - 8), (NF > 8) }' restart
  unknown refused 2000 1

The first error is the earliest one, not the first one that was noted. Here user 1
waits for the error of user 0, and has a clock that is behind.

  $ cat >two.lua <<'EOF'
  > dofile(os.getenv("SB_SRCDIR") .. "/tests/lua/failover.lua")
  > local user, errors = sysbench.user, nil
  > local transaction, start = event, thread_init
  > function user.time()
  >    return sysbench.tid == 0 and 0.5 or 0.25
  > end
  > function thread_init()
  >    start()
  >    errors = sysbench.sequence("failover failover errors")
  > end
  > function event()
  >    local n = errors:last()
  >    while (n == 1 and sysbench.tid == 0 or n == 0 and sysbench.tid == 1)
  >       and user.wait(0.01)
  >    do
  >       n = errors:last()
  >    end
  >    transaction()
  > end
  > EOF
  $ sysbench two.lua --db-driver=null --null-failure=lost --null-failure-rate=0.01 \
  >     --time=0 --events=4000 --threads=2 --rand-seed=1 run >out 2>err || cat err
  $ grep -o 'first at [0-9.]* s' out
  first at 0.250 s

A server that accepts writes, but cannot read those of the run.

  $ cat >unreadable.lua <<EOF
  > dofile(os.getenv("SB_SRCDIR") .. "/tests/lua/failover.lua")
  > local verify = done
  > function done()
  >    sysbench.sql.driver():connect():query(
  >       "ALTER TABLE failover RENAME TO unreadable")
  >    verify()
  > end
  > EOF
  $ sysbench unreadable.lua --db-driver=sqlite --time=0 --events=5 --verify-wait=0 \
  >     --record=unread run 2>&1 | grep -o 'because .* no such table: failover'
  because they cannot be read (the command check with --record verifies them later): * no such table: failover (glob)
  $ sqlite3 sbtest.sqlite 'ALTER TABLE unreadable RENAME TO failover'
  $ failover check --record=unread | told | tail -n 1
  failover: 5 acknowledged writes: 0 lost, 0 stored more than once; 0 of unknown outcome, of which 0 are stored

The time in which users close their connections does not count as time without service.

  $ cat >slow.lua <<EOF
  > dofile(os.getenv("SB_SRCDIR") .. "/tests/lua/failover.lua")
  > local close = thread_done
  > ffi.cdef("int usleep(unsigned int);")
  > function thread_done()
  >    close()
  >    ffi.C.usleep(900000)
  >    ffi.C.usleep(900000)
  > end
  > EOF
  $ sysbench slow.lua --db-driver=null --threads=2 --time=0 --events=20 run >out 2>err || cat err
  $ grep '^failover' out
  failover: longest time without a success of any user: 0.* s, from * s to * (glob)
  failover: no errors

A server that hangs until the end of the run, here in the COMMIT of write 11: the time
without service lasts until the end, and the write is not acknowledged. The time that
the calls take to end after the run does not count.

  $ sysbench failover --db-driver=null --null-hang-after=48 --threads=2 --time=1 \
  >     --shutdown-grace=1 --record=hung run >out 2>err
  [2]
  $ cat hung
  user 0 start 0 last 11 unknown 11 refused
  user 1 start 0 last 11 unknown 11 refused
  $ grep -oE 'any user: (0.[0-9]*|1.000) s, from 0.[0-9]* s to the end.*' out |
  >     sed 's/.* //'
  run
  $ grep 'users still failing at the end: 2' out
  failover: users still failing at the end: 2

With --unknown=look, a user looks once for each of these writes. (A look may itself
lose its connection, and is then repeated.)

  $ lossy --unknown=look --report-operations
  $ [ "$(count look)" -ge "$(unanswered)" ] && [ "$(unanswered)" -gt 0 ] || cat out
  $ lossy --unknown=repeat --report-operations
  $ count look

Errors.

  $ failover --unknown=never run
  FATAL: --unknown must be skip, look or repeat, not 'never'
  [1]
  $ failover --threads=11 --time=1 run
  FATAL: failover: user 10 has no marker: prepare with --users=11 or more, and run with the same
  [1]
  $ echo nonsense >bad
  $ failover --record=bad check 2>&1 | grep FATAL
  FATAL: --record: bad:1 is not a line of a record
  $ failover cleanup >/dev/null
  $ failover run 2>&1 | grep -o "FATAL.*does not exist"
  FATAL: table 'failover' does not exist
