// SPDX-License-Identifier: GPL-2.0-or-later
//
// Options that scripts declare at run time.

#include <assert.h>
#include <string.h>

#include "base/opts_private.h"

// Options of scripts are kept separately, so their tables list none.
static const struct sb_opt no_opts[1] = { { .name = NULL } };

struct sb__opts_script *sb__opts_script(
    const struct sb_opts *o, const char *title)
{
    for (size_t i = 0; i < o->scripts.len; i++) {
        struct sb__opts_script *s = o->scripts.item[i];

        if (strcmp(s->table.title, title) == 0)
            return s;
    }
    return NULL;
}

struct sb__opts_script *sb__opts_script_of(struct sb_opts *o, const char *title)
{
    struct sb__opts_script *s = sb__opts_script(o, title);

    if (s)
        return s;
    s = sb__opts_alloc(o, sizeof(*s));
    if (!s)
        return NULL;
    s->table.title = sb__opts_strdup(o, title);
    s->table.opts = no_opts;
    if (!s->table.title || sb__opts_push(o, &o->scripts, s))
        return NULL;
    return s;
}

int sb__opts_new_default(struct sb_opts *o, struct sb__opts_decl *d,
    const char *def, struct sb_err *err)
{
    union sb__opts_value v;
    int rc;

    if (d->alias)
        d = d->alias;
    assert(!d->alias);
    if (!def)
        return 0;
    rc = sb__opts_value(o, d->opt, def, &v, err);
    if (rc)
        return rc;
    d->def = def;
    return d->source == SB_SRC_DEFAULT
               ? sb__opts_store_text(o, d, &v, def, SB_SRC_DEFAULT, err)
               : 0;
}

// Resets the option to its default and leaves its name to a script.
static int yield_to_script(
    struct sb_opts *o, struct sb__opts_decl *d, struct sb_err *err)
{
    sb__opts_drop(o, d);
    return sb__opts_store_default(o, d, err);
}

struct sb_opt *sb__opts_script_opt(struct sb_opts *o, struct sb__opts_script *s,
    const char *name, const char *help, enum sb_opt_type type, const char *def)
{
    struct sb_opt *opt = s ? sb__opts_alloc(o, sizeof(*opt)) : NULL;

    if (!opt)
        return NULL;
    opt->name = sb__opts_strdup(o, name);
    opt->help = sb__opts_strdup(o, help ? help : "");
    opt->type = type;
    opt->flags = sb_opts_secret_name(name) ? SB_OPT_SECRET : 0;
    opt->def = def ? sb__opts_strdup(o, def) : NULL;
    if (!opt->name || !opt->help || (def && !opt->def))
        return NULL;
    return sb__opts_push(o, &s->opts, opt) ? NULL : opt;
}

int sb__opts_declare(struct sb_opts *o, struct sb__opts_script *s,
    const struct sb_opt *opt, struct sb__opts_decl **out, struct sb_err *err)
{
    void *target = sb__opts_alloc(o, sizeof(union sb__opts_value));
    struct sb__opts_decl *d = target
                                  ? sb__opts_new_decl(o, &s->table, opt, target)
                                  : NULL;

    assert(!opt->alias_of);
    *out = d;
    if (!d)
        return sb__opts_no_memory(err);
    d->script = true;
    return sb__opts_store_default(o, d, err);
}

int sb_opts_add_script(struct sb_opts *o, const char *title, const char *name,
    const char *help, enum sb_opt_type type, const char *def_text,
    struct sb_err *err)
{
    struct sb__opts_decl *d = sb__opts_lookup(o, name);
    struct sb__opts_script *s = sb__opts_script_of(o, title);
    struct sb_opt *opt = sb__opts_script_opt(o, s, name, help, type, def_text);
    int rc;

    assert(type != SB_OPT_ENUM);
    if (!opt)
        return sb__opts_no_memory(err);
    rc = d && (d->opt->flags & SB_OPT_YIELDS) ? yield_to_script(o, d, err) : 0;
    if (rc)
        return rc;
    if (d && !(d->opt->flags & SB_OPT_YIELDS))
        return sb__opts_new_default(o, d, opt->def, err);
    rc = sb__opts_declare(o, s, opt, &d, err);
    return rc ? rc : sb__opts_apply_waiting(o, &s->table, err);
}
