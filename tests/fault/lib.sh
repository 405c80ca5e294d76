# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What a run said and how it ended; runs in the background while the servers
# under them break. To be sourced after SB_SRCDIR is known.
# shellcheck source=tests/db/lib.sh
. "$SB_SRCDIR/tests/db/lib.sh"

# A run's channels are in the files out and err, its status in st.
try() {
    st=0
    "$@" >out 2>err || st=$?
}
check() { # what function [argument...]
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
says() { grep -q -e "$1" err; }
prints() { grep -q -e "$1" out; }

# What an end by an error looks like: one reason, and no crash.
one_reason() {
    [ "$(grep -c FATAL err)" = 1 ] && ! says accounting
}

# await seconds command...: until it succeeds.
await() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.05
    done
}

# Runs in the background ----------------------------------------------------

declare -A pid_of

# begin name argument...: starts sysbench; its channels are in name.out and
# name.err.
begin() {
    local name=$1
    shift
    # What an earlier one said is not to be taken for its words.
    : >"$name.out"
    : >"$name.err"
    # A background job of a script ignores SIGINT unless it says otherwise.
    env --default-signal=INT,TERM "$SYSBENCH" "$@" \
        >"$name.out" 2>"$name.err" </dev/null &
    pid_of[$name]=$!
}

gone() { ! kill -0 "${pid_of[$1]}" 2>/dev/null; }

# interrupt name
interrupt() { kill -INT "${pid_of[$1]}"; }

# ended name [seconds]: waits for its end and makes it the run that says() and
# the others ask. One that does not come to its end has the status 124.
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

# The lines of an interval: busy name: some event ended; idle name: the last one,
# after such a one, in which none did; back name: as resumed.
busy() { had_events "$1" || gone "$1"; }
had_events() {
    grep -q 'tps: *[0-9]*[1-9][0-9.]* \|tps: 0\.[0-9]*[1-9]' "$1.out"
}
idle() {
    awk '/tps:/ { zero = /tps: 0\.00/; busy = busy || !zero }
        END { exit !(busy && zero) }' "$1.out" || gone "$1"
}
# surely_busy function: that began the run of this name; it does so again where
# the limits of the run ended it before it was busy: the machine is slow.
surely_busy() {
    local try
    for try in 1 2 3 4 5; do
        await 60 busy "$1"
        ! gone "$1" || had_events "$1" || [ "$try" = 5 ] || { "$1"; continue; }
        return
    done
}
back() { resumed "$1.out" || gone "$1"; }
# resumed file: events, lines of zeros, events again.
resumed() {
    awk '/tps:/ { if (!/tps: 0\.00/) { busy++; back = back || zeros }
        else if (busy) zeros++ } END { exit !(busy && zeros && back) }' "$1"
}

started() { grep -q 'Threads started' "$1.out" || gone "$1"; }
inserting() { grep -q Inserting "$1.out" || gone "$1"; }
# told name pattern: on stderr.
told() { grep -q -e "$2" "$1.err" || gone "$1"; }

# Numbers of the report ------------------------------------------------------

events() { sed -n 's/^ *total number of events: *//p' out; }
reconnects() { sed -n 's/^ *reconnects: *\([0-9]*\) .*/\1/p' out; }
failed_events() {
    sed -n 's/.*failed events: *\([0-9]*\)$/\1/p' err | grep . || echo 0
}

# The lines of the table of errors add up to what became of them, and to the
# report. Not a line in it lacks its time and text.
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

# own_server kind driver [setting...]: one that no other test uses; status 1
# after a skip. Sets what tests/servers/env says, and server and driver. kind
# may have an argument behind a blank.
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
    # psql alone goes on after an error and calls it a success.
    [ "$2" != pgsql ] || CLIENT="$CLIENT -v ON_ERROR_STOP=1" \
        ADMIN="$ADMIN -v ON_ERROR_STOP=1"
    # shellcheck disable=SC2206 # words of options
    options=($OPTIONS)
    # The library's limit is one that a slow machine may meet.
    [ "$2" != mongodb ] || options+=(--mongo-connect-timeout=100)
}

leave_server() {
    "$SB_SRCDIR/tests/servers/down" "$server" >/dev/null 2>&1
}

# signal [SIGNAL]: to all processes of the server.
signal() { "$SB_SRCDIR/tests/servers/kill" "$server" "$@" >/dev/null; }
restart() { "$SB_SRCDIR/tests/servers/restart" "$server" >restart.log 2>&1; }

# ask sql, as_admin sql: the answer, columns separated by |. The status is that of
# the client.
ask() {
    echo "$1;" | $CLIENT 2>>client.log | tr '\t' '|'
    return "${PIPESTATUS[1]}"
}
as_admin() {
    echo "$1;" | $ADMIN 2>>client.log | tr '\t' '|'
    return "${PIPESTATUS[1]}"
}
# must ask|as_admin|command text: what a test stands on; the answer goes to the
# file answer.
must() {
    "$@" >answer && return
    tail -n 5 client.log >out
    ok 1 "$*"
}

# connections: how many the server has of sbtest.
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

# other_database: for what must not meet the tables of the first; sets other,
# the options.
other_database() {
    case $driver in
    mysql) must as_admin 'CREATE DATABASE other' ;;
    pgsql) must as_admin 'CREATE DATABASE other OWNER sbtest' ;;
    esac
    # shellcheck disable=SC2034 # for who asked
    other=("${options[@]}" "--$driver-db=other")
}

# prepare argument...: of oltp_read_write, in the foreground.
prepare() {
    "$SYSBENCH" oltp_read_write "${options[@]}" "$@" prepare >out 2>err
}

# on_each_server function [setting...]
on_each_server() {
    own_server mariadb mysql "${@:2}" && { "$1" mariadb; leave_server; }
    own_server pgsql pgsql "${@:2}" && { "$1" pgsql; leave_server; }
}

# Between hold and let_go no run of a ledger comes to its end: what is to meet it
# does, however slow the machine is.
hold() { : >held; }
let_go() { rm held; }

# held.lua: held(events): whether this user, who has begun so many, has had most
# of his share of them and is to stay. He stays in touch with the server.
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

# One row an event, by which nothing that was counted may be missing.
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

# ledger_holds: a row for each event; more only where the answer to a COMMIT
# was lost with the connection.
ledger_holds() {
    local rows
    rows=$(ask "SELECT COUNT(*) FROM ledger")
    [ "${rows:-0}" -ge "$(events)" ] &&
        [ "$rows" -le $(($(events) + $(reconnects))) ]
}
