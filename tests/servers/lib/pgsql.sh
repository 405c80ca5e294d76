# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A PostgreSQL server.
. "$servers/lib/tls.sh"

# Uses the programs in the folder SB_PGSQL_BIN or, without it, the newest
# installed version.
pgsql_needs() {
    local bin
    command -v psql >/dev/null || missing postgresql-client psql
    ! newest pgsql18 || return 0
    if [ -n "${SB_PGSQL_BIN:-}" ]; then
        # Tests call it without this folder in PATH.
        PATH=$SB_PGSQL_BIN:$PATH
        return
    fi
    for bin in $(printf '%s\n' /usr/lib/postgresql/*/bin /usr/pgsql-*/bin \
        /usr/libexec/postgresql* | sort -rV); do
        [ -x "$bin/postgres" ] || continue
        PATH=$bin:$PATH
        break
    done
    command -v postgres >/dev/null && command -v initdb >/dev/null ||
        missing postgresql postgres
}

pgsql_settings() {
    cat <<-END
	listen_addresses = '$HOST'
	port = $PORT
	unix_socket_directories = '$state'
	max_connections = 1200
	authentication_timeout = 600
	shared_buffers = 256MB
	dynamic_shared_memory_type = mmap
	max_wal_size = 2GB
	max_prepared_transactions = 100
	password_encryption = 'scram-sha-256'
	END
    [ -z "$CA" ] || cat <<-END
	ssl = on
	ssl_ca_file = '$CA'
	ssl_cert_file = '$state/tls/server.pem'
	ssl_key_file = '$state/tls/server.key'
	END
    # Committed transactions survive a kill of the server, but not a crash of
    # the machine.
    [ -n "$durable" ] || cat <<-END
	fsync = off
	full_page_writes = off
	END
}

# The settings from the command line come last and override the others.
pgsql_own_settings() {
    local setting
    for setting in "${settings[@]}"; do
        setting=${setting#-c}
        setting=${setting#--}
        echo "${setting%%=*} = '${setting#*=}'"
    done
}

pgsql_access() {
    cat <<-END
	local all all scram-sha-256
	host all all 127.0.0.1/32 scram-sha-256
	host replication postgres 127.0.0.1/32 scram-sha-256
	END
}

pgsql_login() {
    echo "--db-driver=pgsql --pgsql-user=sbtest --pgsql-password=sbtest" \
        "--pgsql-db=sbtest"
}

# pgsql_options: sets the variables for users of the server.
pgsql_options() {
    local at="host=$state&port=$PORT&connect_timeout=60"
    OPTIONS="$(pgsql_login) --pgsql-host=$state --pgsql-port=$PORT"
    OPTIONS_TCP="$(pgsql_login) --pgsql-host=$HOST --pgsql-port=$PORT"
    CLIENT="psql -XqAt -d postgresql://sbtest:sbtest@/sbtest?$at"
    ADMIN="psql -XqAt -d postgresql://postgres:sbtest@/postgres?$at"
}

# Servers of third_party/get-pgvector are built without TLS.
pgsql_tls() {
    CA='' CERT='' KEY=''
    case ${SB_PGSQL_BIN:+$(pg_config --configure)} in
    '' | *--with-openssl* | *--with-ssl*) make_tls ;;
    esac
}

# pgsql_place: sets the variables and creates the files of a new server.
pgsql_place() {
    owner postgres
    new_state
    HOST=127.0.0.1
    free_port PORT
    SOCKET=$state/.s.PGSQL.$PORT
    DATADIR=$state/data
    pgsql_tls
    pgsql_options
}

pgsql_configure() {
    { pgsql_settings && pgsql_own_settings; } >>"$DATADIR/postgresql.conf"
    pgsql_access >"$DATADIR/pg_hba.conf"
}

pgsql_create() {
    echo sbtest >"$state/password"
    cd "$state" || exit
    quiet "${as[@]}" initdb -D "$DATADIR" -U postgres --no-sync -E UTF8 \
        --locale=C --auth=scram-sha-256 --pwfile="$state/password"
    rm "$state/password"
}

pgsql_install() {
    kept "$("${as[@]}" postgres --version)" pgsql_create
}

# pgsql_clear: removes what a killed server leaves: its PID file and a segment
# of shared memory, which its children may use a little longer. The next server
# would not remove them while the old process is a zombie.
pgsql_clear() {
    local file=${DATADIR:-}/postmaster.pid segment try
    [ -e "$file" ] || return 0
    segment=$(awk 'NR == 7 { print $2 }' "$file")
    for try in {1..100}; do
        ipcs -m 2>/dev/null | awk -v s="${segment:-none}" \
            '$2 == s && $6 > 0 { found = 1 } END { exit !found }' || break
        sleep 0.1
    done
    [ "$try" -lt 100 ] || return 0
    [ -z "$segment" ] || ipcrm -m "$segment" 2>/dev/null || :
    rm -f "$file" "$SOCKET.lock"
}

pgsql_start() {
    owner postgres
    pgsql_clear
    launch postgres -D "$DATADIR"
    await 120 $ADMIN -c 'SELECT 1'
}

pgsql_users() {
    quiet $ADMIN -c "CREATE ROLE sbtest LOGIN CREATEDB PASSWORD 'sbtest'" \
        -c "CREATE DATABASE sbtest OWNER sbtest"
}

pgsql_up() {
    pgsql_needs
    pgsql_place
    pgsql_install
    pgsql_configure
    pgsql_start
    pgsql_users
}

pgsql_end() {
    end QUIT
    pgsql_clear
}
