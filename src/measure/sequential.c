// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/sequential.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"

// The sum of the values, in units of their standard deviation, is a random
// walk. Its density over the sums at which no look has ended is known at
// points from 0 to `limit`: it is symmetric.
struct density {
    double limit, step;
    size_t intervals; // even
    double *f;        // intervals + 1 values
};

struct sb_sequential {
    double alpha, planned;
    unsigned looks; // levels are known up to this number of values
    double *level;  // by number of values
    struct density density;
};

// Beyond this many standard deviations, the density is 0.
#define FAR 9.0
// Width of an interval of Simpson's rule, in standard deviations of one value:
// the levels are exact to six digits.
#define STEP 0.2

// The share of alpha that is spent after n values.
#define PLANNED_SHARE 0.9

static double spent(const struct sb_sequential *s, unsigned n)
{
    double t = n / s->planned;

    if (n < SB_SEQUENTIAL_FIRST)
        return 0;
    return t <= 1 ? PLANNED_SHARE * t * t : 1 - (1 - PLANNED_SHARE) / (t * t);
}

static double upper_tail(double z)
{
    return erfc(z * M_SQRT1_2) / 2;
}

static double normal_density(double z)
{
    return exp(-z * z / 2) * (M_2_SQRTPI * M_SQRT1_2 / 2);
}

// Simpson's weight of a point, times the step.
static double weight(const struct density *d, size_t i)
{
    double w = i == 0 || i == d->intervals ? 1 : i % 2 ? 4 : 2;

    return w * d->step / 3;
}

// The chance that the walk has not ended, and that the sum is beyond the limit
// one value later.
static double beyond(const struct density *d, double limit)
{
    double sum = 0;

    for (size_t i = 0; i <= d->intervals; i++) {
        double x = (double)i * d->step;

        sum += weight(d, i) * d->f[i] *
               (upper_tail(limit - x) + upper_tail(limit + x));
    }
    return 2 * sum;
}

// Returns the limit that the sum of n values exceeds with this chance.
static double find_limit(const struct density *d, unsigned n, double chance)
{
    double low = 0, high = FAR * sqrt(n);

    for (int i = 0; i < 60; i++) {
        double mid = (low + high) / 2;
        double p = d->f ? beyond(d, mid) : 2 * upper_tail(mid / sqrt(n));

        if (p > chance)
            low = mid;
        else
            high = mid;
    }
    return high;
}

static double density_at(const struct density *d, unsigned n, double y)
{
    double sum = 0;

    if (!d->f)
        return normal_density(y / sqrt(n)) / sqrt(n);
    for (size_t i = 0; i <= d->intervals; i++) {
        double x = (double)i * d->step;

        sum += weight(d, i) * d->f[i] *
               (normal_density(y - x) + normal_density(y + x));
    }
    return sum;
}

// The density of the sum of n values within the limit, from that of one value
// less.
static int advance(struct density *d, unsigned n, double limit)
{
    struct density next = { .limit = limit };

    next.intervals = 2 * (size_t)ceil(limit / (2 * STEP));
    next.step = limit / (double)next.intervals;
    next.f = calloc(next.intervals + 1, sizeof(*next.f));
    if (!next.f)
        return SB_ENOMEM;
    for (size_t i = 0; i <= next.intervals; i++)
        next.f[i] = density_at(d, n, (double)i * next.step);
    free(d->f);
    *d = next;
    return 0;
}

static int look(struct sb_sequential *s)
{
    unsigned n = s->looks + 1;
    double *level = realloc(s->level, (n + 1) * sizeof(*level));

    if (!level)
        return SB_ENOMEM;
    s->level = level;
    level[n] = 0;
    if (n >= SB_SEQUENTIAL_FIRST) {
        double chance = s->alpha * (spent(s, n) - spent(s, n - 1));
        double limit = find_limit(&s->density, n, chance);
        int rc = advance(&s->density, n, limit);

        if (rc)
            return rc;
        level[n] = 2 * upper_tail(limit / sqrt(n));
    }
    s->looks = n;
    return 0;
}

int sb_sequential_new(
    double alpha, unsigned planned, struct sb_sequential **out)
{
    struct sb_sequential *s = calloc(1, sizeof(*s));

    assert(alpha > 0 && alpha < 1 && planned >= SB_SEQUENTIAL_FIRST);
    if (!s)
        return SB_ENOMEM;
    s->alpha = alpha;
    s->planned = planned;
    *out = s;
    return 0;
}

void sb_sequential_free(struct sb_sequential *s)
{
    if (!s)
        return;
    free(s->density.f);
    free(s->level);
    free(s);
}

double sb_sequential_level(struct sb_sequential *s, unsigned n)
{
    while (s->looks < n)
        if (look(s))
            return 0;
    return n < SB_SEQUENTIAL_FIRST ? 0 : s->level[n];
}
