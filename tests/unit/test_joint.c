// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/joint.h"

#include "joint_ranks.h"

#define RANKS 12 // rank 1 has children of its own

static void lines_wait_for_all_ranks(void)
{
    struct rank r[RANKS];

    for (unsigned i = 0; i < RANKS; i++)
        rank_init(&r[i], i, RANKS);
    for (unsigned i = 0; i < RANKS - 1; i++)
        part(&r[i], 0, 1, 1 + i, i == 5 ? "five" : "all", true);
    poll_all(r, RANKS);
    CHECK_INT(r[0].reports.n, 0); // one is missing
    // The others go on.
    for (unsigned i = 0; i < RANKS - 1; i++)
        part(&r[i], 1, 2, 1, "all", true);
    part(&r[RANKS - 1], 0, 1, RANKS, "all", true);
    poll_all(r, RANKS);
    CHECK_INT(r[0].reports.n, 1);
    CHECK_INT(r[0].reports.row[0].events, RANKS * (RANKS + 1) / 2);
    CHECK_INT(r[0].reports.row[0].running, 2 * RANKS);
    CHECK_INT(r[0].reports.row[0].nops, 2);
    CHECK(r[0].reports.row[0].total_s == 1);
    CHECK(!r[0].reports.row[0].partial);
    part(&r[RANKS - 1], 1, 2, 1, "all", true);
    poll_all(r, RANKS);
    CHECK_INT(r[0].reports.n, 2);
    CHECK_INT(r[0].reports.row[1].events, RANKS);
    CHECK(r[0].reports.row[1].total_s == 2);
    // Rank 0 and a parent read only what their children send.
    CHECK_INT(r[0].run.joint->children, 8);
    CHECK_INT(r[1].run.joint->children, RANKS - 9);
    CHECK_INT(r[2].run.joint->children, 0);
    CHECK_INT(
        r[0].run.joint->sofar.c.completed, RANKS * (RANKS + 1) / 2 + RANKS);
    for (unsigned i = 0; i < RANKS; i++)
        rank_done(&r[i]);
    loopback_reset();
}

// A rank that was late has one part for two intervals: so has the job.
static void late_parts_join_intervals(void)
{
    struct rank r[3];

    for (unsigned i = 0; i < 3; i++)
        rank_init(&r[i], i, 3);
    for (unsigned i = 0; i < 2; i++) {
        part(&r[i], 0, 1, 10, "op", true);
        part(&r[i], 1, 2, 20, "op", true);
        part(&r[i], 2, 3, 1, "op", true);
    }
    part(&r[2], 0, 2, 5, "op", true);
    poll_all(r, 3);
    CHECK_INT(r[0].reports.n, 1);
    CHECK_INT(r[0].reports.row[0].events, 65);
    CHECK(r[0].reports.row[0].total_s == 2);
    CHECK(r[0].reports.row[0].interval_s == 2);
    CHECK_INT(r[0].reports.row[0].running, 6);
    part(&r[2], 2, 3, 1, "op", true);
    poll_all(r, 3);
    CHECK_INT(r[0].reports.n, 2);
    CHECK_INT(r[0].reports.row[1].events, 3);
    CHECK(r[0].reports.row[1].interval_s == 1);
    for (unsigned i = 0; i < 3; i++)
        rank_done(&r[i]);
    loopback_reset();
}

// Ranks whose users have ended do not delay the others.
static void ended_ranks_are_not_waited_for(void)
{
    struct rank r[RANKS];

    for (unsigned i = 0; i < RANKS; i++)
        rank_init(&r[i], i, RANKS);
    for (unsigned i = 0; i < RANKS; i++) {
        part(&r[i], 0, 1, 1, "op", true);
        if (i != 4) {
            part(&r[i], 1, 2, 1, "op", false); // a rest
            end(&r[i]);
        }
    }
    part(&r[4], 1, 2, 7, "op", true);
    part(&r[4], 2, 3, 7, "op", true);
    poll_all(r, RANKS);
    CHECK_INT(r[0].reports.n, 3);
    CHECK_INT(r[0].reports.row[1].events, RANKS + 6);
    CHECK(!r[0].reports.row[1].partial);
    CHECK_INT(r[0].reports.row[2].events, 7);
    part(&r[4], 3, 4, 2, "op", false);
    end(&r[4]);
    poll_all(r, RANKS);
    CHECK_INT(r[0].reports.n, 4);
    CHECK(r[0].reports.row[3].partial);
    for (unsigned i = 0; i < RANKS; i++)
        rank_done(&r[i]);
    loopback_reset();
}

static void *start(void *arg)
{
    struct rank *r = arg;

    if (sb__joint_go(&r->run) && sb__joint_agree(&r->run))
        r->agreed = r->run.joint->began;
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
        const struct sb__joint_rank *of = &r[0].run.joint->of[i];

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

struct final {
    struct rank *r;
    struct sb__joint_end e;
    enum sb__joint_report report;
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
    f->report = sb__joint_final(&f->r->run, &snap, NULL, &s, &f->e);
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
    }
    for (unsigned i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, finish, &f[i]);
    for (unsigned i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    CHECK_INT(f[0].report, SB__JOINT_ALL);
    CHECK_INT(f[1].report, SB__JOINT_NONE);
    CHECK_INT(f[2].report, SB__JOINT_NONE);
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
    const struct sb_rank_figures *of = r[0].run.joint->figures;
    CHECK_INT(of[2].events, 3);
    CHECK(of[2].mean == 3e6);
    CHECK(!of[2].lost);
    CHECK_STR(of[2].host, "gamma");
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
    sb_err_set(&f[1].e.err, SB_ETIMEOUT, "2 users are busy");
    f[1].e.end = SB_END_HUNG;
    for (unsigned i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, finish, &f[i]);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    CHECK_INT(f[0].e.end, SB_END_HUNG);
    CHECK_INT(f[0].e.err.code, SB_ETIMEOUT);
    CHECK_STR(f[0].e.err.msg, "rank 1 (beta): 2 users are busy");
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
    CHECK_INT(f.report, SB__JOINT_ALL);
    CHECK_INT(f.e.err.code, SB_ELOST);
    CHECK(strstr(f.e.err.msg, "rank 1 (beta) was lost") != NULL);
    CHECK_INT(f.e.sum.c.completed, 8);
    CHECK(r[0].run.joint->figures[1].lost);
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
    CHECK_INT(f.report, SB__JOINT_ALONE);
    // SIGTERM: rank 0 has sent nothing since.
    r[1].o.job->lost = false;
    r[1].run.signal = 15;
    finish(&f);
    CHECK_INT(f.report, SB__JOINT_ALONE);
    r[1].o.job->lost = false;
    sb_job_tell_all(r[0].o.job, SB_JOB_STOP, NULL);
    finish(&f);
    CHECK_INT(f.report, SB__JOINT_NONE);
    for (unsigned i = 0; i < 2; i++)
        rank_done(&r[i]);
    loopback_reset();
}

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

int main(void)
{
    RUN(lines_wait_for_all_ranks);
    RUN(late_parts_join_intervals);
    RUN(ended_ranks_are_not_waited_for);
    RUN(all_agree_on_the_start);
    RUN(a_failure_ends_the_start);
    RUN(finals_are_added);
    RUN(failures_at_the_end_count);
    RUN(lost_ranks_leave_their_intervals);
    RUN(a_rank_without_rank_0_is_alone);
    RUN(stops_are_passed_on);
    return check_done();
}
