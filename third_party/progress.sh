# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs long commands; the get-* scripts source this file.

# with_progress what log command...: prints what it does and repeats that every
# PROGRESS_EVERY seconds (default 15). The output of the command goes to the
# file log. Returns the status of the command.
with_progress() {
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

# interrupted: ends the command that with_progress runs, and exits.
interrupted() {
    [ -z "${worker:-}" ] || { kill "$worker" && wait "$worker"; } 2>/dev/null
    exit 130
}
