# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Many connections and users to MariaDB from one process, for bench/run. The server has a
# pool of threads, so that they do not need a thread each.

# Prints the connections per user of 1,000 users: at most 16, and as many as the
# limit of open files allows for the program and for the server, which keeps
# 1,500 for tables.
per_user() {
    local limit
    limit=$(ulimit -Hn)
    [ "$limit" != unlimited ] || limit=100000
    limit=$(((limit - 1500) / 1000))
    echo $((limit > 16 ? 16 : limit < 1 ? 1 : limit))
}

many_up() { # connections
    OPTS=$("$servers_dir/up" mariadb --name=bench-many -- \
        "max_connections=$(($1 + 200))" thread_handling=pool-of-threads \
        back_log=4096 table_open_cache=400 2>up.err) || {
        cat up.err >&2
        return 1
    }
    started="$started bench-many"
    # shellcheck source=/dev/null
    . /dev/stdin <<<"$("$servers_dir/env" bench-many)"
    floor floor_connect $(pkg-config --cflags --libs libmariadb) -lpthread
}

many_connect() { # connections-per-user
    # shellcheck disable=SC2086
    "$SB" connect $OPTS --threads=1000 --connections-per-user="$1" \
        --time=300 --hold-time=0 --require-all run >out 2>&1
}

bench_connections() {
    local n
    n=$(per_user)
    many_up $((1000 * n)) || return
    # The first connections after the start of a server take longer: it has to
    # allocate their memory.
    many_floor "$n"
    : >new && : >bare && : >r && : >lost && : >wall
    for i in $(seq "$REPS"); do
        [ $((i % 2)) = 1 ] || many_floor "$n"
        wall_of many_connect "$n" >>wall
        sed -n 's/^connect: .* made in \([0-9.]*\) s .*/\1/p' out >now
        sed -n 's/^connect: \([0-9]*\) .*; \([0-9]*\) lost.*/\1 \2/p' out >>lost
        cat now >>new
        [ $((i % 2)) = 0 ] || many_floor "$n"
        ratio "$(cat now)" "$(tail -n 1 bare)" >>r
    done
    row "mariadb: $n,000 connections of 1,000 users, s" "$(median <new)" \
        "$(median <bare)" "$(median <r)" "at most 1.3"
    row "  made and lost, fewest and most" "$(sort -n lost | head -n 1)" \
        "$(sort -n -k2 lost | tail -n 1)" "" "$n,000 made, 0 lost"
    row "  the whole run, with a query on each, s" "$(median <wall)" "" "" ""
}

many_floor() { # connections-per-user
    MYSQL_PWD=sbtest ./floor_connect "$SOCKET" sbtest sbtest 1000 "$1" |
        awk -v n="$((1000 * $1))" '$1 != n || $2 != 0 {
            print "bare loop: " $1 " made, " $2 " lost" >"/dev/stderr" }
            { print $3 }' >>bare
}

# Users on workers, each with a connection. The bare loop connects with 8
# threads.
bench_many() {
    local n few many
    n=$(per_user)
    many_up $((1000 * n)) || return
    # shellcheck disable=SC2086
    "$SB" oltp_read_write $OPTS --table-size=$SIZE prepare >/dev/null 2>&1
    MYSQL_PWD=sbtest ./floor_connect "$SOCKET" sbtest sbtest 8 \
        $((125 * n)) >/dev/null
    floor_up mariadb
    : >new && : >bare && : >r && : >rss && : >cpu && : >cpu64 && : >rc
    : >loop && : >loop64 && : >rl && : >rss_compiled
    for _ in $(seq "$REPS"); do
        a=$(started_after many_users $((1000 * n)) $((1000 * n)))
        b=$(MYSQL_PWD=sbtest ./floor_connect "$SOCKET" sbtest sbtest 8 \
            $((125 * n)) | awk '{ print $3 }')
        echo "$a" >>new
        echo "$b" >>bare
        ratio "$a" "$b" >>r
        # The loop of a user is compiled in the first 80 events.
        many_rss $((1000 * n)) $((20000 * n)) >>rss
        many_rss $((1000 * n)) $((90000 * n)) >>rss_compiled
        few=$((80000 * n)) many=$((80000 * n + SECS * 100000))
        a=$(steady cpu_of $few $many many_users $((1000 * n)) EVENTS)
        b=$(steady cpu_of 20000 $((20000 + SECS * 30000)) many_users 64 EVENTS)
        echo "$a" >>cpu
        echo "$b" >>cpu64
        ratio "$a" "$b" >>rc
        few=$((2000 * n)) many=$((2000 * n + SECS * 100000))
        a=$(steady cpu_of $few $many bare_loop mariadb uring $((1000 * n)) EVENTS)
        b=$(steady cpu_of $few $many bare_loop mariadb uring 64 EVENTS)
        echo "$a" >>loop
        echo "$b" >>loop64
        ratio "$a" "$b" >>rl
    done
    row "mariadb: $n,000 users on workers: MB resident" \
        "$(median <rss | megabytes)" "" "" "at most 2,200 with 16,000"
    row "  with the loops of all users compiled" \
        "$(median <rss_compiled | megabytes)" "" "" ""
    row "  start until running, s (bare: 8 threads)" "$(median <new)" \
        "$(median <bare)" "$(median <r)" "at most 1.2"
    row "  CPU per query, us, over 64 users" "$(median <cpu)" \
        "$(median <cpu64)" "$(median <rc)" "at most 1.5"
    row "  the same of a bare loop" "$(median <loop)" "$(median <loop64)" \
        "$(median <rl)" ""
}

many_rss() { # users events
    # shellcheck disable=SC2086
    rss_of "$SB" oltp_point_select $OPTS --table-size=$SIZE --threads="$1" \
        --workers=processors --events="$2" --time=0 run
}

megabytes() { awk '{ printf "%.0f", $1 / 1024 }'; }

many_users() { # users events
    # shellcheck disable=SC2086
    point_select "$SB" "$1" "$2" $OPTS --workers=processors
}
