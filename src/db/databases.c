// SPDX-License-Identifier: GPL-2.0-or-later
//
// Several databases in one option (--mysql-db=a,b,c): each connection uses the
// next one. The driver only marks the option with SB_OPT_DATABASES; the core
// creates an instance of the driver for each database.
#include <stdlib.h>

#include "db/internal.h"

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

static int no_memory(struct sb_err *err)
{
    return sb_err_set(err, SB_ENOMEM, "out of memory");
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
        return no_memory(err);
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
        return no_memory(err);
    rc = get_with(db, names, values, n, at, o->name, name, out, err);
    free(name);
    if (rc == 0)
        sb__inst_keep(*out);
    return rc;
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
