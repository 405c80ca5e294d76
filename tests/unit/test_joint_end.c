// SPDX-License-Identifier: GPL-2.0-or-later
//
// The end of a run of several ranks: what rank 0 reports.
#include "ranks/joint.h"
#include "joint_ranks.h"

struct final {
    struct rank *r;
    struct sb_group_end e;
    enum sb_group_report report;
};

static void *finish(void *arg)
{
    struct final *f = arg;
    struct sb_stats s;
    struct sb_snap snap = { 0 };
    unsigned n = 1 + f->r->o.job->rank;

    sb_stats_init(&s, 2, 2, false);
    for (unsigned i = 0; i < n; i++)
        sb_rec_event(&s.rec[1], 0, 0, n * 1000000);
    sb_snap_take(&snap, &s, SB_SNAP_FINAL, 0, NULL);
    end(f->r);
    f->report = sb__joint_end_final(&f->r->run, &snap, NULL, &s, &f->e);
    // The others wait until rank 0 has reported.
    if (f->r->o.job->of)
        sb_job_tell_all(f->r->o.job, SB_JOB_QUIT, NULL);
    sb_snap_done(&snap);
    sb_stats_done(&s);
    return NULL;
}

static void finals_are_added(void)
{
    struct rank r[3];
    struct final f[3];
    pthread_t thread[3];

    for (unsigned i = 0; i < 3; i++) {
        rank_init(&r[i], i, 3);
        f[i] = (struct final){ .r = &r[i],
            .e = { .pending = i, .all_ended = i != 1, .end = SB_END_LIMIT } };
        r[i].results = i == 0 ? 9 : 2 * i - 1;
    }
    for (unsigned i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, finish, &f[i]);
    for (unsigned i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    CHECK_INT(f[0].report, SB_GROUP_ALL);
    CHECK_INT(f[1].report, SB_GROUP_NONE);
    CHECK_INT(f[2].report, SB_GROUP_NONE);
    CHECK_INT(f[0].e.err.code, 0);
    CHECK_INT(f[0].e.sum.c.completed, 6);
    CHECK_INT(f[0].e.pending, 3);
    CHECK(!f[0].e.all_ended); // rank 1 has busy users
    CHECK_INT(f[0].e.end, SB_END_LIMIT);
    // The users of all ranks, in order.
    CHECK_INT(f[0].e.sum.users, 6);
    CHECK_INT(f[0].e.sum.user_events[1], 1);
    CHECK_INT(f[0].e.sum.user_events[3], 2);
    CHECK_INT(f[0].e.sum.user_events[5], 3);
    const struct sb_rank_figures *of = sb__joint_of(&r[0].run)->figures;
    CHECK_INT(of[2].events, 3);
    CHECK(of[2].mean == 3e6);
    CHECK(!of[2].lost);
    CHECK_STR(of[2].host, "gamma");
    // Results: one of rank 1, three of rank 2.
    CHECK_INT(r[0].taken, 7);
    CHECK_INT(r[0].results, 9); // they stay where they are
    CHECK(of[0].mean == 1e6);
    sb_snap_done(&f[0].e.sum);
    for (unsigned i = 0; i < 3; i++)
        rank_done(&r[i]);
    loopback_reset();
}

// An error of another rank after the end of rank 0 is that of the run.
static void failures_at_the_end_count(void)
{
    struct rank r[2];
    struct final f[2];
    pthread_t thread[2];

    for (unsigned i = 0; i < 2; i++) {
        rank_init(&r[i], i, 2);
        f[i] = (struct final){ .r = &r[i],
            .e = { .all_ended = true, .end = SB_END_LIMIT } };
    }
    r[1].results = 2;
    sb_err_set(&f[1].e.err, SB_ETIMEOUT, "2 users are busy");
    f[1].e.end = SB_END_HUNG;
    for (unsigned i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, finish, &f[i]);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    CHECK_INT(f[0].e.end, SB_END_HUNG);
    CHECK_INT(f[0].e.err.code, SB_ETIMEOUT);
    CHECK_STR(f[0].e.err.msg, "rank 1 (beta): 2 users are busy");
    CHECK_INT(r[0].taken, 2); // run_failed() gets what there is
    sb_snap_done(&f[0].e.sum);
    for (unsigned i = 0; i < 2; i++)
        rank_done(&r[i]);
    loopback_reset();
}

// If rank 0 cannot keep the results, the run has failed.
static void results_may_fail(void)
{
    struct rank r[2];
    struct final f[2];
    pthread_t thread[2];

    for (unsigned i = 0; i < 2; i++) {
        rank_init(&r[i], i, 2);
        f[i] = (struct final){ .r = &r[i],
            .e = { .all_ended = true, .end = SB_END_LIMIT } };
    }
    r[0].taken = 100;
    r[1].results = 1;
    for (unsigned i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, finish, &f[i]);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    CHECK_INT(f[0].e.end, SB_END_FAILED);
    CHECK_INT(f[0].e.err.code, SB_ENOMEM);
    CHECK_INT(f[0].e.sum.c.completed, 3);
    sb_snap_done(&f[0].e.sum);
    for (unsigned i = 0; i < 2; i++)
        rank_done(&r[i]);
    loopback_reset();
}

// After a signal, rank 0 does not wait long: what the intervals brought counts.
static void lost_ranks_leave_their_intervals(void)
{
    struct rank r[2];
    struct final f = { .r = &r[0] };

    for (unsigned i = 0; i < 2; i++) {
        rank_init(&r[i], i, 2);
        part(&r[i], 0, 1, 4, "op", true);
    }
    poll_all(r, 2);
    r[0].run.signal = 15;
    finish(&f);
    CHECK_INT(f.report, SB_GROUP_ALL);
    CHECK_INT(f.e.err.code, SB_ELOST);
    CHECK(strstr(f.e.err.msg, "rank 1 (beta) was lost") != NULL);
    CHECK_INT(f.e.sum.c.completed, 8);
    CHECK(sb__joint_of(&r[0].run)->figures[1].lost);
    CHECK_INT(r[0].taken, 0);
    CHECK(r[0].o.job->lost);
    sb_snap_done(&f.e.sum);
    for (unsigned i = 0; i < 2; i++)
        rank_done(&r[i]);
    loopback_reset();
}

// Without rank 0, another rank reports its own figures.
static void a_rank_without_rank_0_is_alone(void)
{
    struct rank r[2];
    struct final f = { .r = &r[1] };

    for (unsigned i = 0; i < 2; i++)
        rank_init(&r[i], i, 2);
    r[1].o.job->lost = true;
    finish(&f);
    CHECK_INT(f.report, SB_GROUP_ALONE);
    // SIGTERM: rank 0 has sent nothing since.
    r[1].o.job->lost = false;
    r[1].run.signal = 15;
    finish(&f);
    CHECK_INT(f.report, SB_GROUP_ALONE);
    r[1].o.job->lost = false;
    sb_job_tell_all(r[0].o.job, SB_JOB_STOP, NULL);
    finish(&f);
    CHECK_INT(f.report, SB_GROUP_NONE);
    for (unsigned i = 0; i < 2; i++)
        rank_done(&r[i]);
    loopback_reset();
}

CHECK_FILE
{
    RUN(finals_are_added);
    RUN(failures_at_the_end_count);
    RUN(results_may_fail);
    RUN(lost_ranks_leave_their_intervals);
    RUN(a_rank_without_rank_0_is_alone);
    return check_done();
}
