// SPDX-License-Identifier: GPL-2.0-or-later
#include "loop/timers.h"

#include <stdlib.h>

#include "check.h"

#define N 500

// The place of every timer and the order of the heap.
static void check_heap(const struct sb_timers *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        CHECK_INT(t->heap[i]->place, i + 1);
        if (i > 0)
            CHECK(t->heap[(i - 1) / 4]->at <= t->heap[i]->at);
    }
}

static void earliest_comes_first(void)
{
    struct sb_timer timer[N] = { 0 };
    struct sb_timers t;
    uint64_t last = 0;

    CHECK_INT(sb_timers_init(&t, N), 0);
    CHECK(!sb_timers_first(&t));
    srand(1);
    for (int i = 0; i < N; i++)
        sb_timers_set(&t, &timer[i], (uint64_t)(rand() % 100));
    check_heap(&t);
    for (int i = 0; i < N; i++) {
        struct sb_timer *first = sb_timers_first(&t);

        CHECK(first->at >= last);
        last = first->at;
        sb_timers_clear(&t, first);
        CHECK_INT(first->place, 0);
    }
    CHECK(!sb_timers_first(&t));
    sb_timers_done(&t);
}

// Compares with the minimum of a plain array, while timers are set, moved and
// cleared at random.
static void changes_keep_the_order(void)
{
    struct sb_timer timer[N] = { 0 };
    struct sb_timers t;

    CHECK_INT(sb_timers_init(&t, N), 0);
    srand(2);
    for (int step = 0; step < 20000; step++) {
        struct sb_timer *x = &timer[rand() % N];
        uint64_t min = UINT64_MAX;

        if (rand() % 3 == 0)
            sb_timers_clear(&t, x);
        else
            sb_timers_set(&t, x, (uint64_t)(rand() % 1000));
        for (int i = 0; i < N; i++) {
            if (timer[i].place && timer[i].at < min)
                min = timer[i].at;
        }
        struct sb_timer *first = sb_timers_first(&t);
        CHECK(first ? first->at == min : min == UINT64_MAX);
        if (step % 1000 == 0)
            check_heap(&t);
    }
    sb_timers_done(&t);
}

CHECK_FILE
{
    RUN(earliest_comes_first);
    RUN(changes_keep_the_order);
    return check_done();
}
