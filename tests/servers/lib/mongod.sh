# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# MongoDB's own server, if it is installed.
. "$servers/lib/mongo.sh"

mongod_needs() {
    PATH=$PATH:/usr/sbin:/usr/local/bin
    command -v mongod >/dev/null || {
        say "$me: mongod is not installed: see MongoDB's own packages"
        exit 77
    }
}

# An eighth of the memory, from 256 MB to 1 GB.
mongod_cache() {
    awk '/^MemTotal:/ { g = $2 / 8388608 } END {
        print (g < 0.25 ? 0.25 : g > 1 ? 1 : g) }' /proc/meminfo \
        2>/dev/null || echo 0.25
}

# The arguments of the command, one per line. A write for which the client does
# not request the journal is lost if the server is killed before the end of the
# journalCommitInterval (ms).
mongod_arguments() {
    cat <<-END
	--dbpath=$DATADIR
	--port=$PORT
	--bind_ip=$HOST
	--unixSocketPrefix=$state
	--wiredTigerCacheSizeGB=$(mongod_cache)
	--journalCommitInterval=1
	--setParameter=diagnosticDataCollectionEnabled=false
	END
    [ -z "$CA" ] || cat <<-END
	--tlsMode=allowTLS
	--tlsCertificateKeyFile=$state/tls/both.pem
	--tlsCAFile=$CA
	--tlsAllowConnectionsWithoutCertificates
	END
    [ ${#settings[@]} = 0 ] || printf -- '--%s\n' "${settings[@]#--}"
}

# mongod needs certificate and key in one file.
mongod_key() {
    [ -z "$CA" ] || {
        install -m 600 -o "$owner" /dev/null "$state/tls/both.pem"
        cat "$state/tls/server.pem" "$state/tls/server.key" \
            >"$state/tls/both.pem"
    }
}

mongod_start() {
    local arguments
    owner mongodb mongod "$unprivileged"
    mapfile -t arguments <"$state/arguments"
    launch mongod "${arguments[@]}"
    await 120 mongo_awake
}

mongod_up() {
    mongod_needs
    mongo_place
    mongod_key
    SOCKET=$state/mongodb-$PORT.sock
    TLS_PORT=$PORT
    mongo_options ${durable:+journal=true}
    mongod_arguments >"$state/arguments"
    mongod_start
}

mongod_end() {
    end KILL
}
