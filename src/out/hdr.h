// SPDX-License-Identifier: GPL-2.0-or-later
//
// Histograms for HdrHistogram's libraries and tools: --report=hdr=FILE, a log
// with the complete latency histogram of each interval, and --report=hgrm=FILE,
// a table of percentiles. The buckets of sb_hist are those of an HdrHistogram
// with three significant digits, so counts are copied and nothing is rounded.
#ifndef SB_HDR_H
#define SB_HDR_H

#include <stdio.h>

#include "kit/buf.h"
#include "measure/hist.h"

// The HdrHistogram that has the buckets of sb_hist: values from 1 ns (and 0) to
// 2^48 - 1 ns, three significant digits, which gives 2,048 sub-buckets in 38
// buckets and SB_HIST_BUCKETS counts.
#define SB_HDR_DIGITS      3
#define SB_HDR_LOWEST      UINT64_C(1)
#define SB_HDR_HIGHEST     ((UINT64_C(1) << (SB_HIST_TOP_BIT + 1)) - 1)
#define SB_HDR_SUB_BUCKETS (2 * SB_HIST_SUB)
#define SB_HDR_BUCKETS     (SB_HIST_TOP_BIT - SB_HIST_SUB_BITS + 1)

struct z_stream_s;

// A writer. One thread at a time. The buffers are kept between intervals.
struct sb_hdr {
    FILE *out; // not owned
    struct z_stream_s *zip;
    struct sb_buf plain, packed, text;
};

// Prepares a writer to out, which may be NULL if only sb_hdr_encode() is used.
// SB_ENOMEM. On failure nothing needs to be freed.
int sb_hdr_init(struct sb_hdr *h, FILE *out, struct sb_err *err);
void sb_hdr_done(struct sb_hdr *h); // does not close out; {0} allowed

// Writes the lines at the head of a log. program: name and version of the
// writer. started: the start of the measured part, seconds since 1970; times of
// intervals are relative to it. 0, or SB_ESYS if a write failed.
int sb_hdr_begin(
    struct sb_hdr *h, const char *program, double started, struct sb_err *err);
// Writes the line of an interval and flushes the stream. tag: an operation, or
// NULL for all events. Readers do not accept spaces, commas and control
// characters in tags, so they are written as '_'. from, seconds: start of the
// interval and its length. 0, SB_ENOMEM, or SB_ESYS if a write failed; then
// the last line may be incomplete, and no more should be written.
int sb_hdr_interval(struct sb_hdr *h, const char *tag, double from,
    double seconds, const struct sb_hist_snap *hist, struct sb_err *err);

// Appends the histogram to out as text: base64 of the compressed V2 encoding of
// HdrHistogram. The result depends on the histogram only. 0 or SB_ENOMEM.
int sb_hdr_encode(
    struct sb_hdr *h, const struct sb_hist_snap *hist, struct sb_buf *out);

// The percentile table of HdrHistogram, which hdr-plot and the HdrHistogram
// plotter draw: value, percentile, number of values up to it.

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
