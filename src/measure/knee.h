// SPDX-License-Identifier: GPL-2.0-or-later
//
// The peak and the knee of a sweep: throughput by load (threads, connections).
// docs/internals/knee.md gives the reasons for the method. Pure; any
// thread.
#ifndef SB_KNEE_H
#define SB_KNEE_H

#include <stdbool.h>
#include <stddef.h>

#include "measure/compare.h"

// The runs at one load.
struct sb_load {
    double load;
    const struct sb_mean *run; // throughput of each repeat; NaN: none
    size_t n;
};

struct sb_knee_opts {
    double confidence;    // 0: 0.95
    double share;         // the knee reaches this share of the peak; 0: 0.95
    double run_deviation; // see sb_compare_opts
    bool rounds; // run i of all loads is of the same round: what changed from
                 // round to round cancels out. All have the same n
};

// Indexes of loads. Only valid if sb_knee() returned 0.
struct sb_knee {
    size_t peak; // the highest throughput
    size_t first_like_peak,
        last_like_peak; // the lowest and the highest load
                        // whose throughput cannot be told apart from the peak
    size_t knee;        // the lowest load that reaches the share of the peak
    size_t knee_low;   // the lowest load that may reach it: the interval of its
                       // difference from the peak extends to the share
    size_t knee_high;  // the lowest load that surely reaches it: the whole
                       // interval does. At most the peak
    bool estimated;    // a load has no interval: only estimates compare it with
                       // the peak
    bool resolved;     // a load is lower than the peak. Otherwise all loads may
                       // be equal, and peak and knee say nothing
    bool still_rising; // not estimated, the peak is at the highest load, and
                       // all others are lower: higher loads may reach more
};

// Finds peak and knee of n loads, sorted by load from low to high. to_peak has
// room for n comparisons: to_peak[i] compares the peak (A) with load i (B), and
// its p values are corrected for their number by sb_compare_holm(). The entry
// of the peak itself has no p. A load without an interval is judged by its
// estimate. With rounds, their values are those without the rounds. Loads
// without a throughput above 0 do not count. Returns 0, SB_ENOTFOUND if no load
// counts, or SB_ENOMEM.
int sb_knee(const struct sb_load *load, size_t n, const struct sb_knee_opts *o,
    struct sb_compare *to_peak, struct sb_knee *k);

#endif
