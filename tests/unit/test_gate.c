// SPDX-License-Identifier: GPL-2.0-or-later
//
// Users and the main thread at the gate between the parts of a search.
#include "run/gate.h"

#include "base/clock.h"
#include "check.h"
#include "run/lock.h"
#include "run/user_private.h"

#define USERS  3
#define SECOND UINT64_C(1000000000)

static struct sb_run_opts o;
static struct sb_run run;
static struct sb_user user[USERS];
static struct sb_user_priv priv[USERS];
static struct sb_random_shared random_shared;
static _Atomic unsigned passed;

static void reset(void)
{
    o = (struct sb_run_opts){ .threads = USERS,
        .arrivals = SB_PACE_CONSTANT,
        .time = (int64_t)(5 * SECOND) };
    run = (struct sb_run){ .o = &o,
        .random = &random_shared,
        .users = USERS,
        .user = user,
        .priv = priv,
        .searching = true };
    sb_share_whole(&run.share, USERS);
    CHECK_INT(sb__lock_init(&run.lock, &run.changed), 0);
    sb_crew_init(&run.crew, USERS);
    for (unsigned i = 0; i < USERS; i++)
        user[i] = (struct sb_user){ .id = i, .run = &run, .priv = &priv[i] };
    for (unsigned i = 0; i < USERS; i++)
        CHECK_INT(sb_waiter_init(&priv[i].waiter), 0);
    atomic_store(&passed, 0);
}

static void done(void)
{
    sb_crew_done(&run.crew);
    sb_pace_done(&run.pace);
    for (unsigned i = 0; i < USERS; i++)
        sb_waiter_done(&priv[i].waiter);
    pthread_cond_destroy(&run.changed);
    pthread_mutex_destroy(&run.lock);
}

// Waits until the run is over for it.
static void *pass(void *arg)
{
    while (sb__gate_wait(arg))
        atomic_fetch_add(&passed, 1);
    return NULL;
}

static void start(pthread_t *thread, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        pthread_create(&thread[i], NULL, pass, &user[i]);
}

static uint64_t soon(void)
{
    return sb_clock_monotonic() + 60 * SECOND;
}

static void all_users_pass_each_part(void)
{
    const struct sb__part probe = { .kind = SB__PART_PROBE };
    const struct sb__part trial = { .kind = SB__PART_TRIAL, .rate = 100 };
    pthread_t thread[USERS];

    reset();
    start(thread, USERS);
    CHECK(sb__gate_meet(&run, soon()));
    sb__gate_open(&run, &probe, SECOND, 2 * SECOND);
    CHECK(!run.open_loop);
    CHECK_INT(priv[2].before, run.t0 + SECOND);
    CHECK_INT(priv[2].leave, run.t0 + 2 * SECOND);
    CHECK(sb__gate_meet(&run, soon()));
    CHECK_INT(atomic_load(&passed), USERS);
    sb__gate_open(&run, &trial, UINT64_MAX, UINT64_MAX);
    CHECK(run.open_loop);
    CHECK(run.deadline == UINT64_MAX);
    CHECK(priv[0].before == UINT64_MAX);
    CHECK(sb__gate_meet(&run, soon()));
    CHECK_INT(atomic_load(&passed), 2 * USERS);
    CHECK_INT(run.part, 2);
    sb__run_stop(&run);
    for (unsigned i = 0; i < USERS; i++)
        pthread_join(thread[i], NULL);
    CHECK_INT(atomic_load(&passed), 2 * USERS);
    CHECK(!sb__gate_sleep(&run, soon()));
    done();
}

static void the_measured_part_has_the_time_limit(void)
{
    const struct sb__part part = { .kind = SB__PART_MEASURED, .rate = 10 };

    reset();
    sb__gate_open(&run, &part, UINT64_MAX, UINT64_MAX);
    CHECK(!run.searching);
    CHECK_INT(run.warm_end, run.t0);
    CHECK_INT(run.deadline, run.t0 + 5 * SECOND);
    done();
}

// The agreed start of the ranks, even if this one is late.
static void a_part_begins_at_its_time(void)
{
    const struct sb__part part = { .kind = SB__PART_PROBE, .at = 77 };

    reset();
    sb__gate_open(&run, &part, 10, 10);
    CHECK_INT(run.t0, 77);
    CHECK_INT(run.part_end, 87);
    done();
}

static void busy_users_fail_the_search(void)
{
    pthread_t thread[USERS];

    reset();
    start(thread, USERS - 1);
    CHECK(!sb__gate_meet(&run, sb_clock_monotonic() + SECOND / 20));
    CHECK_INT(run.err.code, SB_ETIMEOUT);
    CHECK(strstr(run.err.msg, "of 3 users do not return") != NULL);
    for (unsigned i = 0; i < USERS - 1; i++)
        pthread_join(thread[i], NULL);
    done();
}

static void users_that_have_ended_are_not_missed(void)
{
    pthread_t thread[USERS];

    reset();
    run.ended = 1;
    start(thread, USERS - 1);
    CHECK(sb__gate_meet(&run, soon()));
    run.ended = USERS;
    CHECK(!sb__gate_meet(&run, soon()));
    sb__run_stop(&run);
    for (unsigned i = 0; i < USERS - 1; i++)
        pthread_join(thread[i], NULL);
    done();
}

CHECK_FILE
{
    RUN(all_users_pass_each_part);
    RUN(the_measured_part_has_the_time_limit);
    RUN(a_part_begins_at_its_time);
    RUN(busy_users_fail_the_search);
    RUN(users_that_have_ended_are_not_missed);
    return check_done();
}
