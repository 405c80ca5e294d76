// SPDX-License-Identifier: GPL-2.0-or-later
//
// The metrics of a script in a result file.
#include "out/json_private.h"

static json_t *percentiles(const struct sb_snap_metric *m)
{
    static const struct {
        const char *name;
        double pct;
    } list[] = { { "1", 1 }, { "5", 5 }, { "25", 25 }, { "50", 50 },
        { "75", 75 }, { "95", 95 }, { "99", 99 }, { "99.9", 99.9 },
        { "100", 100 } };
    json_t *o = json_object();
    bool ok = o != NULL;

    for (size_t i = 0; ok && i < sizeof(list) / sizeof(list[0]); i++)
        ok = sb__json_set(o, list[i].name,
            m->count ? sb_json_number(sb_snap_metric_percentile(m, list[i].pct))
                     : json_null());
    return sb__json_complete(o, ok);
}

static json_t *if_any(const struct sb_snap_metric *m, double value)
{
    return m->count ? sb_json_number(value) : json_null();
}

static bool set_distribution(json_t *o, const struct sb_snap_metric *m)
{
    return sb__json_set(o, "count", sb_json_count(m->count)) &&
           sb__json_set(o, "sum", sb_json_number(m->value)) &&
           sb__json_set(o, "min", if_any(m, m->min)) &&
           sb__json_set(o, "avg",
               if_any(m, m->count ? m->value / (double)m->count : 0)) &&
           sb__json_set(o, "max", if_any(m, m->max)) &&
           sb__json_set(o, "percentiles", percentiles(m)) &&
           sb__json_set(o, "scale", sb_json_number(m->scale)) &&
           sb__json_set(o, "histogram", sb__json_histogram(&m->hist));
}

static json_t *metric(
    const struct sb_metric *def, const struct sb_snap_metric *m)
{
    static const char *const kinds[] = { [SB_METRIC_COUNTER] = "counter",
        [SB_METRIC_GAUGE] = "gauge",
        [SB_METRIC_DISTRIBUTION] = "distribution",
        [SB_METRIC_REST] = "counter" };
    json_t *o = json_object();
    bool ok = sb__json_set(o, "name", sb_json_text(def->name)) &&
              sb__json_set(o, "kind", json_string(kinds[m->kind])) &&
              sb__json_set(o, "unit", sb_json_text(def->unit)) &&
              sb__json_set(o, "help", sb_json_text(def->help));

    if (ok && m->kind == SB_METRIC_DISTRIBUTION)
        ok = set_distribution(o, m);
    else if (ok)
        ok = sb__json_set(o, m->kind == SB_METRIC_GAUGE ? "value" : "sum",
            sb_json_number(m->value));
    return sb__json_complete(o, ok);
}

json_t *sb_json_metrics(const struct sb_report *r)
{
    const struct sb_snap *s = r->snap;
    json_t *a = json_array();
    bool ok = a != NULL;

    for (unsigned i = 0; ok && r->stats && i < s->nmetrics; i++)
        ok = json_array_append_new(
                 a, metric(&r->stats->metrics.metric[i], &s->metric[i])) == 0;
    return sb__json_complete(a, ok);
}
