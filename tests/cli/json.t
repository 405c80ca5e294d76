SPDX-License-Identifier: GPL-2.0-or-later
Not with asan, tsan: the workload is written in Lua.

json on SQLite.

  $ [ -e "$SB_BUILDDIR/src/drivers/.libs/sqlite.so" ] || exit 80
  $ json() { sysbench json --db-driver=sqlite --tables=2 --table-size=500 \
  >     --verbosity=1 "$@"; }
  $ json prepare --threads=2 --rand-seed=1 | sort
  Creating secondary indexes on 'json1'...
  Creating secondary indexes on 'json2'...
  Creating table 'json1'...
  Creating table 'json2'...
  Inserting 500 records into 'json1'
  Inserting 500 records into 'json2'
  Prepared 2 table(s): 1000 rows in * indexes in * s (glob)
  $ sqlite3 sbtest.sqlite "SELECT json_remove(doc, '$.note', '$.items[1]',
  >     '$.items[1]', '$.items[1]', '$.items[1]', '$.items[1]', '$.items[1]',
  >     '$.items[1]', '$.items[1]', '$.items[1]') FROM json1 WHERE id = 7"
  {"sku":"5465015992139406178","category":"c13","price":8,"stock":{"count":568,"value":4544},"tags":["t58","t1","t24"],"items":[{"seller":"s1","price":9,"quantity":9}],"total":745}

Weights select the operations. A seed gives the same operations again.

  $ run() { json --verbosity=3 --events=1000 --time=0 --rand-seed=3 \
  >     --report-operations "$@" run |
  >     awk '/^(insert|read|lookup|contains|aggregate|update|replace) / {
  >         print $1, $2, $NF }'; }
  $ run --weights=lookup:2,contains,update
  lookup 515 515
  update 250 250
  contains 235 468
  $ run --weights=lookup:2,contains,update
  lookup 515 515
  update 250 250
  contains 235 468
  $ run --weights=insert,read,aggregate,replace:0.5 --threads=4 | wc -l
  4
  $ json check --threads=2 | sed 's/: [0-9]*/: N/' | sort
  json1: N documents, all correct; the indexes, contains and aggregate agree with them
  json2: N documents, all correct; the indexes, contains and aggregate agree with them

Operations find documents that the same run inserts. Only one of the two documents of
prepare is left: without the inserted ones, half of the reads would find nothing.

  $ json prepare --sqlite-db=new.sqlite --table-size=2 --tables=1 >out
  $ sqlite3 new.sqlite 'DELETE FROM json1 WHERE id = 1'
  $ run --sqlite-db=new.sqlite --tables=1 --table-size=2 --rand-type=uniform \
  >     --weights=insert,read | awk '$1 == "read" {
  >         print ($2 > 400 && $3 > 0.95 * $2) }'
  1

An id whose INSERT failed is used again, and is not drawn before: 200 events use 200
ids.

  $ cat >ids.lua <<'END'
  > dofile(os.getenv("SB_SRCDIR") .. "/tests/lua/json.lua")
  > local ids = sysbench.sequence("json json1", 10)
  > function init() end
  > local own, hook = event, sysbench.hooks.before_restart_event
  > local failed, early = 0, 0
  > function sysbench.hooks.before_restart_event(err)
  >    hook(err)
  >    failed = failed + 1
  >    early = early + (ids:finished() == ids:last() and 1 or 0)
  > end
  > function event()
  >    own()
  > end
  > function thread_done()
  >    print(failed > 50, early, ids:last(), ids:finished())
  > end
  > END
  $ sysbench ids.lua --db-driver=null --null-failure-rate=0.4 --weights=insert \
  >     --restart-backoff=0 --max-restarts=0 --events=200 --time=0 --rand-seed=1 \
  >     --report=none run 2>/dev/null
  true\t0\t210\t210 (esc)

Plans use the indexes.

  $ sqlite3 sbtest.sqlite "EXPLAIN QUERY PLAN SELECT doc FROM json1
  >     WHERE json_extract(doc, '$.sku') = 'a'" | grep -o 'USING INDEX.*'
  USING INDEX json1_sku (<expr>=?)

Documents that no event wrote.

  $ damage() { sqlite3 sbtest.sqlite "UPDATE json2 SET doc = $1 WHERE id = 5";
  >     json check 2>&1 | grep FATAL;
  >     sqlite3 sbtest.sqlite 'UPDATE json2 SET doc = (SELECT doc FROM good)
  >         WHERE id = 5'; }
  $ sqlite3 sbtest.sqlite 'CREATE TABLE good AS SELECT doc FROM json2
  >     WHERE id = 5'
  $ damage "json_set(doc, '$.stock.count', 7, '$.stock.value', 8)"
  FATAL: json2: document 5: its stock.value is 8, expected 7 * 6
  $ damage "json_set(doc, '$.items[3].price', 1)"
  FATAL: json2: document 5: element 4 of its items is {"seller":"s4","price":1,"quantity":10}, expected seller s4, price 10 and quantity 10
  $ damage "json_remove(doc, '$.items[9]')"
  FATAL: json2: document 5: it has 9 items, expected 10
  $ damage "json_set(doc, '$.total', 1)"
  FATAL: json2: document 5: its total is 1, expected 595
  $ damage "json_set(doc, '$.tags[1]', 't99')"
  FATAL: json2: document 5: its tags is ["t20","t99","t50"], expected ["t20","t30","t50"]
  $ damage "json_remove(doc, '$.stock')"
  FATAL: json2: document 5: it has no member stock.count
  $ damage "json_set(doc, '$.note', 'short')"
  FATAL: json2: document 5: its note has 5 characters, expected 100
  $ change_schema() { sqlite3 -cmd '.dbconfig defensive off' sbtest.sqlite \
  >     "PRAGMA writable_schema = 1; $1" >catalog; }
  $ change_schema "UPDATE sqlite_master
  >     SET sql = sql || ' WHERE id > 5' WHERE name = 'json2_sku'"
  $ sqlite3 sbtest.sqlite 'REINDEX json2_sku'
  $ change_schema "UPDATE sqlite_master
  >     SET sql = substr(sql, 1, instr(sql, ' WHERE') - 1)
  >     WHERE name = 'json2_sku'"
  $ json check 2>&1 | grep FATAL
  FATAL: json2: the index json2_sku finds * documents; the table has * (glob)
  $ sqlite3 sbtest.sqlite 'REINDEX json2_sku'
  $ json check | wc -l
  2

Wrong options.

  $ json --weights=find run 2>&1 | cut -c 1-46
  FATAL: --weights: there is no 'find'; the name
  $ json --containment-index=btree run 2>&1
  FATAL: --containment-index must be auto, jsonb_path_ops, jsonb_ops or none, not 'btree'
  [1]
  $ json cleanup
  Dropping table 'json1'...
  Dropping table 'json2'...
  $ json --containment-index=jsonb_ops prepare 2>&1
  Creating table 'json1'...
  FATAL: --containment-index=jsonb_ops: only PostgreSQL has operator classes; use auto or none
  [1]
  $ sqlite3 sbtest.sqlite .tables
  good
