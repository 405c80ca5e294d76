// SPDX-License-Identifier: GPL-2.0-or-later
//
// Verifies the certificate of a server with MariaDB's library 3.4. That library
// does not check the host name of a server on this machine, then accepts a
// certificate that no authority has signed, and checks the host name for
// verify_ca. It calls these functions between the handshake of TLS and the
// login.
#include <stdio.h>

#include "drivers/mysql/internal.h"

#if HAVE_DECL_MARIADB_OPT_TLS_VERIFICATION_CALLBACK

// The library's MARIADB_TLS, whose header is not installed completely.
struct tls {
    void *data, *pvio, *ssl;
};

// Functions of the OpenSSL that the library uses.
#define WEAK __attribute__((weak))
extern void *SSL_get_ex_data(const void *ssl, int i) WEAK;
extern long SSL_get_verify_result(const void *ssl) WEAK;
extern void *SSL_get1_peer_certificate(const void *ssl) WEAK;
extern void *SSL_get_peer_certificate(const void *ssl) WEAK; // OpenSSL 1.1
extern const char *X509_verify_cert_error_string(long result) WEAK;
extern int X509_check_host(void *certificate, const char *name, size_t len,
    unsigned flags, char **found) WEAK;
extern int X509_check_ip_asc(
    void *certificate, const char *address, unsigned flags) WEAK;
extern void X509_free(void *certificate) WEAK;

static void *certificate_of(void *ssl)
{
    return SSL_get1_peer_certificate ? SSL_get1_peer_certificate(ssl)
                                     : SSL_get_peer_certificate(ssl);
}

// With any other status than this one, the library may log in nevertheless.
static int refuse(MYSQL *my, const char *what, const char *detail)
{
    my->net.tls_verify_status = MARIADB_TLS_VERIFY_UNKNOWN;
    my->net.last_errno = SBMY_CR_SSL;
    snprintf(my->net.sqlstate, sizeof(my->net.sqlstate), "HY000");
    snprintf(my->net.last_error, sizeof(my->net.last_error),
        "the server's certificate is not %s%s", what, detail);
    return 1;
}

static int verify(struct tls *t, bool identity)
{
    MYSQL *my = t && t->ssl ? SSL_get_ex_data(t->ssl, 0) : NULL;

    if (!my)
        return 1;

    void *certificate = certificate_of(t->ssl);
    long result = SSL_get_verify_result(t->ssl);
    const char *host = my->host ? my->host : "";
    int rc = 0;

    if (!certificate || result)
        rc = refuse(my, "valid: ",
            certificate ? X509_verify_cert_error_string(result)
                        : "the server sent none");
    else if (identity &&
             X509_check_host(certificate, host, strlen(host), 0, NULL) != 1 &&
             X509_check_ip_asc(certificate, host, 0) != 1)
        rc = refuse(my, "for the host ", host);
    else
        my->net.tls_verify_status = MARIADB_TLS_VERIFY_OK;
    if (certificate)
        X509_free(certificate);
    return rc;
}

static int verify_authority(struct tls *t, unsigned unused)
{
    return verify(t, false);
}

static int verify_identity(struct tls *t, unsigned unused)
{
    return verify(t, true);
}

int sbmy_verify(MYSQL *my, enum sbmy_tls mode, bool *own, struct sb_err *err)
{
    const char *tls = "";

    *own = mode >= SBMY_TLS_VERIFY_CA &&
           mysql_optionsv(my, MARIADB_OPT_TLS_VERIFICATION_CALLBACK,
               mode == SBMY_TLS_VERIFY_CA ? verify_authority
                                          : verify_identity) == 0;
    if (!*own || (!mariadb_get_infov(my, MARIADB_TLS_LIBRARY, &tls) &&
                     strncmp(tls, "OpenSSL", 7) == 0 && X509_free))
        return 0;
    return sb_err_set(err, SB_EUSAGE,
        "--mysql-ssl=%s requires a client library that is linked with the "
        "system's OpenSSL, not %s",
        sbmy_ssl_words[mode], tls);
}

#else

// The libraries 3.3 and 3.4 of MariaDB have one soname, so this may run with
// the newer one.
int sbmy_verify(MYSQL *my, enum sbmy_tls mode, bool *own, struct sb_err *err)
{
    const char *info = mysql_get_client_info();
    int major = 0, minor = 0;

    *own = false;
    if (!SBMY_MARIADB || mode < SBMY_TLS_VERIFY_CA ||
        sscanf(info, "%d.%d", &major, &minor) != 2 || major < 3 ||
        (major == 3 && minor < 4))
        return 0;
    return sb_err_set(err, SB_EUSAGE,
        "--mysql-ssl=%s: the driver was built with an older client library "
        "than %s, with which it cannot verify servers; build it again",
        sbmy_ssl_words[mode], info);
}

#endif
