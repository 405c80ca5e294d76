// SPDX-License-Identifier: GPL-2.0-or-later
//
// Applies the options to a handle of the client library. Features of the
// library are detected by configure, not by version numbers.
#include <unistd.h>

#include "drivers/mysql/internal.h"

static unsigned seconds(int64_t ns)
{
    return (unsigned)((ns + 999999999) / 1000000000);
}

static void set_text(MYSQL *my, enum mysql_option option, const char *value)
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
static void set_files(MYSQL *my, const struct sbmy_opts *o, enum sbmy_tls mode)
{
    bool local = o->ssl > SBMY_TLS_VERIFY_IDENTITY && !*o->ssl_key &&
                 !*o->ssl_ca && !*o->ssl_cert;

    set_file(
        my, MYSQL_OPT_SSL_KEY, o->ssl_key, local ? "client-key.pem" : NULL);
    set_file(
        my, MYSQL_OPT_SSL_CERT, o->ssl_cert, local ? "client-cert.pem" : NULL);
    if (mode != SBMY_TLS_PREFERRED)
        set_file(my, MYSQL_OPT_SSL_CA, o->ssl_ca, local ? "cacert.pem" : NULL);
    set_text(my, MYSQL_OPT_SSL_CIPHER, o->ssl_cipher);
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
        set_files(my, o, mode);
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
    set_text(my, MYSQL_READ_DEFAULT_GROUP, o->defaults_group);
    set_text(my, MYSQL_SET_CHARSET_NAME, o->charset);
    set_timeout(my, MYSQL_OPT_CONNECT_TIMEOUT, o->connect_timeout);
    set_timeout(my, MYSQL_OPT_READ_TIMEOUT, o->read_timeout);
    set_timeout(my, MYSQL_OPT_WRITE_TIMEOUT, o->write_timeout);
    set_buffer(my);
    // This does not let the server read files: see the handlers in infile.c.
    mysql_options(my, MYSQL_OPT_LOCAL_INFILE, &on);
    rc = set_compression(my, o, err);
    return rc ? rc : set_tls(my, o, mode, err);
}
