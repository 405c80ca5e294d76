// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/opts.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

#include "base/log.h"
#include "base/opts_private.h"
#include "kit/buf.h"
#include "kit/clock.h"
#include "kit/units.h"

// Memory ----------------------------------------------------------------------

// Whatever is allocated for the registry, arrays included, is freed with it.

struct sb__opts_mem {
    struct sb__opts_mem *next;
    max_align_t data[];
};

struct sb_opts *sb_opts_new(void)
{
    return calloc(1, sizeof(struct sb_opts));
}

void sb_opts_free(struct sb_opts *o)
{
    if (!o)
        return;
    while (o->mem) {
        struct sb__opts_mem *next = o->mem->next;

        free(o->mem);
        o->mem = next;
    }
    free(o);
}

void *sb__opts_alloc(struct sb_opts *o, size_t size)
{
    struct sb__opts_mem *m;

    if (size > SIZE_MAX - sizeof(*m))
        return NULL;
    m = calloc(1, sizeof(*m) + size);
    if (!m)
        return NULL;
    m->next = o->mem;
    o->mem = m;
    return m->data;
}

char *sb__opts_strndup(struct sb_opts *o, const char *text, size_t len)
{
    char *copy = sb__opts_alloc(o, len + 1);

    if (copy)
        memcpy(copy, text, len);
    return copy;
}

char *sb__opts_strdup(struct sb_opts *o, const char *text)
{
    return sb__opts_strndup(o, text, strlen(text));
}

// The array that was too small stays allocated: together, those of a list are
// smaller than its last one.
int sb__opts_push(struct sb_opts *o, struct sb__opts_list *list, void *item)
{
    assert(list->len <= list->cap);
    if (list->len == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 16;
        void **grown = sb__opts_alloc(o, cap * sizeof(*grown));

        if (!grown)
            return SB_ENOMEM;
        if (list->len)
            memcpy(grown, list->item, list->len * sizeof(*grown));
        list->item = grown;
        list->cap = cap;
    }
    list->item[list->len++] = item;
    return 0;
}

int sb__opts_no_memory(struct sb_err *err)
{
    return sb_err_set(err, SB_ENOMEM, "out of memory reading the options");
}

// Values ----------------------------------------------------------------------

// Returns a copy with secret parts, or the whole text, replaced by "***". An
// empty text stays empty. NULL if out of memory.
static const char *opts_mask(struct sb_opts *o, const char *text, bool whole)
{
    const char *shown = NULL;
    struct sb_buf b = { 0 };

    if (!*text)
        return "";
    if (sb__opts_mask_into(&b, text, whole) == 0)
        shown = sb__opts_strdup(o, b.data);
    sb_buf_done(&b);
    return shown;
}

static int invalid(struct sb_opts *o, const struct sb_opt *opt,
    const char *value, int code, const char *why, struct sb_err *err)
{
    bool secret = sb__opts_secret(opt, opt->name, value);
    const char *shown = opts_mask(o, value, secret);

    return sb_err_set(err, code, "Invalid value for the '%s' option: '%s' (%s)",
        opt->name, shown ? shown : "", why);
}

static int parse_bool(const char *value, bool *out)
{
    static const char *const on[] = { "on", "true", "1", "yes" };
    static const char *const off[] = { "off", "false", "0", "no" };

    for (size_t i = 0; i < sizeof(on) / sizeof(on[0]); i++) {
        if (strcasecmp(value, on[i]) == 0) {
            *out = true;
            return 0;
        }
        if (strcasecmp(value, off[i]) == 0) {
            *out = false;
            return 0;
        }
    }
    return SB_EUSAGE;
}

static int parse_enum(
    const struct sb_opt *opt, const char *value, int *out, struct sb_buf *why)
{
    assert(opt->choices);
    for (int i = 0; opt->choices[i]; i++) {
        if (strcasecmp(value, opt->choices[i]) == 0) {
            *out = i;
            return 0;
        }
    }
    sb_buf_adds(why, "must be one of ");
    for (int i = 0; opt->choices[i]; i++)
        sb_buf_addf(why, "%s%s", i ? ", " : "", opt->choices[i]);
    return SB_EUSAGE;
}

// Copies one list item without the spaces around it.
static char *list_item(struct sb_opts *o, const char *text, size_t len)
{
    while (len && isspace((unsigned char)*text)) {
        text++;
        len--;
    }
    while (len && isspace((unsigned char)text[len - 1]))
        len--;
    return sb__opts_strndup(o, text, len);
}

static int parse_list(
    struct sb_opts *o, const char *value, struct sb_opt_list *out)
{
    size_t max = 1, count = 0;
    const char **item;

    for (const char *p = value; *p; p++)
        max += *p == ',';
    item = sb__opts_alloc(o, max * sizeof(*item));
    if (!item)
        return SB_ENOMEM;
    for (const char *p = value;; p++) {
        size_t len = strcspn(p, ",");

        item[count] = list_item(o, p, len);
        if (!item[count])
            return SB_ENOMEM;
        count += item[count][0] != '\0';
        p += len;
        if (!*p)
            break;
    }
    out->item = item;
    out->count = count;
    return 0;
}

static int parse_string(struct sb_opts *o, const struct sb_opt *opt,
    const char *value, const char **out)
{
    bool on;

    if ((opt->flags & SB_OPT_SWITCH) && parse_bool(value, &on) == 0)
        value = on ? "on" : "off";
    *out = sb__opts_strdup(o, value);
    return *out ? 0 : SB_ENOMEM;
}

// SB_OPT_RATE: a number, a percentage above 0 or "max".
static int parse_rate(const char *value, double *out)
{
    double percent;

    if (strcasecmp(value, "max") == 0) {
        *out = INFINITY;
        return 0;
    }
    if (sb_units_parse_percent(value, &percent))
        return sb_units_number(value, out);
    if (percent <= 0)
        return SB_EUSAGE;
    *out = -percent;
    return 0;
}

// The message for a text that is not a value of the type.
static const char *expected_text(const struct sb_opt *opt)
{
    switch (opt->type) {
    case SB_OPT_BOOL:
        return "must be on or off";
    case SB_OPT_INT:
        return "must be a whole number";
    case SB_OPT_SIZE:
        return "must be a size such as 512, 64K or 10M";
    case SB_OPT_DOUBLE:
        return opt->flags & SB_OPT_RATE
                   ? "must be a number, a percentage such as 80%, or max"
                   : "must be a number";
    case SB_OPT_DURATION:
        return "must be a duration such as 10, 250ms or 1h30m";
    default:
        return "";
    }
}

static int parse_typed(struct sb_opts *o, const struct sb_opt *opt,
    const char *value, union sb__opts_value *out, struct sb_buf *why)
{
    switch (opt->type) {
    case SB_OPT_BOOL:
        return parse_bool(value, &out->b);
    case SB_OPT_INT:
        return sb_units_count(value, &out->i);
    case SB_OPT_SIZE:
        return sb_units_size(value, &out->i);
    case SB_OPT_DOUBLE:
        return opt->flags & SB_OPT_RATE ? parse_rate(value, &out->d)
                                        : sb_units_number(value, &out->d);
    case SB_OPT_DURATION:
        return sb_units_duration(value,
            opt->flags & SB_OPT_USEC ? 1000 : (int64_t)SB_SECOND, &out->i);
    case SB_OPT_STRING:
        return parse_string(o, opt, value, &out->s);
    case SB_OPT_LIST:
        return parse_list(o, value, &out->l);
    case SB_OPT_ENUM:
        return parse_enum(opt, value, &out->e, why);
    }
    return SB_EINTERNAL;
}

// Returns the value, written as text, in the unit of min and max; false if
// there are no bounds for it.
static bool bounded_value(const struct sb_opt *opt, const char *text,
    const union sb__opts_value *v, double *out)
{
    switch (opt->type) {
    case SB_OPT_INT:
    case SB_OPT_SIZE:
        *out = (double)v->i;
        return true;
    case SB_OPT_DURATION:
        *out = (double)v->i / SB_SECOND;
        return true;
    case SB_OPT_DOUBLE:
        *out = v->d;
        // Neither "max" nor a percentage: those are stored as other numbers.
        return !(opt->flags & SB_OPT_RATE) || !strpbrk(text, "%xX");
    default:
        return false;
    }
}

static void add_limit(
    const struct sb_opt *opt, double limit, struct sb_buf *why)
{
    char text[64];

    if (opt->type == SB_OPT_SIZE)
        sb_units_format_size((int64_t)limit, text, sizeof(text));
    else if (opt->type == SB_OPT_DURATION)
        sb_units_format_duration(
            (int64_t)(limit * SB_SECOND), text, sizeof(text));
    else if (opt->type == SB_OPT_INT)
        snprintf(text, sizeof(text), "%.0f", limit);
    else
        snprintf(text, sizeof(text), "%g", limit);
    sb_buf_adds(why, text);
}

static int add_minimum(const struct sb_opt *opt, struct sb_buf *why)
{
    sb_buf_adds(why, "the minimum is ");
    add_limit(opt, opt->min, why);
    return SB_ERANGE;
}

static int add_maximum(const struct sb_opt *opt, struct sb_buf *why)
{
    sb_buf_adds(why, "the maximum is ");
    add_limit(opt, opt->max, why);
    return SB_ERANGE;
}

// {.min = 1} without .max leaves max at 0: no maximum.
static bool has_maximum(const struct sb_opt *opt)
{
    return opt->max >= opt->min && (opt->min != 0 || opt->max != 0);
}

// Explains a number that does not fit its C type, or a negative size or
// duration.
static void add_overflow(
    const struct sb_opt *opt, const char *value, struct sb_buf *why)
{
    bool negative = strchr(value, '-');
    bool signless = opt->type == SB_OPT_SIZE || opt->type == SB_OPT_DURATION;

    if (negative && (signless || opt->min != 0 || opt->max != 0))
        add_minimum(opt, why);
    else if (!negative && has_maximum(opt))
        add_maximum(opt, why);
    else
        sb_buf_adds(why, negative ? "it is too small" : "it is too large");
}

static int check_bounds(const struct sb_opt *opt, const char *text,
    const union sb__opts_value *v, struct sb_buf *why)
{
    double got;

    if (!bounded_value(opt, text, v, &got) || (opt->min == 0 && opt->max == 0))
        return 0;
    if (got < opt->min)
        return add_minimum(opt, why);
    if (got > opt->max && has_maximum(opt))
        return add_maximum(opt, why);
    return 0;
}

int sb__opts_value(struct sb_opts *o, const struct sb_opt *opt,
    const char *value, union sb__opts_value *out, struct sb_err *err)
{
    union sb__opts_value v = { 0 };
    bool bare = !value;
    struct sb_buf why;
    int rc;

    if (bare)
        value = opt->type == SB_OPT_BOOL || (opt->flags & SB_OPT_SWITCH) ? "on"
                                                                         : "";
    sb_buf_init(&why, 400);
    rc = parse_typed(o, opt, value, &v, &why);
    if (rc == SB_ENOMEM) {
        sb_err_set(err, rc, "out of memory reading the options");
        goto out;
    }
    if (rc == SB_ERANGE)
        add_overflow(opt, value, &why);
    else if (!rc)
        rc = check_bounds(opt, value, &v, &why);
    if (rc && !why.len)
        sb_buf_adds(&why, expected_text(opt));
    if (rc && bare)
        sb_buf_addf(&why, "; write --%s=...", opt->name);
    if (rc)
        invalid(o, opt, value, rc, why.data, err);
    else
        *out = v;
out:
    sb_buf_done(&why);
    return rc;
}

void sb__opts_store(const struct sb_opt *opt, const union sb__opts_value *value,
    bool given, void *target)
{
    char *at = (char *)target + opt->offset;

    assert(!opt->alias_of); // which has no offset
    if (opt->given)
        memcpy((char *)target + opt->given, &given, sizeof(given));
    switch (opt->type) {
    case SB_OPT_BOOL:
        memcpy(at, &value->b, sizeof(value->b));
        break;
    case SB_OPT_INT:
    case SB_OPT_SIZE:
    case SB_OPT_DURATION:
        memcpy(at, &value->i, sizeof(value->i));
        break;
    case SB_OPT_DOUBLE:
        memcpy(at, &value->d, sizeof(value->d));
        break;
    case SB_OPT_STRING:
        memcpy(at, &value->s, sizeof(value->s));
        break;
    case SB_OPT_LIST:
        memcpy(at, &value->l, sizeof(value->l));
        break;
    case SB_OPT_ENUM:
        memcpy(at, &value->e, sizeof(value->e));
        break;
    }
}

int sb_opts_parse(struct sb_opts *o, const struct sb_opt *opt,
    const char *value, void *target, struct sb_err *err)
{
    union sb__opts_value v;
    int rc;

    if (opt->alias_of)
        return sb_err_set(err, SB_EINTERNAL,
            "option '%s' is an alias and has no value of its own", opt->name);
    rc = sb__opts_value(o, opt, value, &v, err);
    if (!rc)
        sb__opts_store(opt, &v, true, target);
    return rc;
}

const char *sb__opts_option_at(const char *p, size_t *len)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-_.";

    if (strncmp(p, "--", 2) == 0)
        p += 2;
    *len = strspn(p, letters);
    return *len > 0 && p[*len] == '=' ? p : NULL;
}

// Declarations and settings ---------------------------------------------------

bool sb_opts_same_name(const char *a, const char *b)
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
        return sb_opts_same_name(a, b);
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

        if (sb_opts_same_name(d->opt->name, name))
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

// The text of a parsed value, with one spelling for booleans, switches and
// choices.
// Returns NULL if out of memory.
static const char *value_text(struct sb_opts *o, const struct sb_opt *opt,
    const union sb__opts_value *v, const char *raw)
{
    if (opt->type == SB_OPT_BOOL)
        return v->b ? "on" : "off";
    if (!raw)
        return "";
    // The value that an option without one has.
    if (opt->type == SB_OPT_STRING && (opt->flags & SB_OPT_SWITCH))
        return v->s;
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
        shown = opts_mask(o, text, sb__opts_secret(d->opt, d->opt->name, text));
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

        if (!sb_opts_same_name(d->opt->name, opt->name))
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

// Queries ---------------------------------------------------------------------

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

bool sb__opts_not_accepted(
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
            !sb__opts_not_accepted(o, s))
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

        if (s->claimed || sb__opts_not_accepted(o, s))
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
        if (rc == 0 && !sb__opts_not_accepted(o, s))
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
            !sb__opts_not_accepted(o, s))
            rc = visit(arg, s->value ? s->value : "");
    }
    return rc;
}

const char *sb_opts_shown(
    struct sb_opts *o, const char *name, const char *value)
{
    const struct sb__opts_decl *d = sb__opts_lookup(o, name);

    return opts_mask(o, value, sb__opts_secret(d ? d->opt : NULL, name, value));
}

int sb_opts_give(
    struct sb_opts *o, const char *name, const char *value, struct sb_err *err)
{
    const struct sb__opts_setting s = {
        .name = name, .value = value, .source = SB_SRC_CMDLINE
    };

    return sb__opts_add_setting(o, &s, err);
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
