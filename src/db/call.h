// SPDX-License-Identifier: GPL-2.0-or-later
//
// A call of a driver: a statement or command that is executed on a connection
// begins and ends here. It is timed and counted, and what the driver returned
// becomes the error that a script reads. Fetching is part of no call: its
// errors go to sb__error_report() directly, as do those of rollbacks, which are
// not operations, and of loads, whose operation is that of the whole load.
//
//     rc = sb__call_ready(c);
//     ...
//     call = sb__call_begin(c, rec, op);
//     rc = ...(c->conn, ..., &c->res, &c->err);
//     if (sb__call_ends_well(&call, rc))
//         return 0;
//     return sb__call_end(call, rc, &text);
#ifndef SB_CALL_H
#define SB_CALL_H

#include "base/likely.h"
#include "base/log.h"
#include "db/con.h"
#include "loop/prefetch.h"

// The ranges that the user's fiber uses after a call (loop/prefetch.h).
enum sb__prefetch {
    SB__PREFETCH_CONTEXT = SB_PREFETCH_CALLS,
    SB__PREFETCH_CONNECTION,
    SB__PREFETCH_DRIVER_CONNECTION,
    SB__PREFETCH_OPERATION,
    SB__PREFETCH_STATEMENT,
    SB__PREFETCH_DRIVER_STATEMENT,
    SB__PREFETCH_VALUES,
    SB__PREFETCH_PARAMETER
};
static_assert(
    (int)SB__PREFETCH_PARAMETER < (int)SB_PREFETCH_SLOTS, "ranges of calls");

// The current recorder, or NULL.
static inline struct sb_rec *sb__rec(const struct sb_con_priv *c)
{
    return c->ctx->rec ? *c->ctx->rec : NULL;
}

static inline uint64_t sb__now(const struct sb_con_priv *c)
{
    return sb_clock_now(c->ctx->clock);
}

struct sb__call {
    struct sb_con_priv *con;
    struct sb_rec *rec; // NULL: not counted
    int op;             // -1: neither its time nor its result is counted
    uint64_t start;     // 0: it is not timed
    uint64_t end;       // 0 until it has ended; without the client delay
    uint64_t waits;     // of the user's fiber when the call began
};

// What was executed, for messages.
struct sb__call_text {
    const char *what; // "query", "command"
    const char *sql;
    size_t len;
    const struct sb_value *values;
    uint32_t nvalues;
};

// Whether calls fail because the run is over for this user: sb_db_ctx_end().
static inline bool sb__call_is_refused(const struct sb_con_priv *c)
{
    return atomic_load_explicit(&c->ctx->ended, memory_order_relaxed);
}

// Prepares the connection for another call: ends the last result, clears the
// last error, and lets the children settle. 0, also if the server is gone but
// the connection was not closed yet: the call then fails. SB_EUSAGE if the
// connection is loading, or closed (which is logged); if it was lost and
// closed, the error of a loss, which is counted; SB_ECANCELED after
// sb_db_ctx_end(); or the error of a child.
int sb__call_ready(struct sb_con_priv *c);
// As sb__call_ready(), for a call that does not use the server: the last result
// stays open, and the children do not settle.
int sb__call_allowed(struct sb_con_priv *c);
// Logs and counts the failure of a call. Returns the code of its error.
int sb__call_failed(
    struct sb__call call, int rc, const struct sb__call_text *text);
// Counts an execution of op that took ns and ended at end_ns: by its result as
// a read, a write or another query, and as a hit or a miss.
void sb__call_count(struct sb_rec *rec, int op, const struct sb_result *res,
    uint64_t ns, uint64_t end_ns);
// Ends a call with what the driver returned. 0 or SB_E*, as the error of the
// connection. `call` is a value, so that it stays in registers where the common
// case does not come here.
int sb__call_end(
    struct sb__call call, int rc, const struct sb__call_text *text);
// Completes the error of a connection, in case the driver did not fill it.
void sb__call_complete_error(struct sb_con_priv *c, int rc);

// Returns the client delay of a call that has waited on an event loop: how long
// its user did not run although the kernel had reported the answer. Only the
// last wait counts. Records it, once for each wait. took: from the start of the
// call to end_ns, in ns.
uint64_t sb__call_delay(const struct sb_con_priv *c, struct sb_rec *rec,
    uint64_t took, uint64_t end_ns);

// The number of waits of the user so far; 0 without an event loop.
static inline uint64_t sb__call_waits(const struct sb_con_priv *c)
{
    return SB_UNLIKELY(c->ctx->waits != NULL) ? c->ctx->waits->count : 0;
}

// Sets what the user's fiber uses when a call has been answered.
void sb__call_prefetch(struct sb_con_priv *c, struct sb_rec *rec, int op);

static inline bool sb__call_is_prefetched(
    const struct sb_con_priv *c, const struct sb_rec *rec, int op)
{
    const struct sb_db_ctx *ctx = c->ctx;

    return !ctx->prefetch ||
           (ctx->prefetched.conn == c->conn && ctx->prefetched.rec == rec &&
               ctx->prefetched.op == op);
}

// A call that began at `since`; 0: it is not timed. rec: NULL if it is not to
// be counted.
static inline struct sb__call sb__call_since(
    struct sb_con_priv *c, struct sb_rec *rec, int op, uint64_t since)
{
    if (SB_UNLIKELY(!sb__call_is_prefetched(c, rec, op)))
        sb__call_prefetch(c, rec, op);
    return (struct sb__call){ .con = c,
        .rec = rec,
        .op = op,
        .start = since,
        .waits = sb__call_waits(c) };
}

// Begins a call that leaves a result in c->res.
static inline struct sb__call sb__call_begin(
    struct sb_con_priv *c, struct sb_rec *rec, int op)
{
    c->res = (struct sb_result){ 0 };
    return sb__call_since(c, rec, op, rec || c->debug ? sb__now(c) : 0);
}

// The call has ended now, if it had not ended before.
static inline void sb__call_stop(struct sb__call *call)
{
    if (call->start && call->end == 0) {
        call->end = sb__now(call->con);
        if (SB_UNLIKELY(sb__call_waits(call->con) != call->waits))
            call->end -= sb__call_delay(
                call->con, call->rec, call->end - call->start, call->end);
    }
}

// Counts a failed call of its operation.
static inline void sb__call_count_error(const struct sb__call *call)
{
    if (call->op >= 0)
        sb_tally_add(&sb_rec_op_tally(call->rec, call->op)->errors, 1);
}

// After a call that changed no rows, such as COMMIT: what the connection wrote
// before is safe if no transaction is open.
void sb__call_maybe_committed(struct sb_con_priv *c);

// Whether a statement that writes has returned rows: INSERT ... RETURNING.
static inline bool sb__call_returns_writes(const struct sb__call *call)
{
    enum sb_op_kind kind;

    if (call->con->res.kind != SB_RESULT_ROWS || call->op < 0)
        return false;
    kind = call->rec->stats->op[call->op].kind;
    return (kind == SB_OP_WRITE || kind == SB_OP_CHANGE) &&
           call->con->res.nrows > 0;
}

// Records a call that has succeeded, with its result in the connection.
static inline void sb__call_succeeded(const struct sb__call *call)
{
    struct sb_con_priv *c = call->con;

    if ((c->res.kind == SB_RESULT_WRITE && c->res.affected > 0) ||
        sb__call_returns_writes(call))
        c->wrote = true;
    else if (SB_UNLIKELY(c->wrote && c->res.kind == SB_RESULT_NONE))
        sb__call_maybe_committed(c);
    if (call->op >= 0)
        sb__call_count(
            call->rec, call->op, &c->res, call->end - call->start, call->end);
}

// As sb__call_end(), if that needs no text: the call has succeeded, and is not
// to be logged. Otherwise returns false.
static inline bool sb__call_ends_well(struct sb__call *call, int rc)
{
    sb__call_stop(call);
    if (SB_UNLIKELY(rc || call->con->debug))
        return false;
    sb__call_succeeded(call);
    return true;
}

// Ends a call without a result, such as preparing: records its time.
static inline void sb__call_record(struct sb__call *call)
{
    sb__call_stop(call);
    if (call->op >= 0)
        sb_rec_op(call->rec, call->op, call->end - call->start);
}

// call.c --------------------------------------------------------------------

// Warns, once per run, of rows of a bulk insert, or statements of a pipeline,
// that were collected and are now lost.
void sb__error_unsent(const struct sb_con_priv *c);
// Clears the last error.
void sb__error_clear(struct sb_con_priv *c);
// Copies the error in c->err to the fields that scripts read. Returns its code.
int sb__error_show(struct sb_con_priv *c);
// The same with the text of the call that failed, for sb_con_failed_sql().
int sb__error_again(struct sb_con_priv *c, const char *sql, size_t len);
// Set the error, and return its code as sb__error_show().
int sb__error_usage(struct sb_con_priv *c, const char *fmt, ...)
    SB_PRINTF(2, 3);
int sb__error_no_memory(struct sb_con_priv *c);
// As sb__error_show(); also counts the error and, if it is fatal, logs
// "<driver>: <what> failed ... for query '<sql>'". Returns the code.
int sb__error_report(
    struct sb_con_priv *c, const char *what, const char *sql, size_t len);

// call.c -------------------------------------------------------------------

// Returns the result set of the call that has just succeeded; NULL if it has
// no rows. st: the statement executed, NULL for SQL text.
struct sb_rs *sb__result_new(struct sb_con_priv *c, struct sb_stmt_handle *st);
// Ends the result, if there is one.
void sb__result_end(struct sb_con_priv *c);

// call.c --------------------------------------------------------------------

// --db-debug: logs a statement, with its n values, and its time.
void sb__debug_stmt(const struct sb_con_priv *c, uint64_t ns, const char *sql,
    size_t len, const struct sb_value *values, uint32_t n);

#endif
