# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Benchmarks of workers that carry many users, for bench/run: without a server
# (workers, workers_lag, workers_md1) and with one (waiting, waiting_rate).

NULL_EVENT='function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT 1") end'

bench_workers() {
    local script users
    echo 'function event() end' >empty.lua
    echo "$NULL_EVENT" >null.lua
    for script in empty null; do
        for users in 1 64; do
            : >new && : >old && : >r
            for _ in $(seq "$REPS"); do
                a=$(null_rate $script $users 1)
                b=$(null_rate $script $users users)
                echo "$a" >>new
                echo "$b" >>old
                ratio "$a" "$b" >>r
            done
            row "$script.lua, $users users: 1 worker, threads" \
                "$(median <new)" "$(median <old)" "$(median <r)" \
                "$([ $users = 1 ] && echo at least 0.9)"
        done
    done
}

null_rate() { # script users workers
    "$SB" "$1.lua" --db-driver=null --threads="$2" --workers="$3" \
        --time="$SECS" run 2>/dev/null | rate_of
}

bench_workers_lag() {
    echo "$NULL_EVENT" >null.lua
    : >lag && : >cpu
    for _ in $(seq "$REPS"); do
        cpu_of "$SB" null.lua --db-driver=null --rate=20000 --threads=64 \
            --workers=1 --time="$SECS" --percentile=50,95,99 run >>cpu
        "$SB" null.lua --db-driver=null --rate=20000 --threads=64 \
            --workers=1 --time="$SECS" --percentile=50,95,99 run >out \
            2>/dev/null
        awk -v x="$(column lag 5 out)" 'BEGIN { print x * 1000 }' >>lag
    done
    row "--rate=20000, 64 users on 1 worker: lag p99, us" "$(median <lag)" \
        "" "" "at most 100"
    row "  its CPU, % of a core" \
        "$(awk -v c="$(median <cpu)" -v s="$SECS" \
            'BEGIN { printf "%.3g", c / s * 100 }')" "" "" ""
}

# M/D/1 with the default pace. The theory is Lindley's recursion over the same
# arrivals with the measured mean service time. The arrivals depend only on the
# seed: a run with --pace=spin and events that take no time records them.
bench_workers_md1() {
    local rate target secs=$((SECS * 6)) mode
    echo "$NULL_EVENT" >null.lua
    cat >arrivals.lua <<'LUA'
local ffi = require("ffi")
ffi.cdef("typedef struct { long s, ns; } bench_time;" ..
         "int clock_gettime(int, bench_time *);")
local t, at, n = ffi.new("bench_time"), ffi.new("double[?]", 200000), 0
function event()
    ffi.C.clock_gettime(1, t)
    at[n], n = tonumber(t.s) * 1e3 + tonumber(t.ns) / 1e6, n + 1
end
function thread_done()
    local file = io.open("arrivals", "w")
    for i = 0, n - 1 do file:write(("%.6f\n"):format(at[i])) end
    file:close()
end
LUA
    for rate in 1000 1600; do
        "$SB" arrivals.lua --rate=$rate --rand-seed=7 --pace=spin \
            --time=$secs run >/dev/null 2>&1
        for mode in users 1; do
            : >r
            for _ in $(seq "$REPS"); do
                "$SB" null.lua --db-driver=null --null-latency=0.5ms \
                    --rate=$rate --rand-seed=7 --workers=$mode --time=$secs \
                    run >out 2>/dev/null
                awk -v resp="$(column 'response time' 2 out)" \
                    -v s="$(column 'service time' 2 out)" 'NR > 1 {
                        w += s - ($1 - last); if (w < 0) w = 0 }
                    { last = $1; sum += w + s }
                    END { print resp / (sum / NR) }' arrivals >>r
            done
            target="within 0.02 of 1"
            [ $rate = 1000 ] || target="within 0.03 of 1"
            row "M/D/1, $rate/s, --workers=$mode, over Lindley" \
                "$(median <r)" "" "" "$target"
        done
    done
    : >r
    for _ in $(seq "$REPS"); do
        cpu_of "$SB" null.lua --db-driver=null --rate=1000 --time="$SECS" run |
            awk -v s="$SECS" '{ print $1 / s * 100 }' >>r
    done
    row "waiting for 1,000 arrivals/s: CPU, % of a core" "$(median <r)" "" "" \
        "at most 10"
}

floor_up() { # kind
    local library=libpq protocol=pgsql
    [ "$1" = pgsql ] || library=libmariadb protocol=mysql
    floor floor_loop "$here/floor_loop_$protocol.c" \
        $(pkg-config --cflags --libs $library liburing) -lpthread
}

# The bare loop of a server, which waits in one of three ways. With SCHED_BATCH,
# as the workers of this program, for MariaDB: without it, it is slower.
bare_loop() { # kind way users events
    case $1 in
    pgsql) ./floor_loop "$2" "$3" "$4" "host=${SOCKET%/*} port=$PORT \
user=sbtest password=sbtest dbname=sbtest" $SIZE ;;
    mariadb) chrt -b 0 ./floor_loop "$2" "$3" "$4" "$SOCKET" $SIZE ;;
    esac
}

bench_waiting() {
    local users few many targets
    floor_up "$1"
    for users in ${USERS:-64 512}; do
        few=$((users * 300)) many=$((users * 300 + SECS * 30000))
        : >new && : >threads && : >rt && : >uring && : >ru
        for _ in $(seq "$REPS"); do
            # shellcheck disable=SC2086
            a=$(steady cpu_of $few $many point_select "$SB" $users EVENTS $OPTS \
                --workers=1)
            echo "$a" >>new
            if [ "$1" = pgsql ]; then
                b=$(steady cpu_of $few $many bare_loop pgsql threads $users EVENTS)
                c=$(steady cpu_of $few $many bare_loop pgsql uring $users EVENTS)
                echo "$c" >>uring
                ratio "$a" "$c" >>ru
            else
                b=$(steady cpu_of $few $many bare $users EVENTS)
            fi
            echo "$b" >>threads
            ratio "$a" "$b" >>rt
        done
        targets=$(waiting_target "$1" $users)
        row "$1: CPU per query, us, $users users, bare threads" \
            "$(median <new)" "$(median <threads)" "$(median <rt)" "$targets"
        [ "$1" = pgsql ] || continue
        row "  over a bare loop on io_uring" "$(median <new)" \
            "$(median <uring)" "$(median <ru)" \
            "$([ $users = 64 ] && echo at most 1.5)"
    done
}

waiting_target() { # kind users
    case $1:$2 in
    mariadb:64) echo "at most 0.65" ;;
    pgsql:64) echo "at most 0.7, or 1.5 x io_uring over threads" ;;
    pgsql:512) echo "at most 0.6" ;;
    esac
}

loop_rate() { # kind users
    bare_loop "$1" uring "$2" $((SECS * 60000)) | sed 's/.*queries\/s=//'
}

# Events per second after the first second: users compile their scripts first.
# Prints nothing if there was no later interval.
steady_rate() { # program users options...
    local program=$1 users=$2
    shift 2
    "$program" oltp_point_select "$@" --table-size=$SIZE --rand-type=uniform \
        --threads="$users" --time=4 --report-interval=1 run 2>/dev/null |
        awk '/ tps: / { if (n++) sum += $7 } END { if (n > 1) print sum / (n - 1) }'
}

# Where server and client share processors, the rates of two equal runs differ
# by a third: four short rounds for each repetition.
bench_waiting_rate() { # kind
    local users
    floor_up "$1"
    for users in ${USERS:-8 64 512}; do
        rm -f rate_*
        for _ in $(seq $((REPS * 4))); do
            rate_round "$1" "$users"
        done
        rate_rows "$1" "$users"
    done
}

# One worker, one for each processor, a thread for each user, the bare loop,
# and 1.0.
rate_round() { # kind users
    local way
    for way in 1 processors users; do
        # shellcheck disable=SC2086
        steady_rate "$SB" "$2" $OPTS --workers=$way >>rate_$way
    done
    loop_rate "$1" "$2" >>rate_bare
    # shellcheck disable=SC2086
    [ -z "$OLD" ] || steady_rate "$OLD" "$2" $OLD_OPTS >>rate_old
}

rate_rows() { # kind users
    local of over target
    for of in 1 processors bare; do
        row "$1: point selects/s, $2 users, workers: $of" \
            "$(median <rate_$of)" "" "" ""
        for over in bare users old; do
            [ -s rate_$over ] && [ $of != $over ] || continue
            target=$(rate_target "$1" "$2" $of $over)
            row "  over $over" "$(median <rate_$of)" \
                "$(median <rate_$over)" \
                "$(paste rate_$of rate_$over | awk '{ print $1 / $2 }' |
                    median)" "$target"
        done
    done
}

rate_target() { # kind users of over
    case $1:$2:$3:$4 in
    *:bare:*) ;;
    *:8:*:users) echo "at least 1.0" ;;
    *:64:*:old | *:512:*:old) echo "at least 1.15" ;;
    pgsql:64:*:bare | pgsql:512:*:bare) echo "at least 0.9" ;;
    esac
}
