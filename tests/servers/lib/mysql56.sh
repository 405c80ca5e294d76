# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Oracle's MySQL 5.6, from third_party/get-mysql56.
. "$servers/lib/tls.sh"
. "$servers/lib/mysql.sh"

mysql56_needs() {
    mysql_client_needs
    basedir=$(fetched mysql56) || exit
    # From Debian 13 on, the library has another name, but the same functions.
    aio=$(ldconfig -p 2>/dev/null |
        sed -n 's/^[[:space:]]*libaio\.so\.1\(t64\)\{0,1\} .*=> //p' | head -n 1)
    [ -n "$aio" ] || missing libaio1 libaio
}

# mysqld itself changes from root to $owner, because that user may not have
# access to the cache that mysqld is in.
mysql56_as() {
    owner mysql
    as=()
}

mysql56_command() {
    echo env "LD_LIBRARY_PATH=$state/lib" "$basedir/bin/mysqld" \
        "--defaults-file=$state/my.cnf" \
        "--basedir=$basedir" "--user=$owner"
}

mysql56_aio() {
    mkdir -p "$state/lib" && ln -sfn "$aio" "$state/lib/libaio.so.1"
}

# The server and its client library only read keys in the traditional format.
mysql56_keys() {
    local key
    [ -n "$CA" ] || return 0
    for key in "$state/tls/server.key" "$KEY"; do
        quiet openssl rsa -traditional -in "$key" -out "$key"
    done
}

mysql56_install() {
    local share=$basedir/share
    {
        echo 'CREATE DATABASE mysql;'
        echo 'USE mysql;'
        cat "$share/mysql_system_tables.sql" \
            "$share/mysql_system_tables_data.sql"
        echo "DELETE FROM user WHERE user != 'root' OR host != 'localhost';"
        echo "DELETE FROM db;"
    } >"$state/install.sql"
    # shellcheck disable=SC2046
    quiet $(mysql56_command) --bootstrap <"$state/install.sql"
}

mysql56_start() {
    mysql56_as
    mysql56_aio
    # shellcheck disable=SC2046
    launch $(mysql56_command)
    await 120 mysql_awake
}

mysql56_up() {
    mysql56_needs
    mysql_place
    mysql56_as
    mysql56_aio
    mysql56_keys
    mysql56_install
    mysql56_start
    quiet mysql_fresh < <(mysql_users SUPER &&
        echo "SET PASSWORD FOR root@localhost = PASSWORD('sbtest');")
}

mysql56_end() {
    end KILL
}
