// SPDX-License-Identifier: GPL-2.0-or-later
//
// The mean of a series of interval values and its standard error. The values
// of neighboring intervals may be correlated and may drift during the run.
// docs/internals/compare.md describes the method. Pure; any thread.
#ifndef SB_MEAN_H
#define SB_MEAN_H

#include <stddef.h>

// One figure of one run. The arrays belong to the caller.
struct sb_values {
    const double *value;   // n values, one per interval; NaN: no value
    const double *seconds; // n lengths of the intervals; NULL: all equal
    size_t n;
    double whole; // the figure of the whole run where it is not the mean of
                  // the intervals (a percentile of all events); otherwise NaN
};

// Estimate of the figure. Units are those of the values.
struct sb_mean {
    double value;       // `whole`, or the mean weighted by time; NaN: none
    double error;       // standard error of value; NaN: unknown
    double df;          // degrees of freedom of error; 0: unknown
    size_t n;           // number of intervals with a value
    double effective;   // number of independent values with the same error;
                        // 0: unknown
    double drift;       // rise of the fitted line during the run; NaN: unknown
    double drift_error; // standard error of drift, with df
};

// Computes *m. Intervals without a finite value, and intervals whose length is
// not above 0, do not count. The error is unknown if the series is too short
// for its correlation. If `whole` is given, error and drift are those of the
// intervals' mean, multiplied by whole / mean.
void sb_mean(const struct sb_values *s, struct sb_mean *m);

// Returns half of the confidence interval that misses the mean with this chance
// (0.05), in units of the values; NaN: unknown. The interval is the greater one
// of two: by sb_mean(), and by the means of ten batches of intervals, which
// errs less if the correlation is long. `whole` is not used. *mean: the mean.
double sb_mean_half(const struct sb_values *s, double chance, double *mean);

#endif
