// SPDX-License-Identifier: GPL-2.0-or-later
//
// Metrics of scripts in snapshots.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/loads_private.h"
#include "measure/snap_private.h"

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

int sb__snap_sub_metrics(struct sb_snap *out, const struct sb_snap *later,
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

void sb__snap_done_metrics(struct sb_snap *s)
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
