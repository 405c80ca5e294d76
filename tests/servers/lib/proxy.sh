# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What proxies share: the server behind them is ARG, its name.

# proxy_target default: brings the default one up, if it is the one.
proxy_target() {
    : "${ARG:=$1}"
    [ "$ARG" != "$1" ] || "$servers/up" "$1" >/dev/null || exit
    (use_existing "$ARG") || exit
    (with "$ARG" running) || die "$ARG does not run"
}

# proxy_place user...: names and files of a new proxy.
proxy_place() {
    owner "$@"
    new_state
    HOST=127.0.0.1
    free_port PORT
    DATADIR=$state
}

# of_target variable
of_target() {
    with "$ARG" eval "echo \"\$$1\""
}

proxy_answers() {
    (exec 3<>"/dev/tcp/127.0.0.1/$PORT")
}
