// SPDX-License-Identifier: GPL-2.0-or-later
//
// The metrics of a script in a result file.
#include <math.h>

#include "out/json_parts.h"

static json_t *number(double value)
{
    if (!isfinite(value))
        return json_null();
    if (value == floor(value) && fabs(value) < 9e15)
        return json_integer((json_int_t)value);
    return json_real(value);
}

static bool set(json_t *o, const char *name, json_t *value)
{
    return json_object_set_new(o, name, value) == 0;
}

static json_t *complete(json_t *value, bool ok)
{
    if (ok)
        return value;
    json_decref(value);
    return NULL;
}

struct buckets {
    json_t *array;
    bool ok;
};

static void add_bucket(void *arg, uint64_t low, uint64_t width, uint64_t count)
{
    struct buckets *b = arg;
    json_t *triple = json_pack("[I,I,o]", (json_int_t)low,
        (json_int_t)(low + width - 1), sb_json_count(count));

    b->ok = b->ok && json_array_append_new(b->array, triple) == 0;
}

static json_t *histogram(const struct sb_hist_snap *h)
{
    struct buckets b = { json_array(), true };

    sb_hist_snap_each(h, add_bucket, &b);
    return complete(b.array, b.ok);
}

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
        ok = set(o, list[i].name,
            m->count ? number(sb_snap_metric_percentile(m, list[i].pct))
                     : json_null());
    return complete(o, ok);
}

static json_t *if_any(const struct sb_snap_metric *m, double value)
{
    return m->count ? number(value) : json_null();
}

static bool set_distribution(json_t *o, const struct sb_snap_metric *m)
{
    return set(o, "count", sb_json_count(m->count)) &&
           set(o, "sum", number(m->value)) &&
           set(o, "min", if_any(m, m->min)) &&
           set(o, "avg",
               if_any(m, m->count ? m->value / (double)m->count : 0)) &&
           set(o, "max", if_any(m, m->max)) &&
           set(o, "percentiles", percentiles(m)) &&
           set(o, "scale", number(m->scale)) &&
           set(o, "histogram", histogram(&m->hist));
}

static json_t *metric(
    const struct sb_metric *def, const struct sb_snap_metric *m)
{
    static const char *const kinds[] = { [SB_METRIC_COUNTER] = "counter",
        [SB_METRIC_GAUGE] = "gauge",
        [SB_METRIC_DISTRIBUTION] = "distribution",
        [SB_METRIC_REST] = "counter" };
    json_t *o = json_object();
    bool ok = set(o, "name", sb_json_text(def->name)) &&
              set(o, "kind", json_string(kinds[m->kind])) &&
              set(o, "unit", sb_json_text(def->unit)) &&
              set(o, "help", sb_json_text(def->help));

    if (ok && m->kind == SB_METRIC_DISTRIBUTION)
        ok = set_distribution(o, m);
    else if (ok)
        ok = set(
            o, m->kind == SB_METRIC_GAUGE ? "value" : "sum", number(m->value));
    return complete(o, ok);
}

json_t *sb_json_metrics(const struct sb_report *r)
{
    const struct sb_snap *s = r->snap;
    json_t *a = json_array();
    bool ok = a != NULL;

    for (unsigned i = 0; ok && r->stats && i < s->nmetrics; i++)
        ok = json_array_append_new(
                 a, metric(&r->stats->metrics.metric[i], &s->metric[i])) == 0;
    return complete(a, ok);
}
