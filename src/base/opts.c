// SPDX-License-Identifier: GPL-2.0-or-later

#include "base/opts.h"

#include <assert.h>
#include <ctype.h>

#include "base/log.h"
#include "base/opts_private.h"
#include "kit/buf.h"

bool sb__opts_same(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        if ((*a == '_' ? '-' : *a) != (*b == '_' ? '-' : *b))
            return false;
    }
    return *a == *b;
}

bool sb__opts_means(const struct sb__opts_setting *s, const char *name)
{
    const char *a = s->name, *b = name;

    if (s->source != SB_SRC_ENV)
        return sb__opts_same(a, b);
    for (; *a && *b; a++, b++) {
        int x = tolower((unsigned char)*a), y = tolower((unsigned char)*b);

        if ((x == '_' ? '-' : x) != (y == '_' ? '-' : y))
            return false;
    }
    return *a == *b;
}

struct sb__opts_decl *sb__opts_lookup(const struct sb_opts *o, const char *name)
{
    for (size_t i = 0; i < o->decls.len; i++) {
        struct sb__opts_decl *d = o->decls.item[i];

        if (sb__opts_same(d->opt->name, name))
            return d;
    }
    return NULL;
}

static struct sb__opts_decl *lookup_setting(
    const struct sb_opts *o, const struct sb__opts_setting *s)
{
    for (size_t i = 0; i < o->decls.len; i++) {
        struct sb__opts_decl *d = o->decls.item[i];

        if (sb__opts_means(s, d->opt->name))
            return d;
    }
    return NULL;
}

// A number as written, on one line, so that a config file can represent it:
// blanks around it are removed, and a line feed before its unit becomes a
// space.
static const char *number_text(struct sb_opts *o, const char *raw)
{
    static const char blanks[] = " \t\r\n";
    size_t len;
    char *text;

    if (!strpbrk(raw, blanks))
        return raw;
    raw += strspn(raw, blanks);
    len = strlen(raw);
    while (len && strchr(blanks, raw[len - 1]))
        len--;
    text = sb__opts_strndup(o, raw, len);
    for (char *p = text; p && *p; p++) {
        if (strchr(blanks, *p))
            *p = ' ';
    }
    return text;
}

// The text of a parsed value, with one spelling for booleans and choices.
// Returns NULL if out of memory.
static const char *value_text(struct sb_opts *o, const struct sb_opt *opt,
    const union sb__opts_value *v, const char *raw)
{
    if (opt->type == SB_OPT_BOOL)
        return v->b ? "on" : "off";
    if (!raw)
        return "";
    assert(opt->type != SB_OPT_ENUM || opt->choices);
    if (opt->type == SB_OPT_ENUM)
        return opt->choices[v->e];
    if (opt->type == SB_OPT_STRING || opt->type == SB_OPT_LIST)
        return raw;
    return number_text(o, raw);
}

int sb__opts_store_text(struct sb_opts *o, struct sb__opts_decl *d,
    const union sb__opts_value *v, const char *raw, enum sb_opt_source source,
    struct sb_err *err)
{
    const char *text = value_text(o, d->opt, v, raw), *shown = NULL;

    assert(!d->alias); // which has no value of its own
    if (text)
        shown = sb__opts_mask(
            o, text, sb__opts_secret(d->opt, d->opt->name, text));
    if (!shown)
        return sb__opts_no_memory(err);
    sb__opts_store(d->opt, v, source > SB_SRC_DEFAULT, d->target);
    d->text = text;
    d->shown = shown;
    return 0;
}

// Stores the default; a NULL default is zero, "" or an empty list.
int sb__opts_store_default(
    struct sb_opts *o, struct sb__opts_decl *d, struct sb_err *err)
{
    union sb__opts_value v = { 0 };
    int rc = 0;

    assert(!d->alias);
    if (d->opt->type == SB_OPT_STRING)
        v.s = "";
    if (d->def)
        rc = sb__opts_value(o, d->opt, d->def, &v, err);
    if (!rc)
        rc = sb__opts_store_text(o, d, &v, d->def, SB_SRC_DEFAULT, err);
    return rc;
}

// One option that is given, or several in one line.
static void log_deprecated(struct sb__opts_decl *const *d, size_t n)
{
    struct sb_buf text = { 0 };

    for (size_t i = 0; i < n; i++) {
        const struct sb_opt *to = d[i]->alias ? d[i]->alias->opt : NULL;

        sb_buf_addf(&text, "%s--%s", i ? ", " : "", d[i]->opt->name);
        sb_buf_addf(&text, n > 1 ? " (use %s%s)" : " is deprecated, use %s%s",
            to ? "--" : "", to ? to->name : d[i]->opt->help);
    }
    if (n > 0 && !text.failed)
        sb_log(SB_LOG_WARNING, "%s%s%s", n > 1 ? "deprecated options: " : "",
            text.data, n > 1 ? "" : " instead");
    sb_buf_done(&text);
}

static int warn_deprecated(struct sb_opts *o, struct sb__opts_decl *d)
{
    if (!(d->opt->flags & SB_OPT_DEPRECATED) || d->warned)
        return 0;
    d->warned = true;
    if (!o->warns)
        return sb__opts_push(o, &o->deprecated, d);
    log_deprecated(&d, 1);
    return 0;
}

void sb_opts_warn(struct sb_opts *o)
{
    o->warns = true;
    log_deprecated(
        (struct sb__opts_decl *const *)o->deprecated.item, o->deprecated.len);
}

static void hide_setting(
    const struct sb__opts_setting *s, const struct sb_opt *opt)
{
    if (s->argv)
        sb__opts_overwrite(
            s->argv, sb__opts_secret(opt, s->name, s->argv) ||
                         (opt && sb__opts_secret(opt, opt->name, s->argv)));
}

// True if the setting overrides the current value of the option. Within one
// source, the option's own name overrides an alias, in either order.
static bool overrides(const struct sb__opts_setting *s,
    const struct sb__opts_decl *d, bool by_alias)
{
    if (s->source != d->source || d->source == SB_SRC_DEFAULT)
        return s->source >= d->source;
    return !by_alias || d->via_alias;
}

static bool allowed(
    const struct sb__opts_setting *s, const struct sb__opts_decl *d)
{
    return s->source == SB_SRC_CMDLINE || s->source == SB_SRC_DEFAULT ||
           !(d->opt->flags & SB_OPT_NOFILE);
}

static void add_origin(struct sb_err *err, const char *origin)
{
    size_t len;

    if (!err || !*origin)
        return;
    len = strlen(err->msg);
    snprintf(err->msg + len, sizeof(err->msg) - len, ", set by %s", origin);
}

// The target option, under the name of the alias.
static struct sb_opt as_target(const struct sb__opts_decl *d)
{
    struct sb_opt opt = d->alias ? *d->alias->opt : *d->opt;

    opt.name = d->opt->name;
    opt.flags |= d->opt->flags;
    return opt;
}

int sb__opts_one_per_line(const struct sb_opts *o,
    const struct sb__opts_setting *s, const struct sb_opt *opt,
    struct sb_err *err)
{
    char name[128];

    if (!s->has_options || (opt->flags & SB_OPT_TEXT))
        return 0;
    for (const char *p = s->value; *p; p++) {
        bool begins = p == s->value ? *p == '-'
                                    : isspace((unsigned char)p[-1]) != 0;
        size_t len;
        const char *at = begins ? sb__opts_option_at(p, &len) : NULL;

        if (at)
            snprintf(name, sizeof(name), "%.*s", (int)len, at);
        if (at && sb__opts_lookup(o, name))
            return sb_err_set(err, SB_EUSAGE,
                "%s: another option follows the value; write one option per "
                "line, or put the value in quotes",
                s->origin);
    }
    return 0;
}

// Applies a setting. A setting that is overridden is parsed as well, so that
// invalid values are reported from every source.
int sb__opts_apply(struct sb_opts *o, struct sb__opts_decl *d,
    struct sb__opts_setting *s, bool common, struct sb_err *err)
{
    struct sb__opts_decl *t = d->alias ? d->alias : d;
    struct sb_opt opt = as_target(d);
    bool weak = t != d || common;
    union sb__opts_value v;
    int rc;

    assert(!t->alias);
    if (!allowed(s, d))
        return 0;
    s->claimed = true;
    if (common)
        opt.name = d->plain;
    hide_setting(s, &opt);
    // An argument that replaces an option exists only on the command line.
    if ((d->alias || s->source == SB_SRC_CMDLINE) && warn_deprecated(o, d))
        return sb__opts_no_memory(err);
    rc = sb__opts_one_per_line(o, s, &opt, err);
    if (rc)
        return rc;
    rc = sb__opts_value(o, &opt, s->value, &v, err);
    if (rc && (opt.flags & SB_OPT_YIELDS)) {
        s->claimed = false; // a script may still declare the option
        return 0;
    }
    if (rc) {
        add_origin(err, s->origin);
        return rc;
    }
    if (!overrides(s, t, weak))
        return 0;
    rc = sb__opts_store_text(
        o, t, &v, s->value ? s->value : "", s->source, err);
    if (rc)
        return rc;
    t->source = s->source;
    t->origin = s->origin;
    t->via_alias = weak;
    if (weak && s->source == SB_SRC_CMDLINE)
        t->origin = opt.name;
    return 0;
}

int sb__opts_add_setting(
    struct sb_opts *o, const struct sb__opts_setting *given, struct sb_err *err)
{
    struct sb__opts_setting *s = sb__opts_alloc(o, sizeof(*s));
    struct sb__opts_decl *d;

    if (!s)
        return sb__opts_no_memory(err);
    *s = *given;
    s->claimed = false;
    s->name = sb__opts_strdup(o, given->name);
    s->origin = sb__opts_strdup(o, given->origin ? given->origin : "");
    s->value = given->value ? sb__opts_strdup(o, given->value) : NULL;
    if (!s->name || !s->origin || (given->value && !s->value))
        return sb__opts_no_memory(err);
    if (sb__opts_push(o, &o->settings, s))
        return sb__opts_no_memory(err);
    // No table has declared it yet, so its name and value decide what is
    // hidden.
    hide_setting(s, NULL);
    d = lookup_setting(o, s);
    return d ? sb__opts_apply(o, d, s, false, err) : 0;
}

void sb__opts_drop(struct sb_opts *o, const struct sb__opts_decl *d)
{
    size_t i = 0;

    while (i < o->decls.len && o->decls.item[i] != d)
        i++;
    assert(i < o->decls.len);
    o->decls.len--;
    memmove(&o->decls.item[i], &o->decls.item[i + 1],
        (o->decls.len - i) * sizeof(o->decls.item[0]));
}

// A script may have declared the option before its table was added: the table
// replaces the declaration and keeps the script's default.
static int replace_script_option(struct sb_opts *o, const struct sb_opt *opt,
    const char **def, struct sb_err *err)
{
    for (size_t i = 0; i < o->decls.len; i++) {
        struct sb__opts_decl *d = o->decls.item[i];

        if (!sb__opts_same(d->opt->name, opt->name))
            continue;
        if (!d->script)
            return sb_err_set(
                err, SB_EINTERNAL, "option '%s' is declared twice", opt->name);
        if (d->def)
            *def = d->def;
        sb__opts_drop(o, d);
        return 0;
    }
    return 0;
}

struct sb__opts_decl *sb__opts_new_decl(struct sb_opts *o,
    const struct sb_opt_table *table, const struct sb_opt *opt, void *target)
{
    struct sb__opts_decl *d = sb__opts_alloc(o, sizeof(*d));

    if (!d || sb__opts_push(o, &o->decls, d))
        return NULL;
    d->table = table;
    d->opt = opt;
    d->target = target;
    d->def = opt->def;
    d->text = d->shown = d->origin = "";
    return d;
}

static int declare(struct sb_opts *o, const struct sb_opt_table *table,
    const struct sb_opt *opt, void *target, struct sb_err *err)
{
    const char *def = opt->alias_of ? NULL : opt->def;
    struct sb__opts_decl *d;
    int rc = replace_script_option(o, opt, &def, err);

    if (rc)
        return rc;
    d = sb__opts_new_decl(o, table, opt, target);
    if (!d)
        return sb__opts_no_memory(err);
    if (opt->alias_of)
        return 0;
    d->def = def;
    rc = sb__opts_store_default(o, d, err);
    if (rc && def == opt->def && err) // the table's fault, not the user's
        err->code = SB_EINTERNAL;
    return rc && def == opt->def ? SB_EINTERNAL : rc;
}

static int link_aliases(
    struct sb_opts *o, const struct sb_opt_table *table, struct sb_err *err)
{
    for (size_t i = 0; i < o->decls.len; i++) {
        struct sb__opts_decl *d = o->decls.item[i], *t;

        if (d->table != table || !d->opt->alias_of)
            continue;
        t = sb__opts_lookup(o, d->opt->alias_of);
        if (!t || t->table != table || t->opt->alias_of ||
            t->opt->type != d->opt->type)
            return sb_err_set(err, SB_EINTERNAL,
                "option '%s' is an alias of '%s', which is not an option of "
                "the "
                "same table and type",
                d->opt->name, d->opt->alias_of);
        d->alias = t;
    }
    return 0;
}

// Applies the weakest source first; within one source in the order given.
int sb__opts_apply_waiting(
    struct sb_opts *o, const struct sb_opt_table *table, struct sb_err *err)
{
    for (int source = SB_SRC_FILE; source <= SB_SRC_CMDLINE; source++) {
        for (size_t i = 0; i < o->settings.len; i++) {
            struct sb__opts_setting *s = o->settings.item[i];
            struct sb__opts_decl *d;
            int rc;

            if ((int)s->source != source)
                continue;
            d = lookup_setting(o, s);
            if (!d || d->table != table)
                continue;
            rc = sb__opts_apply(o, d, s, false, err);
            if (rc)
                return rc;
        }
    }
    return 0;
}

int sb_opts_add(struct sb_opts *o, const struct sb_opt_table *table,
    void *target, struct sb_err *err)
{
    int rc;

    assert(table && table->opts);
    for (const struct sb_opt *opt = table->opts; opt->name; opt++) {
        rc = declare(o, table, opt, target, err);
        if (rc)
            return rc;
    }
    rc = link_aliases(o, table, err);
    return rc ? rc : sb__opts_apply_waiting(o, table, err);
}

int sb_opts_set(struct sb_opts *o, const char *name, const char *value,
    enum sb_opt_source source, struct sb_err *err)
{
    struct sb__opts_setting s = {
        .name = name, .value = value, .source = source
    };

    if (!sb__opts_lookup(o, name))
        return sb_err_set(err, SB_ENOTFOUND, "no such option: --%s", name);
    return sb__opts_add_setting(o, &s, err);
}
