// SPDX-License-Identifier: GPL-2.0-or-later
//
// Ranks of a job in one process, a thread for each: they exchange messages as
// over MPI (tests/db/test_mpi, tests/fault/test_mpi), but sanitizers see them.
//
// Not with tsan: the ranks share the message of sb__overflow_message_enable().
#include "check_log.h"
#include "loopback.h"
#include "ranks/place.h"
#include "runs.h"

#define RANKS 12 // rank 1 passes on the intervals of others

struct rank {
    struct seen s; // first: the listeners of runs.h get it
    struct sb_job *job;
    const struct sb_workload_ops *ops;
    int (*task)(struct sb_workload *w, struct sb_user *u, struct sb_err *err);
    pthread_t thread;
    uint64_t adopted, results;
    // Of full intervals: the last end, the largest gap, the largest length.
    double end_s, gap_s, longest_s;
    unsigned late, naps; // how often its main thread is held up; was
    bool lost;           // it does not wait for others any more
    bool holds;          // until rank 0 has ended
    unsigned leave; // number of events after which its users leave; 0: never
    bool full;      // it has no room for results
    double checkpoint_s;
    unsigned nranks;
    struct sb_rank_figures figures[RANKS];
    uint64_t of_users[RANKS]; // events of its two users
};

static struct rank all[RANKS];
static unsigned ranks;
static _Atomic int turns; // of users, for those who wait for each other
static _Atomic bool ready, held, over;

static struct rank *rank_of(struct sb_workload *w)
{
    return w->data;
}

static void on_part(void *data, const struct sb_report *r)
{
    struct rank *k = data;
    double from = r->total_s - r->interval_s;

    on_interval(data, r);
    CHECK_INT(r->threads, 2 * ranks);
    if (r->warmup || r->partial)
        return;
    k->gap_s = fmax(k->gap_s, fabs(from - k->end_s));
    k->end_s = r->total_s;
    k->longest_s = fmax(k->longest_s, r->interval_s);
}

static void on_cut(void *data, const struct sb_report *r)
{
    on_checkpoint(data, r);
    ((struct rank *)data)->checkpoint_s = r->total_s;
}

static void on_end(void *data, const struct sb_report *r)
{
    struct rank *k = data;

    on_final(data, r);
    k->nranks = r->nranks;
    for (unsigned i = 0; i < r->nranks; i++)
        k->figures[i] = r->ranks[i];
    for (unsigned i = 0; i < r->snap->users; i++)
        k->of_users[i / 2] += r->snap->user_events[i];
}

// The main thread of a rank is held up.
static void be_late(void *arg)
{
    struct rank *r = arg;

    if (!atomic_load(&ready) || r->naps == r->late)
        return;
    r->naps++;
    atomic_store(&held, true);
    do
        nap(70 * MS);
    while (r->holds && !atomic_load(&over));
}

static void *run_rank(void *arg)
{
    struct rank *r = arg;
    struct sb_workload w = { .ops = r->ops, .data = r };
    const struct sb_listener l = { .data = r,
        .operations = true,
        .partial = true,
        .interval = on_part,
        .checkpoint = on_cut,
        .stage = on_stage,
        .final = on_end };

    if (r->task)
        sb_run_parallel(
            &w, "prepare", &r->s.o, &r->s.random, r->task, &r->s.res);
    else
        sb_run(&w, &r->s.o, &r->s.random, &l, &r->s.res);
    r->lost = r->job->lost;
    if (r == all)
        atomic_store(&over, true);
    sb_job_leave(r->job, 60000 * MS);
    return NULL;
}

static void begin(unsigned n, const struct sb_workload_ops *ops)
{
    static const char *const hosts[] = { "alpha", "beta", "gamma" };

    ranks = n;
    memset(all, 0, sizeof(all));
    atomic_store(&turns, 0);
    atomic_store(&ready, false);
    atomic_store(&held, false);
    atomic_store(&over, false);
    for (unsigned i = 0; i < n; i++) {
        struct rank *r = &all[i];

        prepare(&r->s, (int)(2 * n));
        r->ops = ops;
        r->job = loopback_job(i, n, hosts[i % 3]);
        r->s.o.job = r->job;
        r->s.o.join = sb_ranks_join;
        r->s.o.workers = "users";
        CHECK_INT(sb_share_init(&r->s.o.share, i, n, NULL, 2 * n, NULL), 0);
        sb_job_each_poll(r->job, be_late, r);
    }
}

static void perform_all(void)
{
    for (unsigned i = 1; i < ranks; i++)
        pthread_create(&all[i].thread, NULL, run_rank, &all[i]);
    run_rank(&all[0]);
    for (unsigned i = 1; i < ranks; i++)
        pthread_join(all[i].thread, NULL);
    for (unsigned i = 0; i < ranks; i++)
        sb_job_free(all[i].job);
    loopback_reset();
}

// Events, and what users have returned: three results, one in each message.

static int count_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    int op = sb_user_op(u, u->number % 2 ? "odd" : "even");

    (void)err;
    atomic_store(&ready, true);
    for (unsigned n = 1; sb_user_next(u); n++) {
        nap(MS);
        sb_rec_op(u->rec, op, 1000);
        if (n == rank_of(w)->leave)
            sb_user_stop(u);
    }
    return 0;
}

static void share(struct sb_workload *w, struct sb_buf *b)
{
    (void)w;
    sb_wire_put(b, 42);
}

static int adopt(struct sb_workload *w, struct sb_wire *r, struct sb_err *err)
{
    (void)err;
    rank_of(w)->adopted = sb_wire_get(r);
    return 0;
}

static bool give_results(struct sb_workload *w, struct sb_buf *b, size_t max)
{
    struct rank *r = rank_of(w);

    (void)max;
    sb_wire_put(b, ++r->results);
    return r->results < 3;
}

static int take_results(
    struct sb_workload *w, unsigned rank, struct sb_wire *r, struct sb_err *err)
{
    rank_of(w)->results += 100 * rank + sb_wire_get(r);
    return rank_of(w)->full ? sb_err_set(err, SB_ENOMEM, "no room for results")
                            : 0;
}

static const struct sb_workload_ops counting = { .user_run = count_loop,
    .share = share,
    .adopt = adopt,
    .give_results = give_results,
    .take_results = take_results };

// Intervals and the final report have the events of all ranks.
static void check_sums(void)
{
    const struct rank *r = &all[0];
    uint64_t events = 0, users = 0;

    CHECK_INT(r->s.res.err.code, 0);
    CHECK_INT(r->s.finals, 1);
    CHECK_INT(r->s.interval_events, r->s.c.completed);
    CHECK_INT(r->s.sum_of_users, r->s.c.completed);
    CHECK_INT(r->nranks, ranks);
    for (unsigned i = 0; i < r->nranks; i++) {
        CHECK(!r->figures[i].lost);
        CHECK(
            llabs(r->figures[i].offset_ns) <= (int64_t)r->figures[i].error_ns);
        CHECK_INT(r->of_users[i], r->figures[i].events);
        events += r->figures[i].events;
        users += r->figures[i].users;
    }
    CHECK_INT(events, r->s.c.completed);
    CHECK_INT(users, 2 * ranks);
    CHECK_STR(r->figures[ranks - 1].host, "gamma");
    for (unsigned i = 1; i < ranks; i++) {
        CHECK_INT(all[i].s.finals, 0);
        CHECK_INT(all[i].s.intervals, 0);
        CHECK_INT(all[i].adopted, 42);
    }
}

static void the_events_of_all_are_added(void)
{
    begin(3, &counting);
    for (unsigned i = 0; i < ranks; i++) {
        all[i].s.o.events = 500;
        all[i].s.o.report_interval = 20 * MS;
    }
    perform_all();
    check_sums();
    CHECK_INT(all[0].s.c.completed, 500);
    CHECK_INT(all[0].s.res.end, SB_END_LIMIT);
    CHECK_INT(all[0].results, 300 + 6 + 600 + 6); // three of each
}

// Users cannot keep the rate: rank 0 adds the arrivals that no user has
// started.
static void pending_arrivals_are_added(void)
{
    begin(3, &counting);
    for (unsigned i = 0; i < ranks; i++) {
        all[i].s.o.rate = 60000;
        all[i].s.o.time = 50 * MS;
    }
    perform_all();
    CHECK_INT(all[0].s.res.err.code, 0); // sb_snap_check() was called
    CHECK(all[0].s.scheduled > 1000);
    CHECK_INT(all[0].s.queue, all[0].s.scheduled - all[0].s.c.started);
}

static void results_may_fail(void)
{
    begin(2, &counting);
    for (unsigned i = 0; i < ranks; i++)
        all[i].s.o.events = 60;
    all[0].full = true;
    perform_all();
    CHECK_INT(all[0].s.res.err.code, SB_ENOMEM);
    CHECK_STR(all[0].s.res.err.msg, "no room for results");
    CHECK_INT(all[0].s.res.end, SB_END_FAILED);
    CHECK(all[0].s.c.completed > 0);
}

// A rank whose main thread is held up has longer intervals than the others:
// those of the job follow each other all the same.
static void late_ranks_join_intervals(void)
{
    // On a busy machine, the users may complete no event in the warm-up.
    for (int i = 0; i < 10 && (i == 0 || all[0].s.warm_events == 0); i++) {
        begin(RANKS, &counting);
        for (unsigned k = 0; k < ranks; k++) {
            all[k].s.o.time = 300 * MS;
            all[k].s.o.warmup_time = 50 * MS;
            all[k].s.o.report_interval = 20 * MS;
            all[k].late = k == 1 || k == RANKS - 1 ? 6 : 0;
        }
        perform_all();
        check_sums();
    }
    CHECK(all[0].s.warm_events > 0);
    CHECK(all[0].gap_s < 1e-6);
    CHECK(all[0].longest_s > 0.03);
}

static int fail_late(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    (void)w;
    while (sb_user_next(u))
        nap(MS);
    return u->number == 5 ? sb_err_set(err, SB_ESCRIPT, "disk full") : 0;
}

static int fail_first(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    (void)w;
    return u->number == 5 ? sb_err_set(err, SB_ESCRIPT, "no server") : 0;
}

static const struct sb_workload_ops failing_late = { .user_run = fail_late };
static const struct sb_workload_ops failing_first = { .user_init = fail_first,
    .user_run = count_loop };

// Rank 0 names the rank and its reason; the others end, too.
static void check_failure(const char *why)
{
    CHECK(all[0].s.res.err.code != 0);
    CHECK_STR(all[0].s.res.err.msg, why);
    CHECK_INT(all[0].s.res.end, SB_END_FAILED);
    CHECK_INT(all[1].s.res.err.code ? all[1].s.res.err.code : SB_ECANCELED,
        SB_ECANCELED);
}

static void a_failure_ends_the_run_of_all(void)
{
    begin(3, &failing_first);
    perform_all();
    check_failure("rank 2 (gamma): no server");
    CHECK_INT(all[0].s.finals, 0);
    begin(3, &failing_late);
    for (unsigned i = 0; i < ranks; i++)
        all[i].s.o.events = 60;
    perform_all();
    check_failure("rank 2 (gamma): disk full");
    CHECK_INT(all[0].s.finals, 1);
    CHECK_STR(all[0].s.failure, "rank 2 (gamma): disk full");
}

static void stages_and_checkpoints_are_sums(void)
{
    static const char *const at[] = { "0.1" };
    struct sb_err err;

    for (int cut = 0; cut < 2; cut++) {
        begin(3, &counting);
        for (unsigned i = 0; i < ranks; i++) {
            struct sb_run_opts *o = &all[i].s.o;

            CHECK_INT(sb_stages_parse(&o->stages,
                          "threads=3 for 80ms; threads=6 for 80ms; threads=1 "
                          "for 80ms",
                          6, 0, NULL, &err),
                0);
            o->time = (int64_t)o->stages.ns;
            o->report_interval = 20 * MS;
            if (cut)
                o->report_checkpoints = (struct sb_opt_list){ at, 1 };
        }
        all[2].late = cut; // so it may leave out the end of a stage
        all[1].leave = cut ? 20 : 0;
        perform_all();
        CHECK_INT(all[0].s.res.err.code, 0);
        CHECK_INT(all[0].s.stage_events, all[0].s.whole.completed);
        CHECK(all[0].s.final_stages == all[0].s.stages);
        if (!cut) {
            check_sums();
            continue;
        }
        CHECK_INT(all[0].s.checkpoints, 1);
        CHECK_NEAR(all[0].checkpoint_s, 0.1, 1e-9);
        CHECK(all[0].s.c.completed < all[0].s.whole.completed);
    }
}

// Parallel commands -----------------------------------------------------------

static int wait_for_all(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    double n;

    for (int round = 1; round <= 3; round++) {
        atomic_fetch_add(&turns, 1);
        if (sb_user_barrier(u))
            return sb_err_set(err, SB_ECANCELED, "canceled");
        if (atomic_load(&turns) < round * 2 * (int)ranks)
            return sb_err_set(err, SB_EINTERNAL, "a barrier opened early");
        if (sb_user_barrier(u))
            return sb_err_set(err, SB_ECANCELED, "canceled");
    }
    while ((n = sb_user_add(u, "pages", 1)) >= 0 && n < 300)
        atomic_fetch_add(&rank_of(w)->s.calls, (int)n);
    return n < 0 ? sb_err_set(err, SB_ECANCELED, "canceled") : 0;
}

static void barriers_and_tickets_are_those_of_all(void)
{
    int sum = 0;

    begin(3, &counting);
    for (unsigned i = 0; i < ranks; i++)
        all[i].task = wait_for_all;
    perform_all();
    for (unsigned i = 0; i < ranks; i++) {
        CHECK_INT(all[i].s.res.err.code, 0);
        CHECK_STR(all[i].s.res.err.msg, "");
        sum += all[i].s.calls;
    }
    CHECK_INT(sum, 300 * 299 / 2);
}

// The users of the others wait at a barrier, and then until all calls have
// returned.
static int fail_task(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    (void)w;
    if (u->number == 5)
        nap(30 * MS);
    int rc = u->number == 5 ? sb_err_set(err, SB_EQUERY, "disk full")
                            : sb_user_barrier(u);

    if (rc) {
        sb_user_fail_run(u,
            rc == SB_EQUERY ? err : &(struct sb_err){ .code = SB_ECANCELED });
        nap((int64_t)u->number * 5 * MS);
        atomic_fetch_add(&turns, 1);
        sb_user_settle(u);
        if (atomic_load(&turns) != 2 * (int)ranks)
            return sb_err_set(err, SB_EINTERNAL, "not all have settled");
    }
    return rc == SB_EQUERY ? rc : sb_err_set(err, SB_ECANCELED, "canceled");
}

static void a_failing_command_is_undone_by_all(void)
{
    begin(3, &counting);
    for (unsigned i = 0; i < ranks; i++)
        all[i].task = fail_task;
    perform_all();
    check_failure("rank 2 (gamma): disk full");
    CHECK_STR(all[2].s.res.err.msg, "disk full");
    CHECK_INT(atomic_load(&turns), 2 * ranks);
}

static int fail_when_held(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    (void)w;
    atomic_store(&ready, true);
    if (u->number > 0)
        return 0;
    while (!atomic_load(&held))
        nap(MS);
    return sb_err_set(err, SB_EQUERY, "disk full");
}

// After a stop, the others may take as long to remove what they created as it
// took to create it.
static void a_rank_that_does_not_end_is_left(void)
{
    uint64_t since = sb_clock_monotonic();

    begin(3, &counting);
    for (unsigned i = 0; i < ranks; i++) {
        all[i].task = fail_when_held;
        all[i].s.o.shutdown_grace = 10 * MS;
    }
    all[2].late = 1;
    all[2].holds = true;
    perform_all();
    CHECK_STR(all[0].s.res.err.msg, "disk full");
    CHECK(all[0].lost && !all[1].lost);
    CHECK(sb_clock_monotonic() - since < 9000 * MS); // after 10 s it is silent
}

CHECK_FILE
{
    capture();
    RUN(the_events_of_all_are_added);
    RUN(pending_arrivals_are_added);
    RUN(results_may_fail);
    RUN(late_ranks_join_intervals);
    RUN(a_failure_ends_the_run_of_all);
    RUN(stages_and_checkpoints_are_sums);
    RUN(barriers_and_tickets_are_those_of_all);
    RUN(a_failing_command_is_undone_by_all);
    RUN(a_rank_that_does_not_end_is_left);
    captured();
    return check_done();
}
