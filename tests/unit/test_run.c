// SPDX-License-Identifier: GPL-2.0-or-later
//
// The course of a run: limits, phases, schedule. Time limits are short. Elapsed
// times are compared only with bounds that a hang would exceed. A test that
// requires that users ran repeats the run with longer times until they did.
#include <signal.h>

#include "measure/pace.h"
#include "runs.h"

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

// Each event takes a millisecond.
static int work_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    while (!seen_of(w)->canceled && sb_user_next(u)) {
        atomic_fetch_add(&seen_of(w)->calls, 1);
        nap(MS);
    }
    return 0;
}

static const struct sb_workload_ops working = { .user_run = work_loop };

// Five events of ten milliseconds, and one that is dropped.
static int leave_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    for (int i = 0; i < 5 && sb_user_next(u); i++)
        nap(10 * MS);
    if (sb_user_next(u))
        sb_user_drop(u);
    return 0;
}

static const struct sb_workload_ops leaving = { .user_run = leave_loop };

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

    for (int64_t ns = 120 * MS; ns <= LONGEST; ns *= 4) {
        prepare(&s, 2);
        s.o.time = ns;
        s.o.report_interval = ns / 4;
        CHECK_INT(perform(&s, &empty), 0);
        CHECK_INT(s.res.end, SB_END_LIMIT);
        // Intervals are fewer and longer if the reporter is late.
        CHECK(s.intervals >= 1 && s.intervals <= 4);
        CHECK_INT(s.c.completed, s.calls);
        // Events after the last line are only in the total.
        CHECK(s.interval_events <= s.c.completed);
        // Users that have just ended because of the limit were running.
        if (s.interval_events > 0 && s.intervals > 1 &&
            s.end_s * 1e9 >= (double)ns)
            break;
    }
    CHECK(s.interval_events > 0);
    CHECK(s.intervals > 1);
    CHECK_INT(s.end_running, 2);
}

// An operation and an ignored error in every event.
static int loop_with_operations(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    int op = sb_user_op(u, "part");

    while (sb_user_next(u)) {
        atomic_fetch_add(&seen_of(w)->calls, 1);
        sb_rec_op(u->rec, op, 1000);
        sb_user_count(u, 4, 1); // an error
    }
    return 0;
}

static const struct sb_workload_ops with_operations = {
    .user_run = loop_with_operations
};

static void intervals_with_operations(void)
{
    struct seen s;

    for (int64_t ns = 60 * MS; ns <= LONGEST; ns *= 4) {
        prepare(&s, 2);
        s.operations = true;
        s.o.warmup_time = ns;
        s.o.time = 2 * ns;
        s.o.report_interval = ns / 2;
        CHECK_INT(perform(&s, &with_operations), 0);
        CHECK_INT(s.ops, s.c.completed);
        CHECK(s.interval_ops <= s.ops);
        CHECK(s.interval_codes <= (uint64_t)s.calls);
        CHECK(s.warm_ops <= s.calls - s.ops);
        if (s.warm_ops > 0 && s.interval_ops > 0 && s.interval_codes > 0)
            break;
    }
    CHECK(s.warm_ops > 0);
    CHECK(s.interval_ops > 0);
    CHECK(s.interval_codes > 0);
    prepare(&s, 2);
    s.o.time = 60 * MS;
    s.o.report_interval = 20 * MS;
    CHECK_INT(perform(&s, &with_operations), 0);
    CHECK_INT(s.interval_ops + s.interval_codes, 0);
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
    CHECK_INT(s.whole.completed, s.calls);
}

static void warmup_is_left_out(void)
{
    struct seen s;

    for (int64_t ns = 60 * MS; ns <= LONGEST; ns *= 4) {
        prepare(&s, 2);
        s.o.warmup_time = s.o.time = ns;
        s.o.report_interval = ns / 3;
        CHECK_INT(perform(&s, &empty), 0);
        CHECK(s.c.completed + s.warm_events <= (uint64_t)s.calls);
        if (s.warm_events > 0 && s.c.completed > 0)
            break;
    }
    CHECK(s.warm_events > 0);
    CHECK(s.c.completed > 0);
    for (int64_t ns = 30 * MS; ns <= LONGEST; ns *= 4) {
        prepare(&s, 2);
        s.o.warmup_time = ns;
        s.o.events = 500;
        CHECK_INT(perform(&s, &empty), 0);
        CHECK_INT(s.c.completed, 500);
        if (s.calls > 500)
            break;
    }
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

static void a_backlog_ends_with_the_warmup(void)
{
    struct seen s;

    for (int64_t ns = 60 * MS; ns <= LONGEST; ns *= 4) {
        prepare(&s, 2);
        s.o.warmup_time = s.o.time = ns;
        s.o.rate = 20000; // ten times what users can do
        CHECK_INT(perform(&s, &working), 0);
        CHECK(s.scheduled > s.c.started);
        // With the backlog of the warm-up, the average lag would be longer.
        CHECK(s.c.lag_ns <= s.c.completed * (uint64_t)ns);
        if (s.c.completed > 0)
            break;
    }
    CHECK(s.c.completed > 0);
}

// From the warm-up to the end of the run.
static int long_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    while (sb_user_next(u))
        nap(100 * MS);
    return 0;
}

static const struct sb_workload_ops lasting = { .user_run = long_loop };

static void a_backlog_is_dropped_if_no_user_is_free(void)
{
    struct seen s;

    prepare(&s, 2);
    s.o.warmup_time = 20 * MS;
    s.o.time = 40 * MS;
    s.o.rate = 2000;
    CHECK_INT(perform(&s, &lasting), 0); // calls sb_snap_check()
    CHECK_INT(s.queue, s.scheduled - s.c.started);
}

static void rate_events_and_time_together(void)
{
    struct seen s;

    prepare(&s, 2);
    s.o.events = 1000;
    s.o.time = 50 * MS;
    s.o.rate = 100000;
    CHECK_INT(perform(&s, &working), 0);
    CHECK_INT(s.scheduled, 1000);
    CHECK(s.c.completed < 1000);
}

static void schedule_is_kept_or_shown_as_pending(void)
{
    struct seen s;

    prepare(&s, 4);
    s.o.time = 200 * MS;
    s.o.rate = 2000;
    CHECK_INT(perform(&s, &empty), 0); // calls sb_snap_check()
    CHECK(s.scheduled > 250);
    CHECK(s.scheduled < 600);
    CHECK(s.c.completed <= s.scheduled);
    CHECK_INT(s.queue, s.scheduled - s.c.started);
}

// The lines due at the end of the warm-up and of the run are printed later. At
// this rate there are arrivals in between, which do not count as scheduled.
static void late_lines_count_no_later_arrivals(void)
{
    struct seen s;

    prepare(&s, 2);
    s.o.warmup_time = s.o.report_interval = 20 * MS;
    s.o.time = 40 * MS;
    s.o.rate = 1e6;
    CHECK_INT(perform(&s, &working), 0);
    CHECK_INT(s.queue, s.scheduled - s.c.started);
}

// Arrivals that a line has counted stay scheduled if the run ends early.
static void lines_before_an_early_end(void)
{
    struct seen s;

    prepare(&s, 1);
    s.o.report_interval = 5 * MS;
    s.o.events = 1000000000;
    s.o.rate = 1e6;
    CHECK_INT(perform(&s, &leaving), 0);
    CHECK_INT(s.res.end, SB_END_SCRIPT);
    CHECK_INT(s.c.completed, 5);
    CHECK(s.intervals > 0);
    CHECK_INT(s.queue, s.scheduled - s.c.started - 1); // one was dropped
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
    s.o.events = 250; // half a second; late ones run, too
    s.o.rate = 500;
    s.o.arrivals = SB_PACE_CONSTANT;
    CHECK_INT(perform(&s, &stalling), 0);
    // The events due during the stall waited, and delayed those after them.
    CHECK(s.c.lag_ns > 150 * 300 * MS / 4);
    CHECK(s.lag_max > 250 * MS);
    CHECK(s.lat_max >= 299 * MS); // nap() uses another clock
    CHECK_INT(s.c.response_ns, s.c.lag_ns + s.c.service_ns);
}

// Of the 2 ms of each event, an answer waits for its user 1 ms. Every fourth
// event fails after an answer that waited much longer.
static int delayed_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    int op = sb_user_op(u, "part");

    while (sb_user_next(u)) {
        uint64_t since = sb_user_op_now(u);

        nap(2 * MS);
        sb_rec_delay(u->rec, MS, sb_clock_now(&u->clock));
        sb_user_op_record(u, op, since);
        if (atomic_fetch_add(&seen_of(w)->calls, 1) % 4 == 3) {
            sb_rec_delay(u->rec, 1000 * MS, sb_clock_now(&u->clock));
            sb_user_fail(u);
        }
    }
    return 0;
}

static const struct sb_workload_ops delayed = { .user_run = delayed_loop };

// Quick events, one after the other without asking what is next. Before each
// one that completes, one fails or is dropped after a long client delay.
static int quick_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    for (int i = 0; i < 4000 && sb_user_next(u); i++) {
        for (volatile int n = 0; n < 1000; n++)
            ;
        if (i == 3999)
            sb_user_stop(u);
        if (i % 2 == 0)
            sb_rec_delay(u->rec, 1000 * MS, sb_clock_now(&u->clock));
        if (i % 4 == 0)
            sb_user_fail(u);
        else if (i % 4 == 2)
            sb_user_drop(u);
    }
    sb_user_next(u);
    return 0;
}

static const struct sb_workload_ops quick = { .user_run = quick_loop };

static void client_delays_belong_to_their_event(void)
{
    struct seen s;

    prepare(&s, 1);
    s.o.workers = "1";
    CHECK_INT(perform(&s, &quick), 0);
    CHECK_INT(s.c.completed, 2000);
    CHECK_INT(s.c.failed, 1000);
    CHECK(s.lat_min > 0);
}

// An operation begins after a client delay in the warm-up, and ends in the
// second event of the measured part.
static int spanning_loop(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    int op = sb_user_op(u, "part");
    int measured = 0;

    sb_user_next(u);
    sb_rec_delay(u->rec, 100000 * MS, sb_clock_now(&u->clock));
    uint64_t since = sb_user_op_now(u);
    do {
        nap(MS);
        if (sb_user_time(u) > 0 && ++measured == 2) {
            sb_user_op_record(u, op, since);
            sb_user_stop(u);
        }
    } while (sb_user_next(u));
    return 0;
}

static const struct sb_workload_ops spanning = { .user_run = spanning_loop };

static void client_delays_of_the_warm_up_are_not_in_later_operations(void)
{
    struct seen s;

    prepare(&s, 1);
    s.o.workers = "1";
    s.o.warmup_time = 5 * MS;
    CHECK_INT(perform(&s, &spanning), 0);
    CHECK(s.op_ns > 0);
    CHECK((double)s.op_ns < 1e9 * s.total_s + 50000 * MS);
}

static void client_delays_are_not_in_latencies(void)
{
    struct seen s;

    for (int rate = 0; rate <= 1000; rate += 1000) {
        prepare(&s, 1);
        s.o.workers = "1";
        s.o.events = 8;
        s.o.rate = rate;
        CHECK_INT(perform(&s, &delayed), 0);
        CHECK_INT(s.c.completed, 6);
        CHECK_INT(s.c.failed, 2);
        CHECK(s.has_client_delay);
        CHECK_INT(s.c.client_delays, 8 + 2);
        CHECK_INT(s.c.client_delay_ns, 8 * MS + 2 * 1000 * MS);
        // The delay of a failed event does not shorten the next one. nap() uses
        // another clock.
        CHECK(s.lat_min > MS - MS / 50);
        double whole = s.total_s * 1e9;
        CHECK((double)(s.c.service_ns + 6 * MS) <= whole);
        CHECK(s.op_ns >= 8 * (MS - MS / 50));
        CHECK((double)(s.op_ns + 8 * MS) <= whole);
        if (rate)
            CHECK_INT(s.c.response_ns, s.c.lag_ns + s.c.service_ns);
    }
    prepare(&s, 1);
    s.o.events = 8;
    CHECK_INT(perform(&s, &empty), 0);
    CHECK(!s.has_client_delay);
}

static void think_time_is_not_in_latencies(void)
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

// A pause behind the warm-up.

static struct {
    struct seen *seen;
    bool interrupt;
    uint64_t from, to; // to: planned start of the measured part
    unsigned pauses, intervals;
    uint64_t start_ns, end_ns; // of the final report
    uint64_t warm_scheduled;
    bool warmup;
} paused;

static int64_t on_pause(void *data, const _Atomic bool *stop)
{
    struct seen *s = data;
    int calls = atomic_load(&s->calls);

    paused.pauses++;
    paused.from = sb_clock_monotonic();
    if (paused.interrupt)
        kill(getpid(), SIGINT);
    for (int i = 0; i < 6000 && paused.interrupt && !atomic_load(stop); i++)
        nap(5 * MS);
    nap(30 * MS);
    CHECK_INT(atomic_load(&s->calls), calls); // all users wait
    paused.to = sb_clock_monotonic() + 5 * MS;
    return 5 * MS;
}

static void on_interval_around(void *data, const struct sb_report *r)
{
    struct seen *s = data;

    if (!r->warmup) {
        CHECK(r->start_ns >= paused.to);
        CHECK(!r->paused);
        s->interval_events += r->snap->c.completed;
        return;
    }
    paused.warm_scheduled += r->snap->scheduled;
    s->warm_events += r->snap->c.completed;
    if (!r->paused)
        return;
    paused.intervals++;
    CHECK(r->partial);
    CHECK_INT(r->snap->c.completed, 0);
    CHECK(r->interval_s * 1e9 >= 35 * MS);
}

static void on_final_around(void *data, const struct sb_report *r)
{
    on_final(data, r);
    paused.start_ns = r->start_ns;
    paused.end_ns = r->start_ns + (uint64_t)(r->total_s * 1e9);
    paused.warmup = r->warmup;
}

static int perform_with_pause(struct seen *s, bool interrupt)
{
    struct sb_workload w = { .ops = &empty, .data = s };
    const struct sb_listener l = { .data = s,
        .partial = true,
        .interval_ns = 10 * MS,
        .pause = on_pause,
        .interval = on_interval_around,
        .final = on_final_around };

    memset(&paused, 0, sizeof(paused));
    paused.interrupt = interrupt;
    return sb_run(&w, &s->o, &s->random, &l, &s->res);
}

// The figures of all loops are those of the measured part alone: it begins
// behind the pause, with all its time, and with no arrivals before it.
static void a_pause_is_in_no_figure(void)
{
    for (int i = 0; i < 4; i++) {
        struct seen s;

        prepare(&s, 3);
        s.o.warmup_time = 20 * MS;
        s.o.time = 50 * MS;
        s.o.workers = i % 2 ? "2" : "users";
        s.o.rate = i / 2 ? 1000 : 0;
        s.o.arrivals = SB_PACE_CONSTANT;
        CHECK_INT(perform_with_pause(&s, false), 0);
        CHECK_INT(paused.pauses, 1);
        CHECK_INT(paused.intervals, 1);
        CHECK(!paused.warmup);
        CHECK(paused.start_ns >= paused.to);
        CHECK(s.total_s >= 0.05);
        CHECK_INT(s.interval_events, s.whole.completed);
        if (s.o.rate > 0) {
            CHECK(paused.warm_scheduled <= 21);
            CHECK_NEAR((double)s.scheduled, 50, 1);
        }
    }
}

static void a_pause_and_a_limit_of_events(void)
{
    struct seen s;

    prepare(&s, 3);
    s.o.warmup_time = 20 * MS;
    s.o.events = 30;
    s.o.rate = 1000;
    CHECK_INT(perform_with_pause(&s, false), 0);
    CHECK_INT(s.whole.completed, 30);
    CHECK_INT(s.scheduled, 30);
}

// A think time that the pause interrupts continues behind it: 100 ms are over
// 50 ms after the pause at the earliest.
static void a_pause_keeps_think_times(void)
{
    struct seen s;

    prepare(&s, 3);
    s.o.warmup_time = 50 * MS;
    s.o.time = 40 * MS;
    s.o.think_time = "100ms";
    CHECK_INT(perform_with_pause(&s, false), 0);
    if (s.warm_events == 3)
        CHECK_INT(s.whole.completed, 0);
}

static void a_run_that_ends_in_its_pause(void)
{
    struct seen s;

    prepare(&s, 3);
    s.o.warmup_time = 20 * MS;
    s.o.time = 60000 * MS;
    perform_with_pause(&s, true);
    CHECK_INT(s.res.end, SB_END_SIGNAL);
    CHECK(paused.warmup);
    CHECK(paused.end_ns <= paused.from);
    CHECK_INT(s.whole.completed, s.warm_events);
}

CHECK_FILE
{
    RUN(event_limit_is_exact);
    RUN(time_limit_ends_a_closed_loop);
    RUN(intervals_with_operations);
    RUN(checkpoints_cut_the_run_in_parts);
    RUN(warmup_is_left_out);
    RUN(warmup_works_with_a_rate);
    RUN(a_backlog_ends_with_the_warmup);
    RUN(a_backlog_is_dropped_if_no_user_is_free);
    RUN(rate_events_and_time_together);
    RUN(schedule_is_kept_or_shown_as_pending);
    RUN(late_lines_count_no_later_arrivals);
    RUN(lines_before_an_early_end);
    RUN(rate_with_an_event_limit);
    RUN(a_rate_too_low_for_one_event_still_lasts);
    RUN(a_stall_shows_in_response_time);
    RUN(client_delays_belong_to_their_event);
    RUN(client_delays_of_the_warm_up_are_not_in_later_operations);
    RUN(client_delays_are_not_in_latencies);
    RUN(think_time_is_not_in_latencies);
    RUN(the_same_seed_gives_the_same_keys);
    RUN(a_pause_is_in_no_figure);
    RUN(a_pause_and_a_limit_of_events);
    RUN(a_pause_keeps_think_times);
    RUN(a_run_that_ends_in_its_pause);
    return check_done();
}
