SPDX-License-Identifier: GPL-2.0-or-later

Not with tsan: one thread.

The page for users of sysbench 1.0 lists every option of the program, and no
other. A new option belongs in its table "New options".

  $ page=$SB_SRCDIR/docs/from-sysbench-1.0.md
  $ sed -n '/^## Options/,/^## New options/p' "$page" |
  >     sed -n 's/^\(| `--[^|]*\).*/\1/p' >tables
  $ sed -n '/^## New options/,/^## Output/p' "$page" >>tables
  $ grep -o -e '`--[a-z0-9*-]*' tables | tr -d '`' | sort >listed
  $ sysbench --help=all | grep -o -e '^  --[a-z0-9-]*' | tr -d ' ' |
  >     sed 's/^--\(sqlite\|mongo\|null\)-.*/--\1-*/' | sort -u >options
  $ comm -3 listed options | grep -v -e '--\(mongo\|mysql\|pgsql\|sqlite\)-'
  [1]

Drivers that are not built have no options.

  $ comm -13 listed options
  $ sort listed | uniq -d

These are the options of 1.0.20; the page describes the differences of each.

  $ sed -n '/^## Options/,/^## New options/p' "$page" |
  >     sed -n 's/^\(| `--[^|]*\).*/\1/p' | grep -o -e '--[a-z0-9-]*' |
  >     sort | tr '\n' ' ' | fold -s -w 76
  --config-file --db-debug --db-driver --db-ps-mode --debug --events 
  --forced-shutdown --help --histogram --max-requests --max-time 
  --mysql-compression --mysql-db --mysql-debug --mysql-dry-run --mysql-host 
  --mysql-ignore-errors --mysql-password --mysql-port --mysql-socket 
  --mysql-ssl --mysql-ssl-cipher --mysql-user --num-threads --percentile 
  --pgsql-db --pgsql-host --pgsql-password --pgsql-port --pgsql-user 
  --rand-pareto-h --rand-seed --rand-spec-iter --rand-spec-pct 
  --rand-spec-res --rand-type --rate --report-checkpoints --report-interval 
  --thread-stack-size --threads --time --tx-rate --validate --verbosity 
  --version  (no-eol)

The output shown on the page is that of a run, except for the numbers.

  $ numbers() { sed -e 's/(using .*)/()/' -e 's/[0-9][0-9.]*/N/g' -e 's/  *N/ N/g' -e 's/N  */N /g'; }
  $ sed -n '/^```text/,/^```/p' "$page" | grep -v -e '^```' -e '^\[ ' |
  >     numbers >shown
  $ sysbench oltp_point_select --db-driver=null --events=10 --rand-seed=1 \
  >     --report-interval=1 run | grep -v '^\[ ' | sed '$d' | numbers >printed
  $ diff shown printed

Failed runs are reported as on the page, and the exit status is that of its
table.

  $ sysbench oltp_point_select --db-driver=null --null-failure-rate=1 \
  >     --max-restarts=2 --events=3 run >out 2>err
  [1]
  $ grep '^The run failed after [0-9.]* s: all 3 events failed$' out | wc -l
  1

docs/lua-api.md lists the options that are newer than 1.0, so that scripts may
have options of these names.

  $ sed -n '/^default. There are exceptions/,/If a script/p' \
  >     "$SB_SRCDIR/docs/lua-api.md" | grep -o '`[a-z-]*`' | tr -d '`' |
  >     sort >listed
  $ find "$SB_SRCDIR/src" -name '*.c' \( ! -path '*/results/*' -o -name 'sweep*' -o -name ab.c \) -exec cat {} + |
  >     awk -F '"' '/\.name = "/ { name = $2 }
  >         /\.flags = .*SB_OPT_YIELDS/ { print name }' | sort | diff listed -

A new option of the program has the flag. These have not: a script that declares one of
them gives the program's option another default.

  $ sed -n '/^## New options/,/^## Output/p' "$page" |
  >     grep -v -e '^| mysql ' -e '^| pgsql ' -e '^| new drivers ' |
  >     grep -o -e '`--[a-z0-9-]*' | cut -c 4- | sort | comm -23 - listed
  db-ignore-errors
  db-init-sql
  db-isolation
  db-reconnect
  db-reconnect-timeout
  db-refresh-events
  db-refresh-time
  db-statement-cache
  luajit-cmd
  rand-zipfian-exp
