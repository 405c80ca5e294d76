# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# FerretDB, from third_party/get-ferretdb, and the PostgreSQL server that it
# stores its data in, NAME-pgsql. ARG may be auth.
. "$servers/lib/mongo.sh"
. "$servers/lib/cluster.sh"
. "$servers/lib/pgsql.sh"

ferretdb_needs() {
    pgsql_needs
    ferretdb=$(fetched ferretdb) || exit
}

# ferretdb_store name: creates the PostgreSQL server; to be called in a
# subshell.
ferretdb_store() {
    settings=()
    begin_member "$1" pgsql
    pgsql_up
    finish_member
}

# The arguments of the command, one per line.
ferretdb_arguments() {
    local store
    store=127.0.0.1:$(with "$name-pgsql" eval 'echo "$PORT"')
    cat <<-END
	--handler=postgresql
	--postgresql-url=postgres://sbtest:sbtest@$store/sbtest?pool_max_conns=100
	--listen-addr=$HOST:$PORT
	--listen-unix=$SOCKET
	--state-dir=$state/data
	--debug-addr=-
	--telemetry=disable
	--log-level=WARN
	END
    [ -z "$CA" ] || cat <<-END
	--listen-tls=$HOST:$TLS_PORT
	--listen-tls-cert-file=$state/tls/server.pem
	--listen-tls-key-file=$state/tls/server.key
	END
    [ -z "${ARG:-}" ] || cat <<-END
	--test-enable-new-auth
	--setup-database=admin
	--setup-username=sbtest
	--setup-password=sbtest
	END
    [ ${#settings[@]} = 0 ] || printf -- '--%s\n' "${settings[@]#--}"
}

ferretdb_start() {
    local arguments
    (with "$name-pgsql" alive) || (with "$name-pgsql" start_again) || exit
    owner mongodb "$unprivileged"
    rm -f "$SOCKET"
    mapfile -t arguments <"$state/arguments"
    launch "$state/ferretdb" "${arguments[@]}"
    await 120 mongo_awake
}

ferretdb_up() {
    ferretdb_needs
    mongo_place
    (ferretdb_store "$name-pgsql") || abandon
    # The user that runs the server may not have access to the cache.
    cp "$ferretdb" "$state/ferretdb"
    chmod 755 "$state/ferretdb"
    SOCKET=$state/mongodb-$PORT.sock
    [ -z "$CA" ] || free_port TLS_PORT
    mongo_options
    ferretdb_arguments >"$state/arguments"
    ferretdb_start
}

ferretdb_end() {
    end KILL
    with "$name-pgsql" remove
}
