// SPDX-License-Identifier: GPL-2.0-or-later
#include "loop/fiber_private.h"
#include "loop/hold.h"

#include <unistd.h>

#include "base/clock.h"
#include "check.h"

#define MS UINT64_C(1000000)

// An account at 100 ms, and what it is at 120 ms, after a turn of `wall` ms.
static const struct sb_account before = { .at = 100 * MS,
    .cpu = 50 * MS,
    .delay = 7 * MS,
    .has_delay = true,
    .preempted = 3,
    .sleeps = 20 };

static uint64_t held(uint64_t cpu, uint64_t delay, long sleeps)
{
    struct sb_account now = before;

    now.at = 120 * MS;
    now.cpu += cpu * MS;
    now.delay += delay * MS;
    now.sleeps += sleeps;
    return sb_account_held(&before, &now, 20, 102 * MS, 120 * MS) / MS;
}

static void a_thread_that_sleeps_is_held(void)
{
    CHECK_INT(held(1, 0, 1), 18);
    CHECK_INT(held(1, 5, 1), 13);
    CHECK_INT(held(1, 30, 1), 0);
}

// The host of a virtual machine had the processor. 2 ms may be from before.
static void one_that_does_not_is_held_while_it_runs(void)
{
    CHECK_INT(held(0, 0, 0), 0);
    CHECK_INT(held(1, 0, 0), 0);
    CHECK_INT(held(12, 0, 0), 10);
    CHECK_INT(held(20, 0, 0), 18);
    CHECK_INT(held(40, 0, 0), 18);
}

static void without_a_count_of_delays(void)
{
    struct sb_account a = before, b = before;

    a.has_delay = b.has_delay = false;
    b.cpu += 9 * MS;
    b.sleeps = -1;
    CHECK_INT(sb_account_held(&a, &b, 20, 102 * MS, 120 * MS) / MS, 18);
    b.preempted++;
    CHECK_INT(sb_account_held(&a, &b, 20, 102 * MS, 120 * MS) / MS, 7);
    b.preempted = -1;
    CHECK_INT(sb_account_held(&a, &b, -1, 102 * MS, 120 * MS) / MS, 7);
}

static void of_this_thread(void)
{
    struct sb_account a, b;
    long slept;

    sb_account_take(&a, -1, sb_clock_monotonic());
    CHECK(!a.has_delay);
    slept = sb_account_sleeps();
    CHECK(slept >= a.sleeps);
    usleep(1000);
    CHECK(sb_account_sleeps() > slept);
    sb_account_take(&b, -1, sb_clock_monotonic());
    CHECK(b.at >= a.at + MS);
    CHECK(b.cpu >= a.cpu);
    CHECK(b.sleeps > a.sleeps);
}

CHECK_FILE
{
    RUN(a_thread_that_sleeps_is_held);
    RUN(one_that_does_not_is_held_while_it_runs);
    RUN(without_a_count_of_delays);
    RUN(of_this_thread);
    return check_done();
}
