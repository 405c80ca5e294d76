# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The common part of MariaDB and MySQL.

# An eighth of the memory, at most 512 MB.
mysql_pool() {
    awk '/^MemTotal:/ { m = $2 / 8192 } END {
        print (m < 64 ? 64 : m > 512 ? 512 : int(m)) "M" }' /proc/meminfo \
        2>/dev/null || echo 128M
}

mysql_settings() {
    cat <<-END
	[mysqld]
	datadir = $DATADIR
	socket = $SOCKET
	port = $PORT
	bind-address = $HOST
	pid-file = $state/pid
	log-error = $LOG
	tmpdir = $state/tmp
	skip-name-resolve
	max_connections = 1200
	max_connect_errors = 1000000
	connect_timeout = 600
	back_log = 1200
	table_open_cache = 4000
	local_infile = ON
	secure_file_priv = ""
	performance_schema = OFF
	loose_mysqlx = OFF
	max_allowed_packet = 64M
	character-set-server = utf8mb4
	innodb_buffer_pool_size = $(mysql_pool)
	innodb_buffer_pool_dump_at_shutdown = OFF
	innodb_buffer_pool_load_at_startup = OFF
	loose_innodb_log_file_size = 64M
	END
    [ -z "$CA" ] || cat <<-END
	ssl-ca = $CA
	ssl-cert = $state/tls/server.pem
	ssl-key = $state/tls/server.key
	END
    # Committed transactions survive a kill of the server, but not a crash of
    # the machine.
    [ -n "$durable" ] || cat <<-END
	innodb_flush_log_at_trx_commit = 2
	innodb_flush_method = nosync
	innodb_doublewrite = OFF
	sync_binlog = 0
	END
}

# The settings from the command line come last and override the others.
mysql_own_settings() {
    local setting
    for setting in "${settings[@]}"; do
        echo "${setting#--}"
    done
}

# mysql_place: sets the variables and creates the files of a new server.
mysql_place() {
    owner mysql
    new_state
    HOST=127.0.0.1
    free_port PORT
    SOCKET=$state/socket
    DATADIR=$state/data
    mkdir "$DATADIR" "$state/tmp"
    chown "$owner" "$DATADIR" "$state/tmp"
    make_tls
    mysql_options
    { mysql_settings && mysql_own_settings; } >"$state/my.cnf"
}

mysql_login() {
    echo "--db-driver=mysql --mysql-user=sbtest --mysql-password=sbtest" \
        "--mysql-db=sbtest"
}

# mysql_options: sets the variables for users of the server.
mysql_options() {
    OPTIONS="$(mysql_login) --mysql-socket=$SOCKET"
    OPTIONS_TCP="$(mysql_login) --mysql-host=$HOST --mysql-port=$PORT"
    CLIENT="$(mysql_client) --socket=$SOCKET --user=sbtest"
    CLIENT="$CLIENT --password=sbtest --database=sbtest -N -B"
    ADMIN="$(mysql_client) --socket=$SOCKET --user=root"
    ADMIN="$ADMIN --password=sbtest -N -B"
}

# Without TLS: OpenSSL 3 rejects the TLS versions of MySQL 5.6.
mysql_client() {
    echo mariadb --no-defaults --connect-timeout=60 --skip-ssl
}

mysql_client_needs() {
    command -v mariadb >/dev/null || missing mariadb-client mariadb
}

# mysql_fresh argument...: the client as root, before root has a password.
mysql_fresh() {
    # shellcheck disable=SC2046
    $(mysql_client) "--socket=$SOCKET" --user=root "$@"
}

mysql_awake() {
    $ADMIN -e 'SELECT 1' || mysql_fresh -e 'SELECT 1'
}

# mysql_users privilege...: prints the SQL that creates the users. sbtest does
# not get these privileges, because they would hide limits and a read-only
# server from the tests.
mysql_users() {
    local user
    for user in sbtest@localhost sbtest@127.0.0.1; do
        echo "CREATE USER $user IDENTIFIED BY 'sbtest';"
        echo "GRANT ALL ON *.* TO $user;"
        echo "REVOKE $* ON *.* FROM $user;"
    done
    echo "CREATE DATABASE sbtest;"
}

# MySQL 5.6 has no such statement.
mysql_root() {
    echo "ALTER USER root@localhost IDENTIFIED BY 'sbtest';"
}
