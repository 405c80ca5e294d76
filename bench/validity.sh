# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2153,SC2154
#
# What the checks of a run's figures cost, and how often they are wrong, for
# bench/run.

# Prints the CPU time so far of a process and its children, in seconds.
cpu_of_server() { # pid
    cat "/proc/$1/stat" /proc/[0-9]*/stat 2>/dev/null | sed 's/^\([0-9]*\) (.*) /\1 /' |
        awk -v pid="$1" -v hz="$(getconf CLK_TCK)" '
            # The first line is that of the process: its children that have ended
            # are in cutime and cstime.
            NR == 1 { ticks = $13 + $14 + $15 + $16; next }
            $3 == pid { ticks += $13 + $14 }
            END { print ticks / hz }'
}

# A run with a fixed number of events. Appends the CPU time of client and server
# per event, in us, to the file.
checked_run() { # file option...
    local file=$1 from to client
    shift
    from=$(cpu_of_server "$PID")
    # shellcheck disable=SC2086
    client=$(cpu_of "$SB" oltp_read_only $OPTS --table-size=$SIZE --threads=8 \
        --events=$((SECS * 3000)) --time=0 --report-interval=1 --report=json=r.json "$@" run)
    to=$(cpu_of_server "$PID")
    awk -v c="$client" -v s="$from" -v e="$to" -v n=$((SECS * 3000)) \
        'BEGIN { print c / n * 1e6, (e - s) / n * 1e6, (c + e - s) / n * 1e6 }' >>"$file"
}

# Prints the CPU time so far of each thread and child of a process: "id ticks".
ticks_of() { # pid
    # shellcheck disable=SC2046
    cat "/proc/$1"/task/*/stat $(grep -l "^[0-9]* (.*) . $1 " /proc/[0-9]*/stat 2>/dev/null) |
        sed 's/^\([0-9]*\) (.*) /\1 /' | awk '{ print $1, $13 + $14 }'
}

# Prints the growth of all but the eight that grew most, in percent of these: they are
# the users of a run, or their connections.
others() { # before after
    awk 'NR == FNR { before[$1] = $2; next } { print $2 - before[$1] }' "$1" "$2" |
        sort -rn | awk 'NR <= 8 { users += $1 } NR > 8 { others += $1 }
            END { printf "%.3g", 100 * others / users }'
}

# What the threads and connections that ask the server use, with everything on: more
# exact than the difference of two runs.
# shellcheck disable=SC2086
bench_samplers() { # kind option...
    local pid kind=$1
    shift
    ticks_of "$PID" >server.before
    "$SB" oltp_read_only $OPTS --table-size=$SIZE --threads=8 --time=$((SECS * 6)) \
        --report-interval=1 --report=none,json=r.json "$@" run >/dev/null 2>&1 &
    pid=$!
    sleep 1 # the program starts with and without them
    ticks_of $pid >client.before
    sleep $((SECS * 5))
    ticks_of $pid >client.after
    ticks_of "$PID" >server.after
    row "$kind: CPU of the samplers over that of the users, %, client" \
        "$(others client.before client.after)" "" "" "at most 1"
    row "$kind: the same, server" "$(others server.before server.after)" "" "" \
        "at most 1"
    wait $pid
}

ratio_of() { # column
    paste with without | awk -v c="$1" '{ print $c / $(c + 3) }'
}

# Processor time with everything that says whether the figures may be believed
# over the same result file without it. The order alternates.
# shellcheck disable=SC2086 # words of options
bench_validity() { # kind
    local i pairs=$((4 * REPS)) name on="" off=""
    for name in report-validity report-costs server-statements server-waits; do
        on="$on --$name=on" off="$off --$name=off"
    done
    : >with && : >without
    for i in $(seq "$pairs"); do
        [ $((i % 2)) = 0 ] || checked_run without $off
        checked_run with $on
        [ $((i % 2)) = 1 ] || checked_run without $off
    done
    for i in 1 2 3; do
        row "$1: CPU per event with checks, us, $(echo client server both |
            cut -d' ' -f$i)" "$(cut -d' ' -f$i with | median)" \
            "$(cut -d' ' -f$i without | median)" \
            "$(ratio_of $i | lower_bound)" "mean (lower bound); at most 1.01"
    done
    bench_samplers "$1" $on
}

# Prints what the checks said in one of the files: "doubtful steady ...".
said() { # file
    "$SB" show --validity "$1" 2>/dev/null | awk '/^    [a-z]/ &&
        ($2 == "doubtful" || $2 == "bad") { print $1 }'
}

# Quiet runs, in which no check but that of the machine should find anything.
quiet_runs() { # name command...
    local i name=$1 runs=${RUNS:-100}
    shift
    : >found
    for i in $(seq "$runs"); do
        "$@" --time=$((SECS * 4)) --report-interval=1 --report=none,json=r.json run \
            2>/dev/null || { echo "bench/run: $name: run $i failed" >&2; return; }
        said r.json | grep -vx machine >names
        [ ! -s names ] || paste -sd' ' names >>found
    done
    row "$name: quiet runs, called doubtful" "$runs" "$(wc -l <found)" "" \
        "at most 5 of 100 ($(sort found | uniq -c | sort -rn | sed 's/^ *//' |
            paste -sd, ))"
}

# A server that keeps its commits, with its tables analyzed and written.
bench_quiet_pgsql() {
    OPTS=$("$servers_dir/up" pgsql --durable --name=bench-quiet 2>up.err) || {
        cat up.err >&2
        return
    }
    started="$started bench-quiet"
    # shellcheck disable=SC2086
    "$SB" oltp_read_write $OPTS --table-size=$SIZE prepare >/dev/null
    # shellcheck disable=SC2086
    quiet_runs pgsql "$SB" oltp_read_write $OPTS --table-size=$SIZE --threads=4 \
        --settle=60 --warmup-time=5
}

# On a disk: in a file system in memory, commits are lost with the power.
bench_quiet_sqlite() {
    local options

    disk=$(mktemp -d /var/tmp/sb.XXXXXX)
    options="--db-driver=sqlite --sqlite-db=$disk/q.db --sqlite-synchronous=full"
    # shellcheck disable=SC2086
    "$SB" oltp_read_write $options --table-size=10000 prepare >/dev/null 2>&1
    # shellcheck disable=SC2086
    quiet_runs sqlite "$SB" oltp_read_write $options --table-size=10000 \
        --settle=60 --warmup-time=2
}
