// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include "check.h"
#include "out/series.h"
#include "series_value.h"

#define MS UINT64_C(1000000)

// A report of n events that took 1 ms, 2 ms, ... n ms, in an interval of 2 s.
struct fixture {
    struct sb_snap snap;
    struct sb_report report;
};

static void fill(struct fixture *f, unsigned n)
{
    memset(f, 0, sizeof(*f));
    f->snap.ns = 2000 * MS;
    f->snap.running = 3;
    for (unsigned i = 1; i <= n; i++) {
        sb_hist_snap_put(&f->snap.service, sb_hist_index(i * MS), 1);
        f->snap.c.service_ns += i * MS;
    }
    f->snap.c.completed = f->snap.c.started = n;
    f->snap.service_min = n ? MS : 0;
    f->snap.service_max = n * MS;
    f->snap.c.err_ignored = 4;
    f->snap.c.err_fatal = 1;
    sb_report_fill(&f->report, &f->snap, 8, false, 10);
}

static void done(struct fixture *f)
{
    sb_snap_done(&f->snap);
}

static double run_figure(const struct sb_series *s, const char *figure)
{
    return series_value(s, "run", "", figure);
}

static void figures_of_an_interval(void)
{
    struct fixture f;
    struct sb_series s;

    fill(&f, 100);
    f.report.stage = 4;
    sb_series_init(&s);
    CHECK_INT(sb_series_row(&s, &f.report), 0);
    CHECK_NEAR(run_figure(&s, "time"), 10, 0);
    CHECK_NEAR(run_figure(&s, "stage"), 4, 0);
    CHECK_NEAR(run_figure(&s, "seconds"), 2, 0);
    CHECK_NEAR(run_figure(&s, "events"), 100, 0);
    CHECK_NEAR(run_figure(&s, "running"), 3, 0);
    CHECK_NEAR(run_figure(&s, "errors"), 5, 0);
    CHECK_NEAR(run_figure(&s, "avg"), 50.5, 0.001);
    CHECK_NEAR(run_figure(&s, "p50"), 50, 0.1);
    CHECK_NEAR(run_figure(&s, "p99"), 99, 0.1);
    CHECK_NEAR(run_figure(&s, "max"), 100, 0);
    CHECK(isnan(run_figure(&s, "lag_avg"))); // a closed loop has no lag
    CHECK(isnan(run_figure(&s, "client_delay_avg"))); // users have threads
    sb_series_done(&s);
    done(&f);
}

// There may be more answers than events.
static void client_delay_of_an_interval(void)
{
    struct fixture f;
    struct sb_series s;

    fill(&f, 2);
    f.snap.has_client_delay = true;
    f.snap.client_delay_max = 3000000;
    f.snap.c.client_delays = 4;
    f.snap.c.client_delay_ns = 6000000;
    for (int i = 0; i < 4; i++)
        sb_hist_snap_put(
            &f.snap.client_delay, sb_hist_index(i < 2 ? 0 : 3000000), 1);
    sb_series_init(&s);
    CHECK_INT(sb_series_row(&s, &f.report), 0);
    CHECK_NEAR(run_figure(&s, "client_delay_avg"), 1.5, 0);
    CHECK_NEAR(run_figure(&s, "client_delay_p99"), 3, 0.01);
    sb_series_done(&s);
    done(&f);
}

static void nothing_is_no_value(void)
{
    struct fixture f;
    struct sb_series s;

    fill(&f, 0);
    sb_series_init(&s);
    CHECK_INT(sb_series_row(&s, &f.report), 0);
    CHECK_NEAR(run_figure(&s, "events"), 0, 0);
    CHECK(isnan(run_figure(&s, "p99")));
    CHECK(isnan(run_figure(&s, "min")));
    CHECK(isnan(run_figure(&s, "avg")));
    sb_series_done(&s);
    done(&f);
}

static void warm_up_times_are_negative(void)
{
    struct fixture f;
    struct sb_series s;

    fill(&f, 1);
    f.report.warmup = true;
    f.report.warmup_s = 30;
    sb_series_init(&s);
    CHECK_INT(sb_series_row(&s, &f.report), 0);
    CHECK_NEAR(run_figure(&s, "time"), -20, 0);
    f.report.total_s = 30.001; // late
    CHECK_INT(sb_series_row(&s, &f.report), 0);
    CHECK_NEAR(run_figure(&s, "time"), 0, 0);
    sb_series_done(&s);
    done(&f);
}

static void columns_are_added_at_the_end(void)
{
    struct fixture f;
    struct sb_series s;
    struct sb_buf b;

    fill(&f, 1);
    sb_series_init(&s);
    sb_series_row(&s, &f.report);
    unsigned n = s.ncols;
    CHECK_INT(sb_series_set(&s, "server", "a", "value", "/s", 1.5), 0);
    CHECK_INT(sb_series_set(&s, "server", "b", "value", "/s", 2), 0);
    CHECK_INT(s.ncols, n + 2);
    CHECK_STR(s.col[n].name, "a");
    // In the next row, each value is in its column again.
    sb_series_row(&s, &f.report);
    CHECK(isnan(series_value(&s, "server", "a", "value")));
    sb_series_set(&s, "server", "b", "value", "/s", 3);
    CHECK_INT(s.ncols, n + 2);
    CHECK_NEAR(s.value[n + 1], 3, 0);
    sb_buf_init(&b, 0);
    sb_series_json(&b, &s);
    CHECK(b.len > 8 && strcmp(b.data + b.len - 8, ",null,3]") == 0);
    sb_buf_done(&b);
    sb_series_done(&s);
    done(&f);
}

static void operations_have_columns(void)
{
    struct sb_stats stats;
    struct sb_snap snap = { 0 };
    struct sb_report r;
    struct sb_series s;

    CHECK_INT(sb_stats_init(&stats, 1, 1, false), 0);
    int never = sb_stats_op(&stats, "never", SB_OP_READ);
    int seen = sb_stats_op(&stats, "seen", SB_OP_WRITE);
    sb_rec_op(&stats.rec[0], seen, 3 * MS);
    CHECK_INT(sb_snap_take(&snap, &stats, SB_SNAP_FINAL, 1, NULL), 0);
    sb_report_fill(&r, &snap, 1, false, 1);
    r.stats = &stats;
    sb_series_init(&s);
    CHECK_INT(sb_series_row(&s, &r), 0);
    CHECK(isnan(series_value(&s, "operation", "never", "count")));
    CHECK_NEAR(series_value(&s, "operation", "seen", "count"), 1, 0);
    CHECK_NEAR(series_value(&s, "operation", "seen", "p95"), 3, 0.01);
    CHECK_NEAR(series_value(&s, "operation", "seen", "max"), 3, 0);
    (void)never;
    sb_series_done(&s);
    sb_snap_done(&snap);
    sb_stats_done(&stats);
}

// Only workloads of a mix have failed events and restarts.
static void workloads_have_columns(void)
{
    struct sb_stats stats;
    struct sb_snap snap = { 0 };
    struct sb_report r;
    struct sb_series s;

    CHECK_INT(sb_stats_init(&stats, 1, 1, false), 0);
    int op = sb_stats_op(&stats, "shop", SB_OP_WORKLOAD);
    int step = sb_stats_op(&stats, "shop/step", SB_OP_CUSTOM);
    int failing = sb_stats_op(&stats, "failing", SB_OP_WORKLOAD);
    stats.rec[0].workload = 1 + op;
    sb_rec_op(&stats.rec[0], op, 3 * MS);
    sb_rec_op(&stats.rec[0], step, 3 * MS);
    sb_rec_failed(&stats.rec[0], false);
    sb_rec_restarted(&stats.rec[0]);
    sb_rec_restarted(&stats.rec[0]);
    stats.rec[0].workload = 1 + failing;
    sb_rec_failed(&stats.rec[0], false);
    CHECK_INT(sb_snap_take(&snap, &stats, SB_SNAP_FINAL, 1, NULL), 0);
    sb_report_fill(&r, &snap, 1, false, 1);
    r.stats = &stats;
    sb_series_init(&s);
    CHECK_INT(sb_series_row(&s, &r), 0);
    CHECK_NEAR(series_value(&s, "operation", "shop", "failed"), 1, 0);
    CHECK_NEAR(series_value(&s, "operation", "shop", "restarts"), 2, 0);
    CHECK_NEAR(series_value(&s, "operation", "failing", "failed"), 1, 0);
    CHECK_NEAR(series_value(&s, "operation", "shop/step", "count"), 1, 0);
    CHECK(isnan(series_value(&s, "operation", "shop/step", "failed")));
    sb_series_done(&s);
    sb_snap_done(&snap);
    sb_stats_done(&stats);
}

static void digits_follow_the_unit(void)
{
    const struct {
        double value;
        const char *unit, *text;
    } rows[] = {
        { 0, "", "0" },
        { 12345678901, "", "12345678901" },
        { 0.123456, "ms", "0.1235" },
        { 12.3456, "ms", "12.35" },
        { 12345.6, "ms", "12346" },
        { 1.0000914, "s", "1.000091" },
        { 4978.3612, "/s", "4978" },
        { 12345678.9, "bytes/s", "12345679" },
        { 91.69173, "/s", "91.69" },
        { 1.2345678, "processors", "1.235" },
        { 0.123456789, "", "0.1234568" },
        { NAN, "ms", "null" },
        { INFINITY, "", "null" },
    };
    struct sb_buf b;

    sb_buf_init(&b, 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        sb_buf_clear(&b);
        sb_series_number(&b, rows[i].value, rows[i].unit);
        CHECK_STR(b.data, rows[i].text);
    }
    sb_buf_done(&b);
}

// The formula of docs/internals/results.md.
static double lowest(unsigned bucket)
{
    return bucket < 4
               ? 256.0 * bucket
               : 256.0 * (4 + bucket % 4) * pow(2, floor(bucket / 4.0) - 1);
}

static void heat_has_four_buckets_per_octave(void)
{
    const uint64_t times[] = { 0, 255, 256, 1023, 1024, 2047, 2048, 2560, 4096,
        MS, 12345678, 1000 * MS };
    struct sb_buf b;

    sb_buf_init(&b, 0);
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        struct sb_hist_snap h = { 0 };
        unsigned bucket, count;

        sb_hist_snap_put(&h, sb_hist_index(times[i]), 7);
        sb_buf_clear(&b);
        sb_series_heat(&b, &h);
        CHECK_INT(sscanf(b.data, "[%u,%u]", &bucket, &count), 2);
        CHECK_INT(count, 7);
        CHECK(lowest(bucket) <= (double)times[i]);
        CHECK(lowest(bucket + 1) > (double)times[i]);
        sb_hist_snap_done(&h);
    }
    struct sb_hist_snap none = { 0 };
    sb_buf_clear(&b);
    sb_series_heat(&b, &none);
    CHECK_STR(b.data, "[]");
    sb_buf_done(&b);
}

static void too_many_columns_are_left_out(void)
{
    struct sb_series s;
    char name[16];

    sb_series_init(&s);
    for (unsigned i = 0; i < SB_COLUMNS_MAX + 10; i++) {
        snprintf(name, sizeof(name), "n%u", i);
        CHECK_INT(sb_series_set(&s, "server", name, "value", "", i), 0);
    }
    CHECK_INT(s.ncols, SB_COLUMNS_MAX);
    CHECK_INT(s.left_out, 10);
    // The others are still found, in any order.
    CHECK_NEAR(series_value(&s, "server", "n16383", "value"), 16383, 0);
    CHECK_NEAR(series_value(&s, "server", "n7", "value"), 7, 0);
    CHECK(isnan(series_value(&s, "server", "n7", "p50")));
    CHECK(isnan(series_value(&s, "client", "n7", "value")));
    CHECK(isnan(series_value(&s, "server", "n16384", "value")));
    sb_series_done(&s);
}

// The unit of a metric says nothing about its digits.
static void metrics_have_units(void)
{
    struct sb_stats stats;
    struct fixture f;
    struct sb_series s;
    struct sb_buf b;

    fill(&f, 0);
    sb_stats_init(&stats, 1, 1, false);
    const struct sb_metric_def def = {
        .name = "wait", .kind = SB_METRIC_COUNTER, .unit = "ms"
    };
    sb_metrics_add(&stats.metrics, &def, NULL);
    struct sb_snap_metric m = { .kind = SB_METRIC_COUNTER, .value = 1234.5 };
    f.snap.metric = &m;
    f.snap.nmetrics = 1;
    f.report.stats = &stats;
    sb_series_init(&s);
    CHECK_INT(sb_series_row(&s, &f.report), 0);
    sb_stats_done(&stats); // the columns have copies
    const struct sb_column *c = &s.col[s.ncols - 1];
    CHECK_STR(c->name, "wait");
    CHECK_STR(c->unit, "ms");
    sb_buf_init(&b, 0);
    sb_series_json(&b, &s);
    CHECK_STR(b.data + b.len - 8, ",1234.5]");
    sb_buf_done(&b);
    sb_series_done(&s);
    f.snap.metric = NULL;
    f.snap.nmetrics = 0;
    done(&f);
}

CHECK_FILE
{
    RUN(figures_of_an_interval);
    RUN(client_delay_of_an_interval);
    RUN(nothing_is_no_value);
    RUN(warm_up_times_are_negative);
    RUN(columns_are_added_at_the_end);
    RUN(operations_have_columns);
    RUN(workloads_have_columns);
    RUN(digits_follow_the_unit);
    RUN(heat_has_four_buckets_per_octave);
    RUN(too_many_columns_are_left_out);
    RUN(metrics_have_units);
    return check_done();
}
