# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The state folder of a server: where it lies, what is known of the server
# (the file env, shell assignments), whether the server runs.

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

# missing package what: for a component that is not installed.
missing() {
    say "$me: $2 is not installed: package $1, or" \
        "third_party/install-deps.sh servers"
    exit 77
}

# fetched what: the path that third_party/get-WHAT prints. It ends with 77 where
# that would take fetching and SB_SERVERS_FETCH is no.
fetched() {
    local have=
    [ "${SB_SERVERS_FETCH:-}" != no ] || have=--have
    # shellcheck disable=SC2086
    "$servers/../../third_party/get-$1" $have
}

# usage: the comment that begins a script.
usage() {
    awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0" >&2
    exit 2
}

# use name: the server that the other functions are about. Sets name, state.
use() {
    case $1 in
    '' | .* | -* | *[!A-Za-z0-9._-]*) die "no good name for a server: '$1'" ;;
    esac
    name=$1
    state=$top/$name
    # Paths go unquoted into options and into the servers' own files; the
    # address of a socket has room for some 100 bytes.
    case $state in
    *[!A-Za-z0-9/._+-]*)
        die "odd characters in $state: set SB_SERVERS_DIR" ;;
    esac
    [ ${#state} -le 80 ] || die "$state is too long: set SB_SERVERS_DIR"
}

# use_existing name
use_existing() {
    use "$1"
    [ -e "$state/env" ] || die "no server $1 in $top"
    load
}

# One caller at a time for a name, where there is flock.
lock() {
    mkdir -p "$top" && chmod 711 "$top" || die "cannot write in $top"
    top=$(cd "$top" && pwd -P)
    use "$name"
    ! command -v flock >/dev/null || {
        exec 9>"$top/.$name.lock" && flock -w 250 9
    } || die "$name is held by another caller"
}

# What is known of a server. READY: it came up once, so its data are good.
known='KIND ARG PID SOCKET HOST PORT DATADIR LOG CLIENT ADMIN OPTIONS OPTIONS_TCP
    CA CERT KEY MEMBERS URL TLS_PORT URL_TLS READY'

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

# alive: the process that PID names is this server, not one that got its
# number later, and no zombie.
alive() {
    [ -n "${PID:-}" ] || return
    case $(ps -o stat=,args= -p "$PID" 2>/dev/null) in
    Z*) return 1 ;;
    *"$state/"*) return 0 ;;
    esac
    return 1
}

# with name command...: in a subshell that is about another server.
with() (
    use "$1"
    load
    shift
    "$@"
)

# running: as alive, and all members of a cluster.
running() {
    local member
    [ -n "${MEMBERS:-}" ] || { alive; return; }
    for member in $MEMBERS; do
        with "$member" alive || return
    done
}

# The server's processes, the first one first.
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
