// SPDX-License-Identifier: GPL-2.0-or-later
//
// A parallel command of several ranks: what the users of one wait for comes
// from all.
#include "ranks/joint.h"
#include "crew_member.h"
#include "joint_ranks.h"
#include "joint_tasks.h"

#define RANKS 3

static struct rank all[RANKS];

static void world_init(void)
{
    for (unsigned i = 0; i < RANKS; i++)
        task_init(&all[i], i, RANKS);
}

static void world_done(void)
{
    for (unsigned i = 0; i < RANKS; i++)
        rank_done(&all[i]);
    loopback_reset();
}

static void *barrier(void *arg)
{
    struct rank *r = arg;

    uint64_t passed = 1 + (wait_at_barrier(&r->run.crew) == 0);

    // Two users of a rank store the same.
    __atomic_store_n(&r->agreed, passed, __ATOMIC_RELAXED);
    return NULL;
}

// Each rank has two users.
static void barriers_wait_for_the_users_of_all(void)
{
    pthread_t thread[2 * RANKS];

    world_init();
    for (unsigned i = 0; i < 2 * RANKS - 1; i++)
        pthread_create(&thread[i], NULL, barrier, &all[i / 2]);
    for (unsigned i = 0; i < RANKS - 1; i++)
        while (sb__joint_of(&all[i].run)->barrier == 0)
            poll_all(all, RANKS);
    CHECK_INT(sb__joint_of(&all[0].run)->opened, 0);
    CHECK_INT(__atomic_load_n(&all[1].agreed, __ATOMIC_RELAXED), 0);
    pthread_create(&thread[5], NULL, barrier, &all[2]);
    while (sb__joint_of(&all[0].run)->opened == 0)
        poll_all(all, RANKS);
    poll_all(all, RANKS);
    for (unsigned i = 0; i < 2 * RANKS; i++)
        pthread_join(thread[i], NULL);
    for (unsigned i = 0; i < RANKS; i++)
        CHECK_INT(all[i].agreed, 2);
    world_done();
}

static void *add_five(void *arg)
{
    struct rank *r = arg;

    r->agreed = 1 + (uint64_t)add_to(&r->run.crew, "rows", 5);
    return NULL;
}

static void rank_0_counts_the_tickets_of_all(void)
{
    pthread_t thread;

    world_init();
    CHECK(add_to(&all[0].run.crew, "rows", 2) == 0);
    for (unsigned i = 1; i < RANKS; i++) {
        pthread_create(&thread, NULL, add_five, &all[i]);
        while (add_to(&all[0].run.crew, "rows", 0) < 2 + 5 * i)
            poll_all(all, RANKS);
        poll_all(all, RANKS);
        pthread_join(thread, NULL);
        CHECK_INT(all[i].agreed, 1 + 2 + 5 * (i - 1));
    }
    world_done();
}

static void progress_is_a_sum(void)
{
    char line[100];

    world_init();
    for (unsigned i = 0; i < RANKS; i++)
        sb_crew_progress(&all[i].run.crew, "loading", 10, 60, 1);
    poll_all(all, RANKS);
    CHECK(sb_crew_progress_line(
        &all[0].run.crew, sb_clock_monotonic(), line, sizeof(line)));
    CHECK(strstr(line, "loading: 30 of 60") != NULL);
    world_done();
}

CHECK_FILE
{
    RUN(barriers_wait_for_the_users_of_all);
    RUN(rank_0_counts_the_tickets_of_all);
    RUN(progress_is_a_sum);
    return check_done();
}
