# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Many users who share Lua states, for bench/run: without a server and with one.
# BASE, if set, is an earlier build of this program to compare with.

bench_users() {
    case ${1:-} in
    "")
        users_threads
        users_memory
        users_thinking
        bench_workers_lag
        users_collection
        users_lines
        ;;
    *)
        users_resident "$1"
        bench_waiting "$1"
        users_rate "$1"
        ;;
    esac
}

# A user with a thread of its own pays nothing for what others share.
users_threads() {
    local script
    echo 'function event() end' >empty.lua
    for script in empty.lua oltp_point_select; do
        : >new && : >old && : >r
        for _ in $(seq "$REPS"); do
            a=$(threads_rate "$SB" $script)
            echo "$a" >>new
            [ -n "${BASE:-}" ] || continue
            b=$(threads_rate "$BASE" $script)
            echo "$b" >>old
            ratio "$a" "$b" >>r
        done
        row "$script, null driver, 1 thread, events/s (BASE)" \
            "$(median <new)" "$(median <old)" "$(median <r)" "no loss"
    done
}

threads_rate() { # program script
    "$1" "$2" --db-driver=null --threads=1 --workers=users --time="$SECS" \
        run 2>/dev/null | rate_of
}

null_users() { # users options...
    local users=$1
    shift
    "$SB" oltp_point_select --db-driver=null --threads="$users" "$@" run
}

users_rss() { # users; KiB
    rss_of "$SB" oltp_point_select --db-driver=null --threads="$1" \
        --workers=1 --null-latency=1ms --events=$((3 * $1)) --time=0 run
}

# What a user adds, from runs with many and with 64 users.
users_memory() {
    local users few
    few=$(users_rss 64)
    for users in 1000 16000; do
        : >new
        for _ in $(seq "$REPS"); do
            a=$(users_rss $users)
            awk -v a="$a" -v b="$few" -v n=$((users - 64)) \
                'BEGIN { printf "%.4g\n", (a - b) / n }' >>new
        done
        row "null driver, $users users: KiB per user" "$(median <new)" "" "" ""
    done
}

# 16,000 users, 1,600 events/s.
users_thinking() {
    : >new && : >cpu
    for _ in $(seq "$REPS"); do
        rss_of "$SB" oltp_point_select --db-driver=null --threads=16000 \
            --workers=processors --think-time=10s --time=20 run |
            megabytes >>new
        echo >>new
        cpu_of null_users 16000 --workers=processors --think-time=10s \
            --time=20 | awk '{ print $1 / 20 * 100 }' >>cpu
    done
    row "16,000 users that think 10 s: MB resident" \
        "$(grep . new | median)" "" "" "at most 450"
    row "  CPU with the start, % of a core" "$(median <cpu)" "" "" "at most 15"
}

# How long a collection stops the users of a state: all of one worker.
users_collection() {
    : >new
    for _ in $(seq "$REPS"); do
        null_users 8000 --workers=1 --rate=1000 --null-latency=1ms --time=20 \
            --warmup-time=5 --percentile=50,99,99.9 >out 2>/dev/null
        column 'client delay' 5 out >>new
    done
    row "8,000 users of a worker: client delay p99.9, ms" "$(median <new)" \
        "" "" "at most 2"
}

# The lines that a user opens to change a workload.
users_lines() {
    local dir=$top/tests/lua
    row "lines: oltp_read_write with oltp_common" \
        "$(cat "$dir"/oltp_read_write.lua "$dir"/oltp_common.lua | wc -l)" \
        2492 "" "at most a third"
    row "lines: tpcc" "$(wc -l <"$dir"/tpcc.lua)" 3851 "" "at most a third"
}

users_resident() { # kind
    : >new && : >old
    for _ in $(seq "$REPS"); do
        # shellcheck disable=SC2086
        rss_of "$SB" oltp_point_select $OPTS --table-size=$SIZE --threads=1000 \
            --time=10 run >>new
    done
    if [ -n "$OLD" ]; then
        # shellcheck disable=SC2086
        rss_of "$OLD" oltp_point_select $OLD_OPTS --table-size=$SIZE \
            --threads=1000 --time=10 run >old
    fi
    row "$1: MB resident with 1,000 users" \
        "$(awk -v k="$(median <new)" 'BEGIN { printf "%.1f", k / 1024 }')" \
        "$(awk -v k="$(median <old)" 'BEGIN { printf "%.1f", k / 1024 }')" "" \
        "at most 200"
}

# A worker for each processor over a thread for each user: --workers=auto
# selects workers where the lower bound is at least 0.97.
users_rate() { # kind
    local users i pairs=$((REPS > 1 ? 2 * REPS : 2)) mean bound first
    for users in ${USERS:-64 512 1024}; do
        : >new && : >old && : >r
        for i in $(seq $pairs); do
            first=processors
            [ $((i % 2)) = 1 ] || first=users
            # shellcheck disable=SC2086
            a=$(steady_rate "$SB" "$users" $OPTS --workers=$first)
            # shellcheck disable=SC2086
            b=$(steady_rate "$SB" "$users" $OPTS \
                --workers="$([ $first = users ] && echo processors ||
                    echo users)")
            if [ -z "$a" ] || [ -z "$b" ]; then continue; fi
            [ $first = processors ] || { c=$a a=$b b=$c; }
            echo "$a" >>new
            echo "$b" >>old
            ratio "$a" "$b" >>r
        done
        read -r mean bound < <(lower_bound <r)
        row "$1: point selects/s, $users users, workers over threads" \
            "$(median <new)" "$(median <old)" "$mean" \
            "at least 0.97 (lower bound $bound of $(wc -l <r) pairs)"
    done
}
