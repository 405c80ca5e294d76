# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# MySQL Router, from third_party/get-debian. With the setting
# connection_sharing=1, clients that are idle share connections to the server.
. "$servers/lib/proxy.sh"
. "$servers/lib/mysql.sh"
. "$servers/lib/tls.sh"

mysqlrouter_needs() {
    mysql_client_needs
    newest proxies
}

mysqlrouter_settings() {
    local setting
    cat <<-END
	[DEFAULT]
	plugin_folder = /usr/lib/mysqlrouter/plugin
	logging_folder =
	runtime_folder = $state
	data_folder = $state
	[logger]
	level = INFO
	[connection_pool]
	max_idle_server_connections = 64
	[routing:server]
	bind_address = $HOST
	bind_port = $PORT
	destinations = 127.0.0.1:$(of_target PORT)
	routing_strategy = first-available
	protocol = classic
	max_connections = 2000
	client_ssl_mode = PREFERRED
	client_ssl_cert = $state/tls/server.pem
	client_ssl_key = $state/tls/server.key
	server_ssl_mode = PREFERRED
	END
    for setting in "${settings[@]}"; do
        echo "${setting#--}"
    done
}

mysqlrouter_start() {
    owner mysql
    launch mysqlrouter -c "$state/mysqlrouter.conf"
    await 60 $CLIENT -e 'SELECT 1'
}

mysqlrouter_up() {
    mysqlrouter_needs
    proxy_target mysql9
    proxy_place mysql
    make_tls
    OPTIONS="$(mysql_login) --mysql-host=$HOST --mysql-port=$PORT"
    OPTIONS_TCP=$OPTIONS
    CLIENT="mariadb --no-defaults --connect-timeout=60 --host=$HOST --port=$PORT"
    CLIENT="$CLIENT --user=sbtest --password=sbtest --database=sbtest -N -B"
    mysqlrouter_settings >"$state/mysqlrouter.conf"
    mysqlrouter_start
}

mysqlrouter_end() {
    end KILL
}
