# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Benchmarks of tpcc with the servers of bench/servers.sh, for bench/run.

# Prints CPU time (user and system, in us) and the number of new orders of a
# run with this number of events.
tpcc_run() { # events pipeline
    local TIMEFORMAT='%U %S' cpu
    # shellcheck disable=SC2086
    cpu=$({ time "$SB" tpcc $OPTS --warehouses=$TPCC_W --threads=8 --time=0 \
        --rand-seed=7 --events="$1" --pipeline="$2" run >out 2>&1; } 2>&1) ||
        { tail -n 5 out >&2; exit 1; }
    echo "$cpu $(sed -n 's/^New orders\/min: [0-9.]* (\([0-9]*\),.*/\1/p' out)" |
        awk '{ print ($1 + $2) * 1e6, $3 }'
}

# Prints the CPU time per new order in us, from the difference between a long
# and a short run.
tpcc_steady() { # pipeline
    local few many
    few=$(tpcc_run 1000 "$1") || exit 1
    many=$(tpcc_run $((SECS * 2000 + 1000)) "$1") || exit 1
    echo "$few $many" | awk '{ printf "%.4f\n", ($3 - $1) / ($4 - $2) }'
}

tpcc_prepare() {
    # shellcheck disable=SC2086
    "$SB" tpcc $OPTS --warehouses=$TPCC_W --threads=2 prepare
}

tpcc_cleanup() {
    # shellcheck disable=SC2086
    "$SB" tpcc $OPTS cleanup >/dev/null 2>&1
}

bench_tpcc_cpu() {
    local a b
    TPCC_W=2
    tpcc_cleanup
    tpcc_prepare >out 2>&1 || { tail -n 5 out >&2; exit 1; }
    : >on && : >off && : >r
    for _ in $(seq "$REPS"); do
        a=$(tpcc_steady on) || exit 1
        b=$(tpcc_steady off) || exit 1
        echo "$a" >>on
        echo "$b" >>off
        ratio "$a" "$b" >>r
    done
    tpcc_cleanup
    row "$1: tpcc, client CPU per new order, us" "$(median <on)" \
        "$(median <off)" "$(median <r)" \
        "at most 0.6 (with pipelines over statement by statement)"
}

TPCC_TABLES="warehouse district customer history item stock orders new_orders
    order_line"

# Prints the statements of one session: COPY, then keys and indexes, then
# statistics.
tpcc_own_sql() { # folder table...
    local at=$1 table sql=''
    shift
    for table; do
        echo "COPY own_$table FROM '$at/$table';"
        case $table in
        warehouse) sql="w_id" ;;
        district) sql="d_w_id, d_id" ;;
        customer) sql="c_w_id, c_d_id, c_id" ;;
        item) sql="i_id" ;;
        stock) sql="s_w_id, s_i_id" ;;
        orders) sql="o_w_id, o_d_id, o_id" ;;
        new_orders) sql="no_w_id, no_d_id, no_o_id" ;;
        order_line) sql="ol_w_id, ol_d_id, ol_o_id, ol_number" ;;
        history) continue ;;
        esac
        echo "ALTER TABLE own_$table ADD PRIMARY KEY ($sql);"
    done
    for table; do
        case $table in
        customer)
            echo "CREATE INDEX ON own_customer (c_w_id, c_d_id, c_last, c_first);" ;;
        orders)
            echo "CREATE INDEX ON own_orders (o_w_id, o_d_id, o_c_id, o_id);" ;;
        esac
        echo "ANALYZE own_$table;"
    done
}

# The same rows, keys, indexes and statistics by the server's own means, in two
# sessions, like prepare with two threads.
tpcc_own_load() { # folder
    local one st=0
    tpcc_own_sql "$1" order_line orders new_orders history |
        admin -q -v ON_ERROR_STOP=1 &
    one=$!
    tpcc_own_sql "$1" stock customer item district warehouse |
        admin -q -v ON_ERROR_STOP=1 || st=1
    wait $one && return $st
}

tpcc_drop_own() {
    local table
    for table in $TPCC_TABLES; do
        admin -q -c "DROP TABLE IF EXISTS own_$table" >/dev/null 2>&1
    done
}

tpcc_create_own() {
    local table
    tpcc_drop_own
    for table in $TPCC_TABLES; do
        admin -q -c "CREATE TABLE own_$table (LIKE tpcc1_$table)" || exit 1
    done
}

bench_tpcc_load() {
    local a b table
    if [ "$1" != pgsql ]; then
        echo "(tpcc_load is for pgsql; skipped)"
        return
    fi
    TPCC_W=10
    [ "$REPS" = 1 ] && TPCC_W=2
    chmod 755 "$work"
    mkdir -p "$work/tpcc"
    : >new && : >bare && : >r
    for i in $(seq "$REPS"); do
        tpcc_drop_own
        tpcc_cleanup
        a=$(wall_of tpcc_prepare) || exit 1
        if [ "$i" = 1 ]; then
            for table in $TPCC_TABLES; do
                admin -q -c "COPY tpcc1_$table TO STDOUT" >"$work/tpcc/$table"
            done
            chmod -R a+rX "$work/tpcc"
        fi
        tpcc_create_own
        tpcc_cleanup
        b=$(wall_of tpcc_own_load "$work/tpcc") || exit 1
        echo "$a" >>new
        echo "$b" >>bare
        ratio "$a" "$b" >>r
    done
    tpcc_drop_own
    rm -rf "$work/tpcc"
    row "$1: tpcc, prepare of $TPCC_W warehouses, s" "$(median <new)" \
        "$(median <bare)" "$(median <r)" \
        "at most 1.1 x COPY of the same rows, keys and indexes"
}
