// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/shares.h"

#include <math.h>

#include "measure/student.h"

struct variation {
    double chi2; // Pearson's statistic of the parts
    double df;
};

static void add_parts(struct variation *v, const struct sb_share_side *s)
{
    double n = 0, of = 0;
    size_t used = 0;

    for (size_t i = 0; i < s->nparts; i++) {
        n += s->part[i].n;
        of += s->part[i].of;
        used += s->part[i].of > 0;
    }
    double share = n / of;

    // Without occurrences, the parts cannot differ.
    if (used < 2 || !(share > 0 && share < 1))
        return;
    for (size_t i = 0; i < s->nparts; i++) {
        double expected = share * s->part[i].of;
        double difference = s->part[i].n - expected;

        if (expected > 0)
            v->chi2 += difference * difference / (expected * (1 - share));
    }
    v->df += (double)used - 1;
}

double sb_share_p(const struct sb_share_side *a, const struct sb_share_side *b)
{
    struct sb_share x = a->total, y = b->total;
    double share = (x.n + y.n) / (x.of + y.of);
    struct variation v = { 0, 0 };

    if (!(x.of > 0) || !(y.of > 0))
        return NAN;
    if (!(share > 0 && share < 1))
        return 1;
    add_parts(&v, a);
    add_parts(&v, b);
    double dispersion = v.df > 0 ? v.chi2 / v.df : 1;
    double binomial = share * (1 - share) * (1 / x.of + 1 / y.of);

    // Independent occurrences have a known variance.
    if (dispersion <= 1)
        return sb_student_p(
            (x.n / x.of - y.n / y.of) / sqrt(binomial), INFINITY);
    return sb_student_p(
        (x.n / x.of - y.n / y.of) / sqrt(dispersion * binomial), v.df);
}
