// SPDX-License-Identifier: GPL-2.0-or-later
//
// A search for the rate by several ranks.
#include "ranks/joint.h"
#include "joint_ranks.h"

#define RANKS 3

struct follower {
    struct rank *r;
    struct sb__part part;
    bool next;
};

static struct sb__part_figures figures(unsigned n)
{
    struct sb__part_figures f = { .rate = 100 * n,
        .late = n == 3,
        .growth = n,
        .arrivals = 10 * n,
        .left = n };
    struct sb_stats s;

    sb_stats_init(&s, 2, 2, false);
    for (unsigned i = 0; i < n; i++)
        sb_rec_event(&s.rec[0], 0, 0, 1000000);
    sb_snap_take(&f.sum, &s, SB_SNAP_FINAL, 0, NULL);
    sb_stats_done(&s);
    return f;
}

static void *follow(void *arg)
{
    struct follower *t = arg;
    struct rank *r = t->r;
    struct sb__part_figures f = figures(1 + r->o.job->rank);

    t->next = sb__joint_parts_next(&r->run, &t->part);
    if (t->next)
        sb__joint_parts_send(&r->run, &f);
    sb_snap_done(&f.sum);
    return NULL;
}

static void parts_are_carried_out_by_all(void)
{
    struct rank r[RANKS];
    struct follower t[RANKS];
    pthread_t thread[RANKS];
    struct sb__part part = { .kind = SB__PART_TRIAL, .rate = 600.5 };
    struct sb__part_figures f = figures(1);

    for (unsigned i = 0; i < RANKS; i++) {
        rank_init(&r[i], i, RANKS);
        sb__joint_of(&r[i].run)->offset_ns = 1000 * i;
        sb_stats_init(&r[i].run.stats[SB_PHASE_WARMUP], 2, 2, true);
    }
    for (unsigned i = 1; i < RANKS; i++) {
        t[i] = (struct follower){ .r = &r[i] };
        pthread_create(&thread[i], NULL, follow, &t[i]);
    }
    uint64_t before = sb_clock_monotonic();

    sb__joint_parts_begin(&r[0].run, &part);
    CHECK(part.at >= before + sb__joint_start_lead_ns(sb__joint_of(&r[0].run)));
    CHECK(sb__joint_parts_sum(&r[0].run, &f));
    CHECK(f.late); // rank 2 is
    CHECK(f.rate == 600);
    CHECK(f.growth == 6);
    CHECK(f.arrivals == 60);
    CHECK_INT(f.left, 6);
    CHECK_INT(f.sum.c.completed, 6);
    sb_snap_done(&f.sum);
    for (unsigned i = 1; i < RANKS; i++) {
        pthread_join(thread[i], NULL);
        CHECK(t[i].next);
        CHECK_INT(t[i].part.kind, SB__PART_TRIAL);
        CHECK(t[i].part.rate == 600.5);
        CHECK_INT(t[i].part.at, part.at + 1000 * i);
    }
    // A stop ends the wait.
    sb__run_stop(&r[0].run);
    sb__joint_parts_begin(&r[0].run, &part);
    f = figures(1);
    CHECK(!sb__joint_parts_sum(&r[0].run, &f));
    sb_snap_done(&f.sum);
    for (unsigned i = 0; i < RANKS; i++) {
        sb_stats_done(&r[i].run.stats[SB_PHASE_WARMUP]);
        rank_done(&r[i]);
    }
    loopback_reset();
}

CHECK_FILE
{
    RUN(parts_are_carried_out_by_all);
    return check_done();
}
