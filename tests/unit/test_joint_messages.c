// SPDX-License-Identifier: GPL-2.0-or-later
//
// Messages between ranks whose effect test_joint cannot provoke: clocks that
// differ, ranks that are silent for a long time, parts of a search for the
// rate.
#include "base/clock.h"
#include "check.h"
#include "loopback.h"
#include "ranks/joint.h"
#include "ranks/place.h"
#include "loop/waiter.h"
#include "run/meter.h"

#define RANKS  3
#define SECOND UINT64_C(1000000000)

struct rank {
    struct sb_run_opts o;
    struct sb_run run;
    struct sb_user user[2];
    struct sb_workload w;
    struct sb__joint *j;
    struct sb__part part; // that it has got
};

static struct rank r[RANKS];

static void poll_all(void)
{
    for (int turn = 0; turn < 4; turn++)
        for (unsigned i = RANKS; i-- > 0;)
            sb__joint_poll(&r[i].run);
}

static void begin(void)
{
    static const struct sb_workload_ops no_ops = { 0 };
    static const char *const hosts[] = { "alpha", "beta", "gamma" };

    memset(r, 0, sizeof(r));
    for (unsigned i = 0; i < RANKS; i++) {
        struct sb_run *run = &r[i].run;

        r[i].o.job = loopback_job(i, RANKS, hosts[i]);
        r[i].w.ops = &no_ops;
        run->o = &r[i].o;
        run->w = &r[i].w;
        run->users = 2;
        run->user = r[i].user;
        CHECK_INT(sb_lock_init(&run->lock, &run->changed), 0);
        sb_crew_init(&run->crew, 2);
        sb_stats_init(&run->stats[SB_PHASE_WARMUP], 2, 2, true);
        CHECK_INT(sb_ranks_join(run), 0);
        r[i].j = sb__joint_of(run);
    }
    poll_all(); // the first messages of all
}

static void end(void)
{
    for (unsigned i = 0; i < RANKS; i++) {
        struct sb_run *run = &r[i].run;

        run->group->ops->leave(run);
        sb_job_free(r[i].o.job);
        sb_stats_done(&run->stats[SB_PHASE_WARMUP]);
        sb_crew_done(&run->crew);
        pthread_cond_destroy(&run->changed);
        pthread_mutex_destroy(&run->lock);
    }
    loopback_reset();
}

// Its clock is ahead of that of rank 0.
static void a_start_follows_the_clock(void)
{
    struct sb_buf b;

    begin();
    r[1].j->offset_ns = 5000;
    sb_buf_init(&b, 0);
    sb_wire_put_signed(&b, 0);
    sb_wire_put(&b, 7 * SECOND);
    sb_job_send(r[0].o.job, 1, SB_JOB_START, &b);
    sb_buf_done(&b);
    poll_all();
    CHECK(r[1].j->started);
    CHECK_INT(r[1].run.group->began, 7 * SECOND + 5000);
    end();
}

// This rank was heard n seconds ago, and the one that polls was not held up.
static void let_pass(struct rank *at, unsigned rank, uint64_t seconds)
{
    struct sb__joint *j = at->j;
    uint64_t now = sb_clock_monotonic();

    j->started = true;
    j->polled = now;
    j->awake = now > 60 * SECOND ? now - 60 * SECOND : 1;
    for (unsigned i = 1; j->of && i < RANKS; i++)
        j->job->of[i].heard = i == rank ? now - seconds * SECOND : now;
    j->heard = now - seconds * SECOND;
}

static void silent_ranks_are_lost(void)
{
    begin();
    let_pass(&r[0], 2, 5);
    sb__joint_poll(&r[0].run);
    CHECK_INT(r[0].run.err.code, 0);
    // Its own silence says nothing about others: their messages are not read
    // yet.
    let_pass(&r[0], 2, 11);
    r[0].j->polled -= 5 * SECOND;
    sb__joint_poll(&r[0].run);
    CHECK_INT(r[0].run.err.code, 0);
    let_pass(&r[0], 2, 11);
    sb__joint_poll(&r[0].run);
    CHECK_INT(r[0].run.err.code, SB_ELOST);
    CHECK_INT(r[0].j->lost, 2);
    CHECK(strstr(r[0].run.err.msg,
              "rank 2 (gamma) was lost: its last message came 11.0 s ago; the "
              "figures") != NULL);
    end();
}

static void rank_0_has_more_time(void)
{
    begin();
    let_pass(&r[1], 0, 20);
    sb__joint_poll(&r[1].run);
    CHECK_INT(r[1].run.err.code, 0);
    let_pass(&r[1], 0, 31);
    sb__joint_poll(&r[1].run);
    CHECK_INT(r[1].run.err.code, SB_ELOST);
    CHECK(r[1].o.job->lost);
    end();
}

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
    struct rank *t = arg;
    struct sb__part_figures f = figures(1 + t->o.job->rank);

    if (sb__joint_parts_next(&t->run, &t->part))
        sb__joint_parts_send(&t->run, &f);
    sb_snap_done(&f.sum);
    return NULL;
}

static void parts_are_carried_out_by_all(void)
{
    struct sb__part part = { .kind = SB__PART_TRIAL, .rate = 600.5 };
    struct sb__part_figures f = figures(1);
    uint64_t before = sb_clock_monotonic();
    pthread_t thread[RANKS];

    begin();
    for (unsigned i = 1; i < RANKS; i++) {
        r[i].j->offset_ns = 1000 * i;
        pthread_create(&thread[i], NULL, follow, &r[i]);
    }
    sb__joint_parts_begin(&r[0].run, &part);
    CHECK(part.at >= before + sb__joint_start_lead_ns(r[0].j));
    CHECK(sb__joint_parts_sum(&r[0].run, &f));
    CHECK(f.late); // rank 2 is
    CHECK(f.rate == 600 && f.growth == 6 && f.arrivals == 60);
    CHECK_INT(f.left, 6);
    CHECK_INT(f.sum.c.completed, 6);
    sb_snap_done(&f.sum);
    for (unsigned i = 1; i < RANKS; i++) {
        pthread_join(thread[i], NULL);
        CHECK_INT(r[i].part.kind, SB__PART_TRIAL);
        CHECK(r[i].part.rate == 600.5);
        CHECK_INT(r[i].part.at, part.at + 1000 * i);
    }
    // A stop ends the wait.
    sb__run_stop(&r[0].run);
    sb__joint_parts_begin(&r[0].run, &part);
    f = figures(1);
    CHECK(!sb__joint_parts_sum(&r[0].run, &f));
    sb_snap_done(&f.sum);
    end();
}

static void progress_is_a_sum(void)
{
    char line[100];

    begin();
    for (unsigned i = 0; i < RANKS; i++) {
        sb__joint_crew_init(r[i].j);
        sb_crew_progress(&r[i].run.crew, "loading", 10, 60, 1);
    }
    poll_all();
    CHECK(sb_crew_progress_line(
        &r[0].run.crew, sb_clock_monotonic(), line, sizeof(line)));
    CHECK(strstr(line, "loading: 30 of 60") != NULL);
    end();
}

static void the_rest_of_a_warmup_ends_with_it(void)
{
    const struct sb_snap diff = { .ns = SECOND / 3, .users = 2 };
    struct sb_meter m = { .run = &r[0].run,
        .phase = SB_PHASE_WARMUP,
        .interval = SECOND,
        .next_tick = 101 * SECOND };

    begin();
    r[0].run.t0 = 100 * SECOND;
    r[0].run.warm_end = 100 * SECOND + SECOND / 3;
    r[0].run.deadline = 105 * SECOND;
    sb__meter_group_interval(&m, &diff, r[0].run.warm_end, true);
    CHECK_INT(m.key, SECOND / 3);
    end();
}

CHECK_FILE
{
    RUN(a_start_follows_the_clock);
    RUN(silent_ranks_are_lost);
    RUN(rank_0_has_more_time);
    RUN(parts_are_carried_out_by_all);
    RUN(progress_is_a_sum);
    RUN(the_rest_of_a_warmup_ends_with_it);
    return check_done();
}
