// SPDX-License-Identifier: GPL-2.0-or-later
//
// Restricts the plugins that a server may choose for authentication. Some send
// the password in cleartext, or a hash that is as good as the password. They
// are allowed only if the server is verified before, over a Unix socket, or if
// the user allows them.
#include <pthread.h>
#include <stdio.h>

#include "drivers/mysql/internal.h"

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
static bool is_local(const struct sbmy_opts *o, struct sbmy_place p)
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
        my, o->cleartext_password || is_local(o, p) || verifies(mode));
}
