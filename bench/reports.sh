# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2153,SC2154
#
# Benchmarks of reporters and result files, for bench/run.

# Prints the list for --report with every reporter of this build.
all_reports() {
    local list=none item
    for item in json=r.json ndjson=r.nd csv=r.csv hdr=r.hdr hgrm=r.hgrm \
        junit=r.xml html=r.html web=127.0.0.1:0; do
        "$SB" cpu --events=1 --report=none,$item run >/dev/null 2>&1 &&
            list=$list,$item
    done
    echo "$list"
}

# Events per second of the null driver with every reporter, over text only.
bench_reports() {
    local list secs=$((SECS * 2))
    list=$(all_reports)
    rate_with() { # report list
        "$SB" oltp_point_select --db-driver=null --threads=2 --time="$secs" \
            --report="$1" --server-stats=all run >out 2>err
    }
    : >with && : >without && : >r
    for i in $(seq "$REPS"); do
        # The program that starts first alternates.
        [ $((i % 2)) = 1 ] || { rate_with text && b=$(rate_of <out); }
        rate_with "text,${list#none,}" && a=$(rate_of <out)
        [ $((i % 2)) = 0 ] || { rate_with text && b=$(rate_of <out); }
        echo "$a" >>with
        echo "$b" >>without
        ratio "$a" "$b" >>r
    done
    row "null driver, events/s (all reporters, text)" "$(median <with)" \
        "$(median <without)" "$(median <r)" "at least 0.98"
    bench_reports_interval "$list"
}

# CPU time of the main thread per interval, in milliseconds, with the given
# reporters. The first intervals do not count: they touch new memory.
interval_cpu() { # report list
    local pid from to secs=$((SECS * 2))
    "$SB" hundred.lua --threads=1000 --rate=10000 --time=$((secs + 16)) \
        --report="$1" run >out 2>err &
    pid=$!
    sleep 13.5
    from=$(cut -d' ' -f1 "/proc/$pid/task/$pid/schedstat")
    sleep "$secs"
    to=$(cut -d' ' -f1 "/proc/$pid/task/$pid/schedstat")
    wait "$pid"
    awk -v ns=$((to - from)) -v n="$secs" 'BEGIN { print ns / n / 1e6 }'
}

# What the processing of an interval costs with every reporter. The main thread
# has other work, too, mainly the schedule of arrivals: this is measured in a
# run without intervals and subtracted.
bench_reports_interval() { # report list
    local all rest
    cat >hundred.lua <<'LUA'
local name = {}
for i = 1, 100 do name[i] = "op" .. i end
function event()
   sysbench.op.finish(sysbench.op.start(name[sysbench.rand.uniform(1, 100)]))
end
LUA
    : >with && : >without && : >ms
    for _ in $(seq "$REPS"); do
        all=$(interval_cpu "$1")
        rest=$(interval_cpu none)
        echo "$all" >>with
        echo "$rest" >>without
        awk -v a="$all" -v b="$rest" 'BEGIN { print a - b }' >>ms
    done
    row "  main thread, CPU ms a second (all reporters, none)" \
        "$(median <with)" "$(median <without)" "" ""
    row "  of which processing of an interval, ms" "$(median <ms)" "" "" \
        "at most 5 (10000 executions)"
}

# Result files of a day. 500 events with 19 executions each per second.
bench_day() {
    part day
    ./day 86400 500 1 >a.json && ./day 86400 503 2 >b.json || exit 1
    row "24 h, 10 operations, 20 counters: file, MB" \
        "$(awk -v n="$(wc -c <a.json)" 'BEGIN { print n / 1e6 }')" "" "" \
        "at most 60"
    : >t
    for _ in $(seq "$REPS"); do
        wall_of "$SB" compare a.json b.json >>t
    done
    row "  compare of two, s" "$(median <t)" "" "" "at most 2"
    if ! "$SB" report a.json --html=a.html >/dev/null 2>&1 || ! "$top/tests/page/time_to_open" \
        "$REPS" a.html >opened 2>err; then
        echo "(no charts library or no Chromium: pages are not opened)"
        return
    fi
    row "  opening it as HTML until charts are drawn, s" \
        "$(sed -n 's/.*after \([0-9.]*\) s,.*/\1/p' opened | median)" "" "" \
        "at most 3"
}
