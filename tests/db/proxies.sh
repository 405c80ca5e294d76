# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Workloads and failures behind a proxy, for test_proxies and test_proxies_newest.
# shellcheck source=tests/fault/lib.sh
. "$SB_SRCDIR/tests/fault/lib.sh"
at=$SB_SRCDIR/tests/servers

# through kind [setting...]: starts a proxy of this kind in front of $server. Sets
# proxy and via, the options to connect through it. Returns 1 after a skip.
through() {
    proxy=$server-$1
    [ "$1" != haproxy ] || set -- "$1"
    try "$at/up" "--name=$proxy" "$1" "$server" -- "${@:2}"
    if [ "$st" = 77 ]; then
        skip "$1" "$(tail -n 1 err)"
        return 1
    fi
    started="$started $proxy"
    [ "$st" = 0 ] || { ok 1 "$1: starts"; return 1; }
    # shellcheck disable=SC2207 # words of options
    via=($(cat out))
}
leave_proxy() { "$at/down" "$proxy" >/dev/null 2>&1; }

# --- workloads -----------------------------------------------------------------

run() { # workload option...
    try "$SYSBENCH" "$1" "${via[@]}" --time=0 --events=40 "${@:2}" run
}
complete() {
    [ "$st" = 0 ] && ! says '^FATAL' && ! says accounting && [ "$(events)" = 40 ] &&
        [ "$(failed_events)" = 0 ] && [ "$(counted transactions)" = 40 ] &&
        { [ "$(counted errors)" = 0 ] || errors_add_up; }
}
# Each kind of workload with and without prepared statements, threads and a worker.
works() { # name
    local table=(--tables=2 --table-size=500 --threads=3)
    local legacy=(--oltp-tables-count=2 --oltp-table-size=500 --num-threads=3)
    try "$SYSBENCH" oltp_read_write "${via[@]}" "${table[@]}" prepare
    check "$1: prepare" test "$st" = 0
    run oltp_read_write "${table[@]}"
    check "$1: oltp_read_write" complete
    run oltp_read_write "${table[@]}" --workers=1 --db-ps-mode=disable --reconnect=3
    check "$1: oltp_read_write with a worker, SQL texts, reconnects" complete
    run oltp_point_select "${table[@]}" --workers=1 --db-refresh-events=5
    check "$1: oltp_point_select with a worker" complete
    run oltp_point_select "${table[@]}" --db-ps-mode=disable
    check "$1: oltp_point_select, SQL texts" complete
    run "--test=$SB_SRCDIR/tests/lua/oltp.lua" "${legacy[@]}"
    check "$1: legacy oltp.lua" complete
    run "--test=$SB_SRCDIR/tests/lua/oltp.lua" "${legacy[@]}" --workers=1 --db-ps-mode=disable
    check "$1: legacy oltp.lua with a worker, SQL texts" complete
    try "$SYSBENCH" oltp_read_write "${via[@]}" "${table[@]}" cleanup
}

# --- failures ------------------------------------------------------------------

end_connections() {
    case $driver in
    mysql)
        must as_admin "SELECT CONCAT('KILL ', id, ';')
            FROM information_schema.processlist WHERE user = 'sbtest'"
        # Some of them may have ended.
        $ADMIN -f <answer 2>>client.log ;;
    pgsql)
        must as_admin "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE usename = 'sbtest'" ;;
    esac
}
# more name: whether a line that begins after this call shows events.
more() {
    local lines
    lines=$(grep -c tps: "$1.out")
    # The line after the next one covers only time after this call.
    await 60 later "$1" $((lines + 2))
}
later() {
    gone "$1" || tail -n +"$2" < <(grep tps: "$1.out") | grep -q 'tps: *[0-9.]*[1-9]'
}
all_stored() {
    [ "$st" = 0 ] && ! says '^FATAL' && ! says accounting && errors_add_up &&
        [ "$(failed_events)" = 0 ] && [ "$(events)" = 150 ] &&
        [ "$(reconnects)" -ge 3 ] && ledger_holds
}
went_on() {
    [ "$st" = 130 ] && ! says '^FATAL' && ! says accounting && errors_add_up &&
        [ "$(reconnects)" -ge 3 ]
}
failures() { # name
    must ask "DELETE FROM ledger"
    prepare --table-size=500
    hold
    begin ledger ledger.lua "${via[@]}" --threads=3 --time=0 --events=150 \
        --think-time=5ms --report-interval=0.2 --db-reconnect=on run
    begin rw oltp_read_write "${via[@]}" --table-size=500 --threads=2 --time=300 \
        --think-time=5ms --report-interval=0.2 --db-reconnect=on \
        --shutdown-grace=100 --workers=1 run
    await 60 busy ledger
    await 60 busy rw
    end_connections
    more rw
    "$at/kill" "$proxy"
    "$at/restart" "$proxy" >restart.log 2>&1 || cat restart.log
    more rw
    signal
    await 60 idle rw
    restart
    more rw
    let_go
    ended ledger
    check "$1: no event is lost or executed twice" all_stored
    interrupt rw
    ended rw
    check "$1: oltp_read_write goes on after each failure" went_on
    "$SYSBENCH" oltp_read_write "${options[@]}" cleanup >out 2>err
}

# behind kind [setting...]: all of this with one proxy, which stays.
behind() {
    through "$@" || return
    works "$1 $driver"
    failures "$1 $driver"
}
