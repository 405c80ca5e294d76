// SPDX-License-Identifier: GPL-2.0-or-later

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <strings.h>

#include "kit/buf.h"
#include "base/opts_private.h"
#include "kit/clock.h"
#include "kit/units.h"

static int invalid(struct sb_opts *o, const struct sb_opt *opt,
    const char *value, int code, const char *why, struct sb_err *err)
{
    bool secret = sb__opts_secret(opt, opt->name, value);
    const char *shown = sb__opts_mask(o, value, secret);

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
