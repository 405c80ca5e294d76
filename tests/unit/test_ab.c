// SPDX-License-Identifier: GPL-2.0-or-later
//
// What sysbench ab prints about its pairs; tests/cli/ab.t has experiments.
#include "results/ab.h"

#include <math.h>
#include <stdlib.h>

#include "check.h"

static void check_resolution(
    double value, double low, double high, const char *want)
{
    struct sb_ab ab = { .o = { .margin = 0.02, .planned = 8 },
        .resolution = { value, low, high } };
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    sb_ab_print_resolution(&ab, out);
    fclose(out);
    CHECK_STR(text, want);
    free(text);
}

static void resolution(void)
{
    check_resolution(0.13, 0.066, 1.08,
        "With 8 pairs, this place shows differences from 15 % on (8.6 % to "
        "110 %); for a margin of 2 %, measure longer, or use more pairs.\n");
    check_resolution(0.0012, 0.0004, 0.9796,
        "With 8 pairs, this place shows differences from 2.1 % on (2 % to 100 "
        "%).\n");
    check_resolution(123.43, 0.974, INFINITY,
        "With 8 pairs, this place shows differences from 12000 % on (99 % or "
        "more); for a margin of 2 %, measure longer, or use more pairs.\n");
    check_resolution(NAN, NAN, NAN, "");
}

CHECK_FILE
{
    RUN(resolution);
    return check_done();
}
