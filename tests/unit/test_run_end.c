// SPDX-License-Identifier: GPL-2.0-or-later
//
// How runs end: failures, restarts, hangs, errors outside events. And parallel
// commands.
#include <pthread.h>
#include <signal.h>

#include "runs.h"

// If a call never returns, the run's memory is not freed, as the call uses it.
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(
    void);
const char *__lsan_default_suppressions(void)
{
    return "leak:sb_run\n";
}

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

// Every third event is retried until it is given up.
static int restart_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    struct sb_err why = { .code = SB_ERESTART, .native = 5, .state = "40001" };

    for (int i = 0; sb_user_next(u); i++) {
        if (i % 3)
            continue;
        do
            sb_rec_code(u->rec, "test", &why, 1, sb_user_op_now(u));
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

// Calls of end() and failed().
static int ended, failed;
static char reason[100];

static int count_end(struct sb_workload *w, struct sb_err *err)
{
    ended++;
    return 0;
}

static void keep_reason(struct sb_workload *w, const char *why)
{
    failed++;
    snprintf(reason, sizeof(reason), "%s", why);
}

static const struct sb_workload_ops failing = {
    .user_run = fail_loop, .end = count_end, .failed = keep_reason
};

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

// An event hangs until the report was printed. Its user then returns, in one of
// several ways.
static struct {
    _Atomic bool begun, gone, back; // gone: the run ended before the event
    pthread_t thread;
    struct sb_rec *rec;
    struct sb_run *left; // never freed, since its users may use it
    int op;
    enum { NEXT, GIVE_UP, DROP, BEGIN, WAYS } way;
} late;

static int late_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    struct sb_err why = { .code = SB_ERESTART, .native = 5, .state = "40001" };

    late.thread = pthread_self();
    if (!sb_user_next(u)) {
        late.gone = true;
        return 0;
    }
    late.rec = u->rec;
    late.left = u->run;
    late.op = sb_user_op(u, "x");
    late.begun = true;
    while (!late.back)
        nap(MS);
    sb_rec_op_found(
        u->rec, late.op, SB_FOUND_UNKNOWN, 0, 1000, sb_user_op_now(u));
    switch (late.way) {
    case GIVE_UP:
        sb_rec_code(u->rec, "test", &why, 1, sb_user_op_now(u));
        CHECK(!sb_user_restart(u));
        break;
    case DROP:
        sb_user_drop(u);
        break;
    case BEGIN:
        sb_user_end(u);
        CHECK_INT(sb_user_begin(u), 0);
        break;
    default:
        CHECK_INT(sb_user_next(u), 0);
    }
    return 0;
}

static const struct sb_workload_ops coming_late = { .user_run = late_loop };

// The first event hangs until it is canceled, and reports that.
static int canceled_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    while (sb_user_next(u)) {
        while (!seen_of(w)->canceled)
            nap(MS);
        return sb_err_set(err, SB_ECANCELED, "canceled");
    }
    return 0;
}

static const struct sb_workload_ops reporting_cancel = {
    .user_run = canceled_loop, .cancel = cancel_hang
};

static int fail_at_once(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    sb_user_next(u);
    return sb_err_set(err, SB_ESCRIPT, "boom");
}

static const struct sb_workload_ops failing_early = {
    .user_run = fail_at_once
};

// Errors after the last event.
static int late_error(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    struct sb_err why = { .code = SB_EQUERY, .native = 1 };

    if (u->rec)
        sb_rec_code(u->rec, "test", &why, 1, sb_user_op_now(u));
    return 0;
}

static const struct sb_workload_ops failing_late = { .user_run = empty_loop,
    .user_done = late_error };

static int init_fails(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    if (u->id == 2)
        return sb_err_set(err, SB_ECONNECT, "no server");
    return 0;
}

static int count_runs(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    atomic_fetch_add(&seen_of(w)->calls, 1);
    return 0;
}

static const struct sb_workload_ops unstartable = { .user_init = init_fails,
    .user_run = count_runs };

// Tests -----------------------------------------------------------------------

static void a_failure_in_the_warmup_ends_it(void)
{
    struct seen s;

    prepare(&s, 2);
    s.o.warmup_time = 60000 * MS;
    CHECK_INT(perform(&s, &failing_early), SB_ESCRIPT);
    CHECK_INT(s.finals, 1);
    CHECK(s.total_s < 50);
    prepare(&s, 2);
    s.o.warmup_time = 60000 * MS;
    s.o.rate = 1000;
    CHECK_INT(perform(&s, &failing_early), SB_ESCRIPT);
    CHECK(s.total_s < 50);
    CHECK(s.scheduled < 50000);
}

static void errors_outside_events_are_settled(void)
{
    struct seen s;

    prepare(&s, 2);
    s.o.events = 10;
    CHECK_INT(perform(&s, &failing_late), 0);
    CHECK(s.c.err_ignored >= 1);
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

// Every fourth event of a hundred fails.
static int partly_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    while (sb_user_next(u))
        if (atomic_fetch_add(&seen_of(w)->calls, 1) % 4 == 0)
            while (sb_user_restart(u))
                ;
    return 0;
}

static const struct sb_workload_ops partly = { .user_run = partly_loop };

static int hopeless_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    while (sb_user_next(u))
        while (sb_user_restart(u))
            ;
    return 0;
}

static const struct sb_workload_ops hopeless = { .user_run = hopeless_loop };

// One event succeeds; the next is retried until the end of the run.
static int retried_to_the_end_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    if (sb_user_next(u) && sb_user_next(u))
        while (sb_user_restart(u))
            ;
    return 0;
}

static const struct sb_workload_ops retried_to_the_end = {
    .user_run = retried_to_the_end_loop
};

static void end_of_the_run_fails_no_event(void)
{
    struct seen s;

    prepare(&s, 1);
    s.o.events = 0;
    s.o.time = (int64_t)20 * MS;
    s.o.max_failed = 0;
    CHECK_INT(perform(&s, &retried_to_the_end), 0);
    CHECK_INT(s.c.cut_short, s.c.failed);
    CHECK_INT(sb_counters_failed(&s.c), 0);
}

static void failed_events_fail_the_run(void)
{
    struct seen s;

    prepare(&s, 2);
    s.o.events = 50;
    s.o.max_restarts = 1;
    CHECK_INT(perform(&s, &hopeless), SB_ELIMIT);
    CHECK_INT(s.res.end, SB_END_FAILED);
    CHECK_STR(s.res.err.msg, "all 50 events failed");
    CHECK_STR(s.failure, s.res.err.msg);
    CHECK_INT(s.c.failed, 50);
    prepare(&s, 1);
    s.o.events = 1;
    s.o.max_restarts = 1;
    CHECK_INT(perform(&s, &hopeless), SB_ELIMIT);
    CHECK_STR(s.res.err.msg, "the only event failed");
}

// Exactly one of four events fails. The run succeeds if that many may fail.
static void the_share_of_failed_events_is_limited(void)
{
    static const struct {
        double allowed;
        int rc;
    } c[] = { { 100, 0 }, { 25, 0 }, { 24.9, SB_ELIMIT }, { 0, SB_ELIMIT } };

    for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
        struct seen s;

        prepare(&s, 1);
        s.o.events = 100;
        s.o.max_restarts = 1;
        s.o.max_failed = c[i].allowed;
        CHECK_INT(perform(&s, &partly), c[i].rc);
        CHECK_INT(s.res.end, c[i].rc ? SB_END_FAILED : SB_END_LIMIT);
        CHECK_INT(s.c.failed, 25);
        CHECK_INT(s.c.completed, 75);
        CHECK_STR(s.failure, c[i].rc ? s.res.err.msg : "");
    }
    struct seen s;

    prepare(&s, 2);
    s.o.events = 100;
    s.o.max_failed = 0;
    CHECK_INT(perform(&s, &empty), 0);
}

static int interrupted_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    kill(getpid(), SIGINT);
    while (sb_user_next(u)) {
        sb_user_fail(u);
        nap(MS);
    }
    return 0;
}

static const struct sb_workload_ops interrupted = {
    .user_run = interrupted_loop
};

// Its exit status says more than that of failed events.
static void a_signal_is_the_end_whatever_failed(void)
{
    struct seen s;

    prepare(&s, 1);
    s.o.max_failed = 0;
    CHECK_INT(perform(&s, &interrupted), 0);
    CHECK_INT(s.res.end, SB_END_SIGNAL);
    CHECK_INT(s.res.signal, SIGINT);
}

static int miscount_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    while (sb_user_next(u))
        sb_tally_add(&u->rec->tally.failed, 1);
    return 0;
}

static const struct sb_workload_ops miscounting = { .user_run = miscount_loop };

static void figures_that_do_not_add_up_fail_the_run(void)
{
    struct seen s;

    prepare(&s, 1);
    s.o.events = 5;
    CHECK_INT(perform(&s, &miscounting), SB_EINTERNAL);
    CHECK_INT(s.res.end, SB_END_FAILED);
    CHECK(strstr(s.failure, "started =") != NULL);
}

static void a_failure_ends_the_run_with_its_report(void)
{
    struct seen s;

    prepare(&s, 3);
    ended = failed = 0;
    CHECK_INT(perform(&s, &failing), SB_ESCRIPT);
    CHECK_INT(ended, 0);
    CHECK_INT(failed, 1);
    CHECK_STR(reason, "script.lua:3: boom");
    CHECK_INT(s.res.end, SB_END_FAILED);
    CHECK_STR(s.res.err.msg, "script.lua:3: boom");
    CHECK_INT(s.finals, 1);
    CHECK_STR(s.failure, "script.lua:3: boom");
    CHECK_INT(s.c.failed, 1);
    CHECK_INT(s.c.err_fatal, 1);
    CHECK_INT(s.c.completed + 1, s.c.started);
}

// Repeats a run with longer times until all users have begun an event, which
// hangs and delays the end of the run. Canceled events return.
static void until_begun(
    struct seen *s, const struct sb_workload_ops *ops, int users)
{
    for (int64_t ns = 20 * MS; ns <= LONGEST; ns *= 4) {
        prepare(s, users);
        s->o.time = ns;
        s->o.shutdown_grace = 2000 * MS;
        CHECK_INT(perform(s, ops), 0);
        CHECK(!s->res.unjoined);
        if (s->c.started == (uint64_t)users)
            break;
    }
}

static void a_hang_is_canceled(void)
{
    struct seen s;

    until_begun(&s, &hanging, 2);
    CHECK(s.canceled);
    CHECK_INT(s.res.end, SB_END_FORCED);
    CHECK_INT(s.c.completed, 2);
}

static void slow_interval(void *data, const struct sb_report *r)
{
    struct seen *s = data;

    nap(s->o.shutdown_grace + 100 * MS);
}

// The listener returns from the last line after the grace period. Calls that
// hang are still canceled, and the run waits for them.
static void a_hang_is_canceled_after_a_slow_report(void)
{
    static struct seen s; // users that did not return may use it
    struct sb_workload w = { .ops = &hanging, .data = &s };
    const struct sb_listener l = {
        .data = &s, .interval = slow_interval, .final = on_final
    };

    prepare(&s, 1);
    s.o.time = s.o.report_interval = 200 * MS;
    s.o.shutdown_grace = 4000 * MS;
    CHECK_INT(sb_run(&w, &s.o, &s.random, &l, &s.res), 0);
    CHECK(!s.res.unjoined);
    CHECK(s.canceled || s.c.started == 0);
}

// Runs until the report, while the only user hangs until late.back is set.
static struct seen *run_late(int64_t ns)
{
    static struct seen all[WAYS * 8]; // users that did not return use them
    static struct sb_workload w = { .ops = &coming_late };
    static int n;
    struct seen *s = &all[n++];
    struct sb_listener l = { .data = s, .final = on_final };

    late.begun = late.gone = late.back = false;
    prepare(s, 1);
    s->o.time = ns;
    s->o.forced_shutdown_ns = 0;
    sb_run(&w, &s->o, &s->random, &l, &s->res);
    while (!late.begun && !late.gone)
        nap(MS);
    if (late.gone && s->res.unjoined)
        pthread_join(late.thread, NULL);
    return s;
}

static void users_that_return_late_change_nothing(void)
{
    for (int way = 0; way < WAYS; way++) {
        struct seen *s = NULL;

        late.way = way;
        for (int64_t ns = 20 * MS; ns <= LONGEST; ns *= 4) {
            s = run_late(ns);
            if (late.begun)
                break;
        }
        CHECK(late.begun);
        if (!late.begun)
            return;
        CHECK(s->res.unjoined);
        CHECK_INT(s->res.end, SB_END_FORCED);
        CHECK_INT(s->unfinished, 1);
        CHECK_INT(s->c.started, 1);
        late.back = true;
        pthread_join(late.thread, NULL);
        CHECK_INT(late.rec->tally.started, 1);
        CHECK_INT(late.rec->tally.completed, 0);
        CHECK_INT(late.rec->tally.failed, 0);
        CHECK_INT(sb_rec_op_tally(late.rec, late.op)->count, 0);
    }
}

static void canceled_events_stay_unfinished(void)
{
    struct seen s;

    until_begun(&s, &reporting_cancel, 3);
    CHECK_INT(s.res.end, SB_END_FORCED);
    CHECK_INT(s.unfinished, 3);
    CHECK_INT(s.c.started, 3);
    CHECK_INT(s.c.completed, 0);
}

static void a_user_that_cannot_start_ends_the_run(void)
{
    struct seen s;

    prepare(&s, 4);
    CHECK_INT(perform(&s, &unstartable), SB_ECONNECT);
    CHECK_STR(s.res.err.msg, "no server");
    CHECK_INT(s.calls, 0);
    CHECK_INT(s.finals, 0);
    CHECK(!s.res.unjoined);
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
    while ((n = sb_user_add(u, "pages", 1)) >= 0 && n < 100)
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
    // The barrier does not wait for members that left. The next ticket reports
    // that the command was canceled.
    while (sb_user_add(u, "pages", 1) >= 0)
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
    RUN(a_failure_in_the_warmup_ends_it);
    RUN(errors_outside_events_are_settled);
    RUN(dropped_events_do_not_count);
    RUN(restarts_are_limited_and_counted);
    RUN(end_of_the_run_fails_no_event);
    RUN(failed_events_fail_the_run);
    RUN(the_share_of_failed_events_is_limited);
    RUN(a_signal_is_the_end_whatever_failed);
    RUN(figures_that_do_not_add_up_fail_the_run);
    RUN(a_failure_ends_the_run_with_its_report);
    RUN(a_hang_is_canceled);
    RUN(a_hang_is_canceled_after_a_slow_report);
    RUN(users_that_return_late_change_nothing);
    RUN(canceled_events_stay_unfinished);
    RUN(a_user_that_cannot_start_ends_the_run);
    RUN(parallel_commands_share_tickets);
    RUN(one_failing_member_ends_the_command);
    return check_done();
}
