# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The common part of the check scripts. A check runs in the top folder of the
# source. It calls `bad` for each problem, then `finish`, which prints one line
# (`ok - what` or `not ok - what`) followed by the problems.
set -eu

: "${SB_SRCDIR:=$(cd "$(dirname "$0")/.." && pwd)}"
if [ -z "${SB_BUILDDIR:-}" ]; then
    SB_BUILDDIR=$SB_SRCDIR
    [ ! -f "$SB_SRCDIR/build/Makefile" ] || SB_BUILDDIR=$SB_SRCDIR/build
fi
cd "$SB_SRCDIR"
found=$(mktemp)
trap 'rm -f "$found"' EXIT

# bad text...: records a problem. Without arguments: one per line of stdin.
bad() {
    if [ $# -gt 0 ]; then
        echo "$*" >>"$found"
    else
        cat >>"$found"
    fi
}

finish() {
    if [ -s "$found" ]; then
        echo "not ok - $1"
        sed 's/^/#   /' "$found" | head -n 40
        [ "$(wc -l <"$found")" -le 40 ] ||
            echo "#   ... $(($(wc -l <"$found") - 40)) more"
        exit 1
    fi
    echo "ok - $1"
    exit 0
}

# skip what reason: ends the check as skipped.
skip() {
    echo "ok - $1 # SKIP $2"
    exit 0
}

# need tool what: skips the check if the tool is not installed.
need() {
    command -v "$1" >/dev/null || skip "$2" "no $1"
}

# files 'pattern'...: prints the names of source files, without build folders
# and generated files. It searches the folders, because a release archive has no
# git.
files() {
    expr=
    builds=
    for dir in */config.status; do
        [ ! -e "$dir" ] || builds="$builds -o -path ./${dir%/config.status}"
    done
    for pattern; do
        expr="$expr${expr:+ -o }-name $pattern"
    done
    set -f
    # shellcheck disable=SC2086
    find . \( -path './.git' -o -path './build*' -o -path './autom4te*' \
        -o -path './sysbench-*' -o -name .libs -o -name .deps $builds \
        \) -prune \
        -o -type f \( $expr \) -print | sed 's,^\./,,' |
        grep -v -e '^src/script/embedded\.c$' -e '^m4/l[t~]' \
            -e '^m4/libtool\.m4$' -e '^aclocal\.m4$' -e '^config\.' \
            -e '^libtool$' -e '^configure$' | sort
    set +f
}
