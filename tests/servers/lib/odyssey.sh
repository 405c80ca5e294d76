# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Odyssey, from third_party/get-debian: a pooler for PostgreSQL. The databases
# session, transaction and statement are sbtest in that mode; all others are in
# transaction mode.
. "$servers/lib/proxy.sh"
. "$servers/lib/pgsql.sh"

odyssey_needs() {
    command -v psql >/dev/null || missing postgresql-client psql
    newest proxies
}

# odyssey_pool name mode [option]
odyssey_pool() {
    cat <<-END
	database $1 {
	    user default {
	        authentication "none"
	        storage "server"
	        ${3:-}
	        storage_user "sbtest"
	        storage_password "sbtest"
	        pool "$2"
	        pool_size 50
	        $([ "$2" = session ] || echo pool_reserve_prepared_statement yes)
	    }
	}
	END
}

odyssey_settings() {
    local mode
    cat <<-END
	daemonize no
	log_to_stdout yes
	log_session no
	log_format "%p %t %l [%i %s] (%c) %m\n"
	unix_socket_dir "$state"
	unix_socket_mode "0666"
	locks_dir "$state"
	coroutine_stack_size 24
	listen {
	    host "$HOST"
	    port $PORT
	}
	storage "server" {
	    type "remote"
	    host "127.0.0.1"
	    port $(of_target PORT)
	}
	END
    for mode in session transaction statement; do
        odyssey_pool "\"$mode\"" "$mode" 'storage_db "sbtest"'
    done
    odyssey_pool default transaction
}

# The program changes its title, by which alive() would no longer find it.
odyssey_start() {
    owner postgres
    as=(unshare --fork "${as[@]}")
    launch odyssey "$state/odyssey.conf"
    await 60 $CLIENT -c 'SELECT 1'
}

odyssey_up() {
    odyssey_needs
    [ ${#settings[@]} = 0 ] || die "odyssey does not support settings"
    pgsql_proxy_place
    odyssey_settings >"$state/odyssey.conf"
    odyssey_start
}

odyssey_end() {
    kill_family
}
