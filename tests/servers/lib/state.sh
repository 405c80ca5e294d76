# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The state folder of a server: its path, the information about the server (the
# file env, with shell assignments), and whether the server is running.

servers=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
top=${SB_SERVERS_DIR:-${TMPDIR:-/tmp}/sysbench-servers-$(id -u)}
me=$(basename "$0")

say() {
    echo "$*" >&2
}

die() {
    say "$me: $*"
    exit 1
}

# missing package component: exits because the component is not installed.
missing() {
    say "$me: $2 is not installed: package $1, or" \
        "third_party/install-deps.sh servers"
    exit 77
}

# fetched what [argument]: prints the path that third_party/get-WHAT prints. Fails with 77
# if something must be downloaded and SB_SERVERS_FETCH is no.
fetched() {
    local have=
    [ "${SB_SERVERS_FETCH:-}" != no ] || have=--have
    # shellcheck disable=SC2086
    "$servers/../../third_party/get-$1" $have "${@:2}"
}

# usage: prints the comment at the beginning of the script and exits.
usage() {
    awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0" >&2
    exit 2
}

# use name: selects the server for the other functions. Sets name and state.
use() {
    case $1 in
    '' | .* | -* | *[!A-Za-z0-9._-]*) die "invalid server name: '$1'" ;;
    esac
    name=$1
    state=$top/$name
    # Paths are used unquoted in options and configuration files, and the path
    # of a Unix socket is limited to some 100 bytes.
    case $state in
    *[!A-Za-z0-9/._+-]*)
        die "unsupported characters in $state: set SB_SERVERS_DIR" ;;
    esac
    [ ${#state} -le 80 ] || die "$state is too long: set SB_SERVERS_DIR"
}

# use_existing name: selects and loads a server that exists.
use_existing() {
    use "$1"
    [ -e "$state/env" ] || die "no server $1 in $top"
    load
}

# lock: lets one caller at a time use the name, if flock is installed.
lock() {
    mkdir -p "$top" && chmod 711 "$top" || die "cannot write in $top"
    top=$(cd "$top" && pwd -P)
    use "$name"
    ! command -v flock >/dev/null || {
        exec 9>"$top/.$name.lock" && flock -w 250 9
    } || die "$name is locked by another caller"
}

# The variables in the file env. READY: the server has started successfully
# once, so its data is complete.
known='KIND ARG PID SOCKET HOST PORT DATADIR LOG CLIENT ADMIN OPTIONS OPTIONS_TCP
    CA CERT KEY MEMBERS URL TLS_PORT URL_TLS READY ROOT'

forget() {
    # shellcheck disable=SC2086
    unset $known
}

save() {
    mkdir -p "$state"
    local v
    for v in $known; do
        [ -z "${!v:-}" ] || printf '%s=%q\n' "$v" "${!v}"
    done >"$state/env.new"
    mv "$state/env.new" "$state/env"
}

load() {
    forget
    [ ! -e "$state/env" ] || . "$state/env"
}

# alive: true if the process PID is this server, not a zombie or another process
# that got the same number later.
alive() {
    [ -n "${PID:-}" ] || return
    case $(ps -o stat=,args= -p "$PID" 2>/dev/null) in
    Z*) return 1 ;;
    *"$state/"*) return 0 ;;
    esac
    return 1
}

# with name command...: runs the command for another server, in a subshell.
with() (
    use "$1"
    load
    shift
    "$@"
)

# running: same as alive; for a cluster, true if all members are alive.
running() {
    local member
    [ -n "${MEMBERS:-}" ] || { alive; return; }
    for member in $MEMBERS; do
        with "$member" alive || return
    done
}

# family: prints the server's processes, the first one first.
family() {
    echo "$PID"
    ps -A -o pid=,ppid= | awk -v p="$PID" '$2 == p { print $1 }'
}

names() {
    local env
    for env in "$top"/*/env; do
        [ ! -e "$env" ] || basename "${env%/env}"
    done
}
