// SPDX-License-Identifier: GPL-2.0-or-later
//
// Goodness of fit for unit tests. Seeds are fixed, so a test always passes or
// always fails. A correct generator exceeds the bounds with one of 10,000
// seeds.
#ifndef CHECK_STAT_H
#define CHECK_STAT_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define STAT_Z 3.719 // normal quantile of 1 - 1e-4

// Chi-square bound for `df` degrees of freedom (Wilson and Hilferty).
static inline double stat_chi2_bound(double df)
{
    double a = 2 / (9 * df);

    return df * pow(1 - a + STAT_Z * sqrt(a), 3);
}

// Chi-square statistic divided by its bound: at most 1 if `seen` fits `share`
// (shares of n). A cell with an expected count below 10 is merged with the
// next.
static inline double stat_chi2(
    const uint64_t *seen, const double *share, size_t cells, double n)
{
    double sum = 0, want = 0, got = 0;
    size_t used = 0;

    for (size_t i = 0; i < cells; i++) {
        want += share[i] * n;
        got += (double)seen[i];
        if (want < 10 && i + 1 < cells)
            continue;
        if (want > 0)
            sum += (got - want) * (got - want) / want;
        else if (got > 0)
            return INFINITY;
        used++;
        want = got = 0;
    }
    return sum / stat_chi2_bound((double)used - 1);
}

static inline int stat_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

// Kolmogorov-Smirnov distance divided by its bound, 2.23 / sqrt(n). Sorts v.
static inline double stat_ks(
    double *v, size_t n, double (*cdf)(double x, double arg), double arg)
{
    double worst = 0;

    qsort(v, n, sizeof(v[0]), stat_compare);
    for (size_t i = 0; i < n; i++) {
        double f = cdf(v[i], arg);

        worst = fmax(worst, f - (double)i / (double)n);
        worst = fmax(worst, (double)(i + 1) / (double)n - f);
    }
    return worst * sqrt((double)n) / 2.23;
}

// Correlation of v[i] with v[i + lag].
static inline double stat_autocorrelation(const double *v, size_t n, size_t lag)
{
    double mean = 0, var = 0, cov = 0;

    for (size_t i = 0; i < n; i++)
        mean += v[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        var += (v[i] - mean) * (v[i] - mean);
        if (i + lag < n)
            cov += (v[i] - mean) * (v[i + lag] - mean);
    }
    return cov / var;
}

#endif
