SPDX-License-Identifier: GPL-2.0-or-later
Not with asan, tsan: the workload is written in Lua.

vector on SQLite. Set SB_SQLITE_VEC to the file of the extension sqlite-vec, or
run third_party/get-sqlite-vec once; otherwise this test is skipped.

  $ [ -e "$SB_BUILDDIR/src/drivers/.libs/sqlite.so" ] || exit 80
  $ vec=${SB_SQLITE_VEC:-$("$SB_SRCDIR/third_party/get-sqlite-vec" --have \
  >     2>/dev/null)} || exit 80
  $ sysbench vector --db-driver=sqlite --sqlite-vec=/missing.so prepare 2>&1 |
  >     grep FATAL
  FATAL: --sqlite-vec: cannot load the extension: /missing.so: cannot open shared object file: No such file or directory
  $ sysbench vector --db-driver=null run 2>&1 | grep FATAL
  FATAL: vector requires a database; the null driver stores no data
  $ sysbench vector --db-driver=sqlite --k=7 --neighbours=5 run 2>&1 |
  >     grep FATAL
  FATAL: --k must not be more than --neighbours, which is 5
  $ sysbench vector --db-driver=sqlite --index=hnsw prepare 2>&1 | grep FATAL
  FATAL: --index must be auto or none with this database, not 'hnsw'
  $ sysbench vector --db-driver=sqlite --search-effort=9 run 2>&1 | grep FATAL
  FATAL: --search-effort needs an index: searches without one are exact
  $ sysbench vector --db-driver=sqlite --spread=-1 prepare 2>&1 | grep FATAL
  FATAL: --spread must be from 0.01 to 100, not -1

  $ vector() { sysbench vector --db-driver=sqlite "--sqlite-vec=$vec" \
  >     --table-size=1000 --queries=20 --neighbours=30 --verbosity=1 "$@"; }
  $ ask() { sqlite3 -cmd ".load $vec sqlite3_vec_init" sbtest.sqlite "$1"; }
  $ vector run 2>&1 | grep -o 'FATAL.*does not exist'
  FATAL: table 'vectors' does not exist
  $ vector prepare --threads=2 --rand-seed=1 | sort
  Creating table 'vectors'...
  Creating table 'vectors_queries'...
  Inserting 1000 records into 'vectors'
  Inserting 20 records into 'vectors_queries'
  Prepared 2 table(s): 1020 rows in * indexes in * s (glob)
  $ vector check
  vectors: 1000 vectors and 20 queries, all correct

The search of sqlite-vec is exact: it finds the neighbours that prepare found.

  $ vector run --verbosity=3 --events=100 --time=0 --k=30 | tail -n 4
  
  Results:
      recall                                        1 (headline)
  
  $ ask 'SELECT COUNT(*), MIN(id), MAX(id), vec_length(embedding) FROM vectors'
  1000|1|1000|32
  $ ask 'SELECT neighbours FROM vectors_queries WHERE id = 1'
  341 754 547 72 716 471 181 276 966 294 674 555 476 961 896 455 818 383 203 726 173 306 601 418 115 191 279 807 773 248
  $ vector run --dimensions=16 2>&1 | grep FATAL
  FATAL: --dimensions is 16, but the vectors in vectors_queries have 32

A search that misses neighbours has a lower recall.

  $ ask "CREATE TABLE good AS SELECT * FROM vectors_queries"
  $ ask "UPDATE vectors_queries SET neighbours =
  >     replace(neighbours, ' ', ' 9') WHERE 1"
  $ vector run --verbosity=3 --events=100 --time=0 --k=30 --rand-seed=1 |
  >     grep -c 'recall  *0\.'
  1
  $ vector check 2>&1 | grep FATAL | cut -c 1-47
  FATAL: vectors_queries: query 1: its neighbours
  $ ask "UPDATE vectors_queries SET neighbours =
  >     (SELECT neighbours FROM good WHERE good.id = vectors_queries.id)"

Other damage.

  $ ask 'UPDATE vectors SET checksum = 7 WHERE id = 5'
  $ vector check 2>&1 | grep FATAL
  FATAL: vectors: vector 5: its checksum is 7, expected 765601
  $ ask 'DELETE FROM vectors WHERE id = 5'
  $ vector check 2>&1 | grep FATAL
  FATAL: vectors: it has 999 vectors, expected 1000
  $ vector check --queries=21 2>&1 | grep FATAL
  FATAL: vectors_queries: it has 20 queries, expected 21

  $ vector cleanup
  Dropping table 'vectors'...
  Dropping table 'vectors_queries'...
  $ for threads in 1 3; do
  >     vector prepare --threads=$threads --rand-seed=4 >out
  >     ask 'SELECT id, checksum, vec_to_json(embedding) FROM vectors UNION ALL
  >         SELECT * FROM vectors_queries' | sort >$threads.dump
  >     vector cleanup >out
  > done
  $ wc -l <1.dump
  1020
  $ cmp 1.dump 3.dump
