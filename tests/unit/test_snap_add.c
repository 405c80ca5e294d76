// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include "check.h"
#include "measure/snap.h"

#define MS UINT64_C(1000000)

// What one process recorded: a user, events of these lengths, one operation of
// its own and one that both processes have.
struct process {
    struct sb_stats stats;
    struct sb_snap snap;
};

static void record(
    struct process *p, const char *own, const uint64_t *ms, unsigned n)
{
    struct sb_err error = { .code = SB_ELOST, .native = 7, .msg = "seven" };

    sb_stats_init(&p->stats, 1, 1, false);
    struct sb_rec *r = &p->stats.rec[0];
    int a = sb_stats_op(&p->stats, own, SB_OP_READ);
    int b = sb_stats_op(&p->stats, "both", SB_OP_WRITE);
    int w = sb_stats_op(&p->stats, "work", SB_OP_WORKLOAD);
    for (unsigned i = 0; i < n; i++) {
        sb_rec_event(r, 0, 0, ms[i] * MS);
        sb_rec_op(r, a, ms[i] * MS);
        sb_rec_op(r, b, 2 * ms[i] * MS);
    }
    r->workload = 1 + w;
    sb_rec_failed(r, true);
    sb_rec_restarted(r);
    sb_rec_restarted(r);
    snprintf(error.msg, sizeof(error.msg), "of %s", own);
    sb_rec_code(r, "driver", &error, 1, ms[0]);
    sb_snap_take(&p->snap, &p->stats, SB_SNAP_FINAL, 1, NULL);
    p->snap.scheduled = n;
}

static void done(struct process *p)
{
    sb_snap_done(&p->snap);
    sb_stats_done(&p->stats);
}

static const struct sb_snap_op *op(
    const struct sb_snap *s, struct sb_stats *stats, const char *name)
{
    return &s->op[sb_stats_op(stats, name, SB_OP_OTHER)];
}

static void nothing_is_lost(void)
{
    const uint64_t a[] = { 5, 7, 9 }, b[] = { 3, 20 };
    struct process one, two;
    struct sb_stats stats;
    struct sb_snap sum = { 0 };

    record(&one, "a", a, 3);
    record(&two, "b", b, 2);
    CHECK_INT(sb_stats_init(&stats, 1, 1, false), 0);
    CHECK_INT(sb_snap_add(&sum, &stats, &one.snap, &one.stats, 0, NULL), 0);
    CHECK_INT(sb_snap_add(&sum, &stats, &two.snap, &two.stats, 0, NULL), 0);
    CHECK_INT(sum.c.completed, 5);
    CHECK_INT(sum.scheduled, 5);
    CHECK_INT(sum.c.service_ns, 44 * MS);
    CHECK_INT(sum.service.total, 5);
    CHECK_INT(sum.service_min, 3 * MS);
    CHECK_INT(sum.service_max, 20 * MS);
    CHECK_INT(sb_hist_snap_count(&sum.service, sb_hist_index(7 * MS)), 1);
    CHECK_INT(sum.users, 2);
    CHECK_INT(sum.user_events[0], 3);
    CHECK_INT(sum.user_events[1], 2);
    CHECK_INT(sum.user_max[1], 20 * MS);
    int w = sb_stats_op(&stats, "work", SB_OP_WORKLOAD);
    CHECK_INT(sum.op[w].failed, 2);
    CHECK_INT(sum.op[w].cut_short, 2);
    CHECK_INT(sum.op[w].restarts, 4);
    CHECK_INT(op(&sum, &stats, "a")->count, 3);
    CHECK_INT(op(&sum, &stats, "b")->count, 2);
    CHECK_INT(op(&sum, &stats, "b")->min, 3 * MS);
    const struct sb_snap_op *both = op(&sum, &stats, "both");
    CHECK_INT(both->count, 5);
    CHECK_INT(both->hist.total, 5);
    CHECK_INT(both->min, 6 * MS);
    CHECK_INT(both->max, 40 * MS);
    CHECK_INT(both->ns, 88 * MS);
    sb_snap_done(&sum);
    sb_stats_done(&stats);
    done(&one);
    done(&two);
}

// The sample is that of the first occurrence, whichever is added first.
static void codes_are_added(void)
{
    const uint64_t late[] = { 9 }, early[] = { 3 };
    struct process one, two;
    struct sb_stats stats;
    struct sb_snap sum = { 0 };

    record(&one, "late", late, 1);
    record(&two, "early", early, 1);
    sb_stats_init(&stats, 1, 1, false);
    sb_snap_add(&sum, &stats, &one.snap, &one.stats, 0, NULL);
    sb_snap_add(&sum, &stats, &two.snap, &two.stats, 0, NULL);
    sb_snap_add(&sum, &stats, &one.snap, &one.stats, 0, NULL);
    CHECK_INT(sum.ncodes, 1);
    CHECK_INT(sum.code[0].count, 3);
    CHECK_INT(sum.code[0].lost, 3);
    CHECK_INT(sum.code[0].first_ns, 3);
    CHECK_STR(sum.code[0].sample, "of early");
    sb_snap_done(&sum);
    sb_stats_done(&stats);
    done(&one);
    done(&two);
}

// A run that started later saw its first error later.
static void first_errors_follow_the_start(void)
{
    const uint64_t a[] = { 9 }, b[] = { 3 };
    struct process one, two;
    struct sb_stats stats;
    struct sb_snap sum = { 0 };

    record(&one, "one", a, 1);
    record(&two, "two", b, 1);
    sb_stats_init(&stats, 1, 1, false);
    sb_snap_add(&sum, &stats, &two.snap, &two.stats, 100, NULL);
    CHECK_INT(sum.code[0].first_ns, 103);
    sb_snap_add(&sum, &stats, &one.snap, &one.stats, 0, NULL);
    CHECK_INT(sum.code[0].first_ns, 9);
    CHECK_STR(sum.code[0].sample, "of one");
    sb_snap_add(&sum, &stats, &two.snap, &two.stats, 7, NULL);
    CHECK_INT(sum.code[0].first_ns, 9);
    sb_snap_done(&sum);
    sb_stats_done(&stats);
    done(&one);
    done(&two);
}

// A process with a counter, a gauge and a distribution.
static void measure(struct process *p, double value, double largest)
{
    const struct sb_metric_def def[] = {
        { "gauge", SB_METRIC_GAUGE, "rows", "", 0 },
        { "size", SB_METRIC_DISTRIBUTION, "B", "sizes", largest },
        { "hits", SB_METRIC_COUNTER, "", "", 0 },
    };

    sb_stats_init(&p->stats, 1, 1, false);
    for (unsigned i = 0; i < 3; i++)
        CHECK_INT(sb_metrics_add(&p->stats.metrics, &def[i], NULL), i);
    sb_metric_set(&p->stats.metrics, 0, 0, value, 0);
    sb_metric_put(&p->stats.metrics, 1, 0, value);
    sb_metric_put(&p->stats.metrics, 2, 0, value);
    sb_snap_take(&p->snap, &p->stats, SB_SNAP_FINAL, 1, NULL);
}

static void metrics_are_added(void)
{
    struct sb_metric_def own = { "own", SB_METRIC_COUNTER, "", "", 0 };
    struct process one, two;
    struct sb_stats stats;
    struct sb_snap sum = { 0 };

    measure(&one, 3, 0);
    measure(&two, 500, 0);
    sb_stats_init(&stats, 1, 1, false);
    sb_metrics_add(&stats.metrics, &own, NULL); // numbers differ
    CHECK_INT(sb_snap_add(&sum, &stats, &one.snap, &one.stats, 0, NULL), 0);
    CHECK_INT(sb_snap_add(&sum, &stats, &two.snap, &two.stats, 0, NULL), 0);
    CHECK_INT(sum.nmetrics, 4);
    CHECK_STR(stats.metrics.metric[1].name, "gauge");
    CHECK_STR(stats.metrics.metric[2].unit, "B");
    CHECK_STR(stats.metrics.metric[2].help, "sizes");
    CHECK_NEAR(sum.metric[1].value, 503, 0);
    CHECK_INT(sum.metric[2].kind, SB_METRIC_DISTRIBUTION);
    CHECK_INT(sum.metric[2].count, 2);
    CHECK_INT(sum.metric[2].hist.total, 2);
    CHECK_NEAR(sum.metric[2].value, 503, 0);
    CHECK_NEAR(sum.metric[2].min, 3, 0);
    CHECK_NEAR(sum.metric[2].max, 500, 0);
    CHECK_NEAR(sb_snap_metric_percentile(&sum.metric[2], 50), 3, 0.003);
    CHECK_NEAR(sum.metric[3].value, 503, 0);
    sb_snap_done(&sum);
    sb_stats_done(&stats);
    done(&one);
    done(&two);
}

// The buckets of a distribution depend on its largest value.
static void scales_differ(void)
{
    struct process one, two;
    struct sb_stats stats;
    struct sb_snap sum = { 0 };

    measure(&one, 3, 0);
    measure(&two, 5e9, 1e12);
    for (int i = 0; i < 2; i++) {
        struct process *a = i ? &two : &one, *b = i ? &one : &two;

        sb_stats_init(&stats, 1, 1, false);
        sb_snap_add(&sum, &stats, &a->snap, &a->stats, 0, NULL);
        sb_snap_add(&sum, &stats, &b->snap, &b->stats, 0, NULL);
        CHECK_NEAR(sum.metric[1].scale, a->snap.metric[1].scale, 0);
        CHECK_INT(sum.metric[1].hist.total, 2);
        CHECK_NEAR(sb_snap_metric_percentile(&sum.metric[1], 50), 3, 0.003);
        CHECK_NEAR(sum.metric[1].max, 5e9, 0);
        sb_snap_done(&sum);
        sb_stats_done(&stats);
        memset(&sum, 0, sizeof(sum));
    }
    done(&one);
    done(&two);
}

static void a_metric_has_one_kind(void)
{
    struct sb_metric_def def = { "hits", SB_METRIC_GAUGE, "", "", 0 };
    struct sb_err err = { 0 };
    struct process one;
    struct sb_stats stats;
    struct sb_snap sum = { 0 };

    measure(&one, 3, 0);
    sb_stats_init(&stats, 1, 1, false);
    sb_metrics_add(&stats.metrics, &def, NULL);
    CHECK_INT(
        sb_snap_add(&sum, &stats, &one.snap, &one.stats, 0, &err), SB_EUSAGE);
    CHECK_STR(err.msg, "metric 'hits' is a gauge, not a counter");
    sb_snap_done(&sum);
    sb_stats_done(&stats);
    done(&one);
}

// A process without events does not change the extremes.
static void nothing_adds_nothing(void)
{
    const uint64_t a[] = { 5 };
    struct process one;
    struct sb_stats stats;
    struct sb_snap sum = { 0 }, none = { 0 };

    record(&one, "a", a, 1);
    sb_stats_init(&stats, 1, 1, false);
    sb_snap_add(&sum, &stats, &one.snap, &one.stats, 0, NULL);
    CHECK_INT(sb_snap_add(&sum, &stats, &none, &stats, 0, NULL), 0);
    CHECK_INT(sum.service_min, 5 * MS);
    CHECK_INT(sum.service_max, 5 * MS);
    CHECK_INT(sum.users, 1);
    sb_snap_done(&sum);
    sb_stats_done(&stats);
    done(&one);
}

static void intervals_of_a_run(void)
{
    struct sb_snap_metric depth = { SB_METRIC_GAUGE, .count = 2, .value = 5 };
    struct sb_snap a = { .ns = 1000,
        .running = 3,
        .queue = 9,
        .unfinished = 2,
        .scheduled = 4,
        .service_min = 20,
        .service_max = 30,
        .users = 7,
        .metric = &depth,
        .nmetrics = 1 };
    struct sb_snap b = { .ns = 500,
        .running = 1,
        .scheduled = 1,
        .service_min = 10,
        .service_max = 15 };
    struct sb_snap sum = { 0 };

    a.c.completed = 4;
    b.c.completed = 1;
    CHECK_INT(sb_snap_add_interval(&sum, &a), 0);
    CHECK_INT(sb_snap_add_interval(&sum, &b), 0);
    CHECK_INT(sum.ns, 1500);
    CHECK_INT(sum.c.completed, 5);
    CHECK_INT(sum.scheduled, 5);
    CHECK_INT(sum.service_min, 10);
    CHECK_INT(sum.service_max, 30);
    // States are those of the later one, and users are left out.
    CHECK_INT(sum.running, 1);
    CHECK_INT(sum.queue, 0);
    CHECK_INT(sum.unfinished, 0);
    CHECK_INT(sum.users, 0);
    CHECK_NEAR(sum.metric[0].value, 5, 0);
    depth.value = 2;
    CHECK_INT(sb_snap_add_interval(&sum, &a), 0);
    CHECK_NEAR(sum.metric[0].value, 2, 0);
    CHECK_INT(sum.metric[0].count, 4);
    sb_snap_done(&sum);
}

// The ranks that have a metric may have ended when others still report.
static void an_interval_lacks_a_metric(void)
{
    struct sb_snap_metric size = { SB_METRIC_DISTRIBUTION, .count = 2, .min = 1,
        .max = 3, .value = 4, .scale = 8 };
    struct sb_snap_metric none = { 0 };
    struct sb_snap a = { .metric = &size, .nmetrics = 1 };
    struct sb_snap b = { .metric = &none, .nmetrics = 1 };
    struct sb_snap sum = { 0 };

    CHECK_INT(sb_snap_add_interval(&sum, &a), 0);
    CHECK_INT(sb_snap_add_interval(&sum, &b), 0);
    CHECK_INT(sum.metric[0].kind, SB_METRIC_DISTRIBUTION);
    CHECK_NEAR(sum.metric[0].scale, 8, 0);
    CHECK_INT(sum.metric[0].count, 2);
    CHECK_NEAR(sum.metric[0].min, 1, 0);
    sb_snap_done(&sum);
}

CHECK_FILE
{
    RUN(nothing_is_lost);
    RUN(codes_are_added);
    RUN(first_errors_follow_the_start);
    RUN(metrics_are_added);
    RUN(scales_differ);
    RUN(a_metric_has_one_kind);
    RUN(nothing_adds_nothing);
    RUN(intervals_of_a_run);
    RUN(an_interval_lacks_a_metric);
    return check_done();
}
