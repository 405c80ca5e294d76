// SPDX-License-Identifier: GPL-2.0-or-later
//
// Applies the options to a handle of the client library. Features of the
// library are detected by configure, not by version numbers.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "drivers/mysql/internal.h"

// Restricts the plugins that a server may choose for authentication. Some send
// the password in cleartext, or a hash that is as good as the password. They
// are allowed only if the server is verified before, over a Unix socket, or if
// the user allows them.

#if !HAVE_DECL_MARIADB_OPT_RESTRICTED_AUTH && \
    defined(HAVE_MYSQL_CLIENT_PLUGIN_H)
#include <mysql/client_plugin.h>
#define REFUSES_PLUGINS
#ifdef HAVE_STRUCT_AUTH_PLUGIN_T // of MySQL 8.0
#define AUTH_PLUGIN struct auth_plugin_t
#else
#define AUTH_PLUGIN struct st_mysql_client_plugin_AUTHENTICATION
#endif
#endif

// True if the library verifies the server before it logs in. Libraries without
// SSL_MODE continue unencrypted if the server does not support TLS, except when
// host names are verified.
static bool verifies(enum sbmy_tls mode)
{
#if HAVE_DECL_MYSQL_OPT_SSL_MODE
    return mode >= SBMY_TLS_VERIFY_CA;
#elif HAVE_DECL_MYSQL_OPT_SSL_ENFORCE
    return mode >= SBMY_TLS_VERIFY_IDENTITY;
#else
    return false; // the oldest libraries always continue unencrypted
#endif
}

// "localhost" means the library's default socket, unless an option file selects
// TCP.
static bool my_is_local(const struct sbmy_opts *o, struct sbmy_place p)
{
    return p.socket || (sbmy_place_is_default(p) && !sbmy_from_files(o));
}

#if HAVE_DECL_MARIADB_OPT_RESTRICTED_AUTH

// Allows only the listed plugins.
static void restrict_plugins(MYSQL *my, bool all)
{
    if (!all)
        mysql_options(my, MARIADB_OPT_RESTRICTED_AUTH,
            "mysql_native_password,caching_sha2_password,sha256_password,"
            "client_ed25519,parsec,auth_gssapi_client");
}

#else

#ifdef REFUSES_PLUGINS
// Stores the error where the library reads it; conn.c has the text.
static int refuse_plugin(MYSQL_PLUGIN_VIO *vio, MYSQL *my)
{
    my->net.last_errno = SBMY_CR_PLUGIN_REFUSED;
    snprintf(my->net.last_error, sizeof(my->net.last_error), "refused");
    snprintf(my->net.sqlstate, sizeof(my->net.sqlstate), "HY000");
    return CR_ERROR;
}

#define REFUSED(plugin)                                                    \
    {                                                                      \
        .type = MYSQL_CLIENT_AUTHENTICATION_PLUGIN,                        \
        .interface_version =                                               \
            MYSQL_CLIENT_AUTHENTICATION_PLUGIN_INTERFACE_VERSION,          \
        .name = plugin, .author = "sysbench", .desc = "refuses to log in", \
        .version = { 1, 0, 0 }, .license = "GPL",                          \
        .authenticate_user = refuse_plugin                                 \
    }

// The library loads these plugins from its folder if a server requests them,
// unless plugins of the same names were registered. They are registered for the
// whole process.
static void refuse_plugins(MYSQL *my)
{
    static AUTH_PLUGIN plugins[] = { REFUSED("dialog"),
        REFUSED("mysql_clear_password") };
    // These are static because the library's list of plugins is global.
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool done;

    // No connection may begin to log in before the plugins are registered.
    pthread_mutex_lock(&lock);
    // Registering fails for a plugin that is built into the library.
    for (size_t i = 0; !done && i < sizeof(plugins) / sizeof(plugins[0]); i++)
        mysql_client_register_plugin(
            my, (struct st_mysql_client_plugin *)&plugins[i]);
    done = true;
    pthread_mutex_unlock(&lock);
}
#else
static void refuse_plugins(MYSQL *my)
{
}
#endif

static void restrict_plugins(MYSQL *my, bool all)
{
    sbmy_bool clear = all, secure = !all;

    if (!all)
        refuse_plugins(my);
    (void)clear;
    (void)secure;
#if HAVE_DECL_MYSQL_ENABLE_CLEARTEXT_PLUGIN
    mysql_options(my, MYSQL_ENABLE_CLEARTEXT_PLUGIN, &clear);
#endif
#if HAVE_DECL_MYSQL_SECURE_AUTH
    mysql_options(my, MYSQL_SECURE_AUTH, &secure);
#endif
}

#endif

void sbmy_auth(MYSQL *my, const struct sbmy_opts *o, struct sbmy_place p,
    enum sbmy_tls mode)
{
    restrict_plugins(
        my, o->cleartext_password || my_is_local(o, p) || verifies(mode));
}

// Verifies the certificate of a server with MariaDB's library 3.4. That library
// does not check the host name of a server on this machine, then accepts a
// certificate that no authority has signed, and checks the host name for
// verify_ca. It calls these functions between the handshake of TLS and the
// login.

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

// For the modes that verify the server: lets the library call functions of the
// driver that verify it. *own: true if the library calls them (3.4 and newer).
// Returns 0 or SB_EUSAGE.
static int sbmy_verify(
    MYSQL *my, enum sbmy_tls mode, bool *own, struct sb_err *err)
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
static int sbmy_verify(
    MYSQL *my, enum sbmy_tls mode, bool *own, struct sb_err *err)
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

static unsigned seconds(int64_t ns)
{
    return (unsigned)((ns + 999999999) / 1000000000);
}

static void my_set_text(MYSQL *my, enum mysql_option option, const char *value)
{
    if (*value)
        mysql_options(my, option, value);
}

static void set_timeout(MYSQL *my, enum mysql_option option, int64_t ns)
{
    unsigned value = seconds(ns);

    if (value)
        mysql_options(my, option, &value);
}

// The buffer of each connection grows with its largest packet, so thousands of
// users with small ones need not begin with the library's 8 KiB.
static void set_buffer(MYSQL *my)
{
#ifdef MARIADB_BASE_VERSION
    static const size_t size = 1024;

    mysql_optionsv(my, MYSQL_OPT_NET_BUFFER_LENGTH, &size);
#endif
}

static int set_compression(
    MYSQL *my, const struct sbmy_opts *o, struct sb_err *err)
{
    if (!o->compression)
        return 0;
#if HAVE_DECL_MYSQL_OPT_COMPRESSION_ALGORITHMS
    mysql_options(
        my, MYSQL_OPT_COMPRESSION_ALGORITHMS, o->compression_algorithms);
#else
    if (strcmp(o->compression_algorithms, SBMY_ZLIB) != 0)
        return sb_err_set(err, SB_EUSAGE,
            "--mysql-compression-algorithms=%s: this client library (%s) "
            "supports only " SBMY_ZLIB,
            o->compression_algorithms, mysql_get_client_info());
    mysql_options(my, MYSQL_OPT_COMPRESS, NULL);
#endif
    return 0;
}

// Uses the given file, or the file in the current folder that the switch of
// sysbench 1.0 used.
static void set_file(
    MYSQL *my, enum mysql_option option, const char *given, const char *local)
{
    if (*given)
        mysql_options(my, option, given);
    else if (local && access(local, R_OK) == 0)
        mysql_options(my, option, local);
}

// With "preferred" no CA certificate is set: a library that does not trust the
// server would continue without encryption.
static void my_set_files(
    MYSQL *my, const struct sbmy_opts *o, enum sbmy_tls mode)
{
    bool local = o->ssl > SBMY_TLS_VERIFY_IDENTITY && !*o->ssl_key &&
                 !*o->ssl_ca && !*o->ssl_cert;

    set_file(
        my, MYSQL_OPT_SSL_KEY, o->ssl_key, local ? "client-key.pem" : NULL);
    set_file(
        my, MYSQL_OPT_SSL_CERT, o->ssl_cert, local ? "client-cert.pem" : NULL);
    if (mode != SBMY_TLS_PREFERRED)
        set_file(my, MYSQL_OPT_SSL_CA, o->ssl_ca, local ? "cacert.pem" : NULL);
    my_set_text(my, MYSQL_OPT_SSL_CIPHER, o->ssl_cipher);
}

static int no_authority(struct sb_err *e)
{
    return sb_err_set(e, SB_EUSAGE,
        "--mysql-ssl=verify_ca requires a CA certificate (--mysql-ssl-ca)");
}

#if HAVE_DECL_MYSQL_OPT_SSL_MODE
static int set_mode(
    MYSQL *my, const struct sbmy_opts *o, enum sbmy_tls mode, struct sb_err *e)
{
    static const unsigned modes[] = { SSL_MODE_DISABLED, SSL_MODE_PREFERRED,
        SSL_MODE_REQUIRED, SSL_MODE_VERIFY_CA, SSL_MODE_VERIFY_IDENTITY };
    unsigned value = modes[mode];

    // An option file may name the certificate.
    if (mode == SBMY_TLS_VERIFY_CA && !*o->ssl_ca && !sbmy_from_files(o))
        return no_authority(e);
    mysql_options(my, MYSQL_OPT_SSL_MODE, &value);
    return 0;
}
#else
#if !HAVE_DECL_MYSQL_OPT_SSL_ENFORCE
// A library without an option for encryption encrypts if a file or the ciphers
// are set.
static void ask_for_tls(MYSQL *my, const struct sbmy_opts *o)
{
    if (!*o->ssl_cipher)
        mysql_options(my, MYSQL_OPT_SSL_CIPHER,
            "DHE-RSA-AES256-SHA:AES256-SHA:DHE-RSA-AES128-SHA:AES128-SHA");
}
#else
static void ask_for_tls(MYSQL *my, const struct sbmy_opts *o)
{
    sbmy_bool on = 1;

    mysql_options(my, MYSQL_OPT_SSL_ENFORCE, &on);
}
#endif

static int set_mode(
    MYSQL *my, const struct sbmy_opts *o, enum sbmy_tls mode, struct sb_err *e)
{
    sbmy_bool verify = mode == SBMY_TLS_VERIFY_IDENTITY;
    bool own;
    int rc;

    if (mode != SBMY_TLS_DISABLED)
        ask_for_tls(my, o);
    if (mode == SBMY_TLS_VERIFY_CA && !*o->ssl_ca)
        return no_authority(e);
    rc = sbmy_verify(my, mode, &own, e);
    verify |= own;
    // Also if off, because newer libraries verify by default.
    mysql_options(my, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
    return rc;
}
#endif

static int set_tls(
    MYSQL *my, const struct sbmy_opts *o, enum sbmy_tls mode, struct sb_err *e)
{
    if (mode != SBMY_TLS_DISABLED)
        my_set_files(my, o, mode);
#if HAVE_DECL_MYSQL_OPT_GET_SERVER_PUBLIC_KEY
    // Without encryption, caching_sha2_password requires the server's public
    // key.
    if (mode < SBMY_TLS_REQUIRED)
        mysql_options(my, MYSQL_OPT_GET_SERVER_PUBLIC_KEY, &(sbmy_bool){ 1 });
#endif
    return set_mode(my, o, mode, e);
}

void sbmy_settings_forget(MYSQL *my)
{
#ifdef MARIADB_BASE_VERSION
    mysql_options(my, MYSQL_OPT_CONNECT_ATTR_RESET, NULL);
#endif
    (void)my;
}

int sbmy_settings(
    MYSQL *my, const struct sbmy_env *e, enum sbmy_tls mode, struct sb_err *err)
{
    const struct sbmy_opts *o = e->o;
    unsigned on = 1;
    int rc;

    if (e->defaults_file)
        mysql_options(my, MYSQL_READ_DEFAULT_FILE, e->defaults_file);
    my_set_text(my, MYSQL_READ_DEFAULT_GROUP, o->defaults_group);
    my_set_text(my, MYSQL_SET_CHARSET_NAME, o->charset);
    set_timeout(my, MYSQL_OPT_CONNECT_TIMEOUT, o->connect_timeout);
    set_timeout(my, MYSQL_OPT_READ_TIMEOUT, o->read_timeout);
    set_timeout(my, MYSQL_OPT_WRITE_TIMEOUT, o->write_timeout);
    set_buffer(my);
    // This does not let the server read files: see the handlers in bulk.c.
    mysql_options(my, MYSQL_OPT_LOCAL_INFILE, &on);
    rc = set_compression(my, o, err);
    return rc ? rc : set_tls(my, o, mode, err);
}
