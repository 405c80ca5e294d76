// SPDX-License-Identifier: GPL-2.0-or-later
//
// Contexts, and opening and closing of connections.
#include <stdlib.h>

#include "base/rng.h"
#include "db/internal.h"

static struct sb_con_priv *priv(struct sb_con *con)
{
    return (struct sb_con_priv *)con;
}

void sb_db_ctx_init(struct sb_db_ctx *c, struct sb_drivers *d,
    struct sb_rec *const *rec, const struct sb_clock *clock, unsigned user,
    uint64_t seed)
{
    *c = (struct sb_db_ctx){
        .drivers = d,
        .rec = rec,
        .clock = clock,
        .user = user,
        .seed = seed,
    };
    pthread_mutex_init(&c->lock, NULL);
}

void sb_db_ctx_done(struct sb_db_ctx *c)
{
    while (c->cons)
        sb_con_free(&c->cons->pub);
    while (c->idle_cons) {
        struct sb_con_priv *con = c->idle_cons;

        c->idle_cons = con->next;
        free(con);
    }
    sb__stmts_done(c);
    sb__docs_done(c);
    if (c->drivers)
        pthread_mutex_destroy(&c->lock);
    c->drivers = NULL;
}

void sb_db_ctx_cancel(struct sb_db_ctx *ctx)
{
    pthread_mutex_lock(&ctx->lock);
    for (struct sb_con_priv *c = ctx->cons; c; c = c->next) {
        if (c->cancelable && c->drv->generic->cancel)
            c->drv->generic->cancel(c->conn);
        sb__loads_cancel(c);
    }
    pthread_mutex_unlock(&ctx->lock);
}

// Only this function and the next two write to `cancelable` and the list, so
// that cancel() is not called for a connection that is being opened or closed,
// unless the driver supports it (SB_CAP_CANCEL_CONNECT).
void sb__con_cancelable(struct sb_con_priv *c, bool on)
{
    pthread_mutex_lock(&c->ctx->lock);
    c->cancelable = on;
    pthread_mutex_unlock(&c->ctx->lock);
}

static void list_add(struct sb_con_priv *c)
{
    pthread_mutex_lock(&c->ctx->lock);
    c->prev = NULL;
    c->next = c->ctx->cons;
    if (c->next)
        c->next->prev = c;
    c->ctx->cons = c;
    c->ctx->held++;
    pthread_mutex_unlock(&c->ctx->lock);
}

static void list_remove(struct sb_con_priv *c)
{
    pthread_mutex_lock(&c->ctx->lock);
    if (c->next)
        c->next->prev = c->prev;
    if (c->prev)
        c->prev->next = c->next;
    else
        c->ctx->cons = c->next;
    c->ctx->held--;
    pthread_mutex_unlock(&c->ctx->lock);
}

static struct sb_con_priv *con_new(struct sb_db_ctx *ctx, struct sb_db *db)
{
    const struct sb_driver *drv = db->drv;
    struct sb_conn *conn = calloc(1, drv->conn_size);
    struct sb_con_priv *c = ctx->idle_cons;
    unsigned rs_now = c ? c->rs_now : 0;

    if (conn && c)
        ctx->idle_cons = c->next;
    else if (conn)
        c = calloc(1, sizeof(*c));
    if (!conn || !c) {
        free(conn);
        return NULL;
    }
    *c = (struct sb_con_priv){
        .ctx = ctx,
        .drv = drv,
        .sql = drv->sql,
        .conn = conn,
        .pub = { .driver = db, .sql_state = "", .sql_errmsg = "" },
        .debug = db->owner->opts->debug,
        .emulate = db->owner->opts->ps_mode == SB_DB_PS_DISABLE,
        .rs_now = rs_now,
        .prepared = { .most = (uint32_t)db->owner->opts->statement_cache },
    };
    sb_buf_init(&c->bulk, 0);
    sb_buf_init(&c->pipe.bytes, 0);
    return c;
}

static void con_release(struct sb_con_priv *c)
{
    if (c->inst)
        sb__inst_put(c->inst);
    c->inst = NULL;
    sb_buf_done(&c->bulk);
    sb__pipeline_done(c);
    sb__session_done(c);
    free(c->doc_body.data);
    c->doc_body = (struct sb__bytes){ 0 };
    free(c->failed_sql);
    c->failed_sql = NULL;
    free(c->conn);
    c->conn = NULL;
    c->idle = true;
    c->next = c->ctx->idle_cons;
    c->ctx->idle_cons = c;
}

int sb__con_connect(struct sb_con_priv *c, struct sb_err *err)
{
    const struct sb_generic_ops *g = c->drv->generic;
    int rc;

    if (c->drv->caps & SB_CAP_CANCEL_CONNECT)
        sb__con_cancelable(c, true);
    rc = g->connect(c->conn, &c->inst->env, c->inst->opts, &c->info, err);
    sb__con_cancelable(c, rc == 0);
    return rc;
}

static int con_connect(struct sb_con_priv *c, struct sb_err *err)
{
    struct sb_drivers *d = c->inst->db->owner;
    uint64_t stream = ((uint64_t)c->ctx->user << 32) | c->ctx->opened++;
    int rc;

    c->info = (struct sb_conn_info){
        .number = atomic_fetch_add_explicit(
            &d->connections, 1, memory_order_relaxed),
        .seed = sb_rng_mix(c->ctx->seed ^ sb_rng_mix(stream)),
        .user = c->ctx->user,
    };
    list_add(c);
    rc = sb__con_connect(c, err);
    if (rc == 0)
        rc = sb__session_begin(c->inst->db, c->conn, err);
    if (rc) {
        sb__con_cancelable(c, false);
        c->drv->generic->disconnect(c->conn);
        err->code = rc;
        rc = sb__con_await(c, err);
    }
    if (rc) {
        list_remove(c);
        return rc;
    }
    c->open = true;
    sb__refresh_init(c);
    atomic_store_explicit(&c->inst->used, true, memory_order_relaxed);
    atomic_store_explicit(&d->used, true, memory_order_relaxed);
    if (!c->drv->doc)
        atomic_store_explicit(&d->used_sql, true, memory_order_relaxed);
    if (!(c->drv->caps & SB_CAP_EMBEDDED))
        atomic_store_explicit(&d->used_server, true, memory_order_relaxed);
    return 0;
}

// Returns whether the context's own option number i is used: db has it, and the
// script does not give it.
static bool uses_own(const struct sb_db_own *own, const struct sb_db *db,
    size_t i, const char *const *names, size_t n)
{
    const struct sb_opt *o = sb__opt_find(db->drv, own->names[i]);

    // sb__opt_find() also finds names without the driver's prefix.
    if (!o || strcmp(o->name, own->names[i]) != 0)
        return false;
    for (size_t k = 0; k < n; k++)
        if (sb__opt_find(db->drv, names[k]) == o)
            return false;
    return true;
}

// As sb__inst_in_turn(), with the options that the context has for itself.
static int get_instance(struct sb_db_ctx *ctx, struct sb_db *db,
    const char *const *names, const char *const *values, size_t n,
    struct sb__inst **out, struct sb_err *err)
{
    const struct sb_db_own *own = ctx->own;
    const char **name, **value;
    size_t k = 0;
    int rc;

    if (!own || own->n == 0)
        return sb__inst_in_turn(ctx, db, names, values, n, out, err);
    name = calloc(2 * (own->n + n), sizeof(*name));
    if (!name)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    value = name + own->n + n;
    for (size_t i = 0; i < own->n; i++) {
        if (!uses_own(own, db, i, names, n))
            continue;
        name[k] = own->names[i];
        value[k++] = own->values[i];
    }
    for (size_t i = 0; i < n; i++, k++) {
        name[k] = names[i];
        value[k] = values[i];
    }
    rc = sb__inst_in_turn(ctx, db, name, value, k, out, err);
    free(name);
    return rc;
}

// Counts a connection that was opened in an event.
static void count_opened(struct sb_con_priv *c, uint64_t since)
{
    struct sb_rec *rec = sb__rec(c);

    if (rec)
        sb_rec_op(rec, sb__op_of_connect(c->ctx, rec), sb__now(c) - since);
}

int sb_con_refused(struct sb_db_ctx *ctx, struct sb_db *db)
{
    struct sb_rec *rec = ctx->rec ? *ctx->rec : NULL;
    int op;

    switch (ctx->err.code) {
    case SB_EUSAGE:
    case SB_ENOMEM:
    case SB_EDRIVER:
    case SB_ECANCELED:
        return 0;
    default:
        break;
    }
    if (!rec)
        return 1;
    op = sb__op_of_connect(ctx, rec);
    sb_tally_add(&sb_rec_op_tally(rec, op)->errors, 1);
    sb_rec_code(rec, db->drv->name, &ctx->err, sb_clock_now(ctx->clock));
    return 1;
}

struct sb_con *sb_con_open(struct sb_db_ctx *ctx, struct sb_db *db,
    const char *const *names, const char *const *values, size_t n)
{
    struct sb_con_priv *c = con_new(ctx, db);
    uint64_t turns = ctx->turns, since = 0;
    int rc;

    sb_err_clear(&ctx->err);
    if (!c) {
        sb_err_set(&ctx->err, SB_ENOMEM, "out of memory");
        return NULL;
    }
    rc = get_instance(ctx, db, names, values, n, &c->inst, &ctx->err);
    if (sb__rec(c))
        since = sb__now(c);
    if (rc == 0)
        rc = con_connect(c, &ctx->err);
    if (rc) {
        ctx->turns = turns; // the next attempt uses the same database
        ctx->err.code = rc;
        ctx->failed_at = ctx->freed;
        con_release(c);
        return NULL;
    }
    count_opened(c, since);
    return &c->pub;
}

unsigned sb_con_held(const struct sb_db_ctx *ctx)
{
    return ctx->held;
}

int sb_con_retry(struct sb_db_ctx *ctx)
{
    return ctx->err.code != SB_ECANCELED && ctx->freed != ctx->failed_at;
}

static void con_shut(struct sb_con_priv *c)
{
    sb__loads_drop(c);
    sb__pipeline_drop(c);
    sb__result_end(c);
    sb__stmts_reset(c);
    sb__con_cancelable(c, false);
    c->drv->generic->disconnect(c->conn);
    c->open = c->lost = false;
}

int sb_con_close(struct sb_con *con)
{
    struct sb_con_priv *c = priv(con);

    if (c->lost && !c->open) {
        c->lost = false; // already closed by the server
        return 0;
    }
    if (!c->open) {
        sb_log(SB_LOG_ALERT, "attempt to close an already closed connection");
        sb_err_set(&c->err, SB_EUSAGE, "the connection is closed already");
        return sb__con_failed(c);
    }
    con_shut(c);
    return 0;
}

void sb_con_free(struct sb_con *con)
{
    struct sb_con_priv *c = priv(con);

    if (!con || c->idle)
        return;
    if (c->open) {
        con_shut(c);
        c->ctx->freed++;
    }
    sb__stmts_orphan(c);
    sb__docs_orphan(c);
    list_remove(c);
    con_release(c);
}

int sb_con_server(struct sb_con *con, char *out, size_t size)
{
    struct sb_con_priv *c = priv(con);

    if (size > 0)
        out[0] = '\0';
    if (!c->open || !c->drv->info)
        return 0;
    return c->drv->info->server(c->conn, out, size);
}

size_t sb_con_quote(
    struct sb_con *con, const char *text, size_t len, char *out, size_t size)
{
    struct sb_con_priv *c = priv(con);

    if (c->open && c->sql && c->sql->quote)
        return c->sql->quote(c->conn, text, len, out, size);
    return sb__quote_plain(text, len, out, size);
}

int sb_con_reset(struct sb_con *con)
{
    struct sb_con_priv *c = priv(con);
    int rc;

    sb__pipeline_drop(c);
    if (c->lost) {
        sb__loads_drop(c);
        return sb__con_regain(c);
    }
    if (!c->open)
        return 0;
    sb__loads_drop(c);
    rc = sb__con_begin(c);
    if (rc == 0 && c->drv->generic->reset)
        rc = c->drv->generic->reset(c->conn, &c->err);
    if (rc == SB_ELOST || rc == SB_ERECONNECT) {
        c->err.code = rc;
        rc = sb__con_error(c, "rollback", "", 0);
        return rc == SB_ERECONNECT ? sb__con_regain(c) : rc;
    }
    // This error is neither counted nor logged, because the error that caused
    // the reset was.
    return rc ? sb__con_failed(c) : 0;
}

void sb_con_reset_others(struct sb_con *con)
{
    struct sb_con_priv *self = priv(con);

    // No lock is needed, because only this thread changes the list.
    for (struct sb_con_priv *c = self->ctx->cons; c; c = c->next) {
        if (c != self && c->open && !c->lost)
            sb_con_reset(&c->pub);
    }
}

const struct sb_err *sb_con_err(const struct sb_con *con)
{
    return &((const struct sb_con_priv *)con)->err;
}
