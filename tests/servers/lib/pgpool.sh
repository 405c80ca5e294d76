# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Pgpool-II, from third_party/get-debian, in front of a PostgreSQL server.
. "$servers/lib/proxy.sh"
. "$servers/lib/pgsql.sh"

pgpool_needs() {
    command -v psql >/dev/null || missing postgresql-client psql
    newest proxies
}

pgpool_settings() {
    local setting
    cat <<-END
	backend_clustering_mode = 'raw'
	listen_addresses = '$HOST'
	port = $PORT
	pcp_listen_addresses = ''
	pcp_socket_dir = '$state'
	unix_socket_directories = '$state'
	backend_hostname0 = '127.0.0.1'
	backend_port0 = $(of_target PORT)
	enable_pool_hba = on
	pool_passwd = '$state/pool_passwd'
	pid_file_name = '$state/pgpool.pid'
	work_dir = '$state'
	num_init_children = 100
	max_pool = 1
	failover_on_backend_error = off
	failover_on_backend_shutdown = off
	END
    for setting in "${settings[@]}"; do
        echo "${setting#--}"
    done
}

pgpool_start() {
    owner postgres
    rm -f "$state/pgpool.pid"
    launch pgpool -n -f "$state/pgpool.conf" -a "$state/pool_hba.conf" \
        -F "$state/pcp.conf"
    await 60 $CLIENT -c 'SELECT 1'
}

pgpool_up() {
    pgpool_needs
    pgsql_proxy_place
    : >"$state/pcp.conf"
    printf '%s:TEXTsbtest\n' sbtest postgres >"$state/pool_passwd"
    echo 'host all all 127.0.0.1/32 scram-sha-256' >"$state/pool_hba.conf"
    pgpool_settings >"$state/pgpool.conf"
    pgpool_start
}

pgpool_end() {
    end KILL
}
