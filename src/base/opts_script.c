// SPDX-License-Identifier: GPL-2.0-or-later
//
// Options that scripts declare at run time.
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/opts.h"
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

static struct sb__opts_script *opts_script_of(
    struct sb_opts *o, const char *title)
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

// Changes the default of an option of the program. def NULL: no change.
static int opts_new_default(struct sb_opts *o, struct sb__opts_decl *d,
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

// Adds an option to those of a script, without declaring it; copies the texts.
// NULL: out of memory, or s is NULL.
static struct sb_opt *opts_script_opt(struct sb_opts *o,
    struct sb__opts_script *s, const char *name, const char *help,
    enum sb_opt_type type, const char *def)
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

// Declares an option of the script and gives it its default value.
static int opts_declare(struct sb_opts *o, struct sb__opts_script *s,
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
    struct sb__opts_script *s = opts_script_of(o, title);
    struct sb_opt *opt = opts_script_opt(o, s, name, help, type, def_text);
    int rc;

    assert(type != SB_OPT_ENUM);
    if (!opt)
        return sb__opts_no_memory(err);
    rc = d && (d->opt->flags & SB_OPT_YIELDS) ? yield_to_script(o, d, err) : 0;
    if (rc)
        return rc;
    if (d && !(d->opt->flags & SB_OPT_YIELDS))
        return opts_new_default(o, d, opt->def, err);
    rc = opts_declare(o, s, opt, &d, err);
    return rc ? rc : sb__opts_apply_waiting(o, &s->table, err);
}

// Options of the scripts ------------------------------------------------------

static const char *full_name(
    struct sb_opts *o, const char *component, const char *name)
{
    size_t size = strlen(component) + strlen(name) + 2;
    char *full = sb__opts_alloc(o, size);

    if (full)
        snprintf(full, size, "%s.%s", component, name);
    return full;
}

static int set_component(struct sb_opts *o, struct sb__opts_decl *d,
    const char *component, struct sb_err *err)
{
    assert(d->opt->name[strlen(component)] == '.');
    d->component = sb__opts_strdup(o, component);
    d->plain = d->opt->name + strlen(component) + 1;
    return d->component ? 0 : sb__opts_no_memory(err);
}

// Applies what users gave to d: settings of its own name and, if shared, of its
// plain name. The weakest source first, as in sb__opts_apply_waiting().
static int apply_given(
    struct sb_opts *o, struct sb__opts_decl *d, bool shared, struct sb_err *err)
{
    int rc = 0;

    for (int source = SB_SRC_FILE; source <= SB_SRC_CMDLINE; source++) {
        for (size_t i = 0; rc == 0 && i < o->settings.len; i++) {
            struct sb__opts_setting *s = o->settings.item[i];

            if ((int)s->source != source)
                continue;
            if (sb__opts_means(s, d->opt->name))
                rc = sb__opts_apply(o, d, s, false, err);
            else if (shared && sb__opts_means(s, d->plain))
                rc = sb__opts_apply(o, d, s, true, err);
        }
    }
    return rc;
}

int sb_opts_add_component(struct sb_opts *o, const char *title,
    const char *component, const char *name, const char *help,
    enum sb_opt_type type, const char *def_text, struct sb_err *err)
{
    struct sb__opts_decl *core = sb__opts_lookup(o, name), *d;
    struct sb__opts_script *s = opts_script_of(o, title);
    const char *full = full_name(o, component, name);
    struct sb_opt *opt = full
                             ? opts_script_opt(o, s, full, help, type, def_text)
                             : NULL;
    int rc;

    assert(type != SB_OPT_ENUM);
    if (!opt)
        return sb__opts_no_memory(err);
    if (core && !(core->opt->flags & SB_OPT_YIELDS))
        return opts_new_default(o, core, opt->def, err);
    rc = opts_declare(o, s, opt, &d, err);
    if (rc == 0)
        rc = set_component(o, d, component, err);
    return rc ? rc : apply_given(o, d, core == NULL, err);
}

// Copies of options of the program --------------------------------------------

// Returns the setting's name behind "component.", or NULL.
static const char *behind(
    const struct sb__opts_setting *s, const char *component)
{
    size_t len = strlen(component);

    return strncmp(s->name, component, len) == 0 && s->name[len] == '.'
               ? s->name + len + 1
               : NULL;
}

// Declares a copy of an option of the program, which has its value until the
// component's own settings are applied.
static int declare_copy(struct sb_opts *o, const char *title,
    const char *component, const struct sb__opts_decl *from,
    struct sb__opts_decl **out, struct sb_err *err)
{
    struct sb__opts_script *s = opts_script_of(o, title);
    struct sb_opt *opt = s ? sb__opts_alloc(o, sizeof(*opt)) : NULL;
    int rc;

    if (!opt)
        return sb__opts_no_memory(err);
    *opt = *from->opt;
    opt->name = full_name(o, component, from->opt->name);
    opt->offset = opt->given = 0;
    opt->flags &= ~(unsigned)(SB_OPT_YIELDS | SB_OPT_DEPRECATED);
    opt->def = from->text;
    if (!opt->name)
        return sb__opts_no_memory(err);
    rc = opts_declare(o, s, opt, out, err);
    if (rc == 0)
        rc = set_component(o, *out, component, err);
    if (rc)
        return rc;
    (*out)->source = from->source;
    (*out)->origin = from->origin;
    (*out)->via_alias = true;
    return apply_given(o, *out, false, err);
}

static int own_one(struct sb_opts *o, const char *title, const char *component,
    const struct sb__opts_setting *s, const char *name,
    bool (*allowed)(void *arg, const struct sb_opt_view *view), void *arg,
    struct sb_err *err)
{
    struct sb__opts_decl *from = sb__opts_lookup(o, name), *copy;
    struct sb_opt_view view;

    if (!from || from->script)
        return 0; // sb_opts_check() reports it
    if (from->alias)
        from = from->alias;
    assert(!from->alias);
    sb__opts_view(from, &view);
    if (!allowed(arg, &view))
        return sb_err_set(err, SB_EUSAGE,
            "%s%s--%s: --%s applies to all workloads of a mix", s->origin,
            *s->origin ? ": " : "", s->name, from->opt->name);
    return declare_copy(o, title, component, from, &copy, err);
}

int sb_opts_own(struct sb_opts *o, const char *title, const char *component,
    bool (*allowed)(void *arg, const struct sb_opt_view *view), void *arg,
    struct sb_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < o->settings.len; i++) {
        const struct sb__opts_setting *s = o->settings.item[i];
        const char *name = behind(s, component);

        if (name && !s->claimed)
            rc = own_one(o, title, component, s, name, allowed, arg, err);
    }
    return rc;
}

void sb_opts_copy_own(
    const struct sb_opt_view *own, const struct sb_opt *opt, void *target)
{
    sb__opts_store(opt, own->value, true, target);
}

// Scripts without declarations ------------------------------------------------

// True if the program or a driver declares the name.
static bool is_core(const struct sb_opts *o, const struct sb__opts_setting *s)
{
    for (size_t i = 0; i < o->decls.len; i++) {
        const struct sb__opts_decl *d = o->decls.item[i];

        if (!d->script && sb__opts_means(s, d->opt->name))
            return true;
    }
    return false;
}

int sb_opts_undeclared(const struct sb_opts *o, const char *component,
    int (*visit)(void *arg, const char *name, const char *value,
        enum sb_opt_source source, const char *origin),
    void *arg)
{
    for (size_t i = 0; i < o->settings.len; i++) {
        const struct sb__opts_setting *s = o->settings.item[i];
        const char *name = behind(s, component);
        int rc;

        if (!name && !strchr(s->name, '.') && !is_core(o, s))
            name = s->name;
        rc = name ? visit(arg, name, s->value, s->source, s->origin) : 0;
        if (rc)
            return rc;
    }
    return 0;
}
