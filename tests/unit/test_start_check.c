// SPDX-License-Identifier: GPL-2.0-or-later
//
// The check that a workload makes before users exist: it succeeds, fails, takes
// too long, is interrupted, or ignores the interruption.
#define _GNU_SOURCE // pthread_getattr_np()
#include <signal.h>

#include "loop/overflow.h"
#include "runs.h"

static struct {
    int (*answer)(struct sb_err *err);
    _Atomic bool canceled;
    bool ignores_cancel;
    _Atomic int checks, users;
    pthread_t main;
    bool own_thread;
    size_t guard; // of its stack
} world;

static int check(struct sb_workload *w, struct sb_err *err)
{
    pthread_attr_t attr;

    CHECK_INT(pthread_getattr_np(pthread_self(), &attr), 0);
    pthread_attr_getguardsize(&attr, &world.guard);
    pthread_attr_destroy(&attr);
    world.own_thread = !pthread_equal(pthread_self(), world.main);
    atomic_fetch_add(&world.checks, 1);
    return world.answer(err);
}

static void cancel_check(struct sb_workload *w)
{
    atomic_store(&world.canceled, true);
}

static int user_init(struct sb_workload *w, struct sb_user *u, struct sb_err *e)
{
    atomic_fetch_add(&world.users, 1);
    return 0;
}

static const struct sb_workload_ops ops = {
    .check = check,
    .cancel_check = cancel_check,
    .user_init = user_init,
    .user_run = empty_loop,
};

static struct seen seen;

static int try(
    int (*answer)(struct sb_err *err), bool has_check, int64_t timeout)
{
    struct sb_workload w = {
        .ops = &ops, .data = &seen, .check_name = has_check ? "the check" : NULL
    };
    const struct sb_listener l = { .data = &seen,
        .interval = on_interval,
        .checkpoint = on_checkpoint,
        .final = on_final };

    atomic_store(&world.canceled, false);
    atomic_store(&world.checks, 0);
    atomic_store(&world.users, 0);
    world.answer = answer;
    world.main = pthread_self();
    prepare(&seen, 2);
    seen.o.events = 10;
    seen.o.thread_init_timeout = timeout;
    return sb_run(&w, &seen.o, &seen.random, &l, &seen.res);
}

static int succeed(struct sb_err *err)
{
    return 0;
}

static int fail(struct sb_err *err)
{
    return sb_err_set(err, SB_ESCRIPT, "no table");
}

static int hang(struct sb_err *err)
{
    while (world.ignores_cancel || !atomic_load(&world.canceled))
        nap(1 * MS);
    return sb_err_set(err, SB_ECANCELED, "canceled");
}

static int interrupt(struct sb_err *err)
{
    kill(getpid(), SIGINT);
    return hang(err);
}

static void users_start_after_the_check(void)
{
    CHECK_INT(try(succeed, true, 30000 * MS), 0);
    CHECK_INT(world.checks, 1);
    CHECK(world.own_thread);
    CHECK_INT(world.guard, SB_OVERFLOW_GUARD); // as that of users
    CHECK_INT(world.users, 2);
    CHECK_INT(seen.c.completed, 10);
    CHECK_INT(try(fail, false, 30000 * MS), 0);
    CHECK_INT(world.checks, 0);
    CHECK_INT(seen.c.completed, 10);
}

static void an_error_ends_the_run(void)
{
    CHECK_INT(try(fail, true, 30000 * MS), SB_ESCRIPT);
    CHECK_STR(seen.res.err.msg, "no table");
    CHECK_INT(seen.res.end, SB_END_FAILED);
    CHECK(!seen.res.unjoined);
    CHECK_INT(world.users, 0);
    CHECK_INT(seen.finals, 0);
}

static void the_check_has_a_time_limit(void)
{
    CHECK_INT(try(hang, true, 10 * MS), SB_ETIMEOUT);
    CHECK_STR(seen.res.err.msg,
        "the check took longer than 0.01 seconds (--thread-init-timeout)");
    CHECK_INT(seen.res.end, SB_END_FORCED);
    CHECK_INT(world.users, 0);
}

static void the_check_can_be_interrupted(void)
{
    try(interrupt, true, 600000 * MS);
    CHECK_INT(seen.res.end, SB_END_SIGNAL);
    CHECK_INT(seen.res.signal, SIGINT);
    CHECK(atomic_load(&world.canceled));
    CHECK_INT(world.users, 0);
    CHECK_INT(seen.finals, 0);
}

// This must be the last test: a thread that never returns keeps using the run.
static void a_check_that_never_returns_is_abandoned(void)
{
    world.ignores_cancel = true;
    CHECK_INT(try(interrupt, true, 600000 * MS), SB_ECANCELED);
    CHECK(seen.res.unjoined);
    CHECK_INT(seen.res.end, SB_END_SIGNAL);
}

CHECK_FILE
{
    RUN(users_start_after_the_check);
    RUN(an_error_ends_the_run);
    RUN(the_check_has_a_time_limit);
    RUN(the_check_can_be_interrupted);
    RUN(a_check_that_never_returns_is_abandoned);
    int status = check_done();
    fflush(stdout);
    _exit(status); // the thread uses what exit() would free
}
