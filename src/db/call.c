// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/call.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <strings.h>

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

static int show_text(struct sb_con_priv *c, int code, const char *text)
{
    sb_err_set(&c->err, code, "%s", text);
    return sb__error_show(c);
}

// The arguments may be parts of the last error.
int sb__error_set(struct sb_con_priv *c, int code, const char *fmt, ...)
{
    char text[sizeof(c->err.msg)];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    return show_text(c, code, text);
}

int sb__error_usage(struct sb_con_priv *c, const char *fmt, ...)
{
    char text[sizeof(c->err.msg)];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    return show_text(c, SB_EUSAGE, text);
}

int sb__error_no_memory(struct sb_con_priv *c)
{
    return show_text(c, SB_ENOMEM, "out of memory");
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

// --db-ignore-errors: errors that restart the event instead of ending the run.
// The list is used only after an error, so its entries are not converted.

#define STATE_LEN 5u // of an SQLSTATE

// "all", an error number, an SQLSTATE ("40001", "HY000"), or the beginning of
// one followed by '*'.
static bool well_formed(const char *entry)
{
    size_t len = strlen(entry);
    size_t n = strspn(entry, "0123456789");

    if (strcasecmp(entry, "all") == 0 || (n > 0 && n == len))
        return true;
    for (n = 0; isalnum((unsigned char)entry[n]);)
        n++;
    return n == len ? n == STATE_LEN
                    : n > 0 && n < STATE_LEN && strcmp(entry + n, "*") == 0;
}

int sb__ignore_check(const struct sb_opt_list *list, struct sb_err *err)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!well_formed(list->item[i]))
            return sb_err_set(err, SB_EUSAGE,
                "--db-ignore-errors: '%s' is neither an error number nor an "
                "SQLSTATE of 5 characters nor 'all'",
                list->item[i]);
    }
    return 0;
}

static bool matches(const char *entry, const struct sb_err *e)
{
    size_t len = strlen(entry);
    char *end;
    long number = strtol(entry, &end, 10);

    if (strcasecmp(entry, "all") == 0)
        return true;
    if (*end == '\0' && e->native != 0 && number == e->native)
        return true;
    if (entry[len - 1] == '*')
        return strncasecmp(entry, e->state, len - 1) == 0;
    return len == STATE_LEN && strcasecmp(entry, e->state) == 0;
}

bool sb__ignored(const struct sb_opt_list *list, const struct sb_err *e)
{
    for (size_t i = 0; i < list->count; i++) {
        if (matches(list->item[i], e))
            return true;
    }
    return false;
}

// Applies --db-reconnect and --db-ignore-errors to the error.
static void apply_options(struct sb_con_priv *c)
{
    const struct sb_db_opts *o = c->inst->db->owner->opts;
    int code = c->err.code;

    if (code != SB_ELOST && code != SB_EQUERY)
        return;
    if (code == SB_ELOST && o->reconnect)
        c->err.code = SB_ERECONNECT;
    else if (sb__ignored(&o->ignore_errors, &c->err))
        c->err.code = code == SB_ELOST ? SB_ERECONNECT : SB_EIGNORE;
}

// Reports the error of a call of operation op; -1: of none.
static int report(struct sb_con_priv *c, int op, const char *what,
    const char *sql, size_t len)
{
    struct sb_rec *rec = *c->ctx->rec;
    char text[LOG_SQL_MAX + 1];
    uint64_t now;
    int code;

    apply_options(c);
    now = sb__now(c);
    if (c->err.code == SB_ELOST || c->err.code == SB_ERECONNECT)
        sb__con_broken(c, now);
    code = sb__error_show(c);
    keep_sql(c, sql, len);
    if (rec)
        sb_rec_error(rec, op, c->drv->name, &c->err, now);
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

int sb__error_report(
    struct sb_con_priv *c, const char *what, const char *sql, size_t len)
{
    return report(c, -1, what, sql, len);
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
static void show_text_value(FILE *out, const struct sb_value *v)
{
    uint32_t n = v->len < TEXT_MAX ? v->len : TEXT_MAX;

    fputc('\'', out);
    for (uint32_t i = 0; i < n; i++) {
        unsigned char ch = (unsigned char)v->s[i];

        if (ch < ' ' || ch == 0x7f)
            fprintf(out, "\\x%02x", ch);
        else
            fputc(ch, out);
        if (ch == '\'')
            fputc(ch, out);
    }
    fputs(n < v->len ? "...'" : "'", out);
}

static void show_blob(FILE *out, const struct sb_value *v)
{
    uint32_t n = v->len < TEXT_MAX / 2 ? v->len : TEXT_MAX / 2;

    fputs("X'", out);
    for (uint32_t i = 0; i < n; i++)
        fprintf(out, "%02x", (unsigned char)v->s[i]);
    fputs(n < v->len ? "...'" : "'", out);
}

static void show_value(FILE *out, const struct sb_value *v)
{
    switch ((enum sb_value_type)v->type) {
    case SB_VALUE_INT:
        fprintf(out, "%" PRId64, v->i);
        break;
    case SB_VALUE_UINT:
        fprintf(out, "%" PRIu64, v->u);
        break;
    case SB_VALUE_DOUBLE:
        fprintf(out, "%.17g", v->d);
        break;
    case SB_VALUE_TEXT:
    case SB_VALUE_TIME:
        show_text_value(out, v);
        break;
    case SB_VALUE_BLOB:
        show_blob(out, v);
        break;
    case SB_VALUE_NULL:
    default:
        fputs("NULL", out);
    }
}

static void show_values(FILE *out, const struct sb_value *values, uint32_t n)
{
    uint32_t i = 0;

    for (; i < n && ftell(out) < VALUES_MAX; i++) {
        fputs(i ? ", " : " [", out);
        show_value(out, &values[i]);
    }
    fputs(i < n ? ", ...]" : "]", out);
}

void sb__debug_stmt(const struct sb_con_priv *c, uint64_t ns, const char *sql,
    size_t len, const struct sb_value *values, uint32_t n)
{
    int shown = (int)(len < SQL_MAX ? len : SQL_MAX);
    char *text = NULL;
    size_t size;
    FILE *out = n > 0 ? open_memstream(&text, &size) : NULL;

    if (out) {
        show_values(out, values, n);
        fclose(out);
    }
    sb_log_each(SB_LOG_NOTICE, "%s: user %u: %.3f ms: %.*s%s%s", c->drv->name,
        c->ctx->user, (double)ns / 1e6, shown, sql, len > SQL_MAX ? "..." : "",
        text ? text : "");
    free(text);
}

// A call of the driver.

uint64_t sb__now(const struct sb_con_priv *c)
{
    return sb_clock_now(c->ctx->clock);
}

static inline uint64_t waits_of(const struct sb_con_priv *c)
{
    return SB_UNLIKELY(c->ctx->waits != NULL) ? c->ctx->waits->count : 0;
}

uint64_t sb__call_waits(const struct sb_con_priv *c)
{
    return waits_of(c);
}

// Sets what the user's fiber uses when the call has been answered.
static void prefetch_call(
    const struct sb_con_priv *c, const struct sb_rec *rec, int op)
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
}

static inline struct sb__call call_from(
    struct sb_con_priv *c, const struct sb_rec *rec, int op, uint64_t since)
{
    struct sb__call call = {
        .con = c, .op = rec ? op : -1, .start = since, .waits = waits_of(c)
    };

    if (SB_UNLIKELY(c->err.code))
        sb__error_clear(c);
    if (SB_UNLIKELY(c->ctx->prefetch != NULL))
        prefetch_call(c, rec, call.op);
    return call;
}

struct sb__call sb__call_since(struct sb_con_priv *c, int op, uint64_t since)
{
    return call_from(c, *c->ctx->rec, op, since);
}

struct sb__call sb__call_begin(struct sb_con_priv *c, int op)
{
    const struct sb_rec *rec = *c->ctx->rec;

    c->res = (struct sb_result){ 0 };
    return call_from(c, rec, op, rec || c->debug ? sb__now(c) : 0);
}

// Returns the client delay of a call that has waited on an event loop: how long
// its user did not run although the kernel had reported the answer. Only the
// last wait counts. Records it, once for each wait. took: from the start of the
// call to end_ns, in ns.
static uint64_t client_delay(
    const struct sb_con_priv *c, uint64_t took, uint64_t end_ns)
{
    struct sb_db_ctx *ctx = c->ctx;
    struct sb_rec *rec = *ctx->rec;
    const struct sb_fiber_waits *w = ctx->waits;
    uint64_t ns = w->late < took ? w->late : took;

    // Several answers of a pipeline may have come at the end of one wait.
    if (w->count != ctx->delayed && rec && rec->client_delay)
        sb_rec_delay(rec, ns, end_ns);
    ctx->delayed = w->count;
    return ns;
}

static inline void stop(struct sb__call *call)
{
    if (!call->start || call->end)
        return;
    call->end = sb__now(call->con);
    if (SB_UNLIKELY(waits_of(call->con) != call->waits))
        call->end -= client_delay(
            call->con, call->end - call->start, call->end);
}

void sb__call_stop(struct sb__call *call)
{
    stop(call);
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

// What the result means for the statistics.
static struct sb_answer answer_of(
    enum sb_op_kind kind, const struct sb_result *res)
{
    struct sb_answer a = { SB_QUERY_OTHER, found_by(kind, res), 0 };

    if (res->kind == SB_RESULT_ROWS) {
        a.query = SB_QUERY_READ;
        a.rows = res->nrows;
    } else if (res->kind == SB_RESULT_WRITE && res->affected > 0) {
        a.query = SB_QUERY_WRITE;
        a.rows = res->affected;
    }
    return a;
}

// After a call that changed no rows, such as COMMIT: what the connection wrote
// before is safe if no transaction is open.
static void maybe_committed(struct sb_con_priv *c)
{
    const struct sb_generic_ops *g = c->drv->generic;

    // Within a pipeline, the driver knows only how it was before.
    if (c->pipe.state == SB__PIPE_NONE && g->open_transaction)
        c->wrote = g->open_transaction(c->conn) != NULL;
}

// Whether a statement that writes has returned rows: INSERT ... RETURNING.
static inline bool returns_writes(
    const struct sb_answer *a, enum sb_op_kind kind)
{
    return a->query == SB_QUERY_READ && a->rows > 0 &&
           (kind == SB_OP_WRITE || kind == SB_OP_CHANGE);
}

// The result is in the connection.
static void succeeded(const struct sb__call *call)
{
    struct sb_con_priv *c = call->con;
    struct sb_rec *rec = call->op >= 0 ? *c->ctx->rec : NULL;
    enum sb_op_kind kind = rec ? rec->stats->op[call->op].kind : SB_OP_OTHER;
    struct sb_answer answer = answer_of(kind, &c->res);

    if (answer.query == SB_QUERY_WRITE || returns_writes(&answer, kind))
        c->wrote = true;
    else if (SB_UNLIKELY(c->wrote) && c->res.kind == SB_RESULT_NONE)
        maybe_committed(c);
    if (rec)
        sb_rec_query(rec, call->op, answer, call->end - call->start, call->end);
}

bool sb__call_ends_well(struct sb__call *call, int rc)
{
    stop(call);
    if (SB_UNLIKELY(rc || (call->con->debug && !call->logged)))
        return false;
    succeeded(call);
    return true;
}

void sb__call_record(struct sb__call *call)
{
    sb__call_stop(call);
    if (call->op >= 0)
        sb_rec_op(*call->con->ctx->rec, call->op, call->end - call->start);
}

void sb__call_complete_error(struct sb_con_priv *c, int rc)
{
    if (c->err.code == 0)
        sb_err_set(&c->err, rc, "%s", sb_err_text(rc));
    c->err.code = rc;
}

int sb__call_failed(struct sb__call call, int rc, const struct sb__call_text *t)
{
    sb__call_complete_error(call.con, rc);
    return report(call.con, call.op, t->what, t->sql, t->len);
}

int sb__call_end(struct sb__call call, int rc, const struct sb__call_text *t)
{
    struct sb_con_priv *c = call.con;

    stop(&call);
    assert(call.end >= call.start);
    if (c->debug && t)
        sb__debug_stmt(
            c, call.end - call.start, t->sql, t->len, t->values, t->nvalues);
    call.logged = true;
    return sb__call_ends_well(&call, rc) ? 0 : sb__call_failed(call, rc, t);
}

bool sb__call_is_refused(const struct sb_con_priv *c)
{
    return atomic_load_explicit(&c->ctx->ended, memory_order_relaxed);
}

// The connection does not accept calls.
static int refuse_call(struct sb_con_priv *c)
{
    bool canceled = sb__call_is_refused(c);

    if (canceled || c->state == SB__CON_AWAY) {
        show_text(c, canceled ? SB_ECANCELED : SB_ELOST,
            canceled ? "the call was canceled" : "the connection was lost");
        return sb__error_report(c, "query", "", 0);
    }
    if (c->state == SB__CON_LOADING)
        return sb__error_usage(c, "the connection is loading a table");
    sb_log(SB_LOG_ALERT, "attempt to use an already closed connection");
    return sb__error_usage(c, "the connection is closed");
}

static inline int allow_call(struct sb_con_priv *c)
{
    if (SB_UNLIKELY(c->pub.error))
        sb__error_clear(c);
    if (SB_UNLIKELY(c->ctx->dropped != NULL))
        sb__handles_free(c->ctx);
    if (SB_UNLIKELY(c->state < SB__CON_BROKEN || sb__call_is_refused(c)))
        return refuse_call(c);
    return 0;
}

int sb__call_allowed(struct sb_con_priv *c)
{
    return allow_call(c);
}

int sb__call_ready(struct sb_con_priv *c)
{
    int rc = allow_call(c);

    if (SB_UNLIKELY(rc))
        return rc;
    sb__result_end(c);
    // While a pipeline collects statements, nothing is executed.
    return SB_UNLIKELY(c->unsettled) && c->pipe.state != SB__PIPE_OPEN
               ? sb__children_settle(c)
               : 0;
}
