// SPDX-License-Identifier: GPL-2.0-or-later
//
// The row of an interval: the figures of the run and of its operations.
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/array.h"
#include "out/series.h"

#define MS 1e6

static int set_run(
    struct sb_series *s, const char *figure, const char *unit, double value)
{
    return sb_series_set(s, "run", "", figure, unit, value);
}

static const struct percentile {
    const char *figure;
    double pct;
} percentiles[] = {
    { "p50", 50 },
    { "p75", 75 },
    { "p90", 90 },
    { "p95", 95 },
    { "p99", 99 },
    { "p999", 99.9 },
};

// Returns a percentile in ms, NAN of an empty histogram.
static double percentile_ms(
    const struct sb_hist_snap *h, double pct, uint64_t max)
{
    return h->total ? sb_hist_snap_percentile(h, pct, max) / MS : NAN;
}

static double mean_ms(uint64_t ns, uint64_t n)
{
    return n ? (double)ns / (double)n / MS : NAN;
}

static int set_counts(struct sb_series *s, const struct sb_report *r)
{
    const struct sb_counters *c = &r->snap->c;
    const struct {
        const char *figure;
        double value;
    } counts[] = {
        { "stage", r->stage },
        { "running", r->running },
        { "events", (double)c->completed },
        { "failed", (double)c->failed },
        { "errors", (double)(r->errors + c->err_fatal) },
        { "restarts", (double)c->restarts },
        { "reconnects", (double)c->reconnects },
        { "reads", (double)c->reads },
        { "writes", (double)c->writes },
        { "others", (double)c->others },
        { "queue", (double)r->queue },
        { "concurrency", (double)r->concurrency },
    };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(counts) / sizeof(counts[0]); i++)
        rc = set_run(s, counts[i].figure, "", counts[i].value);
    return rc;
}

static int set_latency(struct sb_series *s, const struct sb_report *r)
{
    const struct sb_hist_snap *h = r->latency;
    bool any = h->total > 0;
    int rc = set_run(s, "min", "ms", any ? (double)r->lat_min / MS : NAN);

    if (rc == 0)
        rc = set_run(s, "avg", "ms", mean_ms(r->lat_sum, h->total));
    for (size_t i = 0;
         rc == 0 && i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
        rc = set_run(s, percentiles[i].figure, "ms",
            percentile_ms(h, percentiles[i].pct, r->lat_max));
    return rc ? rc
              : set_run(s, "max", "ms", any ? (double)r->lat_max / MS : NAN);
}

static int set_open_loop(struct sb_series *s, const struct sb_report *r)
{
    const struct sb_snap *d = r->snap;
    int rc = set_run(
        s, "service_avg", "ms", mean_ms(d->c.service_ns, d->service.total));

    if (rc == 0)
        rc = set_run(s, "service_p99", "ms",
            percentile_ms(&d->service, 99, d->service_max));
    if (rc == 0)
        rc = set_run(s, "lag_avg", "ms", mean_ms(d->c.lag_ns, d->lag.total));
    if (rc == 0)
        rc = set_run(
            s, "lag_p99", "ms", percentile_ms(&d->lag, 99, d->lag_max));
    return rc ? rc : set_run(s, "scheduled", "", (double)d->scheduled);
}

static int set_client_delay(struct sb_series *s, const struct sb_report *r)
{
    const struct sb_snap *d = r->snap;
    int rc = set_run(s, "client_delay_avg", "ms",
        mean_ms(d->c.client_delay_ns, d->c.client_delays));

    return rc ? rc
              : set_run(s, "client_delay_p99", "ms",
                    percentile_ms(&d->client_delay, 99, d->client_delay_max));
}

// workload: the operation is a component of a mix.
static int set_operation(struct sb_series *s, const char *name, bool workload,
    const struct sb_snap_op *op)
{
    const struct sb_hist_snap *h = &op->hist;
    const struct {
        const char *figure, *unit;
        double value;
    } figures[] = {
        { "count", "", (double)op->count },
        { "errors", "", (double)op->errors },
        { "rows", "", (double)op->rows },
        { "avg", "ms", mean_ms(op->ns, op->count) },
        { "p50", "ms", percentile_ms(h, 50, op->max) },
        { "p95", "ms", percentile_ms(h, 95, op->max) },
        { "p99", "ms", percentile_ms(h, 99, op->max) },
        { "max", "ms", h->total ? (double)op->max / MS : NAN },
        { "failed", "", (double)op->failed },
        { "restarts", "", (double)op->restarts },
    };
    size_t n = sizeof(figures) / sizeof(figures[0]);
    int rc = 0;

    n -= workload ? 0 : 2;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = sb_series_set(s, "operation", name, figures[i].figure,
            figures[i].unit, figures[i].value);
    return rc;
}

static int more_operations(struct sb_series *s, unsigned n)
{
    unsigned *op;

    if (n <= s->nops)
        return 0;
    op = sb_array_least(s->op, &s->nops, n, sizeof(*op));
    if (!op)
        return SB_ENOMEM;
    s->op = op;
    return 0;
}

// An operation has columns from the first interval on in which it occurs.
static int set_operations(struct sb_series *s, const struct sb_report *r)
{
    const struct sb_snap *d = r->snap;
    int rc = d->op ? more_operations(s, d->nops) : 0;

    for (unsigned i = 0; rc == 0 && d->op && r->stats && i < d->nops; i++) {
        const struct sb_snap_op *op = &d->op[i];

        if (s->op[i] == 0 && !sb_snap_op_occurred(op))
            continue;
        assert(s->ncols > 0); // columns of the run: 0 stands for none
        if (s->op[i] == 0)
            s->op[i] = s->ncols;
        s->next = s->op[i];
        rc = set_operation(s, r->stats->op[i].name,
            r->stats->op[i].kind == SB_OP_WORKLOAD, op);
    }
    return rc;
}

// The measured part begins at 0 s: the times of a warm-up are not greater, also
// if its last report is late.
static double time_of(const struct sb_report *r)
{
    if (!r->warmup)
        return r->total_s;
    return fmin(r->total_s - r->warmup_s, 0);
}

int sb_series_row(struct sb_series *s, const struct sb_report *r)
{
    int rc;

    for (unsigned i = 0; i < s->ncols; i++)
        s->value[i] = NAN;
    s->next = 0;
    rc = set_run(s, "time", "s", time_of(r));
    if (rc == 0)
        rc = set_run(s, "seconds", "s", r->interval_s);
    if (rc == 0)
        rc = set_counts(s, r);
    if (rc == 0)
        rc = set_latency(s, r);
    if (rc == 0 && r->open_loop)
        rc = set_open_loop(s, r);
    if (rc == 0 && r->snap->has_client_delay)
        rc = set_client_delay(s, r);
    if (rc == 0)
        rc = set_operations(s, r);
    return rc ? rc : sb__series_metrics(s, r);
}
