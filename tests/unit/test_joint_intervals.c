// SPDX-License-Identifier: GPL-2.0-or-later
//
// Intervals of several ranks: when their sums are reported.
#include "joint_ranks.h"

#define RANKS 12 // rank 1 has children of its own

static void lines_wait_for_all_ranks(void)
{
    struct rank r[RANKS];

    for (unsigned i = 0; i < RANKS; i++)
        rank_init(&r[i], i, RANKS);
    for (unsigned i = 0; i < RANKS - 1; i++)
        part(&r[i], 0, 1, 1 + i, i == 5 ? "five" : "all", true);
    poll_all(r, RANKS);
    CHECK_INT(r[0].reports.n, 0); // one is missing
    // The others go on.
    for (unsigned i = 0; i < RANKS - 1; i++)
        part(&r[i], 1, 2, 1, "all", true);
    part(&r[RANKS - 1], 0, 1, RANKS, "all", true);
    poll_all(r, RANKS);
    CHECK_INT(r[0].reports.n, 1);
    CHECK_INT(r[0].reports.row[0].events, RANKS * (RANKS + 1) / 2);
    CHECK_INT(r[0].reports.row[0].running, 2 * RANKS);
    CHECK_INT(r[0].reports.row[0].nops, 2);
    CHECK(r[0].reports.row[0].total_s == 1);
    CHECK(!r[0].reports.row[0].partial);
    part(&r[RANKS - 1], 1, 2, 1, "all", true);
    poll_all(r, RANKS);
    CHECK_INT(r[0].reports.n, 2);
    CHECK_INT(r[0].reports.row[1].events, RANKS);
    CHECK(r[0].reports.row[1].total_s == 2);
    // Rank 0 and a parent read only what their children send.
    CHECK_INT(sb__joint_of(&r[0].run)->children, 8);
    CHECK_INT(sb__joint_of(&r[1].run)->children, RANKS - 9);
    CHECK_INT(sb__joint_of(&r[2].run)->children, 0);
    CHECK_INT(sb__joint_of(&r[0].run)->sofar.c.completed,
        RANKS * (RANKS + 1) / 2 + RANKS);
    for (unsigned i = 0; i < RANKS; i++)
        rank_done(&r[i]);
    loopback_reset();
}

// A rank that was late has one part for two intervals: so has the job.
static void late_parts_join_intervals(void)
{
    struct rank r[3];

    for (unsigned i = 0; i < 3; i++)
        rank_init(&r[i], i, 3);
    for (unsigned i = 0; i < 2; i++) {
        part(&r[i], 0, 1, 10, "op", true);
        part(&r[i], 1, 2, 20, "op", true);
        part(&r[i], 2, 3, 1, "op", true);
    }
    part(&r[2], 0, 2, 5, "op", true);
    poll_all(r, 3);
    CHECK_INT(r[0].reports.n, 1);
    CHECK_INT(r[0].reports.row[0].events, 65);
    CHECK(r[0].reports.row[0].total_s == 2);
    CHECK(r[0].reports.row[0].interval_s == 2);
    CHECK_INT(r[0].reports.row[0].running, 6);
    part(&r[2], 2, 3, 1, "op", true);
    poll_all(r, 3);
    CHECK_INT(r[0].reports.n, 2);
    CHECK_INT(r[0].reports.row[1].events, 3);
    CHECK(r[0].reports.row[1].interval_s == 1);
    for (unsigned i = 0; i < 3; i++)
        rank_done(&r[i]);
    loopback_reset();
}

// Ranks whose users have ended do not delay the others.
static void ended_ranks_are_not_waited_for(void)
{
    struct rank r[RANKS];

    for (unsigned i = 0; i < RANKS; i++)
        rank_init(&r[i], i, RANKS);
    for (unsigned i = 0; i < RANKS; i++) {
        part(&r[i], 0, 1, 1, "op", true);
        if (i != 4) {
            part(&r[i], 1, 2, 1, "op", false); // a rest
            end(&r[i]);
        }
    }
    part(&r[4], 1, 2, 7, "op", true);
    part(&r[4], 2, 3, 7, "op", true);
    poll_all(r, RANKS);
    CHECK_INT(r[0].reports.n, 3);
    CHECK_INT(r[0].reports.row[1].events, RANKS + 6);
    CHECK(!r[0].reports.row[1].partial);
    CHECK_INT(r[0].reports.row[2].events, 7);
    part(&r[4], 3, 4, 2, "op", false);
    end(&r[4]);
    poll_all(r, RANKS);
    CHECK_INT(r[0].reports.n, 4);
    CHECK(r[0].reports.row[3].partial);
    for (unsigned i = 0; i < RANKS; i++)
        rank_done(&r[i]);
    loopback_reset();
}

CHECK_FILE
{
    RUN(lines_wait_for_all_ranks);
    RUN(late_parts_join_intervals);
    RUN(ended_ranks_are_not_waited_for);
    return check_done();
}
