// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs with workloads in C. Limits in time are short and nothing is compared
// with how long something takes, but for bounds that a hang would break.
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "run/run.h"

#define MS INT64_C(1000000)

struct seen {
    struct sb_run_opts o;
    struct sb_random_shared random;
    struct sb_run_result res;
    struct sb_counters c;
    uint64_t scheduled, unfinished, sum_of_users, intervals;
    uint64_t interval_events, warm_events;
    uint64_t lat_max, lag_max, queue;
    int finals, checkpoints;
    _Atomic int calls; // of the workload's events
    _Atomic bool canceled;
    _Atomic uint64_t keys[8]; // a random number of each user
};

static void on_interval(void *data, const struct sb_report *r)
{
    struct seen *s = data;

    s->intervals++;
    if (r->warmup)
        s->warm_events += r->snap->c.completed;
    else
        s->interval_events += r->snap->c.completed;
}

static void on_checkpoint(void *data, const struct sb_report *r)
{
    struct seen *s = data;

    s->checkpoints++;
    s->interval_events += r->snap->c.completed;
}

static void on_final(void *data, const struct sb_report *r)
{
    struct seen *s = data;

    s->finals++;
    s->c = r->snap->c;
    s->scheduled = r->snap->scheduled;
    s->unfinished = r->snap->unfinished;
    s->lat_max = r->lat_max;
    s->lag_max = r->snap->lag_max;
    s->queue = r->queue;
    for (unsigned i = 0; i < r->snap->users; i++)
        s->sum_of_users += r->snap->user_events[i];
}

static void prepare(struct seen *s, int threads)
{
    const struct sb_dist_opts dist = { .seed = 7,
        .spec_iter = 12,
        .spec_pct = 1,
        .spec_res = 75,
        .pareto_h = 0.2,
        .zipfian_exp = 0.8 };

    memset(s, 0, sizeof(*s));
    s->o = (struct sb_run_opts){ .threads = threads,
        .forced_shutdown_ns = -1,
        .thread_stack_size = 1 << 20,
        .thread_init_timeout = 30000 * MS,
        .think_time = "",
        .shutdown_grace = 10000 * MS };
    sb_random_share(&s->random, &dist, 1, NULL);
}

static int perform(struct seen *s, const struct sb_workload_ops *ops)
{
    struct sb_workload w = { .ops = ops, .data = s };
    const struct sb_listener l = { .data = s,
        .interval = on_interval,
        .checkpoint = on_checkpoint,
        .final = on_final };

    int rc = sb_run(&w, &s->o, &s->random, &l, &s->res);
    if (rc)
        printf("# %s: %s\n", sb_err_name(rc), s->res.err.msg);
    return rc;
}

static struct seen *seen_of(struct sb_workload *w)
{
    return w->data;
}

// Workloads -------------------------------------------------------------------

static int empty_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    while (sb_user_next(u))
        atomic_fetch_add(&seen_of(w)->calls, 1);
    return 0;
}

static const struct sb_workload_ops empty = { .user_run = empty_loop };

static int own_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    while (sb_user_begin(u)) {
        atomic_fetch_add(&seen_of(w)->calls, 1);
        sb_user_end(u);
    }
    return 0;
}

static const struct sb_workload_ops stepwise = { .user_run = own_loop };

static int drop_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    for (int i = 0; sb_user_next(u); i++) {
        if (i == 5) {
            sb_user_drop(u);
            break;
        }
    }
    return 0;
}

static const struct sb_workload_ops dropping = { .user_run = drop_loop };

// Every third event is tried until it is given up.
static int restart_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    struct sb_err why = { .code = SB_ERESTART, .native = 5, .state = "40001" };

    for (int i = 0; sb_user_next(u); i++) {
        if (i % 3)
            continue;
        do
            sb_rec_code(u->rec, "test", &why, sb_user_now(u));
        while (sb_user_restart(u));
    }
    return 0;
}

static const struct sb_workload_ops restarting = { .user_run = restart_loop };

static int fail_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    int n = 0;

    while (sb_user_next(u))
        if (u->id == 0 && ++n == 10)
            return sb_err_set(err, SB_ESCRIPT, "script.lua:3: boom");
    return 0;
}

static const struct sb_workload_ops failing = { .user_run = fail_loop };

static void nap(int64_t ns)
{
    struct timespec ts = { .tv_sec = ns / 1000000000,
        .tv_nsec = ns % 1000000000 };

    nanosleep(&ts, NULL);
}

// The first event hangs until it is canceled.
static int hang_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    while (sb_user_next(u))
        while (!seen_of(w)->canceled)
            nap(MS);
    return 0;
}

static void cancel_hang(struct sb_workload *w, struct sb_user *u)
{
    seen_of(w)->canceled = true;
}

static const struct sb_workload_ops hanging = { .user_run = hang_loop,
    .cancel = cancel_hang };

// A stall of the server: one event takes 300 ms.
static int stall_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    while (sb_user_next(u))
        if (atomic_fetch_add(&seen_of(w)->calls, 1) == 20)
            nap(300 * MS);
    return 0;
}

static const struct sb_workload_ops stalling = { .user_run = stall_loop };

static int init_fails(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    if (u->id == 2)
        return sb_err_set(err, SB_ECONNECT, "no server");
    return 0;
}

static const struct sb_workload_ops unstartable = { .user_init = init_fails,
    .user_run = empty_loop };

static int key_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    if (sb_user_next(u))
        seen_of(w)->keys[u->id] = sb_random_uint64(&u->random);
    return 0;
}

static const struct sb_workload_ops drawing = { .user_run = key_loop };

// Tests -----------------------------------------------------------------------

static void event_limit_is_exact(void)
{
    struct seen s;

    prepare(&s, 4);
    s.o.events = 10007;
    CHECK_INT(perform(&s, &empty), 0);
    CHECK_INT(s.res.end, SB_END_LIMIT);
    CHECK_INT(s.c.completed, 10007);
    CHECK_INT(s.calls, 10007);
    CHECK_INT(s.sum_of_users, 10007);
    CHECK_INT(s.finals, 1);
    prepare(&s, 3);
    s.o.events = 1001;
    CHECK_INT(perform(&s, &stepwise), 0);
    CHECK_INT(s.c.completed, 1001);
}

static void time_limit_ends_a_closed_loop(void)
{
    struct seen s;

    prepare(&s, 2);
    s.o.time = 120 * MS;
    s.o.report_interval = 30 * MS;
    CHECK_INT(perform(&s, &empty), 0);
    CHECK_INT(s.res.end, SB_END_LIMIT);
    CHECK_INT(s.intervals, 4);
    CHECK(s.c.completed > 0);
    CHECK_INT(s.c.completed, s.calls);
    // What came after the last line is in the total alone.
    CHECK(s.interval_events <= s.c.completed);
    CHECK(s.interval_events > 0);
}

static void checkpoints_cut_the_run_in_parts(void)
{
    struct seen s;
    const char *at[] = { "0.03", "0.06" };

    prepare(&s, 2);
    s.o.time = 100 * MS;
    s.o.report_checkpoints = (struct sb_opt_list){ .item = at, .count = 2 };
    CHECK_INT(perform(&s, &empty), 0);
    CHECK_INT(s.checkpoints, 2);
    CHECK_INT(s.interval_events + s.c.completed, s.calls);
}

static void warmup_is_left_out(void)
{
    struct seen s;

    prepare(&s, 2);
    s.o.warmup_time = 60 * MS;
    s.o.time = 60 * MS;
    s.o.report_interval = 20 * MS;
    CHECK_INT(perform(&s, &empty), 0);
    CHECK(s.warm_events > 0);
    CHECK(s.c.completed > 0);
    CHECK(s.c.completed + s.warm_events <= (uint64_t)s.calls);
    prepare(&s, 2);
    s.o.warmup_time = 30 * MS;
    s.o.events = 500;
    CHECK_INT(perform(&s, &empty), 0);
    CHECK_INT(s.c.completed, 500);
    CHECK(s.calls > 500);
}

static void warmup_works_with_a_rate(void)
{
    struct seen s;

    prepare(&s, 3);
    s.o.warmup_time = 50 * MS;
    s.o.time = 100 * MS;
    s.o.rate = 3000;
    CHECK_INT(perform(&s, &empty), 0);
    CHECK(s.scheduled > 100);
    CHECK(s.scheduled < 600);
    CHECK(s.c.started <= s.scheduled);
}

static void schedule_is_kept_or_shown_as_pending(void)
{
    struct seen s;

    prepare(&s, 4);
    s.o.time = 200 * MS;
    s.o.rate = 2000;
    CHECK_INT(perform(&s, &empty), 0); // sb_snap_check() is part of it
    CHECK(s.scheduled > 250);
    CHECK(s.scheduled < 600);
    CHECK(s.c.completed <= s.scheduled);
    CHECK_INT(s.queue, s.scheduled - s.c.started);
}

static void rate_with_an_event_limit(void)
{
    struct seen s;

    prepare(&s, 3);
    s.o.events = 300;
    s.o.rate = 20000;
    CHECK_INT(perform(&s, &empty), 0);
    CHECK_INT(s.c.completed, 300);
    CHECK_INT(s.scheduled, 300);
}

static void a_rate_too_low_for_one_event_still_lasts(void)
{
    struct seen s;

    prepare(&s, 2);
    s.o.time = 50 * MS;
    s.o.rate = 0.001;
    CHECK_INT(perform(&s, &empty), 0);
    CHECK_INT(s.c.completed, 0);
    CHECK_INT(s.res.end, SB_END_LIMIT);
}

static void a_stall_shows_in_response_time(void)
{
    struct seen s;

    prepare(&s, 1);
    s.o.time = 500 * MS;
    s.o.rate = 500;
    s.o.arrivals = SB_PACE_CONSTANT;
    CHECK_INT(perform(&s, &stalling), 0);
    // Those that were due in the stall waited for it, down the whole line.
    CHECK(s.c.lag_ns > 150 * 300 * MS / 4);
    CHECK(s.lag_max > 250 * MS);
    CHECK(s.lat_max >= 300 * MS);
    CHECK_INT(s.c.response_ns, s.c.lag_ns + s.c.service_ns);
}

static void dropped_events_do_not_count(void)
{
    struct seen s;

    prepare(&s, 2);
    CHECK_INT(perform(&s, &dropping), 0);
    CHECK_INT(s.res.end, SB_END_SCRIPT);
    CHECK_INT(s.c.completed, 10);
    CHECK_INT(s.c.started, 10);
}

static void restarts_are_limited_and_counted(void)
{
    struct seen s;

    prepare(&s, 2);
    s.o.events = 90;
    s.o.max_restarts = 4;
    CHECK_INT(perform(&s, &restarting), 0);
    CHECK_INT(s.c.started, 90);
    CHECK_INT(s.c.completed + s.c.failed, 90);
    CHECK_INT(s.c.restarts, 4 * s.c.failed);
    CHECK_INT(s.c.tries, s.c.started + s.c.restarts);
    CHECK_INT(s.c.err_restarted, 4 * s.c.failed);
    CHECK_INT(s.c.err_givenup, s.c.failed);
    CHECK(s.c.failed >= 30);
}

static void a_failure_ends_the_run_with_its_report(void)
{
    struct seen s;

    prepare(&s, 3);
    CHECK_INT(perform(&s, &failing), SB_ESCRIPT);
    CHECK_INT(s.res.end, SB_END_FAILED);
    CHECK_STR(s.res.err.msg, "script.lua:3: boom");
    CHECK_INT(s.finals, 1);
    CHECK_INT(s.c.failed, 1);
    CHECK_INT(s.c.err_fatal, 1);
    CHECK_INT(s.c.completed + 1, s.c.started);
}

static void a_hang_is_canceled(void)
{
    struct seen s;

    prepare(&s, 2);
    s.o.time = 20 * MS;
    s.o.shutdown_grace = 200 * MS;
    CHECK_INT(perform(&s, &hanging), 0);
    CHECK(s.canceled);
    CHECK(!s.res.unjoined);
    CHECK_INT(s.c.completed, 2);
}

static void a_user_that_cannot_start_ends_the_run(void)
{
    struct seen s;

    prepare(&s, 4);
    CHECK_INT(perform(&s, &unstartable), SB_ECONNECT);
    CHECK_STR(s.res.err.msg, "no server");
    CHECK_INT(s.finals, 0);
    CHECK(!s.res.unjoined);
}

static void think_time_is_in_no_latency(void)
{
    struct seen s;

    prepare(&s, 1);
    s.o.events = 8;
    s.o.think_time = "20ms";
    CHECK_INT(perform(&s, &empty), 0);
    CHECK_INT(s.c.completed, 8);
    CHECK(s.c.service_ns < 8 * 20 * MS);
}

static void the_same_seed_gives_the_same_keys(void)
{
    struct seen a, b;

    prepare(&a, 8);
    CHECK_INT(perform(&a, &drawing), 0);
    prepare(&b, 8);
    b.o.rate = 1000;
    b.o.time = 60000 * MS;
    CHECK_INT(perform(&b, &drawing), 0);
    for (int i = 0; i < 8; i++) {
        CHECK(a.keys[i] == b.keys[i]);
        CHECK(i == 0 || a.keys[i] != a.keys[0]);
    }
}

// Parallel commands -----------------------------------------------------------

static _Atomic int task_sum, task_before;

static int task(struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    double n;

    atomic_fetch_add(&task_before, 1);
    if (sb_user_barrier(u))
        return sb_err_set(err, SB_ECANCELED, "canceled");
    if (task_before != 4)
        return sb_err_set(err, SB_EINTERNAL, "the barrier opened early");
    while ((n = sb_user_ticket(u, 3)) >= 0 && n < 100)
        atomic_fetch_add(&task_sum, (int)n);
    return n < 0 ? sb_err_set(err, SB_ECANCELED, "canceled") : 0;
}

static int bad_task(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    if (u->id == 1)
        return sb_err_set(err, SB_EQUERY, "disk full");
    if (sb_user_barrier(u))
        return sb_err_set(err, SB_ECANCELED, "canceled");
    // Members that are gone do not keep the others at the barrier; the next
    // ticket tells them.
    while (sb_user_ticket(u, 0) >= 0)
        ;
    return sb_err_set(err, SB_ECANCELED, "canceled");
}

static void parallel_commands_share_tickets(void)
{
    struct seen s;
    struct sb_workload w = { .ops = &empty, .data = &s };

    prepare(&s, 4);
    task_sum = task_before = 0;
    CHECK_INT(sb_run_parallel(&w, "prepare", &s.o, &s.random, task, &s.res), 0);
    CHECK_INT(task_sum, 4950);
}

static void one_failing_member_ends_the_command(void)
{
    struct seen s;
    struct sb_workload w = { .ops = &empty, .data = &s };

    prepare(&s, 4);
    CHECK_INT(sb_run_parallel(&w, "prepare", &s.o, &s.random, bad_task, &s.res),
        SB_EQUERY);
    CHECK_STR(s.res.err.msg, "disk full");
}

int main(void)
{
    RUN(event_limit_is_exact);
    RUN(time_limit_ends_a_closed_loop);
    RUN(checkpoints_cut_the_run_in_parts);
    RUN(warmup_is_left_out);
    RUN(warmup_works_with_a_rate);
    RUN(schedule_is_kept_or_shown_as_pending);
    RUN(rate_with_an_event_limit);
    RUN(a_rate_too_low_for_one_event_still_lasts);
    RUN(a_stall_shows_in_response_time);
    RUN(dropped_events_do_not_count);
    RUN(restarts_are_limited_and_counted);
    RUN(a_failure_ends_the_run_with_its_report);
    RUN(a_hang_is_canceled);
    RUN(a_user_that_cannot_start_ends_the_run);
    RUN(think_time_is_in_no_latency);
    RUN(the_same_seed_gives_the_same_keys);
    RUN(parallel_commands_share_tickets);
    RUN(one_failing_member_ends_the_command);
    return check_done();
}
