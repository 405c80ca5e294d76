// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/snap_wire.h"

#include <stdlib.h>

#include "measure/snap.h"
#include "measure/snap_private.h"

// Writing ---------------------------------------------------------------------

// Each bucket is written as its distance from the one before, and its count.
struct buckets {
    struct sb_buf *b;
    uint32_t next; // after the last bucket that was written
};

static void put_line(struct buckets *to, uint32_t first, const uint64_t *n)
{
    for (uint32_t i = 0; i < SB_HIST_LINE; i++) {
        if (n[i] == 0)
            continue;
        sb_wire_put(to->b, first + i + 1 - to->next);
        sb_wire_put(to->b, n[i]);
        to->next = first + i + 1;
    }
}

// A distance of 0 ends the list.
static void put_hist(struct sb_buf *b, const struct sb_hist_snap *h)
{
    struct buckets to = { b, 0 };

    for (uint32_t c = 0; c < SB_HIST_CHUNKS; c++) {
        const struct sb_hist_chunk *chunk = h->chunk[c];

        if (!chunk || chunk->total == 0)
            continue;
        for (uint64_t lines = chunk->lines; lines; lines &= lines - 1) {
            uint32_t i = (uint32_t)__builtin_ctzll(lines) * SB_HIST_LINE;

            put_line(&to, c * SB_HIST_CHUNK + i, chunk->n + i);
        }
    }
    sb_wire_put(b, 0);
}

static void put_numbers(struct sb_buf *b, const uint64_t *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sb_wire_put(b, v[i]);
}

static void put_events(struct sb_buf *b, const struct sb_snap *s)
{
    const uint64_t numbers[] = { s->ns, s->scheduled, s->skipped, s->unfinished,
        s->queue, s->running, s->service_min, s->service_max, s->response_min,
        s->response_max, s->lag_min, s->lag_max, s->client_delay_min,
        s->client_delay_max, s->has_client_delay };

    put_numbers(b, numbers, sizeof(numbers) / sizeof(numbers[0]));
#define X(name) sb_wire_put(b, s->c.name);
    SB_COUNTER_MAP(X)
#undef X
    put_hist(b, &s->service);
    put_hist(b, &s->response);
    put_hist(b, &s->lag);
    put_hist(b, &s->client_delay);
}

static void put_users(struct sb_buf *b, const struct sb_snap *s)
{
    unsigned n = s->user_events ? s->users : 0;

    sb_wire_put(b, n);
    for (unsigned i = 0; i < n; i++) {
        sb_wire_put(b, s->user_events[i]);
        sb_wire_put(b, s->user_ns[i]);
        sb_wire_put(b, s->user_min[i]);
        sb_wire_put(b, s->user_max[i]);
    }
}

static void put_codes(struct sb_buf *b, const struct sb_snap *s)
{
    sb_wire_put(b, s->ncodes);
    for (unsigned i = 0; i < s->ncodes; i++) {
        const struct sb_snap_code *c = &s->code[i];

        sb_wire_put_signed(b, c->native);
        sb_wire_put_text(b, c->state);
        sb_wire_put_text(b, c->driver);
        sb_wire_put_text(b, c->sample);
        sb_wire_put(b, c->first_ns);
        sb_wire_put(b, c->count);
        sb_wire_put(b, c->lost);
    }
}

static void put_operation(
    struct sb_buf *b, const struct sb_snap_op *op, const struct sb_op *of)
{
    const uint64_t numbers[] = { op->count, op->errors, op->ns, op->min,
        op->max, op->hits, op->misses, op->rows, op->failed, op->restarts,
        op->cut_short };

    sb_wire_put_text(b, of->name);
    sb_wire_put(b, of->kind);
    put_numbers(b, numbers, sizeof(numbers) / sizeof(numbers[0]));
    put_hist(b, &op->hist);
}

static void put_operations(
    struct sb_buf *b, const struct sb_snap *s, const struct sb_stats *stats)
{
    unsigned n = 0;

    for (unsigned i = 0; s->op && i < s->nops; i++)
        n += sb_snap_op_occurred(&s->op[i]);
    sb_wire_put(b, n);
    for (unsigned i = 0; n && i < s->nops; i++)
        if (sb_snap_op_occurred(&s->op[i]))
            put_operation(b, &s->op[i], &stats->op[i]);
}

static void put_metric(struct sb_buf *b, const struct sb_snap_metric *m,
    const struct sb_metric *of)
{
    sb_wire_put_text(b, of->name);
    sb_wire_put_text(b, of->unit);
    sb_wire_put_text(b, of->help);
    sb_wire_put(b, of->kind);
    sb_wire_put_double(b, of->scale);
    sb_wire_put(b, m->count);
    sb_wire_put_double(b, m->value);
    sb_wire_put_double(b, m->min);
    sb_wire_put_double(b, m->max);
    put_hist(b, &m->hist);
}

void sb_snap_write(
    struct sb_buf *b, const struct sb_snap *s, const struct sb_stats *stats)
{
    put_events(b, s);
    put_users(b, s);
    put_codes(b, s);
    put_operations(b, s, stats);
    sb_wire_put(b, s->nmetrics);
    for (unsigned i = 0; i < s->nmetrics; i++)
        put_metric(b, &s->metric[i], &stats->metrics.metric[i]);
}

// Reading ---------------------------------------------------------------------

static int invalid(struct sb_wire *w)
{
    w->bad = true;
    return SB_EINTERNAL;
}

static int get_hist(struct sb_wire *w, struct sb_hist_snap *h)
{
    uint64_t next = 0, distance;
    int rc = 0;

    while (rc == 0 && (distance = sb_wire_get(w)) > 0) {
        if (distance > SB_HIST_BUCKETS - next)
            return invalid(w);
        next += distance;
        rc = sb_hist_snap_put(h, (uint32_t)(next - 1), sb_wire_get(w));
    }
    return rc;
}

static int get_events(struct sb_wire *w, struct sb_snap *s)
{
    uint64_t *const numbers[] = { &s->ns, &s->scheduled, &s->skipped,
        &s->unfinished, &s->queue, NULL, &s->service_min, &s->service_max,
        &s->response_min, &s->response_max, &s->lag_min, &s->lag_max,
        &s->client_delay_min, &s->client_delay_max };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        uint64_t v = sb_wire_get(w);

        if (numbers[i])
            *numbers[i] = v;
        else
            s->running = (unsigned)v;
    }
    s->has_client_delay = sb_wire_get(w) != 0;
#define X(name) s->c.name = sb_wire_get(w);
    SB_COUNTER_MAP(X)
#undef X
    int rc = get_hist(w, &s->service);
    if (rc == 0)
        rc = get_hist(w, &s->response);
    if (rc == 0)
        rc = get_hist(w, &s->lag);
    return rc ? rc : get_hist(w, &s->client_delay);
}

static int get_users(struct sb_wire *w, struct sb_snap *s)
{
    uint64_t n = sb_wire_get(w);

    // Each user takes four bytes or more.
    if (n > (size_t)(w->end - w->at) / 4)
        return invalid(w);
    if (n == 0)
        return 0;
    s->user_events = calloc(n, sizeof(uint64_t));
    s->user_ns = calloc(n, sizeof(uint64_t));
    s->user_min = calloc(n, sizeof(uint64_t));
    s->user_max = calloc(n, sizeof(uint64_t));
    if (!s->user_events || !s->user_ns || !s->user_min || !s->user_max)
        return SB_ENOMEM;
    s->users = (unsigned)n;
    for (unsigned i = 0; i < s->users; i++) {
        s->user_events[i] = sb_wire_get(w);
        s->user_ns[i] = sb_wire_get(w);
        s->user_min[i] = sb_wire_get(w);
        s->user_max[i] = sb_wire_get(w);
    }
    return 0;
}

static int get_codes(struct sb_wire *w, struct sb_snap *s)
{
    uint64_t n = sb_wire_get(w);

    for (uint64_t i = 0; i < n && !w->bad; i++) {
        struct sb_snap_code *c = sb__snap_code_new(s);

        if (!c)
            return SB_ENOMEM;
        c->native = (int)sb_wire_get_signed(w);
        sb_wire_get_text(w, c->state, sizeof(c->state));
        sb_wire_get_text(w, c->driver, sizeof(c->driver));
        sb_wire_get_text(w, c->sample, sizeof(c->sample));
        c->first_ns = sb_wire_get(w);
        c->count = sb_wire_get(w);
        c->lost = sb_wire_get(w);
    }
    return 0;
}

// Reads the part that needs no names, which comes first, and adds it as a
// snapshot.
static int add_plain(struct sb_wire *w, struct sb_snap *to,
    struct sb_stats *to_stats, uint64_t later_ns, struct sb_err *err)
{
    struct sb_snap s = { 0 };
    int rc = get_events(w, &s);

    if (rc == 0)
        rc = get_users(w, &s);
    if (rc == 0)
        rc = get_codes(w, &s);
    if (rc == 0 && w->bad)
        rc = SB_EINTERNAL;
    if (rc == 0)
        rc = sb_snap_add(to, to_stats, &s, to_stats, later_ns, err);
    sb_snap_done(&s);
    return rc;
}

static int add_operation(struct sb_wire *w, struct sb_snap *to,
    struct sb_stats *to_stats, struct sb_snap_op *op)
{
    uint64_t *const numbers[] = { &op->count, &op->errors, &op->ns, &op->min,
        &op->max, &op->hits, &op->misses, &op->rows, &op->failed, &op->restarts,
        &op->cut_short };
    char name[sizeof(to_stats->op[0].name)];

    sb_wire_get_text(w, name, sizeof(name));
    uint64_t kind = sb_wire_get(w);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        *numbers[i] = sb_wire_get(w);
    sb_hist_snap_clear(&op->hist);
    int rc = get_hist(w, &op->hist);

    if (rc == 0 && (w->bad || kind > SB_OP_WORKLOAD))
        rc = invalid(w);
    return rc ? rc
              : sb_snap_add_op(to, to_stats, name, (enum sb_op_kind)kind, op);
}

static int add_operations(
    struct sb_wire *w, struct sb_snap *to, struct sb_stats *to_stats)
{
    struct sb_snap_op op = { 0 }; // keeps its memory
    uint64_t n = sb_wire_get(w);
    int rc = 0;

    for (uint64_t i = 0; rc == 0 && i < n && !w->bad; i++)
        rc = add_operation(w, to, to_stats, &op);
    sb_hist_snap_done(&op.hist);
    return rc;
}

static int add_metric(struct sb_wire *w, struct sb_snap *to,
    struct sb_stats *to_stats, struct sb_err *err)
{
    struct sb_metric of = { 0 };
    struct sb_snap_metric m = { 0 };

    sb_wire_get_text(w, of.name, sizeof(of.name));
    sb_wire_get_text(w, of.unit, sizeof(of.unit));
    sb_wire_get_text(w, of.help, sizeof(of.help));
    uint64_t kind = sb_wire_get(w);
    m.scale = sb_wire_get_double(w);
    m.count = sb_wire_get(w);
    m.value = sb_wire_get_double(w);
    m.min = sb_wire_get_double(w);
    m.max = sb_wire_get_double(w);
    int rc = get_hist(w, &m.hist);

    if (rc == 0 && (w->bad || kind > SB_METRIC_REST))
        rc = invalid(w);
    m.kind = (enum sb_metric_kind)kind;
    const struct sb_metric_def def = { .name = of.name,
        .kind = m.kind == SB_METRIC_REST ? SB_METRIC_COUNTER : m.kind,
        .unit = of.unit,
        .help = of.help,
        .largest = sb_metric_largest(m.scale) };

    if (rc == 0)
        rc = sb_snap_add_metric(to, to_stats, &def, &m, err);
    sb_hist_snap_done(&m.hist);
    return rc;
}

int sb_snap_read_add(struct sb_wire *w, struct sb_snap *to,
    struct sb_stats *to_stats, uint64_t later_ns, struct sb_err *err)
{
    int rc = add_plain(w, to, to_stats, later_ns, err);

    if (rc == 0)
        rc = add_operations(w, to, to_stats);
    uint64_t n = rc == 0 ? sb_wire_get(w) : 0;
    for (uint64_t i = 0; rc == 0 && i < n && !w->bad; i++)
        rc = add_metric(w, to, to_stats, err);
    if (rc == SB_EINTERNAL || w->bad)
        return sb_err_set(err, SB_EINTERNAL, "invalid data of another rank");
    return rc == SB_ENOMEM ? sb_err_set(err, rc, "out of memory") : rc;
}
