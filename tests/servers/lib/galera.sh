# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A Galera cluster of MariaDB servers: NAME-1, NAME-2, ...
. "$servers/lib/mariadb.sh"
. "$servers/lib/cluster.sh"

galera_needs() {
    local file
    if [ -n "$newest" ]; then
        echo "up: the folder of mariadb11 has no Galera" >&2
        exit 77
    fi
    mariadb_needs
    provider=
    for file in /usr/lib*/galera*/libgalera_smm.so \
        /usr/lib/*/galera*/libgalera_smm.so; do
        [ ! -e "$file" ] || provider=$file
    done
    [ -n "$provider" ] || missing galera-4 "Galera's libgalera_smm.so"
    command -v rsync >/dev/null || missing rsync rsync
    # The script that copies the data to a new member needs one of them.
    command -v ss >/dev/null || command -v lsof >/dev/null ||
        missing iproute2 ss
}

# galera_settings number: prints the settings of one member.
galera_settings() {
    local sst ist own=${ports[$1]} all
    free_port sst
    free_port ist
    all=$(printf ',127.0.0.1:%s' "${ports[@]}")
    ist="ist.recv_addr=127.0.0.1:$ist"
    cat <<-END
	binlog_format = ROW
	innodb_autoinc_lock_mode = 2
	wsrep_on = ON
	wsrep_provider = $provider
	wsrep_cluster_name = $cluster
	wsrep_cluster_address = gcomm://${all#,}
	wsrep_node_name = $name
	wsrep_node_address = 127.0.0.1:$own
	wsrep_sst_method = rsync
	wsrep_sst_receive_address = 127.0.0.1:$sst
	wsrep_provider_options = "gmcast.listen_addr=tcp://127.0.0.1:$own;$ist;gcache.size=64M"
	[sst]
	ssl-mode = DISABLED
	[mysqld]
	END
}

galera_synced() {
    $ADMIN -e "SHOW STATUS LIKE 'wsrep_ready'" | grep -qw ON
}

# galera_member number: creates it; to be called in a subshell.
galera_member() {
    begin_member "$cluster-$1" mariadb
    mysql_place
    { galera_settings "$1" && mysql_own_settings; } >>"$state/my.cnf"
    if [ "$1" = 1 ]; then
        mariadb_install
        mariadb_start --wsrep-new-cluster
        mariadb_users
    else
        mariadb_start
    fi
    await 120 galera_synced
    finish_member
}

galera_up() {
    local i
    galera_needs
    cluster=$name
    ports=()
    for ((i = 1; i <= ARG; i++)); do
        free_port 'ports[i]'
        MEMBERS="${MEMBERS:-}${MEMBERS:+ }$cluster-$i"
    done
    save
    for ((i = 1; i <= ARG; i++)); do
        (galera_member "$i") || exit
    done
    HOST=127.0.0.1
    PORT=$(of_members PORT)
    OPTIONS="$(mysql_login) --mysql-host=$HOST --mysql-port=$PORT"
    OPTIONS_TCP=$OPTIONS
    LOG=$(of_members LOG)
}

# Starts the first member of a cluster that is down. Normally only the member
# that was stopped last may do that; here any member may.
galera_begin() {
    sed -i 's/^safe_to_bootstrap: 0/safe_to_bootstrap: 1/' \
        "$DATADIR/grastate.dat"
    mariadb_start --wsrep-new-cluster
    await 120 galera_synced
    save
}

galera_again() {
    local member start=galera_begin
    for member in $MEMBERS; do
        ! with "$member" alive || start=start_again
    done
    for member in $MEMBERS; do
        with "$member" alive || with "$member" "$start" || exit
        start=start_again
    done
}
