// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/metrics.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "measure/loads_private.h"

_Static_assert(sizeof(struct sb_metric_cell) == 64,
    "users must not share a cache line of cells");

static const char *const kinds[] = { [SB_METRIC_COUNTER] = "counter",
    [SB_METRIC_GAUGE] = "gauge",
    [SB_METRIC_DISTRIBUTION] = "distribution" };

static struct sb_metric_cell *cells_new(unsigned users)
{
    size_t size = users * sizeof(struct sb_metric_cell);
    void *p = aligned_alloc(64, size);

    if (p)
        memset(p, 0, size);
    return p;
}

int sb_metrics_init(struct sb_metrics *m, unsigned users, unsigned shards)
{
    assert(users > 0 && shards > 0 && shards <= users);
    memset(m, 0, sizeof(*m));
    m->users = users;
    m->shards = shards;
    pthread_mutex_init(&m->lock, NULL);
    m->rest = cells_new(users);
    if (m->rest)
        return 0;
    sb_metrics_done(m);
    return SB_ENOMEM;
}

void sb_metrics_done(struct sb_metrics *m)
{
    if (m->users == 0)
        return;
    for (uint32_t i = 0; i < SB_METRICS_MAX; i++) {
        if (!m->primary || m->metric[i].kind != SB_METRIC_GAUGE)
            free(m->metric[i].cell);
        sb_hists_free(m->metric[i].shard, m->shards);
    }
    free(m->rest);
    pthread_mutex_destroy(&m->lock);
    memset(m, 0, sizeof(*m));
}

void sb_metrics_twin(struct sb_metrics *primary, struct sb_metrics *twin)
{
    assert(primary->n == 0 && twin->n == 0);
    primary->twin = twin;
    twin->primary = primary;
}

static int find_metric(const struct sb_metrics *m, const char *name)
{
    uint32_t n = sb_metrics_count(m);

    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(m->metric[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

// The histogram has 48 bits; a power of two keeps integers exact.
static double scale_of(double largest)
{
    int bits;

    if (largest <= 0)
        largest = SB_METRIC_LARGEST;
    (void)frexp(largest, &bits); // largest <= 2^bits
    return ldexp(1, SB_HIST_TOP_BIT + 1 - bits);
}

double sb_metric_largest(double scale)
{
    return ldexp(1, SB_HIST_TOP_BIT) / scale;
}

// Fills metric n, which is not published yet. False if out of memory.
static bool fill_metric(struct sb_metrics *m, uint32_t n,
    const struct sb_metric_def *def, struct sb_metric_cell *borrowed)
{
    struct sb_metric *x = &m->metric[n];

    x->kind = def->kind;
    x->scale = scale_of(def->largest);
    sb_utf8_name(x->name, sizeof(x->name), def->name);
    sb_utf8_copy(x->unit, sizeof(x->unit), def->unit ? def->unit : "");
    sb_utf8_copy(x->help, sizeof(x->help), def->help ? def->help : "");
    x->cell = borrowed ? borrowed : cells_new(m->users);
    if (def->kind == SB_METRIC_DISTRIBUTION)
        x->shard = sb_hists_new(m->shards, m->users > m->shards);
    return x->cell && (x->shard || def->kind != SB_METRIC_DISTRIBUTION);
}

static void unfill(struct sb_metrics *m, uint32_t n)
{
    if (!m->primary || m->metric[n].kind != SB_METRIC_GAUGE)
        free(m->metric[n].cell);
    sb_hists_free(m->metric[n].shard, m->shards);
    m->metric[n] = (struct sb_metric){ 0 };
}

static void add_rest(struct sb_metrics *m, uint32_t n)
{
    static const struct sb_metric_def rest = { .name = SB_METRICS_REST,
        .kind = SB_METRIC_REST };

    (void)fill_metric(m, n, &rest, m->rest);
    m->rest = NULL;
}

static void publish(struct sb_metrics *m, uint32_t n)
{
    assert(n < SB_METRICS_MAX && m->metric[n].cell);
    if (m->twin)
        atomic_store_explicit(&m->twin->n, n + 1, memory_order_release);
    atomic_store_explicit(&m->n, n + 1, memory_order_release);
}

// Call with the lock held. Registers in both twins.
static int add_metric(struct sb_metrics *m, const struct sb_metric_def *def)
{
    uint32_t n = atomic_load_explicit(&m->n, memory_order_relaxed);
    bool good;

    if (!m->rest)
        return (int)n - 1;
    good = n < SB_METRICS_MAX - 1 && fill_metric(m, n, def, NULL);
    if (good && m->twin)
        good = fill_metric(m->twin, n, def,
            def->kind == SB_METRIC_GAUGE ? m->metric[n].cell : NULL);
    if (!good) {
        if (m->twin) {
            unfill(m->twin, n);
            add_rest(m->twin, n);
        }
        unfill(m, n);
        add_rest(m, n);
    }
    publish(m, n);
    return (int)n;
}

int sb_metrics_add(
    struct sb_metrics *m, const struct sb_metric_def *def, struct sb_err *err)
{
    char name[sizeof(m->metric[0].name)];
    const struct sb_metric *x;
    int i;

    sb_utf8_name(name, sizeof(name), def->name);
    m = m->primary ? m->primary : m;
    pthread_mutex_lock(&m->lock);
    i = find_metric(m, name);
    if (i < 0)
        i = add_metric(m, def);
    pthread_mutex_unlock(&m->lock);
    assert(i >= 0 && (uint32_t)i < sb_metrics_count(m));
    x = &m->metric[i];
    if (x->kind == def->kind || x->kind == SB_METRIC_REST)
        return i;
    return sb_err_set(err, SB_EUSAGE, "metric '%s' is a %s, not a %s", x->name,
        kinds[x->kind], kinds[def->kind]);
}

static void store(_Atomic double *to, double v)
{
    atomic_store_explicit(to, v, memory_order_relaxed);
}

static void record_value(struct sb_metrics *m, const struct sb_metric *x,
    struct sb_metric_cell *c, unsigned user, double v)
{
    double units = v * x->scale;
    bool first = sb__load_count(&c->count) == 0;

    store(&c->value, sb__load_value(&c->value) + v);
    if (first || v < sb__load_value(&c->min))
        store(&c->min, v);
    if (v > sb__load_value(&c->max))
        store(&c->max, v);
    sb_hist_record(&x->shard[user % m->shards],
        units < 0x1p48 ? (uint64_t)units : UINT64_MAX);
}

void sb_metric_put(struct sb_metrics *m, uint32_t i, unsigned user, double v)
{
    const struct sb_metric *x = &m->metric[i];
    struct sb_metric_cell *c = &x->cell[user];

    switch (x->kind) {
    case SB_METRIC_COUNTER:
        store(&c->value, sb__load_value(&c->value) + v);
        break;
    case SB_METRIC_GAUGE:
        assert(!"sb_metric_set() sets gauges");
        break;
    case SB_METRIC_DISTRIBUTION:
        record_value(m, x, c, user, v);
        break;
    case SB_METRIC_REST:
        store(&c->value, sb__load_value(&c->value) + 1);
        break;
    }
    // Last, so that the histogram of a distribution holds at least as many.
    atomic_store_explicit(
        &c->count, sb__load_count(&c->count) + 1, memory_order_release);
}

void sb_metric_set(struct sb_metrics *m, uint32_t i, unsigned user,
    double value, uint64_t until)
{
    struct sb_metric_cell *c = &m->metric[i].cell[user];

    assert(m->metric[i].kind == SB_METRIC_GAUGE);
    store(&c->value, value);
    atomic_store_explicit(&c->until, until, memory_order_release);
    atomic_store_explicit(
        &c->count, sb__load_count(&c->count) + 1, memory_order_release);
}

void sb_metrics_leave(struct sb_metrics *m, unsigned user)
{
    uint32_t n = sb_metrics_count(m);

    assert(user < m->users);
    for (uint32_t i = 0; i < n; i++)
        if (m->metric[i].kind == SB_METRIC_GAUGE &&
            sb__load_count(&m->metric[i].cell[user].count) > 0)
            sb_metric_set(m, i, user, 0, 0);
}
