// SPDX-License-Identifier: GPL-2.0-or-later
//
// Steps in a series of results: where its level changed, by how much, and
// whether a new result differs from the level before it. The results may be
// correlated and contain outliers. docs/internals/history.md describes the
// method, its sources, and how often it errs. Pure; any thread.
#ifndef SB_CHANGES_H
#define SB_CHANGES_H

#include <stddef.h>

#define SB_CHANGES_SIDE_MIN 3 // results of each side of a step

struct sb_changes_opts {
    double confidence; // of the intervals, e.g. 0.99
    double resolution; // the standard deviation of results is at least this,
                       // in units of the values; above 0
};

// A difference of two levels, in units of the values.
struct sb_difference {
    double value, low, high; // with its interval; NaN: unknown
};

// A step: the level before it is that of the results up to the last step.
struct sb_change {
    size_t at;            // number of the first result of the new level
    double before, after; // the levels
    struct sb_difference difference; // after - before
};

struct sb_changes {
    struct sb_change *change; // in order
    size_t n;
    size_t first;     // number of the first result of the last level
    size_t results;   // number of all results
    double level;     // the last one
    double deviation; // standard deviation of results around their levels
    double df;        // its degrees of freedom; 0: unknown
    double rho;       // correlation of neighboring results, at least 0
};

// Finds the steps of n finite values. 0 or SB_ENOMEM. Call sb_changes_done() in
// either case.
int sb_changes_find(const double *value, size_t n,
    const struct sb_changes_opts *o, struct sb_changes *c);
void sb_changes_done(struct sb_changes *c); // {0} allowed

// Returns the difference of the next result from the last level, with the
// interval of this difference: it contains 0 with the confidence of the options
// if the level has not changed. NaN: there are too few results.
struct sb_difference sb_changes_next(
    const struct sb_changes *c, double value, const struct sb_changes_opts *o);

#endif
