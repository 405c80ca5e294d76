// SPDX-License-Identifier: GPL-2.0-or-later
//
// Prepared statements: prepared on the server if it supports them, otherwise
// emulated by SQL text.
#include <stdlib.h>

#include "db/op.h"
#include "db/sql/sql.h"
#include "kit/sqlscan.h"

enum mode { MODE_NEW, MODE_SERVER, MODE_EMULATED };

struct sb_stmt_handle {
    struct sb__child child; // first; con is NULL: it or this was freed
    struct sb__handle handle;
    struct sb_db_ctx *ctx;
    bool idle;    // freed, waiting to be reused
    bool late;    // freed by its owner: see sb__child_free_later()
    bool surplus; // the warning about too many parameters was logged
    bool retyped; // it was prepared for parameters of other types
    char *sql;
    size_t len;
    char *op_name;
    int op;                    // registered with op_stats
    struct sb_stats *op_stats; // NULL at first
    enum mode mode;
    struct sb_stmt *stmt;       // stmt_size bytes
    struct sb__lru_node cached; // in con->prepared, if MODE_SERVER
    struct sb__placeholders marks;
    struct sb_value *value;  // nbound values
    struct sb_param **bound; // nbound parameters, in the same allocation
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

static int fill_stmt(struct sb_stmt_handle *st, const struct sb_con_priv *c,
    const char *sql, size_t len, const char *op)
{
    uint32_t scan = c->sql->scan && sb__con_connected(c) ? c->sql->scan(c->conn)
                                                         : c->drv->scan;

    st->sql = malloc(len + 1);
    st->stmt = calloc(1, c->drv->stmt_size ? c->drv->stmt_size : 1);
    if (!st->sql || !st->stmt ||
        sb__placeholders_scan(&st->marks, sql, len, scan))
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
    free(st->value);
}

// Of n values and parameters.
static size_t values_size(size_t n)
{
    return n * (sizeof(struct sb_value) + sizeof(struct sb_param *));
}

// Frees everything except the handle: see struct sb_con_priv.
static void stmt_strip(struct sb_stmt_handle *st)
{
    unbind(st);
    sb__placeholders_done(&st->marks);
    sb_buf_done(&st->text);
    free(st->stmt);
    free(st->op_name);
    free(st->sql);
    *st = (struct sb_stmt_handle){ .handle = st->handle, .ctx = st->ctx };
}

static const struct sb__child_ops handle_ops;
static void free_dropped(struct sb__handle *h);

// Puts a handle without a connection into a list of its context.
static void stmt_retire(struct sb_stmt_handle *st, struct sb__child **list)
{
    assert(!st->child.con && !st->sql);
    st->idle = list == &st->ctx->idle_stmts;
    st->child.ops = &handle_ops;
    sb__child_link(list, &st->child);
}

static struct sb_stmt_handle *stmt_new(struct sb_db_ctx *ctx)
{
    struct sb_stmt_handle *st = (struct sb_stmt_handle *)ctx->idle_stmts;

    if (st) {
        assert(st->idle && !st->sql);
        sb__child_unlink(&st->child);
        st->idle = false;
    } else {
        st = calloc(1, sizeof(*st));
    }
    if (st)
        st->ctx = ctx;
    return st;
}

static void *fail_open(struct sb_con_priv *c, int code, const char *text)
{
    sb_err_set(&c->err, code, "%s", text);
    sb__error_show(c);
    return NULL;
}

struct sb_stmt_handle *sb_stmt_open(
    struct sb_con *con, const char *sql, size_t len, const char *op)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;
    struct sb_stmt_handle *st;

    // The server hears of the statement when it is first executed: an open
    // result stays open.
    if (sb__call_allowed(c))
        return NULL;
    if (!c->sql)
        return fail_open(
            c, SB_EUNSUPPORTED, "the driver has no SQL operations");
    st = stmt_new(c->ctx);
    if (!st)
        return fail_open(c, SB_ENOMEM, "out of memory");
    if (fill_stmt(st, c, sql, len, op)) {
        stmt_strip(st);
        stmt_retire(st, &st->ctx->idle_stmts);
        return fail_open(c, SB_ENOMEM, "out of memory");
    }
    sb_buf_init(&st->text, 0);
    st->child.ops = &handle_ops;
    sb__child_add(c, &st->child);
    sb__handle_give(&st->handle, st->ctx, free_dropped);
    return st;
}

struct sb_param *sb_stmt_param(
    struct sb_stmt_handle *st, int type, uint64_t max_len)
{
    struct sb_con_priv *c = st->child.con;
    struct sb_param *p;

    if (!c)
        return NULL;
    sb_err_clear(&c->err);
    p = sb__param_new(c->inst->db->owner, type, max_len, &c->err);
    if (!p)
        sb__error_show(c);
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
    struct sb_con_priv *c = st->child.con;
    struct sb_param **bound;
    struct sb_value *value;

    if (!c)
        return SB_EUSAGE;
    if (n > st->marks.n) {
        warn_surplus(st, n);
        n = st->marks.n;
    }
    if (sb__params_check(params, n, st->marks.n, st->sql, &c->err))
        return sb__error_show(c);
    value = calloc(1, values_size(n + 1));
    if (!value)
        return sb__error_no_memory(c);
    bound = (struct sb_param **)(value + n);
    for (size_t i = 0; i < n; i++) {
        bound[i] = sb__param_keep(params[i]);
        if (i < st->nbound && st->bound[i]->type != params[i]->type)
            st->retyped = st->mode == MODE_SERVER &&
                          (c->drv->caps & SB_CAP_PARAM_TYPES);
    }
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

static int prepare_failed(
    struct sb_stmt_handle *st, struct sb__call *call, int rc)
{
    const struct sb__call_text text = { "prepare", st->sql, st->len, NULL, 0 };
    struct sb_con_priv *c = st->child.con;
    char was[sizeof(c->err.msg)];

    memcpy(was, c->err.msg, sizeof(was));
    snprintf(c->err.msg, sizeof(c->err.msg), "%.300s (preparing '%.150s')", was,
        st->sql);
    c->err.code = rc;
    memset(st->stmt, 0, c->drv->stmt_size);
    return sb__call_failed(*call, rc, &text);
}

static int check_count(struct sb_stmt_handle *st, uint32_t nparams)
{
    if (nparams == st->marks.n)
        return 0;
    st->child.con->sql->close(st->child.con->conn, st->stmt);
    return sb_err_set(&st->child.con->err, SB_EUSAGE,
        "the server found %u parameters, but the statement has %u placeholders",
        nparams, st->marks.n);
}

static void stmt_reset(struct sb_stmt_handle *st)
{
    struct sb_con_priv *c = st->child.con;

    if (st->mode == MODE_SERVER) {
        c->sql->close(c->conn, st->stmt);
        memset(st->stmt, 0, c->drv->stmt_size);
        sb__lru_remove(&c->prepared, &st->cached);
    }
    st->mode = MODE_NEW;
    st->retyped = false;
}

static struct sb_stmt_handle *handle_of(struct sb__lru_node *node)
{
    return (void *)((char *)node - offsetof(struct sb_stmt_handle, cached));
}

void sb__stmts_make_room(struct sb_con_priv *c, uint32_t more)
{
    struct sb__lru *l = &c->prepared;

    if (!l->full || c->pipe.state != SB__PIPE_NONE)
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
    const struct sb_con_priv *c = st->child.con;

    return c->sql->prepare && !c->emulate &&
           (!st->marks.sql || (c->drv->caps & SB_CAP_ESCAPED_MARKS));
}

static int call_prepare(struct sb_stmt_handle *st, uint32_t *nparams)
{
    struct sb_con_priv *c = st->child.con;
    uint8_t *types;

    sb_buf_clear(&st->text);
    types = (uint8_t *)sb_buf_room(&st->text, st->nbound);
    if (!types)
        return sb_err_set(&c->err, SB_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < st->nbound; i++)
        types[i] = (uint8_t)st->bound[i]->type;
    *nparams = st->nbound;
    return c->sql->prepare(
        c->conn, st->stmt, st->sql, st->len, types, nparams, &c->err);
}

// Called before the first execution. Preparing is recorded as a separate
// operation, so that it is not part of the latency of the first query.
static int prepare(struct sb_stmt_handle *st)
{
    struct sb_con_priv *c = st->child.con;
    struct sb_rec *rec = sb__rec(c);
    struct sb__call call;
    uint32_t nparams = 0;
    int rc = SB_EUNSUPPORTED;

    // Not sb__call_begin(): the numbers of the last result stay.
    call = sb__call_since(c, rec, rec ? sb__op_of_prepare(c->ctx, rec) : -1,
        rec ? sb__now(c) : 0);
    if (has_server_side(st)) {
        sb__stmts_make_room(c, 1);
        rc = call_prepare(st, &nparams);
    }
    if (rc == SB_EUNSUPPORTED) {
        sb_err_clear(&c->err);
        memset(st->stmt, 0, c->drv->stmt_size);
        st->mode = MODE_EMULATED;
        return 0;
    }
    if (rc == 0)
        rc = check_count(st, nparams);
    if (rc)
        return prepare_failed(st, &call, rc);
    sb__call_record(&call);
    st->mode = MODE_SERVER;
    sb__lru_add(&c->prepared, &st->cached);
    return 0;
}

static int op_of(struct sb_stmt_handle *st, struct sb_rec *rec)
{
    if (st->op_stats != rec->stats) {
        st->op = sb__op_named(st->child.con->ctx, rec, st->op_name,
            sb__op_kind(st->sql, st->len));
        st->op_stats = rec->stats;
    }
    return st->op;
}

static int fill_text(struct sb_stmt_handle *st)
{
    struct sb_con_priv *c = st->child.con;
    struct sb__quoting q = sb__query_quoting(c);
    int rc = sb__placeholders_fill(
        &st->text, &st->marks, st->sql, st->len, &q, st->value, &c->err);

    return rc ? sb__error_show(c) : 0;
}

static int emulate(struct sb_stmt_handle *st, int op)
{
    int rc = fill_text(st);

    return rc ? rc
              : sb__query_run(st->child.con, st->text.data, st->text.len, op);
}

// Sets what the user's fiber uses if the statement is the next one, too.
static void prefetch_stmt(const struct sb_stmt_handle *st)
{
    struct sb_db_ctx *ctx = st->ctx;
    struct sb_prefetch *p = ctx->prefetch;
    size_t driver = st->child.con->drv->stmt_size;

    sb_prefetch_set(p, SB__PREFETCH_STATEMENT, st, sizeof(*st));
    sb_prefetch_set(p, SB__PREFETCH_DRIVER_STATEMENT, st->stmt,
        driver < SB_DRIVER_HOT_STMT ? driver : SB_DRIVER_HOT_STMT);
    if (st->nbound > 0) {
        sb_prefetch_set(
            p, SB__PREFETCH_VALUES, st->value, values_size(st->nbound));
        sb_prefetch_set(
            p, SB__PREFETCH_PARAMETER, st->bound[0], sizeof(**st->bound));
    }
    ctx->prefetched.stmt = st->stmt;
    ctx->prefetched.value = st->value;
}

static inline bool is_prefetched(const struct sb_stmt_handle *st)
{
    return !st->ctx->prefetch || (st->ctx->prefetched.stmt == st->stmt &&
                                     st->ctx->prefetched.value == st->value);
}

static inline int call_execute(struct sb_stmt_handle *st)
{
    struct sb_con_priv *c = st->child.con;

    return c->sql->execute(
        c->conn, st->stmt, st->value, st->nbound, &c->res, &c->err);
}

// Called if the statement does not exist on the server, because a pooler or
// proxy has connected another one. Prepares it again; if that does not help,
// the statement is emulated from now on. *counted: the result is counted
// already.
static int execute_again(struct sb_stmt_handle *st, int op, bool *counted)
{
    struct sb_con_priv *c = st->child.con;
    int rc;

    *counted = true;
    sb_err_clear(&c->err);
    stmt_reset(st);
    rc = prepare(st);
    if (rc)
        return rc;
    if (st->mode == MODE_SERVER) {
        c->res = (struct sb_result){ 0 };
        rc = call_execute(st);
        *counted = rc == SB_EUNSUPPORTED;
        if (!*counted)
            return rc;
        sb_err_clear(&c->err);
        stmt_reset(st);
        st->mode = MODE_EMULATED;
    }
    return emulate(st, op);
}

static int execute(struct sb_stmt_handle *st)
{
    struct sb_con_priv *c = st->child.con;
    struct sb_rec *rec = sb__rec(c);
    int op = rec ? op_of(st, rec) : -1, rc;
    struct sb__call call;

    if (st->mode == MODE_EMULATED)
        return emulate(st, op);
    assert(st->mode == MODE_SERVER);
    if (SB_UNLIKELY(!is_prefetched(st)))
        prefetch_stmt(st);
    call = sb__call_begin(c, rec, op);
    rc = call_execute(st);
    if (SB_UNLIKELY(rc == SB_EUNSUPPORTED)) {
        bool counted;

        rc = execute_again(st, op, &counted);
        if (counted)
            return rc;
    }
    if (sb__call_ends_well(&call, rc))
        return 0;
    return sb__call_end(call, rc,
        &(struct sb__call_text){
            "query", st->sql, st->len, st->value, st->nbound });
}

// Prepares the statement, if necessary, and takes its values from the
// parameters.
static int make_ready(struct sb_stmt_handle *st)
{
    struct sb_con_priv *c = st->child.con;

    if (SB_UNLIKELY(st->nbound != st->marks.n))
        return sb__error_usage(c, "the parameters are not bound");
    if (SB_UNLIKELY(st->retyped) && c->pipe.state == SB__PIPE_NONE)
        stmt_reset(st);
    if (SB_UNLIKELY(st->mode == MODE_NEW) && !sb__pipe_of_texts(c) &&
        prepare(st))
        return c->err.code;
    if (SB_UNLIKELY(c->prepared.full) && st->mode == MODE_SERVER)
        sb__lru_use(&c->prepared, &st->cached);
    for (uint32_t i = 0; i < st->nbound; i++) {
        struct sb_value *v = &st->value[i];

        take_value(v, st->bound[i]);
        if (SB_UNLIKELY(sb__value_is_special(v)) &&
            sb__value_check(c->drv, v, &c->err))
            return sb__error_show(c);
    }
    return 0;
}

// Adds the statement to a pipeline: as its text, if the driver does not have it
// prepared.
static void collect(struct sb_stmt_handle *st)
{
    struct sb_con_priv *c = st->child.con;
    struct sb_rec *rec = sb__rec(c);
    int op = rec ? op_of(st, rec) : -1;

    if (st->mode == MODE_SERVER && !st->retyped && !sb__pipe_of_texts(c))
        sb__pipe_add_stmt(c, st, st->value, st->nbound, op);
    else if (fill_text(st) == 0)
        sb__pipe_add_text(c, st->text.data, st->text.len, op);
}

struct sb_rs *sb_stmt_execute(struct sb_stmt_handle *st)
{
    struct sb_con_priv *c = st->child.con;

    if (!c || st->late) {
        sb_log(SB_LOG_ALERT, "attempt to use an already closed connection");
        return NULL;
    }
    if (sb__call_ready(c) || make_ready(st))
        return NULL;
    if (SB_UNLIKELY(c->pipe.state == SB__PIPE_OPEN)) {
        collect(st);
        return NULL;
    }
    return execute(st) ? NULL : sb__result_new(c, st);
}

void sb__stmt_view(const struct sb_stmt_handle *st, struct sb__stmt_view *out)
{
    *out = (struct sb__stmt_view){
        .sql = st->sql,
        .len = st->len,
        .stmt = st->mode == MODE_SERVER ? st->stmt : NULL,
    };
}

int sb__stmt_run(struct sb_stmt_handle *st, const struct sb_value *value)
{
    if (st->nbound > 0)
        memcpy(st->value, value, st->nbound * sizeof(*value));
    return execute(st);
}

static void detach(struct sb_stmt_handle *st)
{
    struct sb_con_priv *c = st->child.con;

    if (c->outcome != SB__OUTCOME_NONE && c->statement == st)
        sb__result_end(c);
    if (sb__con_connected(c))
        stmt_reset(st);
    assert(st->mode != MODE_SERVER);
    sb__child_remove(&st->child);
    stmt_strip(st);
}

static void release(struct sb_stmt_handle *st)
{
    struct sb_con_priv *c = st->child.con;

    if (c && (c->pipe.state != SB__PIPE_NONE || c->state == SB__CON_LOADING)) {
        st->late = true;
        sb__child_free_later(&st->child);
        return;
    }
    if (c)
        detach(st);
    else
        sb__child_unlink(&st->child); // from the orphans
    stmt_retire(st, &st->ctx->idle_stmts);
}

void sb_stmt_free(struct sb_stmt_handle *st)
{
    if (!st || st->idle || st->late)
        return;
    sb__handle_end(&st->handle);
    release(st);
}

static void free_dropped(struct sb__handle *h)
{
    sb_stmt_free(
        (struct sb_stmt_handle *)((char *)h -
                                  offsetof(struct sb_stmt_handle, handle)));
}

void sb_stmt_drop(struct sb_stmt_handle *st)
{
    if (st)
        sb__handle_drop(&st->handle);
}

static void free_late(struct sb__child *k)
{
    struct sb_stmt_handle *st = (struct sb_stmt_handle *)k;

    st->late = false;
    release(st);
}

static void reset_child(struct sb__child *k)
{
    stmt_reset((struct sb_stmt_handle *)k);
}

// Keeps only the handle, for sb_stmt_free().
static void orphan_child(struct sb__child *k)
{
    struct sb_stmt_handle *st = (struct sb_stmt_handle *)k;

    detach(st);
    stmt_retire(st, &st->ctx->orphans);
}

static void free_child(struct sb__child *k)
{
    sb__child_unlink(k);
    free(k);
}

static const struct sb__child_ops handle_ops = {
    .reset = reset_child,
    .orphan = orphan_child,
    .free_late = free_late,
    .free = free_child,
};
