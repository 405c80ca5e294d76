// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/text_private.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

#include "kit/units.h"

#define ROWS   1024
#define MIN_MS 0.001
#define MAX_MS 100000.0
#define STARS  40

struct rows {
    uint64_t count[ROWS];
    uint64_t max;
};

// Number of rows per factor of e.
static double rows_per_e(void)
{
    return (ROWS - 1) / (log(MAX_MS) - log(MIN_MS));
}

static double row_value(int row)
{
    return exp(row / rows_per_e() + log(MIN_MS));
}

static int row_of(double ms)
{
    double row;

    if (ms <= MIN_MS)
        return 0;
    row = floor((log(ms) - log(MIN_MS)) * rows_per_e() + 0.5);
    return row < ROWS - 1 ? (int)row : ROWS - 1;
}

// Our buckets are narrower than a row: the middle of a bucket selects its row.
static void count_bucket(
    void *arg, uint64_t low, uint64_t width, uint64_t count)
{
    struct rows *r = arg;
    int i = row_of(((double)low + (double)(width - 1) / 2) / 1e6);

    assert(i >= 0 && i < ROWS);
    r->count[i] += count;
    if (r->count[i] > r->max)
        r->max = r->count[i];
}

void sb__text_hist(const struct sb_hist_snap *h, FILE *out)
{
    static const char stars[] = "****************************************";
    struct rows r = { { 0 }, 0 };

    _Static_assert(sizeof(stars) == STARS + 1, "a full bar");
    sb_hist_snap_each(h, count_bucket, &r);
    fprintf(out, "Latency histogram (values are in milliseconds)\n"
                 "       value  ------------- distribution -------------"
                 " count\n");
    for (int i = 0; i < ROWS; i++) {
        int n = r.max ? (int)floor(
                            (double)r.count[i] * STARS / (double)r.max + 0.5)
                      : 0;

        double ms = row_value(i);

        if (r.count[i] > 0)
            fprintf(out, "%12.*f |%-*.*s %" PRIu64 "\n",
                sb_units_ms_decimals(ms, 3), ms, STARS, n, stars, r.count[i]);
    }
    fprintf(out, " \n");
}
