// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reconnecting: on request of a script, after a lost connection, or because of
// --db-refresh-*.
#include <time.h>

#include "kit/clock.h"
#include "kit/rng.h"
#include "db/call.h"
#include "db/link.h"
#include "db/op.h"

// The delay between two attempts doubles up to the maximum. Half of it is
// random, so that users do not all reconnect to a restarted server at once.
#define TRY_FIRST_NS UINT64_C(10000000)
#define TRY_MAX_NS   UINT64_C(1000000000)

// Counts a reconnect, and records the time since the old connection was lost or
// closed as an operation.
static void record_reconnect(struct sb_con_priv *c, uint64_t since)
{
    struct sb_rec *rec = *c->ctx->rec;
    struct sb__call call;

    if (!rec)
        return;
    sb_tally_add(&rec->tally.reconnects, 1);
    call = sb__call_since(c, sb__op_of_reconnect(c->ctx), since);
    sb__call_record(&call);
}

int sb__reconnect_now(struct sb_con_priv *c)
{
    uint64_t since = sb__now(c);

    if (sb__link_again(c))
        return sb__error_report(c, "reconnect", "", 0);
    sb__error_clear(c);
    record_reconnect(c, since);
    return 0;
}

static bool wait_ns(struct sb_con_priv *c, uint64_t ns)
{
    struct timespec ts = sb_clock_timespec(ns);

    if (c->ctx->wait)
        return c->ctx->wait(c->ctx->wait_arg, ns);
    nanosleep(&ts, NULL);
    return true;
}

// Selects the next host, if there are several: the current one may be down.
static void move_on(struct sb_con_priv *c)
{
    struct sb_drivers *d = c->inst->db->owner;

    c->info.number = atomic_fetch_add_explicit(
        &d->connections, 1, memory_order_relaxed);
}

// The loss is logged for the first user that tries to reconnect, and the
// recovery for the last one.
static void log_lost(struct sb_con_priv *c)
{
    struct sb_drivers *d = c->inst->db->owner;

    if (atomic_fetch_add_explicit(&d->down, 1, memory_order_relaxed) == 0)
        sb_log(SB_LOG_NOTICE, "%s: connection lost, trying again: %s",
            c->drv->name, c->err.msg);
}

static void log_back(struct sb_con_priv *c, bool back, uint64_t since)
{
    struct sb_drivers *d = c->inst->db->owner;
    unsigned down = atomic_fetch_sub_explicit(
        &d->down, 1, memory_order_relaxed);

    assert(down > 0);
    if (down == 1 && back)
        sb_log(SB_LOG_NOTICE, "%s: connected again after %.1f s", c->drv->name,
            (double)(sb__now(c) - since) / 1e9);
}

// Makes one attempt and counts its error by code. Does not log the error,
// because the caller retries.
static int try_again(struct sb_con_priv *c)
{
    struct sb_rec *rec = *c->ctx->rec;
    int rc = sb__link_again(c);

    if (rc && rec && rc != SB_ECANCELED)
        sb_rec_error(rec, -1, c->drv->name, &c->err, sb__now(c));
    return rc;
}

// Makes the attempts after the first one. Returns 0 if connected, or if the run
// has ended (which the event loop detects); SB_ELOST after the timeout.
static int keep_trying(struct sb_con_priv *c, uint64_t since, uint64_t limit)
{
    uint64_t most = TRY_FIRST_NS;
    uint64_t draw = c->info.seed;
    int rc;

    assert(c->state == SB__CON_AWAY);
    do {
        if (limit && sb__now(c) - since >= limit)
            return SB_ELOST;
        draw = sb_rng_mix(draw);
        if (!wait_ns(c, most / 2 + draw % (most / 2 + 1)))
            return 0;
        most = most * 2 < TRY_MAX_NS ? most * 2 : TRY_MAX_NS;
        move_on(c);
        rc = try_again(c);
    } while (rc && rc != SB_ECANCELED);
    return 0;
}

// Adds to c->err for how long the server was away.
static void gave_up(struct sb_con_priv *c, uint64_t since)
{
    char was[sizeof(c->err.msg)];

    memcpy(was, c->err.msg, sizeof(was));
    snprintf(c->err.msg, sizeof(c->err.msg),
        "no connection for %.1f s (--db-reconnect-timeout): %.300s",
        (double)(sb__now(c) - since) / 1e9, was);
    c->err.code = SB_ELOST;
}

int sb__reconnect_lost(struct sb_con_priv *c)
{
    const struct sb_db_opts *o = c->inst->db->owner->opts;
    uint64_t limit = (uint64_t)o->reconnect_timeout;
    uint64_t since = c->lost_at;
    int rc = try_again(c);

    if (rc && rc != SB_ECANCELED) {
        log_lost(c);
        rc = keep_trying(c, since, limit);
        log_back(c, sb__con_connected(c), since);
    }
    if (sb__con_connected(c)) {
        sb__error_clear(c);
        record_reconnect(c, since);
    } else if (rc && rc != SB_ECANCELED) {
        gave_up(c, since);
        return sb__error_show(c);
    }
    return 0;
}

static bool may_wait(const struct sb_con_priv *c, int rc)
{
    const struct sb_db_ctx *ctx = c->ctx;

    return (rc == SB_ECONNECT || rc == SB_ELOST) &&
           c->inst->db->owner->opts->reconnect && ctx->late &&
           ctx->late(ctx->wait_arg);
}

int sb__reconnect_new(struct sb_con_priv *c, struct sb_err *err)
{
    const struct sb_db_opts *o = c->inst->db->owner->opts;
    uint64_t since;
    int rc;

    if (!may_wait(c, err->code))
        return err->code;
    c->err = *err;
    sb__con_enter(c, SB__CON_AWAY);
    c->lost_at = since = sb__now(c);
    log_lost(c);
    rc = keep_trying(c, since, (uint64_t)o->reconnect_timeout);
    log_back(c, sb__con_connected(c), since);
    if (rc)
        gave_up(c, since);
    else if (!sb__con_connected(c))
        sb_err_set(&c->err, SB_ECANCELED, "the run has ended");
    *err = c->err;
    if (!sb__con_connected(c))
        return err->code;
    sb__error_clear(c);
    sb_err_clear(err);
    return 0;
}

// Number of the user's current event, in warm-up or in the measured run.
static uint64_t event_of(const struct sb_rec *rec)
{
    return atomic_load_explicit(&rec->tally.tries, memory_order_relaxed);
}

// Reconnects only before the first statement of an event, so that no
// transaction is interrupted, and not while a load is open.
static int refresh_con(struct sb__child *child)
{
    struct sb_con_priv *c = child->con;
    const struct sb_db_opts *o = c->inst->db->owner->opts;
    struct sb__refresh *r = &c->refresh;
    struct sb_rec *rec = *c->ctx->rec;
    uint64_t now, event;
    int rc;

    if (!rec || (event = event_of(rec)) == 0 || event == r->seen)
        return 0;
    r->seen = event;
    if (r->events++ < r->at_event && sb__now(c) < r->at_ns)
        return 0;
    if (sb__children_keep(c))
        return 0;
    now = sb__now(c);
    r->events = 1;
    r->at_event = o->refresh_events ? (uint64_t)o->refresh_events : UINT64_MAX;
    r->at_ns = o->refresh_ns ? now + (uint64_t)o->refresh_ns : UINT64_MAX;
    rc = sb__link_again(c);
    if (rc) {
        c->err.code = rc == SB_ECANCELED ? rc : SB_ELOST;
        return sb__error_report(c, "reconnect", "", 0);
    }
    record_reconnect(c, now);
    return 0;
}

void sb__reconnect_often(struct sb_con_priv *c)
{
    static const struct sb__child_ops ops = { .settle = refresh_con,
        .orphan = sb__child_remove };
    const struct sb_db_opts *o = c->inst->db->owner->opts;
    uint64_t events = (uint64_t)o->refresh_events;
    uint64_t ns = (uint64_t)o->refresh_ns;
    // The first reconnect is at a random point of the period, so that users do
    // not all reconnect at once.
    uint64_t draw = sb_rng_mix(c->info.seed ^ 1);

    if (!events && !ns)
        return;
    assert(!c->refresh.child.con);
    c->refresh = (struct sb__refresh){
        .child = { .ops = &ops },
        .at_event = events ? draw % events + 1 : UINT64_MAX,
        .at_ns = ns ? sb__now(c) + draw % ns : UINT64_MAX,
        .seen = UINT64_MAX,
    };
    sb__child_add(c, &c->refresh.child);
    c->unsettled++;
}
