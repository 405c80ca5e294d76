// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include "measure/snap.h"

#include "check.h"

static struct sb_stats s;
static struct sb_err err;

// Records an event of a user that was started and completed.
static void event(unsigned user, uint64_t arrival, uint64_t start, uint64_t end)
{
    sb_tally_add(&s.rec[user].tally.started, 1);
    sb_tally_add(&s.rec[user].tally.tries, 1);
    sb_rec_event(&s.rec[user], arrival, start, end);
}

static void take(struct sb_snap *out, uint64_t ns, uint64_t scheduled)
{
    CHECK_INT(sb_snap_take(out, &s, SB_SNAP_FULL, ns, NULL), 0);
    out->scheduled = scheduled;
}

static void empty_run(void)
{
    struct sb_snap a, diff, zero = { 0 };

    sb_stats_init(&s, 2, 2, true);
    take(&a, 5, 0);
    CHECK_INT(a.service_min, 0);
    CHECK_INT(a.user_min[1], 0);
    CHECK_INT(sb_snap_check(&a, &s, 0, &err), 0);
    CHECK_INT(sb_snap_sub(&diff, &a, &zero), 0);
    CHECK_INT(diff.ns, 5);
    CHECK_INT(diff.lag_max, 0);
    sb_snap_done(&diff);
    sb_snap_done(&a);
    sb_snap_done(&zero);
    sb_stats_done(&s);
}

static void intervals_add_up(void)
{
    struct sb_snap a, b, diff;
    struct sb_err e;
    int op;

    sb_stats_init(&s, 2, 2, true);
    op = sb_stats_op(&s, "select", SB_OP_READ);
    sb_err_native(&e, SB_ERESTART, 7, "40001", "again");
    event(0, 0, 100, 50100);
    sb_rec_op_found(&s.rec[0], op, SB_FOUND_ROWS, 3, 400, SB_REC_LATER_NS);
    sb_rec_code(&s.rec[0], "x", &e, 1, 60);
    sb_rec_settle(&s.rec[0], SB_FATE_IGNORED, NULL, 60);
    take(&a, 1000, 1);
    event(1, 0, 200, 700);
    event(0, 0, 300, 1300);
    sb_rec_op_found(&s.rec[1], op, SB_FOUND_NOTHING, 2, 3000, SB_REC_LATER_NS);
    e.code = SB_ELOST;
    sb_rec_code(&s.rec[1], "x", &e, 1, 50);
    sb_rec_settle(&s.rec[1], SB_FATE_IGNORED, NULL, 70);
    take(&b, 3000, 8);
    b.skipped = 1;
    b.unfinished = 0;
    CHECK_INT(sb_snap_sub(&diff, &b, &a), 0);
    CHECK_INT(diff.ns, 2000);
    CHECK_INT(diff.scheduled, 7);
    CHECK_INT(diff.queue, 8 - 1 - 3);
    CHECK_INT(diff.c.completed, 2);
    CHECK_INT(diff.service.total, 2);
    CHECK_INT(diff.service_min, 500);
    CHECK_INT(diff.service_max, 1000);
    CHECK_INT(b.service_max, 50000);
    CHECK_INT(b.service_min, 500);
    CHECK_INT(diff.user_events[0], 1);
    CHECK_INT(diff.user_ns[1], 500);
    CHECK_INT(diff.user_min[0], 1000);
    CHECK_INT(a.op[op].rows, 3);
    CHECK_INT(diff.op[op].rows, 2);
    CHECK_INT(diff.user_max[0], 50000);
    CHECK_INT(diff.user_min[1], 500);
    CHECK_INT(diff.user_max[1], 500);
    CHECK_INT(diff.op[op].count, 1);
    CHECK_INT(diff.op[op].ns, 3000);
    CHECK_INT(b.op[op].hits, 1);
    CHECK_INT(b.op[op].misses, 1);
    CHECK_INT(diff.op[op].hits, 0);
    CHECK_INT(diff.op[op].misses, 1);
    // A bucket of 2 ns: the exact minimum of the difference is not known.
    CHECK_NEAR((double)diff.op[op].min, 3000, 2);
    CHECK_INT(diff.op[op].max, 3000);
    CHECK_INT(b.ncodes, 1);
    CHECK_INT(b.code[0].count, 2);
    CHECK_INT(b.code[0].first_ns, 50);
    CHECK_INT(diff.code[0].count, 1);
    CHECK_INT(a.code[0].lost, 0);
    CHECK_INT(diff.code[0].lost, 1);
    CHECK_INT(sb_snap_check(&b, &s, 8 - 1 - 3, &err), 0);
    sb_snap_done(&diff);
    CHECK_INT(sb_snap_sub(&diff, &b, &b), 0);
    CHECK_INT(diff.ncodes, 0);
    CHECK_INT(diff.service_max, 0);
    sb_snap_done(&diff);
    sb_snap_done(&a);
    sb_snap_done(&b);
    sb_stats_done(&s);
}

// A user counts an error, then that it is a loss; a snapshot may come between.
static void a_loss_is_counted_behind_its_error(void)
{
    struct sb_snap a, b, diff, sum = { 0 };
    struct sb_err e;

    sb_stats_init(&s, 1, 1, false);
    sb_err_native(&e, SB_EQUERY, 7, "40001", "gone");
    sb_rec_code(&s.rec[0], "x", &e, 1, 60);
    take(&a, 1000, 0);
    sb_tally_add(&s.rec[0].codes[0].lost, 1);
    CHECK_INT(sb_snap_take(&b, &s, SB_SNAP_CODES, 2000, NULL), 0);
    CHECK_INT(sb_snap_sub(&diff, &b, &a), 0);
    CHECK_INT(diff.ncodes, 1);
    CHECK_INT(diff.code[0].count, 0);
    CHECK_INT(diff.code[0].lost, 1);
    CHECK_INT(sb_snap_add_interval(&sum, &diff), 0);
    CHECK_INT(sum.ncodes, 0);
    sb_snap_done(&sum);
    sb_snap_done(&diff);
    sb_snap_done(&b);
    // A report lists errors, and this one belongs to the time before.
    take(&b, 2000, 0);
    CHECK_INT(sb_snap_sub(&diff, &b, &a), 0);
    CHECK_INT(diff.ncodes, 0);
    sb_snap_done(&diff);
    sb_snap_done(&a);
    sb_snap_done(&b);
    sb_stats_done(&s);
}

static void first_interval_is_exact(void)
{
    struct sb_snap a, b, diff;

    sb_stats_init(&s, 1, 1, false);
    take(&a, 0, 0);
    event(0, 0, 0, 1234567);
    take(&b, 10, 1);
    CHECK_INT(sb_snap_sub(&diff, &b, &a), 0);
    CHECK_INT(diff.service_min, 1234567);
    CHECK_INT(diff.service_max, 1234567);
    sb_snap_done(&a);
    sb_snap_done(&b);
    sb_snap_done(&diff);
    sb_stats_done(&s);
}

// At the checkpoint an event is in progress; then it returns true.
static void dropped_event_is_reported_once(void)
{
    struct sb_snap a, b, diff;

    sb_stats_init(&s, 1, 1, true);
    event(0, 0, 0, 5);
    take(&a, 10, 2);
    a.c.started = a.c.tries = 2;
    take(&b, 20, 2);
    b.skipped = 1;
    CHECK_INT(sb_snap_sub(&diff, &b, &a), 0);
    CHECK_INT(diff.scheduled, 0);
    CHECK_INT(diff.c.started, 0);
    CHECK_INT(diff.c.tries, 0);
    CHECK_INT(diff.skipped, 0);
    sb_snap_done(&diff);
    b.scheduled = 3;
    b.c.started = b.c.tries = 2; // another event was started since
    CHECK_INT(sb_snap_sub(&diff, &b, &a), 0);
    CHECK_INT(diff.c.started + diff.skipped, diff.scheduled);
    sb_snap_done(&a);
    sb_snap_done(&b);
    sb_snap_done(&diff);
    sb_stats_done(&s);
}

// Breaks each identity once.
static void broken_sums_are_named(void)
{
    enum sb_op_kind kind = SB_OP_READ;
    struct sb_snap b;

#define BROKEN(change, name)                                     \
    do {                                                         \
        sb_stats_init(&s, 2, 2, true);                           \
        event(0, 0, 0, 5);                                       \
        sb_rec_op(&s.rec[0], sb_stats_op(&s, "x", kind), 5);     \
        take(&b, 1, 1);                                          \
        CHECK_INT(sb_snap_check(&b, &s, 0, &err), 0);            \
        change;                                                  \
        CHECK_INT(sb_snap_check(&b, &s, 0, &err), SB_EINTERNAL); \
        CHECK(strstr(err.msg, name) != NULL);                    \
        sb_snap_done(&b);                                        \
        sb_stats_done(&s);                                       \
    } while (0)
    BROKEN(b.scheduled++, "scheduled =");
    BROKEN(b.skipped++, "scheduled =");
    BROKEN(b.unfinished++, "started =");
    BROKEN(b.c.failed++, "started =");
    BROKEN(b.c.tries++, "tries =");
    BROKEN(b.c.err_fatal++, "errors =");
    BROKEN(b.service.total++, "service times");
    BROKEN(b.response.total++, "response times");
    BROKEN(b.lag.total++, "lags");
    BROKEN(b.c.client_delays++, "client delays");
    BROKEN(b.op[0].count++, "operation");
    BROKEN(b.op[0].hits += 2, "hits + misses");
    BROKEN(b.op[0].misses += 2, "hits + misses");
    BROKEN(b.user_events[1]++, "sum over users");
    BROKEN(b.user_ns[1]++, "service time = sum");
    kind = SB_OP_WORKLOAD;
    BROKEN(b.op[0].count = b.op[0].hist.total = 0,
        "completed = sum over workloads");
    BROKEN(b.op[0].failed++, "failed = sum over workloads");
    BROKEN(b.op[0].restarts++, "restarts = sum over workloads");
}

static void reports_show_the_right_latency(void)
{
    struct sb_snap a, diff, zero = { 0 };
    struct sb_report r;

    sb_stats_init(&s, 1, 1, true);
    event(0, 0, 1000, 3000);
    event(0, 0, 3000, 4000);
    take(&a, 2000000000, 5);
    a.running = 1;
    CHECK_INT(sb_snap_sub(&diff, &a, &zero), 0);
    diff.c.err_restarted = 2;
    diff.c.err_fatal = 9;
    sb_report_fill(&r, &diff, 4, true, 2.5);
    CHECK_NEAR(r.interval_s, 2, 0);
    CHECK_NEAR(r.lat_avg, 3500, 0);
    CHECK_INT(r.lat_min, 3000);
    CHECK_INT(r.queue, 3);
    CHECK_INT(r.errors, 2);
    CHECK_NEAR(sb_report_percentile(&r, 100), 4000, 0);
    sb_report_fill(&r, &diff, 4, false, 2.5);
    CHECK_NEAR(r.lat_avg, 1500, 0);
    CHECK_INT(r.lat_max, 2000);
    sb_snap_done(&diff);
    sb_snap_done(&a);
    sb_stats_done(&s);
}

static void means(void)
{
    uint64_t v[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
    double mean, dev;

    sb_report_mean(v, 8, &mean, &dev);
    CHECK_NEAR(mean, 5, 1e-12);
    CHECK_NEAR(dev, 2, 1e-12);
    sb_report_mean(v, 0, &mean, &dev);
    CHECK_NEAR(mean, 0, 0);
}

// Counters that were read one after the other.
static void the_queue_is_not_negative(void)
{
    const struct sb_snap earlier = { .scheduled = 19, .c = { .started = 9 } };
    struct sb_snap later = { .scheduled = 20, .c = { .started = 13 } };
    struct sb_snap diff;

    CHECK_INT(sb_snap_sub(&diff, &later, &earlier), 0);
    CHECK_INT(diff.queue, 7); // of all, not those of the interval
    sb_snap_done(&diff);
    later.scheduled = 12;
    CHECK_INT(sb_snap_sub(&diff, &later, &earlier), 0);
    CHECK_INT(diff.queue, 0);
    sb_snap_done(&diff);
}

CHECK_FILE
{
    RUN(empty_run);
    RUN(intervals_add_up);
    RUN(a_loss_is_counted_behind_its_error);
    RUN(first_interval_is_exact);
    RUN(dropped_event_is_reported_once);
    RUN(broken_sums_are_named);
    RUN(reports_show_the_right_latency);
    RUN(means);
    RUN(the_queue_is_not_negative);
    return check_done();
}
