# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2153,SC2154
#
# How often `sysbench ab` errs on real servers, and how many pairs it needs for
# differences that are known, for bench/run.

# Prints the verdict and the number of pairs of an experiment: "higher 6".
ab_verdict() { # option...
    rm -rf ab.json ab.json.sweep
    "$SB" ab "$@" --time="$SECS" --report=none,json=ab.json run >ab.out 2>&1
    /usr/bin/python3 -c 'import json
ab = json.load(open("ab.json"))["ab"]
print(ab["verdict"], ab["pairs"], "%.1f" % (100 * (ab["difference"] or 0)))' 2>>ab.out ||
        { cat ab.out >&2; exit 1; }
}

# Series of a server with itself: with a margin of 0, each one that is called different
# is an error, of which 2 % are allowed by --confidence=98. Sides must differ in
# something: --switch runs a command that does nothing. Reads leave nothing to settle.
# shellcheck disable=SC2086 # words of options
bench_ab_same() { # kind
    local i series=${SERIES:-20} different=0 verdict
    [ "$REPS" != 1 ] || series=2
    for i in $(seq "$series"); do
        verdict=$(ab_verdict oltp_point_select $OPTS --table-size=$SIZE --threads=4 \
            --a=one --b=other --switch=true --settle=off --aa=0 \
            --pairs="${SERIES_PAIRS:-8}" --margin=0 --confidence=98 --rand-seed="$i") ||
            return
        echo "$1, series $i: $verdict" >&2
        case $verdict in "higher "* | "lower "*) different=$((different + 1)) ;; esac
    done
    row "$1: A/A series called different of $series" "$different" "" "" \
        "at most 3 of 40, both servers together"
}

# A difference that is known: which side, and how many pairs it took. 10 pairs are
# planned: with more, the first looks would need a clearer difference.
ab_known() { # name want option...
    local name=$1 want=$2 found verdict pairs difference
    shift 2
    found=$(ab_verdict "$@" --aa=2 --pairs=10 --margin=2) || return
    read -r verdict pairs difference <<<"$found"
    row "$name: verdict, pairs, difference in %" "$verdict" "$pairs" "$difference" \
        "$want, at most 6 pairs"
}

# Two servers with caches of 16 and 512 MB, whose data is three times the smaller one,
# with a workload that reads all of it alike; one server that flushes, with and without
# waiting for it.
# shellcheck disable=SC2086
bench_ab_pgsql() {
    local small large
    small=$("$servers_dir/up" pgsql --durable --name=bench-ab-16 -- \
        shared_buffers=16MB 2>up.err) &&
        large=$("$servers_dir/up" pgsql --durable --name=bench-ab-512 -- \
            shared_buffers=512MB 2>up.err) || { cat up.err >&2; return; }
    started="$started bench-ab-16 bench-ab-512"
    for OPTS in "$small" "$large"; do
        "$SB" oltp_read_write $OPTS --table-size=200000 --rand-type=uniform prepare \
            >/dev/null || return
    done
    # First, because the updates of the other one leave dead rows.
    ab_known "ab, shared_buffers 512 over 16 MB" higher select_random_ranges \
        --table-size=200000 --rand-type=uniform --threads=4 --warmup-time=2 \
        --a="16: $small" --b="512: $large"
    ab_known "ab, synchronous_commit off over on" higher oltp_update_non_index $large \
        --table-size=200000 --threads=4 --a="on: --db-init-sql='SET synchronous_commit=on'" \
        --b="off: --db-init-sql='SET synchronous_commit=off'"
}
