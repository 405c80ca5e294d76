// SPDX-License-Identifier: GPL-2.0-or-later
//
// The metrics of a script in rows.
#include <math.h>

#include "out/series.h"

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

int sb__series_metrics(struct sb_series *s, const struct sb_report *r)
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
