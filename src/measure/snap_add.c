// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/snap_add.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kit/array.h"
#include "measure/snap_private.h"

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

// Of a code that both have, the sample is that of the first occurrence.
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
