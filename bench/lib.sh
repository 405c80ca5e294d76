# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What the benchmarks share: programs, medians, ratios, times of commands.

# The file of a build, program or driver, that was made last: a change of a
# driver alone does not make the program again.
made_last() { # program
    local file last=$1
    for file in "${1%/*}"/drivers/.libs/*.so; do
        [ ! "$file" -nt "$last" ] || last=$file
    done
    echo "$last"
}

# Sets SB. One that SYSBENCH does not name must be as new as its sources:
# figures of a forgotten build look like any others.
find_program() {
    SB=${SYSBENCH:-}
    if [ -n "$SB" ]; then
        [ -x "$SB" ] && return
        echo "bench/run: SYSBENCH: $SB is no program" >&2
        exit 1
    fi
    for SB in "$top/build/src/sysbench" "$top/src/sysbench"; do
        [ -x "$SB" ] || continue
        [ -n "$(find "$top/src" -name '*.[ch]' \
            -newer "$(made_last "$SB")" | head -1)" ] || return
        echo "bench/run: $SB is older than its sources; make it again," \
            "or set SYSBENCH" >&2
        exit 1
    done
    echo "bench/run: no sysbench was built; set SYSBENCH" >&2
    exit 1
}

find_old() {
    OLD=${OLD:-/usr/bin/sysbench}
    if [ -x "$OLD" ] && "$OLD" --version 2>/dev/null | grep -q ' 1\.0'; then
        return
    fi
    OLD=
    echo "(no sysbench 1.0 to compare with: apt-get install sysbench)"
}

floor() { # source libs...
    local name=$1
    shift
    "${CC:-cc}" -O2 -o "$name" "$here/$name.c" "$@" || exit 1
}

median() { # of the numbers on standard input
    sort -g | awk '{ v[NR] = $1 }
        END { if (NR == 0) { print "-"; exit }
              m = int((NR + 1) / 2)
              printf "%.6g\n", NR % 2 ? v[m] : (v[m] + v[m + 1]) / 2 }'
}

ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4g\n", b ? a / b : 0 }'; }
row() { printf '%-44s %14s %14s %10s  %s\n' "$1" "$2" "$3" "$4" "$5"; }
events() { awk '/total number of events/ { print $NF }'; }
rate_of() { awk '/total number of events/ { n = $NF }
    /total time/ { sub("s", "", $NF); t = $NF } END { print n / t }'; }

# Seconds of CPU (user and system) that a command takes.
cpu_of() {
    local TIMEFORMAT='%U %S'
    { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
}

# Kilobytes of memory that a command had resident at most.
rss_of() {
    /usr/bin/python3 - "$@" <<'PY' 2>/dev/null
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL,
               stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
PY
}


# Seconds of the user part alone of a command's CPU time.
user_of() {
    local TIMEFORMAT='%U'
    { time "$@" >/dev/null 2>&1; } 2>&1
}

# Wall seconds of a command, which must succeed.
wall_of() {
    local a b
    a=$(date +%s%N)
    "$@" >out 2>&1 || { tail -n 5 out >&2; exit 1; }
    b=$(date +%s%N)
    awk -v a="$a" -v b="$b" 'BEGIN { printf "%.4f\n", (b - a) / 1e9 }'
}

# Of paired ratios on standard input: the geometric mean and the lower bound of
# its 95 % confidence interval (Student's t on the logarithms).
lower_bound() {
    awk 'BEGIN { split("12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262",
                t, " ") }
        $1 > 0 { n++; x = log($1); s += x; q += x * x }
        END { if (n < 2) { print "- -"; exit }
              m = s / n; v = (q - n * m * m) / (n - 1); if (v < 0) v = 0
              f = n - 1 in t ? t[n - 1] : 2
              printf "%.4g %.4g\n", exp(m), exp(m - f * sqrt(v / n)) }'
}
