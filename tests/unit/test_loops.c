// SPDX-License-Identifier: GPL-2.0-or-later
//
// Users in fibers: three on two workers.
#define _GNU_SOURCE // SCHED_BATCH
#include "run/loops.h"

#include <sched.h>

#include "loop/fiber.h"
#include "loop/loop.h"

#define WORKERS "2"
#include "users_of_run.h"

// Two users of the same worker wait for each other, and for a time.
static _Atomic int met;

static int meet(struct sb_workload *wl, struct sb_user *u, struct sb_err *e)
{
    (void)wl;
    (void)e;
    CHECK(sb_fiber_current() == u->priv->waiter.fiber);
    atomic_fetch_add(&met, 1);
    while (atomic_load(&met) < USERS)
        sb__user_wait(u, sb_clock_monotonic() + MS / 10);
    return 0;
}

static struct sb_run_workers described, mixed;

// The texts of workers outlive their loops. The second one changes.
static void describe(void)
{
    struct sb__loop_worker *last = &run->worker[1];

    sb__loops_describe(run, &described);
    last->event_loop = *last->event_loop == 'e' ? "io_uring" : "epoll";
    sb__loops_describe(run, &mixed);
}

// From the start of the users to their end. s has the options.
static void run_prepared(
    int (*loop)(struct sb_workload *w, struct sb_user *u, struct sb_err *err))
{
    const struct sb_workload_ops loop_ops = { .user_run = loop };
    struct sb_workload lw = { .ops = &loop_ops };

    s.o.workers = WORKERS;
    run = sb__run_state_new(&lw, &s.o, &s.random);
    CHECK_INT(sb__run_state_init(run), 0);
    CHECK_INT(run->workers, 2);
    CHECK_INT(sb__loops_start(run, &s.res.err), 0);
    pthread_mutex_lock(&run->lock);
    run->t0 = run->warm_end = sb_clock_monotonic();
    run->deadline = UINT64_MAX;
    run->released = true;
    sb_wait_list_wake(&run->go);
    while (run->ended < USERS)
        sb__run_wait(run, sb_clock_monotonic() + 1000 * MS);
    pthread_mutex_unlock(&run->lock);
    CHECK(sb__loops_join_ended(run));
    describe();
    CHECK_INT(sb__run_state_end(run, &s.res), 0);
}

static void run_users(
    int (*loop)(struct sb_workload *w, struct sb_user *u, struct sb_err *err))
{
    prepare(&s, USERS);
    run_prepared(loop);
}

static void users_of_a_worker_run_while_others_wait(void)
{
    run_users(meet);
    CHECK_INT(atomic_load(&met), USERS);
}

// Waits, and says what the user's clock shows then.
static int wait_once(
    struct sb_workload *wl, struct sb_user *u, struct sb_err *e)
{
    uint64_t reported;

    (void)wl;
    (void)e;
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

static _Atomic int policy;

static int note_policy(
    struct sb_workload *wl, struct sb_user *u, struct sb_err *e)
{
    (void)wl;
    (void)u;
    (void)e;
    policy = sched_getscheduler(0);
    return 0;
}

static void workers_leave_the_processor_to_servers(void)
{
    const int own = sched_getscheduler(0);

    run_users(note_policy);
    CHECK_INT(policy, own == SCHED_OTHER ? SCHED_BATCH : own);
    CHECK_INT(sched_getscheduler(0), own);

    prepare(&s, USERS);
    s.o.worker_policy = SB_POLICY_NORMAL;
    run_prepared(note_policy);
    CHECK_INT(policy, own);
}

static void workers_that_wait_for_times_do_not(void)
{
    static struct sb_run_opts o;

    o.think_time = "";
    CHECK(sb_run_opts_batch(&o));
    o.think_time = "10ms";
    CHECK(!sb_run_opts_batch(&o));
    o.think_time = "";
    o.rate_percent = 80;
    CHECK(!sb_run_opts_batch(&o));
    o.worker_policy = SB_POLICY_BATCH;
    CHECK(sb_run_opts_batch(&o));
    o = (struct sb_run_opts){ .think_time = "", .rate = 10 };
    CHECK(!sb_run_opts_batch(&o));
    o.rate = 0;
    o.worker_policy = SB_POLICY_NORMAL;
    CHECK(!sb_run_opts_batch(&o));
}

static void how_users_were_run_is_described(void)
{
    const bool other = sched_getscheduler(0) != SCHED_OTHER;

    prepare(&s, USERS);
    s.o.event_loop = SB_LOOP_EPOLL;
    s.o.worker_policy = SB_POLICY_NORMAL;
    run_prepared(note_policy);
    CHECK_INT(described.n, 2);
    CHECK_STR(described.event_loop, "epoll");
    CHECK(other || strcmp(described.policy, "normal") == 0);
    CHECK_STR(mixed.event_loop, "mixed");

    prepare(&s, USERS);
    run_prepared(note_policy);
    CHECK(other || strcmp(described.policy, "batch") == 0);
}

CHECK_FILE
{
    run_tests_of_users(sb__loops_start, sb__loops_join_ended);
    RUN(users_of_a_worker_run_while_others_wait);
    RUN(a_user_that_has_waited_does_not_yield);
    RUN(workers_leave_the_processor_to_servers);
    RUN(workers_that_wait_for_times_do_not);
    RUN(how_users_were_run_is_described);
    return check_done();
}
