// SPDX-License-Identifier: GPL-2.0-or-later
#include "kit/timedist.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "kit/units.h"

enum time_kind { CONSTANT, UNIFORM, EXPONENTIAL, NORMAL, PARETO };

#define MAX_NS 1e18

static const struct {
    const char *name;
    int args;
} time_kinds[] = {
    [CONSTANT] = { "constant", 1 },
    [UNIFORM] = { "uniform", 2 },
    [EXPONENTIAL] = { "exp", 1 },
    [NORMAL] = { "normal", 2 },
    [PARETO] = { "pareto", 2 },
};

#define TIME_KINDS (sizeof(time_kinds) / sizeof(time_kinds[0]))

// Returns the kind that `text` begins with, or -1. *args is what follows the
// colon.
static int time_kind_find(const char *text, const char **args)
{
    const char *colon = strchr(text, ':');

    *args = text;
    if (!colon)
        return CONSTANT;
    *args = colon + 1;
    for (size_t i = 0; i < TIME_KINDS; i++) {
        const char *name = time_kinds[i].name;

        if (strlen(name) == (size_t)(colon - text) &&
            memcmp(name, text, strlen(name)) == 0)
            return (int)i;
    }
    return -1;
}

static int time_arg(const char *text, bool duration, double *out)
{
    int64_t ns;
    int rc;

    if (!duration)
        return sb_units_double(text, out);
    rc = sb_units_duration(text, INT64_C(1000000000), &ns);
    if (rc == 0)
        *out = (double)ns;
    return rc;
}

static int time_args(const char *args, struct sb_timedist *t)
{
    const char *comma = strchr(args, ',');
    char first[64];
    size_t len = comma ? (size_t)(comma - args) : strlen(args);
    int rc;

    if ((comma != NULL) != (time_kinds[t->kind].args == 2) ||
        len >= sizeof(first))
        return SB_EUSAGE;
    memcpy(first, args, len);
    first[len] = '\0';
    rc = time_arg(first, true, &t->a);
    if (rc == 0 && comma)
        rc = time_arg(comma + 1, t->kind != PARETO, &t->b);
    return rc;
}

static bool time_sane(const struct sb_timedist *t)
{
    if (t->a < 0 || t->b < 0)
        return false;
    if (t->kind == UNIFORM)
        return t->a <= t->b;
    return t->kind != PARETO || t->b > 0;
}

int sb_timedist_parse(
    const char *text, struct sb_timedist *out, struct sb_err *err)
{
    const char *args;
    struct sb_timedist t = { .kind = time_kind_find(text, &args) };
    int rc = t.kind < 0 ? SB_EUSAGE : time_args(args, &t);

    if (rc == 0 && !time_sane(&t))
        rc = SB_ERANGE;
    if (rc)
        return sb_err_set(err, rc,
            "'%s' is not a time distribution (2ms, uniform:1ms,3ms, exp:2ms, "
            "normal:2ms,0.5ms, pareto:1ms,1.5)",
            text);
    if (t.kind == EXPONENTIAL && t.a <= 0)
        t.kind = CONSTANT;
    *out = t;
    return 0;
}

// Returns a number in (0, 1], so that its logarithm is finite.
static double positive(struct sb_rng *r)
{
    return (double)((sb_rng_next(r) >> 11) + 1) * 0x1p-53;
}

double sb_timedist_exponential(struct sb_rng *r, double mean)
{
    return -log(positive(r)) * mean;
}

static double normal(struct sb_rng *r)
{
    double radius = sqrt(-2 * log(positive(r)));

    return radius * cos(2 * 3.14159265358979323846 * sb_rng_double(r));
}

int64_t sb_timedist_draw(const struct sb_timedist *t, struct sb_rng *r)
{
    double ns = t->a;

    assert(ns >= 0 && t->b >= 0);
    switch (t->kind) {
    case UNIFORM:
        ns += (t->b - t->a) * sb_rng_double(r);
        break;
    case EXPONENTIAL:
        ns = sb_timedist_exponential(r, t->a);
        break;
    case NORMAL:
        ns += t->b * normal(r);
        break;
    case PARETO:
        ns *= pow(positive(r), -1 / t->b);
        break;
    default:
        break;
    }
    return (int64_t)nearbyint(fmin(fmax(ns, 0), MAX_NS));
}
