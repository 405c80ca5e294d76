# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Functions of the get-* scripts, which source this file. Messages are printed to
# standard error and begin with the name of the script.

me=${0##*/}

# say message
say() {
    echo "$me: $*" >&2
}

# usage: prints the comment at the top of the script. Exits with status 2.
usage() {
    sed -n '/^#/!q; /^# third_party\//,$s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

# unavailable reason: prints the reason. Exits with status 77.
unavailable() {
    say "$@"
    exit 77
}

# cached name: prints the path of this file or folder in the user's cache.
cached() {
    echo "${XDG_CACHE_HOME:-$HOME/.cache}/sysbench/$1"
}

# arguments [argument...]: exits with status 2 and the usage unless there is no
# argument or only --have.
arguments() {
    case $#:${1:-} in
    0: | 1:--have) ;;
    *) usage ;;
    esac
}

# exit_if_there done result mark [argument...]: if the file or folder mark exists, prints
# result, the path that the script promises, and exits with status 0. Otherwise exits
# with status 77 if the argument is --have, saying that it is not done (downloaded,
# built) yet. Exits with status 2 after other arguments. Sets result and mark.
exit_if_there() {
    result=$2 mark=$3
    not_yet="not $1 yet: $2"
    shift 3
    arguments "$@"
    if [ -e "$mark" ]; then
        echo "$result"
        exit 0
    fi
    [ $# = 0 ] || unavailable "$not_yet"
}

# need_go: exits with status 77 unless Go 1.22 or later is on the path or in
# /usr/local/go. Go then downloads no other version of itself.
need_go() {
    PATH=$PATH:/usr/local/go/bin
    export GOTOOLCHAIN=local
    minor=$(go env GOVERSION 2>/dev/null | sed -n 's/^go1\.\([0-9]*\).*/\1/p')
    [ "${minor:-0}" -ge 22 ] || unavailable \
        "Go 1.22 or later is required; found ${minor:+1.}${minor:-none}"
}

# need parts command:package...: exits with status 77 if a command is not installed.
# parts: the arguments with which install-deps.sh installs the packages.
need() {
    parts=$1
    shift
    for command; do
        command -v "${command%:*}" >/dev/null ||
            unavailable "${command%:*} is not installed: package ${command#*:}, or" \
                "third_party/install-deps.sh $parts"
    done
}

# work_beside path: creates the temporary folder work in the folder of path, which is
# created, too. It is removed when the script exits; SIGINT and SIGTERM end the script
# with status 130.
work_beside() {
    mkdir -p "${1%/*}"
    work=$(mktemp -d "${1%/*}/get.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap interrupted INT TERM
}

# interrupted: ends the command that with_progress runs. Exits with status 130.
interrupted() {
    [ -z "${worker:-}" ] || { kill "$worker" && wait "$worker"; } 2>/dev/null || :
    exit 130
}

# with_progress what log command...: prints what it does and repeats that every
# PROGRESS_EVERY seconds (default 15). The output of the command is written to the
# file log. Returns the status of the command.
with_progress() {
    doing=$1 log=$2
    shift 2
    say "$doing"
    "$@" >"$log" 2>&1 </dev/null &
    worker=$! seconds=0
    while kill -0 "$worker" 2>/dev/null; do
        sleep 1
        seconds=$((seconds + 1))
        [ $((seconds % ${PROGRESS_EVERY:-15})) != 0 ] ||
            say "$doing: $seconds s so far"
    done
    wait "$worker" && status=0 || status=$?
    worker= # its number may be that of another process from now on
    return "$status"
}

# failed what: prints what failed, with the end of the file log of the temporary
# folder. Exits with status 1.
failed() {
    say "$*:"
    tail -n 20 "$work/log" >&2
    exit 1
}

# rename_to new path: renames the file or folder new. Exits with status 1 and the reason
# if that fails, unless another caller has created path in the meantime.
rename_to() {
    reason=$(mv -T "$1" "$2" 2>&1) || [ -e "$mark" ] || {
        say "$reason"
        exit 1
    }
}

# publish new path: makes the file or folder new readable by all users, renames it to
# path, and prints the result that exit_if_there was given.
publish() {
    chmod -R go+rX "$1"
    rename_to "$1" "$2"
    echo "$result"
}
