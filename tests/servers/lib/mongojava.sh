# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# mongo-java-server, from third_party/get-mongo-java.
. "$servers/lib/mongo.sh"

mongojava_needs() {
    command -v java >/dev/null || missing default-jre-headless java
    java_classes=$(fetched mongo-java) || exit
}

mongojava_start() {
    owner mongodb "$unprivileged"
    local tls=()
    [ -z "$CA" ] ||
        tls=("$TLS_PORT" "$state/tls/server.pem" "$state/tls/server.key")
    launch java -Xmx1g -XX:-UsePerfData \
        -Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
        -cp "$state/java:$state/java/*" Server "$DATADIR/mongo.mv" \
        "$HOST" "$PORT" "${tls[@]}"
    await 120 mongo_awake
}

mongojava_up() {
    mongojava_needs
    [ "${#settings[@]}$durable" = 0 ] ||
        die "mongojava supports neither settings nor --durable"
    mongo_place
    # The user that runs the server may not have access to the cache.
    cp -R "$java_classes" "$state/java"
    [ -z "$CA" ] || free_port TLS_PORT
    mongo_options
    mongojava_start
}

mongojava_end() {
    end KILL
}
