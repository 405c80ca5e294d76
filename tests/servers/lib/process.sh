# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Starting and ending server processes. What a kind of server is like says
# its file <kind>.sh, in functions:
#
#     <kind>_needs     ends with status 77 where it is not installed
#     <kind>_up        makes and starts a new one
#     <kind>_start     starts it from its state folder, until it answers
#     <kind>_end       ends it for good; its data do not matter any more
#
# A cluster (MEMBERS) has only the first two, and <kind>_again, which starts
# the members that do not run.

# owner user...: as root, the server runs as the first of these users that
# exists. Sets owner and the command prefix `as`.
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
}

# new_state: an empty state folder of the owner, with an empty log.
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

# Ports that were given to servers, of whatever folder: a file for each, with the
# state folder that it was given for.
port_files=/tmp/sysbench-ports-$(id -u)

# taken port: somebody listens there, or a server that is there may.
taken() {
    local whose
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
    [ -e "$port_files/$1" ] && read -r whose <"$port_files/$1" && [ -d "$whose" ]
}

# take_port variable: from 15000 on, below those that the system gives to
# clients: they must not take the port of a server that is down for a moment.
take_port() {
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

# free_port variable: sets it to a port that is this server's until its state
# folder goes. Others that start at this moment must not find it free, too.
free_port() {
    mkdir -p "$port_files" "$state"
    if command -v flock >/dev/null; then
        exec 8>"$port_files/lock" && flock -w 60 8 || die "cannot lock $port_files/lock"
        take_port "$1"
        exec 8>&-
    else
        take_port "$1"
    fi
}

# inherit_nothing: what our callers have open, such as a lock that they hold,
# is not for a server to keep. 255 is the shell's own and does not pass on.
inherit_nothing() {
    local fd
    for fd in /dev/fd/*; do
        fd=${fd##*/}
        case $fd in
        [012] | 255 | *[!0-9]*) ;;
        *) eval "exec $fd>&-" ;;
        esac
    done
}

# launch command...: in the background, away from our terminal and channels.
# Sets PID.
launch() {
    cd "$state" || exit
    # The limit of open files is one of connections, too.
    local files
    files=$(ulimit -H -n)
    [ "$files" != unlimited ] && [ "$files" -le 20000 ] || files=20000
    ulimit -S -n "$files" 2>/dev/null || :
    (
        inherit_nothing
        exec setsid "${as[@]}" "$@" </dev/null >>"$LOG" 2>&1
    ) &
    PID=$!
    save
}

# failed why: with the end of the log; nothing keeps running.
failed() {
    say "$me: $name: $*"
    if [ -s "${LOG:-}" ]; then
        say "the end of $LOG:"
        tail -n 60 "$LOG" >&2
    fi
    kill_family
    exit 1
}

# kill_family: sends KILL to all processes of the server. The first one, which
# forks the others, is stopped before they are listed: one that is just being
# forked would be missed.
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

# lives: as alive, of a process that this shell launched: nobody else gets its
# number, and between fork and exec it has no name yet.
lives() {
    case $(ps -o stat= -p "$PID" 2>/dev/null) in
    '' | Z*) return 1 ;;
    esac
}

# await seconds command...: until the command succeeds; the server, which was
# launched here, must live.
await() {
    local end=$((SECONDS + $1)) seconds=$1
    shift
    until "$@" >/dev/null 2>&1 9>&-; do
        lives || failed "did not start"
        [ $SECONDS -lt $end ] || failed "did not answer in $seconds s"
        sleep 0.1
    done
}

# quiet command...: its output only matters when it fails.
quiet() {
    "$@" >>"$LOG" 2>&1 9>&- || failed "failed: $*"
}

# ending: it has given back its memory, and with it its arguments, which is how
# alive() knows it; its files and ports it may still have.
ending() {
    case $(ps -o stat=,args= -p "$PID" 2>/dev/null) in
    Z*) return 1 ;;
    *' ['*']') return 0 ;;
    esac
    return 1
}

# await_end seconds
await_end() {
    local end=$((SECONDS + $1))
    while alive || ending; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.05
    done
}

# first_stopped: all threads of its first process are, or it has ended.
first_stopped() {
    ! ps -L -o stat= -p "$PID" | grep -qv '^[TZ]'
}

# stopped: all threads of all its processes are.
stopped() {
    ! ps -L -o stat= -p "$(family | paste -sd ,)" | grep -qv '^[TZ]'
}

# await_stop seconds: a signal is there before it is obeyed, and a process may be
# new.
await_stop() {
    local end=$((SECONDS + $1))
    until stopped; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.05
        # shellcheck disable=SC2046
        builtin kill -STOP $(family) 2>/dev/null
    done
}

# end signal: the server is gone afterwards.
end() {
    alive || return 0
    kill "-$1" "$PID" 2>/dev/null
    # One that is stopped would not notice.
    kill -CONT "$PID" 2>/dev/null
    await_end 20 || {
        kill_family
        await_end 10 || die "$name: process $PID does not end"
    }
}

# again: starts what is in the state folder, where it does not run.
again() {
    . "$servers/lib/$KIND.sh"
    "${KIND}_needs"
    if [ -n "${MEMBERS:-}" ]; then
        "${KIND}_again"
    else
        alive || "${KIND}_start"
    fi
}

# remove: ends the server and takes its folder away; members go last first.
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
    # The file of its lock stays: whoever waits for it would hold another one
    # than the next caller.
    rm -rf "$state"
}
