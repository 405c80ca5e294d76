// SPDX-License-Identifier: GPL-2.0-or-later
//
// Connection parameters: from the driver's options, the connection string, and
// the environment and service files that libpq reads. For their precedence, see
// choose().
#include <stdlib.h>

#include "drivers/pgsql/internal.h"
#include "kit/passcmd.h"
#include "kit/sock.h"
#include "kit/userfile.h"

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
static void choose(
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
        choose(t, "host", host, host_given);
    choose(t, "port", port, o->given.port && o->port.count);
}

static void secure(struct pgsql_target *t, const struct pgsql_opts *o)
{
    choose(t, "sslmode", pgsql_sslmodes[o->sslmode], o->given.sslmode);
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
    choose(t, "user", o->user, o->given.user);
    choose(t, "dbname", o->db, o->given.db);
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

static bool is_name(const char *s, size_t len)
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

        some = some || is_name(p, len);
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
        return pgsql_no_memory(err);
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
