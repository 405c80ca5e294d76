// SPDX-License-Identifier: GPL-2.0-or-later
//
// The line about operations that found nothing.
// Not with tsan: one thread.
#include <stdlib.h>

#include "check.h"
#include "out/text.h"

// Returns the text printed at this verbosity for these hits and misses of
// "select" and as many misses of "delete". The caller frees it.
static char *found(int64_t verbosity, uint64_t hits, uint64_t misses)
{
    static struct sb_stats stats;
    struct sb_snap_op op[] = { { .hits = hits, .misses = misses },
        { .count = 100 }, { .misses = misses } };
    struct sb_snap snap = { .op = op, .nops = 3 };
    struct sb_report report = { .whole = &snap, .final = true };
    char *got = NULL;
    size_t size = 0;
    struct sb_text text = { .o.verbosity = verbosity,
        .stats = &stats,
        .err = open_memstream(&got, &size) };

    snprintf(stats.op[0].name, sizeof(stats.op[0].name), "select");
    snprintf(stats.op[1].name, sizeof(stats.op[1].name), "insert");
    snprintf(stats.op[2].name, sizeof(stats.op[2].name), "delete");
    sb_text_found(&text, &report);
    fclose(text.err);
    return got;
}

#define PRINTS(text, verbosity, hits, misses)         \
    do {                                              \
        char *line_ = found(verbosity, hits, misses); \
        CHECK_STR(line_, text);                       \
        free(line_);                                  \
    } while (0)

static void names_and_shares(void)
{
    PRINTS("found nothing: 90.0 % of select, 100 % of delete\n", 3, 10, 90);
    // 100 % is printed only if all executions found nothing.
    PRINTS("found nothing: 99.9 % of select, 100 % of delete\n", 3, 1, 999999);
}

static void a_few_are_not_reported(void)
{
    PRINTS("", 3, 0, 9);
    PRINTS("", 3, 0, 0);
    PRINTS("found nothing: 100 % of delete\n", 3, 990, 10);
    PRINTS("found nothing: 1.00 % of select, 100 % of delete\n", 3, 989, 10);
}

// The line is not part of the report, so the verbosity applies.
static void verbosity(void)
{
    PRINTS("found nothing: 100 % of delete\n", 2, 1000000, 10);
    PRINTS("", 1, 0, 1000);
}

static void without_operations(void)
{
    struct sb_snap snap = { 0 };
    struct sb_report report = { .whole = &snap };
    struct sb_text text = { .o.verbosity = 3 };

    sb_text_found(&text, &report);
    CHECK(text.err == NULL);
}

CHECK_FILE
{
    RUN(names_and_shares);
    RUN(a_few_are_not_reported);
    RUN(verbosity);
    RUN(without_operations);
    return check_done();
}
