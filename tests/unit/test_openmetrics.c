// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include <stdlib.h>

#include "check.h"
#include "out/openmetrics.h"

#define MS UINT64_C(1000000)

static struct sb_stats names;

// A run of 200 events of 1 ms and 20 of 10 ms, with an operation, an error and
// three metrics.
struct run {
    struct sb_snap snap;
    struct sb_snap_op op[2];
    struct sb_snap_code code;
    struct sb_snap_metric metric[3];
    struct sb_report report;
    struct sb_series series;
};

static void put(struct sb_hist_snap *h, uint64_t ns, uint64_t n)
{
    CHECK_INT(sb_hist_snap_put(h, sb_hist_index(ns), n), 0);
}

static void name_op(unsigned i, const char *name)
{
    snprintf(names.op[i].name, sizeof(names.op[i].name), "%s", name);
}

static void name_metric(unsigned i, const char *name, const char *unit)
{
    struct sb_metric *m = &names.metrics.metric[i];

    snprintf(m->name, sizeof(m->name), "%s", name);
    snprintf(m->unit, sizeof(m->unit), "%s", unit);
}

static void set_metrics(struct run *r)
{
    name_metric(0, "hits", "");
    name_metric(1, "depth", "B");
    name_metric(2, "size", "rows");
    r->metric[0] = (struct sb_snap_metric){ SB_METRIC_COUNTER, .value = 12.5 };
    r->metric[1] = (struct sb_snap_metric){ SB_METRIC_GAUGE, .value = 3 };
    r->metric[2] = (struct sb_snap_metric){ SB_METRIC_DISTRIBUTION, .count = 3,
        .value = 111, .scale = 1000 };
    put(&r->metric[2].hist, 1000, 1);
    put(&r->metric[2].hist, 10000, 1);
    put(&r->metric[2].hist, 100000, 1);
    r->snap.metric = r->metric;
    r->snap.nmetrics = 3;
}

static void begin(struct run *r, bool open_loop)
{
    memset(r, 0, sizeof(*r));
    struct sb_hist_snap *h = open_loop ? &r->snap.response : &r->snap.service;

    put(h, 900000, 200);
    put(h, 9 * MS, 20);
    r->snap.c = (struct sb_counters){ .completed = 220,
        .failed = 2,
        .reads = 7,
        .writes = 8,
        .others = 9,
        .err_givenup = 2,
        .service_ns = 380 * MS + 7,
        .response_ns = 380 * MS + 7 };
    r->snap.scheduled = 222;
    name_op(0, "SELECT \"a\\b\"\nx\xff");
    name_op(1, "INSERT");
    put(&r->op[0].hist, 20, 5);
    r->op[0].count = 5;
    r->op[0].ns = 100;
    r->op[0].rows = 3;
    r->op[1].errors = 4;
    r->snap.op = r->op;
    r->snap.nops = 2;
    r->code = (struct sb_snap_code){
        .native = -7, .state = "40001", .driver = "d", .count = 2
    };
    r->snap.code = &r->code;
    r->snap.ncodes = 1;
    set_metrics(r);
    sb_report_fill(&r->report, &r->snap, 4, open_loop, 2.5);
    r->report.running = 4;
    r->report.queue = 6;
    r->report.stats = &names;
    sb_series_init(&r->series);
    sb_series_set(&r->series, "run", "", "events", "", 1);
    sb_series_set(&r->series, "server", "rows_read", "value", "/s", 1.5);
    sb_series_set(&r->series, "server", "gone", "value", "/s", NAN);
    sb_series_set(&r->series, "client", "", "cpu", "", 0.25);
}

static void end(struct run *r)
{
    sb_hist_snap_done(&r->snap.service);
    sb_hist_snap_done(&r->snap.response);
    sb_hist_snap_done(&r->op[0].hist);
    sb_hist_snap_done(&r->metric[2].hist);
    sb_series_done(&r->series);
}

static char *text_of(struct run *r, enum sb_openmetrics_format format)
{
    const struct sb_openmetrics_run run = { "t\xc3\xbc.lua", "2.0",
        SB_OPENMETRICS_SEARCH };
    struct sb_buf b;

    sb_buf_init(&b, 0);
    sb_openmetrics_text(&b, format, &run, &r->report, &r->series);
    CHECK(!b.failed);
    return b.data;
}

// Whether the text has this whole line.
static bool has(const char *text, const char *line)
{
    size_t len = strlen(line);

    for (const char *p = text; (p = strstr(p, line)); p++)
        if ((p == text || p[-1] == '\n') && p[len] == '\n')
            return true;
    printf("# missing: %s\n", line);
    return false;
}

static void figures_of_a_run(void)
{
    struct run r;

    begin(&r, false);
    char *t = text_of(&r, SB_OPENMETRICS);
    CHECK(has(t, "# TYPE sysbench_run info"));
    CHECK(
        has(t, "sysbench_run_info{test=\"t\xc3\xbc.lua\",version=\"2.0\"} 1"));
    CHECK(has(t, "# TYPE sysbench_events counter"));
    CHECK(has(t, "sysbench_phase{phase=\"search\"} 1"));
    CHECK(has(t, "sysbench_phase{phase=\"measured\"} 0"));
    CHECK(has(t, "sysbench_events_total 220"));
    CHECK(has(t, "sysbench_failed_events_total 2"));
    CHECK(has(t, "sysbench_scheduled_events_total 222"));
    CHECK(has(t, "sysbench_queries_total{kind=\"write\"} 8"));
    CHECK(has(t, "sysbench_errors_total{fate=\"given up\"} 2"));
    CHECK(has(t, "sysbench_error_codes_total{driver=\"d\",code=\"-7\","
                 "state=\"40001\"} 2"));
    CHECK(has(t, "sysbench_elapsed_seconds 2.5"));
    CHECK(has(t, "sysbench_users 4"));
    CHECK(has(t, "sysbench_queue_length 6"));
    CHECK(has(t, "sysbench_server_value{name=\"rows_read\",unit=\"/s\"} 1.5"));
    CHECK(has(t, "sysbench_client_value{name=\"cpu\",unit=\"\"} 0.25"));
    CHECK(!strstr(t, "gone"));
    CHECK(!strstr(t, "sysbench_lag_seconds"));
    CHECK(!strstr(t, "sysbench_client_delay_seconds"));
    free(t);
    end(&r);
}

static void histograms_are_cumulative(void)
{
    struct run r;

    begin(&r, false);
    char *t = text_of(&r, SB_OPENMETRICS);
    CHECK(has(t, "# TYPE sysbench_latency_seconds histogram"));
    CHECK(has(t, "# UNIT sysbench_latency_seconds seconds"));
    CHECK(has(t, "sysbench_latency_seconds_bucket{le=\"0.0005\"} 0"));
    CHECK(has(t, "sysbench_latency_seconds_bucket{le=\"0.001\"} 200"));
    CHECK(has(t, "sysbench_latency_seconds_bucket{le=\"0.005\"} 200"));
    CHECK(has(t, "sysbench_latency_seconds_bucket{le=\"0.01\"} 220"));
    CHECK(has(t, "sysbench_latency_seconds_bucket{le=\"1.0\"} 220"));
    CHECK(has(t, "sysbench_latency_seconds_bucket{le=\"100.0\"} 220"));
    CHECK(has(t, "sysbench_latency_seconds_bucket{le=\"+Inf\"} 220"));
    CHECK(has(t, "sysbench_latency_seconds_count 220"));
    CHECK(has(t, "sysbench_latency_seconds_sum 0.380000007"));
    // Below the smallest and above the greatest bound.
    free(t);
    put(&r.snap.service, UINT64_C(200) * 1000000000, 1);
    t = text_of(&r, SB_OPENMETRICS);
    CHECK(has(t, "sysbench_latency_seconds_bucket{le=\"100.0\"} 220"));
    CHECK(has(t, "sysbench_latency_seconds_bucket{le=\"+Inf\"} 221"));
    free(t);
    end(&r);
}

// Values that equal a bound count below it; the next ones that a bucket tells
// apart do not.
static void bounds_belong_to_their_buckets(void)
{
    static const unsigned bounds[] = { 1, 5, 10 };
    struct run r;
    char line[160];

    begin(&r, false);
    sb_hist_snap_done(&r.metric[2].hist);
    // The scale of a distribution without `largest`.
    r.metric[2].scale = 262144;
    for (size_t i = 0; i < 3; i++) {
        put(&r.metric[2].hist, (uint64_t)bounds[i] * 262144, 1);
        put(&r.metric[2].hist, (uint64_t)bounds[i] * 263000, 1);
        put(&r.snap.service, bounds[i] * MS, 1);
        put(&r.snap.service, bounds[i] * 1003000, 1);
    }
    char *t = text_of(&r, SB_OPENMETRICS);
    for (size_t i = 0; i < 3; i++) {
        snprintf(line, sizeof(line),
            "sysbench_metric_distribution_bucket{name=\"size\","
            "unit=\"rows\",le=\"%u.0\"} %zu",
            bounds[i], 2 * i + 1);
        CHECK(has(t, line));
        snprintf(line, sizeof(line),
            "sysbench_latency_seconds_bucket{le=\"%g\"} %zu",
            bounds[i] / 1000.0, 2 * i + 1 + (i < 2 ? 200 : 220));
        CHECK(has(t, line));
    }
    free(t);
    end(&r);
}

static void an_open_loop_has_three_times(void)
{
    struct run r;

    begin(&r, true);
    r.snap.has_client_delay = true;
    char *t = text_of(&r, SB_OPENMETRICS);
    CHECK(has(t, "sysbench_client_delay_seconds_count 0"));
    CHECK(has(t, "# HELP sysbench_latency_seconds Response times of events."));
    CHECK(has(t, "sysbench_latency_seconds_count 220"));
    CHECK(has(t, "sysbench_service_seconds_count 0"));
    CHECK(has(t, "sysbench_lag_seconds_sum 0.000000000"));
    free(t);
    end(&r);
}

static void operations_have_labels(void)
{
    struct run r;

    begin(&r, false);
    char *t = text_of(&r, SB_OPENMETRICS);
    CHECK(has(t, "sysbench_operation_seconds_count{operation="
                 "\"SELECT \\\"a\\\\b\\\"\\nx\\\\xff\"} 5"));
    CHECK(has(t, "sysbench_operation_seconds_bucket{operation=\"INSERT\","
                 "le=\"+Inf\"} 0"));
    CHECK(has(t, "sysbench_operation_errors_total{operation=\"INSERT\"} 4"));
    CHECK(has(t, "sysbench_operation_rows_total{operation="
                 "\"SELECT \\\"a\\\\b\\\"\\nx\\\\xff\"} 3"));
    free(t);
    end(&r);
}

static void workloads_have_restarts(void)
{
    struct run r;

    begin(&r, false);
    char *t = text_of(&r, SB_OPENMETRICS);
    CHECK(!strstr(t, "sysbench_workload"));
    free(t);
    names.op[1].kind = SB_OP_WORKLOAD;
    r.op[1].failed = 3;
    r.op[1].restarts = 2;
    t = text_of(&r, SB_OPENMETRICS);
    names.op[1].kind = SB_OP_READ;
    CHECK(
        has(t, "sysbench_workload_failed_events_total{workload=\"INSERT\"} 3"));
    CHECK(has(t, "sysbench_workload_restarts_total{workload=\"INSERT\"} 2"));
    CHECK(!strstr(t, "sysbench_workload_restarts_total{workload=\"SELECT"));
    free(t);
    end(&r);
}

// Workloads of a mix are not operations: sums over operations count each
// statement once.
static void workloads_are_apart(void)
{
    struct run r;

    begin(&r, true);
    names.op[1].kind = SB_OP_WORKLOAD;
    put(&r.op[1].hist, 2 * MS, 3);
    r.op[1].ns = 6 * MS;
    char *t = text_of(&r, SB_OPENMETRICS);
    CHECK(has(t, "# HELP sysbench_workload_latency_seconds Response times of "
                 "the events of a workload."));
    CHECK(has(
        t, "sysbench_workload_latency_seconds_count{workload=\"INSERT\"} 3"));
    CHECK(has(t, "sysbench_workload_latency_seconds_sum{workload=\"INSERT\"} "
                 "0.006000000"));
    CHECK(has(t, "sysbench_workload_errors_total{workload=\"INSERT\"} 4"));
    CHECK(strstr(t, "operation=\"INSERT\"") == NULL);
    CHECK(strstr(t, "sysbench_operation_seconds_count") != NULL);
    free(t);
    sb_hist_snap_done(&r.op[1].hist);
    names.op[0].kind = SB_OP_WORKLOAD;
    t = text_of(&r, SB_OPENMETRICS);
    CHECK(strstr(t, "sysbench_operation") == NULL);
    free(t);
    names.op[0].kind = names.op[1].kind = SB_OP_READ;
    t = text_of(&r, SB_OPENMETRICS);
    CHECK(strstr(t, "sysbench_workload") == NULL);
    free(t);
    end(&r);
}

static void metrics_of_scripts(void)
{
    struct run r;

    begin(&r, false);
    char *t = text_of(&r, SB_OPENMETRICS);
    CHECK(has(t, "sysbench_metric_total{name=\"hits\",unit=\"\"} 12.5"));
    CHECK(has(t, "sysbench_metric_value{name=\"depth\",unit=\"B\"} 3"));
    CHECK(has(t, "sysbench_metric_distribution_bucket{name=\"size\","
                 "unit=\"rows\",le=\"0.5\"} 0"));
    CHECK(has(t, "sysbench_metric_distribution_bucket{name=\"size\","
                 "unit=\"rows\",le=\"1.0\"} 1"));
    CHECK(has(t, "sysbench_metric_distribution_bucket{name=\"size\","
                 "unit=\"rows\",le=\"25.0\"} 2"));
    CHECK(has(t, "sysbench_metric_distribution_bucket{name=\"size\","
                 "unit=\"rows\",le=\"1e+09\"} 3"));
    CHECK(has(t, "sysbench_metric_distribution_sum{name=\"size\","
                 "unit=\"rows\"} 111"));
    free(t);
    end(&r);
}

static void both_formats(void)
{
    struct run r;

    begin(&r, false);
    char *t = text_of(&r, SB_OPENMETRICS);
    CHECK(strlen(t) > 6 && strcmp(t + strlen(t) - 6, "# EOF\n") == 0);
    free(t);
    t = text_of(&r, SB_OPENMETRICS_TEXT);
    CHECK(has(t, "# TYPE sysbench_events_total counter"));
    CHECK(has(t, "sysbench_events_total 220"));
    CHECK(has(t, "# TYPE sysbench_run_info gauge"));
    CHECK(has(t, "# TYPE sysbench_latency_seconds histogram"));
    CHECK(!strstr(t, "# EOF"));
    CHECK(!strstr(t, "# UNIT"));
    free(t);
    end(&r);
}

// Each family is declared once, and its samples follow it.
static void families_are_whole(void)
{
    struct run r;
    char *seen[64], *save = NULL;
    size_t n = 0;

    begin(&r, true);
    char *t = text_of(&r, SB_OPENMETRICS);
    for (char *line = strtok_r(t, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        if (strncmp(line, "# TYPE ", 7) == 0) {
            char *name = line + 7;

            *strchr(name, ' ') = '\0';
            for (size_t i = 0; i < n; i++)
                if (strcmp(seen[i], name) == 0)
                    CHECK_STR(name, "declared twice");
            seen[n++] = name;
        } else if (line[0] != '#') {
            CHECK(strncmp(line, seen[n - 1], strlen(seen[n - 1])) == 0);
        }
    }
    CHECK(n > 15);
    free(t);
    end(&r);
}

CHECK_FILE
{
    RUN(figures_of_a_run);
    RUN(histograms_are_cumulative);
    RUN(bounds_belong_to_their_buckets);
    RUN(an_open_loop_has_three_times);
    RUN(operations_have_labels);
    RUN(workloads_have_restarts);
    RUN(workloads_are_apart);
    RUN(metrics_of_scripts);
    RUN(both_formats);
    RUN(families_are_whole);
    return check_done();
}
