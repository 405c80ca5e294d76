# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Benchmarks of the drivers with private servers of tests/servers, for
# bench/run. The argument of each benchmark is the kind of server, mariadb or
# pgsql.

SIZE=100000 # rows of the table

servers_dir=$top/tests/servers
started=

servers_down() {
    # shellcheck disable=SC2086
    [ -z "$started" ] || "$servers_dir/down" $started >/dev/null 2>&1
}

# Starts the server once and prepares the table. Sets OPTS, the options of this
# program, OLD_OPTS, those of 1.0, and the variables of tests/servers/env.
server_up() { # kind
    OPTS=$("$servers_dir/up" "$1" --name="bench-$1" 2>up.err)
    case $? in
    0) ;;
    77)
        echo "($1 is not installed; skipped)"
        return 1
        ;;
    *)
        cat up.err >&2
        return 1
        ;;
    esac
    # shellcheck source=/dev/null
    . /dev/stdin <<<"$("$servers_dir/env" "bench-$1")"
    OLD_OPTS=$OPTS
    case " $started " in
    *" bench-$1 "*) return 0 ;;
    esac
    started="$started bench-$1"
    # shellcheck disable=SC2086
    "$SB" oltp_read_write $OPTS --table-size=$SIZE prepare >out 2>&1 || {
        tail -n 5 out >&2
        exit 1
    }
    case $1 in
    mariadb) floor floor_mysql $(pkg-config --cflags --libs libmariadb) \
        -lpthread ;;
    pgsql) floor floor_pgsql $(pkg-config --cflags --libs libpq) -lpthread ;;
    esac
}

# The bare loop.
bare() { # threads events
    case $KIND in
    mariadb) MYSQL_PWD=sbtest ./floor_mysql "$SOCKET" sbtest sbtest $SIZE "$1" "$2" ;;
    pgsql) ./floor_pgsql "$1" "$2" \
        "host=${SOCKET%/*} port=$PORT user=sbtest password=sbtest dbname=sbtest" \
        $SIZE ;;
    esac
}

# Prints the CPU time per query in us, from the difference between a long and a
# short run. time: user_of, or cpu_of with that of the system.
steady() { # time few many command...
    local time=$1 few=$2 many=$3 a b
    shift 3
    a=$("$time" "${@/EVENTS/$many}")
    b=$("$time" "${@/EVENTS/$few}")
    awk -v a="$a" -v b="$b" -v n=$((many - few)) \
        'BEGIN { printf "%.4f\n", (a - b) / n * 1e6 }'
}

point_select() { # program threads events options...
    local program=$1 threads=$2 events=$3
    shift 3
    "$program" oltp_point_select "$@" --table-size=$SIZE \
        --rand-type=uniform --threads="$threads" --events="$events" --time=0 run
}

bench_cpu() {
    local threads target few=20000 many=$((SECS * 60000))
    for threads in 8 64; do
        : >new && : >bare && : >old && : >r && : >ro
        for _ in $(seq "$REPS"); do
            # shellcheck disable=SC2086
            a=$(steady user_of $few $many point_select "$SB" $threads EVENTS $OPTS)
            b=$(steady user_of $few $many bare $threads EVENTS)
            echo "$a" >>new
            echo "$b" >>bare
            ratio "$a" "$b" >>r
            [ -n "$OLD" ] || continue
            # shellcheck disable=SC2086
            ratio "$(steady user_of $few $many point_select "$OLD" $threads EVENTS \
                $OLD_OPTS)" "$b" >>ro
        done
        target="at most 1.15"
        [ $threads = 8 ] || target="at most 1.3"
        row "$1: user CPU per point select, us, $threads threads" \
            "$(median <new)" "$(median <bare)" "$(median <r)" \
            "$target (1.0: $(median <ro))"
    done
}

timed_run() { # program workload threads options...
    local program=$1 workload=$2 threads=$3
    shift 3
    "$program" "$workload" "$@" --table-size=$SIZE --threads="$threads" \
        --time=$((threads > 8 ? 2 * SECS : SECS)) run 2>/dev/null | rate_of
}

# Twice as many pairs as the other benchmarks, for a tighter bound. Runs with
# many users are longer, because users compile and prepare their statements
# during their first events; 1.0 does that before the run starts.
bench_throughput() {
    local cell all="" w
    if [ -z "$OLD" ]; then
        echo "($1: throughput requires sysbench 1.0; skipped)"
        return
    fi
    for w in oltp_point_select oltp_read_only oltp_read_write; do
        all="$all $w:1 $w:8 $w:64"
    done
    for cell in ${THROUGHPUT:-$all}; do
        throughput_of "$1" "${cell%:*}" "${cell#*:}"
    done
}

throughput_of() { # kind workload threads
    local i a b
    : >new && : >old && : >r
    for i in $(seq $((2 * REPS))); do
        # shellcheck disable=SC2086
        if [ $((i % 2)) = 0 ]; then
            a=$(timed_run "$SB" "$2" "$3" $OPTS)
            b=$(timed_run "$OLD" "$2" "$3" $OLD_OPTS)
        else
            b=$(timed_run "$OLD" "$2" "$3" $OLD_OPTS)
            a=$(timed_run "$SB" "$2" "$3" $OPTS)
        fi
        echo "$a" >>new
        echo "$b" >>old
        ratio "$a" "$b" >>r
    done
    row "$1: $2, $3 threads, events/s" "$(median <new)" "$(median <old)" \
        "$(lower_bound <r)" "second (lower bound) at least 0.98"
}

# Runs the administrator's client in the database of the benchmarks.
admin() { ${ADMIN/@\/postgres\?/@\/sbtest?} "$@"; }

# Server-side load of the same rows, with the same keys afterwards.
own_load() { # kind file
    case $1 in
    mariadb)
        $CLIENT --local-infile=1 -e "SET unique_checks=0, foreign_key_checks=0;
            LOAD DATA LOCAL INFILE '$2' INTO TABLE own_load;
            ALTER TABLE own_load ADD INDEX k_own (k)"
        ;;
    pgsql)
        admin -c "COPY own_load FROM '$2'" \
            -c "ALTER TABLE own_load ADD PRIMARY KEY (id)" \
            -c "CREATE INDEX k_own ON own_load (k)"
        ;;
    esac
}

empty_own() { # kind
    case $1 in
    mariadb) $CLIENT -e "DROP TABLE IF EXISTS own_load;
        CREATE TABLE own_load LIKE sbtest1;
        ALTER TABLE own_load DROP INDEX k_1" ;;
    pgsql) admin -q -c "DROP TABLE IF EXISTS own_load" \
        -c "CREATE TABLE own_load (id integer NOT NULL, k integer NOT NULL,
            c char(120) NOT NULL, pad char(60) NOT NULL)" >/dev/null 2>&1 ;;
    esac
}

# Writes the rows of sbtest1 to a file that the server can read.
dump_rows() { # kind file
    case $1 in
    mariadb) $CLIENT --quick -e "SELECT * FROM sbtest1" >"$2" ;;
    pgsql) admin -c "COPY sbtest1 TO STDOUT" >"$2" ;;
    esac
    chmod 644 "$2"
}

prepare_million() {
    # shellcheck disable=SC2086
    "$1" oltp_read_write $2 --table-size=$ROWS --threads=2 prepare
}
cleanup() {
    # shellcheck disable=SC2086
    "$SB" oltp_read_write $OPTS cleanup >/dev/null 2>&1
}

bench_load() {
    local file=$work/rows.txt
    ROWS=1000000
    [ "$REPS" = 1 ] && ROWS=200000
    chmod 755 "$work"
    : >new && : >bare && : >old && : >r
    for i in $(seq "$REPS"); do
        cleanup
        a=$(wall_of prepare_million "$SB" "$OPTS")
        [ "$i" = 1 ] && dump_rows "$1" "$file"
        empty_own "$1"
        b=$(wall_of own_load "$1" "$file") || exit 1
        echo "$a" >>new
        echo "$b" >>bare
        ratio "$a" "$b" >>r
    done
    if [ -n "$OLD" ]; then
        cleanup
        # shellcheck disable=SC2086
        wall_of "$OLD" oltp_read_write $OLD_OPTS --table-size=$ROWS prepare >old
    fi
    empty_own "$1"
    rm -f "$file"
    row "$1: prepare of $ROWS rows with index, s" "$(median <new)" \
        "$(median <bare)" "$(median <r)" \
        "at most 1.1 x the server's own load (1.0: $(median <old) s)"
    cleanup
    # shellcheck disable=SC2086
    "$SB" oltp_read_write $OPTS --table-size=$SIZE prepare >/dev/null 2>&1
}

# Prints the time in seconds until "Threads started!" is printed.
started_after() {
    local a b
    a=$(date +%s%N)
    b=$("$@" 2>/dev/null | while read -r line; do
        case $line in "Threads started!"*)
            date +%s%N
            break
            ;;
        esac
    done)
    if [ -z "$b" ]; then
        echo "bench/run: did not start: $*" >&2
        echo nan
        return
    fi
    awk -v a="$a" -v b="$b" 'BEGIN { printf "%.4f\n", (b - a) / 1e9 }'
}

# Replaces the tables of the server.
tables_of() { # number rows
    # shellcheck disable=SC2086
    "$SB" oltp_read_write $OPTS --tables=250 cleanup >out 2>&1 &&
        "$SB" oltp_read_write $OPTS --tables="$1" --table-size="$2" \
            --threads=4 prepare >out 2>&1 || tail -n 5 out >&2
}

bench_connect() {
    local tables rows=$SIZE
    for tables in 1 250; do
        if [ $tables -gt 1 ]; then
            rows=1000
            tables_of $tables $rows
        fi
        : >new && : >bare && : >r
        for _ in $(seq "$REPS"); do
            # shellcheck disable=SC2086
            a=$(started_after "$SB" oltp_read_write $OPTS --tables=$tables \
                --table-size=$rows --threads=1000 --events=1 run)
            b=$(wall_of bare 1000 0)
            echo "$a" >>new
            echo "$b" >>bare
            awk -v a="$a" -v b="$b" 'BEGIN { print (a - b) }' >>r
        done
        row "$1: 1,000 users on $tables tables: start, s" "$(median <new)" \
            "$(median <bare)" "+$(median <r)" \
            "at most 1 s more ($(nproc) processors: 1 ms of CPU per user)"
    done
    tables_of 1 "$SIZE"
}
