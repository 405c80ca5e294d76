// SPDX-License-Identifier: GPL-2.0-or-later
//
// Users in fibers: three on two workers.
#include "run/events.h"
#include "run/loops.h"

#include "loop/fiber.h"
#include "runs.h"

#define USERS 3

static void run_users(
    int (*loop)(struct sb_workload *w, struct sb_user *u, struct sb_err *err))
{
    const struct sb_workload_ops loop_ops = { .user_run = loop };
    struct seen s;

    prepare(&s, USERS);
    s.o.workers = "2";
    CHECK_INT(perform(&s, &loop_ops), 0);
}

// Two users of the same worker wait for each other, and for a time.
static _Atomic int met;

static int meet(struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    CHECK(sb_fiber_current() == u->priv->waiter.fiber);
    atomic_fetch_add(&met, 1);
    while (atomic_load(&met) < USERS)
        sb__user_wait(u, sb_clock_monotonic() + MS / 10);
    return 0;
}

static void users_of_a_worker_run_while_others_wait(void)
{
    run_users(meet);
    CHECK_INT(atomic_load(&met), USERS);
}

// Waits, and says what the user's clock shows then.
static int wait_once(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    uint64_t reported;

    sb__user_wait(u, sb_clock_monotonic() + MS);
    // The loop learns how late its timers are.
    CHECK_INT(u->priv->alarm.margin, 0);
    reported = sb_fiber_reported(u->priv->waiter.fiber);
    u->priv->slice = 0;
    CHECK_INT(sb__user_take_turns(u, reported + 5), reported + 5);
    CHECK_INT(sb__user_take_turns(u, reported - 5), reported - 5);
    CHECK(sb__user_take_turns(u, UINT64_MAX / 4) != UINT64_MAX / 4);
    return 0;
}

static void a_user_that_has_waited_does_not_yield(void)
{
    run_users(wait_once);
}

// A system that refuses io_uring to one worker may have given it to another.
static void loops_of_two_kinds_are_mixed(void)
{
    struct sb__loop_worker worker[] = {
        { .event_loop = "io_uring", .policy = "batch" },
        { .event_loop = "epoll", .policy = "batch" },
    };
    const struct sb_run run = { .workers = 2, .worker = worker };
    struct sb_run_workers w;

    sb__loops_describe(&run, &w);
    CHECK_STR(w.event_loop, "mixed");
    CHECK_STR(w.policy, "batch");
}

CHECK_FILE
{
    RUN(users_of_a_worker_run_while_others_wait);
    RUN(a_user_that_has_waited_does_not_yield);
    RUN(loops_of_two_kinds_are_mixed);
    return check_done();
}
