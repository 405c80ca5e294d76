// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the ranks of a job do from time to time: stops and silent ranks.
#include "joint_ranks.h"

static void stops_are_passed_on(void)
{
    struct rank r[3];

    for (unsigned i = 0; i < 3; i++)
        rank_init(&r[i], i, 3);
    // A signal that another rank has got.
    r[1].run.signal = 15;
    sb__run_stop(&r[1].run);
    poll_all(r, 3);
    CHECK_INT(r[0].run.signal, 15);
    CHECK(atomic_load(&r[0].run.stop));
    CHECK(atomic_load(&r[2].run.stop));
    CHECK_INT(r[2].run.signal, 0);
    for (unsigned i = 0; i < 3; i++)
        rank_done(&r[i]);
    loopback_reset();
}

// Rank 0 has heard of this rank n seconds ago, and was not held up.
static void let_pass(struct rank *r, unsigned rank, uint64_t seconds)
{
    struct sb__joint *j = sb__joint_of(&r->run);
    uint64_t now = sb_clock_monotonic();

    j->started = true;
    j->polled = now;
    j->awake = now > 60 * SECOND ? now - 60 * SECOND : 1;
    for (unsigned i = 1; j->of && i < j->job->ranks; i++)
        j->job->of[i].heard = now;
    if (j->of)
        j->job->of[rank].heard = now - seconds * SECOND;
    else
        j->heard = now - seconds * SECOND;
}

static void silent_ranks_are_lost(void)
{
    struct rank r[3];

    for (unsigned i = 0; i < 3; i++)
        rank_init(&r[i], i, 3);
    poll_all(r, 3); // the first messages of all
    let_pass(&r[0], 2, 5);
    sb__joint_poll(&r[0].run);
    CHECK_INT(r[0].run.err.code, 0);
    let_pass(&r[0], 2, 11);
    sb__joint_poll(&r[0].run);
    CHECK_INT(r[0].run.err.code, SB_ELOST);
    CHECK_INT(sb__joint_of(&r[0].run)->lost, 2);
    CHECK(strstr(r[0].run.err.msg, "rank 2 (gamma) was lost") != NULL);
    for (unsigned i = 0; i < 3; i++)
        rank_done(&r[i]);
    loopback_reset();
}

// Its own silence says nothing about others: their messages are not read yet.
static void a_rank_that_was_held_up_waits(void)
{
    struct rank r[2];

    for (unsigned i = 0; i < 2; i++)
        rank_init(&r[i], i, 2);
    poll_all(r, 2);
    let_pass(&r[0], 1, 11);
    sb__joint_of(&r[0].run)->polled -= 5 * SECOND;
    sb__joint_poll(&r[0].run);
    CHECK_INT(r[0].run.err.code, 0);
    for (unsigned i = 0; i < 2; i++)
        rank_done(&r[i]);
    loopback_reset();
}

static void rank_0_has_more_time(void)
{
    struct rank r[2];

    for (unsigned i = 0; i < 2; i++)
        rank_init(&r[i], i, 2);
    poll_all(r, 2);
    let_pass(&r[1], 0, 20);
    sb__joint_poll(&r[1].run);
    CHECK_INT(r[1].run.err.code, 0);
    let_pass(&r[1], 0, 31);
    sb__joint_poll(&r[1].run);
    CHECK_INT(r[1].run.err.code, SB_ELOST);
    CHECK(r[1].o.job->lost);
    for (unsigned i = 0; i < 2; i++)
        rank_done(&r[i]);
    loopback_reset();
}

static bool never(struct sb__joint *j)
{
    (void)j;
    return false;
}

// The wait for a change of the run handles messages, too.
static void waits_handle_messages(void)
{
    struct rank r[2];

    for (unsigned i = 0; i < 2; i++)
        rank_init(&r[i], i, 2);
    CHECK(!sb__joint_poll_until(&r[0].run, never, 1));
    sb__run_stop(&r[0].run);
    sb__joint_poll(&r[0].run);
    pthread_mutex_lock(&r[1].run.lock);
    sb__run_wait(&r[1].run, 1);
    pthread_mutex_unlock(&r[1].run.lock);
    CHECK(atomic_load(&r[1].run.stop));
    for (unsigned i = 0; i < 2; i++)
        rank_done(&r[i]);
    loopback_reset();
}

CHECK_FILE
{
    RUN(stops_are_passed_on);
    RUN(silent_ranks_are_lost);
    RUN(a_rank_that_was_held_up_waits);
    RUN(rank_0_has_more_time);
    RUN(waits_handle_messages);
    return check_done();
}
