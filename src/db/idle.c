// SPDX-License-Identifier: GPL-2.0-or-later
//
// Options of drivers that are not loaded. Their values are the defaults,
// because a driver is loaded if one of its options is given.
#include <stdlib.h>

#include "db/internal.h"

struct sb__idle {
    struct sb__idle *next;
    void *module;
    struct sb_opts *opts; // a registry without settings
    void *values;         // filled by its only table
};

static void idle_free(struct sb__idle *i)
{
    sb_opts_free(i->opts);
    free(i->values);
    sb__options_close(i->module);
    free(i);
}

int sb__idle_add(struct sb_drivers *d, const char *name, struct sb_err *err)
{
    struct sb__idle *i = calloc(1, sizeof(*i));
    const struct sb_driver_options *o;
    int rc;

    if (!i)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    o = sb__options_open(d->dir, name, &i->module);
    if (!o) {
        idle_free(i);
        return 0;
    }
    i->opts = sb_opts_new();
    i->values = calloc(1, o->opts_size ? o->opts_size : 1);
    rc = i->opts && i->values ? sb_opts_add(i->opts, o->opts, i->values, err)
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

int sb__idle_each(const struct sb_drivers *d,
    int (*visit)(void *arg, const struct sb_opt_view *view), void *arg)
{
    int rc = 0;

    for (const struct sb__idle *i = d->idle; i && rc == 0; i = i->next)
        rc = sb_opts_each(i->opts, visit, arg);
    return rc;
}
