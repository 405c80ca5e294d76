# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Oracle's MySQL 9, from third_party/get-debian.
. "$servers/lib/tls.sh"
. "$servers/lib/mysql.sh"

mysql9_needs() {
    mysql_client_needs
    newest mysql9
}

mysql9_create() {
    quiet "${as[@]}" mysqld "--defaults-file=$state/my.cnf" \
        --initialize-insecure
}

mysql9_start() {
    owner mysql
    launch mysqld "--defaults-file=$state/my.cnf"
    await 120 mysql_awake
}

mysql9_up() {
    mysql9_needs
    mysql_place
    kept "$("${as[@]}" mysqld --version)" mysql9_create
    mysql9_start
    quiet mysql_fresh < <(mysql_users SUPER, CONNECTION_ADMIN && mysql_root)
}

mysql9_end() {
    end KILL
}
