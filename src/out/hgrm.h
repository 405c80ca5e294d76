// SPDX-License-Identifier: GPL-2.0-or-later
//
// The percentile table of HdrHistogram, which hdr-plot and the HdrHistogram
// plotter draw: value, percentile, number of values up to it.
#ifndef SB_HGRM_H
#define SB_HGRM_H

#include <stdio.h>

#include "measure/hist.h"

// Writes the table of a histogram, values in milliseconds: five rows for each
// halving of the distance to 100 %, then mean, standard deviation, maximum and
// total. All figures come from the buckets: the value of a row is the highest
// one of its bucket, and the mean uses the middles of the buckets. Values have
// three decimals, or more if there are values below 0.1 ms. An empty histogram
// gives a table without rows. 0, or SB_ESYS if a write failed. Flushes the
// stream. One thread at a time.
int sb_hgrm_write(
    FILE *out, const struct sb_hist_snap *hist, struct sb_err *err);

#endif
