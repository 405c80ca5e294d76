// SPDX-License-Identifier: GPL-2.0-or-later
//
// Connection parameters: from the driver's options, the connection string, and
// the environment and service files that libpq reads. For their precedence, see
// pg_choose().
#include <arpa/inet.h>
#include <stdlib.h>

#include "drivers/pgsql/internal.h"
#include "kit/passcmd.h"
#include "kit/sock.h"
#include "kit/userfile.h"

// Connection strings and URIs. libpq's messages quote what it cannot parse,
// which may be the password. If a URI contains a password with a character that
// was not escaped, libpq takes a part of the password for a host, a port or a
// database. Therefore messages show nothing of the text, only what is wrong
// with it.

// Beginnings of libpq's messages, and the reasons that are shown instead.
static const struct {
    const char *begin, *reason;
} reasons[] = {
    { "invalid percent-encoded",
        "a '%' is not followed by two hexadecimal digits" },
    { "forbidden value", "%00 is not allowed" },
    { "end of string reached when looking for matching \"]\"",
        "a '[' has no ']'" },
    { "IPv6 host address may not be empty", "there is no address in '[]'" },
    { "unexpected character", "neither ':' nor '/' follows a ']'" },
    { "extra key/value separator", "a parameter has more than one '='" },
    { "missing key/value separator", "a parameter has no '='" },
    { "invalid URI query parameter", "it has an unknown parameter" },
    { "invalid connection option", "it has an unknown keyword" },
    { "missing \"=\"", "a keyword is not followed by '='" },
    { "unterminated quoted string", "a quoted value does not end" },
    { "unexpected spaces", "spaces must be written as %20" },
    { "out of memory", "out of memory" },
};

static const char *pg_reason_of(const char *text)
{
    for (size_t i = 0; text && i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (strncmp(text, reasons[i].begin, strlen(reasons[i].begin)) == 0)
            return reasons[i].reason;
    }
    return "libpq cannot parse it";
}

static const char *pg_value_of(const PQconninfoOption *all, const char *keyword)
{
    for (; all->keyword; all++) {
        if (all->val && strcmp(all->keyword, keyword) == 0)
            return all->val;
    }
    return "";
}

static bool pg_is_port(const char *s, size_t len)
{
    return strspn(s, "0123456789") >= len;
}

// True if the len bytes at s (more may follow) can be a host: a name, an
// address, or a socket directory.
static bool pgsql_is_host(const char *s, size_t len)
{
    char address[INET6_ADDRSTRLEN];
    struct in6_addr unused;
    size_t plain;

    if (len > 0 && (s[0] == '/' || s[0] == '@')) // a Unix socket
        return strncmp(s, "//", 2) != 0;
    if (memchr(s, '@', len))
        return false;
    if (!memchr(s, ':', len))
        return true;
    plain = strcspn(s, "%"); // a scope may follow
    if (plain > len)
        plain = len;
    if (plain >= sizeof(address))
        return false;
    memcpy(address, s, plain);
    address[plain] = '\0';
    return inet_pton(AF_INET6, address, &unused) == 1;
}

// True if `is` returns true for all items of a comma-separated list.
static bool all_of(const char *list, bool (*is)(const char *s, size_t len))
{
    for (;;) {
        size_t len = strcspn(list, ",");

        if (!is(list, len))
            return false;
        if (!list[len])
            return true;
        list += len + 1;
    }
}

// Returns the reason to assume that a part of the password was taken for
// another setting; NULL if nothing suggests it.
static const char *suspect_reason(const PQconninfoOption *all, bool uri)
{
    const char *port = pg_value_of(all, "port"),
               *user = pg_value_of(all, "user");
    const char *db = pg_value_of(all, "dbname");

    if (!all_of(port, pg_is_port))
        return "a port is not a number";
    if (!all_of(pg_value_of(all, "host"), pgsql_is_host) ||
        !all_of(pg_value_of(all, "hostaddr"), pgsql_is_host))
        return "a host contains '@' or ':'";
    if (uri && strchr(user, ':') && !pg_value_of(all, "password")[0])
        return "the user has a ':' in it, and there is no password";
    if (strstr(db, "://"))
        return "the name of the database is a URI";
    if (uri && port[0] && !user[0] && strchr(db, '@'))
        return "there is an '@' after the first '/'";
    return NULL;
}

// Parses a connection string or URI. The message of SB_EUSAGE says what is
// wrong without quoting it. The caller frees *out by PQconninfoFree(), also
// after an error.
static int pgsql_conninfo_parse(
    const char *conninfo, PQconninfoOption **out, struct sb_err *err)
{
    bool uri = strstr(conninfo, "://") != NULL;
    const char *why;
    char *text = NULL;

    *out = PQconninfoParse(conninfo, &text);
    why = *out ? suspect_reason(*out, uri) : pg_reason_of(text);
    PQfreemem(text);
    if (!why)
        return 0;
    return sb_err_set(err, SB_EUSAGE,
        "--pgsql-conninfo: %s (the text is not shown, because it may contain "
        "the password%s)",
        why,
        uri ? "; in it '@' is written as %40, ':' as %3A, '/' as %2F, '%' as "
              "%25"
            : "");
}

void pgsql_cut_quotes(char *text)
{
    size_t n = strcspn(text, "\"");

    while (n > 0 && strchr(" :", text[n - 1]))
        n--;
    text[n] = '\0';
}

static int find_keyword(const struct pgsql_target *t, const char *key)
{
    for (int i = 0; i < t->n; i++) {
        if (strcmp(t->key[i], key) == 0)
            return i;
    }
    return -1;
}

static void set_keyword(
    struct pgsql_target *t, const char *key, const char *value)
{
    int i = find_keyword(t, key);

    if (i < 0 && t->n + 1 < PGSQL_KEYWORDS)
        i = t->n++;
    if (i < 0)
        return;
    t->key[i] = key;
    t->value[i] = value;
}

static void set_given(
    struct pgsql_target *t, const char *key, const char *value)
{
    if (value[0])
        set_keyword(t, key, value);
}

// Options override the environment even with their default values, as in
// sysbench 1.0: a forgotten PGHOST must not make a run load or drop tables on
// another server. A connection string or a service, which the user requested,
// overrides default values.
static void pg_choose(
    struct pgsql_target *t, const char *key, const char *value, bool given)
{
    if (given || (find_keyword(t, key) < 0 && find_keyword(t, "service") < 0))
        set_keyword(t, key, value);
}

static const char *item(
    const struct sb_opt_list *list, uint64_t n, const char *def)
{
    return list->count ? list->item[n % list->count] : def;
}

static void set_place(
    struct pgsql_target *t, const struct pgsql_opts *o, uint64_t number)
{
    uint64_t ports = o->port.count ? o->port.count : 1;
    const char *host = item(&o->host, number / ports, "localhost");
    const char *port = item(&o->port, number, "5432");

    bool host_given = o->given.host && o->host.count;

    // libpq would prefer a hostaddr to the given host, so it is cleared.
    if (host_given && find_keyword(t, "hostaddr") >= 0)
        set_keyword(t, "hostaddr", "");
    if (host_given || find_keyword(t, "hostaddr") < 0)
        pg_choose(t, "host", host, host_given);
    pg_choose(t, "port", port, o->given.port && o->port.count);
}

static void secure(struct pgsql_target *t, const struct pgsql_opts *o)
{
    pg_choose(t, "sslmode", pgsql_sslmodes[o->sslmode], o->given.sslmode);
    set_given(t, "sslrootcert", o->sslrootcert);
    set_given(t, "sslcert", o->sslcert);
    set_given(t, "sslkey", o->sslkey);
    set_given(t, "sslpassword", o->sslpassword);
    set_given(t, "sslcrl", o->sslcrl);
    set_given(t, "require_auth", o->require_auth);
}

void pgsql_target_fill(struct pgsql_target *t, const struct pgsql_env *env,
    uint64_t number, const char *password)
{
    const struct pgsql_opts *o = env->o;

    *t = (struct pgsql_target){ 0 };
    for (PQconninfoOption *i = env->conninfo; i && i->keyword; i++) {
        if (i->val)
            set_keyword(t, i->keyword, i->val);
    }
    set_given(t, "service", o->service);
    set_place(t, o, number);
    pg_choose(t, "user", o->user, o->given.user);
    pg_choose(t, "dbname", o->db, o->given.db);
    if (password)
        set_keyword(t, "password", password);
    set_given(t, "password", o->password);
    set_given(t, "options", o->options);
    secure(t, o);
    // Values are UTF-8, independent of the database's encoding.
    if (find_keyword(t, "client_encoding") < 0 && !getenv("PGCLIENTENCODING"))
        set_keyword(t, "client_encoding", "UTF8");
    set_keyword(t, "fallback_application_name", "sysbench");
}

static bool pg_is_name(const char *s, size_t len)
{
    char text[INET6_ADDRSTRLEN];

    if (len == 0 || s[0] == '/' || s[0] == '@')
        return false;
    if (len >= sizeof(text))
        return true;
    memcpy(text, s, len);
    text[len] = '\0';
    return !sb_sock_is_numeric(text);
}

enum pgsql_names pgsql_target_names(const struct pgsql_target *t)
{
    int host = find_keyword(t, "host"), address = find_keyword(t, "hostaddr");
    bool some = false;
    const char *p;

    if (address >= 0 && t->value[address][0])
        return PGSQL_NO_NAME;
    if (host < 0)
        return PGSQL_NAMES; // of a service or the environment
    p = t->value[host];
    for (;;) {
        size_t len = strcspn(p, ",");

        some = some || pg_is_name(p, len);
        if (!p[len])
            break;
        p += len + 1;
    }
    if (!some)
        return PGSQL_NO_NAME;
    return strchr(t->value[host], ',') ? PGSQL_NAMES : PGSQL_ONE_NAME;
}

// Environment ----------------------------------------------------------------

// libpq would quote an invalid address in the error of each connection. If it
// is a URL, this would show the password.
static int check_places(const struct pgsql_opts *o, struct sb_err *err)
{
    for (size_t i = 0; i < o->host.count; i++) {
        if (!pgsql_is_host(o->host.item[i], strlen(o->host.item[i])))
            return sb_err_set(err, SB_EUSAGE,
                "--pgsql-host: a host must not contain '@' or ':' (for ports, "
                "use --pgsql-port; for URLs, --pgsql-conninfo)");
    }
    if (strstr(o->db, "://"))
        return sb_err_set(err, SB_EUSAGE,
            "--pgsql-db requires the name of a database (for URLs, use "
            "--pgsql-conninfo)");
    return 0;
}

bool pgsql_has_setting(const char *keyword)
{
    PQconninfoOption *all = PQconndefaults();
    bool found = false;

    for (PQconninfoOption *i = all; i && i->keyword && !found; i++)
        found = strcmp(i->keyword, keyword) == 0;
    PQconninfoFree(all);
    return found;
}

// Checked at run time, because the installed libpq may differ from the one at
// build time. A libpq that ignores the setting must not be used.
static int check_auth(const struct pgsql_opts *o, struct sb_err *err)
{
    int v = PQlibVersion();

    if (!o->require_auth[0] || pgsql_has_setting("require_auth"))
        return 0;
    return sb_err_set(err, SB_EUSAGE,
        "--pgsql-require-auth needs libpq 16 or newer, this is libpq %d.%d",
        v / 10000, v % 10000);
}

int pgsql_env_init(
    struct sb_driver_env *env, const void *opts, struct sb_err *err)
{
    struct pgsql_env *e = calloc(1, sizeof(*e));
    const struct pgsql_opts *o = opts;
    int rc;

    if (!e)
        return sb_err_no_memory(err);
    e->o = o;
    env->shared = e;
    rc = check_places(o, err);
    if (rc == 0)
        rc = check_auth(o, err);
    if (rc == 0 && o->conninfo[0])
        rc = pgsql_conninfo_parse(o->conninfo, &e->conninfo, err);
    if (rc == 0 && o->password_file[0])
        rc = sb_userfile_password(
            "--pgsql-password-file", o->password_file, &e->password, err);
    if (rc == 0 && o->password_command[0] && !o->password[0])
        rc = sb_passcmd_new(
            "--pgsql-password-command", o->password_command, &e->passcmd, err);
    if (rc)
        pgsql_env_done(env);
    return rc;
}

void pgsql_env_done(struct sb_driver_env *env)
{
    struct pgsql_env *e = env->shared;

    if (!e)
        return;
    PQconninfoFree(e->conninfo);
    free(e->password);
    sb_passcmd_free(e->passcmd);
    free(e);
    env->shared = NULL;
}
