# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The common part of proxies. ARG is the name of the server behind the proxy.

# proxy_target default: sets ARG if it is empty. Starts the default server if it
# is the one used.
proxy_target() {
    : "${ARG:=$1}"
    [ "$ARG" != "$1" ] || "$servers/up" "$1" >/dev/null || exit
    (use_existing "$ARG") || exit
    (with "$ARG" running) || die "$ARG is not running"
}

# proxy_place [user...]: sets the variables and creates the files of a new
# proxy.
proxy_place() {
    owner "$@"
    new_state
    HOST=127.0.0.1
    free_port PORT
    DATADIR=$state
}

# pgsql_proxy_place: a new proxy in front of PostgreSQL that has no socket and no
# console of its own.
pgsql_proxy_place() {
    proxy_target pgsql
    proxy_place postgres
    pgsql_options
    CLIENT=${CLIENT/host=$state/host=$HOST}
    ADMIN=''
    OPTIONS=$OPTIONS_TCP
}

# of_target variable: prints its value for the server behind the proxy.
of_target() {
    with "$ARG" eval "echo \"\$$1\""
}

proxy_answers() {
    (exec 3<>"/dev/tcp/127.0.0.1/$PORT")
}
