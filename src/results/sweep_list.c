// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/sweep_list.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/opts.h"
#include "kit/units.h"

#define ITEM_SIZE 256

// A number with a unit: "64K".
struct quantity {
    double number;
    int decimals; // as written
    char unit[8];
};

static int out_of_memory(struct sb_err *err)
{
    return sb_err_set(err, SB_ENOMEM, "out of memory");
}

static int too_many(const struct sb_sweep_list *l, struct sb_err *err)
{
    return sb_err_set(err, SB_ERANGE,
        "--sweep: %s has too many values; the maximum is %u", l->name,
        SB_SWEEP_VALUES_MAX);
}

static int add_value(
    struct sb_sweep_list *l, const char *value, struct sb_err *err)
{
    for (unsigned i = 0; i < l->n; i++)
        if (strcmp(l->value[i], value) == 0)
            return 0;
    if (l->n == SB_SWEEP_VALUES_MAX)
        return too_many(l, err);
    assert(!l->shown[l->n]); // masked when all values are known
    l->value[l->n] = strdup(value);
    return l->value[l->n++] ? 0 : out_of_memory(err);
}

// Adds a number in plain notation: options of integers accept no exponent. It
// has the decimals of the numbers that it was computed from, without zeros at
// the end.
static int add_number(struct sb_sweep_list *l, double number, int decimals,
    const char *unit, struct sb_err *err)
{
    char text[3 * ITEM_SIZE];
    size_t len = (size_t)snprintf(text, sizeof(text), "%.*f", decimals, number);

    while (decimals > 0 && text[len - 1] == '0')
        len--;
    if (decimals > 0 && text[len - 1] == '.')
        len--;
    snprintf(text + len, sizeof(text) - len, "%s", unit);
    return add_value(l, strcmp(text, "-0") == 0 ? "0" : text, err);
}

// Parses a number and its unit at *p and moves *p after them.
static bool read_quantity(const char **p, struct quantity *q)
{
    const char *digits = *p + (**p == '-' || **p == '+');
    char text[ITEM_SIZE];
    size_t n, unit;

    // strtod() would take the first dot of "4..8".
    n = strspn(digits, "0123456789");
    q->decimals = 0;
    if (digits[n] == '.' && digits[n + 1] != '.') {
        q->decimals = (int)strspn(digits + n + 1, "0123456789");
        n += 1 + (size_t)q->decimals;
    }
    if (n == 0 || (n == 1 && *digits == '.'))
        return false;
    snprintf(text, sizeof(text), "%.*s", (int)(digits + n - *p), *p);
    q->number = strtod(text, NULL);
    for (unit = 0; isalpha((unsigned char)digits[n + unit]); unit++)
        ;
    if (unit >= sizeof(q->unit))
        return false;
    snprintf(q->unit, sizeof(q->unit), "%.*s", (int)unit, digits + n);
    *p = digits + n + unit;
    return true;
}

static int bad_range(const char *item, const char *why, struct sb_err *err)
{
    return sb_err_set(
        err, SB_EUSAGE, "--sweep: '%s' is not a range: %s", item, why);
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int add_doubling(struct sb_sweep_list *l, const char *item,
    const struct quantity *from, const struct quantity *to, struct sb_err *err)
{
    int rc = 0;

    if (!(from->number > 0))
        return bad_range(item,
            "a range that doubles begins above 0; give a step: A..B:STEP", err);
    for (double v = from->number; rc == 0 && v < to->number; v *= 2)
        rc = add_number(l, v, from->decimals, from->unit, err);
    return rc ? rc : add_number(l, to->number, to->decimals, from->unit, err);
}

static int add_steps(struct sb_sweep_list *l, const char *item,
    const struct quantity *from, const struct quantity *to,
    const struct quantity *step, struct sb_err *err)
{
    int decimals = larger(from->decimals, step->decimals), rc = 0;

    if (!(step->number > 0))
        return bad_range(item, "the step must be above 0", err);
    if (from->number + step->number == from->number ||
        to->number - step->number == to->number)
        return bad_range(item, "the step is too small for its numbers", err);
    // A tolerance, so that 0.1..1:0.1 ends with 1.
    double steps = floor((to->number - from->number) / step->number + 1e-9);

    if (!(steps < SB_SWEEP_VALUES_MAX))
        return too_many(l, err);
    for (unsigned i = 0; rc == 0 && i <= (unsigned)steps; i++)
        rc = add_number(
            l, from->number + i * step->number, decimals, from->unit, err);
    return rc;
}

static int add_range(struct sb_sweep_list *l, const char *item, const char *p,
    const struct quantity *from, struct sb_err *err)
{
    struct quantity to, step;

    if (!read_quantity(&p, &to) || (*p && *p != ':'))
        return bad_range(item, "write A..B or A..B:STEP", err);
    if (strcmp(from->unit, to.unit) != 0)
        return bad_range(item, "both ends need the same unit", err);
    if (to.number < from->number)
        return bad_range(item, "the end is below the start", err);
    if (!*p)
        return add_doubling(l, item, from, &to, err);
    p++;
    if (!read_quantity(&p, &step) || *p)
        return bad_range(item, "write A..B or A..B:STEP", err);
    if (*step.unit && strcmp(step.unit, from->unit) != 0)
        return bad_range(item, "the step needs the unit of the ends", err);
    return add_steps(l, item, from, &to, &step, err);
}

static int add_item(
    struct sb_sweep_list *l, const char *item, struct sb_err *err)
{
    const char *p = item;
    struct quantity from;

    if (read_quantity(&p, &from) && strncmp(p, "..", 2) == 0)
        return add_range(l, item, p + 2, &from, err);
    return add_value(l, item, err);
}

// Splits the list at commas. Spaces around items are ignored.
static int add_items(
    struct sb_sweep_list *l, const char *list, struct sb_err *err)
{
    char item[ITEM_SIZE];

    for (const char *p = list;; p++) {
        size_t n;

        p += strspn(p, " \t");
        n = strcspn(p, ",");
        const char *next = p + n;

        while (n > 0 && isspace((unsigned char)p[n - 1]))
            n--;
        if (n == 0)
            return sb_err_set(err, SB_EUSAGE,
                "--sweep: the list of %s has an empty item", l->name);
        if (n >= sizeof(item))
            return sb_err_set(err, SB_EUSAGE,
                "--sweep: a value of %s is too long; the maximum is %zu "
                "characters",
                l->name, sizeof(item) - 1);
        snprintf(item, sizeof(item), "%.*s", (int)n, p);
        int rc = add_item(l, item, err);

        if (rc || !*next)
            return rc;
        p = next;
    }
}

int sb_sweep_list_parse(
    struct sb_sweep_list *l, const char *text, struct sb_err *err)
{
    const char *name = text + strspn(text, "-");
    const char *sign = strchr(name, '=');

    *l = (struct sb_sweep_list){ 0 };
    if (!sign || sign == name)
        return sb_err_set(err, SB_EUSAGE,
            "--sweep: '%s' is not of the form OPTION=VALUE,VALUE,...",
            SB_SHOWN(text));
    if (!sign[1])
        return sb_err_set(err, SB_EUSAGE, "--sweep: %.*s has no values",
            (int)(sign - name), name);
    l->name = strndup(name, (size_t)(sign - name));
    l->value = calloc(SB_SWEEP_VALUES_MAX, sizeof(*l->value));
    l->shown = calloc(SB_SWEEP_VALUES_MAX, sizeof(*l->shown));
    if (!l->name || !l->value || !l->shown)
        return out_of_memory(err);
    for (char *p = l->name; *p; p++)
        *p = *p == '_' ? '-' : *p;
    return add_items(l, sign + 1, err);
}

void sb_sweep_list_done(struct sb_sweep_list *l)
{
    for (unsigned i = 0; i < l->n; i++)
        free(l->value[i]);
    free(l->value);
    free(l->shown);
    free(l->name);
    *l = (struct sb_sweep_list){ 0 };
}

int sb_sweep_number(const char *value, double *number)
{
    int64_t whole;

    if (sb_units_number(value, number) == 0)
        return 0;
    if (sb_units_size(value, &whole) && sb_units_duration(value, 1, &whole))
        return SB_EUSAGE;
    *number = (double)whole;
    return 0;
}
