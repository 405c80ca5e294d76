# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The common part of the benchmarks: programs, medians, ratios, times of
# commands.

# Prints the newest file of a build, the program or a driver: a change of a
# driver does not rebuild the program.
newest_file() { # program
    local file last=$1
    for file in "${1%/*}"/drivers/.libs/*.so; do
        [ ! "$file" -nt "$last" ] || last=$file
    done
    echo "$last"
}

# Sets SB. Unless SYSBENCH is given, the program must be newer than its sources,
# so that no outdated build is measured.
find_program() {
    SB=${SYSBENCH:-}
    if [ -n "$SB" ]; then
        [ -x "$SB" ] && return
        echo "bench/run: SYSBENCH: $SB is not a program" >&2
        exit 1
    fi
    for SB in "$top/build/src/sysbench" "$top/src/sysbench"; do
        [ -x "$SB" ] || continue
        [ -n "$(find "$top/src" -name '*.[ch]' \
            -newer "$(newest_file "$SB")" | head -1)" ] || return
        echo "bench/run: $SB is older than its sources; rebuild it" \
            "or set SYSBENCH" >&2
        exit 1
    done
    echo "bench/run: sysbench is not built; build it or set SYSBENCH" >&2
    exit 1
}

find_old() {
    OLD=${OLD:-/usr/bin/sysbench}
    if [ -x "$OLD" ] && "$OLD" --version 2>/dev/null | grep -q ' 1\.0'; then
        return
    fi
    OLD=
    echo "(sysbench 1.0 is not installed, so there is no comparison with it)"
}

# Links to a program of this folder that is built with the tests.
part() { # name
    local built
    built=$(dirname "$(dirname "$SB")")/bench/$1
    if [ ! -x "$built" ]; then
        echo "bench/run: $built is not built: run make check-programs" >&2
        exit 1
    fi
    ln -sf "$built" "$1"
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

# Prints the CPU time (user and system) of a command, in seconds.
cpu_of() {
    local TIMEFORMAT='%U %S'
    { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
}

# Prints the maximum resident memory of a command, in KB.
rss_of() {
    /usr/bin/python3 - "$@" <<'PY' 2>/dev/null
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL,
               stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
PY
}


# Prints the user CPU time of a command, in seconds.
user_of() {
    local TIMEFORMAT='%U'
    { time "$@" >/dev/null 2>&1; } 2>&1
}

# Prints the wall time of a command in seconds; exits if it fails.
wall_of() {
    local a b
    a=$(date +%s%N)
    "$@" >out 2>&1 || { tail -n 5 out >&2; exit 1; }
    b=$(date +%s%N)
    awk -v a="$a" -v b="$b" 'BEGIN { printf "%.4f\n", (b - a) / 1e9 }'
}

# Reads paired ratios from standard input; prints the geometric mean and the
# lower bound of its 95 % confidence interval (Student's t on the logarithms).
lower_bound() {
    awk 'BEGIN { split("12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262",
                t, " ") }
        $1 > 0 { n++; x = log($1); s += x; q += x * x }
        END { if (n < 2) { print "- -"; exit }
              m = s / n; v = (q - n * m * m) / (n - 1); if (v < 0) v = 0
              f = n - 1 in t ? t[n - 1] : 2
              printf "%.4g %.4g\n", exp(m), exp(m - f * sqrt(v / n)) }'
}
