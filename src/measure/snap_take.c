// SPDX-License-Identifier: GPL-2.0-or-later
//
// Takes snapshots while users write. Users never wait for the reader, and yet
// printed figures must be consistent: counts that a histogram also has are
// taken from the histogram and distributed among the users.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "measure/loads_private.h"
#include "measure/snap_private.h"

static void widen(uint64_t *min, uint64_t *max, const _Atomic uint64_t *lo,
    const _Atomic uint64_t *hi)
{
    uint64_t a = sb__load_count(lo), b = sb__load_count(hi);

    if (a < *min)
        *min = a;
    if (b > *max)
        *max = b;
}

static void add_tally(struct sb_snap *s, const struct sb_tally *t)
{
#define X(name) s->c.name += sb__load_count(&t->name);
    SB_COUNTER_MAP(X)
#undef X
    widen(&s->service_min, &s->service_max, &t->service_min, &t->service_max);
    widen(
        &s->response_min, &s->response_max, &t->response_min, &t->response_max);
    widen(&s->lag_min, &s->lag_max, &t->lag_min, &t->lag_max);
    widen(&s->client_delay_min, &s->client_delay_max, &t->client_delay_min,
        &t->client_delay_max);
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

// The events of a user whose times are in the histograms, with these times.
struct mark {
    uint64_t n, service, response, lag;
};

static struct mark mark_of(const struct sb_tally *t)
{
    struct mark m;

    m.service = sb__load_first(&t->service_ns);
    m.response = sb__load_first(&t->response_ns);
    m.lag = sb__load_first(&t->lag_ns);
    m.n = sb__load_first(&t->recorded);
    return m;
}

// Interpolates the value for n on the line from (n0, v0) to (n1, v1).
static uint64_t share_of_users(
    uint64_t n, uint64_t n0, uint64_t v0, uint64_t n1, uint64_t v1)
{
    if (n >= n1 || n1 <= n0)
        return v1;
    if (n <= n0)
        return v0;
    assert(v1 >= v0); // sums only grow
    return v0 +
           (uint64_t)((double)(v1 - v0) * (double)(n - n0) / (double)(n1 - n0));
}

static struct mark marks_of(const struct sb_stats *s)
{
    struct mark sum = { 0 };

    for (unsigned i = 0; i < s->users; i++) {
        struct mark m = mark_of(&s->rec[i].tally);

        sum.n += m.n;
        sum.service += m.service;
        sum.response += m.response;
        sum.lag += m.lag;
    }
    return sum;
}

static uint64_t at_least(uint64_t v, uint64_t least)
{
    return v > least ? v : least;
}

// Adds up the histograms of events. own: receives the count of each shard's
// latency histogram; may be NULL.
static int take_hists(
    struct sb_snap *out, const struct sb_stats *s, uint64_t *own)
{
    const struct sb_hist *latency = s->open_loop ? s->response : s->service;
    struct sb_hist_snap *h = s->open_loop ? &out->response : &out->service;
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < s->shards; i++) {
        uint64_t before = h->total;

        rc = sb_hist_snap_add_live(h, &latency[i]);
        if (own)
            own[i] = h->total - before;
    }
    if (rc == 0 && s->open_loop)
        rc = add_hists(&out->service, s->service, s->shards);
    if (rc == 0)
        rc = add_hists(&out->lag, s->lag, s->shards);
    if (rc == 0)
        rc = add_hists(&out->client_delay, s->client_delay, s->shards);
    return rc;
}

static int new_users(struct sb_snap *out, const struct sb_stats *s)
{
    out->user_events = calloc(s->users, sizeof(uint64_t));
    out->user_ns = calloc(s->users, sizeof(uint64_t));
    out->user_min = calloc(s->users, sizeof(uint64_t));
    out->user_max = calloc(s->users, sizeof(uint64_t));
    return out->user_events && out->user_ns && out->user_min && out->user_max
               ? 0
               : SB_ENOMEM;
}

static void take_users(struct sb_snap *out, const struct sb_stats *s)
{
    for (unsigned i = 0; i < s->users; i++) {
        const struct sb_tally *t = &s->rec[i].tally;

        out->user_events[i] = sb__load_count(&t->completed);
        out->user_ns[i] = sb__load_count(&t->service_ns);
        out->user_min[i] = none_is_zero(sb__load_count(&t->service_min));
        out->user_max[i] = sb__load_count(&t->service_max);
    }
}

// Distributes the events of the latency histogram among the users. A user gets
// the events recorded before the histogram was read, or all of its own shard,
// and never fewer than in the earlier snapshot. own: NULL if users share
// shards, or if the events are counted by workload. The rest was recorded while
// the histogram was read; it is given to users that have completed more events
// than they were given.
static void share_out(struct sb_snap *out, const struct sb_stats *s,
    const struct sb_snap *earlier, const struct mark *before,
    const uint64_t *own)
{
    const uint64_t *was = earlier->user_events;
    uint64_t n = s->open_loop ? out->response.total : out->service.total;
    uint64_t sum = 0, *events = out->user_events;

    for (unsigned i = 0; i < s->users; i++) {
        events[i] = own ? own[i] : before[i].n;
        events[i] = at_least(events[i], was ? was[i] : 0);
        sum += events[i];
    }
    for (unsigned i = 0; sum < n && i < s->users; i++) {
        uint64_t max = sb__load_count(&s->rec[i].tally.completed);
        uint64_t more = max > events[i] ? max - events[i] : 0;

        more = more < n - sum ? more : n - sum;
        events[i] += more;
        sum += more;
    }
    for (unsigned i = 0; sum > n && i < s->users; i++) {
        uint64_t less = events[i] - (was ? was[i] : 0);

        less = less < sum - n ? less : sum - n;
        events[i] -= less;
        sum -= less;
    }
}

// Computes the times of the events that each user was given.
static void share_times(struct sb_snap *out, const struct sb_stats *s,
    const struct sb_snap *earlier, const struct mark *before)
{
    struct sb_counters *c = &out->c;

    c->service_ns = c->response_ns = c->lag_ns = 0;
    for (unsigned i = 0; i < s->users; i++) {
        const struct mark *a = &before[i];
        struct mark b = mark_of(&s->rec[i].tally);
        uint64_t n = out->user_events[i];

        out->user_ns[i] = at_least(
            share_of_users(n, a->n, a->service, b.n, b.service),
            earlier->user_ns ? earlier->user_ns[i] : 0);
        c->service_ns += out->user_ns[i];
        c->response_ns += share_of_users(n, a->n, a->response, b.n, b.response);
        c->lag_ns += share_of_users(n, a->n, a->lag, b.n, b.lag);
    }
    c->response_ns = at_least(c->response_ns, earlier->c.response_ns);
    c->lag_ns = at_least(c->lag_ns, earlier->c.lag_ns);
}

// The client delays that are in the histograms.
struct delays {
    uint64_t n, ns;
};

static struct delays delays_of(const struct sb_stats *s)
{
    struct delays d = { 0 };

    for (unsigned i = 0; s->client_delay && i < s->users; i++) {
        const struct sb_tally *t = &s->rec[i].tally;

        d.ns += sb__load_first(&t->client_delay_ns);
        d.n += sb__load_first(&t->client_delays);
    }
    return d;
}

// Computes the time of the delays that the histogram has.
static void share_delays(struct sb_snap *out, const struct sb_snap *earlier,
    const struct delays *before)
{
    struct sb_counters *c = &out->c;

    c->client_delay_ns = at_least(
        share_of_users(out->client_delay.total, before->n, before->ns,
            c->client_delays, c->client_delay_ns),
        earlier->c.client_delay_ns);
    c->client_delays = out->client_delay.total;
}

// live: users are writing. earlier: the same operation, earlier; may be NULL.
static int take_op(struct sb_snap_op *op, const struct sb_stats *s, unsigned n,
    bool live, const struct sb_snap_op *earlier)
{
    const struct sb_op_tally *t = s->op[n].tally;
    uint64_t count = 0, ns = 0;

    op->min = UINT64_MAX;
    for (unsigned i = 0; i < s->users; i++) {
        op->hits += sb__load_first(&t[i].hits);
        op->misses += sb__load_first(&t[i].misses);
        ns += sb__load_first(&t[i].ns);
        count += sb__load_first(&t[i].count);
    }
    int rc = add_hists(&op->hist, s->op[n].shard, s->shards);
    for (unsigned i = 0; i < s->users; i++) {
        op->count += sb__load_count(&t[i].count);
        op->errors += sb__load_count(&t[i].errors);
        op->rows += sb__load_count(&t[i].rows);
        op->ns += sb__load_count(&t[i].ns);
        widen(&op->min, &op->max, &t[i].min, &t[i].max);
    }
    const struct sb_workload_tally *w = s->op[n].workload;
    for (unsigned i = 0; w && i < s->users; i++) {
        op->failed += sb__load_count(&w[i].failed);
        op->restarts += sb__load_count(&w[i].restarts);
        op->cut_short += sb__load_count(&w[i].cut_short);
    }
    op->min = none_is_zero(op->min);
    if (live) {
        op->ns = at_least(
            share_of_users(op->hist.total, count, ns, op->count, op->ns),
            earlier ? earlier->ns : 0);
        op->count = op->hist.total;
    }
    return rc;
}

static int take_ops(struct sb_snap *out, const struct sb_stats *s, bool live,
    const struct sb_snap *earlier)
{
    unsigned n = atomic_load_explicit(&s->nops, memory_order_acquire);
    int rc = 0;

    out->op = calloc(n ? n : 1, sizeof(*out->op));
    if (!out->op)
        return SB_ENOMEM;
    out->nops = n;
    for (unsigned i = 0; rc == 0 && i < n; i++)
        rc = take_op(&out->op[i], s, i, live,
            earlier && i < earlier->nops ? &earlier->op[i] : NULL);
    return rc;
}

// In a mix, each event belongs to a workload. Replaces the histogram of events
// by the sum of the histograms of the workloads, so that the figures of the
// workloads add up. Returns 1 if there are workloads, 0 if not, or SB_ENOMEM.
static int count_by_workload(struct sb_snap *out, const struct sb_stats *s)
{
    struct sb_hist_snap *h = s->open_loop ? &out->response : &out->service;
    int rc = 0, any = 0;

    for (unsigned i = 0; rc == 0 && i < out->nops; i++) {
        if (s->op[i].kind != SB_OP_WORKLOAD)
            continue;
        if (!any)
            sb_hist_snap_done(h);
        any = 1;
        rc = sb_hist_snap_add(h, &out->op[i].hist);
    }
    return rc ? rc : any;
}

static int add_code(struct sb_snap *s, const struct sb_code_tally *t)
{
    struct sb_snap_code *c = (struct sb_snap_code *)sb__snap_code_find(
        s, t->native, t->state, t->driver);
    uint64_t count = sb__load_count(&t->count);

    if (!c) {
        c = sb__snap_code_new(s);
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
    c->lost += sb__load_count(&t->lost);
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

// Adds the times that user u holds back. Only a user that was left in a call
// has any.
static int take_later(struct sb_snap *out, const struct sb_rec *r, unsigned u)
{
    uint32_t n = atomic_load_explicit(&r->nlater, memory_order_acquire);
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < n; i++) {
        struct sb__later v = sb__rec_later_of(sb__load_count(&r->later[i]));

        if (v.op == SB__LATER_DELAY) {
            out->c.client_delays++;
            rc = add_time(&out->client_delay, &out->c.client_delay_ns,
                &out->client_delay_min, &out->client_delay_max, v.ns);
            continue;
        }
        if (v.op > out->nops)
            continue;
        if (v.op > 0) {
            struct sb_snap_op *o = &out->op[v.op - 1];

            o->count++;
            o->hits += v.found == SB_FOUND_ROWS;
            o->misses += v.found == SB_FOUND_NOTHING;
            o->rows += v.rows;
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

static void take_tallies(struct sb_snap *out, const struct sb_stats *s)
{
    out->service_min = out->response_min = out->lag_min = UINT64_MAX;
    out->client_delay_min = UINT64_MAX;
    for (unsigned i = 0; i < s->users; i++)
        add_tally(out, &s->rec[i].tally);
    out->service_min = none_is_zero(out->service_min);
    out->response_min = none_is_zero(out->response_min);
    out->lag_min = none_is_zero(out->lag_min);
    out->client_delay_min = none_is_zero(out->client_delay_min);
}

// For users that are writing. Counters are read before and after the
// histograms: the first reading is the minimum number of events that these
// hold, the second the maximum.
static int take_live(struct sb_snap *out, const struct sb_stats *s,
    const struct sb_snap *earlier)
{
    struct mark *before = malloc(s->users * sizeof(*before));
    uint64_t *own = malloc(s->shards * sizeof(*own));
    bool shared = s->users != s->shards;
    struct delays delays = delays_of(s);
    int rc = before && own ? new_users(out, s) : SB_ENOMEM;

    for (unsigned i = 0; rc == 0 && i < s->users; i++)
        before[i] = mark_of(&s->rec[i].tally);
    if (rc == 0)
        rc = take_hists(out, s, own);
    if (rc == 0)
        rc = take_ops(out, s, true, earlier);
    if (rc == 0)
        rc = count_by_workload(out, s);
    if (rc >= 0) {
        take_tallies(out, s);
        take_users(out, s);
        share_out(out, s, earlier, before, rc || shared ? NULL : own);
        share_times(out, s, earlier, before);
        share_delays(out, earlier, &delays);
        out->c.completed = s->open_loop ? out->response.total
                                        : out->service.total;
        rc = take_codes(out, s);
    }
    free(own);
    free(before);
    return rc;
}

// For users that have ended: takes every number as it is, so that a check of
// the identities is meaningful.
static int take_final(struct sb_snap *out, const struct sb_stats *s)
{
    int rc = new_users(out, s);

    take_tallies(out, s);
    if (rc == 0)
        rc = take_hists(out, s, NULL);
    if (rc == 0) {
        take_users(out, s);
        rc = take_ops(out, s, false, NULL);
    }
    if (rc == 0)
        rc = take_codes(out, s);
    for (unsigned u = 0; rc == 0 && u < s->users; u++)
        rc = take_later(out, &s->rec[u], u);
    return rc;
}

// For intervals. The counters are taken as they are, but the sums of times are
// those of the events in the histograms: `completed` also has events whose time
// is still buffered, which are many in a short interval. No sum is less than in
// an earlier snapshot, because it is at least what was read first.
static int take_light(struct sb_snap *out, const struct sb_stats *s)
{
    struct mark a = marks_of(s), b;
    int rc = take_hists(out, s, NULL);
    struct sb_counters *c = &out->c;

    if (rc)
        return rc;
    take_tallies(out, s);
    b = marks_of(s);
    c->service_ns = share_of_users(
        out->service.total, a.n, a.service, b.n, b.service);
    if (s->open_loop) {
        c->response_ns = share_of_users(
            out->response.total, a.n, a.response, b.n, b.response);
        c->lag_ns = share_of_users(out->lag.total, a.n, a.lag, b.n, b.lag);
    }
    return 0;
}

int sb_snap_take(struct sb_snap *out, const struct sb_stats *s,
    enum sb_snap_detail detail, uint64_t ns, const struct sb_snap *earlier)
{
    static const struct sb_snap start;
    int rc;

    assert(!earlier || !earlier->user_events || earlier->users == s->users);
    memset(out, 0, sizeof(*out));
    out->ns = ns;
    out->users = s->users;
    out->has_client_delay = s->client_delay != NULL;
    if (detail == SB_SNAP_FINAL) {
        rc = take_final(out, s);
    } else if (detail == SB_SNAP_FULL) {
        rc = take_live(out, s, earlier ? earlier : &start);
    } else {
        rc = take_light(out, s);
        if (rc == 0 && detail == SB_SNAP_CODES)
            rc = take_codes(out, s);
    }
    if (rc == 0)
        rc = sb__snap_take_metrics(out, s, detail != SB_SNAP_FINAL);
    if (rc)
        sb_snap_done(out);
    return rc;
}
