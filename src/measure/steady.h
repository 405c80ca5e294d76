// SPDX-License-Identifier: GPL-2.0-or-later
//
// Whether a figure had one level during a run. docs/internals/validity.md
// describes the method, its source, and how often it errs. Pure; any thread.
#ifndef SB_STEADY_H
#define SB_STEADY_H

#include <stdbool.h>
#include <stddef.h>

#include "measure/mean.h"

#define SB_STEADY_VALUES_MIN 10 // fewer intervals say nothing
#define SB_STEADY_PARTS_MAX  16 // of one run; later changes are not looked for

// Consecutive intervals of one level.
struct sb_steady_part {
    size_t first, end; // the intervals first to end - 1 of the series
    double mean;       // weighted by the lengths of the intervals
};

struct sb_steady {
    size_t nparts; // in order; 0: unknown, too few intervals have a value
    struct sb_steady_part part[SB_STEADY_PARTS_MAX];
    // A line through the last part is significant. drift: its rise during that
    // part, relative to the part's mean; NaN: unknown.
    bool drifts;
    double drift;
};

// Finds the parts of a series; s->whole is not used. The chance that a series
// of one level has several parts is at most 0.5 %, and that it drifts as well,
// also if neighboring values are correlated up to 0.6.
void sb_steady(const struct sb_values *s, struct sb_steady *out);

#endif
