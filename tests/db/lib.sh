# SPDX-License-Identifier: GPL-2.0-or-later
#
# TAP output and helpers for the tests in this folder.
# shellcheck shell=sh

: "${SB_SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${SB_BUILDDIR:=$SB_SRCDIR}"
: "${SYSBENCH:=$SB_BUILDDIR/src/sysbench}"
if [ -z "${TMPDIR:-}" ] || [ "$TMPDIR" = /tmp ]; then
    TMPDIR=$(mktemp -d) || exit 1
    trap 'rm -rf "$TMPDIR"' EXIT
fi
cd "$TMPDIR" || exit 1
count=0
failed=0

# ok status what: prints a TAP line; after a failure also the file out.
ok() {
    count=$((count + 1))
    if [ "$1" = 0 ]; then
        echo "ok $count - $2"
        return
    fi
    failed=$((failed + 1))
    echo "not ok $count - $2"
    [ ! -e out ] || sed 's/^/# /' out | tail -n 40
}

# is got wanted what
is() {
    if [ "$1" = "$2" ]; then
        ok 0 "$3"
    else
        ok 1 "$3"
        echo "# got '$1', not '$2'"
    fi
}

skip() {
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}

finish() {
    echo "1..$count"
    [ "$failed" = 0 ]
    exit
}

# sb args...: runs sysbench; its stdout and stderr go to the file out.
sb() {
    "$SYSBENCH" "$@" >out 2>&1
}

# sb_ok what args...: runs sysbench and tests that it succeeds.
sb_ok() {
    what=$1
    shift
    sb "$@"
    ok $? "$what"
}

# sb_fails what pattern args...: tests that sysbench fails and that its output
# matches the pattern.
sb_fails() {
    what=$1 pattern=$2
    shift 2
    if sb "$@"; then
        ok 1 "$what: fails"
    elif grep -q -- "$pattern" out; then
        ok 0 "$what: fails with a reason"
    else
        ok 1 "$what: fails, but without '$pattern'"
    fi
}

# said pattern what: tests that the output in the file out matches the pattern.
said() {
    grep -q -- "$1" out
    ok $? "$2"
}

# counted name: prints a number of the report in the file out: read, write,
# other, total, transactions, errors.
counted() {
    case $1 in
    read | write | other | total)
        sed -n "s/^ *$1: *\([0-9]*\)\$/\1/p" out ;;
    errors) sed -n 's/^ *ignored errors: *\([0-9]*\) .*/\1/p' out ;;
    *) sed -n "s/^ *$1: *\([0-9]*\) .*/\1/p" out ;;
    esac | head -n 1
}

# counts: prints "transactions read/write/other errors" of the report in out.
counts() {
    echo "$(counted transactions) $(counted read)/$(counted write)/$(
        counted other) $(counted errors)"
}

# drop_index database index table
drop_index() {
    ask "DROP INDEX $2$([ "$1" != mariadb ] || echo " ON $3")"
}

have_sqlite() {
    "$SYSBENCH" --db-driver=help >drivers 2>&1
    grep -qi sqlite drivers && command -v sqlite3 >/dev/null
}

# need_sqlite: skips the whole test file if SQLite is not available.
need_sqlite() {
    have_sqlite && return
    echo "1..0 # SKIP no sqlite driver or no sqlite3 command"
    exit 0
}

# sql file query: executes it with the sqlite3 command.
sql() {
    sqlite3 "$1" "$2"
}

# change_schema file statement: changes the catalog, which newer versions of the
# shell refuse by default.
change_schema() {
    sqlite3 -cmd '.dbconfig defensive off' "$1" \
        "PRAGMA writable_schema = ON; $2" >/dev/null
}
