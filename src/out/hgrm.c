// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/hgrm.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kit/units.h"
#include "out/hdr.h"

#define TICKS    5 // rows for each halving of the distance to 100 %
#define DECIMALS 3

struct table {
    FILE *out;
    int decimals;
    uint64_t total, below; // all values; those up to the current bucket
    double level;          // percentile of the next row
    double last;           // highest value of the current bucket, ms
    double sum, mean, squares;
};

// The distance to the next row halves each time half of the rest is done. The
// rows end when a double has no more digits for the next one.
static void next_level(struct table *t)
{
    double halvings = floor(log(100 / (100 - t->level)) / log(2)) + 1;
    double next = t->level + 100 / (TICKS * exp2(halvings));

    t->level = next > t->level ? next : 100;
}

static void visit_row(void *arg, uint64_t low, uint64_t width, uint64_t count)
{
    struct table *t = arg;

    t->below += count;
    t->last = (double)(low + width - 1) / 1e6;
    double reached = 100 * (double)t->below / (double)t->total;
    while (reached >= t->level && t->level < 100) {
        fprintf(t->out, "%12.*f %2.12f %10" PRIu64 " %14.2f\n", t->decimals,
            t->last, t->level / 100, t->below, 1 / (1 - t->level / 100));
        next_level(t);
        // The last bucket has one row, and the row of 100 %.
        if (t->below == t->total)
            break;
    }
}

// Middle of a bucket in milliseconds, as HdrHistogram computes it.
static double middle(uint64_t low, uint64_t width)
{
    return (double)(low + width / 2) / 1e6;
}

static void visit_sum(void *arg, uint64_t low, uint64_t width, uint64_t count)
{
    struct table *t = arg;

    t->sum += middle(low, width) * (double)count;
}

static void visit_squares(
    void *arg, uint64_t low, uint64_t width, uint64_t count)
{
    struct table *t = arg;
    double d = middle(low, width) - t->mean;

    t->squares += d * d * (double)count;
}

static void footer(struct table *t, const struct sb_hist_snap *hist)
{
    double n = t->total ? (double)t->total : 1;

    sb_hist_snap_each(hist, visit_sum, t);
    t->mean = t->sum / n;
    sb_hist_snap_each(hist, visit_squares, t);
    fprintf(t->out,
        "#[Mean    = %12.*f, StdDeviation   = %12.*f]\n"
        "#[Max     = %12.*f, Total count    = %12" PRIu64 "]\n"
        "#[Buckets = %12u, SubBuckets     = %12u]\n",
        t->decimals, t->mean, t->decimals, sqrt(t->squares / n), t->decimals,
        t->last, t->total, (unsigned)SB_HDR_BUCKETS,
        (unsigned)SB_HDR_SUB_BUCKETS);
}

int sb_hgrm_write(
    FILE *out, const struct sb_hist_snap *hist, struct sb_err *err)
{
    struct table t = { .out = out, .decimals = DECIMALS, .total = hist->total };
    uint64_t min, max;

    if (sb_hist_snap_bounds(hist, &min, &max))
        t.decimals = sb_units_ms_decimals((double)min / 1e6, DECIMALS);
    errno = 0;
    fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount",
        "1/(1-Percentile)");
    sb_hist_snap_each(hist, visit_row, &t);
    assert(t.below == t.total);
    if (t.total)
        fprintf(out, "%12.*f %2.12f %10" PRIu64 "\n", t.decimals, t.last, 1.0,
            t.total);
    footer(&t, hist);
    if (fflush(out) || ferror(out))
        return sb_err_set(err, SB_ESYS, "cannot write the percentile table: %s",
            strerror(errno));
    return 0;
}
