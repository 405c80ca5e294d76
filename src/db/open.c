// SPDX-License-Identifier: GPL-2.0-or-later
//
// Contexts, and opening and closing of connections.
#include <stdlib.h>

#include "db/call.h"
#include "db/link.h"
#include "db/op.h"
#include "db/slots.h"
#include "kit/rng.h"

static struct sb_con_priv *priv(struct sb_con *con)
{
    return (struct sb_con_priv *)con;
}

void sb_db_ctx_init(struct sb_db_ctx *c, struct sb_drivers *d,
    struct sb_rec *const *rec, const struct sb_clock *clock, unsigned user,
    uint64_t seed)
{
    static struct sb_rec *const none = NULL;

    *c = (struct sb_db_ctx){
        .drivers = d,
        .rec = rec ? rec : &none,
        .clock = clock,
        .user = user,
        .seed = seed,
    };
    pthread_mutex_init(&c->lock, NULL);
}

static void con_shut(struct sb_con_priv *c);

void sb_db_ctx_leave(struct sb_db_ctx *c)
{
    for (struct sb_con_priv *con = c->cons; con; con = con->next)
        if (sb__con_connected(con))
            con_shut(con);
    c->left = true;
    sb__handles_free(c); // also those dropped while a connection was closed
}

bool sb_db_ctx_unused(const struct sb_db_ctx *c)
{
    return c->handles == 0;
}

void sb_db_ctx_done(struct sb_db_ctx *c)
{
    sb__handles_free(c);
    while (c->cons)
        sb_con_free(&c->cons->pub);
    while (c->idle_cons) {
        struct sb_con_priv *con = c->idle_cons;

        c->idle_cons = con->next;
        free(con);
    }
    sb__children_free(&c->orphans);
    sb__children_free(&c->idle_stmts);
    sb__op_names_free(c);
    if (c->drivers)
        pthread_mutex_destroy(&c->lock);
    c->drivers = NULL;
}

void sb_db_ctx_cancel(struct sb_db_ctx *ctx)
{
    pthread_mutex_lock(&ctx->lock);
    if (ctx->slot_wait)
        sb__slot_cancel(ctx->slot_wait);
    for (struct sb_con_priv *c = ctx->cons; c; c = c->next) {
        if (c->cancelable && c->drv->generic->cancel)
            c->drv->generic->cancel(c->conn);
        sb__children_cancel(c);
    }
    pthread_mutex_unlock(&ctx->lock);
}

void sb_db_ctx_end(struct sb_db_ctx *ctx)
{
    atomic_store_explicit(&ctx->ended, true, memory_order_relaxed);
    sb_db_ctx_cancel(ctx);
}

static void enlist(struct sb_con_priv *c)
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

static void delist(struct sb_con_priv *c)
{
    pthread_mutex_lock(&c->ctx->lock);
    if (c->next)
        c->next->prev = c->prev;
    if (c->prev)
        c->prev->next = c->next;
    else
        c->ctx->cons = c->next;
    assert(c->ctx->held > 0);
    c->ctx->held--;
    pthread_mutex_unlock(&c->ctx->lock);
}

static void free_dropped(struct sb__handle *h);

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
        .state = SB__CON_CLOSED,
        .pub = { .driver = db,
            .host = &db->owner->host,
            .sql_state = "",
            .sql_errmsg = "" },
        .debug = db->owner->opts->debug,
        .emulate = db->owner->opts->ps_mode == SB_DB_PS_DISABLE,
        .rs_now = rs_now,
        .prepared = { .most = (uint32_t)db->owner->opts->statement_cache },
    };
    sb_buf_init(&c->bulk, 0);
    return c;
}

static void con_release(struct sb_con_priv *c)
{
    if (c->inst)
        sb__inst_put(c->inst);
    c->inst = NULL;
    sb_buf_done(&c->bulk);
    sb__session_done(c);
    free(c->failed_sql);
    c->failed_sql = NULL;
    free(c->conn);
    c->conn = NULL;
    assert(!c->children && !c->cancelables && c->outcome == SB__OUTCOME_NONE);
    sb__con_enter(c, SB__CON_SPARE);
    c->next = c->ctx->idle_cons;
    c->ctx->idle_cons = c;
}

// In a dry run, a driver of a server has no socket.
static bool has_server(const struct sb_con_priv *c)
{
    const struct sb_generic_ops *g = c->drv->generic;

    return !(c->drv->caps & SB_CAP_EMBEDDED) &&
           (!g->socket || g->socket(c->conn) != -1);
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
    enlist(c);
    rc = sb__link_open(c, err);
    if (rc == 0) {
        sb__con_enter(c, SB__CON_OPEN);
    } else {
        err->code = rc;
        rc = sb__reconnect_new(c, err);
    }
    if (rc) {
        delist(c);
        return rc;
    }
    sb__reconnect_often(c);
    atomic_store_explicit(&c->inst->used, true, memory_order_relaxed);
    atomic_store_explicit(&d->used, true, memory_order_relaxed);
    if (c->sql && !(c->drv->caps & SB_CAP_NO_SQL))
        atomic_store_explicit(&d->used_sql, true, memory_order_relaxed);
    if (has_server(c))
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

// Counts a connection that was opened in an event. Waiting in this program is
// not part of the operation.
static void count_opened(struct sb__call *call)
{
    if (!*call->con->ctx->rec)
        return;
    call->start += call->con->queued_ns;
    if (call->con->queued_waits)
        call->waits = call->con->queued_waits;
    call->op = sb__op_of_connect(call->con->ctx);
    sb__call_record(call);
}

int sb_con_refused(struct sb_db_ctx *ctx, struct sb_db *db)
{
    struct sb_rec *rec = *ctx->rec;

    switch (ctx->err.code) {
    case SB_EUSAGE:
    case SB_ENOMEM:
    case SB_EDRIVER:
    case SB_ECANCELED:
        return 0;
    default:
        break;
    }
    if (rec)
        sb_rec_error(rec, sb__op_of_connect(ctx), db->drv->name, &ctx->err,
            sb_clock_now(ctx->clock));
    return 1;
}

struct sb_con *sb_con_open(struct sb_db_ctx *ctx, struct sb_db *db,
    const char *const *names, const char *const *values, size_t n)
{
    struct sb_con_priv *c;
    uint64_t turns = ctx->turns;
    struct sb__call call;
    int rc;

    sb__handles_free(ctx);
    c = con_new(ctx, db);
    sb_err_clear(&ctx->err);
    if (!c) {
        sb_err_set(&ctx->err, SB_ENOMEM, "out of memory");
        return NULL;
    }
    rc = get_instance(ctx, db, names, values, n, &c->inst, &ctx->err);
    call = sb__call_since(c, -1, sb__now(c));
    if (rc == 0)
        rc = con_connect(c, &ctx->err);
    if (rc) {
        ctx->turns = turns; // the next attempt uses the same database
        ctx->err.code = rc;
        ctx->failed_at = ctx->freed;
        con_release(c);
        return NULL;
    }
    count_opened(&call);
    sb__handle_give(&c->handle, ctx, free_dropped);
    return &c->pub;
}

unsigned sb_con_held(struct sb_db_ctx *ctx)
{
    sb__handles_free(ctx);
    return ctx->held;
}

int sb_con_retry(struct sb_db_ctx *ctx)
{
    sb__handles_free(ctx);
    return ctx->err.code != SB_ECANCELED && ctx->freed != ctx->failed_at;
}

static void con_shut(struct sb_con_priv *c)
{
    if (c->state == SB__CON_OPEN)
        sb__error_unsent(c);
    sb__children_warn(c);
    sb__children_abandon(c);
    sb__result_end(c);
    sb__children_reset(c);
    sb__link_close(c);
    sb__con_enter(c, SB__CON_CLOSED);
}

int sb_con_close(struct sb_con *con)
{
    struct sb_con_priv *c = priv(con);

    if (c->state == SB__CON_AWAY) {
        sb__con_enter(c, SB__CON_CLOSED); // already closed by the server
        return 0;
    }
    if (!sb__con_connected(c)) {
        sb_log(SB_LOG_ALERT, "attempt to close an already closed connection");
        return sb__error_usage(c, "the connection is closed already");
    }
    con_shut(c);
    return 0;
}

void sb_con_free(struct sb_con *con)
{
    struct sb_con_priv *c = priv(con);

    if (!con || c->state == SB__CON_SPARE)
        return;
    if (sb__con_connected(c)) {
        con_shut(c);
        c->ctx->freed++;
    }
    sb__children_orphan(c);
    delist(c);
    sb__handle_end(&c->handle);
    con_release(c);
}

static void free_dropped(struct sb__handle *h)
{
    sb_con_free(
        (struct sb_con *)((char *)h - offsetof(struct sb_con_priv, handle)));
}

void sb_con_drop(struct sb_con *con)
{
    if (con)
        sb__handle_drop(&priv(con)->handle);
}

int sb_con_reconnect(struct sb_con *con)
{
    struct sb_con_priv *c = priv(con);
    int rc;

    if (c->state == SB__CON_LOADING)
        sb__children_abandon(c);
    if (!sb__con_lost(c) && (rc = sb__call_ready(c)) != 0)
        return rc;
    sb__children_abandon(c);
    return sb__reconnect_now(c);
}

int sb_con_server(struct sb_con *con, char *out, size_t size)
{
    struct sb_con_priv *c = priv(con);

    if (size > 0)
        out[0] = '\0';
    if (!sb__con_connected(c) || !c->drv->info || c->state == SB__CON_LOADING ||
        (c->unsettled ? sb__call_ready(c) : sb__call_allowed(c)))
        return 0;
    return c->drv->info->server(c->conn, out, size);
}

int sb_con_reset(struct sb_con *con)
{
    struct sb_con_priv *c = priv(con);
    int rc;

    sb__children_abandon(c);
    if (sb__con_lost(c))
        return sb__reconnect_lost(c);
    if (!sb__con_connected(c))
        return 0;
    rc = sb__call_ready(c);
    if (rc == 0 && c->drv->generic->reset)
        rc = c->drv->generic->reset(c->conn, &c->err);
    if (rc == SB_ELOST || rc == SB_ERECONNECT) {
        c->err.code = rc;
        rc = sb__error_report(c, "rollback", "", 0);
        return rc == SB_ERECONNECT ? sb__reconnect_lost(c) : rc;
    }
    // This error is neither counted nor logged, because the error that caused
    // the reset was.
    return rc ? sb__error_show(c) : 0;
}

void sb_con_reset_others(struct sb_db_ctx *ctx, const struct sb_con *con)
{
    sb__handles_free(ctx);
    // A rollback is a call, and it may wait until the collector has dropped
    // this connection or the next one.
    ctx->keeps_dropped = true;
    // No lock is needed, because only this thread changes the list.
    for (struct sb_con_priv *c = ctx->cons; c; c = c->next) {
        if (&c->pub != con && sb__con_connected(c) && !sb__con_lost(c))
            sb_con_reset(&c->pub);
    }
    ctx->keeps_dropped = false;
    sb__handles_free(ctx);
}
