# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What servers that speak MongoDB's protocol have in common. ARG: only who has
# the password comes in, else everybody does.
. "$servers/lib/tls.sh"

# mongo_kind: sets kind to that of the server that is there, else to the best
# one that can be had.
mongo_kind() {
    for kind in mongod ferretdb mongojava; do
        [ "${KIND:-}" != "$kind" ] || return 0
    done
    say "$me: mongodb: takes mongod, FerretDB or mongo-java-server," \
        "whichever can be had first"
    for kind in mongod ferretdb mongojava; do
        # Its other reasons to end are good ones to try the next, too.
        # shellcheck source=/dev/null
        ! (. "$servers/lib/$kind.sh" && "${kind}_needs") || return 0
    done
    say "$me: no server for MongoDB's protocol can be had here"
    exit 77
}

# mongo_place: names and files of a new server.
mongo_place() {
    owner mongodb nobody
    new_state
    HOST=127.0.0.1
    free_port PORT
    DATADIR=$state/data
    mkdir "$DATADIR"
    chown "$owner" "$DATADIR"
    make_tls
}

# mongo_options [setting]: sets what users of the server need to know. TLS_PORT
# may be PORT or another one.
mongo_options() {
    local login=
    [ -z "${ARG:-}" ] || login=sbtest:sbtest@
    URL=mongodb://$login$HOST:$PORT${1:+/?$1}
    URL_TLS="mongodb://$login$HOST:$TLS_PORT/?tls=true&tlsCAFile=$CA${1:+&$1}"
    [ -n "$CA" ] || URL_TLS=
    OPTIONS="--db-driver=mongodb --mongo-url=$URL"
    OPTIONS="$OPTIONS --mongo-database-name=sbtest"
    OPTIONS_TCP=$OPTIONS
    # CLIENT knows no passwords.
    [ -n "$login" ] || ! command -v python3 >/dev/null ||
        CLIENT="python3 $servers/lib/mongo-command $HOST $PORT sbtest"
}

# mongo_awake: whether it answers { ping: 1, $db: "admin" } with ok.
mongo_awake() {
    (
        exec 3<>"/dev/tcp/$HOST/$PORT" || exit
        printf '\63\0\0\0\1\0\0\0\0\0\0\0\335\7\0\0\0\0\0\0\0' >&3
        printf '\36\0\0\0\20ping\0\1\0\0\0\2$db\0\6\0\0\0admin\0\0' >&3
        timeout 5 head -c 38 <&3 | grep -qa ok
    )
}
