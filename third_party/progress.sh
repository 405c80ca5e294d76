# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Running long commands for the get-* scripts, to be sourced by them.

# slowly what log command...: says what it does, and again every PROGRESS_EVERY
# seconds (15); the output of the command goes to the file log. The status is
# that of the command.
slowly() {
    doing=$1 log=$2
    shift 2
    echo "$(basename "$0"): $doing" >&2
    "$@" >"$log" 2>&1 </dev/null &
    worker=$! seconds=0
    while kill -0 "$worker" 2>/dev/null; do
        sleep 1
        seconds=$((seconds + 1))
        [ $((seconds % ${PROGRESS_EVERY:-15})) != 0 ] ||
            echo "$(basename "$0"): $doing: $seconds s so far" >&2
    done
    wait "$worker"
}

# interrupted: ends such a command and the script.
interrupted() {
    [ -z "${worker:-}" ] || kill "$worker" 2>/dev/null
    exit 130
}
