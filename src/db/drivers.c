// SPDX-License-Identifier: GPL-2.0-or-later
#include <assert.h>
#include <dirent.h>
#include <stdlib.h>

#include "base/near.h"
#include "base/opts.h"
#include "db/internal.h"
#include "db/op.h"
#include "db/texts.h"
#include "loop/helper.h"
#include "loop/io.h"

static void host_log(int level, const char *text)
{
    sb_log(level, "%s", text);
}

struct sb_drivers *sb_drivers_new(
    const char *dir, struct sb_opts *o, const struct sb_db_opts *opts)
{
    struct sb_drivers *d = calloc(1, sizeof(*d));

    if (!d)
        return NULL;
    d->dir = dir;
    d->o = o;
    d->opts = opts;
    d->host = (struct sb_host){ .abi = SB_DRIVER_ABI,
        .log = host_log,
        .wait = sb_io_wait,
        .exchange = sb_io_exchange,
        .sleep = sb_io_sleep,
        .apart = sb_helper_run,
        .shared = sb_helper_shared };
    sb__own_host(&d->host);
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->feed_lock, NULL);
    sb__slots_init(&d->slots);
    return d;
}

// Each connection has a reference to its instance, and has been freed.
static void db_free(struct sb_db *db)
{
    assert(db->base.refs == 0);
    sb__insts_free(db);
    sb__inst_done(&db->base);
    free(db->base.opts);
    sb__module_close(db);
}

void sb_drivers_free(struct sb_drivers *d)
{
    if (!d)
        return;
    while (d->dbs) {
        struct sb_db *db = d->dbs;

        d->dbs = db->next;
        db_free(db);
    }
    sb__idle_done(d);
    sb__texts_free(d->texts);
    pthread_mutex_destroy(&d->lock);
    pthread_mutex_destroy(&d->feed_lock);
    sb__slots_done(&d->slots);
    free(d);
}

static struct sb_db *db_find(const struct sb_drivers *d, const char *name)
{
    struct sb_db *db = d->dbs;

    while (db && strcmp(db->drv->name, name) != 0)
        db = db->next;
    return db;
}

void sb_drivers_keep_texts(struct sb_drivers *d)
{
    if (!d->texts)
        d->texts = sb__texts_new();
}

const char *sb_drivers_operation(
    struct sb_drivers *d, const char *driver, const char *sql, size_t len)
{
    const struct sb_db *db = db_find(d, driver);

    return db ? sb__texts_find(
                    d->texts, sql, len, db->drv->scan, sb__op_word(sql, len))
              : NULL;
}

bool sb_drivers_prepared(struct sb_drivers *d, const char *operation)
{
    return sb__texts_prepared(d->texts, operation);
}

static int db_options(
    struct sb_drivers *d, struct sb_db *db, struct sb_err *err)
{
    size_t size = db->drv->opts_size;

    db->owner = d;
    db->base.db = db;
    db->base.opts = calloc(1, size ? size : 1);
    if (!db->base.opts)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    if (!db->drv->opts)
        return 0;
    return sb_opts_add(d->o, db->drv->opts, db->base.opts, err);
}

// Names of the modules in the folder -----------------------------------------

struct names {
    char **name;
    size_t n;
};

static void names_done(struct names *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->name[i]);
    free(l->name);
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), n = strlen(end);

    return len > n && strcmp(text + len - n, end) == 0;
}

// Cuts "sqlite.so" to the name of the driver; NULL for other files, including
// "sqlite-options.so".
static const char *module_name(char *file)
{
    if (!ends_with(file, ".so") || ends_with(file, "-options.so"))
        return NULL;
    file[strlen(file) - strlen(".so")] = '\0';
    return file;
}

static int names_add(struct names *l, const char *name)
{
    char **p = realloc(l->name, (l->n + 1) * sizeof(*p));

    if (!p)
        return SB_ENOMEM;
    l->name = p;
    p[l->n] = strdup(name);
    if (!p[l->n])
        return SB_ENOMEM;
    l->n++;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// A folder that cannot be read has no modules.
static int names_read(struct names *l, const char *dir)
{
    DIR *f = opendir(dir);
    struct dirent *e;
    int rc = 0;

    *l = (struct names){ 0 };
    while (f && rc == 0 && (e = readdir(f)) != NULL) {
        const char *name = module_name(e->d_name);

        if (name)
            rc = names_add(l, name);
    }
    if (f)
        closedir(f);
    if (l->n)
        qsort(l->name, l->n, sizeof(*l->name), by_name);
    return rc;
}

// True if the driver's name or a word of its title begins with the name, in any
// case: "pg", "postgres" and "PostgreSQL and compatible servers".
static bool is_called(const char *dir, const char *driver, const char *name)
{
    struct sb_err ignored = { 0 };
    struct sb_db *db;
    size_t len = strlen(name);
    bool found = false;

    if (len > 1 && strncasecmp(driver, name, len) == 0)
        return true;
    if (len < 3 || sb__module_open(dir, driver, &db, &ignored))
        return false;
    for (const char *p = db->drv->title; *p && !found; p++)
        found = (p == db->drv->title || p[-1] == ' ') &&
                strncasecmp(p, name, len) == 0;
    db_free(db);
    return found;
}

// True if the driver was built together with this program and has a package of
// its own, as all except SQLite's have because of their client libraries.
static bool is_packaged(const char *name)
{
    char word[34];

    if (!*name || strchr(name, ' ') || strlen(name) > sizeof(word) - 3)
        return false;
    snprintf(word, sizeof(word), " %s ", name);
    return strstr(SB_DRIVERS, word) != NULL;
}

// Sets the error for a missing driver, with a list of the existing ones.
static int no_driver(
    const struct sb_drivers *d, const char *name, struct sb_err *err)
{
    struct names l;
    struct sb_near near;
    char list[200] = "", hint[100] = "";

    names_read(&l, d->dir);
    sb_near_init(&near, name);
    for (size_t i = 0; i < l.n; i++) {
        size_t len = strlen(list);

        snprintf(
            list + len, sizeof(list) - len, "%s%s", i ? ", " : "", l.name[i]);
        sb_near_try(&near, l.name[i]);
    }
    for (size_t i = 0; i < l.n && !near.best; i++)
        if (is_called(d->dir, l.name[i], name))
            near.best = l.name[i];
    if (is_packaged(name))
        snprintf(hint, sizeof(hint), " (package sysbench-%s)", name);
    else if (near.best)
        snprintf(hint, sizeof(hint), " (did you mean %.64s?)", near.best);
    names_done(&l);
    return sb_err_set(err, SB_ENOTFOUND,
        "there is no driver '%.64s'%s in %.160s; drivers: %s", SB_SHOWN(name),
        hint, d->dir, list[0] ? list : "none");
}

// Gets a driver; loads its module if necessary. d->lock is held.
static int db_load(struct sb_drivers *d, const char *name, struct sb_db **out,
    struct sb_err *err)
{
    struct sb_db **end = &d->dbs, *db = db_find(d, name);
    int rc;

    *out = db;
    if (db)
        return 0;
    rc = sb__module_open(d->dir, name, &db, err);
    if (rc)
        return rc == SB_ENOTFOUND ? no_driver(d, name, err) : rc;
    rc = db_options(d, db, err);
    if (rc) {
        db_free(db);
        return rc;
    }
    assert(!db->next && db->owner == d);
    while (*end)
        end = &(*end)->next;
    *end = *out = db;
    return 0;
}

// Choice -----------------------------------------------------------------

struct given {
    const char *driver;
    bool found;
    bool plain; // found in a setting that is not a component's own
};

// A setting "mysql-host" selects the driver whose name begins with "mysql".
static int see_setting(void *arg, const char *name, const char *value,
    enum sb_opt_source source, const char *origin)
{
    struct given *g = arg;
    const char *dot = strchr(name, '.');
    const char *option = dot ? dot + 1 : name;
    size_t n = strcspn(option, "-_");

    // Prefixes with fewer letters are too common to identify a driver.
    if (n >= 4 && option[n] && strncmp(g->driver, option, n) == 0) {
        g->found = true;
        g->plain = !dot;
    }
    return g->plain;
}

static int claim_given(
    struct sb_drivers *d, const char *name, struct sb_err *err)
{
    struct given g = { .driver = name };
    struct sb_db *db;
    int rc;

    sb_opts_unclaimed(d->o, see_setting, &g);
    if (!g.found)
        return 0;
    rc = db_load(d, name, &db, err);
    if (rc == 0)
        db->given = g.plain;
    return rc;
}

static bool wants_list(const struct sb_drivers *d)
{
    return strcmp(d->opts->driver, "help") == 0;
}

int sb_drivers_claim(struct sb_drivers *d, struct sb_err *err)
{
    struct names l;
    struct sb_db *db;
    int rc = names_read(&l, d->dir);

    pthread_mutex_lock(&d->lock);
    if (rc)
        sb_err_set(err, rc, "out of memory");
    else
        rc = sb__ignore_check(&d->opts->ignore_errors, err);
    for (size_t i = 0; rc == 0 && i < l.n; i++)
        rc = claim_given(d, l.name[i], err);
    if (rc == 0 && d->opts->driver[0] && !wants_list(d))
        rc = db_load(d, d->opts->driver, &db, err);
    pthread_mutex_unlock(&d->lock);
    names_done(&l);
    return rc;
}

// Logs once which driver was chosen and why. d->lock is held.
static void notice(struct sb_drivers *d, const char *name, const char *why)
{
    if (!d->noticed)
        sb_log(SB_LOG_NOTICE, "Using the %s driver, because %s.", name, why);
    d->noticed = true;
}

static bool is_fallback(const struct sb_drivers *d, const char *name)
{
    void *module;
    const struct sb_driver_options *o = sb__options_open(d->dir, name, &module);
    bool yes = o && o->fallback;

    sb__options_close(module);
    return yes;
}

// Finds the driver for users who choose none. Only modules with options are
// opened for this, because those of drivers need client libraries. d->lock is
// held.
static int load_fallback(
    struct sb_drivers *d, struct sb_db **out, struct sb_err *err)
{
    struct names l;
    size_t i = 0;
    int rc = names_read(&l, d->dir);

    while (rc == 0 && i < l.n && !is_fallback(d, l.name[i]))
        i++;
    if (rc) {
        sb_err_set(err, rc, "out of memory");
    } else if (i == l.n) {
        rc = sb_err_set(err, SB_ENOTFOUND,
            "neither --db-driver nor options of a driver were given, and there "
            "is no default driver in %.160s; choose one with --db-driver "
            "(--db-driver=help lists them)",
            d->dir);
    } else {
        notice(d, l.name[i],
            "neither --db-driver nor options of a driver were given");
        rc = db_load(d, l.name[i], &d->fallback, err);
    }
    names_done(&l);
    *out = d->fallback;
    return rc;
}

// d->lock is held.
static int choose(struct sb_drivers *d, struct sb_db **out, struct sb_err *err)
{
    struct sb_db *db, *only = NULL;

    if (d->opts->driver[0])
        return db_load(d, d->opts->driver, out, err);
    for (db = d->dbs; db; db = db->next) {
        if (db->given && only)
            return sb_err_set(err, SB_EUSAGE,
                "options of several drivers were given (%s, %s); choose one "
                "with --db-driver",
                only->drv->name, db->drv->name);
        if (db->given)
            only = db;
    }
    if (only) {
        notice(d, only->drv->name, "its options were given");
        *out = only;
        return 0;
    }
    if (d->fallback) {
        *out = d->fallback;
        return 0;
    }
    return load_fallback(d, out, err);
}

int sb_drivers_need(struct sb_drivers *d, const char *name, struct sb_err *err)
{
    struct sb_db *db;

    pthread_mutex_lock(&d->lock);
    int rc = db_load(d, name, &db, err);
    pthread_mutex_unlock(&d->lock);
    return rc;
}

const char *sb_drivers_of(
    const struct sb_drivers *d, const struct sb_opt_table *table)
{
    for (const struct sb_db *db = d->dbs; db; db = db->next)
        if (db->drv->opts == table)
            return db->drv->name;
    return NULL;
}

struct sb_db *sb_db_get(struct sb_db_ctx *ctx, const char *name)
{
    struct sb_drivers *d = ctx->drivers;
    struct sb_db *db = NULL;
    int rc;

    pthread_mutex_lock(&d->lock);
    sb_err_clear(&ctx->err);
    if (!(name && *name) && ctx->own)
        name = ctx->own->driver;
    if (name && *name)
        rc = db_load(d, name, &db, &ctx->err);
    else
        rc = choose(d, &db, &ctx->err);
    pthread_mutex_unlock(&d->lock);
    return rc ? NULL : db;
}

const char *sb_db_error(struct sb_db_ctx *ctx)
{
    return ctx->err.msg;
}

int sb_db_errno(const struct sb_db_ctx *ctx)
{
    return ctx->err.native;
}

const char *sb_db_state(const struct sb_db_ctx *ctx)
{
    return ctx->err.state;
}

const char *sb_db_name(const struct sb_db *db)
{
    return db->drv->name;
}

const char *sb_db_dialect(const struct sb_db *db)
{
    return db->drv->dialect ? db->drv->dialect : "";
}

const struct sb_driver *sb_db_driver(const struct sb_db *db)
{
    return db->drv;
}

const char *sb_db_file(const struct sb_db *db)
{
    return db->file;
}

uint32_t sb_drivers_loop_users(const struct sb_drivers *d, const char **name)
{
    uint32_t max = 0;

    *name = NULL;
    for (const struct sb_db *db = d->dbs; db; db = db->next) {
        uint32_t n = db->drv->loop_users;

        if (n == 0)
            n = SB_LOOPS_NEVER;
        if (n > max) {
            max = n;
            *name = db->drv->name;
        }
    }
    return max;
}

void sb_drivers_keep_plans(struct sb_drivers *d)
{
    d->plans = true;
}

bool sb_drivers_used(const struct sb_drivers *d)
{
    return atomic_load_explicit(&d->used, memory_order_relaxed);
}

bool sb_drivers_used_sql(const struct sb_drivers *d)
{
    return atomic_load_explicit(&d->used_sql, memory_order_relaxed);
}

bool sb_drivers_used_server(const struct sb_drivers *d)
{
    return atomic_load_explicit(&d->used_server, memory_order_relaxed);
}

bool sb_drivers_piped(const struct sb_drivers *d)
{
    return atomic_load_explicit(&d->piped, memory_order_relaxed);
}

int sb_drivers_each(struct sb_drivers *d,
    int (*visit)(void *arg, const char *name, const struct sb_driver *driver,
        const char *problem),
    void *arg)
{
    struct names l;
    int rc = names_read(&l, d->dir);

    for (size_t i = 0; rc == 0 && i < l.n; i++) {
        struct sb_err err = { 0 };
        struct sb_db *db = NULL;

        pthread_mutex_lock(&d->lock);
        db_load(d, l.name[i], &db, &err);
        pthread_mutex_unlock(&d->lock);
        if (visit)
            rc = visit(
                arg, l.name[i], db ? db->drv : NULL, db ? NULL : err.msg);
    }
    names_done(&l);
    return rc;
}

static int visit_idle(struct sb_drivers *d, const char *name,
    int (*visit)(void *arg, const struct sb_opt_view *view), void *arg,
    struct sb_err *err)
{
    int rc = 0;

    pthread_mutex_lock(&d->lock);
    bool loaded = db_find(d, name) != NULL;
    if (!loaded)
        rc = sb__idle_add(d, name, err);
    pthread_mutex_unlock(&d->lock);
    if (rc || loaded)
        return rc;
    rc = sb__idle_each(d, name, visit, arg);
    return rc ? sb_err_set(err, rc, "out of memory") : 0;
}

int sb_drivers_idle(struct sb_drivers *d,
    int (*visit)(void *arg, const struct sb_opt_view *view), void *arg,
    struct sb_err *err)
{
    struct names l;
    int rc = names_read(&l, d->dir);

    if (rc)
        sb_err_set(err, rc, "out of memory");
    for (size_t i = 0; rc == 0 && i < l.n; i++)
        rc = visit_idle(d, l.name[i], visit, arg, err);
    names_done(&l);
    return rc;
}
