# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Benchmarks of runs that several processes carry out together, for bench/run.

# ranks number argument...: runs them at the same time; their reports are in the
# files rank.N.
ranks() {
    local n=$1 i at
    shift
    at=$(date -d '+2 seconds' +%s)
    for ((i = 0; i < n; i++)); do
        "$SB" "$@" --rand-seed=7 --ranks="$n" --rank="$i" --start-at="$at" run \
            >"rank.$i" 2>/dev/null &
    done
    wait
}

# The event rate of two processes with one thread over one with two threads.
ranks_throughput() {
    local set=(oltp_point_select --db-driver=null --threads=2 --time="$SECS")
    : >r && : >a && : >b
    for _ in $(seq "$REPS"); do
        one=$("$SB" "${set[@]}" run 2>/dev/null | rate_of)
        ranks 2 "${set[@]}"
        two=$(cat rank.0 rank.1 | awk '/total number of events/ { n += $NF }
            /total time/ { sub("s", "", $NF); t += $NF / 2 }
            END { print n / t }')
        echo "$one" >>a
        echo "$two" >>b
        ratio "$two" "$one" >>r
    done
    row "2 ranks x 1 thread over 2 threads, events/s" "$(median <b)" \
        "$(median <a)" "$(median <r)" "at least 0.98"
}

# Mean wait of arrivals over the mean service time, of the ranks together.
wait_of() { # file...
    awk '/^ +service time/ { s += $4 } /^ +lag / { w += $3 }
        END { printf "%.4g\n", w / s }' "$@"
}

# What the division of an open loop costs: four users at 80 %, in one process
# (M/M/4) and in four (M/M/1). Theory: waits of 0.7455 and 4 service times.
ranks_wait() {
    local set=(oltp_point_select --db-driver=null --null-latency=exp:5ms
        --threads=4 --rate=640 --time=$((SECS * 6)))
    : >a && : >b && : >r
    for _ in $(seq "$REPS"); do
        "$SB" "${set[@]}" run >whole 2>/dev/null
        ranks 4 "${set[@]}"
        wait_of whole >>a
        wait_of rank.[0-3] >>b
        ratio "$(tail -1 b)" "$(tail -1 a)" >>r
    done
    row "mean wait at 80 %, 4 ranks x 1 user over 4 users" "$(median <b)" \
        "$(median <a)" "$(median <r)" "4 / 0.7455 = 5.4 by theory"
}

bench_ranks() {
    ranks_throughput
    ranks_wait
}
