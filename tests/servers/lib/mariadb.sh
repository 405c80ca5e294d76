# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A MariaDB server.
. "$servers/lib/tls.sh"
. "$servers/lib/mysql.sh"

mariadb_needs() {
    mysql_client_needs
    ! newest mariadb11 || return 0
    PATH=$PATH:/usr/sbin:/usr/local/sbin
    command -v mariadbd >/dev/null &&
        command -v mariadb-install-db >/dev/null ||
        missing mariadb-server mariadbd
}

mariadb_create() {
    quiet "${as[@]}" mariadb-install-db "--defaults-file=$state/my.cnf" \
        --auth-root-authentication-method=normal --skip-test-db \
        --skip-name-resolve --force
}

mariadb_install() {
    kept "$("${as[@]}" mariadbd --version)" mariadb_create
}

# mariadb_start [argument...]: additional arguments for this start.
mariadb_start() {
    owner mysql
    launch mariadbd "--defaults-file=$state/my.cnf" "$@"
    await 120 mysql_awake
}

mariadb_users() {
    quiet mysql_fresh < <(mysql_users SUPER, READ_ONLY ADMIN && mysql_root)
}

mariadb_up() {
    mariadb_needs
    mysql_place
    mariadb_install
    mariadb_start
    mariadb_users
}

mariadb_end() {
    end KILL
}
