// SPDX-License-Identifier: GPL-2.0-or-later
//
// Other functions for scripts: counters by their numbers in 1.0, named
// operations, coordination of parallel commands.
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "base/log.h"
#include "base/escape.h"
#include "loop/hold.h"
#include "run/events.h"
#include "run/metric.ffi.h"
#include "run/run_state.h"

#define FAR 1e9 // seconds, more than a search for the rate takes

// enum sb_counter_type of sysbench 1.x; scripts use numbers or names.
enum { OTHER, READ, WRITE, EVENT, ERROR, RECONNECT, BYTES_READ, BYTES_WRITTEN };

static _Atomic uint64_t *counter(struct sb_tally *t, int type)
{
    switch (type) {
    case OTHER:
        return &t->others;
    case READ:
        return &t->reads;
    case WRITE:
        return &t->writes;
    case EVENT:
        return &t->completed;
    case RECONNECT:
        return &t->reconnects;
    case BYTES_READ:
        return &t->bytes_read;
    case BYTES_WRITTEN:
        return &t->bytes_written;
    default:
        return NULL;
    }
}

void sb_user_count(struct sb_user *u, int type, uint64_t n)
{
    if (!u->rec || n == 0)
        return;
    if (type == ERROR) {
        struct sb_err err = { .code = SB_EIGNORE,
            .msg = "counted by the script" };
        sb_rec_code(u->rec, "script", &err, n, sb_clock_now(&u->clock));
        return;
    }
    // Only the loop counts events: others would violate the identities.
    _Atomic uint64_t *c = type == EVENT ? NULL : counter(&u->rec->tally, type);
    if (c)
        sb_tally_add(c, n);
}

uint64_t sb_user_counted(const struct sb_user *u, int type)
{
    if (!u->rec)
        return 0;
    struct sb_tally *t = &u->rec->tally;
    if (type == ERROR)
        return atomic_load_explicit(&t->err_ignored, memory_order_relaxed) +
               atomic_load_explicit(&t->err_restarted, memory_order_relaxed) +
               atomic_load_explicit(&t->err_givenup, memory_order_relaxed) +
               u->rec->open_errors;
    _Atomic uint64_t *c = counter(t, type);
    return c ? atomic_load_explicit(c, memory_order_relaxed) : 0;
}

// Names of a component of a mix begin with its own. buf: for the result.
static const char *full_name(
    const struct sb_user *u, const char *name, char *buf, size_t size)
{
    size_t n;

    if (!u->prefix)
        return name;
    n = (size_t)snprintf(buf, size / 2, "%s", u->prefix);
    sb_utf8_name(buf + n, size - n, name);
    return buf;
}

int sb_user_op(struct sb_user *u, const char *name)
{
    char buf[sizeof(((struct sb_op *)0)->name) * 4];

    if (u->run->task)
        return 0;
    return sb_stats_op(&u->run->stats[SB_PHASE_MEASURED],
        full_name(u, name, buf, sizeof(buf)), SB_OP_CUSTOM);
}

int sb_user_lines(struct sb_user *u)
{
    struct sb_user_priv *p = u->priv;
    enum sb__lines was = p->lines;

    if (was == SB__LINES_BEGIN) {
        p->lines = SB__LINES_ON;
        return SB_LINES_BEGIN;
    }
    // The next event belongs to another component. The watch continues after
    // it.
    if (p->handed && was != SB__LINES_END) {
        p->lines = was == SB__LINES_ON ? SB__LINES_WANTED : was;
        return SB_LINES_OVER;
    }
    p->lines = SB__LINES_NONE;
    return was == SB__LINES_END ? SB_LINES_END : SB_LINES_OVER;
}

uint64_t sb_user_turn(const struct sb_user *u)
{
    struct sb_fiber *f = u->priv->waiter.fiber;

    return f ? sb_fiber_turn(f) : 0;
}

void sb_user_fail_run(struct sb_user *u, const struct sb_err *err)
{
    if (u->run)
        sb__run_fail(u->run, err);
}

void sb_user_tell_failure(struct sb_user *u)
{
    if (u->run)
        sb__run_tell_failure(u->run);
}

uint64_t sb_user_op_now(struct sb_user *u)
{
    return sb_clock_now(&u->clock) - (u->rec ? u->rec->delayed : 0);
}

// The clock may be set back a little when it is anchored.
static uint64_t since(struct sb_user *u, uint64_t start_ns)
{
    uint64_t now = sb_user_op_now(u);

    return now > start_ns ? now - start_ns : 0;
}

void sb_user_op_record(struct sb_user *u, int op, uint64_t start_ns)
{
    uint32_t n = u->rec ? atomic_load_explicit(
                              &u->rec->stats->nops, memory_order_acquire)
                        : 0;

    if ((uint32_t)op < n)
        sb_rec_op(u->rec, op, since(u, start_ns));
}

int sb_user_metric(struct sb_user *u, const char *name, int kind,
    const char *unit, const char *help, double largest, char *why, size_t size)
{
    char buf[sizeof(((struct sb_metric *)0)->name) * 4];
    const struct sb_metric_def def = { .name = full_name(
                                           u, name, buf, sizeof(buf)),
        .kind = (enum sb_metric_kind)kind,
        .unit = unit,
        .help = help,
        .largest = largest };
    struct sb_err err = { 0 };
    int n;

    if (u->run->task)
        return 0;
    n = sb_metrics_add(&u->run->stats[SB_PHASE_MEASURED].metrics, &def, &err);
    if (n < 0)
        snprintf(why, size, "%s", err.msg);
    return n;
}

// Returns NULL where nothing is measured.
static struct sb_metrics *metrics_of(struct sb_user *u, int metric)
{
    struct sb_metrics *m;

    if (u->run->task)
        return NULL;
    m = u->rec ? &u->rec->stats->metrics
               : &u->run->stats[SB_PHASE_MEASURED].metrics;
    assert(u->id < m->users);
    return (uint32_t)metric < sb_metrics_count(m) ? m : NULL;
}

void sb_user_metric_put(struct sb_user *u, int metric, double value)
{
    struct sb_metrics *m = metrics_of(u, metric);

    if (m && u->rec)
        sb_metric_put(m, (uint32_t)metric, u->id, value);
}

// Also before the first event, because a gauge is a state, and not a part of
// what is measured.
void sb_user_metric_set(
    struct sb_user *u, int metric, double value, double seconds)
{
    struct sb_metrics *m = metrics_of(u, metric);
    uint64_t until = 0;

    if (!m)
        return;
    if (m->metric[metric].kind != SB_METRIC_GAUGE) { // the rest of the table
        sb_user_metric_put(u, metric, isnan(value) ? 0 : value);
        return;
    }
    if (seconds > 0)
        until = sb_clock_now(&u->clock) + (uint64_t)(seconds * 1e9);
    sb_metric_set(m, (uint32_t)metric, u->id, value, until);
}

int sb_user_pause(struct sb_user *u, double ns)
{
    uint64_t end = UINT64_MAX, now = sb_clock_now(&u->clock);
    uint64_t until = now + (ns > 0 ? sb__user_pause_ns(ns) : 0);

    if (sb__user_is_in_run(u))
        end = u->priv->leave < u->run->deadline ? u->priv->leave
                                                : u->run->deadline;
    if (u->rec)
        sb_rec_flush(u->rec);
    now = sb__user_wait(u, until < end ? until : end);
    if (now >= end) // a user whose stage has ended may come again
        u->priv->gone = now >= u->priv->leave;
    return now < end && !atomic_load(&u->run->stop);
}

void sb_user_stop(struct sb_user *u)
{
    if (u->run->task)
        return;
    u->priv->last = true;
    // The next call of sb_user_next() takes the slow path.
    atomic_store_explicit(&u->boundary, 0, memory_order_relaxed);
}

// While the rate is being found, the start of the measured part is not known.
double sb_user_time(struct sb_user *u)
{
    const struct sb_run *run = u->run;

    if (!sb__user_is_in_run(u))
        return 0;
    uint64_t now = sb_clock_now(&u->clock);
    if (run->searching)
        return (double)(int64_t)(now - run->began) / 1e9 - FAR;
    if (run->gated) // a warm-up with a pause behind it
        return now < run->search.end ? -(double)(run->search.end - now) / 1e9
                                     : -1e-9;
    return (double)(int64_t)(now - run->warm_end) / 1e9;
}

double sb_user_run_time(struct sb_user *u)
{
    const struct sb_run *run = u->run;

    if (!sb__user_is_in_run(u))
        return 0;
    uint64_t now = sb_clock_now(&u->clock);
    return now > run->began ? (double)(now - run->began) / 1e9 : 0;
}

int sb_user_barrier(struct sb_user *u)
{
    return sb_crew_barrier(&u->run->crew, &u->priv->waiter);
}

double sb_user_add(struct sb_user *u, const char *name, double n)
{
    return sb_crew_add(&u->run->crew, &u->priv->waiter, name, n);
}

void sb_user_settle(struct sb_user *u)
{
    sb_crew_settle(&u->run->crew, &u->priv->waiter);
}

void sb_user_progress(
    struct sb_user *u, const char *title, double n, double total)
{
    if (title[0])
        sb_crew_progress(
            &u->run->crew, title, n, total, sb_clock_now(&u->clock));
    else
        sb_log_progress_done();
}
