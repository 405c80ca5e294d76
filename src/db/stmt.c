// SPDX-License-Identifier: GPL-2.0-or-later
//
// Prepared statements: prepared on the server if it supports them, otherwise
// emulated by SQL text.
#include <stdlib.h>

#include "base/sqlscan.h"
#include "db/internal.h"

enum mode { MODE_NEW, MODE_SERVER, MODE_EMULATED };

struct sb_stmt_handle {
    struct sb_con_priv *con; // NULL: it or this statement was freed
    struct sb_db_ctx *ctx;
    bool idle;    // freed, waiting to be reused
    bool late;    // freed by its owner while a pipeline may still need it
    bool surplus; // the warning about too many parameters was logged
    struct sb_stmt_handle *next, **prev;
    char *sql;
    size_t len;
    char *op_name;
    int op;                    // registered with op_stats
    struct sb_stats *op_stats; // NULL at first
    enum mode mode;
    struct sb_stmt *stmt;       // stmt_size bytes
    struct sb__lru_node cached; // in con->prepared, if MODE_SERVER
    struct sb__marks marks;
    struct sb_param **bound; // nbound parameters
    struct sb_value *value;  // nbound values
    uint32_t nbound;
    struct sb_buf text; // for the emulation
};

// Returns the text with the digits of names folded, so that sbtest1 and sbtest2
// are one operation.
static char *fold_digits(const char *sql, size_t len)
{
    char *out = malloc(len + 1);
    size_t n = 0;
    bool after_letter = false;

    for (size_t i = 0; out && i < len; i++) {
        bool digit = sql[i] >= '0' && sql[i] <= '9';
        bool letter = ((sql[i] | 32) >= 'a' && (sql[i] | 32) <= 'z') ||
                      sql[i] == '_';

        if (digit && after_letter) {
            if (out[n - 1] != '#')
                out[n++] = '#';
            continue;
        }
        after_letter = letter;
        out[n++] = sql[i];
    }
    if (out)
        out[n] = '\0';
    return out;
}

static void link_stmt(struct sb_stmt_handle **list, struct sb_stmt_handle *st)
{
    st->next = *list;
    st->prev = list;
    if (st->next)
        st->next->prev = &st->next;
    *list = st;
}

static void unlink_stmt(struct sb_stmt_handle *st)
{
    *st->prev = st->next;
    if (st->next)
        st->next->prev = st->prev;
}

static int fill(struct sb_stmt_handle *st, const struct sb_con_priv *c,
    const char *sql, size_t len, const char *op)
{
    st->sql = malloc(len + 1);
    st->stmt = calloc(1, c->drv->stmt_size ? c->drv->stmt_size : 1);
    if (!st->sql || !st->stmt ||
        sb__marks_scan(&st->marks, sql, len, c->drv->scan))
        return SB_ENOMEM;
    memcpy(st->sql, sql, len);
    st->sql[len] = '\0';
    st->len = len;
    if (op && *op)
        st->op_name = strdup(op);
    else if (st->marks.sql)
        st->op_name = fold_digits(st->marks.sql, st->marks.len);
    else
        st->op_name = fold_digits(sql, len);
    return st->op_name ? 0 : SB_ENOMEM;
}

static void unbind(struct sb_stmt_handle *st)
{
    for (uint32_t i = 0; i < st->nbound; i++)
        sb_param_free(st->bound[i]);
    free(st->bound);
    free(st->value);
}

// Frees everything except the handle: see struct sb_con_priv.
static void stmt_strip(struct sb_stmt_handle *st)
{
    unbind(st);
    sb__marks_done(&st->marks);
    sb_buf_done(&st->text);
    free(st->stmt);
    free(st->op_name);
    free(st->sql);
    *st = (struct sb_stmt_handle){ .ctx = st->ctx };
}

static void stmt_retire(struct sb_stmt_handle *st)
{
    st->idle = true;
    link_stmt(&st->ctx->idle_stmts, st);
}

static struct sb_stmt_handle *stmt_new(struct sb_db_ctx *ctx)
{
    struct sb_stmt_handle *st = ctx->idle_stmts;

    if (st) {
        unlink_stmt(st);
        st->idle = false;
    } else {
        st = calloc(1, sizeof(*st));
    }
    if (st)
        st->ctx = ctx;
    return st;
}

static void *failed(struct sb_con_priv *c, int code, const char *text)
{
    sb_err_set(&c->err, code, "%s", text);
    sb__con_failed(c);
    return NULL;
}

struct sb_stmt_handle *sb_stmt_open(
    struct sb_con *con, const char *sql, size_t len, const char *op)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;
    struct sb_stmt_handle *st;

    if (sb__con_begin(c))
        return NULL;
    if (!c->sql)
        return failed(c, SB_EUNSUPPORTED, "the driver has no SQL operations");
    st = stmt_new(c->ctx);
    if (!st)
        return failed(c, SB_ENOMEM, "out of memory");
    if (fill(st, c, sql, len, op)) {
        stmt_strip(st);
        stmt_retire(st);
        return failed(c, SB_ENOMEM, "out of memory");
    }
    sb_buf_init(&st->text, 0);
    st->con = c;
    link_stmt(&c->stmts, st);
    return st;
}

struct sb_param *sb_stmt_param(
    struct sb_stmt_handle *st, int type, uint64_t max_len)
{
    struct sb_param *p;

    if (!st->con)
        return NULL;
    sb_err_clear(&st->con->err);
    p = sb__param_new(type, max_len, &st->con->err);
    if (!p)
        sb__con_failed(st->con);
    return p;
}

// Surplus parameters are not an error, as in sysbench 1.x.
static void warn_surplus(struct sb_stmt_handle *st, size_t n)
{
    char text[120];

    if (st->surplus)
        return;
    st->surplus = true;
    sb__params_counted(text, sizeof(text), n, st->marks.n);
    sb_log(
        SB_LOG_WARNING, "%s; the others are ignored: '%.200s'", text, st->sql);
}

int sb_stmt_bind(
    struct sb_stmt_handle *st, struct sb_param *const *params, size_t n)
{
    struct sb_con_priv *c = st->con;
    struct sb_param **bound;
    struct sb_value *value;

    if (!c)
        return SB_EUSAGE;
    if (n > st->marks.n) {
        warn_surplus(st, n);
        n = st->marks.n;
    }
    if (sb__params_check(params, n, st->marks.n, st->sql, &c->err))
        return sb__con_failed(c);
    bound = malloc((n + 1) * sizeof(*bound));
    value = calloc(n + 1, sizeof(*value));
    if (!bound || !value) {
        free(bound);
        free(value);
        failed(c, SB_ENOMEM, "out of memory");
        return SB_ENOMEM;
    }
    for (size_t i = 0; i < n; i++)
        bound[i] = sb__param_keep(params[i]);
    unbind(st);
    st->bound = bound;
    st->value = value;
    st->nbound = (uint32_t)n;
    return 0;
}

static int32_t buffer_type(int type)
{
    if (type == SB_SQL_TYPE_BLOB)
        return SB_VALUE_BLOB;
    return type < SB_SQL_TYPE_CHAR ? SB_VALUE_TIME : SB_VALUE_TEXT;
}

static inline void take_value(struct sb_value *v, const struct sb_param *p)
{
    if (p->is_null) {
        v->type = SB_VALUE_NULL;
    } else if (p->type <= SB_SQL_TYPE_BIGINT) {
        v->type = p->is_unsigned && p->i < 0 ? SB_VALUE_UINT : SB_VALUE_INT;
        v->i = p->i;
    } else if (p->type <= SB_SQL_TYPE_DOUBLE) {
        v->type = SB_VALUE_DOUBLE;
        v->d = p->d;
    } else {
        v->type = buffer_type(p->type);
        v->s = p->buffer;
        v->len = (uint32_t)(p->data_len < p->max_len ? p->data_len
                                                     : p->max_len);
    }
}

static int prepare_failed(struct sb_stmt_handle *st, int rc)
{
    struct sb_con_priv *c = st->con;
    char was[sizeof(c->err.msg)];

    memcpy(was, c->err.msg, sizeof(was));
    snprintf(c->err.msg, sizeof(c->err.msg), "%.300s (preparing '%.150s')", was,
        st->sql);
    c->err.code = rc;
    memset(st->stmt, 0, c->drv->stmt_size);
    return sb__con_error(c, "prepare", st->sql, st->len);
}

static int check_count(struct sb_stmt_handle *st, uint32_t nparams)
{
    if (nparams == st->marks.n)
        return 0;
    st->con->sql->close(st->con->conn, st->stmt);
    return sb_err_set(&st->con->err, SB_EUSAGE,
        "the server found %u parameters, but the statement has %u placeholders",
        nparams, st->marks.n);
}

static void stmt_reset(struct sb_stmt_handle *st)
{
    struct sb_con_priv *c = st->con;

    if (st->mode == MODE_SERVER) {
        c->sql->close(c->conn, st->stmt);
        memset(st->stmt, 0, c->drv->stmt_size);
        sb__lru_remove(&c->prepared, &st->cached);
    }
    st->mode = MODE_NEW;
}

static struct sb_stmt_handle *handle_of(struct sb__lru_node *node)
{
    return (void *)((char *)node - offsetof(struct sb_stmt_handle, cached));
}

void sb__stmts_make_room(struct sb_con_priv *c, uint32_t more)
{
    struct sb__lru *l = &c->prepared;

    if (!l->full || c->pipe.open || c->pipe.sent)
        return;
    while (l->oldest && l->n + more > l->most)
        stmt_reset(handle_of(l->oldest));
    if (more && !atomic_exchange_explicit(
                    &c->inst->db->owner->crowded, true, memory_order_relaxed))
        sb_log(SB_LOG_NOTICE,
            "%s: a connection uses more than %u statements: the least recently "
            "used ones are closed and prepared again (--db-statement-cache)",
            c->drv->name, l->most);
}

// A statement with '??' can be prepared only if the driver supports it.
static bool has_server_side(const struct sb_stmt_handle *st)
{
    const struct sb_con_priv *c = st->con;

    return c->sql->prepare && !c->emulate &&
           (!st->marks.sql || (c->drv->caps & SB_CAP_ESCAPED_MARKS));
}

// Called before the first execution. Preparing is recorded as a separate
// operation, so that it is not part of the latency of the first query.
static int prepare(struct sb_stmt_handle *st)
{
    struct sb_con_priv *c = st->con;
    struct sb_rec *rec = sb__rec(c);
    int op = rec ? sb__op_of_prepare(c->ctx, rec) : 0;
    uint64_t start = sb__timed(c) ? sb__now(c) : 0;
    uint32_t nparams = 0;
    int rc = SB_EUNSUPPORTED;

    if (has_server_side(st)) {
        sb__stmts_make_room(c, 1);
        rc = c->sql->prepare(
            c->conn, st->stmt, st->sql, st->len, &nparams, &c->err);
    }
    if (rc == SB_EUNSUPPORTED) {
        sb_err_clear(&c->err);
        memset(st->stmt, 0, c->drv->stmt_size);
        st->mode = MODE_EMULATED;
        return 0;
    }
    if (rc == 0)
        rc = check_count(st, nparams);
    if (rc) {
        if (rec)
            sb_tally_add(&sb_rec_op_tally(rec, op)->errors, 1);
        return prepare_failed(st, rc);
    }
    if (rec)
        sb_rec_op(rec, op, sb__now(c) - start);
    st->mode = MODE_SERVER;
    sb__lru_add(&c->prepared, &st->cached);
    return 0;
}

static int op_of(struct sb_stmt_handle *st, struct sb_rec *rec)
{
    if (st->op_stats != rec->stats) {
        st->op = sb__op_named(
            st->con->ctx, rec, st->op_name, sb__kind_of_text(st->sql, st->len));
        st->op_stats = rec->stats;
    }
    return st->op;
}

static int emulate(struct sb_stmt_handle *st, int op)
{
    struct sb_con_priv *c = st->con;
    struct sb__quoting q = sb__con_quoting(c);
    int rc = sb__marks_fill(
        &st->text, &st->marks, st->sql, st->len, &q, st->value, &c->err);

    return rc ? sb__con_failed(c)
              : sb__con_run(c, st->text.data, st->text.len, op);
}

static int call_execute(struct sb_stmt_handle *st)
{
    struct sb_con_priv *c = st->con;

    c->res = (struct sb_result){ 0 };
    return c->sql->execute(
        c->conn, st->stmt, st->value, st->nbound, &c->res, &c->err);
}

// Called if the statement does not exist on the server, because a pooler or
// proxy has connected another one. Prepares it again; if that does not help,
// the statement is emulated from now on. *counted: the result is counted
// already.
static int execute_again(struct sb_stmt_handle *st, int op, bool *counted)
{
    int rc;

    *counted = true;
    sb_err_clear(&st->con->err);
    stmt_reset(st);
    rc = prepare(st);
    if (rc)
        return rc;
    if (st->mode == MODE_SERVER) {
        rc = call_execute(st);
        *counted = rc == SB_EUNSUPPORTED;
        if (!*counted)
            return rc;
        sb_err_clear(&st->con->err);
        stmt_reset(st);
        st->mode = MODE_EMULATED;
    }
    return emulate(st, op);
}

static int execute(struct sb_stmt_handle *st)
{
    struct sb_con_priv *c = st->con;
    struct sb_rec *rec = sb__rec(c);
    int op = rec ? op_of(st, rec) : -1;
    uint64_t start = 0, end = 0;
    int rc;

    if (st->mode == MODE_EMULATED)
        return emulate(st, op);
    if (sb__timed(c))
        start = sb__now(c);
    rc = call_execute(st);
    if (SB_UNLIKELY(rc == SB_EUNSUPPORTED)) {
        bool counted;

        rc = execute_again(st, op, &counted);
        if (counted)
            return rc;
    }
    if (sb__timed(c))
        end = sb__now(c);
    if (c->debug)
        sb__debug_stmt(c, end - start, st->sql, st->len, st->value, st->nbound);
    if (rc) {
        if (rec)
            sb_tally_add(&sb_rec_op_tally(rec, op)->errors, 1);
        c->err.code = rc;
        return sb__con_error(c, "query", st->sql, st->len);
    }
    if (rec)
        sb__count_result(rec, op, &c->res, end - start, end);
    return 0;
}

// Prepares the statement, if necessary, and takes its values from the
// parameters.
static int ready(struct sb_stmt_handle *st)
{
    struct sb_con_priv *c = st->con;

    if (SB_UNLIKELY(st->nbound != st->marks.n)) {
        failed(c, SB_EUSAGE, "the parameters are not bound");
        return SB_EUSAGE;
    }
    if (SB_UNLIKELY(st->mode == MODE_NEW) && !sb__pipeline_of_texts(c) &&
        prepare(st))
        return c->err.code;
    if (SB_UNLIKELY(c->prepared.full) && st->mode == MODE_SERVER)
        sb__lru_use(&c->prepared, &st->cached);
    for (uint32_t i = 0; i < st->nbound; i++) {
        struct sb_value *v = &st->value[i];

        take_value(v, st->bound[i]);
        if (SB_UNLIKELY(sb__value_is_special(v)) &&
            sb__value_check(c->drv, v, &c->err))
            return sb__con_failed(c);
    }
    return 0;
}

struct sb_rs *sb_stmt_execute(struct sb_stmt_handle *st)
{
    struct sb_con_priv *c = st->con;

    if (!c || st->late) {
        sb_log(SB_LOG_ALERT, "attempt to use an already closed connection");
        return NULL;
    }
    if (sb__con_begin(c) || ready(st))
        return NULL;
    if (SB_UNLIKELY(c->pipe.open)) {
        sb__pipeline_execute(c, st);
        return NULL;
    }
    if (execute(st))
        return NULL;
    return sb__con_result(c, st);
}

void sb__stmt_view(struct sb_stmt_handle *st, struct sb__stmt_view *out)
{
    struct sb_rec *rec = sb__rec(st->con);

    *out = (struct sb__stmt_view){
        .sql = st->sql,
        .len = st->len,
        .stmt = st->mode == MODE_SERVER ? st->stmt : NULL,
        .value = st->value,
        .nvalues = st->nbound,
        .op = rec ? op_of(st, rec) : -1,
    };
}

int sb__stmt_text(struct sb_stmt_handle *st, struct sb_buf *out)
{
    struct sb__quoting q = sb__con_quoting(st->con);
    int rc = sb__marks_fill(
        &st->text, &st->marks, st->sql, st->len, &q, st->value, &st->con->err);

    if (rc == 0)
        sb_buf_add(out, st->text.data, st->text.len);
    return rc;
}

int sb__stmt_run(struct sb_stmt_handle *st, const struct sb_value *value)
{
    if (st->nbound > 0)
        memcpy(st->value, value, st->nbound * sizeof(*value));
    return execute(st);
}

static void detach(struct sb_stmt_handle *st)
{
    struct sb_con_priv *c = st->con;

    if (!c)
        return;
    if (c->has_result && c->statement == st)
        sb__result_end(c);
    if (c->open)
        stmt_reset(st);
    unlink_stmt(st);
    stmt_strip(st);
    link_stmt(&st->ctx->orphans, st);
}

void sb_stmt_free(struct sb_stmt_handle *st)
{
    if (!st || st->idle)
        return;
    st->late = st->con && (st->con->pipe.open || st->con->pipe.sent);
    if (st->late) {
        st->con->late_stmts = true;
        return;
    }
    detach(st);
    unlink_stmt(st);
    stmt_retire(st);
}

void sb__stmts_free_late(struct sb_con_priv *c)
{
    struct sb_stmt_handle *st = c->late_stmts ? c->stmts : NULL;

    c->late_stmts = false;
    while (st) {
        struct sb_stmt_handle *next = st->next;

        if (st->late)
            sb_stmt_free(st);
        st = next;
    }
}

void sb__stmts_reset(struct sb_con_priv *c)
{
    for (struct sb_stmt_handle *st = c->stmts; st; st = st->next)
        stmt_reset(st);
}

void sb__stmts_orphan(struct sb_con_priv *c)
{
    while (c->stmts)
        detach(c->stmts);
}

static void free_list(struct sb_stmt_handle *st)
{
    while (st) {
        struct sb_stmt_handle *next = st->next;

        free(st);
        st = next;
    }
}

void sb__stmts_done(struct sb_db_ctx *ctx)
{
    free_list(ctx->orphans);
    free_list(ctx->idle_stmts);
    ctx->orphans = ctx->idle_stmts = NULL;
}
