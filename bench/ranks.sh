# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Benchmarks of runs that several processes carry out together, for bench/run.
# Those over MPI run with each family of libraries that is there.

# ranks number argument...: runs them at the same time; their reports are in the
# files rank.N.
ranks() {
    local n=$1 i at
    shift
    at=$(date -d '+2 seconds' +%s)
    for ((i = 0; i < n; i++)); do
        "$SB" "$@" --rand-seed=7 --ranks="$n" --rank="$i" --start-at="$at" run \
            >"rank.$i" 2>/dev/null &
    done
    wait
}

# The event rate of two processes with one thread over one with two threads.
ranks_throughput() {
    local set=(oltp_point_select --db-driver=null --threads=2 --time="$SECS")
    : >r && : >a && : >b
    for _ in $(seq "$REPS"); do
        one=$("$SB" "${set[@]}" run 2>/dev/null | rate_of)
        ranks 2 "${set[@]}"
        two=$(cat rank.0 rank.1 | awk '/total number of events/ { n += $NF }
            /total time/ { sub("s", "", $NF); t += $NF / 2 }
            END { print n / t }')
        echo "$one" >>a
        echo "$two" >>b
        ratio "$two" "$one" >>r
    done
    row "2 ranks x 1 thread over 2 threads, events/s" "$(median <b)" \
        "$(median <a)" "$(median <r)" "at least 0.98"
}

# Mean wait of arrivals over the mean service time, of the ranks together.
wait_of() { # file...
    awk '/^ +service time/ { s += $4 } /^ +lag / { w += $3 }
        END { printf "%.4g\n", w / s }' "$@"
}

# What the division of an open loop costs: four users at 80 %, in one process
# (M/M/4) and in four (M/M/1). Theory: waits of 0.7455 and 4 service times.
ranks_wait() {
    local set=(oltp_point_select --db-driver=null --null-latency=exp:5ms
        --threads=4 --rate=640 --time=$((SECS * 6)))
    : >a && : >b && : >r
    for _ in $(seq "$REPS"); do
        "$SB" "${set[@]}" run >whole 2>/dev/null
        ranks 4 "${set[@]}"
        wait_of whole >>a
        wait_of rank.[0-3] >>b
        ratio "$(tail -1 b)" "$(tail -1 a)" >>r
    done
    row "mean wait at 80 %, 4 ranks x 1 user over 4 users" "$(median <b)" \
        "$(median <a)" "$(median <r)" "4 / 0.7455 = 5.4 by theory"
}

# over family number argument...: runs ranks over MPI; their report goes to the
# file out. They may use all processors.
over() {
    local family=$1 n=$2
    shift 2
    OMPI_MCA_hwloc_base_binding_policy=none \
        mpi "$family" "$n" "$SB" "$@" run >out 2>err
}

mpi_throughput() { # family
    local set=(oltp_point_select --db-driver=null --threads=2 --time="$SECS")
    : >r && : >a && : >b
    for i in $(seq "$REPS"); do
        # The one that starts first alternates.
        [ $((i % 2)) = 0 ] || one=$("$SB" "${set[@]}" run 2>/dev/null | rate_of)
        over "$1" 2 "${set[@]}"
        two=$(rate_of <out)
        [ $((i % 2)) = 1 ] || one=$("$SB" "${set[@]}" run 2>/dev/null | rate_of)
        echo "$one" >>a
        echo "$two" >>b
        ratio "$two" "$one" >>r
    done
    row "$1: 2 ranks x 1 thread over 2 threads, events/s" "$(median <b)" \
        "$(median <a)" "$(median <r)" "at least 0.98"
}

# main_thread pid: CPU time of its main thread, in ns.
main_thread() { cut -d' ' -f1 "/proc/$1/task/$1/schedstat"; }

# A workload for main_cpu(): each event executes --ops operations, with
# different times.
cat_operations() {
    cat <<'LUA'
ffi.cdef("int getpid(void)")
sysbench.cmdline.options = { ops = {"operations of an event", 0} }
local name = {}
for i = 1, 100 do name[i] = "op" .. i end
local function note(what)
   local f = io.open(what .. "." .. sysbench.rank, "w")
   f:write(ffi.C.getpid())
   f:close()
end
function thread_init() note("pid") end
local began
function event()
   if not began then note("began") end
   began = true
   for i = 1, sysbench.opt.ops do
      local x = sysbench.rand.uniform(1, 1000000) / 1000001
      local ago = -0.001 * (1 + i % 7) * math.log(x)
      sysbench.op.finish(sysbench.op.start(name[i], ago))
   end
end
LUA
}

# main_cpu family number rank argument...: runs this workload, and prints the CPU
# time of the main thread of one rank in ms a second. The start does not count.
main_cpu() {
    local family=$1 n=$2 rank=$3 secs=$((SECS * 2)) pid from to job
    shift 3
    rm -f pid.* began.*
    cat_operations >operations.lua
    over "$family" "$n" ./operations.lua --threads="$n" --time=80 "$@" &
    job=$!
    until compgen -G 'began.*' >/dev/null || ! kill -0 $job 2>/dev/null; do
        sleep 0.1
    done
    sleep 3.5
    pid=$(cat "pid.$rank")
    from=$(main_thread "$pid")
    sleep "$secs"
    to=$(main_thread "$pid")
    kill -INT "$(cat pid.0)"
    wait $job
    awk -v ns=$((to - from)) -v s="$secs" 'BEGIN { print ns / s / 1e6 }'
}

mpi_idle() { # family
    : >a
    for _ in $(seq "$REPS"); do
        main_cpu "$1" 2 1 --rate=1 --report-interval=1 >>a
    done
    row "$1: main thread of an idle rank, % of a processor" \
        "$(median <a | awk '{ print $1 / 10 }')" "" "" "at most 2"
}

# The time from the first event of any rank to the first one of the last rank,
# by the clock that all processes of a host share.
mpi_skew() { # family ranks
    cat >skew.lua <<'LUA'
ffi.cdef[[
typedef struct { long s, ns; } bench_time;
int clock_gettime(int clock, bench_time *t);
]]
local t, first = ffi.new("bench_time"), nil
function event()
   if not first then
      ffi.C.clock_gettime(1, t)
      first = tonumber(t.s) * 1e9 + tonumber(t.ns)
   end
end
function thread_done()
   local f = io.open("first." .. sysbench.rank, "w")
   f:write(("%.0f\n"):format(first))
   f:close()
end
LUA
    : >a
    for _ in $(seq $((3 * REPS))); do
        rm -f first.*
        over "$1" "$2" ./skew.lua --threads="$2" --think-time=10ms --time=1
        sort -g first.* | awk 'NR == 1 { a = $1 }
            END { printf "%.4g\n", ($1 - a) / 1e6 }' >>a
    done
    row "$1: start skew of $2 ranks, ms (maximum)" "$(median <a)" \
        "$(sort -g a | tail -1)" "" "${3:-}"
}

# The CPU time of an interval in rank 0 of 64 ranks. Each rank executes 100
# operations 10 times per second. Rank 0 also polls for messages: a run with long
# intervals measures that time, which is subtracted.
mpi_interval() { # family
    local set=(64 0 --ops=100 --rate=640)
    : >a && : >b && : >r
    for _ in $(seq "$REPS"); do
        main_cpu "$1" "${set[@]}" --report-interval=1 >>a
        main_cpu "$1" "${set[@]}" --report-interval=60 >>b
        awk -v a="$(tail -1 a)" -v b="$(tail -1 b)" 'BEGIN { print a - b }' >>r
    done
    row "$1: rank 0 of 64, CPU ms a second (without)" "$(median <a)" \
        "$(median <b)" "" ""
    row "  of which an interval, 1,000 executions in a rank" "$(median <r)" "" \
        "" "at most 20"
}

# The CPU time of an interval without a network, and the other figures that the
# model in docs/internals/ranks.md needs.
ranks_joint() {
    local n case ranks executions intervals kb ms v=(0)
    part joint
    # Ranks, executions of 100 operations in each and interval, intervals.
    for case in "64 10000 9" "64 100000 3" "1000 10000 1"; do
        read -r ranks executions intervals <<<"$case"
        : >j
        for _ in $(seq "$REPS"); do
            ./joint "$ranks" 100 "$executions" "$intervals" 16 >>j
        done
        for n in 1 2 3 4 5 6 7; do
            v[n]=$(cut -d' ' -f$n j | median)
        done
        kb='' ms=''
        [ "$case" != "64 10000 9" ] || kb="at most 256" ms="at most 20"
        row "$ranks ranks, $executions executions: KB sent (leaf)" \
            "$(ratio "${v[2]}" 1000)" "$(ratio "${v[1]}" 1000)" "" "$kb"
        row "  interval, CPU ms of rank 0 (largest other)" "${v[3]}" "${v[4]}" \
            "" "$ms"
        row "  final figures of a rank, ms in rank 0 (KB)" "${v[6]}" \
            "$(ratio "${v[5]}" 1000)" "" ""
    done
    row "  a look at 1,000 ranks, us" "${v[7]}" "" "" ""
}

bench_ranks() {
    ranks_throughput
    ranks_wait
    ranks_joint
    # For tests/db/mpi.sh.
    export SYSBENCH=$SB SB_BUILDDIR=${SB%/src/sysbench}
    # shellcheck source=tests/db/mpi.sh
    . "$top/tests/db/mpi.sh"
    for family in $(mpi_families); do
        mpi_throughput "$family"
        mpi_idle "$family"
        mpi_skew "$family" 2 "at most 1"
        mpi_skew "$family" 8
        mpi_interval "$family"
    done
}
