// SPDX-License-Identifier: GPL-2.0-or-later
//
// Converts options and URL for the library. Options that were given override
// the settings in the URL.
#include <stdlib.h>
#include <sys/socket.h>

#include "drivers/mongodb/internal.h"
#include "kit/passcmd.h"
#include "kit/userfile.h"

#define DEFAULT_URL "mongodb://localhost:27017"
#define LONGEST_NS  (INT64_C(1000000) * INT32_MAX) // that the library supports

// True if the library must be cleaned up when the module is unloaded; otherwise
// it would leave a file of counters behind. Protected by the core's lock, which
// is held during env_init().
static bool library_begun;

__attribute__((destructor)) static void library_end(void)
{
    if (library_begun)
        mongoc_cleanup();
}

// Logs a message of the library: for debugging, except for an unsupported
// option in the URL, which the user has to correct.
static void told(
    mongoc_log_level_t level, const char *domain, const char *text, void *arg)
{
    const struct sb_host *host = arg;
    bool mistake = strncmp(text, "Unsupported URI option", 22) == 0;
    char line[500];

    snprintf(line, sizeof(line), "mongodb: %s: %s", domain, text);
    host->log(mistake ? 3 : 5, line);
}

static int refused_option(const char *option, struct sb_err *err)
{
    return sb_err_set(
        err, SB_EUSAGE, "--%s: the client library rejects the value", option);
}

static bool mo_read_number(const char *text, int32_t *out)
{
    char *end;
    long n = strtol(text, &end, 10);

    *out = (int32_t)n;
    return *text && !*end && n >= 0 && n <= 1000;
}

// -1: not given; otherwise 0 or 1.
static int mo_is_on(int choice)
{
    const char *word = sbmo_switches[choice];

    if (choice == 0)
        return -1;
    return strcmp(word, "on") == 0 || strcmp(word, "1") == 0 ||
           strcmp(word, "true") == 0 || strcmp(word, "yes") == 0;
}

// Write concern --------------------------------------------------------------

static int write_concern(struct sbmo_env *e, struct sb_err *err)
{
    const char *text = e->o->write_concern;
    mongoc_write_concern_t *wc;
    int journal = mo_is_on(e->o->journal);
    int32_t w;

    wc = mongoc_write_concern_copy(mongoc_uri_get_write_concern(e->uri));
    e->write_concern = wc;
    if (mo_read_number(text, &w))
        mongoc_write_concern_set_w(wc, w);
    else if (strcmp(text, "majority") == 0)
        mongoc_write_concern_set_w(wc, MONGOC_WRITE_CONCERN_W_MAJORITY);
    else if (*text == '-' || (*text >= '0' && *text <= '9'))
        return sb_err_set(err, SB_EUSAGE,
            "--mongo-write-concern: '%s' is invalid: give a number from 0 to "
            "1000, 'majority' or a tag",
            text);
    else if (*text)
        mongoc_write_concern_set_wtag(wc, text);
    if (journal >= 0)
        mongoc_write_concern_set_journal(wc, journal);
    if (!mongoc_write_concern_is_valid(wc))
        return sb_err_set(err, SB_EUSAGE,
            "an unacknowledged write (w: 0) cannot wait for the journal");
    e->unacknowledged = !mongoc_write_concern_is_acknowledged(wc);
    return 0;
}

static int read_concern(struct sbmo_env *e, struct sb_err *err)
{
    const char *level = sbmo_read_concerns[e->o->read_concern];

    e->read_concern = mongoc_read_concern_copy(
        mongoc_uri_get_read_concern(e->uri));
    if (e->o->read_concern &&
        !mongoc_read_concern_set_level(e->read_concern, level))
        return refused_option("mongo-read-concern", err);
    return 0;
}

static int read_preference(struct sbmo_env *e, struct sb_err *err)
{
    static const mongoc_read_mode_t modes[] = { MONGOC_READ_PRIMARY,
        MONGOC_READ_PRIMARY, MONGOC_READ_PRIMARY_PREFERRED,
        MONGOC_READ_SECONDARY, MONGOC_READ_SECONDARY_PREFERRED,
        MONGOC_READ_NEAREST };
    mongoc_read_mode_t mode = modes[e->o->read_preference];
    const mongoc_read_prefs_t *url = mongoc_uri_get_read_prefs_t(e->uri);

    // Keeps the tags of the URL, except for primary, which allows none.
    if (e->o->read_preference && mode == MONGOC_READ_PRIMARY)
        e->prefs = mongoc_read_prefs_new(mode);
    else
        e->prefs = mongoc_read_prefs_copy(url);
    if (e->o->read_preference)
        mongoc_read_prefs_set_mode(e->prefs, mode);
    if (!mongoc_read_prefs_is_valid(e->prefs))
        return refused_option("mongo-read-preference", err);
    return 0;
}

// The library completes a concern when it is first written into a command. All
// connections share these, in several threads, so that is done here.
static int complete_concerns(struct sbmo_env *e, struct sb_err *err)
{
    bson_t o = BSON_INITIALIZER;
    bool done = mongoc_read_concern_append(e->read_concern, &o) &&
                mongoc_write_concern_append(e->write_concern, &o);

    bson_destroy(&o);
    return done ? 0 : sb_err_no_memory(err);
}

// Authentication and TLS -----------------------------------------------------

static int password_of_file(struct sbmo_env *e, struct sb_err *err)
{
    char *password = NULL;
    int rc = sb_userfile_password(
        "--mongo-password-file", e->o->password_file, &password, err);

    if (rc == 0 && !mongoc_uri_set_password(e->uri, password))
        rc = refused_option("mongo-password-file", err);
    free(password);
    return rc;
}

// Without a password the library crashes.
static bool lacks_password(const mongoc_uri_t *uri)
{
    const char *how = mongoc_uri_get_auth_mechanism(uri);

    return mongoc_uri_get_username(uri) && !mongoc_uri_get_password(uri) &&
           (!how || strncmp(how, "SCRAM-", 6) == 0 ||
               strcmp(how, "PLAIN") == 0);
}

static int mo_find_password(struct sbmo_env *e, struct sb_err *err)
{
    const struct sbmo_opts *o = e->o;
    bool given = *o->password || *o->password_command || *o->password_file;

    if (given && !mongoc_uri_get_username(e->uri))
        return sb_err_set(err, SB_EUSAGE,
            "a password is given, but neither --mongo-user nor a user in the "
            "URL");
    if (*o->password && !mongoc_uri_set_password(e->uri, o->password))
        return refused_option("mongo-password", err);
    if (*o->password)
        return 0;
    if (*o->password_command)
        return sb_passcmd_new(
            "--mongo-password-command", o->password_command, &e->passcmd, err);
    return *o->password_file ? password_of_file(e, err) : 0;
}

static int who(struct sbmo_env *e, struct sb_err *err)
{
    const struct sbmo_opts *o = e->o;
    int rc;

    if (*o->user && !mongoc_uri_set_username(e->uri, o->user))
        return refused_option("mongo-user", err);
    rc = mo_find_password(e, err);
    if (rc)
        return rc;
    if (!e->passcmd && lacks_password(e->uri)) {
        const char *user = mongoc_uri_get_username(e->uri);

        // In "user%3Apassword@", the name contains a password.
        return sb_err_set(err, SB_EUSAGE,
            "user '%s' requires a password: --mongo-password, "
            "--mongo-password-file, --mongo-password-command or in the URL",
            strchr(user, ':') ? "***" : user);
    }
    if (*o->auth_source && !mongoc_uri_set_auth_source(e->uri, o->auth_source))
        return refused_option("mongo-auth-source", err);
    if (*o->app_name && !mongoc_uri_set_appname(e->uri, o->app_name))
        return refused_option("mongo-app-name", err);
    if (!mongoc_uri_get_appname(e->uri))
        mongoc_uri_set_appname(e->uri, "sysbench");
    return 0;
}

static bool mo_set_text(struct sbmo_env *e, const char *name, const char *value)
{
    return !*value || mongoc_uri_set_option_as_utf8(e->uri, name, value);
}

static bool set_switch(struct sbmo_env *e, const char *name, int choice)
{
    int on = mo_is_on(choice);

    return on < 0 || mongoc_uri_set_option_as_bool(e->uri, name, on);
}

static int tls(struct sbmo_env *e, struct sb_err *err)
{
    const struct sbmo_opts *o = e->o;

    if (!set_switch(e, MONGOC_URI_TLS, o->tls))
        return refused_option("mongo-tls", err);
    if (!mo_set_text(e, MONGOC_URI_TLSCAFILE, o->tls_ca))
        return refused_option("mongo-tls-ca", err);
    if (!mo_set_text(e, MONGOC_URI_TLSCERTIFICATEKEYFILE, o->tls_cert))
        return refused_option("mongo-tls-cert", err);
    if (!mo_set_text(
            e, MONGOC_URI_TLSCERTIFICATEKEYFILEPASSWORD, o->tls_password))
        return refused_option("mongo-tls-password", err);
    if (!set_switch(
            e, MONGOC_URI_TLSALLOWINVALIDCERTIFICATES, o->tls_allow_invalid) ||
        !set_switch(
            e, MONGOC_URI_TLSALLOWINVALIDHOSTNAMES, o->tls_allow_invalid))
        return refused_option("mongo-tls-allow-invalid", err);
    if ((*o->tls_ca || *o->tls_cert) && !mongoc_uri_get_tls(e->uri))
        return sb_err_set(err, SB_EUSAGE,
            "--mongo-tls-ca and --mongo-tls-cert have no effect: TLS is "
            "turned off");
    return 0;
}

static void set_time(
    struct sbmo_env *e, const char *name, int64_t ns, bool given)
{
    if (given)
        mongoc_uri_set_option_as_int32(
            e->uri, name, (int32_t)((ns + 999999) / 1000000));
}

static void mo_times(struct sbmo_env *e)
{
    const struct sbmo_opts *o = e->o;
    bool once = mongoc_uri_get_option_as_bool(
        e->uri, MONGOC_URI_SERVERSELECTIONTRYONCE, true);

    set_time(e, MONGOC_URI_CONNECTTIMEOUTMS, o->connect_timeout,
        o->given.connect_timeout);
    // For the library, 0 means its default.
    set_time(e, MONGOC_URI_SOCKETTIMEOUTMS,
        o->socket_timeout ? o->socket_timeout : LONGEST_NS,
        o->given.socket_timeout);
    // The driver looks again itself: see sbmo_look_again().
    if (o->given.selection_timeout)
        e->selection_ns = (uint64_t)o->selection_timeout;
    else if (!once)
        e->selection_ns = (uint64_t)mongoc_uri_get_option_as_int32(e->uri,
                              MONGOC_URI_SERVERSELECTIONTIMEOUTMS, 30000) *
                          1000000;
    mongoc_uri_set_option_as_bool(
        e->uri, MONGOC_URI_SERVERSELECTIONTRYONCE, true);
    e->connect_ms = mongoc_uri_get_option_as_int32(
        e->uri, MONGOC_URI_CONNECTTIMEOUTMS, 10000);
}

// Environment ----------------------------------------------------------------

static void name_hosts(struct sbmo_env *e)
{
    const mongoc_host_list_t *h = mongoc_uri_get_hosts(e->uri);
    struct sb_buf m = { 0 };

    for (; h && m.len < 200; h = h->next) {
        if (m.len)
            sbmo_add(&m, ", ", 2);
        sbmo_add(&m, h->host_and_port, strlen(h->host_and_port));
    }
    if (m.len == 0 && mongoc_uri_get_srv_hostname(e->uri))
        sbmo_add(&m, mongoc_uri_get_srv_hostname(e->uri),
            strlen(mongoc_uri_get_srv_hostname(e->uri)));
    sbmo_add(&m, "", 1);
    e->where = m.data;
}

static int mo_choose(struct sbmo_env *e, struct sb_err *err)
{
    int rc = who(e, err);

    e->db = mongoc_uri_get_database(e->uri);
    if (*e->o->db)
        e->db = e->o->db;
    else if (!e->db || !*e->db)
        e->db = "sbtest";
    mo_times(e);
    if (rc == 0)
        rc = tls(e, err);
    if (rc == 0)
        rc = write_concern(e, err);
    if (rc == 0)
        rc = read_concern(e, err);
    if (rc == 0)
        rc = complete_concerns(e, err);
    if (rc == 0)
        rc = read_preference(e, err);
    e->primary = mongoc_read_prefs_new(MONGOC_READ_PRIMARY);
    e->no_read_concern = mongoc_read_concern_new();
    e->no_write_concern = mongoc_write_concern_new();
    name_hosts(e);
    return rc || e->where ? rc : sb_err_no_memory(err);
}

static bool is_option(const char *name)
{
    return mongoc_uri_option_is_int32(name) ||
           mongoc_uri_option_is_int64(name) ||
           mongoc_uri_option_is_bool(name) || mongoc_uri_option_is_utf8(name);
}

// The library's messages quote parts of the URL, which may contain the
// password. Only the name of an option is shown.
static int unread_url(char *message, struct sb_err *err)
{
    char *quote = strchr(message, '"'), *end = NULL, name[64];

    if (quote)
        end = strchr(quote + 1, '"');
    if (end && (size_t)(end - quote) < sizeof(name)) {
        snprintf(name, sizeof(name), "%.*s", (int)(end - quote - 1), quote + 1);
        if (is_option(name))
            quote = strchr(end + 1, '"');
    }
    if (quote)
        snprintf(quote, strlen(quote) + 1, "...");
    return sb_err_set(err, SB_EUSAGE, "--mongo-url: %s", message);
}

// If a password contains special characters that are not escaped, the library
// takes the rest of it for a host or a database, which messages would show.
static int check_login(const struct sbmo_env *e, struct sb_err *err)
{
    const mongoc_host_list_t *h = mongoc_uri_get_hosts(e->uri);
    const char *db = mongoc_uri_get_database(e->uri);
    bool cut = db && strchr(db, '@');

    for (; h && !cut; h = h->next)
        cut = h->family != AF_UNIX && strchr(h->host, '@');
    return cut ? sb_err_set(err, SB_EUSAGE,
                     "--mongo-url: in user and password @ must be written as "
                     "%%40, / as %%2F, : as %%3A")
               : 0;
}

int sbmo_env_init(
    struct sb_driver_env *env, const void *opts, struct sb_err *err)
{
    struct sbmo_env *e = calloc(1, sizeof(*e));
    bson_error_t error;
    int rc;

    if (!e)
        return sb_err_no_memory(err);
    e->o = opts;
    e->host = env->host;
    env->shared = e;
    mongoc_log_set_handler(told, (void *)(uintptr_t)env->host);
    mongoc_init(); // initializes once per process; further calls do nothing
    library_begun = true;
    e->uri = mongoc_uri_new_with_error(
        e->o->url[0] ? e->o->url : DEFAULT_URL, &error);
    rc = e->uri ? check_login(e, err) : unread_url(error.message, err);
    if (rc == 0)
        rc = mo_choose(e, err);
    if (rc)
        sbmo_env_done(env);
    return rc;
}

void sbmo_env_done(struct sb_driver_env *env)
{
    struct sbmo_env *e = env->shared;

    if (!e)
        return;
    mongoc_read_concern_destroy(e->read_concern);
    mongoc_write_concern_destroy(e->write_concern);
    mongoc_read_concern_destroy(e->no_read_concern);
    mongoc_write_concern_destroy(e->no_write_concern);
    mongoc_read_prefs_destroy(e->prefs);
    mongoc_read_prefs_destroy(e->primary);
    mongoc_uri_destroy(e->uri);
    sb_passcmd_free(e->passcmd);
    free(e->where);
    free(e);
    env->shared = NULL;
}
