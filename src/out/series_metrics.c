// SPDX-License-Identifier: GPL-2.0-or-later
//
// The metrics of a script in rows.
#include <math.h>

#include "out/series.h"

static int set(
    struct sb_series *s, const char *name, const char *figure, double value)
{
    return sb_series_set(s, "metric", name, figure, "", value);
}

static int set_distribution(
    struct sb_series *s, const char *name, const struct sb_snap_metric *m)
{
    bool any = m->count > 0;
    int rc = set(s, name, "count", (double)m->count);

    if (rc == 0)
        rc = set(s, name, "avg", any ? m->value / (double)m->count : NAN);
    if (rc == 0)
        rc = set(s, name, "p50", any ? sb_snap_metric_percentile(m, 50) : NAN);
    if (rc == 0)
        rc = set(s, name, "p99", any ? sb_snap_metric_percentile(m, 99) : NAN);
    return rc ? rc : set(s, name, "max", any ? m->max : NAN);
}

int sb__series_metrics(struct sb_series *s, const struct sb_report *r)
{
    const struct sb_snap *d = r->snap;
    int rc = 0;

    for (unsigned i = 0; rc == 0 && r->stats && i < d->nmetrics; i++) {
        const struct sb_snap_metric *m = &d->metric[i];
        const char *name = r->stats->metrics.metric[i].name;

        if (m->kind == SB_METRIC_DISTRIBUTION)
            rc = set_distribution(s, name, m);
        else
            rc = set(s, name, m->kind == SB_METRIC_GAUGE ? "value" : "sum",
                m->value);
    }
    return rc;
}
