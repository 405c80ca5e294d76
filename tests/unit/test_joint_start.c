// SPDX-License-Identifier: GPL-2.0-or-later
//
// The start of a run of several ranks.
#include "ranks/joint.h"
#include "joint_ranks.h"

static void *start(void *arg)
{
    struct rank *r = arg;

    if (sb__joint_start_go(&r->run) && sb__joint_start_agree(&r->run))
        r->agreed = r->run.group->began;
    return NULL;
}

static void all_agree_on_the_start(void)
{
    struct rank r[3];
    pthread_t thread[3];

    for (unsigned i = 0; i < 3; i++)
        rank_init(&r[i], i, 3);
    r[0].shared = 42;
    for (unsigned i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, start, &r[i]);
    for (unsigned i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    CHECK(r[0].agreed > 0);
    for (unsigned i = 1; i < 3; i++) {
        const struct sb__joint_rank *of = &sb__joint_of(&r[0].run)->of[i];

        CHECK_INT(r[i].adopted, 42);
        CHECK_INT(of->users, 2);
        // The clocks are the same here: the error covers the offset.
        CHECK((uint64_t)llabs(of->offset_ns) <= of->error_ns);
        CHECK_INT(r[i].agreed, r[0].agreed + (uint64_t)of->offset_ns);
    }
    for (unsigned i = 0; i < 3; i++)
        rank_done(&r[i]);
    loopback_reset();
}

// A rank that fails ends the wait of all others; rank 0 says why.
static void *fail_start(void *arg)
{
    struct rank *r = arg;

    sb_job_fail(r->o.job, "cannot connect");
    return NULL;
}

static void a_failure_ends_the_start(void)
{
    struct rank r[3];
    pthread_t thread[3];

    for (unsigned i = 0; i < 3; i++)
        rank_init(&r[i], i, 3);
    for (unsigned i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, i == 2 ? fail_start : start, &r[i]);
    for (unsigned i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    CHECK_INT(r[0].agreed, 0);
    CHECK_INT(r[1].agreed, 0);
    CHECK_STR(r[0].run.err.msg, "rank 2 (gamma): cannot connect");
    CHECK(atomic_load(&r[1].run.stop));
    for (unsigned i = 0; i < 3; i++)
        rank_done(&r[i]);
    loopback_reset();
}

CHECK_FILE
{
    RUN(all_agree_on_the_start);
    RUN(a_failure_ends_the_start);
    return check_done();
}
