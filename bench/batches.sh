# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Benchmarks of the workloads that insert batches, against bare loops that send
# the same statements, for bench/run. The argument of each benchmark is the kind
# of server, mariadb or pgsql.

BATCH_THREADS=4

# The bare loop: prints the statements per second.
bare_batches() { # file
    case $KIND in
    mariadb) MYSQL_PWD=sbtest ./floor_batches_mysql "$SOCKET" sbtest sbtest \
        $BATCH_THREADS "$1" ;;
    pgsql) ./floor_batches_pgsql \
        "host=${SOCKET%/*} port=$PORT user=sbtest password=sbtest dbname=sbtest" \
        $BATCH_THREADS "$1" ;;
    esac || exit 1
}

build_batches() {
    case $KIND in
    mariadb) floor floor_batches_mysql $(pkg-config --cflags --libs libmariadb) \
        -lpthread ;;
    pgsql) floor floor_batches_pgsql $(pkg-config --cflags --libs libpq) \
        -lpthread ;;
    esac
}

# Prints the statements per second of the workload in new tables, or with
# "bare" those of the bare loop.
batch_rate() { # who workload statements options...
    local who=$1 workload=$2 statements=$3 rate
    shift 3
    # shellcheck disable=SC2086
    "$SB" $OPTS "$@" "$workload" cleanup >/dev/null 2>&1
    # shellcheck disable=SC2086
    "$SB" $OPTS "$@" "$workload" prepare >out 2>&1 || {
        tail -n 5 out >&2
        exit 1
    }
    if [ "$who" = bare ]; then
        rate=$(bare_batches batches.sql) || exit 1
    else
        # shellcheck disable=SC2086
        rate=$("$SB" $OPTS "$@" --threads=$BATCH_THREADS \
            --events="$statements" --time=0 "$workload" run 2>/dev/null |
            rate_of)
    fi
    # shellcheck disable=SC2086
    "$SB" $OPTS "$@" "$workload" check >out 2>&1 || {
        tail -n 5 out >&2
        exit 1
    }
    echo "$rate"
}

# The order of the two alternates, so that neither always has the fuller log.
batches_of() { # kind workload statements rows options...
    local kind=$1 workload=$2 statements=$3 rows=$4 i a b
    shift 4
    build_batches
    # shellcheck disable=SC2086
    "$SB" $OPTS "$@" --workload="$workload" --batches="$statements" \
        --rand-seed=1 --time=0 --events=1 "$here/batches.lua" run >out 2>&1 || {
        tail -n 5 out >&2
        exit 1
    }
    : >new && : >bare && : >r
    for i in $(seq $((2 * REPS))); do
        if [ $((i % 2)) = 0 ]; then
            a=$(batch_rate new "$workload" "$statements" "$@") || exit 1
            b=$(batch_rate bare "$workload" "$statements" "$@") || exit 1
        else
            b=$(batch_rate bare "$workload" "$statements" "$@") || exit 1
            a=$(batch_rate new "$workload" "$statements" "$@") || exit 1
        fi
        awk -v r="$a" -v n="$rows" 'BEGIN { print r * n }' >>new
        awk -v r="$b" -v n="$rows" 'BEGIN { print r * n }' >>bare
        ratio "$a" "$b" >>r
    done
    # shellcheck disable=SC2086
    "$SB" $OPTS "$@" "$workload" cleanup >/dev/null 2>&1
    rm -f batches.sql
    row "$kind: $workload, $BATCH_THREADS threads, rows/s" "$(median <new)" \
        "$(median <bare)" "$(median <r)" "at least 0.95"
}

bench_ingest() {
    batches_of "$1" ingest $((SECS * 2000)) 50 --tables=16
}

bench_iibench() {
    batches_of "$1" iibench $((SECS * 80)) 1000 --tables=1
}
