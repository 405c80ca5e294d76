// SPDX-License-Identifier: GPL-2.0-or-later
#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/internal.h"

// Options of drivers that are not loaded. Their values are the defaults,
// because a driver is loaded if one of its options is given.

struct sb__idle {
    struct sb__idle *next;
    char *name; // of the driver
    void *module;
    struct sb_opts *opts; // a registry without settings
    void *values;         // filled by its only table
};

static void idle_free(struct sb__idle *i)
{
    sb_opts_free(i->opts);
    free(i->values);
    sb__options_close(i->module);
    free(i->name);
    free(i);
}

int sb__idle_add(struct sb_drivers *d, const char *name, struct sb_err *err)
{
    const struct sb_driver_options *o;
    struct sb__idle *i = d->idle;
    int rc;

    while (i && strcmp(i->name, name) != 0)
        i = i->next;
    if (i)
        return 0;
    i = calloc(1, sizeof(*i));
    if (!i)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    i->name = strdup(name);
    o = sb__options_open(d->dir, name, &i->module);
    if (!o) {
        idle_free(i);
        return 0;
    }
    i->opts = sb_opts_new();
    i->values = calloc(1, o->opts_size ? o->opts_size : 1);
    rc = i->name && i->opts && i->values
             ? sb_opts_add(i->opts, o->opts, i->values, err)
             : sb_err_set(err, SB_ENOMEM, "out of memory");
    if (rc) {
        idle_free(i);
        return rc;
    }
    i->next = d->idle;
    d->idle = i;
    return 0;
}

void sb__idle_done(struct sb_drivers *d)
{
    while (d->idle) {
        struct sb__idle *i = d->idle;

        d->idle = i->next;
        idle_free(i);
    }
}

int sb__idle_each(const struct sb_drivers *d, const char *name,
    int (*visit)(void *arg, const struct sb_opt_view *view), void *arg)
{
    for (const struct sb__idle *i = d->idle; i; i = i->next)
        if (strcmp(i->name, name) == 0)
            return sb_opts_each(i->opts, visit, arg);
    return 0;
}

// Environment variables for client libraries. A library may read them as soon
// as it is loaded, before a function of its driver can be called. The modules
// with the options of drivers do not need the libraries, so they say which.

#define SUFFIX "-options.so"

static void set_variable(const char *text)
{
    char name[64];
    size_t len = strcspn(text, "=");

    if (text[len] != '=' || len == 0 || len >= sizeof(name))
        return;
    memcpy(name, text, len);
    name[len] = '\0';
    setenv(name, text + len + 1, 0);
}

static void set_variables_of(const char *dir, const char *driver)
{
    void *handle;
    const struct sb_driver_options *o = sb__options_open(dir, driver, &handle);

    for (size_t i = 0; o && o->environment && o->environment[i]; i++)
        set_variable(o->environment[i]);
    sb__options_close(handle);
}

void sb_environ_set(const char *dir)
{
    DIR *modules = opendir(dir);
    struct dirent *e;

    while (modules && (e = readdir(modules)) != NULL) {
        size_t len = strlen(e->d_name);

        if (len <= strlen(SUFFIX) ||
            strcmp(e->d_name + len - strlen(SUFFIX), SUFFIX) != 0)
            continue;
        e->d_name[len - strlen(SUFFIX)] = '\0';
        set_variables_of(dir, e->d_name);
    }
    if (modules)
        closedir(modules);
}

#define CAPS_KNOWN                                                           \
    ((uint64_t)(SB_CAP_ONE_LOADER | SB_CAP_ONE_WRITER |                      \
                SB_CAP_CANCEL_CONNECT | SB_CAP_ONE_COMMIT |                  \
                SB_CAP_TEXT_PIPELINE | SB_CAP_ESCAPED_MARKS |                \
                SB_CAP_UNSIGNED | SB_CAP_NAN | SB_CAP_INFINITY |             \
                SB_CAP_SIGNED_IDS | SB_CAP_EMBEDDED | SB_CAP_CAST_LITERALS | \
                SB_CAP_HUGE_LITERALS | SB_CAP_LOOP | SB_CAP_BULK_BLOCKS |    \
                SB_CAP_BINARY_LITERALS | SB_CAP_PARAM_TYPES | SB_CAP_NO_SQL))

// These functions return the first problem of a driver, or NULL.
static const char *generic_problem(const struct sb_driver *d)
{
    const struct sb_generic_ops *g = d->generic;

    if (!g || !g->connect || !g->disconnect)
        return "the operations connect and disconnect are required";
    if (!g->env_init != !g->env_done)
        return "env_init and env_done must be set together";
    if (d->conn_size == 0)
        return "conn_size is 0";
    if (!d->title)
        return "the title is missing";
    if (d->caps & ~CAPS_KNOWN)
        return "unknown capability bits are set";
    if (d->loop_users && !(d->caps & SB_CAP_LOOP))
        return "loop_users requires SB_CAP_LOOP";
    return NULL;
}

static const char *sql_problem(const struct sb_driver *d)
{
    const struct sb_sql_ops *s = d->sql;

    if (!s)
        return NULL;
    if (!d->dialect)
        return "SQL operations require a dialect";
    if (!s->query || !s->fetch || !s->column || !s->free_result)
        return "the SQL operations query, fetch, column and free_result are "
               "required";
    if (!s->prepare != !s->execute || !s->prepare != !s->close)
        return "prepare, execute and close must be set together";
    if (s->prepare && d->stmt_size == 0)
        return "stmt_size is 0";
    return NULL;
}

static const char *bulk_problem(const struct sb_driver *d)
{
    const struct sb_bulk_ops *b = d->bulk;

    if (b && (!b->begin || !b->rows || !b->end))
        return "the bulk operations begin, rows and end are required";
    if (!b && (d->caps & (SB_CAP_ONE_LOADER | SB_CAP_ONE_WRITER)))
        return "SB_CAP_ONE_LOADER and SB_CAP_ONE_WRITER require bulk "
               "operations";
    if (d->info && (!d->info->server || !d->info->client))
        return "the information operations server and client are required";
    if (d->info && d->info->activity && !d->info->session)
        return "the operation activity requires session";
    return NULL;
}

// True if the name of the driver begins with the prefix of the option: "mysql"
// for "mysql-host", "mongo" for "mongo-url".
static bool own_option(const char *driver, const char *option)
{
    size_t n = strcspn(option, "-");

    return n > 0 && option[n] == '-' && strncmp(driver, option, n) == 0;
}

static const char *opts_problem(
    const char *driver, const struct sb_opt_table *opts, size_t size)
{
    const struct sb_opt *o = opts ? opts->opts : NULL;

    if (opts && (!o || !opts->title))
        return "the option table is incomplete";
    for (; o && o->name; o++) {
        if (!own_option(driver, o->name))
            return "an option does not begin with the driver's name";
        if (!o->alias_of && o->offset >= size)
            return "an option is outside of the options struct (opts_size)";
    }
    return NULL;
}

int sb__driver_check(const struct sb_driver *drv, const char *name,
    const char *file, struct sb_err *err)
{
    const char *problem;

    if (drv->abi != SB_DRIVER_ABI)
        return sb_err_set(err, SB_EDRIVER,
            "driver '%s' (%s) was built for driver interface %u, but this "
            "program requires %u",
            name, file, drv->abi, SB_DRIVER_ABI);
    if (!drv->name || strcmp(drv->name, name) != 0)
        return sb_err_set(err, SB_EDRIVER,
            "driver '%s' (%s) has another name: '%s'", name, file,
            drv->name ? drv->name : "");
    problem = generic_problem(drv);
    if (!problem)
        problem = sql_problem(drv);
    if (!problem)
        problem = bulk_problem(drv);
    if (!problem)
        problem = opts_problem(drv->name, drv->opts, drv->opts_size);
    if (!problem)
        return 0;
    return sb_err_set(
        err, SB_EDRIVER, "driver '%s' (%s): %s", name, file, problem);
}

// Finds in the text of dlerror() the name of a library that is missing, such as
// "libpq.so.5:". Returns the length of the name, or 0 if the text has none.
// *stem is the length of the part before ".so".
static int missing_library(
    const char *text, const char **name, int *stem, const char **version)
{
    for (const char *p = text; *p; p += strspn(p, " ")) {
        size_t len = strcspn(p, " ");
        const char *so = strstr(p, ".so.");

        if (strncmp(p, "lib", 3) == 0 && p[len - 1] == ':' && so &&
            so < p + len) {
            *name = p;
            *stem = (int)(so - p);
            *version = so + strlen(".so.");
            return (int)len - 1;
        }
        p += len;
    }
    return 0;
}

static int not_loaded(
    const struct sb_db *db, const char *name, struct sb_err *err)
{
    const char *text = dlerror(), *library, *version;
    int stem, len = missing_library(text, &library, &stem, &version);

    if (len == 0 || !strstr(text, "No such file"))
        return sb_err_set(err, SB_EDRIVER,
            "driver '%s' (%s) cannot be loaded: %s", name, db->file, text);
    // Debian names packages after libraries, with a hyphen between two numbers.
    return sb_err_set(err, SB_EDRIVER,
        "the driver %s needs the library %.*s, which is not installed; "
        "Debian's package has a name such as %.*s%s%.*s",
        name, len, library, stem, library,
        isdigit((unsigned char)library[stem - 1]) ? "-" : "",
        (int)strcspn(version, ":"), version);
}

static int module_load(struct sb_db *db, const char *name, struct sb_err *err)
{
    if (access(db->file, F_OK) != 0)
        return sb_err_set(err, SB_ENOTFOUND,
            "there is no driver '%s': no file %s", name, db->file);
    // Client libraries are never unloaded: they and their dependencies (such as
    // OpenSSL) keep memory for the whole process, and threads may call them
    // while they end.
    db->handle = dlopen(db->file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!db->handle)
        return not_loaded(db, name, err);
    db->drv = dlsym(db->handle, "sb_driver");
    if (!db->drv)
        return sb_err_set(err, SB_EDRIVER,
            "driver '%s' (%s) does not export sb_driver", name, db->file);
    return sb__driver_check(db->drv, name, db->file, err);
}

static char *module_path(const char *dir, const char *name, const char *suffix)
{
    size_t size = strlen(dir) + strlen(name) + strlen(suffix) + sizeof("/");
    char *file = malloc(size);

    if (file)
        snprintf(file, size, "%s/%s%s", dir, name, suffix);
    return file;
}

int sb__module_open(
    const char *dir, const char *name, struct sb_db **out, struct sb_err *err)
{
    struct sb_db *db = calloc(1, sizeof(*db));
    int rc = SB_ENOMEM;

    *out = NULL;
    if (!db)
        return sb_err_set(err, rc, "out of memory");
    // The name comes from the command line or a script and must not be a path.
    db->file = module_path(dir, name, ".so");
    if (!db->file)
        sb_err_set(err, rc, "out of memory");
    else if (strchr(name, '/') || !*name)
        rc = sb_err_set(err, SB_ENOTFOUND, "there is no driver '%s'", name);
    else
        rc = module_load(db, name, err);
    if (rc)
        sb__module_close(db);
    else
        *out = db;
    return rc;
}

void sb__module_close(struct sb_db *db)
{
    if (!db)
        return;
    // The functions that end instances are in the module.
    assert(!db->more && !db->base.ready);
    if (db->handle)
        dlclose(db->handle);
    free(db->file);
    free(db);
}

static const struct sb_driver_options *options_of(
    void *handle, const char *name)
{
    const struct sb_driver_options *o = dlsym(handle, "sb_driver_options");

    if (!o || o->abi != SB_DRIVER_ABI || !o->name ||
        strcmp(o->name, name) != 0 || !o->opts ||
        opts_problem(name, o->opts, o->opts_size))
        return NULL;
    return o;
}

const struct sb_driver_options *sb__options_open(
    const char *dir, const char *name, void **handle)
{
    char *file = module_path(dir, name, "-options.so");
    const struct sb_driver_options *o = NULL;

    *handle = file && access(file, F_OK) == 0
                  ? dlopen(file, RTLD_NOW | RTLD_LOCAL)
                  : NULL;
    if (*handle)
        o = options_of(*handle, name);
    if (*handle && !o) {
        sb_log(SB_LOG_INFO, "%s is ignored: it belongs to another build", file);
        sb__options_close(*handle);
        *handle = NULL;
    }
    free(file);
    return o;
}

void sb__options_close(void *handle)
{
    if (handle)
        dlclose(handle);
}
