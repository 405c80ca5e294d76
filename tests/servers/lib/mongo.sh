# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The common part of servers for MongoDB's protocol. ARG: if set, clients need a
# password.
. "$servers/lib/tls.sh"

# mongo_kind: sets kind to that of the existing server, otherwise to the first
# one available.
mongo_kind() {
    for kind in mongod ferretdb mongojava; do
        [ "${KIND:-}" != "$kind" ] || return 0
    done
    say "$me: mongodb: looking for mongod, FerretDB and mongo-java-server," \
        "in this order"
    for kind in mongod ferretdb mongojava; do
        # On any failure, not only status 77, the next one is tried.
        # shellcheck source=/dev/null
        ! (. "$servers/lib/$kind.sh" && "${kind}_needs") || return 0
    done
    say "$me: no server for MongoDB's protocol is available"
    exit 77
}

# mongo_place: sets the variables and creates the files of a new server.
mongo_place() {
    owner mongodb "$unprivileged"
    new_state
    HOST=127.0.0.1
    free_port PORT
    DATADIR=$state/data
    mkdir "$DATADIR"
    chown "$owner" "$DATADIR"
    make_tls
}

# mongo_options [setting]: sets the variables for users of the server. TLS_PORT
# may be the same as PORT.
mongo_options() {
    local login=
    [ -z "${ARG:-}" ] || login=sbtest:sbtest@
    URL=mongodb://$login$HOST:$PORT${1:+/?$1}
    URL_TLS="mongodb://$login$HOST:$TLS_PORT/?tls=true&tlsCAFile=$CA${1:+&$1}"
    [ -n "$CA" ] || URL_TLS=
    OPTIONS="--db-driver=mongodb --mongo-url=$URL"
    OPTIONS="$OPTIONS --mongo-database-name=sbtest"
    OPTIONS_TCP=$OPTIONS
    # CLIENT does not support passwords.
    [ -n "$login" ] || ! command -v python3 >/dev/null ||
        CLIENT="python3 $servers/lib/mongo-command $HOST $PORT sbtest"
}

# mongo_awake: true if the server answers { ping: 1, $db: "admin" } with ok.
mongo_awake() {
    (
        exec 3<>"/dev/tcp/$HOST/$PORT" || exit
        printf '\63\0\0\0\1\0\0\0\0\0\0\0\335\7\0\0\0\0\0\0\0' >&3
        printf '\36\0\0\0\20ping\0\1\0\0\0\2$db\0\6\0\0\0admin\0\0' >&3
        timeout 5 head -c 38 <&3 | grep -qa ok
    )
}
