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

taken() {
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null ||
        grep -qsx "PORT=$1" "$top"/*/env
}

# free_port variable: sets it to a port below those that the system gives to
# clients: they must not take the port of a server that is down for a moment.
free_port() {
    local port try
    for try in {1..50}; do
        port=$((15000 + (RANDOM + try) % 16000))
        case " ${picked:-} " in *" $port "*) continue ;; esac
        if ! taken "$port"; then
            picked="${picked:-} $port"
            printf -v "$1" %s "$port"
            return
        fi
    done
    die "no free port"
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

kill_family() {
    # shellcheck disable=SC2046
    ! alive || kill -KILL $(family) 2>/dev/null
}

# await seconds command...: until the command succeeds; the server must live.
await() {
    local end=$((SECONDS + $1)) seconds=$1
    shift
    until "$@" >/dev/null 2>&1 9>&-; do
        # Between fork and exec it has no name yet.
        alive || { sleep 0.2; alive; } || failed "did not start"
        [ $SECONDS -lt $end ] || failed "did not answer in $seconds s"
        sleep 0.1
    done
}

# quiet command...: its output only matters when it fails.
quiet() {
    "$@" >>"$LOG" 2>&1 9>&- || failed "failed: $*"
}

# await_end seconds
await_end() {
    local end=$((SECONDS + $1))
    while alive; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.05
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
    # The file of its lock stays: whoever waits for it would hold another one
    # than the next caller.
    rm -rf "$state"
}
