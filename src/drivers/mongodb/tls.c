// SPDX-License-Identifier: GPL-2.0-or-later
//
// Puts TLS on a stream.
#include "drivers/mongodb/internal.h"

#ifdef MONGOC_ENABLE_SSL
bool sbmo_is_encrypted(const mongoc_uri_t *uri)
{
    const char *how = mongoc_uri_get_auth_mechanism(uri);

    return mongoc_uri_get_tls(uri) || (how && strcmp(how, "MONGODB-X509") == 0);
}

static mongoc_ssl_opt_t options_of(const mongoc_uri_t *uri)
{
    bool any = mongoc_uri_get_option_as_bool(
        uri, MONGOC_URI_TLSINSECURE, false);

    return (mongoc_ssl_opt_t){
        .pem_file = mongoc_uri_get_option_as_utf8(
            uri, MONGOC_URI_TLSCERTIFICATEKEYFILE, NULL),
        .pem_pwd = mongoc_uri_get_option_as_utf8(
            uri, MONGOC_URI_TLSCERTIFICATEKEYFILEPASSWORD, NULL),
        .ca_file = mongoc_uri_get_option_as_utf8(
            uri, MONGOC_URI_TLSCAFILE, NULL),
        .weak_cert_validation = mongoc_uri_get_option_as_bool(
            uri, MONGOC_URI_TLSALLOWINVALIDCERTIFICATES, any),
        .allow_invalid_hostname = mongoc_uri_get_option_as_bool(
            uri, MONGOC_URI_TLSALLOWINVALIDHOSTNAMES, any),
    };
}

struct wrap {
    mongoc_stream_t *base, *over;
    const char *host;
    mongoc_ssl_opt_t options;
};

// Reads and parses the certificates: those of the system take 40 ms.
static void wrap(void *arg)
{
    struct wrap *w = arg;

    w->over = mongoc_stream_tls_new_with_hostname(
        w->base, w->host, &w->options, 1);
}

mongoc_stream_t *sbmo_encrypt(struct sbmo_conn *c, mongoc_stream_t *base,
    const mongoc_uri_t *uri, const mongoc_host_list_t *host,
    bson_error_t *error)
{
    struct wrap w = {
        .base = base, .host = host->host, .options = options_of(uri)
    };
    bson_error_t why = { 0 };

    if (sbmo_apart(c, wrap, &w, error)) {
        mongoc_stream_destroy(base);
        return NULL;
    }
    if (!w.over) {
        bson_set_error(error, MONGOC_ERROR_STREAM, MONGOC_ERROR_STREAM_CONNECT,
            "%s: TLS setup failed; are the certificate files "
            "right?",
            host->host_and_port);
        mongoc_stream_destroy(base);
        return NULL;
    }
    if (mongoc_stream_tls_handshake_block(
            w.over, host->host, c->env->connect_ms, &why))
        return w.over;
    bson_set_error(error, MONGOC_ERROR_STREAM, MONGOC_ERROR_STREAM_CONNECT,
        "%s: %s", host->host_and_port, why.message);
    mongoc_stream_destroy(w.over);
    return NULL;
}
#else
bool sbmo_is_encrypted(const mongoc_uri_t *uri)
{
    return mongoc_uri_get_tls(uri);
}

mongoc_stream_t *sbmo_encrypt(struct sbmo_conn *c, mongoc_stream_t *base,
    const mongoc_uri_t *uri, const mongoc_host_list_t *host,
    bson_error_t *error)
{
    bson_set_error(error, MONGOC_ERROR_STREAM, MONGOC_ERROR_STREAM_CONNECT,
        "%s: this client library was built without TLS", host->host_and_port);
    mongoc_stream_destroy(base);
    return NULL;
}
#endif
