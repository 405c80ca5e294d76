// SPDX-License-Identifier: GPL-2.0-or-later
//
// Users in fibers: three on two workers.
#include "run/loops.h"

#include "loop/fiber.h"

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

static void users_of_a_worker_run_while_others_wait(void)
{
    static const struct sb_workload_ops meet_ops = { .user_run = meet };
    struct sb_workload mw = { .ops = &meet_ops };

    prepare(&s, USERS);
    s.o.workers = WORKERS;
    run = sb__run_state_new(&mw, &s.o, &s.random);
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
    CHECK_INT(atomic_load(&met), USERS);
    CHECK(sb__loops_join_ended(run));
    CHECK_INT(sb__run_state_end(run, &s.res), 0);
}

int main(void)
{
    run_tests_of_users(sb__loops_start, sb__loops_join_ended);
    RUN(users_of_a_worker_run_while_others_wait);
    return check_done();
}
