// SPDX-License-Identifier: GPL-2.0-or-later
//
// Histograms for the tests of their files.
#ifndef HISTS_H
#define HISTS_H

#include <stdint.h>

#include "kit/rng.h"
#include "check.h"
#include "measure/hist.h"

static inline void count(struct sb_hist_snap *s, uint64_t ns, uint64_t n)
{
    CHECK_INT(sb_hist_snap_put(s, sb_hist_index(ns), n), 0);
}

// n values from `from` to `to`, spread over the orders of magnitude.
static inline void count_random(
    struct sb_hist_snap *s, struct sb_rng *r, int n, double from, double to)
{
    for (int i = 0; i < n; i++) {
        double share = (double)sb_rng_below(r, 1000000) / 1e6;

        count(s, (uint64_t)(from * pow(to / from, share)), 1);
    }
}

#endif
