// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/metrics.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "measure/snap.h"

#define USERS 4

static struct sb_stats s;

static int add(const char *name, enum sb_metric_kind kind)
{
    const struct sb_metric_def def = { .name = name, .kind = kind };
    struct sb_err err = { 0 };

    return sb_metrics_add(&s.metrics, &def, &err);
}

static struct sb_snap take(enum sb_snap_detail detail)
{
    struct sb_snap snap;

    CHECK_INT(sb_snap_take(&snap, &s, detail, 1, NULL), 0);
    return snap;
}

static void names_have_numbers_and_kinds(void)
{
    struct sb_metric_def def = { "hits", SB_METRIC_GAUGE, NULL, NULL, 0 };
    struct sb_err err = { 0 };

    CHECK_INT(sb_stats_init(&s, 2, 1, false), 0);
    CHECK_INT(add("hits", SB_METRIC_COUNTER), 0);
    CHECK_INT(add("depth", SB_METRIC_GAUGE), 1);
    CHECK_INT(add("hits", SB_METRIC_COUNTER), 0);
    CHECK_INT(sb_metrics_add(&s.metrics, &def, &err), SB_EUSAGE);
    CHECK_STR(err.msg, "metric 'hits' is a counter, not a gauge");
    CHECK_INT(sb_metrics_count(&s.metrics), 2);
    sb_stats_done(&s);
}

static void values_are_summed_set_and_recorded(void)
{
    struct sb_metrics *m = &s.metrics;
    struct sb_snap a, b, diff;

    CHECK_INT(sb_stats_init(&s, 2, 1, false), 0);
    add("counter", SB_METRIC_COUNTER);
    add("gauge", SB_METRIC_GAUGE);
    add("distribution", SB_METRIC_DISTRIBUTION);
    sb_metric_put(m, 0, 0, 1);
    sb_metric_put(m, 0, 1, 2.5);
    sb_metric_set(m, 1, 0, 10, 0);
    sb_metric_set(m, 1, 0, 4, 0);
    sb_metric_set(m, 1, 1, 3, 0);
    sb_metric_put(m, 2, 0, 0.25);
    sb_metric_put(m, 2, 1, 2000);
    a = take(SB_SNAP_LIGHT);
    CHECK_INT(a.nmetrics, 3);
    CHECK_NEAR(a.metric[0].value, 3.5, 0);
    CHECK_NEAR(a.metric[1].value, 7, 0);
    CHECK_INT(a.metric[2].count, 2);
    CHECK_NEAR(a.metric[2].value, 2000.25, 0);
    CHECK_NEAR(a.metric[2].min, 0.25, 0);
    CHECK_NEAR(a.metric[2].max, 2000, 0);
    CHECK_NEAR(sb_snap_metric_percentile(&a.metric[2], 50), 0.25, 0.00025);
    CHECK_NEAR(sb_snap_metric_percentile(&a.metric[2], 100), 2000, 0);
    sb_metric_put(m, 0, 0, 1);
    sb_metric_set(m, 1, 1, 1, 0);
    sb_metric_put(m, 2, 0, 7);
    b = take(SB_SNAP_FINAL);
    CHECK_INT(sb_snap_sub(&diff, &b, &a), 0);
    CHECK_NEAR(diff.metric[0].value, 1, 0);
    CHECK_INT(diff.metric[0].count, 1);
    CHECK_NEAR(diff.metric[1].value, 5, 0); // a state, not a difference
    CHECK_INT(diff.metric[2].count, 1);
    CHECK_NEAR(diff.metric[2].value, 7, 0);
    CHECK_NEAR(diff.metric[2].min, 7, 0.007);
    CHECK_NEAR(diff.metric[2].max, 7, 0.007);
    CHECK_NEAR(sb_snap_metric_percentile(&diff.metric[2], 99), 7, 0.007);
    CHECK_NEAR(b.metric[2].max, 2000, 0);
    sb_snap_done(&diff);
    CHECK_INT(sb_snap_sub(&diff, &b, &b), 0);
    CHECK_INT(diff.metric[2].count, 0);
    CHECK_NEAR(diff.metric[2].min + diff.metric[2].max, 0, 0);
    CHECK_NEAR(sb_snap_metric_percentile(&diff.metric[2], 50), 0, 0);
    sb_snap_done(&diff);
    sb_snap_done(&a);
    sb_snap_done(&b);
    sb_stats_done(&s);
}

// The state of a user that goes is no longer there; what it counted stays.
static void gauges_of_a_user_that_goes(void)
{
    struct sb_snap a;

    CHECK_INT(sb_stats_init(&s, 2, 1, false), 0);
    add("counter", SB_METRIC_COUNTER);
    add("gauge", SB_METRIC_GAUGE);
    for (unsigned user = 0; user < 2; user++) {
        sb_metric_put(&s.metrics, 0, user, 5);
        sb_metric_set(&s.metrics, 1, user, 10 + user, 0);
    }
    sb_metrics_leave(&s.metrics, 1);
    a = take(SB_SNAP_LIGHT);
    CHECK_NEAR(a.metric[0].value, 10, 0);
    CHECK_NEAR(a.metric[1].value, 10, 0);
    sb_snap_done(&a);
    sb_metric_set(&s.metrics, 1, 1, 3, 0); // it comes again
    a = take(SB_SNAP_LIGHT);
    CHECK_NEAR(a.metric[1].value, 13, 0);
    sb_snap_done(&a);
    sb_stats_done(&s);
}

// Within 0.1 % from 0.001 to the largest value.
static void distributions_are_precise(void)
{
    struct sb_metric_def def = { "large", SB_METRIC_DISTRIBUTION, "B", "size",
        1e12 };
    struct sb_err err;
    struct sb_snap a;

    CHECK_INT(sb_stats_init(&s, 1, 1, false), 0);
    CHECK_INT(sb_metrics_add(&s.metrics, &def, &err), 0);
    CHECK_STR(s.metrics.metric[0].unit, "B");
    CHECK_STR(s.metrics.metric[0].help, "size");
    for (double v = 0.001; v <= SB_METRIC_LARGEST; v *= 1.37) {
        char name[32];

        snprintf(name, sizeof(name), "%.10g", v);
        int i = add(name, SB_METRIC_DISTRIBUTION);
        sb_metric_put(&s.metrics, (uint32_t)i, 0, v);
        sb_metric_put(&s.metrics, (uint32_t)i, 0, SB_METRIC_LARGEST);
        a = take(SB_SNAP_FINAL);
        if (s.metrics.metric[i].kind == SB_METRIC_DISTRIBUTION)
            CHECK_NEAR(
                sb_snap_metric_percentile(&a.metric[i], 50), v, 0.001 * v);
        sb_snap_done(&a);
        // Every value in a new table, because its room is limited.
        sb_stats_done(&s);
        CHECK_INT(sb_stats_init(&s, 1, 1, false), 0);
        CHECK_INT(sb_metrics_add(&s.metrics, &def, &err), 0);
    }
    sb_metric_put(&s.metrics, 0, 0, 9e11);
    sb_metric_put(&s.metrics, 0, 0, 1e12);
    sb_metric_put(&s.metrics, 0, 0, 1e15); // more than the largest
    a = take(SB_SNAP_FINAL);
    CHECK_NEAR(sb_snap_metric_percentile(&a.metric[0], 100 / 3.0), 9e11, 9e8);
    CHECK_NEAR(a.metric[0].max, 1e15, 0);
    sb_snap_done(&a);
    sb_stats_done(&s);
}

static void a_full_table_counts_the_rest(void)
{
    struct sb_snap a;
    char name[16];

    CHECK_INT(sb_stats_init(&s, 1, 1, false), 0);
    for (int i = 0; i < SB_METRICS_MAX - 1; i++) {
        snprintf(name, sizeof(name), "m%d", i);
        CHECK_INT(add(name, SB_METRIC_COUNTER), i);
    }
    CHECK_INT(add("a", SB_METRIC_GAUGE), SB_METRICS_MAX - 1);
    CHECK_INT(add("b", SB_METRIC_DISTRIBUTION), SB_METRICS_MAX - 1);
    CHECK_INT(add("m7", SB_METRIC_COUNTER), 7);
    sb_metric_put(&s.metrics, SB_METRICS_MAX - 1, 0, 100);
    sb_metric_put(&s.metrics, SB_METRICS_MAX - 1, 0, 200);
    a = take(SB_SNAP_FINAL);
    CHECK_INT(a.nmetrics, SB_METRICS_MAX);
    CHECK_STR(s.metrics.metric[SB_METRICS_MAX - 1].name, SB_METRICS_REST);
    CHECK_NEAR(a.metric[SB_METRICS_MAX - 1].value, 2, 0);
    sb_snap_done(&a);
    sb_stats_done(&s);
}

// The warm-up has counters of its own; a gauge keeps its value.
static void twins(void)
{
    static struct sb_stats warm;
    struct sb_snap a;

    CHECK_INT(sb_stats_init(&s, 2, 2, false), 0);
    CHECK_INT(sb_stats_init(&warm, 2, 2, false), 0);
    sb_stats_twin(&s, &warm);
    add("counter", SB_METRIC_COUNTER);
    add("gauge", SB_METRIC_GAUGE);
    add("distribution", SB_METRIC_DISTRIBUTION);
    CHECK_INT(sb_metrics_count(&warm.metrics), 3);
    sb_metric_put(&warm.metrics, 0, 1, 5);
    sb_metric_set(&warm.metrics, 1, 1, 5, 0);
    sb_metric_put(&warm.metrics, 2, 1, 5);
    sb_metric_put(&s.metrics, 0, 0, 1);
    a = take(SB_SNAP_FULL);
    CHECK_NEAR(a.metric[0].value, 1, 0);
    CHECK_NEAR(a.metric[1].value, 5, 0);
    CHECK_INT(a.metric[2].count, 0);
    sb_snap_done(&a);
    CHECK_INT(sb_snap_take(&a, &warm, SB_SNAP_FULL, 1, NULL), 0);
    CHECK_NEAR(a.metric[0].value, 5, 0);
    CHECK_INT(a.metric[2].count, 1);
    sb_snap_done(&a);
    for (int i = 3; i <= SB_METRICS_MAX; i++) {
        char name[16];

        snprintf(name, sizeof(name), "m%d", i);
        add(name, SB_METRIC_GAUGE);
    }
    CHECK_INT(sb_metrics_count(&warm.metrics), SB_METRICS_MAX);
    CHECK_STR(warm.metrics.metric[SB_METRICS_MAX - 1].name, SB_METRICS_REST);
    sb_stats_done(&warm);
    sb_stats_done(&s);
}

static void a_broken_count_is_found(void)
{
    struct sb_snap a;
    struct sb_err err = { 0 };

    CHECK_INT(sb_stats_init(&s, 1, 1, false), 0);
    add("d", SB_METRIC_DISTRIBUTION);
    sb_metric_put(&s.metrics, 0, 0, 1);
    a = take(SB_SNAP_FINAL);
    CHECK_INT(sb_snap_check(&a, &s, 0, &err), 0);
    a.metric[0].count++;
    CHECK_INT(sb_snap_check(&a, &s, 0, &err), SB_EINTERNAL);
    CHECK(strstr(err.msg, "distribution") != NULL);
    sb_snap_done(&a);
    sb_stats_done(&s);
}

static _Atomic bool stop;
static _Atomic unsigned started;

static void *user(void *arg)
{
    unsigned id = *(unsigned *)arg, n = 0;

    do {
        sb_metric_put(&s.metrics, 0, id, 1);
        sb_metric_put(&s.metrics, 1, id, n % 1000);
        if (n++ == 0)
            atomic_fetch_add(&started, 1);
    } while (!atomic_load(&stop));
    return NULL;
}

// Intervals add up while users write.
static void live(void)
{
    pthread_t thread[USERS];
    unsigned id[USERS];
    struct sb_snap earlier = { 0 }, snap, diff;
    double sum = 0;
    uint64_t count = 0;

    CHECK_INT(sb_stats_init(&s, USERS, 2, false), 0);
    add("counter", SB_METRIC_COUNTER);
    add("distribution", SB_METRIC_DISTRIBUTION);
    atomic_store(&stop, false);
    for (unsigned u = 0; u < USERS; u++) {
        id[u] = u;
        CHECK_INT(pthread_create(&thread[u], NULL, user, &id[u]), 0);
    }
    while (atomic_load(&started) < USERS)
        sched_yield();
    for (int i = 0; i <= 50; i++) {
        if (i == 50) {
            atomic_store(&stop, true);
            for (unsigned u = 0; u < USERS; u++)
                pthread_join(thread[u], NULL);
        }
        snap = take(i == 50 ? SB_SNAP_FINAL : SB_SNAP_CODES);
        CHECK_INT(sb_snap_sub(&diff, &snap, &earlier), 0);
        CHECK(diff.metric[0].value >= 0);
        CHECK_INT(diff.metric[1].count, diff.metric[1].hist.total);
        sum += diff.metric[0].value;
        count += diff.metric[1].count;
        sb_snap_done(&diff);
        sb_snap_done(&earlier);
        earlier = snap;
    }
    CHECK(sum > 0);
    CHECK_NEAR(sum, earlier.metric[0].value, 0);
    CHECK_INT(count, earlier.metric[1].count);
    CHECK_INT(earlier.metric[0].count, earlier.metric[1].count);
    sb_snap_done(&earlier);
    sb_stats_done(&s);
}

CHECK_FILE
{
    RUN(names_have_numbers_and_kinds);
    RUN(values_are_summed_set_and_recorded);
    RUN(gauges_of_a_user_that_goes);
    RUN(distributions_are_precise);
    RUN(a_full_table_counts_the_rest);
    RUN(twins);
    RUN(a_broken_count_is_found);
    RUN(live);
    return check_done();
}
