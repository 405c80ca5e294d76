// SPDX-License-Identifier: GPL-2.0-or-later
//
// How a figure of a sweep is printed.
#include <math.h>
#include <stdio.h>

#include "results/sweep_private.h"

#define LARGE        1e15 // beyond that, values are printed as 1.23e+15
#define DECIMALS_MAX 6    // as times in milliseconds: nanoseconds

int sb_sweep_decimals(double value)
{
    int n = 2;

    // Values that round to 1.00 have three digits with two decimals.
    for (double v = value; n < DECIMALS_MAX && v > 0 && v < 0.9995; v *= 10)
        n++;
    return n;
}

const char *sb__sweep_value(char *out, size_t size, double value)
{
    if (isfinite(value) && fabs(value) >= LARGE)
        snprintf(out, size, "%.3g", value);
    else if (isfinite(value))
        snprintf(out, size, "%.*f", sb_sweep_decimals(value), value);
    else
        snprintf(out, size, "-");
    return out;
}
