# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Starts the program over MPI, once with each family of libraries.

# Open MPI does not run as root without these.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# It asks for ssh even if all processes are on this host.
export OMPI_MCA_plm_rsh_agent=false

# mpi_families: those that have a module in this build, and a launcher that
# starts processes on this machine.
mpi_families() {
    for family in openmpi mpich; do
        if [ -e "$SB_BUILDDIR/src/ranks/mpi/.libs/$family.so" ] &&
            command -v mpirun.$family >/dev/null &&
            mpi $family 2 true >/dev/null 2>&1; then
            echo $family
        fi
    done
}

# mpi family ranks arguments...: the command line to start the ranks.
mpi() {
    launcher=mpirun.$1
    ranks=$2
    shift 2
    case $launcher in
    *openmpi) set -- --oversubscribe -n "$ranks" "$@" ;;
    *) set -- -n "$ranks" "$@" ;;
    esac
    timeout -k 5 300 "$launcher" "$@"
}

# mpi_sb family ranks arguments...: runs sysbench; its output goes to `out`.
mpi_sb() {
    family_=$1 ranks_=$2
    shift 2
    mpi "$family_" "$ranks_" "$SYSBENCH" "$@" >out 2>&1
}

# launcher family ranks: for --launch
launcher() {
    case $1 in
    openmpi) echo "mpirun.$1 --oversubscribe -n $2" ;;
    *) echo "mpirun.$1 -n $2" ;;
    esac
}

# launched family ranks arguments...: a sweep whose runs have ranks; its output
# goes to `out`.
launched() {
    launch_=$(launcher "$1" "$2")
    shift 2
    timeout -k 5 300 "$SYSBENCH" "$@" --launch="$launch_" >out 2>&1
}

# mpi_pid rank: the process of a rank, among those of this test.
mpi_pid() {
    for environ in /proc/[0-9]*/environ; do
        pid=${environ#/proc/}
        pid=${pid%/environ}
        if [ "$(readlink "/proc/$pid/cwd" 2>/dev/null)" = "$PWD" ] &&
            [ "$(readlink "/proc/$pid/exe" 2>/dev/null)" = \
                "$(readlink -f "$SYSBENCH")" ] &&
            grep -qzE "^(OMPI_COMM_WORLD_RANK|PMI_RANK)=$1\$" \
                "$environ" 2>/dev/null; then
            echo "$pid"
        fi
    done
}
