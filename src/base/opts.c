// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/opts.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/near.h"
#include "base/opts_private.h"
#include "kit/buf.h"

// Compares names; '-' and '_' are the same.
static bool opts_same(const char *a, const char *b)
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
        return opts_same(a, b);
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

        if (opts_same(d->opt->name, name))
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

// SB_EUSAGE if the line of the file that sets this option also gives another
// option that is declared by now.
static int opts_one_per_line(const struct sb_opts *o,
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
    rc = opts_one_per_line(o, s, &opt, err);
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

        if (!opts_same(d->opt->name, opt->name))
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

// Sources of settings other than the config file: arguments, environment.

#define ENV_PREFIX "SYSBENCH_"

static int bad_argument(char *arg, const char *why, struct sb_err *err)
{
    int rc = sb_err_set(
        err, SB_EUSAGE, "invalid option: %s (%s)", SB_SHOWN(arg), why);

    sb__opts_overwrite(arg, false);
    return rc;
}

static int read_option(struct sb_opts *o, char *arg, struct sb_err *err)
{
    struct sb__opts_setting s = { .source = SB_SRC_CMDLINE };
    char *equals = strchr(arg, '=');
    size_t len = equals ? (size_t)(equals - arg) : strlen(arg);

    if (len == 2)
        return bad_argument(arg, "a name must follow the dashes", err);
    s.name = sb__opts_strndup(o, arg + 2, len - 2);
    if (!s.name)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    if (equals)
        s.value = s.argv = equals + 1;
    return sb__opts_add_setting(o, &s, err);
}

// before: the argument before this one, as the user gave it.
static int read_argument(
    struct sb_opts *o, const char *before, char *arg, struct sb_err *err)
{
    struct sb__opts_setting help = { .name = "help", .source = SB_SRC_CMDLINE };
    char *copy;

    if (strncmp(arg, "--", 2) == 0)
        return read_option(o, arg, err);
    if (strcmp(arg, "-h") == 0)
        return sb__opts_add_setting(o, &help, err);
    // A password in the syntax of other clients, -pPASSWORD.
    const char *sign = strchr(arg, '='); // not "-percentile=99", but "-pUFc="
    if (arg[0] == '-' && arg[1] == 'p' && (!sign || !sign[1] || sign[1] == '='))
        sb__opts_overwrite(arg + 2, true);
    if (arg[0] == '-' && arg[1])
        return bad_argument(arg, "options begin with two dashes", err);
    copy = sb__opts_strdup(o, arg);
    if (!copy || sb__opts_push(o, &o->positions, copy))
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    // Such an option may have no value, as in "--mysql-password run".
    if (strncmp(before, "--", 2) == 0 && !strchr(before, '=') &&
        sb_opts_secret_name(before + 2)) {
        o->unshown = copy;
        o->unshown_after = before;
    }
    // The syntax of other clients, -p PASSWORD. "-p" was an error, see above.
    if (strcmp(before, "-p") == 0)
        sb__opts_overwrite(arg, true);
    return 0;
}

int sb_opts_argv(struct sb_opts *o, int argc, char **argv, struct sb_err *err)
{
    int rc = 0;

    // Continues after an error, so that no secret stays in the process list
    // while the user reads the message.
    for (int i = 1; i < argc; i++) {
        struct sb_err later;
        int one = read_argument(
            o, i > 1 ? argv[i - 1] : "", argv[i], rc ? &later : err);

        if (!rc)
            rc = one;
    }
    return rc;
}

const char *sb_opts_positional(const struct sb_opts *o, size_t n)
{
    return n < o->positions.len ? o->positions.item[n] : NULL;
}

int sb_opts_unshown(
    const struct sb_opts *o, const char *argument, struct sb_err *err)
{
    const char *name;
    struct sb_opts_unknown u;

    if (!argument || argument != o->unshown)
        return 0;
    name = o->unshown_after + 2;
    snprintf(u.name, sizeof(u.name), "%s", name);
    if (!sb__opts_lookup(o, name))
        sb_opts_unknown(o, name, true, &u);
    bool cut = strcmp(u.name, name) != 0 && u.meant[0];
    return sb_err_set(err, SB_EUSAGE,
        "Unrecognized command line argument after --%s: write --%s%s", u.name,
        cut ? u.meant : u.name, cut ? "" : "=...");
}

// Variables that are read elsewhere and are not options.
static bool is_own_variable(const char *name, size_t len)
{
    static const char *const own[] = { "DRIVER_DIR", "LUA_DIR" };

    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (strlen(own[i]) == len && memcmp(own[i], name, len) == 0)
            return true;
    }
    return false;
}

static int read_variable(
    struct sb_opts *o, const char *var, size_t len, struct sb_err *err)
{
    const size_t skip = sizeof(ENV_PREFIX) - 1;
    struct sb__opts_setting s = { .source = SB_SRC_ENV };
    char *name = sb__opts_strndup(o, var + skip, len - skip);

    if (!name)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    for (char *p = name; *p; p++)
        *p = *p == '_' ? '-' : (char)tolower((unsigned char)*p);
    s.name = name;
    s.value = var + len + 1;
    s.origin = sb__opts_strndup(o, var, len);
    if (!s.origin)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    return sb__opts_add_setting(o, &s, err);
}

int sb_opts_env(struct sb_opts *o, char *const *envp, struct sb_err *err)
{
    const size_t skip = sizeof(ENV_PREFIX) - 1;

    for (; *envp; envp++) {
        const char *equals = strchr(*envp, '=');
        size_t len = equals ? (size_t)(equals - *envp) : 0;
        int rc;

        if (len <= skip || strncmp(*envp, ENV_PREFIX, skip) != 0 ||
            is_own_variable(*envp + skip, len - skip))
            continue;
        rc = read_variable(o, *envp, len, err);
        if (rc)
            return rc;
    }
    return 0;
}

// Sections of config files: settings below [headers] are kept until the
// workload is known.

struct section {
    const char *name;   // text of the header without the brackets
    const char *origin; // "sysbench.cnf:12"
    enum sb_opts_section kind;
    struct sb__opts_list settings; // struct sb__opts_setting *
};

int sb__opts_section(
    struct sb_opts *o, const char *name, const char *origin, struct sb_err *err)
{
    struct section *c = sb__opts_alloc(o, sizeof(*c));

    if (c) {
        c->name = sb__opts_strdup(o, name);
        c->origin = sb__opts_strdup(o, origin);
    }
    if (!c || !c->name || !c->origin || sb__opts_push(o, &o->sections, c))
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    return 0;
}

int sb__opts_add_to_section(
    struct sb_opts *o, const struct sb__opts_setting *given, struct sb_err *err)
{
    struct sb__opts_setting *s = sb__opts_alloc(o, sizeof(*s));
    struct section *c;

    assert(o->sections.len > 0);
    c = o->sections.item[o->sections.len - 1];
    if (s) {
        *s = *given;
        s->name = sb__opts_strdup(o, given->name);
        s->value = given->value ? sb__opts_strdup(o, given->value) : NULL;
        s->origin = sb__opts_strdup(o, given->origin);
    }
    if (!s || !s->name || !s->origin || (given->value && !s->value) ||
        sb__opts_push(o, &c->settings, s))
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    return 0;
}

static int apply_all(
    struct sb_opts *o, const struct section *c, struct sb_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < c->settings.len; i++)
        rc = sb__opts_add_setting(o, c->settings.item[i], err);
    return rc;
}

// Applies the settings of a section to one component of a mix.
static int apply_as(struct sb_opts *o, const struct section *c,
    const char *component, struct sb_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < c->settings.len; i++) {
        struct sb__opts_setting s = *(
            struct sb__opts_setting *)c->settings.item[i];
        struct sb_buf name;

        sb_buf_init(&name, 0);
        sb_buf_addf(&name, "%s.%s", component, s.name);
        s.name = name.data;
        rc = name.failed ? sb_err_set(err, SB_ENOMEM, "out of memory")
                         : sb__opts_add_setting(o, &s, err);
        sb_buf_done(&name);
    }
    return rc;
}

// Applies a section of the workload, or workloads, that run.
static int apply_mine(
    struct sb_opts *o, const struct section *c, struct sb_err *err)
{
    const char *component;
    int rc = 0;

    if (!o->as)
        return apply_all(o, c, err);
    for (unsigned n = 0; rc == 0 && (component = o->as(o->as_arg, c->name, n));
         n++)
        rc = apply_as(o, c, component, err);
    return rc;
}

void sb_opts_sections_as(struct sb_opts *o,
    const char *(*as)(void *arg, const char *section, unsigned n), void *arg)
{
    o->as = as;
    o->as_arg = arg;
}

static int reject_section(const struct section *c, struct sb_err *err)
{
    return sb_err_set(err, SB_EUSAGE, "%s: unknown workload in [%s]", c->origin,
        SB_SHOWN(c->name));
}

int sb_opts_sections(struct sb_opts *o, bool strict,
    enum sb_opts_section (*kind)(void *arg, const char *name), void *arg,
    struct sb_err *err)
{
    int rc = 0;

    for (size_t i = 0; i < o->sections.len; i++) {
        struct section *c = o->sections.item[i];

        c->kind = kind(arg, c->name);
        o->sectioned = o->sectioned || c->kind != SB_SECTION_UNKNOWN;
    }
    o->strict = strict || o->sectioned;
    for (size_t i = 0; rc == 0 && i < o->sections.len; i++) {
        struct section *c = o->sections.item[i];

        if (c->kind == SB_SECTION_UNKNOWN && strict)
            rc = reject_section(c, err);
        else if (c->kind == SB_SECTION_MINE)
            rc = apply_mine(o, c, err);
        else if (!o->sectioned)
            rc = apply_all(o, c, err);
    }
    return rc;
}

// Warns of sections that name no workload.
static void opts_sections_warn(
    const struct sb_opts *o, void (*warn)(const char *text))
{
    char text[512];

    for (size_t i = 0; o->sectioned && i < o->sections.len; i++) {
        const struct section *c = o->sections.item[i];

        if (c->kind != SB_SECTION_UNKNOWN)
            continue;
        snprintf(text, sizeof(text),
            "%s: unknown workload in [%s]; its settings are ignored", c->origin,
            c->name);
        warn(text);
    }
}

// Queries on all options: which were given, which are undeclared, which name
// is similar, and views of options.

#define NAME_MAX_LEN 64 // longer names are not compared

static bool means_prefix(
    const struct sb__opts_setting *s, const char *prefix, bool whole)
{
    struct sb__opts_setting cut = *s;
    char name[NAME_MAX_LEN + 1];
    size_t len = strlen(prefix);

    if (whole)
        return sb__opts_means(s, prefix);
    if (len > NAME_MAX_LEN || strlen(s->name) < len)
        return false;
    memcpy(name, s->name, len);
    name[len] = '\0';
    cut.name = name;
    return sb__opts_means(&cut, prefix);
}

// A setting from a source that the option does not accept counts as not given.
static bool not_accepted(
    const struct sb_opts *o, const struct sb__opts_setting *s)
{
    const struct sb__opts_decl *d;

    if (s->claimed || s->source == SB_SRC_CMDLINE)
        return false;
    for (size_t i = 0; i < o->decls.len; i++) {
        d = o->decls.item[i];
        if (sb__opts_means(s, d->opt->name))
            return d->opt->flags & SB_OPT_NOFILE;
    }
    return false;
}

bool sb_opts_given(const struct sb_opts *o, const char *name, bool prefix)
{
    const struct sb__opts_decl *d = sb__opts_lookup(o, name);

    // The option may have been set by an alias.
    if (d && d->source > SB_SRC_DEFAULT)
        return true;
    for (size_t i = 0; i < o->settings.len; i++) {
        const struct sb__opts_setting *s = o->settings.item[i];

        if (s->source > SB_SRC_DEFAULT && means_prefix(s, name, !prefix) &&
            !not_accepted(o, s))
            return true;
    }
    return false;
}

int sb_opts_unclaimed(const struct sb_opts *o,
    int (*visit)(void *arg, const char *name, const char *value,
        enum sb_opt_source source, const char *origin),
    void *arg)
{
    for (size_t i = 0; i < o->settings.len; i++) {
        const struct sb__opts_setting *s = o->settings.item[i];
        int rc;

        if (s->claimed || not_accepted(o, s))
            continue;
        rc = visit(arg, s->name, s->value, s->source, s->origin);
        if (rc)
            return rc;
    }
    return 0;
}

// The name in the spelling of the tables.
static char *plain_name(const char *name)
{
    char *copy = strdup(name);

    for (char *p = copy; p && *p; p++)
        *p = *p == '_' ? '-' : *p;
    return copy;
}

int sb_opts_settings(const struct sb_opts *o,
    int (*visit)(void *arg, const char *name, const char *value,
        enum sb_opt_source source),
    void *arg)
{
    for (size_t i = 0; i < o->settings.len; i++) {
        const struct sb__opts_setting *s = o->settings.item[i];
        const struct sb__opts_decl *d = sb__opts_lookup(o, s->name);
        const char *value = s->value ? s->value : "";
        char *name = plain_name(s->name);
        struct sb_buf shown = { 0 };
        int rc = sb__opts_mask_into(
            &shown, value, sb__opts_secret(d ? d->opt : NULL, s->name, value));

        if (!name)
            rc = SB_ENOMEM;
        if (rc == 0 && !not_accepted(o, s))
            rc = visit(arg, name, shown.data ? shown.data : "", s->source);
        sb_buf_done(&shown);
        free(name);
        if (rc)
            return rc;
    }
    return 0;
}

int sb_opts_values(const struct sb_opts *o, const char *name,
    enum sb_opt_source source, int (*visit)(void *arg, const char *value),
    void *arg)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < o->settings.len; i++) {
        const struct sb__opts_setting *s = o->settings.item[i];

        if (s->source == source && sb__opts_means(s, name) &&
            !not_accepted(o, s))
            rc = visit(arg, s->value ? s->value : "");
    }
    return rc;
}

const char *sb_opts_shown(
    struct sb_opts *o, const char *name, const char *value)
{
    const struct sb__opts_decl *d = sb__opts_lookup(o, name);

    return sb__opts_mask(
        o, value, sb__opts_secret(d ? d->opt : NULL, name, value));
}

int sb_opts_give(
    struct sb_opts *o, const char *name, const char *value, struct sb_err *err)
{
    const struct sb__opts_setting s = {
        .name = name, .value = value, .source = SB_SRC_CMDLINE
    };

    return sb__opts_add_setting(o, &s, err);
}

const char *sb_opts_nearest(const struct sb_opts *o, const char *name)
{
    struct sb_near n;

    sb_near_init(&n, name);
    for (size_t i = 0; i < o->decls.len; i++)
        sb_near_try(
            &n, ((const struct sb__opts_decl *)o->decls.item[i])->opt->name);
    return n.best;
}

static size_t common_length(const char *name, const char *option)
{
    size_t n = 0;

    while (
        name[n] &&
        (name[n] == '_' ? '-' : tolower((unsigned char)name[n])) == option[n])
        n++;
    return n;
}

// Returns how much of an undeclared name may be shown: the rest may be a
// secret, as in "mysql-passwordPW" and "mysql-pasword:PW". *near: the option
// that is meant, or NULL.
static size_t shown_length(const struct sb_opts *o, const char *name,
    bool has_value, const char **near)
{
    size_t shown = sb__opts_secret_part(name, strlen(name)), most = 0;
    bool begins = false; // with the name of a secret option

    *near = NULL;
    for (size_t i = 0; i < o->decls.len; i++) {
        const struct sb__opts_decl *d = o->decls.item[i];
        size_t same = common_length(name, d->opt->name);

        if (!sb__opts_secret(d->opt, d->opt->name, ""))
            continue;
        bool whole = d->opt->name[same] == '\0';
        // "beside-output" of "--beside-output=1" is another name.
        if (whole && has_value && strchr("-_", name[same]))
            continue;
        begins = begins || whole;
        if (same <= most)
            continue;
        most = same;
        *near = d->opt->name;
    }
    // With a value, the name ends before "=".
    if (!begins && (has_value || shown == 0)) {
        *near = NULL;
        return strlen(name);
    }
    if (most < shown / 2)
        *near = NULL;
    return most > shown ? most : shown;
}

void sb_opts_unknown(const struct sb_opts *o, const char *name, bool has_value,
    struct sb_opts_unknown *u)
{
    const char *near;
    int shown = (int)shown_length(o, name, has_value, &near);
    bool cut = name[shown] != '\0';
    char part[sizeof(u->name)];

    if (!cut || !near)
        near = sb_opts_nearest(o, name);
    snprintf(part, sizeof(part), "%.*s%s", shown, name, cut ? "..." : "");
    sb_opts_show(u->name, sizeof(u->name), part);
    snprintf(u->meant, sizeof(u->meant), "%s%s", near ? near : "",
        near && cut ? "=..." : "");
    for (char *p = u->meant; *p; p++) {
        if (*p == '-' || *p == '_')
            *p = strchr(name, '_') ? '_' : '-';
    }
}

static const char *hint(
    const struct sb_opts_unknown *u, const char *dashes, char *out, size_t size)
{
    out[0] = '\0';
    if (u->meant[0])
        snprintf(out, size, " (did you mean %s%s?)", dashes, u->meant);
    return out;
}

static void describe(const struct sb_opts *o, const struct sb__opts_setting *s,
    char *text, size_t size)
{
    struct sb_opts_unknown u;
    char near[128];

    sb_opts_unknown(o, s->name, s->value != NULL, &u);
    if (s->unshown)
        snprintf(text, size,
            "%s: unknown option; a value must be in the line of its option",
            s->origin);
    else if (not_accepted(o, s))
        snprintf(text, size, "%s: --%s is only accepted on the command line",
            s->origin, s->name);
    else if (s->source == SB_SRC_ENV)
        snprintf(text, size, "%s is not an option%s", s->origin,
            hint(&u, "--", near, sizeof(near)));
    else
        snprintf(text, size, "%s: unknown option '%s'%s", s->origin, u.name,
            hint(&u, "", near, sizeof(near)));
}

static int unknown(
    struct sb_opts *o, const struct sb__opts_setting *s, struct sb_err *err)
{
    const struct sb__opts_decl *d = sb__opts_lookup(o, s->name);
    struct sb_opts_unknown u;
    union sb__opts_value v;
    char text[512];

    if (s->source == SB_SRC_FILE) {
        describe(o, s, text, sizeof(text));
        return sb_err_set(err, SB_EUSAGE, "%s", text);
    }
    // apply() does not report an invalid value of an option that a script may
    // redeclare. No script did, so it is reported now.
    if (d && sb__opts_value(o, d->opt, s->value, &v, err))
        return SB_EUSAGE;
    sb_opts_unknown(o, s->name, s->value != NULL, &u);
    return sb_err_set(err, SB_EUSAGE, "invalid option: --%s%s", u.name,
        hint(&u, "--", text, sizeof(text)));
}

// When a line was applied, the other option in it may not have been declared.
static int check_lines(const struct sb_opts *o, struct sb_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < o->settings.len; i++) {
        const struct sb__opts_setting *s = o->settings.item[i];
        const struct sb__opts_decl *d = sb__opts_lookup(o, s->name);

        if (d && s->claimed)
            rc = opts_one_per_line(o, s, d->opt, err);
    }
    return rc;
}

int sb_opts_check(
    struct sb_opts *o, void (*warn)(const char *text), struct sb_err *err)
{
    const struct sb__opts_setting *first = NULL;
    char text[512];

    for (size_t i = 0; i < o->settings.len; i++) {
        const struct sb__opts_setting *s = o->settings.item[i];

        if (s->claimed)
            continue;
        if (s->source == SB_SRC_CMDLINE ||
            (s->source == SB_SRC_FILE && o->strict)) {
            first = first ? first : s;
        } else if (warn) {
            describe(o, s, text, sizeof(text));
            warn(text);
        }
    }
    if (warn)
        opts_sections_warn(o, warn);
    return first ? unknown(o, first, err) : check_lines(o, err);
}

void sb__opts_view(const struct sb__opts_decl *d, struct sb_opt_view *view)
{
    const struct sb__opts_decl *t = d->alias ? d->alias : d;

    assert(!t->alias && t->shown);
    view->table = d->table;
    view->opt = d->opt;
    view->value = (const char *)t->target + t->opt->offset;
    view->text = t->shown;
    view->source = t->source;
    view->origin = t->origin;
    view->component = d->component;
    view->plain = d->plain ? d->plain : d->opt->name;
}

int sb_opts_each(const struct sb_opts *o,
    int (*visit)(void *arg, const struct sb_opt_view *view), void *arg)
{
    for (size_t i = 0; i < o->decls.len; i++) {
        struct sb_opt_view view;
        int rc;

        sb__opts_view(o->decls.item[i], &view);
        rc = visit(arg, &view);
        if (rc)
            return rc;
    }
    return 0;
}

bool sb_opts_find(
    const struct sb_opts *o, const char *name, struct sb_opt_view *view)
{
    const struct sb__opts_decl *d = sb__opts_lookup(o, name);

    if (d)
        sb__opts_view(d, view);
    return d != NULL;
}
