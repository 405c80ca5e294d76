// SPDX-License-Identifier: GPL-2.0-or-later
//
// How exactly the percentiles of a run are known. Events of one interval are
// slow together, so a run of n events says less about its percentiles than n
// independent events would. docs/internals/validity.md describes the method.
// Pure; one thread.
#ifndef SB_TAILS_H
#define SB_TAILS_H

#include <stddef.h>

#include "measure/hist.h"

#define SB_TAILS_MAX 32

struct sb_tails { // {0}: none
    unsigned n;
    double pct[SB_TAILS_MAX];
    struct sb_hist_snap sum; // of the intervals so far
    // Of each interval, the share of its events that took longer than the
    // percentile of all intervals up to it, and the number of its events.
    double *share[SB_TAILS_MAX];
    double *events;
    size_t intervals, capacity;
};

// A percentile, in ns.
struct sb_tail {
    double value;
    double low, high; // its confidence interval; NaN: unknown, the intervals
                      // are too few for their correlation
    double beyond;    // number of events that took longer
    double effective; // number of independent events that would say as much;
                      // NaN: unknown
};

// pct: n percentiles, at most SB_TAILS_MAX, above 0 and below 100.
void sb_tails_init(struct sb_tails *t, const double *pct, unsigned n);
void sb_tails_done(struct sb_tails *t);
// Adds an interval. 0 or SB_ENOMEM; *t is then unchanged but for its sum.
int sb_tails_add(struct sb_tails *t, const struct sb_hist_snap *interval);
// Estimates percentile number i of the events in `whole`, whose maximum is
// max. confidence: 0.95.
void sb_tails_estimate(const struct sb_tails *t, unsigned i,
    const struct sb_hist_snap *whole, uint64_t max, double confidence,
    struct sb_tail *out);

#endif
