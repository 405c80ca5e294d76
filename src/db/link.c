// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/link.h"

#include <stdlib.h>

#include "base/opts.h"
#include "db/call.h"
#include "db/slots.h"
#include "kit/rng.h"
#include "loop/fiber.h"
#include "loop/helper.h"

// Initializes every new connection: --db-isolation, --db-init-sql and, after a
// reconnect, the statements of the script.

// A statement of sb_con_init_sql().
struct sb__init_sql {
    struct sb__init_sql *next;
    char sql[];
};

static const char *const levels[] = {
    [SB_DB_READ_UNCOMMITTED] = "READ UNCOMMITTED",
    [SB_DB_READ_COMMITTED] = "READ COMMITTED",
    [SB_DB_REPEATABLE_READ] = "REPEATABLE READ",
    [SB_DB_SERIALIZABLE] = "SERIALIZABLE",
};

// Runs sql and reads all of its results.
static int run_sql(const struct sb_sql_ops *ops, struct sb_conn *conn,
    const char *sql, struct sb_err *err)
{
    struct sb_result res = { 0 };
    int rc = ops->query(conn, sql, strlen(sql), &res, err);

    if (rc)
        return rc;
    while (ops->next_result && (rc = ops->next_result(conn, &res, err)) == 1)
        ;
    ops->free_result(conn, &res);
    return rc;
}

// Adds to the error which option the failed statement came from.
static int name_option(
    const char *option, const char *sql, int rc, struct sb_err *err)
{
    char was[sizeof(err->msg)];

    memcpy(was, err->msg, sizeof(was));
    snprintf(err->msg, sizeof(err->msg), "%s '%.100s': %.300s", option,
        SB_SHOWN(sql), was);
    err->code = rc;
    return rc;
}

static int isolate(const struct sb_driver *drv, struct sb_conn *conn, int level,
    struct sb_err *err)
{
    char sql[128];
    int rc;

    if (!drv->sql || !drv->isolation)
        return sb_err_set(err, SB_EUSAGE,
            "--db-isolation: the %s driver does not support isolation levels",
            drv->name);
    snprintf(sql, sizeof(sql), "%s %s", drv->isolation, levels[level]);
    rc = run_sql(drv->sql, conn, sql, err);
    return rc ? name_option("--db-isolation", sql, rc, err) : 0;
}

int sb__session_begin(
    const struct sb_db *db, struct sb_conn *conn, struct sb_err *err)
{
    const struct sb_db_opts *o = db->owner->opts;
    const struct sb_driver *drv = db->drv;
    int rc = 0;

    if (o->isolation != SB_DB_ISOLATION_DEFAULT)
        rc = isolate(drv, conn, o->isolation, err);
    if (rc || !o->init_sql || !o->init_sql[0])
        return rc;
    if (!drv->sql)
        return sb_err_set(err, SB_EUSAGE,
            "--db-init-sql: the %s driver does not support SQL", drv->name);
    rc = run_sql(drv->sql, conn, o->init_sql, err);
    return rc ? name_option("--db-init-sql", o->init_sql, rc, err) : 0;
}

int sb_con_init_sql(struct sb_con *con, const char *sql, size_t len)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;
    struct sb__init_sql *own = malloc(sizeof(*own) + len + 1);
    struct sb__init_sql **last = &c->init_sql;

    if (!own)
        return sb__error_set(c, SB_ENOMEM, "out of memory for a statement");
    own->next = NULL;
    memcpy(own->sql, sql, len);
    own->sql[len] = '\0';
    while (*last)
        last = &(*last)->next;
    *last = own;
    return 0;
}

int sb__session_again(struct sb_con_priv *c, struct sb_err *err)
{
    int rc = sb__session_begin(c->inst->db, c->conn, err);

    for (struct sb__init_sql *own = c->init_sql; rc == 0 && own;
         own = own->next) {
        rc = run_sql(c->sql, c->conn, own->sql, err);
        if (rc)
            rc = name_option("the script's statement", own->sql, rc, err);
    }
    return rc;
}

// Asks whether the server answers: a proxy also accepts connections while its
// server is away. Returns 0, the error of a lost connection, or SB_ECANCELED.
static int session_answers(struct sb_con_priv *c, struct sb_err *err)
{
    bool sql = c->sql && !(c->drv->caps & SB_CAP_NO_SQL);
    int rc = sql ? run_sql(c->sql, c->conn, "SELECT 1", err) : 0;

    if (rc == SB_ECANCELED || (rc && sb_err_is_loss(err)))
        return rc;
    sb_err_clear(err);
    return 0;
}

void sb__session_done(struct sb_con_priv *c)
{
    while (c->init_sql) {
        struct sb__init_sql *own = c->init_sql;

        c->init_sql = own->next;
        free(own);
    }
}

// Only this function and those that change the list of connections write to
// `cancelable` and that list, so that cancel() is not called for a connection
// that is being opened or closed, unless the driver supports it
// (SB_CAP_CANCEL_CONNECT).
static void set_cancelable(struct sb_con_priv *c, bool on)
{
    pthread_mutex_lock(&c->ctx->lock);
    c->cancelable = on;
    pthread_mutex_unlock(&c->ctx->lock);
}

// A driver that waits on its own holds up the other users of its worker.
static void notice_blocking(struct sb_con_priv *c)
{
    if ((c->drv->caps & SB_CAP_LOOP) || !sb_helper_shared() ||
        atomic_exchange_explicit(
            &c->inst->db->blocks, true, memory_order_relaxed))
        return;
    sb_log(SB_LOG_NOTICE,
        "the %s driver blocks its worker while it waits: other users of the "
        "worker wait, too (--workers=users gives each user a thread)",
        c->drv->name);
}

static int connect_conn(struct sb_con_priv *c, struct sb_err *err)
{
    const struct sb_generic_ops *g = c->drv->generic;
    const struct sb_fiber_waits *w = c->ctx->waits;
    uint64_t queued = w ? w->queued : 0;
    int rc;

    c->wrote = false;
    notice_blocking(c);
    if (c->drv->caps & SB_CAP_CANCEL_CONNECT)
        set_cancelable(c, true);
    rc = g->connect(c->conn, &c->inst->env, c->inst->opts, &c->info, err);
    set_cancelable(c, rc == 0);
    if (w)
        c->queued_ns += w->queued - queued;
    return rc;
}

static void set_slot_wait(struct sb_db_ctx *ctx, struct sb__slot_wait *w)
{
    pthread_mutex_lock(&ctx->lock);
    ctx->slot_wait = w;
    pthread_mutex_unlock(&ctx->lock);
}

static int take_slot_with(
    struct sb_con_priv *c, struct sb_waiter *waiter, struct sb_err *err)
{
    struct sb_drivers *d = c->inst->db->owner;
    struct sb_db_ctx *ctx = c->ctx;
    uint64_t since = sb__now(c);
    struct sb__slot_wait w = { .slots = &d->slots,
        .waiter = waiter,
        .over = ctx->over,
        .arg = ctx->wait_arg };
    int rc;

    set_slot_wait(ctx, &w);
    rc = sb__slot_take(&w, (uint64_t)d->opts->connect_parallel, err);
    set_slot_wait(ctx, NULL);
    c->queued_ns += sb__now(c) - since;
    c->queued_waits = sb__call_waits(c);
    return rc;
}

// Waits until --connect-parallel allows another connect. 0, SB_ECANCELED or
// SB_ENOMEM.
static int take_slot(struct sb_con_priv *c, struct sb_err *err)
{
    struct sb_waiter own;
    int rc;

    if (sb__call_is_refused(c))
        return sb_err_set(err, SB_ECANCELED, "connecting was canceled");
    if (c->inst->db->owner->opts->connect_parallel == 0)
        return 0;
    if (c->ctx->waiter)
        return take_slot_with(c, c->ctx->waiter, err);
    if (sb_waiter_init(&own))
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    rc = take_slot_with(c, &own, err);
    sb_waiter_done(&own);
    return rc;
}

static void release_slot(struct sb_con_priv *c)
{
    struct sb_drivers *d = c->inst->db->owner;

    if (d->opts->connect_parallel > 0)
        sb__slot_release(&d->slots);
}

// Warns, once per run, that disconnecting loses what the connection has
// written. After an error the script could not commit, and the error is the
// message.
static void warn_uncommitted(struct sb_con_priv *c)
{
    const struct sb_generic_ops *g = c->drv->generic;
    const char *why;

    if (c->state != SB__CON_OPEN || c->pub.error || sb__call_is_refused(c) ||
        !g->open_transaction ||
        atomic_load_explicit(
            &c->inst->db->owner->uncommitted, memory_order_relaxed))
        return;
    why = g->open_transaction(c->conn);
    if (!why || !(c->wrote || (g->has_written && g->has_written(c->conn))) ||
        atomic_exchange_explicit(
            &c->inst->db->owner->uncommitted, true, memory_order_relaxed))
        return;
    sb_log(SB_LOG_WARNING,
        "a connection was closed before its transaction was committed: its "
        "changes since the last COMMIT are rolled back%s%s%s",
        why[0] ? " (" : "", why, why[0] ? ")" : "");
}

void sb__link_close(struct sb_con_priv *c)
{
    assert(c->outcome == SB__OUTCOME_NONE && c->prepared.n == 0);
    warn_uncommitted(c);
    set_cancelable(c, false);
    c->drv->generic->disconnect(c->conn);
}

int sb__link_open(struct sb_con_priv *c, struct sb_err *err)
{
    int rc;

    assert(!sb__con_connected(c));
    rc = take_slot(c, err);
    if (rc)
        return rc;
    rc = connect_conn(c, err);
    release_slot(c);
    if (rc == 0)
        rc = sb__session_begin(c->inst->db, c->conn, err);
    if (rc)
        sb__link_close(c);
    return rc;
}

// Opens the connection again. was_connected: it was not disconnected yet.
static int connect_again(struct sb_con_priv *c, bool was_connected)
{
    const struct sb_generic_ops *g = c->drv->generic;
    int rc;

    // Otherwise, the failures of the null driver would occur at the same
    // statements again.
    c->info.seed = sb_rng_mix(c->info.seed);
    if (was_connected && g->reconnect) {
        c->wrote = false;
        if (c->drv->caps & SB_CAP_CANCEL_CONNECT)
            set_cancelable(c, true);
        rc = g->reconnect(c->conn, &c->err);
        set_cancelable(c, rc == 0);
        return rc;
    }
    if (was_connected)
        g->disconnect(c->conn);
    memset(c->conn, 0, c->drv->conn_size);
    return connect_conn(c, &c->err);
}

int sb__link_again(struct sb_con_priv *c)
{
    bool was_connected = sb__con_connected(c), has_conn = was_connected;
    bool was_lost = sb__con_lost(c);
    int rc;

    if (!was_lost)
        c->lost_at = sb__now(c);
    if (was_connected) {
        warn_uncommitted(c);
        sb__result_end(c);
        sb__children_reset(c);
        sb__con_enter(c, SB__CON_AWAY);
    }
    set_cancelable(c, false);
    rc = take_slot(c, &c->err);
    if (rc == 0) {
        has_conn = true;
        rc = connect_again(c, was_connected);
        release_slot(c);
    }
    if (rc == 0 && was_lost)
        rc = session_answers(c, &c->err);
    if (rc == 0)
        rc = sb__session_again(c, &c->err);
    if (rc) {
        if (has_conn)
            sb__link_close(c);
        sb__call_complete_error(c, rc);
        return rc;
    }
    sb__con_enter(c, SB__CON_OPEN);
    return 0;
}
