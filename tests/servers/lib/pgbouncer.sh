# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# pgbouncer in transaction mode: clients share connections to a PostgreSQL
# server.
. "$servers/lib/proxy.sh"
. "$servers/lib/pgsql.sh"

pgbouncer_needs() {
    PATH=$PATH:/usr/sbin
    command -v pgbouncer >/dev/null || missing pgbouncer pgbouncer
    pgsql_needs
}

pgbouncer_settings() {
    local setting
    cat <<-END
	[databases]
	* = host=127.0.0.1 port=$(of_target PORT)
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
    ADMIN=${ADMIN/\/postgres?//pgbouncer?}
    printf '"%s" "sbtest"\n' sbtest postgres >"$state/users"
    pgbouncer_settings >"$state/pgbouncer.ini"
    pgbouncer_start
}

pgbouncer_end() {
    end KILL
}
