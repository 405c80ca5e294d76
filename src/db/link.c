// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/link.h"

#include "kit/rng.h"
#include "db/call.h"
#include "db/slots.h"
#include "loop/fiber.h"
#include "loop/helper.h"

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
        "a connection was closed before its transaction was committed: what it "
        "wrote since the last COMMIT is rolled back%s%s%s",
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

    // Otherwise the null driver's failures would come at the same statements
    // again.
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
        rc = sb__session_answers(c, &c->err);
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
