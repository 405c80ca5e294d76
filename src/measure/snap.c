// SPDX-License-Identifier: GPL-2.0-or-later
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/array.h"
#include "measure/loads_private.h"
#include "measure/snap.h"
#include "measure/snap_private.h"

// Metrics of scripts in snapshots.

static void add_cell(struct sb_snap_metric *to, const struct sb_metric_cell *c)
{
    uint64_t count = sb__load_first(&c->count);

    if (count == 0)
        return;
    if (to->count == 0 || sb__load_value(&c->min) < to->min)
        to->min = sb__load_value(&c->min);
    if (sb__load_value(&c->max) > to->max)
        to->max = sb__load_value(&c->max);
    to->count += count;
    to->value += sb__load_value(&c->value);
}

// A sum with an unknown value is unknown, too.
static void add_gauge(
    struct sb_snap_metric *to, const struct sb_metric_cell *c, uint64_t now)
{
    uint64_t count = sb__load_first(&c->count);
    uint64_t until = sb__load_first(&c->until);

    to->count += count;
    if (count > 0)
        to->value += until && now > until ? NAN : sb__load_value(&c->value);
}

static int take_metric(struct sb_snap_metric *to, const struct sb_metric *m,
    const struct sb_stats *s, uint64_t now, bool live)
{
    int rc = 0;

    to->kind = m->kind;
    to->scale = m->scale;
    for (unsigned i = 0; i < s->users; i++) {
        if (m->kind == SB_METRIC_GAUGE)
            add_gauge(to, &m->cell[i], now);
        else
            add_cell(to, &m->cell[i]);
    }
    for (unsigned i = 0; m->shard && rc == 0 && i < s->shards; i++)
        rc = sb_hist_snap_add_live(&to->hist, &m->shard[i]);
    if (live && m->shard)
        to->count = to->hist.total;
    return rc;
}

int sb__snap_take_metrics(
    struct sb_snap *out, const struct sb_stats *s, bool live)
{
    uint32_t n = sb_metrics_count(&s->metrics);
    int rc = 0;

    if (n == 0)
        return 0;
    out->metric = calloc(n, sizeof(*out->metric));
    if (!out->metric)
        return SB_ENOMEM;
    out->nmetrics = n;
    for (uint32_t i = 0; rc == 0 && i < n; i++)
        rc = take_metric(
            &out->metric[i], &s->metrics.metric[i], s, out->ns, live);
    return rc;
}

// Takes the extremes of a difference from its histogram, limited by the exact
// extremes of the whole run.
static void bounds(struct sb_snap_metric *m)
{
    uint64_t lo, hi;

    if (m->kind != SB_METRIC_DISTRIBUTION)
        return;
    if (!sb_hist_snap_bounds(&m->hist, &lo, &hi)) {
        m->min = m->max = 0;
        return;
    }
    if ((double)lo / m->scale > m->min)
        m->min = (double)lo / m->scale;
    if ((double)hi / m->scale < m->max && hi >> SB_HIST_TOP_BIT == 0)
        m->max = (double)hi / m->scale;
}

static int snap_sub_metrics(struct sb_snap *out, const struct sb_snap *later,
    const struct sb_snap *earlier)
{
    static const struct sb_snap_metric zero;
    int rc = 0;

    if (later->nmetrics == 0)
        return 0;
    out->metric = calloc(later->nmetrics, sizeof(*out->metric));
    if (!out->metric)
        return SB_ENOMEM;
    out->nmetrics = later->nmetrics;
    for (unsigned i = 0; rc == 0 && i < later->nmetrics; i++) {
        const struct sb_snap_metric *a = &later->metric[i];
        const struct sb_snap_metric *b = i < earlier->nmetrics
                                             ? &earlier->metric[i]
                                             : &zero;
        struct sb_snap_metric *m = &out->metric[i];

        m->kind = a->kind;
        m->scale = a->scale;
        m->count = a->count - b->count;
        m->value = a->kind == SB_METRIC_GAUGE ? a->value : a->value - b->value;
        m->min = a->min;
        m->max = a->max;
        rc = sb_hist_snap_sub(&m->hist, &a->hist, &b->hist);
        bounds(m);
    }
    return rc;
}

static void snap_done_metrics(struct sb_snap *s)
{
    for (unsigned i = 0; s->metric && i < s->nmetrics; i++)
        sb_hist_snap_done(&s->metric[i].hist);
    free(s->metric);
}

double sb_snap_metric_percentile(const struct sb_snap_metric *m, double pct)
{
    double v = sb_hist_snap_percentile(&m->hist, pct, UINT64_MAX) / m->scale;

    if (m->hist.total == 0)
        return 0;
    if (v < m->min)
        return m->min;
    return v > m->max || pct >= 100 ? m->max : v;
}

// A minimum of 0 with a maximum of 0 means that there was no time.
static void widen(
    uint64_t *min, uint64_t *max, uint64_t from_min, uint64_t from_max)
{
    if (from_min == 0 && from_max == 0)
        return;
    if ((*min == 0 && *max == 0) || from_min < *min)
        *min = from_min;
    if (from_max > *max)
        *max = from_max;
}

static int add_events(struct sb_snap *to, const struct sb_snap *from)
{
    int rc = sb_hist_snap_add(&to->service, &from->service);

    widen(&to->service_min, &to->service_max, from->service_min,
        from->service_max);
    widen(&to->response_min, &to->response_max, from->response_min,
        from->response_max);
    widen(&to->lag_min, &to->lag_max, from->lag_min, from->lag_max);
    widen(&to->client_delay_min, &to->client_delay_max, from->client_delay_min,
        from->client_delay_max);
    to->has_client_delay |= from->has_client_delay;
    if (rc == 0)
        rc = sb_hist_snap_add(&to->response, &from->response);
    if (rc == 0)
        rc = sb_hist_snap_add(&to->client_delay, &from->client_delay);
    return rc ? rc : sb_hist_snap_add(&to->lag, &from->lag);
}

static void add_counts(struct sb_snap *to, const struct sb_snap *from)
{
    to->ns = to->ns > from->ns ? to->ns : from->ns;
    to->scheduled += from->scheduled;
    to->skipped += from->skipped;
    to->unfinished += from->unfinished;
    to->queue += from->queue;
    to->running += from->running;
#define X(name) to->c.name += from->c.name;
    SB_COUNTER_MAP(X)
#undef X
}

static int append(
    uint64_t **list, unsigned n, const uint64_t *more, unsigned nmore)
{
    uint64_t *v = realloc(*list, (n + nmore + 1) * sizeof(*v));

    if (!v)
        return SB_ENOMEM;
    *list = v;
    if (more)
        memcpy(v + n, more, nmore * sizeof(*v));
    else
        memset(v + n, 0, nmore * sizeof(*v));
    return 0;
}

static int add_users(struct sb_snap *to, const struct sb_snap *from)
{
    unsigned n = to->users, more = from->users;

    // Intervals have no users.
    if (!to->user_events && !from->user_events)
        return 0;
    int rc = append(&to->user_events, n, from->user_events, more);

    if (rc == 0)
        rc = append(&to->user_ns, n, from->user_ns, more);
    if (rc == 0)
        rc = append(&to->user_min, n, from->user_min, more);
    if (rc == 0)
        rc = append(&to->user_max, n, from->user_max, more);
    if (rc == 0)
        to->users += more;
    return rc;
}

static int add_operation(struct sb_snap_op *to, const struct sb_snap_op *from)
{
    to->count += from->count;
    to->errors += from->errors;
    to->ns += from->ns;
    to->hits += from->hits;
    to->misses += from->misses;
    to->rows += from->rows;
    to->failed += from->failed;
    to->restarts += from->restarts;
    to->cut_short += from->cut_short;
    if (from->count > 0 && to->count == from->count) {
        to->min = from->min;
        to->max = from->max;
    } else if (from->count > 0) {
        to->min = from->min < to->min ? from->min : to->min;
        to->max = from->max > to->max ? from->max : to->max;
    }
    return sb_hist_snap_add(&to->hist, &from->hist);
}

int sb_snap_add_op(struct sb_snap *to, struct sb_stats *to_stats,
    const char *name, enum sb_op_kind kind, const struct sb_snap_op *from)
{
    int n = sb_stats_op(to_stats, name, kind);
    struct sb_snap_op *list = sb_array_least(
        to->op, &to->nops, (unsigned)n + 1, sizeof(*list));

    assert(n >= 0); // the rest has a place, too
    if (!list)
        return SB_ENOMEM;
    to->op = list;
    return add_operation(&list[n], from);
}

static int add_operations(struct sb_snap *to, struct sb_stats *to_stats,
    const struct sb_snap *from, const struct sb_stats *from_stats)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && from->op && i < from->nops; i++)
        rc = sb_snap_add_op(to, to_stats, from_stats->op[i].name,
            from_stats->op[i].kind, &from->op[i]);
    return rc;
}

// For a code that both have, keeps the sample of the first occurrence.
static int add_codes(
    struct sb_snap *to, const struct sb_snap *from, uint64_t later_ns)
{
    for (unsigned i = 0; i < from->ncodes; i++) {
        const struct sb_snap_code *f = &from->code[i];
        uint64_t first = f->first_ns + later_ns;
        struct sb_snap_code *c = (struct sb_snap_code *)sb__snap_code_find(
            to, f->native, f->state, f->driver);

        // A loss alone belongs to an interval: see sb_snap_sub().
        if (!c && f->count == 0)
            continue;
        if (!c) {
            c = sb__snap_code_new(to);
            if (!c)
                return SB_ENOMEM;
            *c = *f;
            c->first_ns = first;
            continue;
        }
        uint64_t count = c->count + f->count, losses = c->lost + f->lost;
        if (first < c->first_ns) {
            *c = *f;
            c->first_ns = first;
        }
        c->count = count;
        c->lost = losses;
    }
    return 0;
}

// Metrics ---------------------------------------------------------------------

struct rescale {
    struct sb_hist_snap *to;
    double factor;
    int rc;
};

static void add_bucket(void *arg, uint64_t low, uint64_t width, uint64_t count)
{
    struct rescale *r = arg;
    double value = ((double)low + (double)(width - 1) / 2) * r->factor;

    if (r->rc == 0)
        r->rc = sb_hist_snap_put(r->to,
            sb_hist_index(value < 0x1p48 ? (uint64_t)value : UINT64_MAX),
            count);
}

static int add_distribution(
    struct sb_snap_metric *to, const struct sb_snap_metric *from)
{
    struct rescale r = { &to->hist, to->scale / from->scale, 0 };

    if (from->count > 0) {
        to->min = to->count && to->min < from->min ? to->min : from->min;
        to->max = to->count && to->max > from->max ? to->max : from->max;
    }
    if (to->scale == from->scale)
        return sb_hist_snap_add(&to->hist, &from->hist);
    sb_hist_snap_each(&from->hist, add_bucket, &r);
    return r.rc;
}

int sb_snap_add_metric(struct sb_snap *to, struct sb_stats *to_stats,
    const struct sb_metric_def *def, const struct sb_snap_metric *from,
    struct sb_err *err)
{
    int n = sb_metrics_add(&to_stats->metrics, def, err);
    struct sb_snap_metric *list, *m;
    int rc = 0;

    if (n < 0)
        return n;
    list = sb_array_least(
        to->metric, &to->nmetrics, (unsigned)n + 1, sizeof(*list));
    if (!list)
        return SB_ENOMEM;
    to->metric = list;
    m = &list[n];
    m->kind = to_stats->metrics.metric[n].kind;
    m->scale = to_stats->metrics.metric[n].scale;
    if (m->kind == SB_METRIC_DISTRIBUTION)
        rc = add_distribution(m, from);
    m->count += from->count;
    // The rest of the table counts values, whatever they are.
    m->value += m->kind == SB_METRIC_REST &&
                        from->kind == SB_METRIC_DISTRIBUTION
                    ? (double)from->count
                    : from->value;
    return rc;
}

static int add_metrics(struct sb_snap *to, struct sb_stats *to_stats,
    const struct sb_snap *from, const struct sb_stats *from_stats,
    struct sb_err *err)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < from->nmetrics; i++) {
        const struct sb_metric *m = &from_stats->metrics.metric[i];
        const struct sb_metric_def def = { .name = m->name,
            // A counter that has the same name and meaning.
            .kind = m->kind == SB_METRIC_REST ? SB_METRIC_COUNTER : m->kind,
            .unit = m->unit,
            .help = m->help,
            .largest = sb_metric_largest(m->scale) };

        rc = sb_snap_add_metric(to, to_stats, &def, &from->metric[i], err);
    }
    return rc;
}

int sb_snap_add(struct sb_snap *to, struct sb_stats *to_stats,
    const struct sb_snap *from, const struct sb_stats *from_stats,
    uint64_t later_ns, struct sb_err *err)
{
    int rc = add_events(to, from);

    add_counts(to, from);
    if (rc == 0)
        rc = add_users(to, from);
    if (rc == 0)
        rc = add_operations(to, to_stats, from, from_stats);
    if (rc == 0)
        rc = add_codes(to, from, later_ns);
    if (rc == SB_ENOMEM)
        return sb_err_set(err, rc, "out of memory");
    return rc ? rc : add_metrics(to, to_stats, from, from_stats, err);
}

// Intervals of one run --------------------------------------------------------

static int add_metric(
    struct sb_snap_metric *to, const struct sb_snap_metric *from)
{
    bool first = to->count == 0;

    // No rank with this metric has reported in this interval.
    if (from->count == 0 && from->scale == 0)
        return 0;
    assert(first || from->count == 0 ||
           (to->kind == from->kind && to->scale == from->scale));
    to->kind = from->kind;
    to->scale = from->scale;
    if (from->count > 0 && (first || from->min < to->min))
        to->min = from->min;
    if (from->count > 0 && (first || from->max > to->max))
        to->max = from->max;
    to->count += from->count;
    if (from->kind == SB_METRIC_GAUGE)
        to->value = from->value;
    else
        to->value += from->value;
    return sb_hist_snap_add(&to->hist, &from->hist);
}

static int add_all_operations(struct sb_snap *to, const struct sb_snap *from)
{
    struct sb_snap_op *list;
    int rc = 0;

    if (!from->op || from->nops == 0)
        return 0;
    list = sb_array_least(to->op, &to->nops, from->nops, sizeof(*list));
    if (!list)
        return SB_ENOMEM;
    to->op = list;
    for (unsigned i = 0; rc == 0 && i < from->nops; i++)
        rc = add_operation(&list[i], &from->op[i]);
    return rc;
}

static int add_all_metrics(struct sb_snap *to, const struct sb_snap *from)
{
    struct sb_snap_metric *list;
    int rc = 0;

    if (from->nmetrics == 0)
        return 0;
    list = sb_array_least(
        to->metric, &to->nmetrics, from->nmetrics, sizeof(*list));
    if (!list)
        return SB_ENOMEM;
    to->metric = list;
    for (unsigned i = 0; rc == 0 && i < from->nmetrics; i++)
        rc = add_metric(&list[i], &from->metric[i]);
    return rc;
}

int sb_snap_add_interval(struct sb_snap *to, const struct sb_snap *from)
{
    uint64_t ns = to->ns + from->ns;
    int rc = add_events(to, from);

    add_counts(to, from);
    to->ns = ns;
    to->unfinished = from->unfinished;
    to->queue = from->queue;
    to->running = from->running;
    if (rc == 0)
        rc = add_all_operations(to, from);
    if (rc == 0)
        rc = add_all_metrics(to, from);
    return rc ? rc : add_codes(to, from, 0);
}

const struct sb_snap_code *sb__snap_code_find(
    const struct sb_snap *s, int native, const char *state, const char *driver)
{
    for (unsigned i = 0; i < s->ncodes; i++) {
        const struct sb_snap_code *c = &s->code[i];

        if (c->native == native && strcmp(c->state, state) == 0 &&
            strcmp(c->driver, driver) == 0)
            return c;
    }
    return NULL;
}

struct sb_snap_code *sb__snap_code_new(struct sb_snap *s)
{
    struct sb_snap_code *p = sb_array_room(
        s->code, &s->cap_codes, s->ncodes, 1, sizeof(*p));

    if (!p)
        return NULL;
    s->code = p;
    return &s->code[s->ncodes++];
}

void sb_snap_done(struct sb_snap *s)
{
    sb_hist_snap_done(&s->service);
    sb_hist_snap_done(&s->response);
    sb_hist_snap_done(&s->lag);
    sb_hist_snap_done(&s->client_delay);
    for (unsigned i = 0; s->op && i < s->nops; i++)
        sb_hist_snap_done(&s->op[i].hist);
    free(s->op);
    free(s->code);
    snap_done_metrics(s);
    free(s->user_events);
    free(s->user_ns);
    free(s->user_min);
    free(s->user_max);
    memset(s, 0, sizeof(*s));
}

// Takes the extremes of a difference from its histogram, limited by the exact
// extremes of the whole run. They are exact if the difference covers the run.
void sb__snap_bounds(const struct sb_hist_snap *h, uint64_t *min, uint64_t *max)
{
    uint64_t lo, hi;

    if (!sb_hist_snap_bounds(h, &lo, &hi)) {
        *min = *max = 0;
        return;
    }
    if (lo > *min)
        *min = lo;
    if (hi < *max)
        *max = hi;
}

static uint64_t *values_sub(
    const uint64_t *later, const uint64_t *earlier, unsigned n)
{
    uint64_t *v = malloc((n ? n : 1) * sizeof(*v));

    for (unsigned i = 0; v && i < n; i++)
        v[i] = later[i] - (earlier ? earlier[i] : 0);
    return v;
}

static int sub_users(struct sb_snap *out, const struct sb_snap *later,
    const struct sb_snap *earlier)
{
    if (!later->user_events)
        return 0;
    assert(!earlier->user_events || earlier->users == later->users);
    out->user_events = values_sub(
        later->user_events, earlier->user_events, later->users);
    out->user_ns = values_sub(later->user_ns, earlier->user_ns, later->users);
    out->user_min = values_sub(later->user_min, NULL, later->users);
    out->user_max = values_sub(later->user_max, NULL, later->users);
    return out->user_events && out->user_ns && out->user_min && out->user_max
               ? 0
               : SB_ENOMEM;
}

static int sub_ops(struct sb_snap *out, const struct sb_snap *later,
    const struct sb_snap *earlier)
{
    static const struct sb_snap_op zero;
    int rc = 0;

    if (!later->op)
        return 0;
    out->op = calloc(later->nops ? later->nops : 1, sizeof(*out->op));
    if (!out->op)
        return SB_ENOMEM;
    out->nops = later->nops;
    for (unsigned i = 0; rc == 0 && i < later->nops; i++) {
        const struct sb_snap_op *a = &later->op[i];
        const struct sb_snap_op *b = i < earlier->nops ? &earlier->op[i]
                                                       : &zero;
        struct sb_snap_op *o = &out->op[i];

        *o = (struct sb_snap_op){
            .count = a->count - b->count,
            .errors = a->errors - b->errors,
            .ns = a->ns - b->ns,
            .min = a->min,
            .max = a->max,
            .hits = a->hits - b->hits,
            .misses = a->misses - b->misses,
            .rows = a->rows - b->rows,
            .failed = a->failed - b->failed,
            .restarts = a->restarts - b->restarts,
            .cut_short = a->cut_short - b->cut_short,
        };
        rc = sb_hist_snap_sub(&o->hist, &a->hist, &b->hist);
        if (rc == 0)
            sb__snap_bounds(&o->hist, &o->min, &o->max);
    }
    return rc;
}

static int sub_codes(struct sb_snap *out, const struct sb_snap *later,
    const struct sb_snap *earlier)
{
    for (unsigned i = 0; i < later->ncodes; i++) {
        const struct sb_snap_code *a = &later->code[i];
        const struct sb_snap_code *b = sb__snap_code_find(
            earlier, a->native, a->state, a->driver);
        uint64_t was = b ? b->count : 0, lost = b ? b->lost : 0;
        struct sb_snap_code *c;

        // An error may be counted before a snapshot, but its loss only after
        // it. Such an entry has a loss and no occurrence: intervals mark the
        // loss, lists of errors leave it out.
        if (a->count == was && (later->user_events || a->lost == lost))
            continue;
        c = sb__snap_code_new(out);
        if (!c)
            return SB_ENOMEM;
        *c = *a;
        c->count = a->count - was;
        c->lost = a->lost - lost;
    }
    return 0;
}

static int sub_hists(struct sb_snap *out, const struct sb_snap *later,
    const struct sb_snap *earlier)
{
    int rc = sb_hist_snap_sub(
        &out->service, &later->service, &earlier->service);

    if (rc == 0)
        rc = sb_hist_snap_sub(
            &out->response, &later->response, &earlier->response);
    if (rc == 0)
        rc = sb_hist_snap_sub(&out->lag, &later->lag, &earlier->lag);
    if (rc == 0)
        rc = sb_hist_snap_sub(
            &out->client_delay, &later->client_delay, &earlier->client_delay);
    if (rc)
        return rc;
    sb__snap_bounds(&out->service, &out->service_min, &out->service_max);
    sb__snap_bounds(&out->response, &out->response_min, &out->response_max);
    sb__snap_bounds(&out->lag, &out->lag_min, &out->lag_max);
    sb__snap_bounds(
        &out->client_delay, &out->client_delay_min, &out->client_delay_max);
    return 0;
}

static uint64_t growth(uint64_t later, uint64_t earlier)
{
    return later > earlier ? later - earlier : 0;
}

// An event that was in progress in the earlier snapshot may have been dropped
// since (sb_user_drop), which moves it from started to skipped. The earlier
// report has counted it as started, so the later one counts it neither as
// started nor as skipped.
static void sub_started(struct sb_snap *out, const struct sb_snap *later,
    const struct sb_snap *earlier)
{
    uint64_t back = growth(earlier->c.started, later->c.started);

    out->c.started = growth(later->c.started, earlier->c.started);
    out->c.tries = growth(later->c.tries, earlier->c.tries);
    out->skipped -= back < out->skipped ? back : out->skipped;
}

static void sub_scalars(struct sb_snap *out, const struct sb_snap *later,
    const struct sb_snap *earlier)
{
    uint64_t taken = later->skipped + later->c.started;

    out->ns = later->ns - earlier->ns;
    out->scheduled = growth(later->scheduled, earlier->scheduled);
    out->skipped = later->skipped - earlier->skipped;
    out->queue = later->scheduled > taken ? later->scheduled - taken : 0;
    out->unfinished = later->unfinished;
    out->running = later->running;
    out->users = later->users;
#define X(name) out->c.name = later->c.name - earlier->c.name;
    SB_COUNTER_MAP(X)
#undef X
    sub_started(out, later, earlier);
    out->service_min = later->service_min;
    out->service_max = later->service_max;
    out->response_min = later->response_min;
    out->response_max = later->response_max;
    out->lag_min = later->lag_min;
    out->lag_max = later->lag_max;
    out->client_delay_min = later->client_delay_min;
    out->client_delay_max = later->client_delay_max;
    out->has_client_delay = later->has_client_delay;
}

uint64_t sb_counters_failed(const struct sb_counters *c)
{
    return c->completed > 0 ? c->failed - c->cut_short : c->failed;
}

uint64_t sb_snap_op_failed(const struct sb_snap_op *op)
{
    // Both are read while a user writes.
    uint64_t cut = op->cut_short < op->failed ? op->cut_short : op->failed;

    return op->count > 0 ? op->failed - cut : op->failed;
}

int sb_snap_sub(struct sb_snap *out, const struct sb_snap *later,
    const struct sb_snap *earlier)
{
    int rc;

    assert(out != later && out != earlier);
    memset(out, 0, sizeof(*out));
    sub_scalars(out, later, earlier);
    rc = sub_hists(out, later, earlier);
    if (rc == 0)
        rc = sub_users(out, later, earlier);
    if (rc == 0)
        rc = sub_ops(out, later, earlier);
    if (rc == 0)
        rc = sub_codes(out, later, earlier);
    if (rc == 0)
        rc = snap_sub_metrics(out, later, earlier);
    if (rc)
        sb_snap_done(out);
    return rc;
}

static int check_equal(
    struct sb_err *err, const char *identity, uint64_t left, uint64_t right)
{
    if (left == right)
        return 0;
    return sb_err_set(err, SB_EINTERNAL,
        "accounting: %s does not hold: %" PRIu64 " and %" PRIu64, identity,
        left, right);
}

static int check_events(
    const struct sb_snap *s, uint64_t pending, struct sb_err *err)
{
    const struct sb_counters *c = &s->c;
    int rc = check_equal(err, "scheduled = started + skipped + pending",
        s->scheduled, c->started + s->skipped + pending);

    if (rc == 0)
        rc = check_equal(err, "started = completed + failed + unfinished",
            c->started, c->completed + c->failed + s->unfinished);
    if (rc == 0)
        rc = check_equal(err, "tries = started + restarts", c->tries,
            c->started + c->restarts);
    return rc;
}

// Events that did not return may have errors whose fate is not decided.
static int check_errors(const struct sb_snap *s, struct sb_err *err)
{
    const struct sb_counters *c = &s->c;
    uint64_t fates, codes = 0;

    fates = c->err_ignored + c->err_restarted + c->err_givenup + c->err_fatal;
    for (unsigned i = 0; i < s->ncodes; i++)
        codes += s->code[i].count;
    if (!s->user_events || (s->unfinished > 0 && fates <= codes))
        return 0;
    return check_equal(err, "errors = sum over codes", fates, codes);
}

static int check_hists(
    const struct sb_snap *s, bool open_loop, struct sb_err *err)
{
    uint64_t n = s->c.completed;
    int rc = check_equal(err, "completed = service times", n, s->service.total);

    if (rc == 0 && open_loop)
        rc = check_equal(
            err, "completed = response times", n, s->response.total);
    if (rc == 0 && open_loop)
        rc = check_equal(err, "completed = lags", n, s->lag.total);
    if (rc == 0)
        rc = check_equal(err, "client delays = their histogram",
            s->c.client_delays, s->client_delay.total);
    return rc;
}

static int check_ops(const struct sb_snap *s, struct sb_err *err)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < s->nops; i++)
        rc = check_equal(err, "count of an operation = its histogram",
            s->op[i].count, s->op[i].hist.total);
    return rc;
}

static int check_found(const struct sb_snap *s, struct sb_err *err)
{
    for (unsigned i = 0; i < s->nops; i++) {
        const struct sb_snap_op *op = &s->op[i];

        if (op->hits + op->misses > op->count)
            return sb_err_set(err, SB_EINTERNAL,
                "accounting: hits + misses <= count of an operation does not "
                "hold: %" PRIu64 " + %" PRIu64 " and %" PRIu64,
                op->hits, op->misses, op->count);
    }
    return 0;
}

static int check_metrics(const struct sb_snap *s, struct sb_err *err)
{
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < s->nmetrics; i++) {
        if (s->metric[i].kind == SB_METRIC_DISTRIBUTION)
            rc = check_equal(err, "count of a distribution = its histogram",
                s->metric[i].count, s->metric[i].hist.total);
    }
    return rc;
}

static int check_users(const struct sb_snap *s, struct sb_err *err)
{
    uint64_t events = 0, ns = 0;
    int rc;

    if (!s->user_events)
        return 0;
    for (unsigned i = 0; i < s->users; i++) {
        events += s->user_events[i];
        ns += s->user_ns[i];
    }
    rc = check_equal(err, "completed = sum over users", s->c.completed, events);
    if (rc == 0)
        rc = check_equal(
            err, "service time = sum over users", s->c.service_ns, ns);
    return rc;
}

static int check_workloads(
    const struct sb_snap *s, const struct sb_stats *stats, struct sb_err *err)
{
    uint64_t events = 0, failed = 0, restarts = 0;
    bool any = false;

    for (unsigned i = 0; s->op && i < s->nops; i++) {
        if (stats->op[i].kind != SB_OP_WORKLOAD)
            continue;
        any = true;
        events += s->op[i].count;
        failed += s->op[i].failed;
        restarts += s->op[i].restarts;
    }
    if (!any)
        return 0;
    int rc = check_equal(
        err, "completed = sum over workloads", s->c.completed, events);
    if (rc == 0)
        rc = check_equal(
            err, "failed = sum over workloads", s->c.failed, failed);
    if (rc == 0)
        rc = check_equal(
            err, "restarts = sum over workloads", s->c.restarts, restarts);
    return rc;
}

int sb_snap_check(const struct sb_snap *s, const struct sb_stats *stats,
    uint64_t pending, struct sb_err *err)
{
    int rc = check_events(s, pending, err);

    if (rc == 0)
        rc = check_errors(s, err);
    if (rc == 0)
        rc = check_hists(s, stats->open_loop, err);
    if (rc == 0)
        rc = check_ops(s, err);
    if (rc == 0)
        rc = check_found(s, err);
    if (rc == 0)
        rc = check_workloads(s, stats, err);
    if (rc == 0)
        rc = check_metrics(s, err);
    if (rc == 0)
        rc = check_users(s, err);
    return rc;
}

int sb_snap_check_printed(
    const struct sb_snap *s, bool open_loop, struct sb_err *err)
{
    int rc = check_equal(err, "completed = latencies", s->c.completed,
        open_loop ? s->response.total : s->service.total);

    if (rc == 0)
        rc = check_ops(s, err);
    if (rc == 0)
        rc = check_users(s, err);
    return rc;
}

void sb_report_fill(struct sb_report *r, const struct sb_snap *diff,
    unsigned threads, bool open_loop, double total_s)
{
    const struct sb_counters *c = &diff->c;

    *r = (struct sb_report){
        .interval_s = (double)diff->ns / 1e9,
        .total_s = total_s,
        .threads = threads,
        .running = diff->running,
        .open_loop = open_loop,
        .snap = diff,
        .queue = diff->queue,
        .concurrency = diff->unfinished,
        .latency = open_loop ? &diff->response : &diff->service,
        .lat_min = open_loop ? diff->response_min : diff->service_min,
        .lat_max = open_loop ? diff->response_max : diff->service_max,
        .lat_sum = open_loop ? c->response_ns : c->service_ns,
        .errors = c->err_ignored + c->err_restarted + c->err_givenup,
    };
    if (r->latency->total > 0)
        r->lat_avg = (double)r->lat_sum / (double)r->latency->total;
}

void sb_report_rank_open(
    struct sb_rank_figures *f, const struct sb_snap *s, double seconds)
{
    double n = (double)s->c.completed;

    if (n == 0 || seconds <= 0)
        return;
    f->lag = (double)s->c.lag_ns / n;
    f->service = (double)s->c.service_ns / n;
    // Arrivals, not events: a rank that cannot keep up has more load than
    // users.
    f->load = ((double)s->scheduled - (double)s->skipped) / seconds *
              f->service / 1e9;
}

double sb_report_percentile(const struct sb_report *r, double pct)
{
    return sb_hist_snap_percentile(r->latency, pct, r->lat_max);
}

void sb_report_mean(const uint64_t *v, unsigned n, double *mean, double *dev)
{
    double sum = 0, squares = 0;

    *mean = *dev = 0;
    if (n == 0)
        return;
    for (unsigned i = 0; i < n; i++)
        sum += (double)v[i];
    *mean = sum / n;
    for (unsigned i = 0; i < n; i++) {
        double d = (double)v[i] - *mean;

        squares += d * d;
    }
    *dev = sqrt(squares / n);
}
