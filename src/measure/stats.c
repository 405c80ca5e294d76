// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/stats.h"

#include <assert.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "kit/hash.h"

#define SHARDS_MIN 8
#define SHARDS_MAX 64

_Static_assert(sizeof(struct sb_rec) % 64 == 0 &&
                   sizeof(struct sb_op_tally) == 64 &&
                   sizeof(struct sb_workload_tally) == 64,
    "users must not share a cache line of counters");
_Static_assert(
    SB_OPS_MAX < SB__LATER_DELAY, "operations fit an entry of sb_rec.later");

// One per shard. Returns NULL if out of memory.
static struct sb_hist *hists_new(const struct sb_stats *s)
{
    return sb_hists_new(s->shards, s->users > s->shards);
}

// Rounded up to cache lines, so that no two users write to the same one.
static void *lines_alloc(size_t size)
{
    void *p;

    size = (size + 63) & ~(size_t)63;
    p = aligned_alloc(64, size);
    if (p)
        memset(p, 0, size);
    return p;
}

// One per user. Returns NULL if out of memory.
static struct sb_op_tally *tallies_new(const struct sb_stats *s)
{
    struct sb_op_tally *t = lines_alloc(s->users * sizeof(*t));

    for (unsigned i = 0; t && i < s->users; i++)
        atomic_init(&t[i].min, UINT64_MAX);
    return t;
}

static void rec_init(struct sb_rec *r, struct sb_stats *s, unsigned user)
{
    r->stats = s;
    r->user = user;
    r->codes = &s->codes[(size_t)user * SB_CODES_MAX];
    r->shard = user % s->shards;
    r->service = &s->service[r->shard];
    if (s->open_loop) {
        r->response = &s->response[r->shard];
        r->lag = &s->lag[r->shard];
    }
    atomic_init(&r->tally.service_min, UINT64_MAX);
    atomic_init(&r->tally.response_min, UINT64_MAX);
    atomic_init(&r->tally.lag_min, UINT64_MAX);
    atomic_init(&r->tally.client_delay_min, UINT64_MAX);
}

static int hists_init(struct sb_stats *s)
{
    s->service = hists_new(s);
    s->others = hists_new(s);
    s->others_tally = tallies_new(s);
    if (!s->service || !s->others || !s->others_tally)
        return SB_ENOMEM;
    if (!s->open_loop)
        return 0;
    s->response = hists_new(s);
    s->lag = hists_new(s);
    return s->response && s->lag ? 0 : SB_ENOMEM;
}

unsigned sb_stats_shards(unsigned users, unsigned processors)
{
    unsigned max = processors < SHARDS_MAX / 4 ? 4 * processors : SHARDS_MAX;

    if (max < SHARDS_MIN)
        max = SHARDS_MIN;
    return users < max ? users : max;
}

int sb_stats_init(
    struct sb_stats *s, unsigned users, unsigned shards, bool open_loop)
{
    int rc = SB_ENOMEM;

    assert(users > 0 && shards > 0 && shards <= users);
    memset(s, 0, sizeof(*s));
    s->users = users;
    s->shards = shards;
    s->open_loop = open_loop;
    pthread_mutex_init(&s->op_lock, NULL);
    s->rec = lines_alloc(users * sizeof(*s->rec));
    s->codes = calloc((size_t)users * SB_CODES_MAX, sizeof(*s->codes));
    if (!s->rec || !s->codes || hists_init(s) ||
        sb_metrics_init(&s->metrics, users, shards))
        goto out;
    rc = 0;
    for (unsigned i = 0; i < users; i++)
        rec_init(&s->rec[i], s, i);
out:
    if (rc)
        sb_stats_done(s);
    return rc;
}

int sb_stats_add_delays(struct sb_stats *s)
{
    assert(!s->client_delay);
    s->client_delay = hists_new(s);
    if (!s->client_delay)
        return SB_ENOMEM;
    for (unsigned i = 0; i < s->users; i++)
        s->rec[i].client_delay = &s->client_delay[s->rec[i].shard];
    return 0;
}

void sb_stats_done(struct sb_stats *s)
{
    if (s->users == 0)
        return;
    for (unsigned i = 0; i < SB_OPS_MAX; i++) {
        sb_hists_free(s->op[i].shard, s->shards);
        free(s->op[i].tally);
        free(s->op[i].workload);
    }
    sb_hists_free(s->service, s->shards);
    sb_hists_free(s->response, s->shards);
    sb_hists_free(s->lag, s->shards);
    sb_hists_free(s->client_delay, s->shards);
    sb_hists_free(s->others, s->shards);
    free(s->others_tally);
    sb_metrics_done(&s->metrics);
    free(s->codes);
    free(s->rec);
    pthread_mutex_destroy(&s->op_lock);
    memset(s, 0, sizeof(*s));
}

static uint32_t hash_of(const char *name)
{
    return (uint32_t)sb_hash(name, strlen(name));
}

static int op_find(const struct sb_stats *s, const char *name,
    enum sb_op_kind kind, uint32_t n)
{
    uint32_t hash = hash_of(name);
    bool workload = kind == SB_OP_WORKLOAD;

    for (uint32_t i = 0; i < n; i++) {
        if (s->op_hash[i] == hash &&
            (s->op[i].kind == SB_OP_WORKLOAD) == workload &&
            strcmp(s->op[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

static bool is_rest(const struct sb_stats *s, uint32_t n)
{
    return n > 0 && strcmp(s->op[n - 1].name, SB_OPS_REST) == 0;
}

bool sb_stats_full(const struct sb_stats *s)
{
    return is_rest(s, atomic_load_explicit(&s->nops, memory_order_acquire));
}

// The number of operations that have names: each needs memory for each user, so
// that thousands of users have fewer.
static uint32_t room_of(const struct sb_stats *s)
{
    enum { MIN = 249, BYTES = 64 << 20 };
    size_t room = BYTES / (s->users * sizeof(struct sb_op_tally));

    if (room < MIN)
        return MIN;
    return room < SB_OPS_MAX - 1 ? (uint32_t)room : SB_OPS_MAX - 1;
}

// Call with op_lock held. The histograms of SB_OPS_REST were allocated at the
// start, so that a run continues without memory for another operation.
static void op_add(
    struct sb_stats *s, const char *name, enum sb_op_kind kind, uint32_t n)
{
    struct sb_op *op = &s->op[n];
    struct sb_op_tally *t = n < room_of(s) ? tallies_new(s) : NULL;
    struct sb_hist *h = NULL;

    assert(n < SB_OPS_MAX && s->others && s->others_tally);
    if (t && kind == SB_OP_WORKLOAD)
        op->workload = lines_alloc(s->users * sizeof(*op->workload));
    if (t && (kind != SB_OP_WORKLOAD || op->workload))
        h = hists_new(s);
    if (!h) {
        free(op->workload);
        op->workload = NULL;
        free(t);
        h = s->others;
        t = s->others_tally;
        s->others = NULL;
        s->others_tally = NULL;
        name = SB_OPS_REST;
        kind = SB_OP_OTHER;
    }
    op->shard = h;
    op->tally = t;
    op->kind = kind;
    snprintf(op->name, sizeof(op->name), "%s", name);
    s->op_hash[n] = hash_of(name);
    atomic_store_explicit(&s->nops, n + 1, memory_order_release);
}

void sb_stats_twin(struct sb_stats *primary, struct sb_stats *twin)
{
    assert(primary->nops == 0 && twin->nops == 0);
    primary->twin = twin;
    twin->primary = primary;
    sb_metrics_twin(&primary->metrics, &twin->metrics);
}

// Registers a name under the same number in both twins. If either is full,
// returns SB_OPS_REST.
static int op_add_both(
    struct sb_stats *s, const char *name, enum sb_op_kind kind, uint32_t n)
{
    if (!s->others || (s->twin && !s->twin->others))
        return (int)n - 1;
    if (s->twin)
        op_add(s->twin, name, kind, n);
    op_add(s, name, kind, n);
    return (int)n;
}

int sb_stats_op(struct sb_stats *s, const char *text, enum sb_op_kind kind)
{
    char name[sizeof(s->op[0].name)];
    uint32_t n;
    int op;

    sb_utf8_name(name, sizeof(name), text);
    s = s->primary ? s->primary : s;
    n = atomic_load_explicit(&s->nops, memory_order_acquire);
    op = op_find(s, name, kind, n);
    if (op < 0 && is_rest(s, n))
        op = (int)n - 1;
    if (op >= 0)
        return op;
    pthread_mutex_lock(&s->op_lock);
    n = atomic_load_explicit(&s->nops, memory_order_relaxed);
    op = op_find(s, name, kind, n);
    if (op < 0)
        op = op_add_both(s, name, kind, n);
    pthread_mutex_unlock(&s->op_lock);
    return op;
}

bool sb_rec_enter(struct sb_rec *r)
{
    uint32_t open = SB_REC_OPEN;

    return atomic_compare_exchange_strong_explicit(&r->gate, &open,
        SB_REC_INSIDE, memory_order_acquire, memory_order_relaxed);
}

void sb_rec_leave(struct sb_rec *r)
{
    atomic_store_explicit(&r->gate, SB_REC_OPEN, memory_order_release);
}

void sb_rec_close(struct sb_rec *r)
{
    uint32_t seen = SB_REC_OPEN;

    while (!atomic_compare_exchange_weak_explicit(&r->gate, &seen,
               SB_REC_CLOSED, memory_order_acquire, memory_order_relaxed) &&
           seen != SB_REC_CLOSED) {
        seen = SB_REC_OPEN;
        sched_yield();
    }
}

struct sb_op_tally *sb_rec_op_tally(const struct sb_rec *r, int op)
{
    return &r->stats->op[op].tally[r->user];
}

// As sb_tally_add(), with release: a reader that sees the sum with acquire also
// sees all that the writer did before.
static void publish(_Atomic uint64_t *c, uint64_t n)
{
    atomic_store_explicit(c, atomic_load_explicit(c, memory_order_relaxed) + n,
        memory_order_release);
}

// count: of times in the histogram. It is published after the histogram, so it
// never exceeds the number of times in the histogram. NULL: the times are not
// counted. Inlined, because a call costs ten instructions for each event.
static inline __attribute__((always_inline)) void record_time(struct sb_hist *h,
    _Atomic uint64_t *sum, _Atomic uint64_t *min, _Atomic uint64_t *max,
    _Atomic uint64_t *count, uint64_t ns)
{
    if (ns < atomic_load_explicit(min, memory_order_relaxed))
        atomic_store_explicit(min, ns, memory_order_relaxed);
    if (ns > atomic_load_explicit(max, memory_order_relaxed))
        atomic_store_explicit(max, ns, memory_order_relaxed);
    sb_tally_add(sum, ns);
    sb_hist_record(h, ns);
    if (count)
        publish(count, 1);
}

static void record_service(struct sb_rec *r, uint64_t ns)
{
    struct sb_tally *t = &r->tally;

    record_time(r->service, &t->service_ns, &t->service_min, &t->service_max,
        &t->recorded, ns);
}

void sb_rec_event(
    struct sb_rec *r, uint64_t arrival, uint64_t start, uint64_t end)
{
    struct sb_tally *t = &r->tally;

    sb_tally_add(&t->completed, 1);
    if (r->response) {
        record_time(r->response, &t->response_ns, &t->response_min,
            &t->response_max, NULL, end - arrival);
        record_time(r->lag, &t->lag_ns, &t->lag_min, &t->lag_max, NULL,
            start - arrival);
    }
    record_service(r, end - start); // last: it publishes `recorded`
}

static inline void record_op(
    struct sb_rec *r, int op, enum sb_found found, uint64_t rows, uint64_t ns)
{
    struct sb_op_tally *t = sb_rec_op_tally(r, op);

    record_time(&r->stats->op[op].shard[r->shard], &t->ns, &t->min, &t->max,
        &t->count, ns);
    if (rows)
        sb_tally_add(&t->rows, rows);
    if (found == SB_FOUND_ROWS)
        publish(&t->hits, 1);
    else if (found == SB_FOUND_NOTHING)
        publish(&t->misses, 1);
}

void sb__rec_op(
    struct sb_rec *r, int op, enum sb_found found, uint64_t rows, uint64_t ns)
{
    record_op(r, op, found, rows, ns);
}

void sb_rec_op(struct sb_rec *r, int op, uint64_t ns)
{
    sb__rec_op(r, op, SB_FOUND_UNKNOWN, 0, ns);
}

static void record_delay(struct sb_rec *r, uint64_t ns)
{
    struct sb_tally *t = &r->tally;

    record_time(r->client_delay, &t->client_delay_ns, &t->client_delay_min,
        &t->client_delay_max, &t->client_delays, ns);
}

struct sb__later sb__rec_later_of(uint64_t word)
{
    return (struct sb__later){
        .ns = word & ((UINT64_C(1) << SB__LATER_NS) - 1),
        .op = (word >> SB__LATER_NS) & SB__LATER_DELAY,
        .found = (enum sb_found)((word >> (SB__LATER_NS + SB__LATER_OP)) &
                                 ((1u << SB__LATER_FOUND) - 1)),
        .rows = word >> (SB__LATER_NS + SB__LATER_OP + SB__LATER_FOUND),
    };
}

static void record_later(struct sb_rec *r, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct sb__later v = sb__rec_later_of(
            atomic_load_explicit(&r->later[i], memory_order_relaxed));

        if (v.op == SB__LATER_DELAY)
            record_delay(r, v.ns);
        else if (v.op)
            record_op(r, (int)v.op - 1, v.found, v.rows, v.ns);
        else
            record_service(r, v.ns);
    }
}

void sb_rec_flush(struct sb_rec *r)
{
    uint32_t n = atomic_load_explicit(&r->nlater, memory_order_relaxed);

    if (sb_rec_enter(r)) {
        record_later(r, n);
        atomic_store_explicit(&r->nlater, 0, memory_order_release);
        sb_rec_leave(r);
    } else if (n == SB_REC_LATER) {
        // SB_REC_CLOSED: the last report reads the times held back. To make
        // room, the next time overwrites the newest of them.
        atomic_store_explicit(&r->nlater, n - 1, memory_order_relaxed);
    }
}

void sb_rec_delay(struct sb_rec *r, uint64_t ns, uint64_t now_ns)
{
    r->delayed += ns;
    if (ns >> SB__LATER_NS)
        record_delay(r, ns);
    else
        sb__rec_hold(r, SB__LATER_DELAY, ns, now_ns);
}

static struct sb_code_tally *code_find(
    struct sb_rec *r, const char *driver, const struct sb_err *err, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct sb_code_tally *c = &r->codes[i];

        if (c->native == err->native && strcmp(c->state, err->state) == 0 &&
            strncmp(c->driver, driver, sizeof(c->driver) - 1) == 0)
            return c;
    }
    return n == SB_CODES_MAX ? &r->codes[n - 1] : NULL;
}

void sb_rec_code(struct sb_rec *r, const char *driver, const struct sb_err *err,
    uint64_t times, uint64_t now_ns)
{
    uint32_t n = atomic_load_explicit(&r->ncodes, memory_order_relaxed);
    struct sb_code_tally *c = code_find(r, driver, err, n);

    if (!c) {
        bool rest = n == SB_CODES_MAX - 1;

        assert(n < SB_CODES_MAX);
        c = &r->codes[n];
        c->native = rest ? 0 : err->native;
        snprintf(c->state, sizeof(c->state), "%s", rest ? "" : err->state);
        snprintf(
            c->driver, sizeof(c->driver), "%s", rest ? SB_OPS_REST : driver);
        snprintf(c->sample, sizeof(c->sample), "%.*s",
            (int)sizeof(c->sample) - 1, err->msg);
        c->first_ns = now_ns;
        atomic_store_explicit(&r->ncodes, n + 1, memory_order_release);
    }
    sb_tally_add(&c->count, times);
    if (sb_err_is_loss(err))
        sb_tally_add(&c->lost, times);
    r->open_errors += times;
}

void sb_rec_error(struct sb_rec *r, int op, const char *driver,
    const struct sb_err *err, uint64_t now_ns)
{
    if (op >= 0)
        sb_tally_add(&sb_rec_op_tally(r, op)->errors, 1);
    sb_rec_code(r, driver, err, 1, now_ns);
}

void sb_rec_settle(struct sb_rec *r, enum sb_fate last,
    const struct sb_err *err, uint64_t now_ns)
{
    static const struct sb_err none = { .msg = "error raised by the script" };
    struct sb_tally *t = &r->tally;
    _Atomic uint64_t *counter[] = {
        [SB_FATE_IGNORED] = &t->err_ignored,
        [SB_FATE_RESTARTED] = &t->err_restarted,
        [SB_FATE_GIVENUP] = &t->err_givenup,
        [SB_FATE_FATAL] = &t->err_fatal,
    };

    if (r->open_errors == 0) {
        if (last == SB_FATE_IGNORED)
            return;
        sb_rec_code(r, "script", err ? err : &none, 1, now_ns);
    }
    if (r->workload)
        sb_tally_add(
            &sb_rec_op_tally(r, r->workload - 1)->errors, r->open_errors);
    sb_tally_add(&t->err_ignored, r->open_errors - 1);
    sb_tally_add(counter[last], 1);
    r->open_errors = 0;
}

// NULL without a mix, or if the workload is counted under SB_OPS_REST.
static struct sb_workload_tally *workload_tally(const struct sb_rec *r)
{
    struct sb_workload_tally *w = NULL;

    if (r->workload)
        w = r->stats->op[r->workload - 1].workload;
    return w ? &w[r->user] : NULL;
}

void sb_rec_failed(struct sb_rec *r, bool cut_short)
{
    struct sb_workload_tally *w = workload_tally(r);

    if (w) {
        sb_tally_add(&w->failed, 1);
        sb_tally_add(&w->cut_short, cut_short);
    }
    sb_tally_add(&r->tally.failed, 1);
    sb_tally_add(&r->tally.cut_short, cut_short);
}

void sb_rec_restarted(struct sb_rec *r)
{
    struct sb_workload_tally *w = workload_tally(r);

    if (w)
        sb_tally_add(&w->restarts, 1);
    sb_tally_add(&r->tally.restarts, 1);
    sb_tally_add(&r->tally.tries, 1);
}
