// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/op_reader.h"

#include <stdlib.h>
#include <string.h>

#include "measure/loads_private.h"
#include "measure/snap_private.h"

// An operation as it was at the last reading.
struct sb_op_source {
    struct sb_snap_op sum;       // its histogram is empty
    struct sb_hist_reader *hist; // one per shard
};

static void source_done(struct sb_op_source *o, unsigned shards)
{
    for (unsigned i = 0; o->hist && i < shards; i++)
        sb_hist_reader_done(&o->hist[i]);
    free(o->hist);
    o->hist = NULL;
}

static int source_init(struct sb_op_source *o, unsigned shards)
{
    int rc = 0;

    o->hist = calloc(shards, sizeof(*o->hist));
    if (!o->hist)
        return SB_ENOMEM;
    for (unsigned i = 0; rc == 0 && i < shards; i++)
        rc = sb_hist_reader_init(&o->hist[i]);
    if (rc)
        source_done(o, shards);
    return rc;
}

int sb_op_reader_init(struct sb_op_reader *r, struct sb_stats *s)
{
    *r = (struct sb_op_reader){ .stats = s };
    r->source = calloc(SB_OPS_MAX, sizeof(*r->source));
    r->op = calloc(SB_OPS_MAX, sizeof(*r->op));
    if (r->source && r->op)
        return 0;
    sb_op_reader_done(r);
    return SB_ENOMEM;
}

void sb_op_reader_done(struct sb_op_reader *r)
{
    for (unsigned i = 0; i < r->nops; i++) {
        source_done(&r->source[i], r->stats->shards);
        sb_hist_snap_done(&r->op[i].hist);
    }
    free(r->source);
    free(r->op);
    *r = (struct sb_op_reader){ 0 };
}

// Each counter has one writer and never decreases. A writer adds the time, then
// the count, then a hit or a miss; read in the opposite order, there are no
// more hits than executions, and no more executions than times.
static void sum_up(
    struct sb_snap_op *sum, const struct sb_op_tally *t, unsigned users)
{
    sum->min = UINT64_MAX;
    for (unsigned i = 0; i < users; i++) {
        uint64_t min, max;

        sum->hits += sb__load_first(&t[i].hits);
        sum->misses += sb__load_first(&t[i].misses);
        sum->count += sb__load_first(&t[i].count);
        sum->ns += sb__load_count(&t[i].ns);
        sum->errors += sb__load_count(&t[i].errors);
        sum->rows += sb__load_count(&t[i].rows);
        min = sb__load_count(&t[i].min);
        max = sb__load_count(&t[i].max);
        sum->min = min < sum->min ? min : sum->min;
        sum->max = max > sum->max ? max : sum->max;
    }
    sum->min = sum->min == UINT64_MAX ? 0 : sum->min;
}

static void sum_up_workload(
    struct sb_snap_op *sum, const struct sb_workload_tally *t, unsigned users)
{
    for (unsigned i = 0; i < users; i++) {
        sum->failed += sb__load_count(&t[i].failed);
        sum->restarts += sb__load_count(&t[i].restarts);
        sum->cut_short += sb__load_count(&t[i].cut_short);
    }
}

static void take_sums(struct sb_snap_op *op, struct sb_snap_op *last,
    const struct sb_op *of, unsigned users)
{
    struct sb_snap_op sum = { 0 };

    sum_up(&sum, of->tally, users);
    if (of->workload)
        sum_up_workload(&sum, of->workload, users);
    // If no execution was counted, the time of one that is not counted yet is
    // left to the next interval. If some were counted, it is only a part of the
    // sum.
    if (sum.count == last->count)
        sum.ns = last->ns;
    op->count = sum.count - last->count;
    op->errors = sum.errors - last->errors;
    op->ns = sum.ns - last->ns;
    op->hits = sum.hits - last->hits;
    op->misses = sum.misses - last->misses;
    op->rows = sum.rows - last->rows;
    op->failed = sum.failed - last->failed;
    op->restarts = sum.restarts - last->restarts;
    op->cut_short = sum.cut_short - last->cut_short;
    op->min = sum.min;
    op->max = sum.max;
    *last = sum;
}

static int take_op(struct sb_op_reader *r, unsigned n)
{
    struct sb_stats *s = r->stats;
    struct sb_snap_op *op = &r->op[n];
    struct sb_op_source *from = &r->source[n];
    int rc = 0;

    sb_hist_snap_clear(&op->hist);
    for (unsigned i = 0; rc == 0 && i < s->shards; i++)
        rc = sb_hist_reader_take(
            &from->hist[i], &s->op[n].shard[i], n == r->turn, &op->hist);
    take_sums(op, &from->sum, &s->op[n], s->users);
    if (op->hist.total > 0)
        sb__snap_bounds(&op->hist, &op->min, &op->max);
    else
        op->min = op->max = 0;
    return rc;
}

int sb_op_reader_take(struct sb_op_reader *r)
{
    unsigned n = atomic_load_explicit(&r->stats->nops, memory_order_acquire);
    int rc = 0;

    for (; rc == 0 && r->nops < n; r->nops += rc == 0)
        rc = source_init(&r->source[r->nops], r->stats->shards);
    for (unsigned i = 0; rc == 0 && i < r->nops; i++)
        rc = take_op(r, i);
    // Each operation is read completely in turn: a count whose flag was lost
    // shows after at most as many intervals as there are operations.
    r->turn = r->turn + 1 < r->nops ? r->turn + 1 : 0;
    return rc;
}
