# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# MariaDB replication by GTID. The binary log of the primary contains all
# changes since its installation, so the replica starts empty.

replica_settings() {
    cat <<-END
	server_id = $1
	log_bin = binlog
	log_slave_updates = ON
	gtid_strict_mode = ON
	END
}

# replica_member number: creates and starts a member.
replica_member() {
    begin_member "$cluster-$1" mariadb
    mysql_place
    { replica_settings "$1" && mysql_own_settings; } >>"$state/my.cnf"
    [ "$1" = 1 ] || echo "read_only = ON" >>"$state/my.cnf"
    mariadb_install
    mariadb_start
}

replica_primary() {
    replica_member 1
    mariadb_users
    quiet $ADMIN <<-END
	CREATE USER replica@127.0.0.1 IDENTIFIED BY 'replica';
	GRANT REPLICATION SLAVE ON *.* TO replica@127.0.0.1;
	END
    finish_member
}

replica_caught_up() {
    $ADMIN -e "SELECT @@gtid_slave_pos" | grep -qx "$1"
}

replica_second() {
    local port position
    port=$(with "$cluster-1" eval 'echo "$PORT"')
    position=$(with "$cluster-1" eval '$ADMIN -e "SELECT @@gtid_binlog_pos"')
    replica_member 2
    quiet mysql_fresh <<-END
	CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = $port,
	    MASTER_USER = 'replica', MASTER_PASSWORD = 'replica',
	    MASTER_CONNECT_RETRY = 1, MASTER_USE_GTID = slave_pos;
	START SLAVE;
	END
    await 120 replica_caught_up "$position"
    finish_member
}
