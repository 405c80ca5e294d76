// SPDX-License-Identifier: GPL-2.0-or-later
//
// Instances: a driver with one set of option values. Connections with the same
// option overrides share an instance.
#include <assert.h>
#include <stdlib.h>

#include "base/near.h"
#include "db/internal.h"
#include "db/plans.h"

static void inst_free(struct sb__inst *i)
{
    assert(i->refs == 0);
    sb__inst_done(i);
    free(i->opts);
    free(i->key);
    free(i);
}

void sb__inst_done(struct sb__inst *i)
{
    if (i->ready && i->db->drv->generic->env_done)
        i->db->drv->generic->env_done(&i->env);
    i->ready = false;
    sb__plans_free(atomic_exchange(&i->plans, NULL));
}

static int inst_ready(struct sb__inst *i, struct sb_err *err)
{
    const struct sb_driver *drv = i->db->drv;
    int rc = 0;

    if (i->ready)
        return 0;
    i->env.host = &i->db->owner->host;
    if (drv->generic->env_init)
        rc = drv->generic->env_init(&i->env, i->opts, err);
    i->ready = rc == 0;
    return rc;
}

static bool same_name(const char *option, const char *given)
{
    for (; *option && *given; option++, given++) {
        if (*option != (*given == '_' ? '-' : *given))
            return false;
    }
    return !*option && !*given;
}

const struct sb_opt *sb__opt_find(const struct sb_driver *drv, const char *name)
{
    const struct sb_opt *o = drv->opts ? drv->opts->opts : NULL;

    for (; o && o->name; o++) {
        if (same_name(o->name, name) ||
            same_name(o->name + strcspn(o->name, "-") + 1, name))
            return o->alias_of ? sb__opt_find(drv, o->alias_of) : o;
    }
    return NULL;
}

static int unknown_option(
    const struct sb_driver *drv, const char *name, struct sb_err *err)
{
    const struct sb_opt *o = drv->opts ? drv->opts->opts : NULL;
    struct sb_near near;

    sb_near_init(&near, name);
    for (; o && o->name; o++) {
        sb_near_try(&near, o->name);
        sb_near_try(&near, o->name + strcspn(o->name, "-") + 1);
    }
    if (near.best)
        return sb_err_set(err, SB_EUSAGE,
            "the %s driver has no option '%s'; did you mean '%s'?", drv->name,
            name, near.best);
    return sb_err_set(
        err, SB_EUSAGE, "the %s driver has no option '%s'", drv->name, name);
}

static int override(struct sb__inst *i, const char *const *names,
    const char *const *values, size_t n, struct sb_err *err)
{
    const struct sb_driver *drv = i->db->drv;
    const struct sb_opt *o;
    int rc = 0;

    for (size_t k = 0; rc == 0 && k < n; k++) {
        o = sb__opt_find(drv, names[k]);
        if (o && o->instead_of)
            rc = sb_opts_parse(i->db->owner->o,
                sb__opt_find(drv, o->instead_of), "", i->opts, err);
    }
    for (size_t k = 0; rc == 0 && k < n; k++) {
        o = sb__opt_find(drv, names[k]);
        rc = o ? sb_opts_parse(i->db->owner->o, o, values[k], i->opts, err)
               : unknown_option(drv, names[k], err);
    }
    return rc;
}

static char *make_key(
    const char *const *names, const char *const *values, size_t n)
{
    struct sb_buf b;

    sb_buf_init(&b, 0);
    for (size_t k = 0; k < n; k++)
        sb_buf_addf(&b, "%zu:%s=%zu:%s;", strlen(names[k]), names[k],
            strlen(values[k]), values[k]);
    if (b.failed)
        sb_buf_done(&b);
    return b.data;
}

static struct sb__inst *inst_new(struct sb_db *db)
{
    struct sb__inst *i = calloc(1, sizeof(*i));
    size_t size = db->drv->opts_size ? db->drv->opts_size : 1;

    if (!i)
        return NULL;
    i->db = db;
    i->opts = malloc(size);
    if (!i->opts) {
        free(i);
        return NULL;
    }
    memcpy(i->opts, db->base.opts, size);
    return i;
}

// The lock of struct sb_drivers is held.
static int inst_find(struct sb_db *db, const char *const *names,
    const char *const *values, size_t n, struct sb__inst **out,
    struct sb_err *err)
{
    char *key = make_key(names, values, n);
    struct sb__inst *i = db->more;
    int rc;

    while (key && i && strcmp(i->key, key) != 0)
        i = i->next;
    if (i) {
        free(key);
        *out = i;
        return 0;
    }
    i = key ? inst_new(db) : NULL;
    if (!i) {
        free(key);
        return sb_err_no_memory(err);
    }
    i->key = key;
    rc = override(i, names, values, n, err);
    if (rc == 0)
        rc = inst_ready(i, err);
    if (rc) {
        inst_free(i);
        return rc;
    }
    i->next = db->more;
    db->more = i;
    *out = i;
    return 0;
}

int sb__inst_get(struct sb_db *db, const char *const *names,
    const char *const *values, size_t n, struct sb__inst **out,
    struct sb_err *err)
{
    int rc;

    pthread_mutex_lock(&db->owner->lock);
    *out = &db->base;
    rc = n ? inst_find(db, names, values, n, out, err)
           : inst_ready(&db->base, err);
    if (rc == 0)
        (*out)->refs++;
    else
        *out = NULL;
    pthread_mutex_unlock(&db->owner->lock);
    return rc;
}

void sb__inst_keep(struct sb__inst *i)
{
    pthread_mutex_lock(&i->db->owner->lock);
    i->kept = true;
    pthread_mutex_unlock(&i->db->owner->lock);
}

static bool is_new(
    const struct sb__inst *i, struct sb__inst *const *inst, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        if (inst[k] == i)
            return false;
    }
    return i->ready && atomic_load_explicit(&i->used, memory_order_relaxed);
}

size_t sb__insts_used(
    struct sb_drivers *d, struct sb__inst **inst, size_t n, size_t most)
{
    size_t first = n;

    assert(n <= most);
    pthread_mutex_lock(&d->lock);
    for (struct sb_db *db = d->dbs; db; db = db->next) {
        for (struct sb__inst *i = &db->base; i && n < most;
             i = i == &db->base ? db->more : i->next) {
            if (!is_new(i, inst, n))
                continue;
            i->refs++;
            inst[n++] = i;
        }
    }
    pthread_mutex_unlock(&d->lock);
    return n - first;
}

struct sb__inst *sb__inst_likely(struct sb_drivers *d)
{
    struct sb__inst *inst = NULL;
    struct sb_db *only = NULL;

    if (sb__insts_used(d, &inst, 0, 1) > 0)
        return inst;
    for (struct sb_db *db = d->dbs; db; db = db->next) {
        if (strcmp(db->drv->name, d->opts->driver) == 0 ||
            (db->given && !d->opts->driver[0]))
            only = db;
    }
    if (only)
        sb__inst_get(only, NULL, NULL, 0, &inst, NULL);
    return inst;
}

void sb__insts_free(struct sb_db *db)
{
    while (db->more) {
        struct sb__inst *i = db->more;

        db->more = i->next;
        inst_free(i);
    }
}

// The base instance is not freed before its driver, because its env may hold
// data (an in-memory database) that must survive between two runs.
void sb__inst_put(struct sb__inst *i)
{
    struct sb_db *db = i->db;

    pthread_mutex_lock(&db->owner->lock);
    assert(i->refs > 0);
    if (--i->refs == 0 && i->key && !i->kept) {
        struct sb__inst **p = &db->more;

        while (*p != i)
            p = &(*p)->next;
        *p = i->next;
        inst_free(i);
    }
    pthread_mutex_unlock(&db->owner->lock);
}

// Several databases in one option (--mysql-db=a,b,c): each connection uses the
// next one. The driver only marks the option with SB_OPT_DATABASES; the core
// creates an instance of the driver for each database.

static const struct sb_opt *marked(const struct sb_driver *drv)
{
    const struct sb_opt *o = drv->opts ? drv->opts->opts : NULL;

    while (o && o->name && !(o->flags & SB_OPT_DATABASES))
        o++;
    return o && o->name ? o : NULL;
}

// A list of names separated by commas. Blanks around names and empty names are
// skipped, as in other lists.
struct names {
    const char *next;
};

static bool next_name(struct names *l, const char **name, size_t *len)
{
    do {
        l->next += strspn(l->next, ", \t");
        *name = l->next;
        *len = strcspn(l->next, ",");
        l->next += *len;
        while (*len > 0 && strchr(" \t", (*name)[*len - 1]))
            --*len;
    } while (*len == 0 && *l->next);
    return *len > 0;
}

static uint64_t count_names(const char *text)
{
    struct names l = { text };
    const char *name;
    size_t len;
    uint64_t n = 0;

    while (next_name(&l, &name, &len))
        n++;
    return n;
}

// Returns a copy of the name with this number, from 0.
static char *name_of(const char *text, uint64_t number)
{
    struct names l = { text };
    const char *name = "";
    size_t len = 0;

    do
        next_name(&l, &name, &len);
    while (number-- > 0);
    return strndup(name, len);
}

// Each round of users begins one name later than the previous one. Otherwise
// each host would always get the same database, because hosts are used
// round-robin, too.
static uint64_t in_turn(uint64_t user, uint64_t connection, uint64_t count)
{
    return (user + user / count + connection) % count;
}

// Gets the instance with these overrides and `name` as the value of item `at`;
// at = n appends the item.
static int get_with(struct sb_db *db, const char *const *names,
    const char *const *values, size_t n, size_t at, const char *option,
    const char *name, struct sb__inst **out, struct sb_err *err)
{
    const char **all = calloc(2 * (n + 1), sizeof(*all));
    const char **value = all + n + 1;
    int rc;

    if (!all)
        return sb_err_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        all[i] = names[i];
        value[i] = values[i];
    }
    all[at] = at < n ? names[at] : option;
    value[at] = name;
    rc = sb__inst_get(db, all, value, at < n ? n : n + 1, out, err);
    free(all);
    return rc;
}

int sb__inst_in_turn(struct sb_db_ctx *ctx, struct sb_db *db,
    const char *const *names, const char *const *values, size_t n,
    struct sb__inst **out, struct sb_err *err)
{
    const struct sb_opt *o = marked(db->drv);
    const char *text = o ? sb_db_databases(db) : "";
    uint64_t count;
    size_t at = 0;
    char *name;
    int rc;

    while (o && at < n && sb__opt_find(db->drv, names[at]) != o)
        at++;
    if (at < n)
        text = values[at];
    if (!strchr(text, ','))
        return sb__inst_get(db, names, values, n, out, err);
    count = count_names(text);
    name = name_of(
        text, count > 1 ? in_turn(ctx->user, ctx->turns++, count) : 0);
    if (!name)
        return sb_err_no_memory(err);
    rc = get_with(db, names, values, n, at, o->name, name, out, err);
    free(name);
    if (rc == 0)
        sb__inst_keep(*out);
    return rc;
}

uint64_t sb__inst_databases(const struct sb_db *db)
{
    const char *text = sb_db_databases(db);

    return text ? count_names(text) : 0;
}

const char *sb_db_databases(const struct sb_db *db)
{
    const struct sb_opt *o = marked(db->drv);
    const char *text;

    if (!o)
        return NULL;
    memcpy(&text, (const char *)db->base.opts + o->offset, sizeof(text));
    return text;
}

const char *sb_db_databases_option(const struct sb_db *db)
{
    const struct sb_opt *o = marked(db->drv);

    return o ? o->name : NULL;
}
