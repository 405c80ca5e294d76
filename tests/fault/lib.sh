# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Helpers to run sysbench, also in the background while servers fail, and to
# test its output and status. Source it after SB_SRCDIR is set.
# shellcheck source=tests/db/lib.sh
. "$SB_SRCDIR/tests/db/lib.sh"

# try command...: runs it; its stdout is in the file out, stderr in err, the
# status in st.
try() {
    st=0
    "$@" >out 2>err || st=$?
}
# check what function [argument...]: a TAP line by the function's status.
check() {
    local what=$1
    shift
    if "$@" && ! grep -q 'Sanitizer\|runtime error:' err; then
        ok 0 "$what"
    else
        ok 1 "$what" | grep '^not ok'
        count=$((count + 1)) failed=$((failed + 1))
        echo "# status ${st:-none}"
        sed 's/^/# /' err
        tail -n 60 out | sed 's/^/# /'
    fi
}
# says pattern, prints pattern: whether stderr or stdout of the run matches.
says() { grep -q -e "$1" err; }
prints() { grep -q -e "$1" out; }

# The run failed with exactly one error message.
one_reason() {
    [ "$(grep -c FATAL err)" = 1 ] && ! says accounting
}

# await seconds command...: repeats the command until it succeeds. A TAP comment
# tells when it did not.
await() {
    local seconds=$1 end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || {
            echo "# not within $seconds s: $*"
            return 1
        }
        sleep 0.05
    done
}

# Runs in the background ----------------------------------------------------

declare -A pid_of

# begin name argument...: starts sysbench in the background; its stdout is in
# name.out, stderr in name.err.
begin() {
    local name=$1
    shift
    # Remove the output of an earlier run of this name.
    : >"$name.out"
    : >"$name.err"
    # Background jobs of a script ignore SIGINT by default.
    env --default-signal=INT,TERM "$SYSBENCH" "$@" \
        >"$name.out" 2>"$name.err" </dev/null &
    pid_of[$name]=$!
}

gone() { ! kill -0 "${pid_of[$1]}" 2>/dev/null; }

# interrupt name
interrupt() { kill -INT "${pid_of[$1]}"; }

# ended name [seconds]: waits for its end and copies its output for says(),
# prints() and the others. If it does not end, it is killed and st is 124.
ended() {
    local name=$1
    st=0
    if await "${2:-120}" gone "$name"; then
        wait "${pid_of[$name]}" || st=$?
    else
        kill -KILL "${pid_of[$name]}"
        wait "${pid_of[$name]}" 2>/dev/null || :
        st=124
    fi
    cp "$name.out" out
    cp "$name.err" err
}

# These test the interval lines, and succeed also if the run has ended. busy
# name: a line shows events; idle name: after such a line, the last one shows
# none; back name: the same as resumed.
busy() { had_events "$1" || gone "$1"; }
had_events() {
    grep -q 'tps: *[0-9]*[1-9][0-9.]* \|tps: 0\.[0-9]*[1-9]' "$1.out"
}
idle() {
    awk '/tps:/ { zero = /tps: 0\.00/; busy = busy || !zero }
        END { exit !(busy && zero) }' "$1.out" || gone "$1"
}
# surely_busy function: waits until the run is busy. The function of the same
# name has started the run; it is called again if the limits of the run ended it
# before it was busy, which happens on a slow machine.
surely_busy() {
    local try
    for try in 1 2 3 4 5; do
        await 60 busy "$1"
        ! gone "$1" || had_events "$1" || [ "$try" = 5 ] || { "$1"; continue; }
        return
    done
}
back() { resumed "$1.out" || gone "$1"; }
# resumed file: whether the lines show events, then zeros, then events again.
resumed() {
    awk '/tps:/ { if (!/tps: 0\.00/) { busy++; back = back || zeros }
        else if (busy) zeros++ } END { exit !(busy && zeros && back) }' "$1"
}

started() { grep -q 'Threads started' "$1.out" || gone "$1"; }
inserting() { grep -q Inserting "$1.out" || gone "$1"; }
# told name pattern: whether its stderr matches.
told() { grep -q -e "$2" "$1.err" || gone "$1"; }

# Numbers of the report ------------------------------------------------------

events() { sed -n 's/^ *total number of events: *//p' out; }
reconnects() { sed -n 's/^ *reconnects: *\([0-9]*\) .*/\1/p' out; }
failed_events() {
    sed -n 's/.*failed events: *\([0-9]*\)$/\1/p' err | grep . || echo 0
}

# The table of errors is consistent with the sums below it and with the report.
# Every line has a time and a text.
errors_add_up() {
    awk 'FNR == NR && /ignored errors:/ { told = $3 }
        FNR == NR { next }
        / first seen / { table = 1; next }
        table && /ignored: [0-9]*, restarted:/ {
            gsub(/[^0-9 ]/, ""); sum = $1 + $2 + $3 + $4; open = $1 + $2 + $3
            table = 0; seen = 1 }
        table { match($0, /  *[0-9]+  +[0-9.]+s  +[^ ]/)
            if (!RSTART) exit bad = 1
            split(substr($0, RSTART), part); total += part[1] }
        END { exit bad || !seen || total != sum || told != open }' out err
}

# Servers --------------------------------------------------------------------

# shellcheck source=tests/db/servers.sh
. "$SB_SRCDIR/tests/db/servers.sh"

# own_server kind driver [setting...]: starts a server that no other test uses.
# Returns 1 after a skip. Sets the variables that tests/servers/env prints,
# server and driver. kind may contain an argument after a blank.
own_server() {
    server=$(basename "$0")-$$-${1/ /-} driver=$2
    if ! has_driver "$2"; then
        skip "$1" "no $2 driver"
        return 1
    fi
    # shellcheck disable=SC2086 # two words
    try "$SB_SRCDIR/tests/servers/up" "--name=$server" $1 -- "${@:3}"
    if [ "$st" = 77 ]; then
        skip "$1" "$(tail -n 1 err)"
        return 1
    fi
    started="$started $server"
    [ "$st" = 0 ] || { ok 1 "$1: starts"; return 1; }
    eval "$("$SB_SRCDIR/tests/servers/env" "$server")"
    # By default psql continues after an error and returns 0.
    [ "$2" != pgsql ] || CLIENT="$CLIENT -v ON_ERROR_STOP=1" \
        ADMIN="$ADMIN -v ON_ERROR_STOP=1"
    # shellcheck disable=SC2206 # words of options
    options=($OPTIONS)
    # The library's default is too short for a slow machine.
    [ "$2" != mongodb ] || options+=(--mongo-connect-timeout=100)
}

leave_server() {
    "$SB_SRCDIR/tests/servers/down" "$server" >/dev/null 2>&1
}

# signal [SIGNAL]: sends it to all processes of the server.
signal() { "$SB_SRCDIR/tests/servers/kill" "$server" "$@" >/dev/null; }
restart() { "$SB_SRCDIR/tests/servers/restart" "$server" >restart.log 2>&1; }

# ask sql, as_admin sql: prints the rows, columns separated by |. The status is
# that of the client.
ask() {
    echo "$1;" | $CLIENT 2>>client.log | tr '\t' '|'
    return "${PIPESTATUS[1]}"
}
as_admin() {
    echo "$1;" | $ADMIN 2>>client.log | tr '\t' '|'
    return "${PIPESTATUS[1]}"
}
# must ask|as_admin|command text: fails the test if it fails; the answer goes to
# the file answer.
must() {
    "$@" >answer && return
    tail -n 5 client.log >out
    ok 1 "$*"
}

# connections: prints how many connections the user sbtest has.
connections() {
    case $driver in
    mysql)
        as_admin "SELECT COUNT(*) FROM information_schema.processlist
            WHERE user = 'sbtest'" ;;
    pgsql)
        as_admin "SELECT COUNT(*) FROM pg_stat_activity
            WHERE usename = 'sbtest'" ;;
    esac
}
none_left() { [ "$(connections)" = 0 ]; }

# other_database: creates a second database, for runs that must not use the
# tables of the first. Sets other, the options.
other_database() {
    case $driver in
    mysql) must as_admin 'CREATE DATABASE other' ;;
    pgsql) must as_admin 'CREATE DATABASE other OWNER sbtest' ;;
    esac
    # shellcheck disable=SC2034 # used by the caller
    other=("${options[@]}" "--$driver-db=other")
}

# prepare argument...: prepares oltp_read_write in the foreground.
prepare() {
    "$SYSBENCH" oltp_read_write "${options[@]}" "$@" prepare >out 2>err
}

# on_each_server function [setting...]: calls it with the name of each server.
on_each_server() {
    own_server mariadb mysql "${@:2}" && { "$1" mariadb; leave_server; }
    own_server pgsql pgsql "${@:2}" && { "$1" pgsql; leave_server; }
}

# Between hold and let_go no run of a ledger ends, so that a failure always
# happens during the run, even on a slow machine.
hold() { : >held; }
let_go() { rm held; }

# held.lua: held(events) returns whether this user, which has started this
# number of events, has executed most of its share and must wait. While it
# waits, it sends queries to the server.
cat >held.lua <<'LUA'
local ffi = require("ffi")
ffi.cdef("int usleep(unsigned int);")
local file
function held(events)
   local share = sysbench.opt.events / sysbench.opt.threads * 0.75
   file = share > 0 and events > share and io.open("held")
   if file then
      file:close()
      ffi.C.usleep(20000)
   end
   return file
end
LUA

# Inserts one row per event. No counted event may be missing.
cat >ledger.lua <<'LUA'
require("held")
local row = 0
function prepare()
   con = sysbench.sql.driver():connect()
   con:query("CREATE TABLE ledger(id BIGINT PRIMARY KEY)")
end
function thread_init() con = sysbench.sql.driver():connect() end
function event(tid)
   row = row + 1
   while held(row) do con:query("SELECT 1") end
   con:query("BEGIN")
   con:query(("INSERT INTO ledger VALUES(%d)"):format(tid * 1e9 + row))
   con:query("COMMIT")
end
LUA

# ledger_holds: there is a row for each event. There may be more only if the
# answer to a COMMIT was lost with the connection.
ledger_holds() {
    local rows
    rows=$(ask "SELECT COUNT(*) FROM ledger")
    [ "${rows:-0}" -ge "$(events)" ] &&
        [ "$rows" -le $(($(events) + $(reconnects))) ]
}
