// SPDX-License-Identifier: GPL-2.0-or-later
//
// How even a stretch of a run is: quartiles, the worst interval, the longest
// dip. Pure; any thread.
#ifndef SB_STABILITY_H
#define SB_STABILITY_H

#include <stdbool.h>
#include <stddef.h>

#include "measure/mean.h"

struct sb_stability_opts {
    double from, to; // the stretch, in seconds since the start of the series;
                     // both 0: the last half
    double dip;   // an interval below this fraction of the median is a dip; 0:
                  // 0.5, at most 1
    bool latency; // higher is worse: an interval above median / dip is a dip
};

struct sb_stability {
    double from, to; // the stretch that was used, in seconds
    size_t n;        // number of its intervals with a value
    double q1, median, q3;
    double cv;          // standard deviation / mean; NaN for less than 2
    double worst;       // value of the worst interval
    double worst_at;    // its start, in seconds
    size_t dips;        // number of dips
    double dip_seconds; // length of the longest dip, 0 if there is none
    double dip_at;      // its start; NaN: none
    size_t dip_n;       // number of its intervals
    double dip_worst;   // the worst value in it; NaN: none
    double dip_share;   // share of the stretch's time spent in dips
};

// Computes *out. An interval belongs to the stretch if its middle does.
// Intervals without a value do not count: they neither end a dip nor add to it.
// Neither does a last interval that is shorter than half of the one before,
// because the run ended during it. s->whole is not used. Without values n is
// 0 and the other figures are NaN. Returns 0 or SB_ENOMEM.
int sb_stability(const struct sb_values *s, const struct sb_stability_opts *o,
    struct sb_stability *out);

#endif
