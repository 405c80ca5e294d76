// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/shares.h"

#include <math.h>
#include <stdbool.h>

#include "measure/student.h"

struct variation {
    double chi2; // Pearson's statistic of the parts
    double df;
};

// The variance of occurrences per expected one, if they are independent.
static double variance(double share, bool rates)
{
    return rates ? 1 : 1 - share;
}

// Whether occurrences can vary: not if there are none, or if there cannot be
// more.
static bool varies(double share, bool rates)
{
    return share > 0 && (rates || share < 1);
}

static void add_parts(
    struct variation *v, const struct sb_share_side *s, bool rates)
{
    double n = 0, of = 0;
    size_t used = 0;

    for (size_t i = 0; i < s->nparts; i++) {
        n += s->part[i].n;
        of += s->part[i].of;
        used += s->part[i].of > 0;
    }
    double share = n / of;

    if (used < 2 || !varies(share, rates))
        return;
    for (size_t i = 0; i < s->nparts; i++) {
        double expected = share * s->part[i].of;
        double difference = s->part[i].n - expected;

        if (expected > 0)
            v->chi2 += difference * difference /
                       (expected * variance(share, rates));
    }
    v->df += (double)used - 1;
}

static double p_of(
    const struct sb_share_side *a, const struct sb_share_side *b, bool rates)
{
    struct sb_share x = a->total, y = b->total;
    double share = (x.n + y.n) / (x.of + y.of);
    struct variation v = { 0, 0 };

    if (!(x.of > 0) || !(y.of > 0))
        return NAN;
    if (!varies(share, rates))
        return 1;
    add_parts(&v, a, rates);
    add_parts(&v, b, rates);
    double dispersion = v.df > 0 ? v.chi2 / v.df : 1;
    double independent = share * variance(share, rates) * (1 / x.of + 1 / y.of);

    // Independent occurrences have a known variance.
    if (dispersion <= 1)
        return sb_student_p(
            (x.n / x.of - y.n / y.of) / sqrt(independent), INFINITY);
    return sb_student_p(
        (x.n / x.of - y.n / y.of) / sqrt(dispersion * independent), v.df);
}

double sb_share_p(const struct sb_share_side *a, const struct sb_share_side *b)
{
    return p_of(a, b, false);
}

double sb_rate_p(const struct sb_share_side *a, const struct sb_share_side *b)
{
    return p_of(a, b, true);
}
