// SPDX-License-Identifier: GPL-2.0-or-later
#include "script/sequence.h"

#include <stdlib.h>

#include "check.h"

#define RANKS 3
#define LAST  20000

// Takes n numbers at a time until they are above LAST; counts each one.
static void take_all(struct sb_sequence *q, unsigned *seen, double n)
{
    double before = 0;

    for (;;) {
        double first = sb_sequence_next(q, n);

        CHECK(first > before);
        before = first + n - 1;
        CHECK_INT(sb_sequence_last(q), before);
        if (before > LAST)
            return;
        for (double i = 0; i < n; i++)
            seen[(int)(first + i)]++;
    }
}

static void check_ranks(double n, double after, unsigned most)
{
    unsigned *seen = calloc(LAST + 1, sizeof(*seen)), none = 0;

    for (unsigned r = 0; r < RANKS; r++) {
        struct sb_sequences all;

        sb_sequences_init(&all, r, RANKS);
        take_all(sb_sequence_get(&all, "a", after, false), seen, n);
        sb_sequences_done(&all);
    }
    for (int i = 1; i <= LAST; i++) {
        CHECK(seen[i] <= (i > after ? 1 : 0));
        none += i > after && seen[i] == 0;
    }
    CHECK(none <= most);
    free(seen);
}

// No number occurs in two ranks. Single numbers leave none out; of several,
// those at the end of a block that are not enough.
static void ranks_share_the_numbers(void)
{
    check_ranks(1, 0, 0);
    check_ranks(1, 1000, 0);
    check_ranks(1, 1500, 0);
    check_ranks(1, 7777, 0);
    check_ranks(16, 0, 16 * RANKS);
    check_ranks(100, 1500, 40 * (LAST / 1024 + RANKS));
    check_ranks(1024, 0, 1024 * RANKS);
}

// The smallest numbers are used first, whatever the rank.
static void blocks_alternate(void)
{
    struct sb_sequences all;

    sb_sequences_init(&all, 1, RANKS);
    struct sb_sequence *q = sb_sequence_get(&all, "a", 0, false);
    CHECK_INT(sb_sequence_next(q, 1), 1025);
    CHECK_INT(sb_sequence_next(q, 1023), 1026);
    CHECK_INT(sb_sequence_next(q, 1), 3 * 1024 + 1024 + 1);
    // Another rank has these numbers.
    sb_sequence_raise(q, 9000);
    CHECK_INT(sb_sequence_last(q), 9000);
    CHECK_INT(sb_sequence_next(q, 1), 10 * 1024 + 1);
    CHECK_INT(sb_sequence_next_below(q, 1, 10 * 1024 + 1), 0);
    CHECK_INT(sb_sequence_next_below(q, 1, 10 * 1024 + 2), 10 * 1024 + 2);
    CHECK_INT(sb_sequence_most(q), 1024);
    // Sequences of a process are not divided.
    q = sb_sequence_get(&all, "a", 0, true);
    CHECK_INT(sb_sequence_next(q, 5000), 1);
    CHECK_INT(sb_sequence_next(q, 1), 5001);
    sb_sequences_done(&all);
}

// What is finished is known across the blocks of other ranks.
static void numbers_are_finished(void)
{
    struct sb_sequences all;
    double first = 0;

    sb_sequences_init(&all, 2, RANKS);
    struct sb_sequence *q = sb_sequence_get(&all, "a", 100, false);
    CHECK_INT(sb_sequence_finished(q), 100);
    for (int i = 0; i < 1023; i++) {
        double number = sb_sequence_next(q, 1);

        if (i > 0)
            CHECK_INT(sb_sequence_finish(q, number), 0);
        else
            first = number;
    }
    CHECK_INT(sb_sequence_finished(q), 100);
    CHECK_INT(sb_sequence_finish(q, first), 0);
    CHECK_INT(sb_sequence_finished(q), first + 1022);
    // The last number of the block is not enough for two.
    first = sb_sequence_next(q, 2);
    CHECK_INT(first, 3 * 1024 + 2 * 1024 + 1);
    CHECK_INT(sb_sequence_finish(q, first), 0);
    CHECK_INT(sb_sequence_finished(q), first);
    sb_sequences_done(&all);
}

CHECK_FILE
{
    RUN(ranks_share_the_numbers);
    RUN(blocks_alternate);
    RUN(numbers_are_finished);
    return check_done();
}
