// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/openmetrics.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

#define PREFIX "sysbench_"

struct writer {
    struct sb_buf *out;
    bool open; // OpenMetrics
};

// A label. NULL as name ends a list.
struct label {
    const char *name, *value;
};

// Families --------------------------------------------------------------------

// unit: the last word of the name, or "".
static void family(struct writer *w, const char *name, const char *type,
    const char *unit, const char *help)
{
    // In the older format, the name of a counter ends as that of its samples.
    const char *end = !w->open && strcmp(type, "counter") == 0 ? "_total" : "";

    sb_buf_addf(w->out, "# HELP " PREFIX "%s%s %s\n", name, end, help);
    sb_buf_addf(w->out, "# TYPE " PREFIX "%s%s %s\n", name, end, type);
    if (w->open && *unit)
        sb_buf_addf(w->out, "# UNIT " PREFIX "%s %s\n", name, unit);
}

static void escaped(struct sb_buf *b, const char *value)
{
    for (; *value; value++) {
        if (*value == '\n')
            sb_buf_adds(b, "\\n");
        else if (*value == '"' || *value == '\\')
            sb_buf_addf(b, "\\%c", *value);
        else
            sb_buf_add(b, value, 1);
    }
}

static void add_label(struct writer *w, const struct label *l, bool first)
{
    char clean[512];

    // Both formats require UTF-8.
    sb_escape(clean, sizeof(clean), l->value);
    sb_buf_addf(w->out, "%s%s=\"", first ? "" : ",", l->name);
    escaped(w->out, clean);
    sb_buf_adds(w->out, "\"");
}

// Writes the name and the labels of a sample. le: one more label, or NULL.
static void sample(struct writer *w, const char *name, const char *end,
    const struct label *labels, const char *le)
{
    const struct label bound = { "le", le };
    bool first = true;

    sb_buf_addf(w->out, PREFIX "%s%s", name, end);
    for (; labels && labels->name; labels++) {
        sb_buf_adds(w->out, first ? "{" : "");
        add_label(w, labels, first);
        first = false;
    }
    if (le) {
        sb_buf_adds(w->out, first ? "{" : "");
        add_label(w, &bound, first);
        first = false;
    }
    sb_buf_adds(w->out, first ? " " : "} ");
}

static void put_count(struct writer *w, uint64_t value)
{
    sb_buf_addf(w->out, "%" PRIu64 "\n", value);
}

static void put_number(struct writer *w, double value)
{
    if (isfinite(value))
        sb_buf_addf(w->out, "%.15g\n", value);
    else
        sb_buf_adds(w->out, "NaN\n");
}

// Without rounding.
static void put_seconds(struct writer *w, uint64_t ns)
{
    sb_buf_addf(w->out, "%" PRIu64 ".%09" PRIu64 "\n", ns / 1000000000,
        ns % 1000000000);
}

static void counter(
    struct writer *w, const char *name, const char *help, uint64_t value)
{
    family(w, name, "counter", "", help);
    sample(w, name, "_total", NULL, NULL);
    put_count(w, value);
}

static void gauge(struct writer *w, const char *name, const char *unit,
    const char *help, double value)
{
    family(w, name, "gauge", unit, help);
    sample(w, name, "", NULL, NULL);
    put_number(w, value);
}

// Histograms ------------------------------------------------------------------

// Upper bounds of buckets: 1, 2.5 and 5 times each power of ten.
struct bounds {
    int first, last; // powers of ten; the greatest bound is 10^last
};

#define BOUNDS_MAX 64

static const struct bounds seconds = { -6, 2 };
// Of distributions of scripts, whose unit is unknown.
static const struct bounds any = { -3, 9 };

static int bounds_count(const struct bounds *b)
{
    return 3 * (b->last - b->first) + 1;
}

static double bound(const struct bounds *b, int i)
{
    static const double steps[] = { 1, 2.5, 5 };
    int power = b->first + i / 3;

    // 10^-6 is not a binary number, but 10^6 is: this is the nearest to 1e-06.
    return power < 0 ? steps[i % 3] / pow(10, -power)
                     : steps[i % 3] * pow(10, power);
}

struct buckets {
    const struct bounds *bounds;
    double scale;                   // counted units for a value of 1
    uint64_t count[BOUNDS_MAX + 1]; // not cumulative; the last one: above all
};

// Counts a bucket below the first bound that is not less than its lowest value:
// values that equal a bound must be counted below it, and a bucket often
// contains only such values (record(5)).
static void add_bucket(void *arg, uint64_t low, uint64_t width, uint64_t count)
{
    struct buckets *b = arg;
    int i = 0, n = bounds_count(b->bounds);

    (void)width;
    while (i < n && (double)low / b->scale > bound(b->bounds, i))
        i++;
    b->count[i] += count;
}

static const char *le_text(char *text, size_t size, double value)
{
    snprintf(text, size, "%g", value);
    if (!strpbrk(text, ".e")) {
        size_t len = strlen(text);

        snprintf(text + len, size - len, ".0");
    }
    return text;
}

// Writes the buckets, and returns the number of values.
static uint64_t put_buckets(struct writer *w, const char *name,
    const struct label *labels, const struct sb_hist_snap *h,
    const struct bounds *bounds, double scale)
{
    struct buckets b = { .bounds = bounds, .scale = scale };
    int n = bounds_count(bounds);
    uint64_t sum = 0;
    char le[32];

    assert(n <= BOUNDS_MAX);
    sb_hist_snap_each(h, add_bucket, &b);
    for (int i = 0; i <= n; i++) {
        sum += b.count[i];
        sample(w, name, "_bucket", labels,
            i < n ? le_text(le, sizeof(le), bound(bounds, i)) : "+Inf");
        put_count(w, sum);
    }
    sample(w, name, "_count", labels, NULL);
    put_count(w, sum);
    return sum;
}

static void put_times(struct writer *w, const char *name,
    const struct label *labels, const struct sb_hist_snap *h, uint64_t sum_ns)
{
    put_buckets(w, name, labels, h, &seconds, 1e9);
    sample(w, name, "_sum", labels, NULL);
    put_seconds(w, sum_ns);
}

static void times(struct writer *w, const char *name, const char *help,
    const struct sb_hist_snap *h, uint64_t sum_ns)
{
    family(w, name, "histogram", "seconds", help);
    put_times(w, name, NULL, h, sum_ns);
}

// The run ---------------------------------------------------------------------

static void info(struct writer *w, const char *test, const char *version)
{
    const struct label labels[] = { { "test", test }, { "version", version },
        { NULL, NULL } };

    if (w->open) {
        family(w, "run", "info", "", "The run.");
    } else {
        family(w, "run_info", "gauge", "", "The run.");
    }
    sample(w, "run", "_info", labels, NULL);
    put_count(w, 1);
}

// A counter that is divided by one label.
struct share {
    const char *value;
    uint64_t n;
};

static void divided(struct writer *w, const char *name, const char *help,
    const char *label, const struct share *share, size_t n)
{
    family(w, name, "counter", "", help);
    for (size_t i = 0; i < n; i++) {
        const struct label labels[] = { { label, share[i].value },
            { NULL, NULL } };

        sample(w, name, "_total", labels, NULL);
        put_count(w, share[i].n);
    }
}

static void counters(struct writer *w, const struct sb_snap *s)
{
    const struct sb_counters *c = &s->c;
    const struct share kinds[] = { { "read", c->reads }, { "write", c->writes },
        { "other", c->others } };
    const struct share fates[] = { { "ignored", c->err_ignored },
        { "restarted", c->err_restarted }, { "given up", c->err_givenup },
        { "fatal", c->err_fatal } };

    counter(w, "events", "Completed events.", c->completed);
    counter(w, "failed_events", "Failed events.", c->failed);
    counter(w, "scheduled_events", "Arrivals that were due.", s->scheduled);
    counter(w, "restarts", "Restarts of events.", c->restarts);
    counter(
        w, "reconnects", "Connections that were opened again.", c->reconnects);
    divided(w, "queries", "Executed statements.", "kind", kinds, 3);
    divided(w, "errors", "Errors by outcome.", "fate", fates, 4);
}

static void codes(struct writer *w, const struct sb_snap *s)
{
    if (s->ncodes == 0)
        return;
    family(w, "error_codes", "counter", "", "Errors by their code.");
    for (unsigned i = 0; i < s->ncodes; i++) {
        const struct sb_snap_code *c = &s->code[i];
        char number[16];
        const struct label labels[] = { { "driver", c->driver },
            { "code", number }, { "state", c->state }, { NULL, NULL } };

        snprintf(number, sizeof(number), "%d", c->native);
        sample(w, "error_codes", "_total", labels, NULL);
        put_count(w, c->count);
    }
}

// One gauge for each phase, 1 for the current one.
static void phases(struct writer *w, enum sb_openmetrics_phase now)
{
    static const char *const names[] = {
        [SB_OPENMETRICS_START] = "start",
        [SB_OPENMETRICS_SEARCH] = "search",
        [SB_OPENMETRICS_WARMUP] = "warmup",
        [SB_OPENMETRICS_MEASURED] = "measured",
        [SB_OPENMETRICS_END] = "end",
    };

    family(w, "phase", "gauge", "", "1 for the phase of the run.");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct label labels[] = { { "phase", names[i] }, { NULL, NULL } };

        sample(w, "phase", "", labels, NULL);
        put_count(w, i == (size_t)now);
    }
}

static void states(struct writer *w, const struct sb_report *r)
{
    gauge(w, "elapsed_seconds", "seconds",
        "Time since the measured part began.", r->warmup ? 0 : r->total_s);
    gauge(w, "users", "", "Users that run events.", r->running);
    gauge(w, "concurrency", "", "Events in progress.", (double)r->concurrency);
    gauge(w, "queue_length", "", "Arrivals that are due and not started.",
        (double)r->queue);
}

static void latencies(struct writer *w, const struct sb_report *r)
{
    const struct sb_snap *s = r->snap;

    times(w, "latency_seconds",
        r->open_loop ? "Response times of events." : "Service times of events.",
        r->latency, r->open_loop ? s->c.response_ns : s->c.service_ns);
    if (s->has_client_delay)
        times(w, "client_delay_seconds", "Client delays of answers.",
            &s->client_delay, s->c.client_delay_ns);
    if (!r->open_loop)
        return;
    times(w, "service_seconds", "Service times of events.", &s->service,
        s->c.service_ns);
    times(w, "lag_seconds", "Times from arrivals to their starts.", &s->lag,
        s->c.lag_ns);
}

// Operations and metrics ------------------------------------------------------

// Executions of operations, or events of the workloads of a mix.
struct part {
    const char *label;
    bool workloads;
};

static bool is_part(const struct part *p, const struct sb_report *r, unsigned i)
{
    return (r->stats->op[i].kind == SB_OP_WORKLOAD) == p->workloads;
}

static bool any_part(const struct part *p, const struct sb_report *r)
{
    unsigned i = 0;

    if (!r->snap->op || !r->stats)
        return false;
    while (i < r->snap->nops && !is_part(p, r, i))
        i++;
    return i < r->snap->nops;
}

static void part_counter(struct writer *w, const struct part *p,
    const struct sb_report *r, const char *name, const char *help,
    size_t offset)
{
    family(w, name, "counter", "", help);
    for (unsigned i = 0; i < r->snap->nops; i++) {
        const struct label labels[] = { { p->label, r->stats->op[i].name },
            { NULL, NULL } };
        uint64_t n;

        if (!is_part(p, r, i))
            continue;
        memcpy(&n, (const char *)&r->snap->op[i] + offset, sizeof(n));
        sample(w, name, "_total", labels, NULL);
        put_count(w, n);
    }
}

static void part_times(struct writer *w, const struct part *p,
    const struct sb_report *r, const char *name, const char *help)
{
    const struct sb_snap *s = r->snap;

    family(w, name, "histogram", "seconds", help);
    for (unsigned i = 0; i < s->nops; i++) {
        const struct label labels[] = { { p->label, r->stats->op[i].name },
            { NULL, NULL } };

        if (is_part(p, r, i))
            put_times(w, name, labels, &s->op[i].hist, s->op[i].ns);
    }
}

static void operations(struct writer *w, const struct sb_report *r)
{
    const struct part p = { .label = "operation" };

    if (!any_part(&p, r))
        return;
    part_counter(w, &p, r, "operation_errors",
        "Failed executions of operations.",
        offsetof(struct sb_snap_op, errors));
    part_counter(w, &p, r, "operation_rows",
        "Rows that operations returned or changed.",
        offsetof(struct sb_snap_op, rows));
    part_times(w, &p, r, "operation_seconds", "Service times of operations.");
}

static void workloads(struct writer *w, const struct sb_report *r)
{
    const struct part p = { .label = "workload", .workloads = true };

    if (!any_part(&p, r))
        return;
    part_counter(w, &p, r, "workload_errors",
        "Errors of the events of a workload.",
        offsetof(struct sb_snap_op, errors));
    part_counter(w, &p, r, "workload_failed_events",
        "Failed events of a workload.", offsetof(struct sb_snap_op, failed));
    part_counter(w, &p, r, "workload_restarts",
        "Restarts of events of a workload.",
        offsetof(struct sb_snap_op, restarts));
    part_times(w, &p, r, "workload_latency_seconds",
        r->open_loop ? "Response times of the events of a workload."
                     : "Service times of the events of a workload.");
}

static void metric_sample(struct writer *w, const char *family_name,
    const struct sb_metric *def, const struct sb_snap_metric *m)
{
    const struct label labels[] = { { "name", def->name },
        { "unit", def->unit }, { NULL, NULL } };

    if (m->kind == SB_METRIC_DISTRIBUTION) {
        put_buckets(w, family_name, labels, &m->hist, &any, m->scale);
        sample(w, family_name, "_sum", labels, NULL);
    } else {
        sample(w, family_name, m->kind == SB_METRIC_GAUGE ? "" : "_total",
            labels, NULL);
    }
    put_number(w, m->value);
}

// The metrics of one kind, which make one family.
static void metrics_of(struct writer *w, const struct sb_report *r,
    enum sb_metric_kind kind, const char *name, const char *type)
{
    bool begun = false;

    for (unsigned i = 0; r->stats && i < r->snap->nmetrics; i++) {
        const struct sb_snap_metric *m = &r->snap->metric[i];
        bool counts = m->kind == SB_METRIC_REST;

        if ((counts ? SB_METRIC_COUNTER : m->kind) != kind)
            continue;
        if (!begun)
            family(w, name, type, "", "Metrics of the script.");
        begun = true;
        metric_sample(w, name, &r->stats->metrics.metric[i], m);
    }
}

static void metrics(struct writer *w, const struct sb_report *r)
{
    metrics_of(w, r, SB_METRIC_COUNTER, "metric", "counter");
    metrics_of(w, r, SB_METRIC_GAUGE, "metric_value", "gauge");
    metrics_of(
        w, r, SB_METRIC_DISTRIBUTION, "metric_distribution", "histogram");
}

// The values of a group of columns in the last interval.
static void group(struct writer *w, const struct sb_series *row, const char *of,
    const char *name, const char *help)
{
    bool begun = false;

    for (unsigned i = 0; row && i < row->ncols; i++) {
        const struct sb_column *c = &row->col[i];
        const struct label labels[] = { { "name",
                                            *c->name ? c->name : c->figure },
            { "unit", c->unit }, { NULL, NULL } };

        if (strcmp(c->group, of) != 0 || !isfinite(row->value[i]))
            continue;
        if (!begun)
            family(w, name, "gauge", "", help);
        begun = true;
        sample(w, name, "", labels, NULL);
        put_number(w, row->value[i]);
    }
}

void sb_openmetrics_text(struct sb_buf *out, enum sb_openmetrics_format format,
    const struct sb_openmetrics_run *run, const struct sb_report *r,
    const struct sb_series *row)
{
    struct writer w = { out, format == SB_OPENMETRICS };

    info(&w, run->test, run->version);
    phases(&w, run->phase);
    counters(&w, r->snap);
    codes(&w, r->snap);
    states(&w, r);
    latencies(&w, r);
    workloads(&w, r);
    operations(&w, r);
    metrics(&w, r);
    group(&w, row, "server", "server_value",
        "Counters of the server in the last interval.");
    group(&w, row, "waits", "server_sessions",
        "Active sessions of the server by wait in the last interval.");
    group(&w, row, "client", "client_value",
        "How busy the client was in the last interval.");
    if (w.open)
        sb_buf_adds(out, "# EOF\n");
}
