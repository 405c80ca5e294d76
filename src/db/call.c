// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/call.h"

// An UPDATE or DELETE is recognized by the kind of the operation, because some
// servers answer it like BEGIN if it changed no row. An INSERT does not search
// rows.
static enum sb_found found_by(enum sb_op_kind kind, const struct sb_result *res)
{
    if (kind == SB_OP_WRITE)
        return SB_FOUND_UNKNOWN;
    if (res->kind == SB_RESULT_ROWS)
        return res->nrows > 0 ? SB_FOUND_ROWS : SB_FOUND_NOTHING;
    if (res->affected > 0 && res->kind == SB_RESULT_WRITE)
        return SB_FOUND_ROWS;
    if (kind == SB_OP_CHANGE && res->kind != SB_RESULT_UNKNOWN)
        return res->matched ? SB_FOUND_ROWS : SB_FOUND_NOTHING;
    return SB_FOUND_UNKNOWN;
}

// The rows that an execution returned or changed.
static uint64_t rows_of(const struct sb_result *res)
{
    if (res->kind == SB_RESULT_ROWS)
        return res->nrows;
    return res->kind == SB_RESULT_WRITE ? res->affected : 0;
}

void sb__call_count(struct sb_rec *rec, int op, const struct sb_result *res,
    uint64_t ns, uint64_t end_ns)
{
    sb_rec_op_found(rec, op, found_by(rec->stats->op[op].kind, res),
        rows_of(res), ns, end_ns);
    if (res->kind == SB_RESULT_ROWS)
        sb_tally_add(&rec->tally.reads, 1);
    else if (res->kind == SB_RESULT_WRITE && res->affected > 0)
        sb_tally_add(&rec->tally.writes, 1);
    else
        sb_tally_add(&rec->tally.others, 1);
}

uint64_t sb__call_delay(const struct sb_con_priv *c, struct sb_rec *rec,
    uint64_t took, uint64_t end_ns)
{
    struct sb_db_ctx *ctx = c->ctx;
    const struct sb_fiber_waits *w = ctx->waits;
    uint64_t ns = w->late < took ? w->late : took;

    // Several answers of a pipeline may have come at the end of one wait.
    if (w->count != ctx->delayed && rec && rec->client_delay)
        sb_rec_delay(rec, ns, end_ns);
    ctx->delayed = w->count;
    return ns;
}

void sb__call_prefetch(struct sb_con_priv *c, struct sb_rec *rec, int op)
{
    struct sb_db_ctx *ctx = c->ctx;
    struct sb_prefetch *p = ctx->prefetch;
    size_t driver = c->drv->conn_size;

    sb_prefetch_set(
        p, SB__PREFETCH_CONTEXT, ctx, offsetof(struct sb_db_ctx, lock));
    sb_prefetch_set(
        p, SB__PREFETCH_CONNECTION, c, offsetof(struct sb_con_priv, pipe.n));
    sb_prefetch_set(p, SB__PREFETCH_DRIVER_CONNECTION, c->conn,
        driver < SB_DRIVER_HOT_CONN ? driver : SB_DRIVER_HOT_CONN);
    if (op >= 0)
        sb_prefetch_set(p, SB__PREFETCH_OPERATION, sb_rec_op_tally(rec, op),
            sizeof(struct sb_op_tally));
    ctx->prefetched.conn = c->conn;
    ctx->prefetched.rec = rec;
    ctx->prefetched.op = op;
}

void sb__call_maybe_committed(struct sb_con_priv *c)
{
    const struct sb_generic_ops *g = c->drv->generic;

    // Within a pipeline, the driver knows only how it was before.
    if (c->pipe.state == SB__PIPE_NONE && g->open_transaction)
        c->wrote = g->open_transaction(c->conn) != NULL;
}

void sb__call_complete_error(struct sb_con_priv *c, int rc)
{
    if (c->err.code == 0)
        sb_err_set(&c->err, rc, "%s", sb_err_text(rc));
    c->err.code = rc;
}

int sb__call_failed(struct sb__call call, int rc, const struct sb__call_text *t)
{
    sb__call_count_error(&call);
    sb__call_complete_error(call.con, rc);
    return sb__error_report(call.con, t->what, t->sql, t->len);
}

int sb__call_end(struct sb__call call, int rc, const struct sb__call_text *t)
{
    struct sb_con_priv *c = call.con;

    sb__call_stop(&call);
    assert(call.end >= call.start);
    if (c->debug)
        sb__debug_stmt(
            c, call.end - call.start, t->sql, t->len, t->values, t->nvalues);
    if (rc)
        return sb__call_failed(call, rc, t);
    sb__call_succeeded(&call);
    return 0;
}

// The connection does not accept calls.
static int refuse_call(struct sb_con_priv *c)
{
    if (sb__call_is_refused(c)) {
        sb_err_set(&c->err, SB_ECANCELED, "the call was canceled");
        return sb__error_report(c, "query", "", 0);
    }
    if (c->state == SB__CON_AWAY) {
        sb_err_set(&c->err, SB_ELOST, "the connection was lost");
        return sb__error_report(c, "query", "", 0);
    }
    if (c->state == SB__CON_LOADING)
        return sb__error_usage(c, "the connection is loading a table");
    sb_log(SB_LOG_ALERT, "attempt to use an already closed connection");
    return sb__error_usage(c, "the connection is closed");
}

int sb__call_allowed(struct sb_con_priv *c)
{
    if (c->pub.error)
        sb__error_clear(c);
    if (SB_UNLIKELY(c->ctx->dropped != NULL))
        sb__handles_free(c->ctx);
    if (SB_UNLIKELY(c->state < SB__CON_BROKEN || sb__call_is_refused(c)))
        return refuse_call(c);
    return 0;
}

int sb__call_ready(struct sb_con_priv *c)
{
    int rc = sb__call_allowed(c);

    if (SB_UNLIKELY(rc))
        return rc;
    sb__result_end(c);
    // While a pipeline collects statements, nothing is executed.
    return SB_UNLIKELY(c->unsettled) && c->pipe.state != SB__PIPE_OPEN
               ? sb__children_settle(c)
               : 0;
}
