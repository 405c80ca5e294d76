// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/joint.h"

#include "base/clock.h"
#include "check.h"
#include "loopback.h"

#define SECOND UINT64_C(1000000000)
#define RANKS  12 // rank 1 has children of its own

struct reports {
    unsigned n;
    struct {
        double total_s, interval_s;
        uint64_t events, queries;
        unsigned running, nops;
        bool partial, warmup;
        char op[32];
    } row[32];
};

// A rank without users: what it has recorded is given by the test.
struct rank {
    struct sb_run_opts o;
    struct sb_run run;
    struct sb_user user[2];
    struct sb_listener l;
    struct reports reports;
    struct sb_stats stats;
    struct sb_workload w;
    uint64_t agreed, shared, adopted;
};

static void on_report(void *data, const struct sb_report *r)
{
    struct reports *all = data;
    unsigned n = all->n++;

    all->row[n].total_s = r->total_s;
    all->row[n].interval_s = r->interval_s;
    all->row[n].events = r->snap->c.completed;
    all->row[n].running = r->running;
    all->row[n].partial = r->partial;
    all->row[n].warmup = r->warmup;
    for (unsigned i = 0; i < r->snap->nops; i++) {
        if (r->snap->op[i].count == 0)
            continue;
        all->row[n].nops++;
        snprintf(all->row[n].op, sizeof(all->row[n].op), "%.31s",
            r->stats->op[i].name);
    }
}

static struct rank *of_workload(struct sb_workload *w)
{
    return w->data;
}

static void share(struct sb_workload *w, struct sb_buf *b)
{
    sb_wire_put(b, of_workload(w)->shared);
}

static int adopt(struct sb_workload *w, struct sb_wire *r, struct sb_err *err)
{
    (void)err;
    of_workload(w)->adopted = sb_wire_get(r);
    return 0;
}

static const struct sb_workload_ops workload_ops = { .share = share,
    .adopt = adopt };

static void rank_init(struct rank *r, unsigned number, unsigned ranks)
{
    static const char *const hosts[] = { "alpha", "beta", "gamma" };

    *r = (struct rank){ 0 };
    r->o.job = loopback_job(number, ranks, hosts[number % 3]);
    r->o.threads = 2 * ranks;
    r->o.thread_init_timeout = 10 * (int64_t)SECOND;
    r->l = (struct sb_listener){
        .data = &r->reports, .interval = on_report, .partial = true
    };
    r->w = (struct sb_workload){ .ops = &workload_ops, .data = r };
    r->run.o = &r->o;
    r->run.l = &r->l;
    r->run.w = &r->w;
    r->run.users = 2;
    r->run.user = r->user;
    r->run.deadline = UINT64_MAX;
    r->run.start_at = sb_clock_monotonic();
    r->run.has_lock = sb__lock_init(&r->run.lock, &r->run.changed) == 0;
    pthread_cond_init(&r->run.go, NULL);
    sb_crew_init(&r->run.crew, 2);
    sb_stats_init(&r->stats, 2, 2, false);
    CHECK_INT(sb__joint_init(&r->run), 0);
}

static void rank_done(struct rank *r)
{
    sb__joint_done(&r->run);
    sb_job_free(r->o.job);
    sb_stats_done(&r->stats);
    sb_crew_done(&r->run.crew);
    pthread_cond_destroy(&r->run.go);
    pthread_cond_destroy(&r->run.changed);
    pthread_mutex_destroy(&r->run.lock);
}

// What a rank did in an interval: n events of 1 ms, with an operation.
static void part(struct rank *r, uint64_t from, uint64_t key, unsigned n,
    const char *op, bool full)
{
    struct sb_stats s;
    struct sb_snap snap = { 0 };

    sb_stats_init(&s, 2, 2, false);
    int number = sb_stats_op(&s, op, SB_OP_READ);
    for (unsigned i = 0; i < n; i++) {
        sb_rec_event(&s.rec[0], 0, 0, 1000000);
        sb_rec_op(&s.rec[1], number, 5);
    }
    sb_snap_take(&snap, &s, SB_SNAP_FINAL, 0, NULL);
    snap.ns = (key - from) * SECOND;
    snap.running = 2;
    sb__joint_part(&r->run, &snap, &s, from * SECOND, key * SECOND, full);
    sb_snap_done(&snap);
    sb_stats_done(&s);
}

static void end(struct rank *r)
{
    sb__joint_part(&r->run, NULL, NULL, 0, SB__JOINT_END, false);
}

// Until all messages have arrived, also those that they caused.
static void poll_all(struct rank *r, unsigned n)
{
    for (int turn = 0; turn < 4; turn++)
        for (unsigned i = n; i-- > 0;)
            sb__joint_poll(&r[i].run);
}

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
    bool reports;
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
    f->reports = sb__joint_final(&f->r->run, &snap, &s, &f->e);
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
    CHECK(f[0].reports);
    CHECK(!f[1].reports && !f[2].reports);
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
    CHECK(f.reports);
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
    RUN(stops_are_passed_on);
    return check_done();
}
