// SPDX-License-Identifier: GPL-2.0-or-later
//
// Options of drivers that are not loaded. Their values are the defaults,
// because a driver is loaded if one of its options is given.
#include <stdlib.h>

#include "db/internal.h"

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
