# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# haproxy, which distributes TCP connections to a server or the members of a
# cluster.
. "$servers/lib/proxy.sh"
. "$servers/lib/mysql.sh"
. "$servers/lib/pgsql.sh"

haproxy_needs() {
    PATH=$PATH:/usr/sbin
    command -v haproxy >/dev/null || missing haproxy haproxy
}

haproxy_settings() {
    local i=0 port
    cat <<-END
	global
	    maxconn 2400
	defaults
	    mode tcp
	    timeout connect 5s
	    timeout client 1h
	    timeout server 1h
	listen $name
	    bind $HOST:$PORT
	    balance roundrobin
	END
    for port in $(of_target PORT | tr , ' '); do
        i=$((i + 1))
        echo "    server $ARG-$i 127.0.0.1:$port check inter 500"
    done
}

haproxy_start() {
    owner haproxy "$unprivileged"
    launch haproxy -db -f "$state/haproxy.cfg"
    await 60 proxy_answers
}

haproxy_up() {
    haproxy_needs
    [ ${#settings[@]} = 0 ] || die "haproxy does not support settings"
    proxy_target mariadb
    proxy_place haproxy "$unprivileged"
    case $(of_target OPTIONS) in
    *--pgsql-*) OPTIONS="$(pgsql_login) --pgsql-host=$HOST"
        OPTIONS="$OPTIONS --pgsql-port=$PORT" ;;
    *) OPTIONS="$(mysql_login) --mysql-host=$HOST --mysql-port=$PORT" ;;
    esac
    OPTIONS_TCP=$OPTIONS
    haproxy_settings >"$state/haproxy.cfg"
    haproxy_start
}

haproxy_end() {
    end KILL
}
