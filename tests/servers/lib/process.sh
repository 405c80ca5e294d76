# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Starts and ends server processes. The file <kind>.sh of a kind of server
# defines these functions:
#
#     <kind>_needs     exits with status 77 if it is not installed
#     <kind>_up        creates and starts a new server
#     <kind>_start     starts it from its state folder, waits until it answers
#     <kind>_end       ends it; its data will be removed
#
# A cluster (MEMBERS) has only the first two, and <kind>_again, which starts
# the members that are not running.

# The name of the system's unprivileged user.
unprivileged=$(id -un 65534 2>/dev/null)

# newest kind: true if the caller wants the server of third_party/get-debian. Sets
# ROOT, the folder that it runs in.
newest() {
    [ -z "${ROOT:-}" ] || return 0
    [ -n "${newest:-}" ] || return
    ROOT=$(fetched debian "$1") || exit
}

# owner user...: as root, the server runs as the first of these users that
# exists. Sets owner and the command prefix `as`, which also enters ROOT.
owner() {
    owner=$(id -un)
    as=()
    [ "$(id -u)" = 0 ] || return 0
    local user
    for user; do
        ! id "$user" >/dev/null 2>&1 || break
        user=
    done
    [ -n "$user" ] || die "no user $1 to run the server as"
    owner=$user
    as=(setpriv "--reuid=$user" "--regid=$(id -g "$user")" --init-groups)
    [ -z "${ROOT:-}" ] || as=(unshare --mount "$servers/lib/enter" "$ROOT"
        "$(id -u "$user"):$(id -g "$user")" "$state")
}

# new_state: creates an empty state folder with an empty log, owned by $owner.
new_state() {
    rm -rf "$state"
    mkdir -p "$state"
    chmod 755 "$state"
    LOG=$state/server.log
    : >"$LOG"
    chown "$owner" "$state" "$LOG"
    save
    "${as[@]}" test -x "$state" ||
        die "user $owner cannot reach $state: set SB_SERVERS_DIR to a" \
            "folder that it can"
}

# Ports reserved by servers of all folders: one file per port, which contains
# the state folder of its server.
port_files=/tmp/sysbench-ports-$(id -u)

# taken port: true if a process listens on it or an existing server has reserved
# it.
taken() {
    local holder
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
    [ -e "$port_files/$1" ] && read -r holder <"$port_files/$1" &&
        [ -d "$holder" ]
}

# reserve_port variable: sets it to a port from 15000 on, below the ports that
# the system assigns to clients: those must not get the port of a server that is
# down for a short time.
reserve_port() {
    local port try
    for try in {1..50}; do
        port=$((15000 + (RANDOM + try) % 16000))
        if ! taken "$port"; then
            echo "$state" >"$port_files/$port"
            printf -v "$1" %s "$port"
            return
        fi
    done
    die "no free port"
}

# free_port variable: sets it to a port that is reserved for this server until
# its state folder is removed. The lock keeps servers that start at the same
# time from reserving the same port.
free_port() {
    mkdir -p "$port_files" "$state"
    if command -v flock >/dev/null; then
        exec 8>"$port_files/lock" && flock -w 60 8 ||
            die "cannot lock $port_files/lock"
        reserve_port "$1"
        exec 8>&-
    else
        reserve_port "$1"
    fi
}

# close_descriptors: closes what the callers have open, such as locks, so that a
# server does not keep it open. 255 is the shell's own and is not inherited.
close_descriptors() {
    local fd
    for fd in /dev/fd/*; do
        fd=${fd##*/}
        case $fd in
        [012] | 255 | *[!0-9]*) ;;
        *) eval "exec $fd>&-" ;;
        esac
    done
}

# kept version command...: fills $DATADIR with the data of a new server. The command
# creates them once for each version of the server; then they are copied, in a tenth
# of the time. Not with settings of the caller, because the data may depend on them.
kept() {
    local data
    data=$top/.data-$(echo "$1" | tr -c 'A-Za-z0-9.\n-' _)
    shift
    if [ ${#settings[@]} -gt 0 ]; then
        "$@"
    elif [ -d "$data" ]; then
        mkdir -p "$DATADIR" && cp -a "$data/." "$DATADIR" ||
            failed "cannot copy $data"
    else
        "$@" || return
        # If another server has just done the same, mv fails.
        cp -a "$DATADIR" "$data.$$" && mv -T "$data.$$" "$data" 2>/dev/null ||
            rm -rf "$data.$$"
    fi
}

# launch command...: starts it in the background, in its own session and with
# its own descriptors. Sets PID.
launch() {
    cd "$state" || exit
    # The limit of open files also limits connections.
    local files
    files=$(ulimit -H -n)
    [ "$files" != unlimited ] && [ "$files" -le 20000 ] || files=20000
    ulimit -S -n "$files" 2>/dev/null || :
    (
        close_descriptors
        exec setsid "${as[@]}" "$@" </dev/null >>"$LOG" 2>&1
    ) &
    PID=$!
    save
}

# failed reason: prints it with the end of the log, kills the server and exits.
failed() {
    say "$me: $name: $*"
    if [ -s "${LOG:-}" ]; then
        say "the end of $LOG:"
        tail -n 60 "$LOG" >&2
    fi
    kill_family
    exit 1
}

# kill_family: sends KILL to all processes of the server. The first process,
# which forks the others, is stopped before they are listed; otherwise a process
# that is just being forked would be missed.
kill_family() {
    alive || return 0
    local end=$((SECONDS + 10)) all
    builtin kill -STOP "$PID" 2>/dev/null
    until first_stopped || [ $SECONDS -ge $end ]; do
        sleep 0.01
    done
    all=$(family)
    # shellcheck disable=SC2086
    builtin kill -KILL $all 2>/dev/null
    # shellcheck disable=SC2086
    while ps -o stat= -p "$(echo $all | tr ' ' ,)" | grep -qv '^Z' &&
        [ $SECONDS -lt $end ]; do
        sleep 0.02
    done
}

# launched_alive: same as alive, for a process that this shell launched. Its
# number cannot be reused yet, and its arguments are not set before exec.
launched_alive() {
    case $(ps -o stat= -p "$PID" 2>/dev/null) in
    '' | Z*) return 1 ;;
    esac
}

# await seconds command...: waits until the command succeeds. Fails if the
# server, which this shell launched, ends.
await() {
    local end=$((SECONDS + $1)) seconds=$1
    shift
    until "$@" >/dev/null 2>&1 9>&-; do
        launched_alive || failed "did not start"
        [ $SECONDS -lt $end ] || failed "did not answer in $seconds s"
        sleep 0.1
    done
}

# quiet command...: runs it; its output goes to the log. Exits if it fails.
quiet() {
    "$@" >>"$LOG" 2>&1 9>&- || failed "failed: $*"
}

# ending: true if the server has released its memory but may still hold files
# and ports. Its arguments are lost with the memory, so alive() is false.
ending() {
    case $(ps -o stat=,args= -p "$PID" 2>/dev/null) in
    Z*) return 1 ;;
    *' ['*']') return 0 ;;
    esac
    return 1
}

# await_end seconds: waits until the server has ended.
await_end() {
    local end=$((SECONDS + $1))
    while alive || ending; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.05
    done
}

# first_stopped: true if all threads of the server's first process are stopped
# or it has ended.
first_stopped() {
    ! ps -L -o stat= -p "$PID" | grep -qv '^[TZ]'
}

# stopped: true if all threads of all processes of the server are stopped.
stopped() {
    ! ps -L -o stat= -p "$(family | paste -sd ,)" | grep -qv '^[TZ]'
}

# await_stop seconds: waits until all processes have stopped. STOP is sent again
# to processes that were forked meanwhile.
await_stop() {
    local end=$((SECONDS + $1))
    until stopped; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.05
        # shellcheck disable=SC2046
        builtin kill -STOP $(family) 2>/dev/null
    done
}

# end signal: sends the signal and waits until the server has ended; kills it if
# that takes too long.
end() {
    alive || return 0
    kill "-$1" "$PID" 2>/dev/null
    # A stopped process does not handle signals.
    kill -CONT "$PID" 2>/dev/null
    await_end 20 || {
        kill_family
        await_end 10 || die "$name: process $PID does not end"
    }
}

# start_again: starts the server of the state folder if it is not running.
start_again() {
    . "$servers/lib/$KIND.sh"
    "${KIND}_needs"
    if [ -n "${MEMBERS:-}" ]; then
        "${KIND}_again"
    else
        alive || "${KIND}_start"
    fi
}

# remove: ends the server and removes its folder; members in reverse order.
remove() {
    local member
    for member in $(printf '%s\n' ${MEMBERS:-} | sort -r); do
        with "$member" remove
    done
    if [ -n "${KIND:-}" ] && [ -z "${MEMBERS:-}" ]; then
        . "$servers/lib/$KIND.sh"
        "${KIND}_end"
    fi
    grep -lxs "$state" "$port_files"/[0-9]* | xargs -r rm -f
    # The lock file stays: a caller that waits for it would otherwise hold a
    # deleted file, and the next caller would lock a new one.
    rm -rf "$state"
}
