# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# How often `sysbench compare` errs on real runs, for bench/run. A pair is two
# single runs, one directly after the other, compared with the default options.
# docs/internals/compare.md explains the choices.

# With warm-up, start and comparison, 100 pairs of both kinds take 13 minutes.
PAIR_SECS=${PAIR_SECS:-2.3}

# One run. Users wait for a server that needs 5 ms on average, or 5.25 ms.
run_null() { # file service-time
    "$SB" oltp_point_select --db-driver=null --null-latency="normal:$2,2.5ms" \
        --threads=32 --warmup-time=0.2 --time=$PAIR_SECS \
        --report-interval=0.05 --report=none,json="$1" run
}

# One run. One user computes: 40 statements per event, or 42.
run_sqlite() { # file statements
    "$SB" oltp_read_only --db-driver=sqlite --sqlite-db=c.db \
        --table-size=10000 --range-selects=off --skip-trx=on \
        --point-selects="$2" --warmup-time=0.2 --time=$PAIR_SECS \
        --report-interval=0.05 --report=none,json="$1" run
}

# Three runs: two of the same and one that needs 5 % more. The order alternates;
# the run that belongs to both pairs is in the middle.
compare_three() { # number workload short long
    if [ $(($1 % 2)) = 0 ]; then
        "run_$2" a.json "$3" && "run_$2" b.json "$3" && "run_$2" c.json "$4"
    else
        "run_$2" c.json "$4" && "run_$2" b.json "$3" && "run_$2" a.json "$3"
    fi 2>err || { cat err >&2; exit 1; }
    "$SB" compare --json="same$1.json" a.json b.json >/dev/null
    "$SB" compare --json="more$1.json" b.json c.json >/dev/null
}

# Prints: called different, found, without a verdict (both kinds), the standard
# deviation between runs of the same in %, the median difference of the others.
compare_counts() { # pairs
    /usr/bin/python3 - "$1" <<'PY'
import json, math, statistics, sys
pairs = range(int(sys.argv[1]))
def read(kind):
    return [json.load(open("%s%d.json" % (kind, i))) for i in pairs]
def differences(docs):
    return [math.log1p(d["figures"][0]["difference"]) for d in docs]
same, more = read("same"), read("more")
none = sum(d["verdict"] == "none" for d in same + more)
print(sum(d["verdict"] in ("better", "worse") for d in same),
      sum(d["verdict"] == "worse" for d in more), none,
      "%.3g" % (100 * math.sqrt(statistics.mean(
          x * x for x in differences(same)) / 2)),
      "%.3g" % (100 * math.expm1(statistics.median(differences(more)))))
PY
}

compare_pairs() { # workload short long
    local pairs=100 counts i
    [ "$REPS" != 1 ] || pairs=3
    pairs=${PAIRS:-$pairs}
    for i in $(seq 0 $((pairs - 1))); do
        compare_three "$i" "$@"
    done
    read -r -a counts < <(compare_counts "$pairs")
    row "compare, $1, same: different of $pairs" "${counts[0]}" "" "" \
        "at most $((pairs / 10))"
    row "  5 % more service time: found of $pairs" "${counts[1]}" "" "" \
        "at least $((pairs * 9 / 10))"
    row "  without verdict, of $((2 * pairs))" "${counts[2]}" "" "" ""
    row "  deviation between runs of the same, %" "${counts[3]}" "" "" ""
    row "  median difference, 5 % more, %" "${counts[4]}" "" "" ""
}

bench_compare_null() {
    compare_pairs null 5ms 5.25ms
}

bench_compare_sqlite() {
    "$SB" oltp_read_only --db-driver=sqlite --sqlite-db=c.db \
        --table-size=10000 prepare >/dev/null || exit 1
    compare_pairs sqlite 40 42
}
