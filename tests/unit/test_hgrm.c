// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include "out/hdr.h"

#include <stdlib.h>

#include "hists.h"

// The table of the histogram, which is freed. The result is valid until the
// next call.
static const char *table(struct sb_hist_snap *s)
{
    static char *got;
    size_t size;

    free(got);
    got = NULL;
    FILE *out = open_memstream(&got, &size);
    CHECK_INT(sb_hgrm_write(out, s, NULL), 0);
    fclose(out);
    sb_hist_snap_done(s);
    return got;
}

// Printed by HdrHistogram for the same values.
static void table_is_that_of_hdrhistogram(void)
{
    struct sb_hist_snap s = { 0 };

    count(&s, 1000000, 90);
    count(&s, 10000000, 9);
    count(&s, 100000000, 1);
    CHECK_STR(table(&s),
        "       Value     Percentile TotalCount 1/(1-Percentile)\n"
        "\n"
        "       1.000 0.000000000000         90           1.00\n"
        "       1.000 0.100000000000         90           1.11\n"
        "       1.000 0.200000000000         90           1.25\n"
        "       1.000 0.300000000000         90           1.43\n"
        "       1.000 0.400000000000         90           1.67\n"
        "       1.000 0.500000000000         90           2.00\n"
        "       1.000 0.550000000000         90           2.22\n"
        "       1.000 0.600000000000         90           2.50\n"
        "       1.000 0.650000000000         90           2.86\n"
        "       1.000 0.700000000000         90           3.33\n"
        "       1.000 0.750000000000         90           4.00\n"
        "       1.000 0.775000000000         90           4.44\n"
        "       1.000 0.800000000000         90           5.00\n"
        "       1.000 0.825000000000         90           5.71\n"
        "       1.000 0.850000000000         90           6.67\n"
        "       1.000 0.875000000000         90           8.00\n"
        "       1.000 0.887500000000         90           8.89\n"
        "       1.000 0.900000000000         90          10.00\n"
        "      10.002 0.912500000000         99          11.43\n"
        "      10.002 0.925000000000         99          13.33\n"
        "      10.002 0.937500000000         99          16.00\n"
        "      10.002 0.943750000000         99          17.78\n"
        "      10.002 0.950000000000         99          20.00\n"
        "      10.002 0.956250000000         99          22.86\n"
        "      10.002 0.962500000000         99          26.67\n"
        "      10.002 0.968750000000         99          32.00\n"
        "      10.002 0.971875000000         99          35.56\n"
        "      10.002 0.975000000000         99          40.00\n"
        "      10.002 0.978125000000         99          45.71\n"
        "      10.002 0.981250000000         99          53.33\n"
        "      10.002 0.984375000000         99          64.00\n"
        "      10.002 0.985937500000         99          71.11\n"
        "      10.002 0.987500000000         99          80.00\n"
        "      10.002 0.989062500000         99          91.43\n"
        "     100.008 0.990625000000        100         106.67\n"
        "     100.008 1.000000000000        100\n"
        "#[Mean    =        2.800, StdDeviation   =       10.100]\n"
        "#[Max     =      100.008, Total count    =          100]\n"
        "#[Buckets =           38, SubBuckets     =         2048]\n");
}

static void empty_table_has_no_rows(void)
{
    struct sb_hist_snap s = { 0 };

    CHECK_STR(table(&s),
        "       Value     Percentile TotalCount 1/(1-Percentile)\n"
        "\n"
        "#[Mean    =        0.000, StdDeviation   =        0.000]\n"
        "#[Max     =        0.000, Total count    =            0]\n"
        "#[Buckets =           38, SubBuckets     =         2048]\n");
}

static void short_times_have_more_decimals(void)
{
    struct sb_hist_snap s = { 0 };

    count(&s, 250, 1);
    CHECK_STR(table(&s),
        "       Value     Percentile TotalCount 1/(1-Percentile)\n"
        "\n"
        "    0.000250 0.000000000000          1           1.00\n"
        "    0.000250 1.000000000000          1\n"
        "#[Mean    =     0.000250, StdDeviation   =     0.000000]\n"
        "#[Max     =     0.000250, Total count    =            1]\n"
        "#[Buckets =           38, SubBuckets     =         2048]\n");
    count(&s, 50000, 1);
    CHECK(strstr(table(&s), "#[Max     =       0.0500, Total"));
}

// Counts so large that the rows come near the precision of a double.
static void largest_counts_end(void)
{
    struct sb_hist_snap s = { 0 };
    unsigned rows = 0;

    count(&s, 1000000, UINT64_C(1) << 62);
    count(&s, 2000000, 1);
    const char *p = table(&s);
    while ((p = strchr(p, '\n'))) {
        p++;
        rows++;
    }
    CHECK(rows > 100 && rows < 400);
}

CHECK_FILE
{
    RUN(table_is_that_of_hdrhistogram);
    RUN(empty_table_has_no_rows);
    RUN(short_times_have_more_decimals);
    RUN(largest_counts_end);
    return check_done();
}
