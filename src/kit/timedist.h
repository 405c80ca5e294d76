// SPDX-License-Identifier: GPL-2.0-or-later
//
// A distribution of times as an option value: "2ms" (constant),
// "uniform:1ms,3ms", "exp:2ms" (mean), "normal:2ms,0.5ms" (mean, deviation;
// cut at 0), "pareto:1ms,1.5" (minimum, shape). A number without a unit is in
// seconds. Used by --think-time and --null-latency. Pure.
#ifndef SB_TIMEDIST_H
#define SB_TIMEDIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "kit/rng.h"

struct sb_timedist {
    int kind; // private
    double a, b;
};

// 0, SB_EUSAGE (syntax error) or SB_ERANGE (parameters out of range). On
// failure, *out is unchanged.
int sb_timedist_parse(
    const char *text, struct sb_timedist *out, struct sb_err *err);
// Returns one random time in nanoseconds, from 0 to 10^18.
int64_t sb_timedist_draw(const struct sb_timedist *t, struct sb_rng *r);

static inline bool sb_timedist_is_zero(const struct sb_timedist *t)
{
    return t->kind == 0 && t->a <= 0;
}

// Returns an exponential number with the given mean, > 0.
double sb_timedist_exponential(struct sb_rng *r, double mean);

#endif
