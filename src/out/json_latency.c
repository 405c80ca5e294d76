// SPDX-License-Identifier: GPL-2.0-or-later
//
// Latencies and counters in a result file: of a run, a stage, an operation.
#include <math.h>

#include "out/json_private.h"

static const struct {
    const char *name;
    double pct;
} percentiles[] = {
    { "1", 1 },
    { "5", 5 },
    { "10", 10 },
    { "25", 25 },
    { "50", 50 },
    { "75", 75 },
    { "90", 90 },
    { "95", 95 },
    { "99", 99 },
    { "99.9", 99.9 },
    { "99.99", 99.99 },
    { "99.999", 99.999 },
    { "100", 100 },
};

static json_t *percentile_object(const struct sb_hist_snap *h, uint64_t max)
{
    json_t *o = json_object();
    bool ok = o != NULL;

    for (size_t i = 0; ok && i < sizeof(percentiles) / sizeof(percentiles[0]);
         i++)
        ok = sb__json_set(o, percentiles[i].name,
            h->total ? sb_json_number(round(
                           sb_hist_snap_percentile(h, percentiles[i].pct, max)))
                     : json_null());
    return sb__json_complete(o, ok);
}

struct buckets {
    json_t *array;
    bool ok;
};

static void add_bucket(void *arg, uint64_t low, uint64_t width, uint64_t count)
{
    struct buckets *b = arg;
    json_t *triple = json_array();

    b->ok = b->ok && sb__json_append(triple, sb_json_count(low)) &&
            sb__json_append(triple, sb_json_count(low + width - 1)) &&
            sb__json_append(triple, sb_json_count(count));
    b->ok = sb__json_append(b->array, triple) && b->ok;
}

json_t *sb__json_histogram(const struct sb_hist_snap *h)
{
    struct buckets b = { json_array(), true };

    sb_hist_snap_each(h, add_bucket, &b);
    return sb__json_complete(b.array, b.ok);
}

json_t *sb__json_latency_figures(const char *kind, const struct sb_hist_snap *h,
    uint64_t min, uint64_t sum, uint64_t max)
{
    json_t *o = json_object();
    uint64_t n = h->total;
    bool ok = sb__json_set_text(o, "kind", kind) &&
              sb__json_set_count(o, "count", n) &&
              sb__json_set(o, "min", n ? sb_json_count(min) : json_null()) &&
              sb__json_set(o, "avg",
                  n ? sb_json_number((double)sum / (double)n) : json_null()) &&
              sb__json_set(o, "max", n ? sb_json_count(max) : json_null()) &&
              sb__json_set_count(o, "sum", sum) &&
              sb__json_set(o, "percentiles", percentile_object(h, max));

    return sb__json_complete(o, ok);
}

json_t *sb_json_latency(const char *kind, const struct sb_hist_snap *h,
    uint64_t min, uint64_t sum, uint64_t max)
{
    json_t *o = sb__json_latency_figures(kind, h, min, sum, max);

    return sb__json_complete(
        o, sb__json_set(o, "histogram", sb__json_histogram(h)));
}

json_t *sb__json_counters(const struct sb_report *r)
{
    const struct sb_snap *s = r->snap;
    json_t *o = json_object();
    bool ok = sb__json_set_count(o, "scheduled", s->scheduled) &&
              sb__json_set_count(o, "skipped", s->skipped) &&
              sb__json_set_count(o, "unfinished", s->unfinished) &&
              sb__json_set_count(o, "queue", r->queue);

#define X(name) ok = ok && sb__json_set_count(o, #name, s->c.name);
    SB_COUNTER_MAP(X)
#undef X
    return sb__json_complete(o, ok);
}

const char *sb__json_latency_kind(const struct sb_report *r)
{
    return r->open_loop ? "response" : "service";
}
