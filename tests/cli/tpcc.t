SPDX-License-Identifier: GPL-2.0-or-later
Not with asan, tsan: the workload is written in Lua.

tpcc without a server: its options, prepare, run, check and cleanup.

  $ [ -e "$SB_BUILDDIR/src/drivers/.libs/sqlite.so" ] || exit 80
  $ sb() { sysbench tpcc --db-driver=sqlite --items=100 --customers=10 \
  >     --sqlite-busy-timeout=600 "$@"; }
  $ sb help | grep -oE '^  --[a-z_]+' | tr -d ' ' | sort
  --check
  --check_tables
  --create_table_options
  --customers
  --delivery
  --foreign_keys
  --history_key
  --home
  --items
  --mysql_storage_engine
  --new_order
  --order_status
  --payment
  --pgsql_variant
  --pipeline
  --stock_level
  --table_prefix
  --tables
  --terminal_keying
  --terminal_thinking
  --warehouses

  $ sb --threads=2 --rand-seed=3 prepare >out 2>&1 || cat out
  $ grep -c 'Creating table' out
  9
  $ sb --rand-seed=3 --events=300 --time=0 --check run >report 2>&1 ||
  >     cat report

The same seed executes the same transactions.

  $ grep -E '^(new_order|payment|order_status|delivery|stock_level) ' report |
  >     awk '{ print $1, $2, $NF }'
  new_order 130 yes
  payment 131 yes
  order_status 13 yes
  delivery 13 yes
  stock_level 13 yes
  $ sed -n -e '/^New orders/p' -e '/^This is/p' report
  New orders: 130, of which 1 (0.77 %) were rolled back as specified
  This is not a TPC-C result, which needs an audit.
  $ sed -n -e '/^Minimum/p' -e '/^Statements/p' report
  Minimum shares and limits: kept
  Statements: one by one (--pipeline=off)
  $ sed -n '/^All cons/,$s/  *[0-9.]* \/min/ N \/min/p; /^All cons\|consistency:\|missed /p' report
  All consistency conditions (3.3.2.1 to 3.3.2.12) are met
      new_orders_per_minute N /min (headline)
      limits_missed                                 0
      consistency: passed: all consistency conditions are met

No condition asks for its first row only, for which PostgreSQL may choose a plan
that takes minutes if no row matches.

  $ sb --db-debug --verbosity=5 check >out 2>&1 || cat out
  $ grep -c ' AS violations$' out
  18
  $ grep ' LIMIT ' out
  [1]

--check after a run gives a verdict on it; check fails.

  $ sb cleanup >out 2>&1 || cat out
  $ sb prepare >out 2>&1 || cat out
  $ cat >damage.lua <<'EOT'
  > function event()
  >    sysbench.sql.driver():connect():query(
  >       "UPDATE tpcc1_warehouse SET w_ytd = w_ytd + 1")
  >    return true
  > end
  > EOT
  $ sysbench damage.lua --db-driver=sqlite run >out 2>&1 || cat out
  $ sb --events=10 --time=0 --check run >report 2>err
  [3]
  $ grep -c '^tpcc1: 3.3.2.[18]: warehouse 1: w_ytd is ' report
  2
  $ sed 's/is [0-9][0-9.]*/is N/g' err
  consistency not passed: 2 conditions are violated, the first is tpcc1: 3.3.2.1: warehouse 1: w_ytd is N, the sum of d_ytd is N
  $ sb check >out 2>&1
  [1]

Weights and pauses.

  $ sb cleanup >out 2>&1 || cat out
  $ sb prepare >out 2>&1 || cat out
  $ sb --events=40 --time=0 --new-order=0 --payment=0 --delivery=0 run >report
  $ grep -E '^(new_order|payment|order_status|delivery|stock_level) ' report |
  >     awk '{ print $1 }'
  order_status
  stock_level
  $ sed -n '/^Minimum/p' report
  Minimum shares and limits: missed the share of payment, the share of delivery
  $ sb --events=20 --time=0 --terminal-keying=0.001 \
  >     --terminal-thinking=0.001 run >report
  $ awk '/total time:/ { print ($NF + 0 > 0.1) }' report
  1

A user takes the cards of a deck, here of 23, in random order: all shares are exact
after each deck. Weights that are no numbers of cards are probabilities.

  $ sb --events=46 --time=0 run >report
  $ awk '$5 == "" { next } /^(new_order|payment|order_st|delivery|stock_l)/ {
  >     print $1, $2 }' report
  new_order 20
  payment 20
  order_status 2
  delivery 2
  stock_level 2
  $ sb --events=46 --time=0 --payment=2.5 --pipeline --threads=2 run 2>&1 \
  >     >report | sed '/^found nothing/d; s/^WARNING: //'
  2 threads share 1 warehouse(s): the result mainly measures lock waits of payments
  $ sed -n '/^Statements/p' report
  Statements: one by one (this database has no pipelines)

Keying and think times. Six new orders have at least five pauses: keying times of
0.18 s, and think times of 0.12 s on average, which depend on the seed.

  $ took() { sb --rand-seed=3 --time=0 --events=6 --payment=0 --order-status=0 --delivery=0 \
  >     --stock-level=0 "$@" run 2>/dev/null | awk -v least="$least" '/total time:/ {
  >         print (0 + $3 >= least) ? "enough" : "only " $3 }'; }
  $ least=0.9 took --terminal-keying=0.01
  enough
  $ least=0.5 took --terminal-thinking=0.01
  enough
  $ least=1.4 took --terminal-keying=0.01 --terminal-thinking=0.01
  enough

Wrong options.

  $ fails() { sb "$@" run >out 2>&1 && echo no failure; sed -n 's/^FATAL: //p' \
  >     out; }
  $ fails --warehouses=0
  --warehouses must be from 1 to 100000, not 0
  $ fails --home=anywhere
  --home must be random or fixed, not 'anywhere'
  $ fails --db-isolation=repeatable-read
  connection creation failed: --db-isolation: the sqlite driver does not support isolation levels
  $ fails --table-prefix=a.b
  --table-prefix must consist of letters, digits and '_', and not begin with a digit, not 'a.b'
  $ fails --new-order=0 --payment=0 --order-status=0 --delivery=0 --stock-level=0
  the weights of all five kinds of transactions are 0
  $ fails --warehouses=2
  --warehouses is 2, but prepare created 1
  $ fails --new-order=-1
  --new-order must be from 0 to 1000000, not -1
  $ sysbench tpcc --db-driver=null --events=50 run >out 2>&1 || cat out

A missing item is an error, and not one of the orders that the specification rolls back.
An empty table counts as a table of size 0.

  $ cat >delete.lua <<'EOT'
  > function event()
  >    sysbench.sql.driver():connect():query(os.getenv("DELETE"))
  >    return true
  > end
  > EOT
  $ delete() { DELETE="DELETE FROM $1" sysbench delete.lua --db-driver=sqlite run >out 2>&1 ||
  >     cat out; }
  $ delete "tpcc1_item WHERE i_id < 90"
  $ fails --time=0 --events=200
  tpcc1_item lacks a required row: use the same --warehouses, --items and --customers as for prepare
  $ delete tpcc1_item
  $ fails
  --items is 100, but prepare created 0
  $ sb cleanup >out 2>&1 || cat out

Each of the first 1000 customers of a district has another last name.

  $ sb --customers=1000 prepare >out 2>&1 || cat out
  $ cat >names.lua <<'EOT'
  > function event()
  >    print(sysbench.sql.driver():connect():query_row(
  >       "SELECT COUNT(DISTINCT c_last), MIN(c_last) FROM tpcc1_customer " ..
  >       "WHERE c_d_id = 1"))
  >    print(sysbench.sql.driver():connect():query_row(
  >       "SELECT c_last FROM tpcc1_customer WHERE c_d_id = 1 AND c_id = 372"))
  >    return true
  > end
  > EOT
  $ sysbench names.lua --db-driver=sqlite run 2>&1 | grep -E '^1000|^[A-Z]+$'
  1000\tABLEABLEABLE (esc)
  PRICALLYOUGHT
  $ sb cleanup >out 2>&1 || cat out
