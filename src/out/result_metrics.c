// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reads the metrics of a script back from a result file.
#include <math.h>
#include <string.h>

#include "measure/snap_add.h"
#include "out/result_private.h"

static double number_of(const json_t *o, const char *name)
{
    return json_number_value(json_object_get(o, name));
}

static int read_gauge(struct sb_snap_metric *m, const json_t *o,
    const struct sb_metric_def *def, struct sb_err *err)
{
    const json_t *value = json_object_get(o, "value");

    if (value && !json_is_null(value) &&
        (!json_is_number(value) || json_number_value(value) < 0))
        return sb_err_set(err, SB_EUSAGE,
            "metric '%.60s': the value must be a number of at least 0",
            def->name);
    m->value = json_is_null(value) ? NAN : json_number_value(value);
    return 0;
}

// The scale decides how long a bucket of the histogram is, so it must be one
// that the program uses: a power of two.
static int read_distribution(struct sb_snap_metric *m, const json_t *o,
    struct sb_metric_def *def, struct sb_err *err)
{
    int exponent;

    m->scale = number_of(o, "scale");
    if (frexp(m->scale, &exponent) != 0.5 || exponent < -900 || exponent > 900)
        return sb_err_set(err, SB_EUSAGE,
            "metric '%.60s': the scale is not a power of two", def->name);
    def->largest = sb_metric_largest(m->scale);
    m->min = number_of(o, "min");
    m->max = number_of(o, "max");
    return sb__result_buckets(o, &m->hist, &m->count, err);
}

static int read_metric(
    struct sb_result_run *r, const json_t *o, struct sb_err *err)
{
    static const char *const kinds[] = { "counter", "gauge", "distribution" };
    struct sb_metric_def def = { .name = sb_result_member(o, "name"),
        .unit = sb_result_member(o, "unit"),
        .help = sb_result_member(o, "help") };
    struct sb_snap_metric m = { .value = number_of(o, "sum") };
    int kind = 0, rc = 0;

    while (kind < 3 && strcmp(kinds[kind], sb_result_member(o, "kind")) != 0)
        kind++;
    if (kind == 3)
        return 0; // of a later version
    def.kind = m.kind = (enum sb_metric_kind)kind;
    if (kind == SB_METRIC_GAUGE)
        rc = read_gauge(&m, o, &def, err);
    else if (kind == SB_METRIC_DISTRIBUTION)
        rc = read_distribution(&m, o, &def, err);
    if (rc == 0)
        rc = sb_snap_add_metric(&r->snap, &r->stats, &def, &m, err);
    sb_hist_snap_done(&m.hist);
    return rc;
}

int sb__result_metrics(struct sb_result_run *r, struct sb_err *err)
{
    const json_t *list = json_object_get(r->json, "metrics");
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < json_array_size(list); i++)
        rc = read_metric(r, json_array_get(list, i), err);
    return rc;
}
