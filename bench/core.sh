# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Benchmarks of the core without a server, for bench/run.

bench_empty() {
    echo 'function event() end' >empty.lua
    : >new1 && : >new2 && : >old1 && : >old2 && : >r1 && : >s2 && : >o2
    for _ in $(seq "$REPS"); do
        n1=$("$SB" empty.lua --time="$SECS" run 2>/dev/null | rate_of)
        n2=$("$SB" empty.lua --time="$SECS" --threads=2 run 2>/dev/null |
            rate_of)
        echo "$n1" >>new1
        echo "$n2" >>new2
        ratio "$n2" "$n1" >>s2
        [ -n "$OLD" ] || continue
        o1=$("$OLD" empty.lua --time="$SECS" run | rate_of)
        o2=$("$OLD" empty.lua --time="$SECS" --threads=2 run | rate_of)
        echo "$o1" >>old1
        ratio "$n1" "$o1" >>r1
        ratio "$o2" "$o1" >>o2
    done
    row "empty event, 1 thread, events/s" "$(median <new1)" \
        "$(median <old1)" "$(median <r1)" "at least 5 (this over 1.0)"
    row "empty event, 2 threads over 1 thread" "$(median <s2)" \
        "$(median <o2)" "" "at least 1.9"
}

# CPU time of what an interval needs before it is printed.
bench_interval() {
    part interval
    for n in 10000 100000; do
        : >i
        for _ in $(seq "$REPS"); do
            ./interval 1000 100 $n $((SECS * 4)) "$(nproc)" 2>/dev/null >>i
        done
        row "interval, 1,000 users, 100 operations, ms" "$(median <i)" "" "" \
            "at most 5 ($n executions)"
    done
}

bench_memory() {
    : >m1 && : >m0
    for _ in $(seq "$REPS"); do
        rss_of "$SB" oltp_point_select --db-driver=null --threads=1000 \
            --time=2 run >>m1
        rss_of "$SB" oltp_point_select --db-driver=null --threads=1 \
            --time=1 run >>m0
    done
    a=$(median <m1)
    b=$(median <m0)
    row "KiB resident per user, 1,000 users, null" \
        "$(ratio "$a" 1000)" "" "" "at most 150 (total / 1,000)"
    row "  of it per additional user" \
        "$(awk -v a="$a" -v b="$b" 'BEGIN { printf "%.4g", (a - b) / 999 }')" \
        "" "" ""
}

bench_start() {
    : >t1
    for _ in $(seq "$REPS"); do
        a=$(date +%s%N)
        "$SB" oltp_point_select --db-driver=null --events=1 run >/dev/null 2>&1
        b=$(date +%s%N)
        echo $(((b - a) / 1000)) >>t1
    done
    row "wall time of --events=1 run, ms" \
        "$(ratio "$(median <t1)" 1000)" "" "" "at most 30"
}

# Prints a number of an open-loop report: "scheduled: 2953, started: ..."
field() { # name file
    sed -n "s/.*[ ,]$1: \([0-9.]*\).*/\1/p" "$2" | tail -1
}
column() { # row-name column file: of the open-loop table
    awk -v r="$1" -v c="$2" '$0 ~ "^ +" r " " {
        sub("^ +" r, ""); print $c }' "$3" | tail -1
}

run_rate() { # seconds extra... -> file out
    local secs=$1
    shift
    "$SB" empty.lua --rate=20000 --threads=4 --time="$secs" \
        --percentile=50,95,99 "$@" run >out 2>/dev/null
}

bench_rate() {
    echo 'function event() end' >empty.lua
    : >done_ && : >sched && : >oldsched
    local secs=$((SECS * 2))
    for _ in $(seq "$REPS"); do
        run_rate "$secs"
        s=$(field scheduled out)
        ratio "$(events <out)" "$s" >>done_
        ratio "$s" $((20000 * secs)) >>sched
        [ -n "$OLD" ] || continue
        "$OLD" empty.lua --rate=20000 --threads=4 --time="$secs" run >out
        ratio "$(events <out)" $((20000 * secs)) >>oldsched
    done
    bound=$(awk -v n=$((20000 * secs)) 'BEGIN { printf "%.4f", 3 / sqrt(n) }')
    row "--rate=20000, 4 threads: completed/scheduled" "$(median <done_)" "" \
        "" "within 0.001 of 1"
    row "  scheduled/asked" "$(median <sched)" "$(median <oldsched)" "" \
        "within $bound of 1"
}

# With --percentile=50,95,99, the columns are min avg 50% 95% 99% max.
bench_pace() {
    echo 'function event() end' >empty.lua
    floor floor_pace -lm -lpthread
    : >lag && : >bare && : >r
    for _ in $(seq "$REPS"); do
        run_rate "$SECS"
        a=$(awk -v x="$(column lag 5 out)" 'BEGIN { print x * 1000 }')
        b=$(./floor_pace 4 20000 "$SECS" |
            sed 's/.*lag_p99_us=\([0-9.]*\).*/\1/')
        echo "$a" >>lag
        echo "$b" >>bare
        ratio "$a" "$b" >>r
    done
    row "--rate=20000: lag p99, us (this, bare threads)" "$(median <lag)" \
        "$(median <bare)" "$(median <r)" "at most 1.3"
}

bench_spin() {
    echo 'function event() end' >empty.lua
    : >lag
    for _ in $(seq "$REPS"); do
        run_rate "$SECS" --pace=spin
        awk -v x="$(column lag 5 out)" 'BEGIN { print x * 1000 }' >>lag
    done
    row "  the same with --pace=spin" "$(median <lag)" "" "" "at most 100 us"
}

# The live view, with a client that fetches what the page fetches and /metrics
# once per second. Without: the same run without --report=web. Pairs in turn, the
# median of their ratios.
bench_web() {
    local pairs=$((REPS > 1 ? 10 : 1)) secs=$((SECS * 2))
    cat >null.lua <<'LUA'
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT 1") end
LUA
    lag_of() { # options...
        "$SB" null.lua --db-driver=null --rate=20000 --threads=4 \
            --time="$secs" --percentile=50,95,99 "$@" run >out 2>err
        awk -v x="$(column lag 5 out)" 'BEGIN { print x * 1000 }'
    }
    if ! "$SB" null.lua --db-driver=null --events=1 --report=web=0 run \
        >/dev/null 2>&1; then
        echo "(this build has no live view)"
        return
    fi
    : >with && : >without && : >r
    for _ in $(seq "$pairs"); do
        b=$(lag_of)
        : >err
        nice -n 19 python3 "$here/web_client.py" err >fetched &
        a=$(lag_of --report=web=127.0.0.1:0)
        wait $!
        if [ "$(cat fetched)" -lt $((secs - 2)) ]; then
            echo "bench/run: the client fetched only $(cat fetched) times" >&2
            exit 1
        fi
        echo "$a" >>with
        echo "$b" >>without
        ratio "$a" "$b" >>r
    done
    row "--rate=20000: lag p99, us (live view, without)" "$(median <with)" \
        "$(median <without)" "$(median <r)" "at most 1.2"
}

# One user, fixed service time, Poisson arrivals: the M/D/1 queue. The
# theoretical value is computed from the measured service time and the scheduled
# rate. The theory does not include late timers, so the pace is spin.
bench_md1() {
    cat >md1.lua <<'LUA'
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT 1") end
LUA
    : >r
    for _ in $(seq "$REPS"); do
        "$SB" md1.lua --db-driver=null --null-latency=0.5ms --rate=1000 \
            --pace=spin --time=$((SECS * 6)) run >out 2>/dev/null
        awk -v resp="$(column 'response time' 2 out)" \
            -v s="$(column 'service time' 2 out)" \
            -v n="$(field scheduled out)" -v t=$((SECS * 6)) 'BEGIN {
                rho = n / t * s / 1000
                print resp / (s + s * rho / (2 * (1 - rho))) }' >>r
    done
    row "M/D/1, rho 0.5: mean response over theory" "$(median <r)" "" "" \
        "within 0.03 of 1"
}

bench_sqlite() {
    local size=10000 few=200000 many=1200000
    [ "$REPS" = 1 ] && many=600000
    floor floor_sqlite -lsqlite3
    "$SB" oltp_point_select --db-driver=sqlite --table-size=$size \
        --sqlite-db=p.db prepare >/dev/null 2>&1 || exit 1
    sb() {
        cpu_of "$SB" oltp_point_select --db-driver=sqlite --sqlite-db=p.db \
            --table-size=$size --rand-type=uniform --time=0 --events="$1" run
    }
    : >new && : >bare && : >r
    for _ in $(seq "$REPS"); do
        a=$(awk -v l="$(sb $many)" -v s="$(sb $few)" -v n=$((many - few)) \
            'BEGIN { print (l - s) / n * 1e6 }')
        b=$(awk -v l="$(cpu_of ./floor_sqlite p.db $many $size)" \
            -v s="$(cpu_of ./floor_sqlite p.db $few $size)" \
            -v n=$((many - few)) 'BEGIN { print (l - s) / n * 1e6 }')
        echo "$a" >>new
        echo "$b" >>bare
        ratio "$a" "$b" >>r
    done
    row "CPU per SQLite point select, us (this, bare)" "$(median <new)" \
        "$(median <bare)" "$(median <r)" "at most 1.15"
}
