// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/snap.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t load(const _Atomic uint64_t *c)
{
    return atomic_load_explicit(c, memory_order_relaxed);
}

static void widen(uint64_t *min, uint64_t *max, const _Atomic uint64_t *lo,
    const _Atomic uint64_t *hi)
{
    uint64_t a = load(lo), b = load(hi);

    if (a < *min)
        *min = a;
    if (b > *max)
        *max = b;
}

static void add_tally(struct sb_snap *s, const struct sb_tally *t)
{
#define X(name) s->c.name += load(&t->name);
    SB_COUNTER_MAP(X)
#undef X
    widen(&s->service_min, &s->service_max, &t->service_min, &t->service_max);
    widen(
        &s->response_min, &s->response_max, &t->response_min, &t->response_max);
    widen(&s->lag_min, &s->lag_max, &t->lag_min, &t->lag_max);
}

static uint64_t none_is_zero(uint64_t min)
{
    return min == UINT64_MAX ? 0 : min;
}

static int add_hists(
    struct sb_hist_snap *to, const struct sb_hist *h, unsigned n)
{
    int rc = 0;

    for (unsigned i = 0; h && rc == 0 && i < n; i++)
        rc = sb_hist_snap_add_live(to, &h[i]);
    return rc;
}

static int take_users(struct sb_snap *out, const struct sb_stats *s)
{
    out->user_events = calloc(s->users, sizeof(uint64_t));
    out->user_ns = calloc(s->users, sizeof(uint64_t));
    out->user_min = calloc(s->users, sizeof(uint64_t));
    out->user_max = calloc(s->users, sizeof(uint64_t));
    if (!out->user_events || !out->user_ns || !out->user_min || !out->user_max)
        return SB_ENOMEM;
    for (unsigned i = 0; i < s->users; i++) {
        const struct sb_tally *t = &s->rec[i].tally;

        out->user_events[i] = load(&t->completed);
        out->user_ns[i] = load(&t->service_ns);
        out->user_min[i] = none_is_zero(load(&t->service_min));
        out->user_max[i] = load(&t->service_max);
    }
    return 0;
}

static int take_op(struct sb_snap_op *op, const struct sb_stats *s, unsigned n)
{
    op->min = UINT64_MAX;
    for (unsigned i = 0; i < s->users; i++) {
        const struct sb_op_tally *t = &s->op[n].tally[i];

        op->count += load(&t->count);
        op->errors += load(&t->errors);
        op->ns += load(&t->ns);
        op->hits += load(&t->hits);
        op->misses += load(&t->misses);
        widen(&op->min, &op->max, &t->min, &t->max);
    }
    op->min = none_is_zero(op->min);
    return add_hists(&op->hist, s->op[n].shard, s->shards);
}

static int take_ops(struct sb_snap *out, const struct sb_stats *s)
{
    unsigned n = atomic_load_explicit(&s->nops, memory_order_acquire);
    int rc = 0;

    out->op = calloc(n ? n : 1, sizeof(*out->op));
    if (!out->op)
        return SB_ENOMEM;
    out->nops = n;
    for (unsigned i = 0; rc == 0 && i < n; i++)
        rc = take_op(&out->op[i], s, i);
    return rc;
}

static const struct sb_snap_code *code_find(
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

// Room for one more; capacity follows the powers of two. NULL: no memory.
static struct sb_snap_code *code_new(struct sb_snap *s)
{
    if ((s->ncodes & (s->ncodes - 1)) == 0) {
        size_t cap = s->ncodes ? 2 * (size_t)s->ncodes : 1;
        void *p = realloc(s->code, cap * sizeof(*s->code));

        if (!p)
            return NULL;
        s->code = p;
    }
    return &s->code[s->ncodes++];
}

static int add_code(struct sb_snap *s, const struct sb_code_tally *t)
{
    struct sb_snap_code *c = (struct sb_snap_code *)code_find(
        s, t->native, t->state, t->driver);
    uint64_t count = load(&t->count);

    if (!c) {
        c = code_new(s);
        if (!c)
            return SB_ENOMEM;
        memset(c, 0, sizeof(*c));
        c->first_ns = UINT64_MAX;
    }
    if (t->first_ns < c->first_ns) {
        c->native = t->native;
        memcpy(c->state, t->state, sizeof(c->state));
        memcpy(c->driver, t->driver, sizeof(c->driver));
        memcpy(c->sample, t->sample, sizeof(c->sample));
        c->first_ns = t->first_ns;
    }
    c->count += count;
    return 0;
}

static int take_codes(struct sb_snap *out, const struct sb_stats *s)
{
    int rc = 0;

    for (unsigned u = 0; rc == 0 && u < s->users; u++) {
        struct sb_rec *r = &s->rec[u];
        uint32_t n = atomic_load_explicit(&r->ncodes, memory_order_acquire);

        for (uint32_t i = 0; rc == 0 && i < n; i++)
            rc = add_code(out, &r->codes[i]);
    }
    return rc;
}

static int add_time(struct sb_hist_snap *h, uint64_t *sum, uint64_t *min,
    uint64_t *max, uint64_t ns)
{
    *sum += ns;
    if (*min == 0 || ns < *min)
        *min = ns;
    if (ns > *max)
        *max = ns;
    return sb_hist_snap_put(h, sb_hist_index(ns), 1);
}

// What user u kept back: only one who was left behind in a call does.
static int take_later(struct sb_snap *out, const struct sb_rec *r, unsigned u)
{
    uint32_t n = atomic_load_explicit(&r->nlater, memory_order_acquire);
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < n; i++) {
        struct sb__later v = sb__rec_later_of(load(&r->later[i]));

        if (v.op > out->nops)
            continue;
        if (v.op > 0) {
            struct sb_snap_op *o = &out->op[v.op - 1];

            o->count++;
            o->hits += v.found == SB_FOUND_ROWS;
            o->misses += v.found == SB_FOUND_NOTHING;
            rc = add_time(&o->hist, &o->ns, &o->min, &o->max, v.ns);
            continue;
        }
        rc = add_time(&out->service, &out->c.service_ns, &out->service_min,
            &out->service_max, v.ns);
        out->user_ns[u] += v.ns;
        if (out->user_min[u] == 0 || v.ns < out->user_min[u])
            out->user_min[u] = v.ns;
        if (v.ns > out->user_max[u])
            out->user_max[u] = v.ns;
    }
    return rc;
}

int sb_snap_take(struct sb_snap *out, const struct sb_stats *s,
    enum sb_snap_what what, uint64_t ns)
{
    int rc;

    memset(out, 0, sizeof(*out));
    out->ns = ns;
    out->users = s->users;
    out->service_min = out->response_min = out->lag_min = UINT64_MAX;
    for (unsigned i = 0; i < s->users; i++)
        add_tally(out, &s->rec[i].tally);
    out->service_min = none_is_zero(out->service_min);
    out->response_min = none_is_zero(out->response_min);
    out->lag_min = none_is_zero(out->lag_min);
    rc = add_hists(&out->service, s->service, s->shards);
    if (rc == 0)
        rc = add_hists(&out->response, s->response, s->shards);
    if (rc == 0)
        rc = add_hists(&out->lag, s->lag, s->shards);
    if (rc == 0 && what >= SB_SNAP_FULL)
        rc = take_users(out, s);
    if (rc == 0 && what >= SB_SNAP_FULL)
        rc = take_ops(out, s);
    if (rc == 0 && what >= SB_SNAP_FULL)
        rc = take_codes(out, s);
    for (unsigned u = 0; rc == 0 && what == SB_SNAP_FINAL && u < s->users; u++)
        rc = take_later(out, &s->rec[u], u);
    if (rc)
        sb_snap_done(out);
    return rc;
}

void sb_snap_done(struct sb_snap *s)
{
    sb_hist_snap_done(&s->service);
    sb_hist_snap_done(&s->response);
    sb_hist_snap_done(&s->lag);
    for (unsigned i = 0; s->op && i < s->nops; i++)
        sb_hist_snap_done(&s->op[i].hist);
    free(s->op);
    free(s->code);
    free(s->user_events);
    free(s->user_ns);
    free(s->user_min);
    free(s->user_max);
    memset(s, 0, sizeof(*s));
}

// Extremes of a difference: what its histogram can tell, inside what is known
// exactly of the whole run (and so exact when the difference is all of it).
static void bounds(const struct sb_hist_snap *h, uint64_t *min, uint64_t *max)
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

        *o = (struct sb_snap_op){ a->count - b->count, a->errors - b->errors,
            a->ns - b->ns, a->min, a->max, a->hits - b->hits,
            a->misses - b->misses, { { 0 }, 0 } };
        rc = sb_hist_snap_sub(&o->hist, &a->hist, &b->hist);
        if (rc == 0)
            bounds(&o->hist, &o->min, &o->max);
    }
    return rc;
}

static int sub_codes(struct sb_snap *out, const struct sb_snap *later,
    const struct sb_snap *earlier)
{
    for (unsigned i = 0; i < later->ncodes; i++) {
        const struct sb_snap_code *a = &later->code[i];
        const struct sb_snap_code *b = code_find(
            earlier, a->native, a->state, a->driver);
        uint64_t was = b ? b->count : 0;
        struct sb_snap_code *c;

        if (a->count == was)
            continue;
        c = code_new(out);
        if (!c)
            return SB_ENOMEM;
        *c = *a;
        c->count = a->count - was;
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
    if (rc)
        return rc;
    bounds(&out->service, &out->service_min, &out->service_max);
    bounds(&out->response, &out->response_min, &out->response_max);
    bounds(&out->lag, &out->lag_min, &out->lag_max);
    return 0;
}

static void sub_scalars(struct sb_snap *out, const struct sb_snap *later,
    const struct sb_snap *earlier)
{
    uint64_t taken = later->skipped + later->c.started;

    out->ns = later->ns - earlier->ns;
    out->scheduled = later->scheduled - earlier->scheduled;
    out->skipped = later->skipped - earlier->skipped;
    out->queue = later->scheduled > taken ? later->scheduled - taken : 0;
    out->unfinished = later->unfinished;
    out->running = later->running;
    out->users = later->users;
#define X(name) out->c.name = later->c.name - earlier->c.name;
    SB_COUNTER_MAP(X)
#undef X
    out->service_min = later->service_min;
    out->service_max = later->service_max;
    out->response_min = later->response_min;
    out->response_max = later->response_max;
    out->lag_min = later->lag_min;
    out->lag_max = later->lag_max;
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
    if (rc)
        sb_snap_done(out);
    return rc;
}

static int same(
    struct sb_err *err, const char *what, uint64_t left, uint64_t right)
{
    if (left == right)
        return 0;
    return sb_err_set(err, SB_EINTERNAL,
        "accounting: %s does not hold: %" PRIu64 " and %" PRIu64, what, left,
        right);
}

static int check_events(
    const struct sb_snap *s, uint64_t pending, struct sb_err *err)
{
    const struct sb_counters *c = &s->c;
    int rc = same(err, "scheduled = started + skipped + pending", s->scheduled,
        c->started + s->skipped + pending);

    if (rc == 0)
        rc = same(err, "started = completed + failed + unfinished", c->started,
            c->completed + c->failed + s->unfinished);
    if (rc == 0)
        rc = same(err, "tries = started + restarts", c->tries,
            c->started + c->restarts);
    return rc;
}

// An event that never came back may hold errors whose fate is open.
static int check_errors(const struct sb_snap *s, struct sb_err *err)
{
    const struct sb_counters *c = &s->c;
    uint64_t fates, codes = 0;

    fates = c->err_ignored + c->err_restarted + c->err_givenup + c->err_fatal;
    for (unsigned i = 0; i < s->ncodes; i++)
        codes += s->code[i].count;
    if (!s->user_events || (s->unfinished > 0 && fates <= codes))
        return 0;
    return same(err, "errors = sum over codes", fates, codes);
}

static int check_hists(
    const struct sb_snap *s, bool open_loop, struct sb_err *err)
{
    uint64_t n = s->c.completed;
    int rc = same(err, "completed = service times", n, s->service.total);

    if (rc == 0 && open_loop)
        rc = same(err, "completed = response times", n, s->response.total);
    if (rc == 0 && open_loop)
        rc = same(err, "completed = lags", n, s->lag.total);
    for (unsigned i = 0; rc == 0 && i < s->nops; i++)
        rc = same(err, "count of an operation = its histogram", s->op[i].count,
            s->op[i].hist.total);
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
    rc = same(err, "completed = sum over users", s->c.completed, events);
    if (rc == 0)
        rc = same(err, "service time = sum over users", s->c.service_ns, ns);
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
        rc = check_found(s, err);
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
    if (c->completed > 0)
        r->lat_avg = (double)r->lat_sum / (double)c->completed;
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
