// SPDX-License-Identifier: GPL-2.0-or-later
//
// Comparison of shares (how many events failed, how many lookups found nothing)
// and of rates (errors per event, of which one event may have several).
// docs/internals/compare.md describes the method. Pure; any thread.
#ifndef SB_SHARES_H
#define SB_SHARES_H

#include <stddef.h>

// Occurrences among a number of events, lookups, ...
struct sb_share {
    double n, of;
};

// One side of a comparison. Its parts (runs, or stretches of runs) show how
// much the share varies within the side; their sum need not be `total`. With
// less than two parts, occurrences are assumed to be independent.
struct sb_share_side {
    struct sb_share total;
    const struct sb_share *part;
    size_t nparts;
};

// Returns the two-sided p value of "both sides have the same share": a quasi-
// binomial test, which assumes no less variation than independent occurrences
// have. 1 if nothing or everything occurred on both sides. NaN if a side has
// none of what it counts (`of` is 0).
double sb_share_p(const struct sb_share_side *a, const struct sb_share_side *b);
// The same for rates, which may exceed 1: a quasi-Poisson test. 1 if nothing
// occurred on both sides.
double sb_rate_p(const struct sb_share_side *a, const struct sb_share_side *b);

#endif
