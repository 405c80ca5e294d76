SPDX-License-Identifier: GPL-2.0-or-later
Not with asan, tsan: the workload is written in Lua.

crud on SQLite.

  $ [ -e "$SB_BUILDDIR/src/drivers/.libs/sqlite.so" ] || exit 80
  $ crud() { sysbench crud --db-driver=sqlite --tables=2 --table-size=500 \
  >     --verbosity=1 "$@"; }
  $ crud prepare | sort
  Creating secondary indexes on 'crud1'...
  Creating secondary indexes on 'crud2'...
  Creating table 'crud1'...
  Creating table 'crud2'...
  Inserting 500 records into 'crud1'
  Inserting 500 records into 'crud2'
  Prepared 2 table(s): 1000 rows in * indexes in * s (glob)

Weights select the operations. A seed gives the same operations again.

  $ run() { crud --verbosity=3 --events=1000 --time=0 --rand-seed=3 \
  >     --report-operations "$@" run |
  >     awk '/^(insert|read|update|delete)/ { print $1, $2, $NF }'; }
  $ run --weights=read_range:1,read_in:1,update_match:2
  update_match 489 489
  read_in 274 1706
  read_range 237 4740
  $ run --weights=read_range:1,read_in:1,update_match:2
  update_match 489 489
  read_in 274 1706
  read_range 237 4740
  $ run --weights=insert_batch,delete_range --batch-size=20 --range-size=20
  delete_range 506 10120
  insert_batch 494 9880
  $ crud check
  crud1: 700 rows, all correct, and 2 indexes agree with them
  crud2: 60 rows, all correct, and 2 indexes agree with them

A row that no event wrote.

  $ sqlite3 sbtest.sqlite \
  >     'UPDATE crud2 SET total = 7 WHERE id = (SELECT MAX(id) FROM crud2)'
  $ crud check 2>&1 | grep FATAL
  FATAL: crud2: row *: its total is 7, expected * (glob)
  $ sqlite3 sbtest.sqlite 'DROP INDEX crud2_code'
  $ crud run
  FATAL: table 'crud2' has no index 'crud2_code': was prepare interrupted? Run 'cleanup', then: sysbench crud --db-driver=sqlite --tables=2 --table-size=500 prepare
  [1]
  $ crud --check-tables=off --events=10 run
  $ crud --weights=read run 2>&1 | cut -c 1-46
  FATAL: --weights: there is no 'read'; the name
  $ crud cleanup
  Dropping table 'crud1'...
  Dropping table 'crud2'...

A retried event does the same again: the statement and, except for new rows, its
parameters. The script prints how often the table changed, and how often an operation
was drawn: once per event.

  $ cat >tries.lua <<'END'
  > local args = table.concat(sysbench.cmdline.argv, " ")
  > local name = args:match("=(%w+)%.tries")
  > dofile(os.getenv("SB_SRCDIR") .. "/tests/lua/" .. name .. ".lua")
  > if sysbench.cmdline.main_state then
  >    sysbench.cmdline.options.of = {"workload", ""}
  > end
  > function init()
  >    sysbench.sequence("ycsb records", 10000)
  >    sysbench.sequence("json json1", 10000)
  > end
  > local own, hook = event, sysbench.hooks.before_restart_event
  > local last, tries, changes, draws = nil, 0, 0, 0
  > local draw = sysbench.rand.uniform_double
  > function sysbench.rand.uniform_double()
  >    draws = draws + 1
  >    return draw()
  > end
  > function sysbench.hooks.before_restart_event(err)
  >    hook(err)
  >    tries = tries + 1
  >    local what = err.query:match("INTO ingest%d+") or err.query
  >    changes = changes + (last and last ~= what and 1 or 0)
  >    last = what
  > end
  > function event(id)
  >    own(id)
  >    last = nil
  > end
  > function thread_done()
  >    print(name .. " " .. tostring(tries > 100) .. " " .. changes ..
  >    " " .. draws)
  > end
  > END
  $ tries() { sysbench tries.lua --of="$1".tries --db-driver=null \
  >     --null-failure-rate=0.4 --restart-backoff=0 --max-restarts=0 --rand-seed=1 \
  >     --events=500 --time=0 run 2>&1 | grep "^$1"; }
  $ tries crud
  crud true 0 500
  $ tries ingest
  ingest true 0 0
  $ tries ycsb
  ycsb true 0 500
  $ tries json
  json true 0 500

The lines of check are in the order of the tables.

  $ many() { sysbench crud --db-driver=sqlite --sqlite-db=many --verbosity=1 --tables=12 --table-size=1000 "$@"; }
  $ many prepare >/dev/null
  $ for try in 1 2 3 4; do
  >     many check --threads=4 | sed 's/:.*//; s/crud//' | tr '\n' ' '
  > done
  1 2 3 4 5 6 7 8 9 10 11 12 1 2 3 4 5 6 7 8 9 10 11 12 1 2 3 4 5 6 7 8 9 10 11 12 1 2 3 4 5 6 7 8 9 10 11 12  (no-eol)
