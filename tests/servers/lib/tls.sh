# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A certificate authority, a server certificate and a client certificate in
# $state/tls; the members of a cluster share them.

# sign file extension option...: creates the certificate for
# $state/tls/file.csr. Its start date is long ago, because the library of MySQL
# 5.6 rejects certificates that are less than a minute old as not yet valid.
sign() {
    local base=$state/tls/$1 extension=$2
    shift 2
    openssl ca -batch -notext -config "$state/tls/ca.cnf" \
        -startdate 20200101000000Z -days 3650 -extfile <(echo "$extension") \
        -keyfile "$state/tls/ca.key" -in "$base.csr" -out "$base.pem" "$@" &&
        rm "$base.csr"
}

# request file name: creates a key and a certificate request.
request() {
    openssl req -new -newkey rsa:2048 -nodes -sha256 -subj "/CN=$2" \
        -keyout "$state/tls/$1.key" -out "$state/tls/$1.csr"
}

# certificate file name extension: creates a key and its certificate.
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
    local LOG=$state/tls/log # openssl prints progress marks
    quiet authority
    # Old libraries check only the subject.
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
        say "$me: openssl is not installed, so $name has no TLS"
        return
    fi
    # libpq and the servers reject keys that other users can read.
    chmod 600 "$state"/tls/*.key
    chown "$owner" "$state/tls/server.key"
    CA=$state/tls/ca.pem CERT=$state/tls/client.pem KEY=$state/tls/client.key
}
