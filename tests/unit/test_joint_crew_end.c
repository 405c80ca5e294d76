// SPDX-License-Identifier: GPL-2.0-or-later
//
// The end of a parallel command of several ranks: for whom rank 0 waits.
#include "ranks/joint.h"
#include "joint_tasks.h"

static void *end_later(void *arg)
{
    const struct timespec nap = { .tv_nsec = 20000000 };
    struct rank *r = arg;

    nanosleep(&nap, NULL);
    r->agreed = 1;
    sb__joint_crew_end(&r->run);
    return NULL;
}

static void rank_0_waits_for_the_others(void)
{
    struct rank r[2];
    pthread_t thread;

    for (unsigned i = 0; i < 2; i++)
        task_init(&r[i], i, 2);
    pthread_create(&thread, NULL, end_later, &r[1]);
    sb__joint_crew_end(&r[0].run);
    CHECK(sb__joint_of(&r[0].run)->of[1].final);
    CHECK(!r[0].o.job->lost);
    pthread_join(thread, NULL);
    for (unsigned i = 0; i < 2; i++)
        rank_done(&r[i]);
    loopback_reset();
}

// After a stop, the others may take as long to remove what they created as it
// took to create it.
static void a_rank_that_does_not_end_is_left(void)
{
    struct rank r[2];

    for (unsigned i = 0; i < 2; i++)
        task_init(&r[i], i, 2);
    sb__run_stop(&r[0].run);
    uint64_t since = sb_clock_monotonic();

    sb__joint_crew_end(&r[0].run);
    CHECK(sb_clock_monotonic() - since >= SECOND / 5);
    CHECK(r[0].o.job->lost);
    for (unsigned i = 0; i < 2; i++)
        rank_done(&r[i]);
    loopback_reset();
}

CHECK_FILE
{
    RUN(rank_0_waits_for_the_others);
    RUN(a_rank_that_does_not_end_is_left);
    return check_done();
}
