# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Three hosts on this machine, load0 to load2, for tests of MPI: each has its
# own network, address, name, processes, hosts file and sshd. Libraries take
# hosts that share memory (IPC) or /sys for one machine. A bridge in the network
# of the test joins them; database servers listen there. Nothing is left when
# the test ends, because all of this belongs to its processes.
#
# hosts_enter comes first; it starts the test again in namespaces of its own.

# Without the variables of mpi.sh, which replaces ssh by `false`.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
network=10.77.0
declare -A host_pid
new_host=(unshare --net --mount --uts --ipc --pid --fork --kill-child --mount-proc)

# hosts_enter: skips the test if this machine cannot have such hosts.
hosts_enter() {
    local tool why=

    [ -z "${SB_OWN_NETWORK:-}" ] || return 0
    for tool in unshare nsenter setpriv ip ssh ssh-keygen /usr/sbin/sshd \
        python3; do
        command -v "$tool" >/dev/null || why="no ${tool##*/}"
    done
    [ "$(id -u)" = 0 ] || why="only root can make hosts"
    [ -n "$why" ] || "${new_host[@]}" sh -c 'mount -t tmpfs none /run &&
        ip link add veth0 type veth peer name veth1 &&
        ip link add br0 type bridge' 2>/dev/null ||
        why="no network namespaces with bridges"
    if [ -n "$why" ]; then
        echo "1..0 # SKIP $why"
        exit 0
    fi
    SB_OWN_NETWORK=yes exec unshare --net --mount "$0" "$@"
}

# Files of all hosts: keys, and configurations for ssh and sshd that contain
# everything that ssh needs; those of the machine are not used.
host_files() {
    local i

    mkdir -p ssh && chmod 700 ssh
    ssh-keygen -q -t ed25519 -N '' -f ssh/key
    for i in 0 1 2; do
        ssh-keygen -q -t ed25519 -N '' -f "ssh/host_key$i"
        echo "load$i $(cut -d ' ' -f 1,2 "ssh/host_key$i.pub")" \
            >>ssh/known_hosts
        echo "$network.$((i + 1)) load$i" >>ssh/hosts
        cat >"ssh/sshd_config$i" <<-END
	ListenAddress $network.$((i + 1))
	HostKey /run/ssh/host_key$i
	AuthorizedKeysFile /run/ssh/key.pub
	PermitRootLogin prohibit-password
	StrictModes no
	UsePAM no
	PidFile none
	SetEnv TMPDIR=/run/tmp
	END
    done
    echo "127.0.0.1 localhost" >>ssh/hosts
    cat >ssh/ssh_config <<-END
	IdentityFile /run/ssh/key
	UserKnownHostsFile /run/ssh/known_hosts
	BatchMode yes
	END
    printf '#!/bin/sh\nexec ssh -F /run/ssh/ssh_config "$@"\n' >ssh/ssh
    chmod 755 ssh/ssh
}

# The first process of a host. The files of the test are on load0 only.
# shellcheck disable=SC2016 # arguments of sh
host_init='
    set -e
    hostname "load$1"
    mount -t tmpfs none /run
    mkdir /run/sshd /run/tmp
    cp -r ssh /run/ssh
    [ ! -e other ] || cp other /run/ssh/other
    mount --bind /run/ssh/hosts /etc/hosts
    mount -t sysfs none /sys
    ip link set lo up
    for _ in $(seq 600); do
        ! ip link show eth0 >/dev/null 2>&1 || break
        sleep 0.05
    done
    ip addr add "$2/24" dev eth0
    ip link set eth0 up
    [ "$1" = 0 ] || mount -t tmpfs none "$3"
    cd /
    exec /usr/sbin/sshd -D -e -f "/run/ssh/sshd_config$1"'

# first_process of a host: of its process namespace.
first_process() {
    host_pid[$1]=$(ps -o pid= --ppid "$2" | tr -d ' ')
    [ -n "${host_pid[$1]}" ]
}
answers() { on_host 0 /run/ssh/ssh "load$1" true 2>>ssh.log; }

# hosts_up: starts the hosts. The status is 1 if one of them does not answer.
hosts_up() {
    local i pid

    ip link set lo up
    ip link add br0 type bridge
    ip addr add "$network.254/24" dev br0
    ip link set br0 up
    host_files
    for i in 0 1 2; do
        # They end with this test.
        setpriv --pdeathsig KILL "${new_host[@]}" sh -c "$host_init" \
            init "$i" "$network.$((i + 1))" "$PWD" >"load$i.log" 2>&1 &
        pid=$!
        await 30 first_process "$i" "$pid" || return
        ip link add "port$i" type veth peer name eth0 \
            netns "${host_pid[$i]}" || return
        ip link set "port$i" master br0 up
    done
    for i in 0 1 2; do
        await 30 answers "$i" || return
    done
}

# on_host number command...: executes it in this folder if the host has it.
on_host() {
    local pid=${host_pid[$1]}

    shift
    nsenter -t "$pid" -n -m -u -i -p env -C "$PWD" "$@"
}

# launch family command...: the command line of a user on load0, one rank for
# each host.
launch() {
    local family=$1

    shift
    case $family in
    # Without `keepalive`, it waits for a host that cannot be reached.
    openmpi) set -- --host "load0,load1,load2" --bind-to none \
        --mca plm_rsh_agent /run/ssh/ssh --mca oob_tcp_keepalive_time 5 \
        --mca oob_tcp_keepalive_intvl 2 --mca oob_tcp_keepalive_probes 3 "$@" ;;
    mpich) set -- -hosts "load0,load1,load2" -launcher ssh \
        -launcher-exec /run/ssh/ssh "$@" ;;
    esac
    on_host 0 timeout -k 5 120 "mpirun.$family" "$@"
}

# ranks_on number: prints the processes of sysbench on a host.
ranks_on() {
    local pid network_of

    network_of=$(readlink "/proc/${host_pid[$1]}/ns/net")
    for pid in /proc/[0-9]*; do
        if [ "$(readlink "$pid/ns/net" 2>/dev/null)" = "$network_of" ] &&
            [ "$(readlink "$pid/exe" 2>/dev/null)" = \
                "$(readlink -f "$SYSBENCH")" ]; then
            echo "${pid#/proc/}"
        fi
    done
}

# hosts_families: the families that have a module in this build, and a launcher
# that starts processes on the hosts.
hosts_families() {
    local family

    for family in openmpi mpich; do
        if [ -e "$SB_BUILDDIR/src/ranks/mpi/.libs/$family.so" ] &&
            command -v "mpirun.$family" >/dev/null; then
            echo "$family"
        fi
    done
}
