// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/call.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/escape.h"
#include "base/opts.h"

// The error of a connection: for scripts, in the log, in the counters.

#define LOG_SQL_MAX 1024 // maximum bytes of a query in the log
#define ERR_SQL_MAX 200  // maximum bytes of a query in the error of a script

void sb__error_unsent(const struct sb_con_priv *c)
{
    bool rows = c->bulk_rows > 0;
    bool pipeline = c->pipe.state == SB__PIPE_OPEN && c->pipe.n > 0;
    unsigned n = rows ? c->bulk_rows : c->pipe.n;
    char count[16] = "";

    // After an error the script could not send them.
    if ((!rows && !pipeline) || c->pub.error || sb__call_is_refused(c) ||
        atomic_exchange_explicit(
            &c->inst->db->owner->unsent, true, memory_order_relaxed))
        return;
    if (n > 1)
        snprintf(count, sizeof(count), "%u ", n);
    sb_log(SB_LOG_WARNING,
        "the last %s%s%s of %s %s not sent, because no %s followed", count,
        rows ? "row" : "statement", n > 1 ? "s" : "",
        rows ? "bulk_insert_next()" : "pipeline_begin()",
        n > 1 ? "were" : "was",
        rows ? "bulk_insert_done()" : "pipeline_send()");
}

void sb__error_clear(struct sb_con_priv *c)
{
    sb_err_clear(&c->err);
    c->pub.error = SB_SQL_NONE;
    c->pub.sql_errno = 0;
    c->pub.sql_state = c->pub.sql_errmsg = "";
    if (c->failed_sql)
        c->failed_sql[0] = '\0';
}

int sb__error_show(struct sb_con_priv *c)
{
    int code = c->err.code;

    bool again = code == SB_ERESTART || code == SB_EIGNORE ||
                 code == SB_ERECONNECT;

    // A server may answer with an error that has no text.
    if (!*c->err.msg)
        snprintf(c->err.msg, sizeof(c->err.msg), "%s; no details given",
            sb_err_text(code));
    c->pub.error = again ? SB_SQL_IGNORABLE : SB_SQL_FATAL;
    c->pub.sql_errno = c->err.native;
    c->pub.sql_state = c->err.state;
    c->pub.sql_errmsg = c->err.msg;
    return code;
}

int sb__error_usage(struct sb_con_priv *c, const char *fmt, ...)
{
    char text[sizeof(c->err.msg)];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    sb_err_set(&c->err, SB_EUSAGE, "%s", text);
    return sb__error_show(c);
}

int sb__error_no_memory(struct sb_con_priv *c)
{
    sb_err_set(&c->err, SB_ENOMEM, "out of memory");
    return sb__error_show(c);
}

// Keeps the beginning of a statement, in one line, for sb_con_failed_sql(). If
// there is no memory for it, the error has only the message.
static void keep_sql(struct sb_con_priv *c, const char *sql, size_t len)
{
    bool blank = true;
    size_t n = 0, i = 0;

    if (!c->failed_sql)
        c->failed_sql = malloc(ERR_SQL_MAX + 1 + sizeof("..."));
    if (!c->failed_sql)
        return;
    for (; i < len && n <= ERR_SQL_MAX; i++) {
        bool space = sql[i] == ' ' || (sql[i] >= '\t' && sql[i] <= '\r');

        if (!space || !blank)
            c->failed_sql[n++] = space ? ' ' : sql[i];
        blank = space;
    }
    bool cut = n > ERR_SQL_MAX;

    n = sb_utf8_cut(c->failed_sql, n, ERR_SQL_MAX);
    c->failed_sql[n] = '\0';
    sb_opts_overwrite_sql(c->failed_sql);
    snprintf(c->failed_sql + n, sizeof("..."), "%s", cut ? "..." : "");
}

const char *sb_con_failed_sql(const struct sb_con *con)
{
    const struct sb_con_priv *c = (const struct sb_con_priv *)con;

    return c->failed_sql ? c->failed_sql : "";
}

// Applies --db-reconnect and --db-ignore-errors to the error.
static void apply_options(struct sb_con_priv *c)
{
    const struct sb_db_opts *o = c->inst->db->owner->opts;
    int code = c->err.code;

    if (code == SB_ELOST &&
        (o->reconnect || sb__ignored(&o->ignore_errors, &c->err)))
        c->err.code = SB_ERECONNECT;
    else if (code == SB_EQUERY && sb__ignored(&o->ignore_errors, &c->err))
        c->err.code = SB_EIGNORE;
    if ((code == SB_ELOST || code == SB_ERECONNECT) && !sb__con_lost(c)) {
        sb__con_enter(c, sb__con_connected(c) ? SB__CON_BROKEN : SB__CON_AWAY);
        c->lost_at = sb__now(c);
    }
}

int sb__error_report(
    struct sb_con_priv *c, const char *what, const char *sql, size_t len)
{
    struct sb_rec *rec = sb__rec(c);
    char text[LOG_SQL_MAX + 1];
    int code;

    apply_options(c);
    code = sb__error_show(c);

    keep_sql(c, sql, len);
    if (rec)
        sb_rec_code(rec, c->drv->name, &c->err, 1, sb__now(c));
    // The caller raises the error in the script, and the event loop logs it
    // once. This line also has the whole statement, and includes errors that
    // the script catches.
    if (c->pub.error != SB_SQL_FATAL || code == SB_ECANCELED)
        return code;
    snprintf(text, sizeof(text), "%.*s",
        (int)(len < LOG_SQL_MAX ? len : LOG_SQL_MAX), sql);
    sb_opts_overwrite_sql(text);
    sb_log(SB_LOG_INFO, "%s: %s failed, errno = %d, state = '%s': %s%s%s%s",
        c->drv->name, what, c->err.native, c->err.state, c->err.msg,
        len ? ", for query: " : "", text, len > LOG_SQL_MAX ? "..." : "");
    return code;
}

int sb__error_again(struct sb_con_priv *c, const char *sql, size_t len)
{
    int code = sb__error_show(c);

    keep_sql(c, sql, len);
    return code;
}

// The result that a connection has: one at a time.

struct sb_rs *sb__result_new(struct sb_con_priv *c, struct sb_stmt_handle *st)
{
    struct sb_rs *rs;

    c->outcome = SB__OUTCOME_SQL;
    c->statement = st;
    if (c->res.kind != SB_RESULT_ROWS)
        return NULL;
    c->rs_now = (c->rs_now + 1) % SB__RESULTS;
    rs = &c->rs[c->rs_now];
    *rs = (struct sb_rs){
        .nrows = c->res.nrows,
        .nfields = c->res.nfields,
        .affected = c->res.affected,
        .insert_id = c->res.insert_id,
        .statement = st,
        .connection = &c->pub,
    };
    return rs;
}

void sb__result_end(struct sb_con_priv *c)
{
    if (c->outcome == SB__OUTCOME_NONE)
        return;
    assert(sb__con_connected(c));
    if (c->sql) // otherwise results need not be freed
        c->sql->free_result(c->conn, &c->res);
    c->outcome = SB__OUTCOME_NONE;
}

// --db-debug: logs each execution with its time and its bound values.

#define SQL_MAX    1024 // maximum bytes of a statement in a line
#define VALUES_MAX 1024 // no further value after this number of bytes
#define TEXT_MAX   64   // maximum bytes of a text value

// Writes a text as in SQL, but control characters as \xNN: a value must not end
// the line.
static void add_text(struct sb_buf *b, const struct sb_value *v)
{
    uint32_t n = v->len < TEXT_MAX ? v->len : TEXT_MAX;

    sb_buf_adds(b, "'");
    for (uint32_t i = 0; i < n; i++) {
        unsigned char ch = (unsigned char)v->s[i];

        if (ch < ' ' || ch == 0x7f)
            sb_buf_addf(b, "\\x%02x", ch);
        else
            sb_buf_add(b, v->s + i, 1);
        if (ch == '\'')
            sb_buf_adds(b, "'");
    }
    sb_buf_adds(b, n < v->len ? "...'" : "'");
}

static void add_blob(struct sb_buf *b, const struct sb_value *v)
{
    uint32_t n = v->len < TEXT_MAX / 2 ? v->len : TEXT_MAX / 2;

    sb_buf_adds(b, "X'");
    for (uint32_t i = 0; i < n; i++)
        sb_buf_addf(b, "%02x", (unsigned char)v->s[i]);
    sb_buf_adds(b, n < v->len ? "...'" : "'");
}

static void add_value(struct sb_buf *b, const struct sb_value *v)
{
    switch ((enum sb_value_type)v->type) {
    case SB_VALUE_INT:
        sb_buf_addf(b, "%" PRId64, v->i);
        break;
    case SB_VALUE_UINT:
        sb_buf_addf(b, "%" PRIu64, v->u);
        break;
    case SB_VALUE_DOUBLE:
        sb_buf_addf(b, "%.17g", v->d);
        break;
    case SB_VALUE_TEXT:
    case SB_VALUE_TIME:
        add_text(b, v);
        break;
    case SB_VALUE_BLOB:
        add_blob(b, v);
        break;
    case SB_VALUE_NULL:
    default:
        sb_buf_adds(b, "NULL");
    }
}

void sb__debug_stmt(const struct sb_con_priv *c, uint64_t ns, const char *sql,
    size_t len, const struct sb_value *values, uint32_t n)
{
    int shown = (int)(len < SQL_MAX ? len : SQL_MAX);
    struct sb_buf b;

    sb_buf_init(&b, 0);
    for (uint32_t i = 0; i < n && b.len < VALUES_MAX; i++) {
        sb_buf_adds(&b, i ? ", " : " [");
        add_value(&b, &values[i]);
        if (i + 1 < n && b.len >= VALUES_MAX)
            sb_buf_adds(&b, ", ...");
    }
    if (n > 0)
        sb_buf_adds(&b, "]");
    sb_log_each(SB_LOG_NOTICE, "%s: user %u: %.3f ms: %.*s%s%s", c->drv->name,
        c->ctx->user, (double)ns / 1e6, shown, sql, len > SQL_MAX ? "..." : "",
        b.data ? b.data : "");
    sb_buf_done(&b);
}

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
