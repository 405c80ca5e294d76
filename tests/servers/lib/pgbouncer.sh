# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# pgbouncer: clients share connections to a PostgreSQL server. The databases
# session, transaction and statement are sbtest in that mode; all others are in
# transaction mode.
. "$servers/lib/proxy.sh"
. "$servers/lib/pgsql.sh"

pgbouncer_needs() {
    command -v psql >/dev/null || missing postgresql-client psql
    ! newest proxies || return 0
    PATH=$PATH:/usr/sbin
    command -v pgbouncer >/dev/null || missing pgbouncer pgbouncer
}

pgbouncer_settings() {
    local setting server mode
    server="host=127.0.0.1 port=$(of_target PORT)"
    echo "[databases]"
    for mode in session transaction statement; do
        echo "$mode = $server dbname=sbtest pool_mode=$mode"
    done
    cat <<-END
	* = $server
	[pgbouncer]
	listen_addr = $HOST
	listen_port = $PORT
	unix_socket_dir = $state
	auth_type = scram-sha-256
	auth_file = $state/users
	admin_users = postgres
	pool_mode = transaction
	max_client_conn = 2000
	default_pool_size = 50
	ignore_startup_parameters = extra_float_digits
	END
    for setting in "${settings[@]}"; do
        echo "${setting#--}"
    done
}

pgbouncer_start() {
    owner postgres
    launch pgbouncer "$state/pgbouncer.ini"
    await 60 $CLIENT -c 'SELECT 1'
}

pgbouncer_up() {
    pgbouncer_needs
    proxy_target pgsql
    proxy_place postgres
    SOCKET=$state/.s.PGSQL.$PORT
    pgsql_options
    ADMIN=${ADMIN/\/postgres\?//pgbouncer?}
    printf '"%s" "sbtest"\n' sbtest postgres >"$state/users"
    pgbouncer_settings >"$state/pgbouncer.ini"
    pgbouncer_start
}

pgbouncer_end() {
    end KILL
}
