# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# An authority, a server certificate and a client certificate below
# $state/tls; the members of a cluster have the same ones.

# certificate file name extension
certificate() {
    local base=$state/tls/$1
    openssl req -new -newkey rsa:2048 -nodes -subj "/CN=$2" \
        -keyout "$base.key" -out "$base.csr" &&
        openssl x509 -req -in "$base.csr" -CA "$state/tls/ca.pem" \
            -CAkey "$state/tls/ca.key" -CAcreateserial -sha256 -days 3650 \
            -extfile <(echo "$3") -out "$base.pem" &&
        rm "$base.csr"
}

certificates() {
    local LOG=$state/tls/log # it draws while it looks for primes
    quiet openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -sha256 \
        -subj "/CN=sysbench test authority" \
        -addext keyUsage=critical,keyCertSign,cRLSign \
        -keyout "$state/tls/ca.key" -out "$state/tls/ca.pem"
    quiet certificate server localhost \
        "subjectAltName=DNS:localhost,IP:127.0.0.1"
    quiet certificate client sbtest "extendedKeyUsage=clientAuth"
}

# make_tls: sets CA, and CERT and KEY of the client; all empty without openssl.
make_tls() {
    CA='' CERT='' KEY=''
    if [ -n "${cluster:-}" ] && [ -d "$top/$cluster-1/tls" ]; then
        cp -R "$top/$cluster-1/tls" "$state/"
    elif command -v openssl >/dev/null; then
        mkdir "$state/tls"
        certificates
    else
        say "$me: no openssl, so $name has no TLS"
        return
    fi
    # libpq and the servers refuse keys that others may read.
    chmod 600 "$state"/tls/*.key
    chown "$owner" "$state/tls/server.key"
    CA=$state/tls/ca.pem CERT=$state/tls/client.pem KEY=$state/tls/client.key
}
