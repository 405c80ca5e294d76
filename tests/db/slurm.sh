# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A private cluster of Slurm in the folder slurm/: munged with a key of its own,
# slurmctld, and one slurmd for each node. All are on this host, but each node
# has a host name: MPI libraries name files in /tmp and /dev/shm after it.

slurm_pids=

# slurm_up nodes: starts a cluster; 77 if that is not possible here.
slurm_up() {
    PATH=$PATH:/usr/sbin:/sbin
    for program in munged slurmctld slurmd srun sbatch scontrol; do
        if ! command -v $program >/dev/null; then
            echo "$program is not installed" >out
            return 77
        fi
    done
    if [ "$(id -u)" != 0 ]; then
        echo "slurmd must run as root" >out
        return 77
    fi
    if ! unshare --uts true 2>/dev/null; then
        echo "unshare --uts is not permitted" >out
        return 77
    fi
    if ! grep -q ' /sys/fs/cgroup' /proc/self/mounts; then
        echo "slurmd requires control groups, which are not mounted here" >out
        return 77
    fi
    slurm=$PWD/slurm
    # Another process may take a port first.
    for _ in 1 2 3; do
        slurm_start "$1"
        ! slurm_wait "$1" || return 0
        cat "$slurm"/*.out >out
        slurm_down
        rm -rf "$slurm"
    done
    return 1
}

# Ports that were free a moment ago; the daemons exit if they are not.
slurm_ports() {
    python3 -c "
import socket
held = [socket.socket() for _ in range($1)]
for s in held:
    s.bind(('127.0.0.1', 0))
print(*[s.getsockname()[1] for s in held])"
}

slurm_start() {
    # munged refuses a socket in a folder that others cannot read, and a key
    # that they can.
    mkdir -p "$slurm/munge" "$slurm/state"
    chmod 755 "$slurm" "$slurm/munge"
    (umask 077 && head -c 64 /dev/urandom >"$slurm/key")
    munged --foreground --force --num-threads=2 --key-file="$slurm/key" \
        --socket="$slurm/munge/socket" --pid-file="$slurm/munge/pid" \
        --seed-file="$slurm/munge/seed" --log-file="$slurm/munge/log" \
        >"$slurm/munged.out" 2>&1 &
    slurm_pids=$!
    # shellcheck disable=SC2046 # a word per port
    set -- "$1" $(slurm_ports $(($1 + 1)))
    host=$(hostname -s)
    {
        cat <<EOF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$2
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$slurm/munge/socket
CredType=cred/munge
StateSaveLocation=$slurm/state
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.%n.pid
SlurmdSpoolDir=$slurm/spool.%n
TmpFS=$slurm/tmp.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
SchedulerParameters=batch_sched_delay=0,sched_interval=1
EOF
        nodes=$1
        shift 2
        node=0
        for port; do
            mkdir -p "$slurm/spool.n$node" "$slurm/tmp.n$node"
            echo "NodeName=n$node NodeAddr=127.0.0.1" \
                "Port=$port CPUs=2 State=UNKNOWN"
            node=$((node + 1))
        done
        echo "PartitionName=all Nodes=n[0-$((nodes - 1))] Default=YES State=UP"
    } >"$slurm/slurm.conf"
    export SLURM_CONF="$slurm/slurm.conf"
    slurmctld -D -c -f "$SLURM_CONF" >"$slurm/slurmctld.out" 2>&1 &
    slurm_pids="$slurm_pids $!"
    node=0
    while [ $node -lt "$nodes" ]; do
        # shellcheck disable=SC2016 # variables of the shell inside
        unshare --uts sh -c 'hostname "$1" && exec slurmd -D -N "$1"' sh \
            n$node >"$slurm/slurmd.n$node.out" 2>&1 &
        slurm_pids="$slurm_pids $!"
        node=$((node + 1))
    done
}

# slurm_wait nodes: until all nodes take jobs.
slurm_wait() {
    for _ in $(seq 300); do
        [ "$(timeout 10 sinfo -h -o '%T %D' 2>/dev/null)" != "idle $1" ] ||
            return 0
        for pid in $slurm_pids; do
            kill -0 "$pid" 2>/dev/null || return 1
        done
        sleep 0.1
    done
    return 1
}

# Cancels all jobs, and waits until they have ended.
slurm_cancel() {
    timeout 10 scancel --full --user="$(id -un)" >/dev/null 2>&1
    for _ in $(seq 100); do
        [ -n "$(timeout 10 squeue -h 2>/dev/null)" ] || break
        sleep 0.1
    done
}

# Ends the daemons that slurm_up started.
slurm_down() {
    [ -n "$slurm_pids" ] || return 0
    slurm_cancel
    # shellcheck disable=SC2086 # numbers
    kill $slurm_pids 2>/dev/null
    for _ in $(seq 100); do
        # shellcheck disable=SC2086
        kill -0 $slurm_pids 2>/dev/null || break
        sleep 0.1
    done
    # shellcheck disable=SC2086
    kill -9 $slurm_pids 2>/dev/null
    # shellcheck disable=SC2086
    wait $slurm_pids 2>/dev/null
    slurm_pids=
}
