// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/debt.h"

#include <math.h>

#include "check.h"

#define MB 1e6

static void log_before_a_checkpoint(void)
{
    struct sb_debt d = sb_debt_log(32 * MB, 64 * MB, 32 * MB);

    CHECK_NEAR(d.percent, 50, 0.01);
    CHECK(d.doubtful);
    CHECK(!sb_debt_log(6 * MB, 64 * MB, 6 * MB).doubtful);
    // A run with a checkpoint, and more log after it.
    CHECK(!sb_debt_log(32 * MB, 64 * MB, 70 * MB).doubtful);
    // It is not known how much was logged.
    CHECK(sb_debt_log(32 * MB, 64 * MB, NAN).doubtful);
    CHECK(isnan(sb_debt_log(NAN, 64 * MB, 1).percent));
    // A checkpoint of what was logged before the run.
    d = sb_debt_log(-32 * MB, 64 * MB, 10 * MB);
    CHECK_NEAR(d.percent, -50, 0.01);
    CHECK(d.doubtful);
    CHECK(!sb_debt_log(-6 * MB, 64 * MB, 10 * MB).doubtful);
    CHECK(!sb_debt_log(-32 * MB, 64 * MB, 64 * MB).doubtful);
}

static void pages_of_a_full_cache(void)
{
    struct sb_debt d = sb_debt_pages(
        100 * MB, 50 * MB, 500 * MB, 900 * MB, false);

    CHECK_NEAR(d.percent, 20, 0.01);
    CHECK(d.doubtful);
    CHECK(!sb_debt_pages(40 * MB, 0, 500 * MB, 900 * MB, false).doubtful);
    // Data that fits into the cache waits for a checkpoint.
    d = sb_debt_pages(100 * MB, 50 * MB, 500 * MB, 400 * MB, false);
    CHECK_NEAR(d.percent, 0, 0.01);
    CHECK(!d.doubtful);
    CHECK(sb_debt_pages(100 * MB, 0, 500 * MB, 400 * MB, true).doubtful);
    // A run that wrote ten times as much has this work.
    CHECK(!sb_debt_pages(100 * MB, 1100 * MB, 500 * MB, 900 * MB, false)
               .doubtful);
    CHECK(!sb_debt_pages(15 * MB, 0, 100 * MB, 900 * MB, true).doubtful);
    CHECK(!sb_debt_pages(NAN, NAN, NAN, 900 * MB, true).doubtful);
    CHECK(isnan(sb_debt_pages(NAN, 0, 500 * MB, 0, false).percent));
}

static void history_and_dead_rows(void)
{
    CHECK(sb_debt_purge(60000, 500000).doubtful);
    CHECK(!sb_debt_purge(60000, 700000).doubtful);
    CHECK(!sb_debt_purge(40000, 50000).doubtful);
    CHECK(!sb_debt_purge(NAN, 50000).doubtful);
    // 20 % of 24 MB in 120,000 versions of rows: 4 MB.
    CHECK(!sb_debt_rows(20000, 100000, 20000, 24 * MB).doubtful);
    CHECK(sb_debt_rows(200000, 1e6, 200000, 240 * MB).doubtful);
    CHECK(!sb_debt_rows(90000, 1e6, 90000, 240 * MB).doubtful);
    CHECK(!sb_debt_rows(NAN, 1e6, NAN, 240 * MB).doubtful);
}

static void replicas(void)
{
    CHECK(sb_debt_replicas(30 * MB, 100 * MB).doubtful);
    CHECK(sb_debt_replicas(30 * MB, NAN).doubtful);
    CHECK(!sb_debt_replicas(30 * MB, 400 * MB).doubtful);
    CHECK(!sb_debt_replicas(10 * MB, 10 * MB).doubtful);
    CHECK(!sb_debt_replicas(NAN, 10 * MB).doubtful);
    CHECK(sb_debt_delay(4, 20).doubtful);
    CHECK(!sb_debt_delay(1, 4).doubtful);
    CHECK(!sb_debt_delay(4, 60).doubtful);
    CHECK(!sb_debt_delay(NAN, 60).doubtful);
}

static void what_is_owed(void)
{
    // 310 MB at 8 MB/s.
    CHECK_NEAR(sb_debt_owed(310 * MB, 160 * MB, 20), 38.75, 0.01);
    CHECK(isnan(sb_debt_owed(310 * MB, 0, 20)));
    CHECK(isnan(sb_debt_owed(310 * MB, NAN, 20)));
}

CHECK_FILE
{
    RUN(log_before_a_checkpoint);
    RUN(pages_of_a_full_cache);
    RUN(history_and_dead_rows);
    RUN(replicas);
    RUN(what_is_owed);
    return check_done();
}
