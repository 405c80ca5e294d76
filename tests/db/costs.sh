# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the events cost the server: compared with what the server counts, and with what
# the system says about its processes, before and after the run. For test_validity,
# whose servers no other test uses.
# shellcheck shell=sh disable=SC2046,SC2086,SC2154 # words of options; lib.sh

# run_costs workload option...: the costs are then in r.json.
run_costs() {
    workload=$1
    shift
    "$SYSBENCH" "$workload" $db_options --tables=1 --table-size=2000 --time=0 \
        --report=none,json=r.json --report-costs=auto --report-validity=off \
        --check-tables=off "$@" run >out 2>&1
}

# cost name: prints a figure's total, cost per query and source, or why it is unknown.
cost() {
    python3 - "$1" <<'PY'
import json
import sys
for c in json.load(open("r.json"))["runs"][0]["costs"]["figures"]:
    if c["name"] == sys.argv[1]:
        print(*([c["why"]] if c["total"] is None
                else [c["total"], c["per_query"], c["source"]]))
PY
}

# near figure got wanted tolerance what
near() {
    python3 -c 'import sys
got, wanted, tolerance = map(float, sys.argv[1:])
sys.exit(abs(got - wanted) > tolerance)' "$2" "$3" "$4"
    st=$?
    [ $st = 0 ] || echo "$1: got $2, not $3 +- $4" >>out
    ok $st "$5"
}

# Processor time of $PID and its children, and of those that have ended, in us.
cpu_time() {
    python3 - "$PID" <<'PY'
import glob
import os
import sys
parent, ticks = {}, {}
for path in glob.glob("/proc/[0-9]*/stat"):
    try:
        text = open(path).read()
    except OSError:
        continue
    pid = int(text.split()[0])
    f = text.rsplit(")", 1)[1].split()
    parent[pid] = int(f[1])
    ticks[pid] = sum(map(int, f[11:15]))
total = 0
for pid, n in ticks.items():
    at = pid
    while at and at != int(sys.argv[1]):
        at = parent.get(at, 0)
    total += n if at else 0
print(total * 1000000 // os.sysconf("SC_CLK_TCK"))
PY
}

# quiet_log: prints the position in the log once the work of earlier runs is written,
# such as purges.
quiet_log() {
    now=$(log_position)
    for _ in $(seq 50); do
        last=$now
        sleep 0.2
        now=$(log_position)
        [ "$now" != "$last" ] || break
    done
    echo "$now"
}

# test_log name: the log of inserts, as log_position() prints it. Of other changes,
# MariaDB writes log after the run, when it purges old rows.
test_log() {
    before=$(quiet_log)
    run_costs oltp_insert --events=4000 --threads=2
    after=$(log_position)
    wanted=$((after - before))
    set -- "$1" $(cost log_bytes)
    near log_bytes "$2" $wanted $((wanted / 1000 + 1)) "$1: the log is the server's"
}

test_selects() {
    before=$(cpu_time)
    run_costs oltp_point_select --events=30000 --threads=1
    used=$(($(cpu_time) - before))
    what=$1
    set -- $(cost cpu_us)
    # Processes are rounded to 10 ms; the connections of the questions are not in it.
    near cpu_us "$1" "$used" $((used / 10 + 100000)) \
        "$what: processor time is that of the processes"
    shift 2
    is "$*" "process $PID, its children" "$what: the process was found"
    set -- $(cost rows_examined)
    near rows_examined "$2" 1 "$rows_tolerance" "$what: a row for each query"
    "$SB_SRCDIR/tests/check-result" r.json >out 2>&1
    ok $? "$what: the result file is valid"
}

# Without the warm-up, which is as long as the rest. If the machine is busy, the server
# may be asked too late for a short run.
test_warmup() {
    for seconds in 0.5 4; do
        run_costs oltp_point_select --time=$seconds --warmup-time=$seconds
        cost rows_examined | grep -q 'read too late' || break
    done
}

test_pids() {
    run_costs oltp_point_select --events=10 --server-pid=$$
    is "$(cost cpu_us)" "process $$ is a parent of this program" \
        "$1: a process that is no server"
    is "$(cost context_switches)" "process $$ is a parent of this program" \
        "$1: its context switches"
}

# test_costs name rows: log_position() prints the position in the server's log. rows:
# how exact the rows per query are; those of system tables count in PostgreSQL.
test_costs() {
    rows_tolerance=$2
    test_selects "$1"
    test_log "$1"
}
