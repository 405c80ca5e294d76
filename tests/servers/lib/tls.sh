# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# An authority, a server certificate and a client certificate below
# $state/tls; the members of a cluster have the same ones.

# sign file extension option...: a certificate for $state/tls/file.csr. It is
# valid since long ago: the library of MySQL 5.6 takes those that are younger
# than a minute for ones of the future.
sign() {
    local base=$state/tls/$1 extension=$2
    shift 2
    openssl ca -batch -notext -config "$state/tls/ca.cnf" \
        -startdate 20200101000000Z -days 3650 -extfile <(echo "$extension") \
        -keyfile "$state/tls/ca.key" -in "$base.csr" -out "$base.pem" "$@" &&
        rm "$base.csr"
}

# request file name: a key and what is to be signed
request() {
    openssl req -new -newkey rsa:2048 -nodes -sha256 -subj "/CN=$2" \
        -keyout "$state/tls/$1.key" -out "$state/tls/$1.csr"
}

# certificate file name extension
certificate() {
    request "$1" "$2" && sign "$1" "$3" -cert "$state/tls/ca.pem"
}

authority() {
    cat >"$state/tls/ca.cnf" <<-END
	[ca]
	default_ca = test
	[test]
	database = $state/tls/index
	new_certs_dir = $state/tls
	rand_serial = yes
	default_md = sha256
	policy = policy
	[policy]
	commonName = supplied
	END
    : >"$state/tls/index"
    request ca "sysbench test authority" &&
        sign ca "$(printf '%s\n' basicConstraints=critical,CA:TRUE \
            keyUsage=critical,keyCertSign,cRLSign \
            subjectKeyIdentifier=hash)" -selfsign
}

certificates() {
    local LOG=$state/tls/log # it draws while it looks for primes
    quiet authority
    # Old libraries look at the subject alone.
    quiet certificate server 127.0.0.1 \
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
