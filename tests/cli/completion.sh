#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Completion in a real, interactive shell; sourced by completion_*.t.
# shellcheck disable=SC2154 # shell: set by the caller

# after: reads what is typed, a line each, and prints the lines after Tab.
after() {
    "$SB_SRCDIR/tests/cli/complete" "$shell" "$SB_SRCDIR/src/completion/$shell"
}

# side mark: the lines of the table that begin with the mark.
side() {
    sed -n "s/^$1 \\(.*\\)|\$/\\1/p" "$SB_SRCDIR/tests/cli/completions"
}

# same_as_listed: prints the lines that are not as in the table, and how many it
# has.
same_as_listed() {
    side '>' >want
    side '<' | after | diff want -
    echo "$(wc -l <want) lines"
}

for need in "$shell" /usr/bin/python3; do
    command -v "$need" >/dev/null || { echo "no $need"; exit 80; }
done
/usr/bin/python3 -c 'import pty; pty.openpty()' 2>/dev/null ||
    { echo "no pseudo terminals"; exit 80; }

# The script would leave a trace if it was executed. It also has the name of a
# built-in test and of a workload.
mkdir folder
touch run.json other.txt
cat >own.lua <<'EOF'
os.execute("touch executed")
sysbench.cmdline.options = { mine = {"", 1} }
EOF
cp own.lua cpu.lua
cp own.lua oltp_read_only.lua
