// SPDX-License-Identifier: GPL-2.0-or-later
//
// Prepared statements: prepared on the server if it supports them, otherwise
// emulated by SQL text; and their parameters.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "db/op.h"
#include "db/sql/sql.h"
#include "db/texts.h"
#include "kit/hash.h"
#include "kit/sqlscan.h"

// Parameters, which may outlive the statement that they were created for -----

#define GROWTH_LEAST 64u

struct param {
    struct sb_param pub; // first: the handle Lua holds
    unsigned refs;       // its creator and the statements it is bound to
    bool grows;          // no maximum length was declared
    struct sb_drivers *owner;
};

static struct sb_param *param_new(
    struct sb_drivers *owner, int type, uint64_t max_len, struct sb_err *err)
{
    bool buffer = type >= SB_SQL_TYPE_TIME;
    struct param *p;

    if (type <= SB_SQL_TYPE_NONE || type > SB_SQL_TYPE_BLOB) {
        sb_err_set(err, SB_EUSAGE, "invalid parameter type %d", type);
        return NULL;
    }
    if (buffer && max_len >= UINT32_MAX) {
        sb_err_set(err, SB_EUSAGE,
            "the maximum length of a parameter is %u bytes", UINT32_MAX - 1);
        return NULL;
    }
    p = calloc(1, sizeof(*p));
    if (p && buffer)
        p->pub.buffer = malloc(max_len + 1);
    if (!p || (buffer && !p->pub.buffer)) {
        free(p);
        sb_err_set(err, SB_ENOMEM, "out of memory");
        return NULL;
    }
    p->pub.type = type;
    p->pub.is_null = 1;
    p->pub.max_len = buffer ? max_len : 0;
    p->grows = buffer && max_len == 0;
    p->refs = 1;
    p->owner = owner;
    return &p->pub;
}

static struct sb_param *param_keep(struct sb_param *param)
{
    struct param *p = (struct param *)param;

    assert(p->refs > 0);
    p->refs++;
    return param;
}

void sb_param_free(struct sb_param *param)
{
    struct param *p = (struct param *)param;

    assert(!p || p->refs > 0);
    if (!p || --p->refs > 0)
        return;
    free(p->pub.buffer);
    free(p);
}

// Scripts cut texts in many parameters and users: one warning is enough.
static void warn_cut(struct param *p, uint64_t len)
{
    if (!atomic_exchange_explicit(&p->owner->cut, true, memory_order_relaxed))
        sb_log(SB_LOG_WARNING,
            "a text of %" PRIu64 " bytes was cut to %" PRIu64
            ", the length that the script declares with stmt:bind_create(); "
            "without a length, it is sent whole",
            len, p->pub.max_len);
}

int64_t sb_param_room(struct sb_param *param, uint64_t len)
{
    struct param *p = (struct param *)param;
    uint64_t size = 2 * p->pub.max_len;
    char *grown;

    if (len > p->pub.max_len && !p->grows)
        warn_cut(p, len);
    if (len <= p->pub.max_len || !p->grows)
        return (int64_t)(len < p->pub.max_len ? len : p->pub.max_len);
    if (len >= UINT32_MAX)
        return -1;
    size = size < GROWTH_LEAST ? GROWTH_LEAST : size;
    size = size < len ? len : size;
    grown = realloc(p->pub.buffer, size + 1);
    if (!grown)
        return -1;
    p->pub.buffer = grown;
    p->pub.max_len = size;
    return (int64_t)len;
}

// Writes "1 parameter bound, but the statement has 2 placeholders".
static void params_counted(char *out, size_t size, size_t n, unsigned marks)
{
    snprintf(out, size,
        "%zu parameter%s bound, but the statement has %u placeholder%s", n,
        n == 1 ? "" : "s", marks, marks == 1 ? "" : "s");
}

static int params_check(struct sb_param *const *params, size_t n,
    unsigned marks, const char *sql, struct sb_err *err)
{
    char text[120];

    if (n != marks) {
        params_counted(text, sizeof(text), n, marks);
        return sb_err_set(err, SB_EUSAGE, "%s: '%.200s'", text, sql);
    }
    for (size_t i = 0; i < n; i++) {
        if (!params[i])
            return sb_err_set(err, SB_EUSAGE,
                "parameter %zu of '%.200s' is missing", i + 1, sql);
    }
    return 0;
}

// True if only some drivers accept the value.
static bool is_special(const struct sb_value *v)
{
    return v->type == SB_VALUE_UINT ||
           (v->type == SB_VALUE_DOUBLE && !isfinite(v->d));
}

int sb__value_check(struct sb_con_priv *c, const struct sb_value *v)
{
    uint64_t caps = c->drv->caps;

    if (SB_LIKELY(!is_special(v)))
        return 0;
    if (v->type == SB_VALUE_UINT)
        return caps & SB_CAP_UNSIGNED
                   ? 0
                   : sb__error_set(c, SB_ERANGE,
                         "%" PRIu64 " is out of range: the %s driver does not "
                         "support unsigned 64-bit integers",
                         v->u, c->drv->name);
    if (caps & (isnan(v->d) ? SB_CAP_NAN : SB_CAP_INFINITY))
        return 0;
    return sb__error_set(c, SB_ERANGE,
        "%s is out of range: the %s driver cannot store it",
        isnan(v->d) ? "NaN"
        : v->d < 0  ? "-Infinity"
                    : "Infinity",
        c->drv->name);
}

// Statements -----------------------------------------------------------------

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
    enum sb_op_kind kind;
    struct sb__op op; // of its executions
    enum mode mode;
    struct sb_stmt *stmt;                 // stmt_size bytes
    struct sb_stmt_handle *newer, *older; // in con->prepared, if MODE_SERVER
    struct sb__placeholders marks;
    struct sb_value *value;  // nbound values
    struct sb_param **bound; // nbound parameters, in the same allocation
    uint8_t *types;          // nbound types, in the same allocation
    uint32_t nbound;
    struct sb_buf text; // for the emulation
    // Ranges from SB__PREFETCH_STATEMENT on, for the user's fiber.
    uintptr_t hot[4];
};
static_assert(SB__PREFETCH_STATEMENT + 4 == SB_PREFETCH_SLOTS, "ranges");

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
    uint32_t scan = sb__query_scan(c);

    st->sql = malloc(len + 1);
    st->stmt = calloc(1, c->drv->stmt_size ? c->drv->stmt_size : 1);
    if (!st->sql || !st->stmt ||
        sb__placeholders_scan(&st->marks, sql, len, scan))
        return SB_ENOMEM;
    memcpy(st->sql, sql, len);
    st->sql[len] = '\0';
    st->len = len;
    st->kind = sb__op_kind(sql, len);
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
    stmt_strip(st);
    assert(!st->child.con);
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

// The memory that the user's fiber uses if the statement is executed when its
// last execution has been answered.
static void set_hot(struct sb_stmt_handle *st, size_t driver)
{
    bool values = st->nbound > 0;

    st->hot[0] = sb_prefetch_range(st, sizeof(*st));
    st->hot[1] = sb_prefetch_range(
        st->stmt, driver < SB_DRIVER_HOT_STMT ? driver : SB_DRIVER_HOT_STMT);
    st->hot[2] = values ? sb_prefetch_range(st->value,
                              (size_t)((char *)st->types - (char *)st->value))
                        : 0;
    st->hot[3] = values ? sb_prefetch_range(st->bound[0], sizeof(**st->bound))
                        : 0;
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
    if (!c->sql) {
        sb__error_set(c, SB_EUNSUPPORTED, "the driver has no SQL operations");
        return NULL;
    }
    st = stmt_new(c->ctx);
    if (!st || fill_stmt(st, c, sql, len, op)) {
        sb__error_no_memory(c);
        if (st)
            stmt_retire(st, &st->ctx->idle_stmts);
        return NULL;
    }
    sb_buf_init(&st->text, 0);
    set_hot(st, c->drv->stmt_size);
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
    p = param_new(c->inst->db->owner, type, max_len, &c->err);
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
    params_counted(text, sizeof(text), n, st->marks.n);
    sb_log(
        SB_LOG_WARNING, "%s; the others are ignored: '%.200s'", text, st->sql);
}

int sb_stmt_bind(
    struct sb_stmt_handle *st, struct sb_param *const *params, size_t n)
{
    struct sb_con_priv *c = st->child.con;
    struct sb_param **bound;
    struct sb_value *value;
    uint8_t *types;

    if (!c)
        return SB_EUSAGE;
    if (n > st->marks.n) {
        warn_surplus(st, n);
        n = st->marks.n;
    }
    if (params_check(params, n, st->marks.n, st->sql, &c->err))
        return sb__error_show(c);
    value = calloc(n + 1, sizeof(*value) + sizeof(*bound) + sizeof(*types));
    if (!value)
        return sb__error_no_memory(c);
    bound = (struct sb_param **)(value + n);
    types = (uint8_t *)(bound + n);
    for (size_t i = 0; i < n; i++) {
        bound[i] = param_keep(params[i]);
        types[i] = (uint8_t)params[i]->type;
        if (i < st->nbound && st->types[i] != types[i])
            st->retyped = st->mode == MODE_SERVER &&
                          (c->drv->caps & SB_CAP_PARAM_TYPES);
    }
    unbind(st);
    st->bound = bound;
    st->types = types;
    st->value = value;
    st->nbound = (uint32_t)n;
    set_hot(st, c->drv->stmt_size);
    return 0;
}

// The statement cache: see struct sb__prepared -------------------------------

static void cache_count(struct sb__prepared *l, uint32_t n)
{
    l->n = n;
    l->full = l->most > 0 && n >= l->most;
}

// Adds it as the newest.
static void cache_add(struct sb__prepared *l, struct sb_stmt_handle *st)
{
    st->older = l->newest;
    *(l->newest ? &l->newest->newer : &l->oldest) = st;
    l->newest = st;
    cache_count(l, l->n + 1);
}

static void cache_remove(struct sb__prepared *l, struct sb_stmt_handle *st)
{
    *(st->newer ? &st->newer->older : &l->newest) = st->older;
    *(st->older ? &st->older->newer : &l->oldest) = st->newer;
    st->newer = st->older = NULL;
    cache_count(l, l->n - 1);
}

static void stmt_reset(struct sb_stmt_handle *st)
{
    struct sb_con_priv *c = st->child.con;

    if (st->mode == MODE_SERVER) {
        c->sql->close(c->conn, st->stmt);
        memset(st->stmt, 0, c->drv->stmt_size);
        cache_remove(&c->prepared, st);
    }
    st->mode = MODE_NEW;
    st->retyped = false;
}

void sb__stmts_make_room(struct sb_con_priv *c, uint32_t more)
{
    struct sb__prepared *l = &c->prepared;

    if (!l->full || c->pipe.state != SB__PIPE_NONE)
        return;
    while (l->oldest && l->n + more > l->most)
        stmt_reset(l->oldest);
    if (more && !atomic_exchange_explicit(
                    &c->inst->db->owner->crowded, true, memory_order_relaxed))
        sb_log(SB_LOG_NOTICE,
            "%s: a connection uses more than %u statements: the least recently "
            "used ones are closed and prepared again (--db-statement-cache)",
            c->drv->name, l->most);
}

// Preparing ------------------------------------------------------------------

// A statement with '??' can be prepared only if the driver supports it.
static bool has_server_side(const struct sb_stmt_handle *st)
{
    const struct sb_con_priv *c = st->child.con;

    return c->sql->prepare && !c->emulate &&
           (!st->marks.sql || (c->drv->caps & SB_CAP_ESCAPED_MARKS));
}

// 0 or SB_E*; SB_EUNSUPPORTED: it is to be emulated.
static int prepare_on_server(struct sb_stmt_handle *st)
{
    struct sb_con_priv *c = st->child.con;
    uint32_t n = st->nbound;
    int rc;

    if (!has_server_side(st))
        return SB_EUNSUPPORTED;
    sb__stmts_make_room(c, 1);
    rc = c->sql->prepare(
        c->conn, st->stmt, st->sql, st->len, st->types, &n, &c->err);
    if (rc || n == st->marks.n)
        return rc;
    c->sql->close(c->conn, st->stmt);
    return sb__error_usage(c,
        "the server found %u parameters, but the statement has %u placeholders",
        n, st->marks.n);
}

// Called before the first execution. Preparing is recorded as a separate
// operation, so that it is not part of the latency of the first query.
static int prepare(struct sb_stmt_handle *st)
{
    struct sb_con_priv *c = st->child.con;
    int op = sb__op_of_prepare(c->ctx);
    uint64_t now = sb__now(c);
    // Not sb__call_begin(): the numbers of the last result stay.
    struct sb__call call = sb__call_since(c, op, now);
    char was[sizeof(c->err.msg)];
    int rc = prepare_on_server(st);

    if (rc)
        memset(st->stmt, 0, c->drv->stmt_size);
    if (rc == SB_EUNSUPPORTED) {
        st->mode = MODE_EMULATED;
        return 0;
    }
    if (rc) {
        memcpy(was, c->err.msg, sizeof(was));
        snprintf(c->err.msg, sizeof(c->err.msg), "%.300s (preparing '%.150s')",
            was, st->sql);
        c->err.code = rc;
        return sb__call_failed(call, rc,
            &(struct sb__call_text){ "prepare", st->sql, st->len, NULL, 0 });
    }
    sb__call_record(&call);
    st->mode = MODE_SERVER;
    cache_add(&c->prepared, st);
    return 0;
}

// Executing ------------------------------------------------------------------

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

// Prepares the statement, if necessary, and takes its values from the
// parameters.
static int make_ready(struct sb_stmt_handle *st)
{
    struct sb_con_priv *c = st->child.con;

    if (SB_UNLIKELY(st->retyped) && c->pipe.state == SB__PIPE_NONE)
        stmt_reset(st);
    if (SB_UNLIKELY(st->mode == MODE_NEW) && !c->pipe.texts && prepare(st))
        return c->err.code;
    if (SB_UNLIKELY(c->prepared.full) && st->mode == MODE_SERVER) {
        cache_remove(&c->prepared, st);
        cache_add(&c->prepared, st);
    }
    for (uint32_t i = 0; i < st->nbound; i++) {
        struct sb_value *v = &st->value[i];

        take_value(v, st->bound[i]);
        if (SB_UNLIKELY(is_special(v)) && sb__value_check(c, v))
            return c->err.code;
    }
    return 0;
}

static int fill_text(struct sb_stmt_handle *st)
{
    return sb__query_fill(
        st->child.con, &st->text, &st->marks, st->sql, st->len, st->value);
}

// The values were taken from the parameters.
static void note_plans(struct sb_stmt_handle *st, int op)
{
    struct sb_con_priv *c = st->child.con;
    bool filled = c->inst->db->owner->plans && fill_text(st) == 0;
    struct sb_statement s = { .sql = st->text.data, .len = st->text.len };

    c->ctx->op_is_new = false;
    sb__error_clear(c); // of a value without a literal
    if (st->mode == MODE_SERVER)
        s = (struct sb_statement){ .sql = st->sql,
            .len = st->len,
            .prepared = true,
            .nvalues = st->nbound,
            .values = st->value,
            .types = st->types,
            .literal = filled ? st->text.data : NULL,
            .literal_len = filled ? st->text.len : 0 };
    if (filled || s.prepared)
        sb__query_note(c, &s, op);
    if (s.prepared)
        sb_buf_trim(&st->text, 0);
}

static inline int call_execute(struct sb_stmt_handle *st)
{
    struct sb_con_priv *c = st->child.con;

    return c->sql->execute(
        c->conn, st->stmt, st->value, st->nbound, &c->res, &c->err);
}

// The statement does not exist on the server, because a pooler or proxy has
// connected another one. Prepares it again. 0 or SB_E*, which is counted.
static int prepare_again(struct sb_stmt_handle *st)
{
    stmt_reset(st);
    st->child.con->res = (struct sb_result){ 0 };
    return prepare(st);
}

// 0 or SB_E*, which is counted; except for SB_EUNSUPPORTED: from now on, the
// statement is emulated.
static int execute_on_server(struct sb_stmt_handle *st, int op)
{
    struct sb__call call = sb__call_begin(st->child.con, op);
    int rc;

    assert(st->mode == MODE_SERVER);
    if (SB_UNLIKELY(st->ctx->prefetch != NULL))
        memcpy(&st->ctx->prefetch->range[SB__PREFETCH_STATEMENT], st->hot,
            sizeof(st->hot));
    rc = call_execute(st);
    if (SB_UNLIKELY(rc == SB_EUNSUPPORTED)) {
        rc = prepare_again(st);
        if (rc)
            return rc;
        rc = st->mode == MODE_SERVER ? call_execute(st) : SB_EUNSUPPORTED;
        if (rc == SB_EUNSUPPORTED) {
            stmt_reset(st);
            st->mode = MODE_EMULATED;
            return rc;
        }
    }
    if (sb__call_ends_well(&call, rc))
        return 0;
    return sb__call_end(call, rc,
        &(struct sb__call_text){
            "query", st->sql, st->len, st->value, st->nbound });
}

static int execute(struct sb_stmt_handle *st, int op)
{
    int rc = SB_UNLIKELY(st->mode == MODE_EMULATED) ? SB_EUNSUPPORTED
                                                    : execute_on_server(st, op);

    if (SB_LIKELY(rc != SB_EUNSUPPORTED))
        return rc;
    rc = fill_text(st);
    return rc ? rc
              : sb__query_run(st->child.con, st->text.data, st->text.len, op);
}

// Adds the statement to a pipeline: as its text, if the driver does not have it
// prepared.
static void collect(struct sb_stmt_handle *st, int op)
{
    struct sb_con_priv *c = st->child.con;
    bool prepared = st->mode == MODE_SERVER && !st->retyped && !c->pipe.texts;
    struct sb_item item = { .sql = st->sql,
        .len = st->len,
        .values = st->value,
        .nvalues = st->nbound };

    if (!prepared) {
        if (fill_text(st))
            return;
        item = (struct sb_item){ .sql = st->text.data, .len = st->text.len };
    }
    sb__pipe_add(c, prepared ? st : NULL, &item, op);
}

// first: the statement has not been executed before.
static void note_op(struct sb_stmt_handle *st, int op, bool first)
{
    struct sb_db_ctx *ctx = st->ctx;
    uint64_t hash = sb_hash_more(
        SB_HASH_START + (unsigned)op, st->sql, st->len);
    uint64_t *noted = &ctx->noted[hash % SB_DB_NOTED];

    if (*noted == hash)
        return;
    *noted = hash;
    if (first && ctx->drivers)
        sb__texts_add(ctx->drivers->texts, st->op.stats->op[op].name, st->sql,
            st->len, st->child.con->drv->scan);
    note_plans(st, op);
}

// The operation of its executions. Notes its text when it is first executed.
static inline int op_of(struct sb_stmt_handle *st)
{
    bool first = !st->op.stats;
    int op = sb__op_cached(st->ctx, &st->op, st->op_name, st->kind);

    if (SB_UNLIKELY(st->ctx->op_is_new) && op >= 0)
        note_op(st, op, first);
    return op;
}

struct sb_rs *sb_stmt_execute(struct sb_stmt_handle *st)
{
    struct sb_con_priv *c = st->child.con;
    int op;

    if (!c || st->late) {
        sb_log(SB_LOG_ALERT, "attempt to use an already closed connection");
        return NULL;
    }
    if (sb__call_ready(c))
        return NULL;
    if (SB_UNLIKELY(st->nbound != st->marks.n)) {
        sb__error_usage(c, "the parameters are not bound");
        return NULL;
    }
    if (make_ready(st))
        return NULL;
    op = op_of(st);
    if (SB_UNLIKELY(c->pipe.state == SB__PIPE_OPEN)) {
        collect(st, op);
        return NULL;
    }
    return execute(st, op) ? NULL : sb__result_new(c, st);
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
    return execute(st, op_of(st));
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
