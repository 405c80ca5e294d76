// SPDX-License-Identifier: GPL-2.0-or-later
//
// What belongs to a fiber. Waiting and waking: test_loop.c.
#include "loop/fiber.h"

#include "base/clock.h"
#include "check.h"
#include "loop/loop.h"

#define STACK (256 * 1024)
#define MS    UINT64_C(1000000)
#define N     3

struct member {
    struct sb_fiber *self;
    int value;
    uint64_t reported;
};

static void run_fibers(void (*fn)(void *arg), struct member *m)
{
    struct sb_loop *l = sb_loop_new(N, false);
    struct sb_err err = { 0 };

    for (int i = 0; i < N; i++) {
        m[i].value = i;
        m[i].self = sb_loop_add(l, STACK, fn, &m[i]);
    }
    CHECK_INT(sb_loop_open(l, SB_LOOP_ANY, &err), 0);
    sb_loop_run(l);
    sb_loop_close(l);
    sb_loop_free(l);
}

static void keep_pointer(void *arg)
{
    struct member *m = arg;

    CHECK(!*sb_fiber_local(m->self));
    *sb_fiber_local(sb_fiber_current()) = m;
    for (int i = 0; i < 5; i++) {
        sb_fiber_yield(m->self);
        CHECK(*sb_fiber_local(sb_fiber_current()) == m);
    }
}

static void each_has_its_own_pointer(void)
{
    struct member m[N] = { 0 };

    CHECK(!sb_fiber_current());
    run_fibers(keep_pointer, m);
}

// The first one delays the others after their time: they were reported before
// they ran.
static void hold_up(void *arg)
{
    struct member *m = arg;
    uint64_t until = sb_clock_monotonic() + MS;

    sb_fiber_sleep(m->self, until);
    m->reported = sb_fiber_reported(m->self);
    CHECK(m->reported >= until);
    CHECK(m->reported <= sb_clock_monotonic());
    until = sb_clock_monotonic() + 2 * MS;
    while (m->value == 0 && sb_clock_monotonic() < until)
        ;
}

static void reports_are_not_later_than_running(void)
{
    struct member m[N] = { 0 };

    run_fibers(hold_up, m);
    for (int i = 1; i < N; i++)
        CHECK(m[i].reported >= m[i - 1].reported);
}

// A time that has passed 5 ms ago ends a sleep as soon as the loop comes to it;
// only waits count.
static void wait_in_vain(void *arg)
{
    struct member *m = arg;
    const struct sb_fiber_waits *w = sb_fiber_waits(m->self);
    uint64_t at = sb_clock_monotonic() - 5 * MS;

    CHECK_INT(w->count, 0);
    sb_fiber_yield(m->self);
    CHECK_INT(w->count, 0);
    sb_fiber_sleep(m->self, at);
    CHECK_INT(w->count, 1);
    CHECK_INT(sb_fiber_reported(m->self), at);
    CHECK(w->late >= 5 * MS && w->late <= sb_clock_monotonic() - at);
    sb_fiber_wake(m->self);
    CHECK(sb_fiber_sleep(m->self, SB_FOREVER));
    CHECK_INT(w->count, 1); // it did not have to wait
}

static void waits_tell_how_late_they_ended(void)
{
    struct member m[N] = { 0 };

    run_fibers(wait_in_vain, m);
}

static void use_and_trim(void *arg)
{
    struct member *m = arg;
    volatile char kept[3000];

    kept[0] = (char)m->value;
    kept[2999] = 7;
    sb_fiber_trim(m->self);
    sb_fiber_yield(m->self);
    CHECK_INT(kept[0], m->value);
    CHECK_INT(kept[2999], 7);
}

static void trimming_keeps_what_is_used(void)
{
    struct member m[N] = { 0 };

    run_fibers(use_and_trim, m);
}

CHECK_FILE
{
    RUN(each_has_its_own_pointer);
    RUN(reports_are_not_later_than_running);
    RUN(waits_tell_how_late_they_ended);
    RUN(trimming_keeps_what_is_used);
    return check_done();
}
