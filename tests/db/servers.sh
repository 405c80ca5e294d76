# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs the same tests on SQLite, MariaDB and PostgreSQL; source it after lib.sh.
# If SB_SERVERS_DIR is set, its servers are used. Otherwise the test starts its
# own, and stops them when it ends.
# shellcheck shell=sh disable=SC2086,SC2034,SC2153

export TMPDIR
# Fetching takes minutes and needs a network.
export SB_SERVERS_FETCH=no
# Do not wait long for name servers that do not answer.
export RES_OPTIONS='timeout:1 attempts:1'
started='' own=''

# Servers that are started from now on are those of this test alone.
private_servers() {
    [ -z "$own" ] || return 0
    # The users that servers run as have no access to TMPDIR.
    own=$(mktemp -d /tmp/sb-servers.XXXXXX) && chmod 711 "$own" || exit 1
    export SB_SERVERS_DIR="$own"
}
[ -n "${SB_SERVERS_DIR:-}" ] || private_servers

stop_servers() {
    for s in $started; do
        "$SB_SRCDIR/tests/servers/down" "$s" >/dev/null 2>&1
    done
    [ -z "$own" ] || rm -rf "$own"
    case $TMPDIR in
    */sb-test.*) ;; # tests/run removes it
    *) rm -rf "$TMPDIR" ;;
    esac
}
trap stop_servers EXIT
# Not every shell executes the EXIT trap when a signal ends it.
trap 'exit 130' INT TERM

has_driver() {
    [ -e "$SB_BUILDDIR/src/drivers/.libs/$1.so" ]
}

# Whether the mysql driver uses the newest of Oracle's libraries, which cannot log in
# to MariaDB.
has_newest_oracle() {
    has_driver mysql && grep -q 'libmysqlclient\.so\.2[4-9]' \
        "$SB_BUILDDIR/src/drivers/.libs/mysql.so"
}

# start_server what driver: starts a server, sets the variables that
# tests/servers/env prints, and db, the name of a database for this test.
# Returns 1 after a skip.
start_server() {
    if ! has_driver "$2"; then
        skip "$1" "no $2 driver"
        return 1
    fi
    case $1 in
    mariadb* | galera* | replica-mariadb*)
        if has_newest_oracle; then
            skip "$1" "the client library cannot log in to MariaDB"
            return 1
        fi
        ;;
    esac
    "$SB_SRCDIR/tests/servers/up" "$1" >up.out 2>up.err
    st=$?
    if [ $st = 77 ]; then
        skip "$1" "$(tail -n 1 up.err)"
        return 1
    elif [ $st != 0 ]; then
        cp up.err out
        ok 1 "$1: starts"
        return 1
    fi
    [ -z "$own" ] || started="$started $1"
    eval "$("$SB_SRCDIR/tests/servers/env" "$1")"
    db=sb_$(basename "$0")_$$
}

# use_server what driver: starts the server and creates the database. Sets
# db_options and the client that ask() uses.
use_server() {
    start_server "$1" "$2" || return
    echo "CREATE DATABASE $db" | $ADMIN >/dev/null
    db_options="$OPTIONS --$2-db=$db"
    case $2 in
    mysql)
        client=$(echo "$CLIENT" | sed "s/--database=sbtest/--database=$db/") ;;
    pgsql)
        echo "GRANT ALL ON DATABASE $db TO sbtest" | $ADMIN >/dev/null
        echo "ALTER DATABASE $db OWNER TO sbtest" | $ADMIN >/dev/null
        client=$(echo "$CLIENT" | sed "s,/sbtest?,/$db?,") ;;
    esac
}

leave_server() {
    echo "DROP DATABASE $db" | $ADMIN >/dev/null
}

use_sqlite() {
    if ! have_sqlite; then
        skip sqlite "no sqlite driver or no sqlite3 command"
        return 1
    fi
    rm -f sb.sqlite sb.sqlite-*
    db_options="--db-driver=sqlite --sqlite-db=sb.sqlite"
    # Threads share the file, and the machine may be slow.
    db_options="$db_options --sqlite-busy-timeout=600"
    client="sqlite3 sb.sqlite"
}

# use_mongo kind: the same for a server with MongoDB's protocol.
use_mongo() {
    start_server "$1" mongodb || return
    db_options="--mongo-url=$URL --mongo-database-name=$db"
}

leave_mongo() {
    cat >leave.lua <<'LUA'
function event()
   sysbench.sql.driver():connect():query('{"dropDatabase": 1}')
   return true
end
LUA
    "$SYSBENCH" $db_options --events=1 leave.lua run >/dev/null
}

# ask sql: executes it with the database's own client and prints the rows;
# columns are separated by |.
ask() {
    echo "$1;" | $client | tr '\t' '|'
}

# quiet database: waits until no other client is connected to the database of
# use_server. The server may still execute the last statement of a client that
# was killed.
quiet() {
    case $1 in
    mariadb) who="SELECT COUNT(*) FROM information_schema.processlist
        WHERE db = '$db' AND id <> CONNECTION_ID()" ;;
    pgsql) who="SELECT COUNT(*) FROM pg_stat_activity
        WHERE datname = '$db' AND pid <> pg_backend_pid()" ;;
    *) return ;; # SQLite runs in the client
    esac
    for _ in $(seq 600); do
        [ "$(ask "$who")" != 0 ] || return
        sleep 0.1
    done
}

# on_each_database function: calls it with the name of each database, with
# db_options and ask() set for that database.
on_each_database() {
    use_sqlite && "$1" sqlite
    use_server mariadb mysql && "$1" mariadb && leave_server
    use_server pgsql pgsql && "$1" pgsql && leave_server
}
