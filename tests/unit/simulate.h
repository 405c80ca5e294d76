// SPDX-License-Identifier: GPL-2.0-or-later
//
// Simulated interval values for the tests of statistics: autocorrelated noise
// around a level that may drift. Seeds are fixed.
#ifndef SIMULATE_H
#define SIMULATE_H

#include <math.h>
#include <stddef.h>

#include "kit/rng.h"

enum sim_noise {
    SIM_NORMAL,
    SIM_SKEWED,   // exponential
    SIM_OUTLIERS, // 3 % of the values are 8 standard deviations too low
    SIM_HIDDEN,   // 30 % of the variance is AR(1) with rho 0.95, the rest is
                  // not correlated
};

static inline double sim_normal(struct sb_rng *r)
{
    double radius = sqrt(-2 * log(1 - sb_rng_double(r)));

    return radius * cos(2 * M_PI * sb_rng_double(r));
}

static inline double sim_noise(struct sb_rng *r, enum sim_noise kind)
{
    if (kind == SIM_SKEWED)
        return -log(1 - sb_rng_double(r)) - 1;
    if (kind == SIM_OUTLIERS && sb_rng_double(r) < 0.03)
        return -8;
    return sim_normal(r);
}

static inline void sim_hidden(struct sb_rng *r, double *x, size_t n)
{
    double slow = sim_normal(r);

    for (size_t i = 0; i < n; i++) {
        slow = 0.95 * slow + sqrt(1 - 0.95 * 0.95) * sim_normal(r);
        x[i] = sqrt(0.3) * slow + sqrt(0.7) * sim_normal(r);
    }
}

// AR(1) noise: x[i] = rho x[i - 1] + noise. The standard deviation is 1
// (SIM_OUTLIERS: 1.7). SIM_HIDDEN does not depend on rho.
static inline void sim_ar1(
    struct sb_rng *r, enum sim_noise kind, double rho, double *x, size_t n)
{
    double scale = sqrt(1 - rho * rho), now = sim_normal(r);

    if (kind == SIM_HIDDEN) {
        sim_hidden(r, x, n);
        return;
    }
    for (int i = 0; i < 20; i++)
        now = rho * now + scale * sim_noise(r, kind);
    for (size_t i = 0; i < n; i++)
        x[i] = now = rho * now + scale * sim_noise(r, kind);
}

#endif
