// SPDX-License-Identifier: GPL-2.0-or-later
//
// Users of a run, from their creation to their end, without what controls a
// run. The file that includes this says how they are started and joined, and
// defines WORKERS, the value of --workers.
#ifndef USERS_OF_RUN_H
#define USERS_OF_RUN_H

#include "run/run_private.h"
#include "run/user_private.h"
#include "runs.h"

#define USERS 3
#ifndef WORKERS
#define WORKERS "users"
#endif

static int (*start_users)(struct sb_run *r, struct sb_err *err);
static bool (*join_users)(struct sb_run *r);

static struct seen s;
static struct sb_run *run;
static _Atomic int loops, frees;
static int init_rc, loop_rc;

static int user_init(struct sb_workload *w, struct sb_user *u, struct sb_err *e)
{
    (void)w;
    return u->id == 1 && init_rc ? sb_err_set(e, init_rc, "no server") : 0;
}

static int user_run(struct sb_workload *w, struct sb_user *u, struct sb_err *e)
{
    (void)w;
    CHECK_INT(u->priv->state, SB_USER_RUNNING);
    atomic_fetch_add(&loops, 1);
    return u->id == 1 && loop_rc ? sb_err_set(e, loop_rc, "lost") : 0;
}

static void user_free(struct sb_workload *w, struct sb_user *u)
{
    (void)w;
    (void)u;
    atomic_fetch_add(&frees, 1);
}

static const struct sb_workload_ops ops = {
    .user_init = user_init, .user_run = user_run, .user_free = user_free
};
static struct sb_workload w = { .ops = &ops };

static void begin(int init_error, int loop_error)
{
    prepare(&s, USERS);
    init_rc = init_error;
    loop_rc = loop_error;
    atomic_store(&loops, 0);
    atomic_store(&frees, 0);
    s.o.workers = WORKERS;
    run = sb__run_state_new(&w, &s.o, &s.random);
    CHECK_INT(sb__run_state_init(run), 0);
    CHECK_INT(start_users(run, &s.res.err), 0);
    // A failure ends the creation of users.
    CHECK(run->made == USERS || (init_error && atomic_load(&run->stop)));
    pthread_mutex_lock(&run->lock);
    // After a failure, users that come later end at once.
    while (run->ready + run->ended < run->made)
        sb__run_wait(run, sb_clock_monotonic() + 1000 * MS);
    CHECK_INT(run->running, 0);
    pthread_mutex_unlock(&run->lock);
}

static void finish(bool release)
{
    pthread_mutex_lock(&run->lock);
    run->t0 = run->warm_end = sb_clock_monotonic();
    run->deadline = UINT64_MAX;
    run->released = release;
    run->aborted = !release;
    sb_wait_list_wake(&run->go);
    while (run->ended < run->made)
        sb__run_wait(run, sb_clock_monotonic() + 1000 * MS);
    CHECK_INT(run->running, 0);
    CHECK(run->ready == USERS || atomic_load(&run->stop));
    pthread_mutex_unlock(&run->lock);
    CHECK_INT(sb__run_busy(run), USERS - run->made);
    CHECK(join_users(run));
    CHECK_INT(atomic_load(&frees), run->made);
    s.res.err = run->err;
    CHECK_INT(sb__run_state_end(run, &s.res), s.res.err.code);
}

static void users_run_when_released(void)
{
    begin(0, 0);
    CHECK_INT(atomic_load(&loops), 0);
    CHECK_INT(sb__run_busy(run), USERS);
    CHECK(!join_users(run));
    finish(true);
    CHECK_INT(atomic_load(&loops), USERS);
    CHECK_INT(s.res.err.code, 0);
}

static void no_user_runs_after_an_abort(void)
{
    begin(0, 0);
    finish(false);
    CHECK_INT(atomic_load(&loops), 0);
}

static void a_user_that_cannot_start_fails_the_run(void)
{
    begin(SB_ECONNECT, 0);
    CHECK(atomic_load(&run->stop));
    finish(false);
    CHECK_INT(s.res.err.code, SB_ECONNECT);
    CHECK_STR(s.res.err.msg, "no server");
}

static void an_error_in_a_loop_fails_the_run(void)
{
    begin(0, SB_ELOST);
    finish(true);
    CHECK_INT(s.res.err.code, SB_ELOST);
}

static inline void run_tests_of_users(
    int (*start)(struct sb_run *r, struct sb_err *err),
    bool (*join)(struct sb_run *r))
{
    start_users = start;
    join_users = join;
    RUN(users_run_when_released);
    RUN(no_user_runs_after_an_abort);
    RUN(a_user_that_cannot_start_fails_the_run);
    RUN(an_error_in_a_loop_fails_the_run);
}

#endif
