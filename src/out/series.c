// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/series.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/array.h"
#include "kit/hash.h"

void sb_series_init(struct sb_series *s)
{
    memset(s, 0, sizeof(*s));
}

void sb_series_done(struct sb_series *s)
{
    for (unsigned i = 0; i < s->ncols; i++)
        free(s->col[i].name);
    free(s->col);
    free(s->value);
    free(s->slot);
    free(s->op);
    memset(s, 0, sizeof(*s));
}

static bool is_column(const struct sb_column *c, const char *group,
    const char *name, const char *figure)
{
    return strcmp(c->figure, figure) == 0 && strcmp(c->name, name) == 0 &&
           strcmp(c->group, group) == 0;
}

// Returns the slot of a column, or the free one where it belongs. There are
// free slots.
static unsigned *slot_of(const struct sb_series *s, const char *group,
    const char *name, const char *figure)
{
    uint64_t h = sb_hash_text(name);

    h = sb_hash_more(h, group, strlen(group));
    h = sb_hash_more(h, figure, strlen(figure));
    assert(s->ncols < s->nslots && (s->nslots & (s->nslots - 1)) == 0);
    for (;; h++) {
        unsigned *slot = &s->slot[h & (s->nslots - 1)];

        if (!*slot || is_column(&s->col[*slot - 1], group, name, figure))
            return slot;
    }
}

static int grow_slots(struct sb_series *s, unsigned cap)
{
    unsigned *slot = calloc(2 * (size_t)cap, sizeof(*slot));

    if (!slot)
        return SB_ENOMEM;
    free(s->slot);
    s->slot = slot;
    s->nslots = 2 * cap;
    for (unsigned i = 0; i < s->ncols; i++) {
        const struct sb_column *c = &s->col[i];

        *slot_of(s, c->group, c->name, c->figure) = i + 1;
    }
    return 0;
}

static int grow_columns(struct sb_series *s)
{
    unsigned cap = s->cap ? 2 * s->cap : 64;
    struct sb_column *col = realloc(s->col, cap * sizeof(*col));

    if (!col)
        return SB_ENOMEM;
    s->col = col;
    double *value = realloc(s->value, cap * sizeof(*value));
    if (!value)
        return SB_ENOMEM;
    s->value = value;
    if (grow_slots(s, cap))
        return SB_ENOMEM;
    s->cap = cap;
    return 0;
}

static int add_column(struct sb_series *s, const char *group, const char *name,
    const char *figure, const char *unit)
{
    if (s->ncols == s->cap && grow_columns(s))
        return SB_ENOMEM;
    // One block: the unit is behind the name.
    size_t length = strlen(name) + 1, size = strlen(unit) + 1;
    char *copy = malloc(length + size);
    if (!copy)
        return SB_ENOMEM;
    memcpy(copy, name, length);
    memcpy(copy + length, unit, size);
    s->col[s->ncols] = (struct sb_column){ group, copy, figure, copy + length };
    s->value[s->ncols++] = NAN;
    *slot_of(s, group, name, figure) = s->ncols;
    return 0;
}

int sb_series_copy(struct sb_series *to, const struct sb_series *from)
{
    while (to->ncols < from->ncols) {
        const struct sb_column *c = &from->col[to->ncols];

        if (add_column(to, c->group, c->name, c->figure, c->unit))
            return SB_ENOMEM;
    }
    if (from->ncols)
        memcpy(to->value, from->value, from->ncols * sizeof(*to->value));
    to->until = from->until;
    return 0;
}

// Returns the number of the column, ncols if there is none. Values come in the
// same order in every interval, so the column after the last one is tried
// first.
static unsigned find_column(const struct sb_series *s, unsigned from,
    const char *group, const char *name, const char *figure)
{
    unsigned slot;

    if (from < s->ncols && is_column(&s->col[from], group, name, figure))
        return from;
    slot = s->ncols ? *slot_of(s, group, name, figure) : 0;
    return slot ? slot - 1 : s->ncols;
}

int sb_series_set(struct sb_series *s, const char *group, const char *name,
    const char *figure, const char *unit, double value)
{
    unsigned i = find_column(s, s->next, group, name, figure);

    if (i == s->ncols) {
        if (s->ncols >= SB_COLUMNS_MAX) {
            s->left_out++;
            return 0;
        }
        if (add_column(s, group, name, figure, unit))
            return SB_ENOMEM;
    }
    assert(i < s->ncols);
    s->value[i] = value;
    s->next = i + 1;
    return 0;
}

// Text ------------------------------------------------------------------------

const char *sb_series_digits(const struct sb_column *c)
{
    return strcmp(c->group, "metric") == 0 ? "" : c->unit;
}

// Values without a unit are exact counts, sums of scripts, and shares.
static bool has_many_digits(const char *unit)
{
    return *unit == '\0' || strcmp(unit, "s") == 0;
}

void sb_series_text(char *out, size_t size, double value, const char *unit)
{
    bool many = has_many_digits(unit);

    if (!isfinite(value))
        snprintf(out, size, "null");
    else if (value == floor(value) && fabs(value) < 1e15)
        snprintf(out, size, "%.0f", value);
    else if (!many && fabs(value) >= 1000 && fabs(value) < 1e15)
        snprintf(out, size, "%.0f", value);
    else
        snprintf(out, size, many ? "%.7g" : "%.4g", value);
}

void sb_series_number(struct sb_buf *b, double value, const char *unit)
{
    char text[32];

    sb_series_text(text, sizeof(text), value, unit);
    sb_buf_adds(b, text);
}

void sb_series_json(struct sb_buf *b, const struct sb_series *s)
{
    for (unsigned i = 0; i < s->ncols; i++) {
        sb_buf_adds(b, i ? "," : "[");
        sb_series_number(b, s->value[i], sb_series_digits(&s->col[i]));
    }
    sb_buf_adds(b, "]");
}

static void add_heat(void *arg, uint64_t low, uint64_t width, uint64_t count)
{
    uint64_t *heat = arg;

    (void)width;
    heat[sb_hist_index(low) >> SB_HEAT_SHIFT] += count;
}

void sb_series_heat(struct sb_buf *b, const struct sb_hist_snap *h)
{
    uint64_t heat[SB_HEAT_BUCKETS] = { 0 };

    sb_hist_snap_each(h, add_heat, heat);
    sb_series_heat_row(b, heat);
}

void sb_series_heat_row(struct sb_buf *b, const uint64_t heat[SB_HEAT_BUCKETS])
{
    unsigned first = 0, end = SB_HEAT_BUCKETS;

    while (first < end && heat[first] == 0)
        first++;
    while (end > first && heat[end - 1] == 0)
        end--;
    if (first == end) {
        sb_buf_adds(b, "[]");
        return;
    }
    sb_buf_addf(b, "[%u", first);
    for (unsigned i = first; i < end; i++)
        sb_buf_addf(b, ",%" PRIu64, heat[i]);
    sb_buf_adds(b, "]");
}

// The metrics of a script in rows.

// A figure in the unit of the metric.
static int set_figure(struct sb_series *s, const struct sb_metric *def,
    const char *figure, double value)
{
    return sb_series_set(s, "metric", def->name, figure, def->unit, value);
}

static int set_distribution(struct sb_series *s, const struct sb_metric *def,
    const struct sb_snap_metric *m)
{
    bool any = m->count > 0;
    int rc = sb_series_set(
        s, "metric", def->name, "count", "", (double)m->count);

    if (rc == 0)
        rc = set_figure(s, def, "avg", any ? m->value / (double)m->count : NAN);
    if (rc == 0)
        rc = set_figure(
            s, def, "p50", any ? sb_snap_metric_percentile(m, 50) : NAN);
    if (rc == 0)
        rc = set_figure(
            s, def, "p99", any ? sb_snap_metric_percentile(m, 99) : NAN);
    return rc ? rc : set_figure(s, def, "max", any ? m->max : NAN);
}

// The part of sb_series_row() for metrics.
static int series_metrics(struct sb_series *s, const struct sb_report *r)
{
    const struct sb_snap *d = r->snap;
    int rc = 0;

    for (unsigned i = 0; rc == 0 && r->stats && i < d->nmetrics; i++) {
        const struct sb_snap_metric *m = &d->metric[i];
        const struct sb_metric *def = &r->stats->metrics.metric[i];

        if (m->kind == SB_METRIC_DISTRIBUTION)
            rc = set_distribution(s, def, m);
        else
            rc = set_figure(
                s, def, m->kind == SB_METRIC_GAUGE ? "value" : "sum", m->value);
    }
    return rc;
}

// The row of an interval: the figures of the run and of its operations.

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
    return rc ? rc : series_metrics(s, r);
}
