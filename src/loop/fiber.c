// SPDX-License-Identifier: GPL-2.0-or-later
#include "loop/fiber.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/likely.h"
#include "base/log.h"
#include "loop/fiber_private.h"
#include "loop/poller.h"

// The loop that the thread runs. A fiber never moves to another thread, so this
// identifies the fiber, too: client libraries call back without a context.
static _Thread_local struct sb_loop *current;

void sb__fiber_enter(struct sb_loop *l)
{
    assert(!l || !current);
    current = l;
}

struct sb_fiber *sb_fiber_current(void)
{
    return current
               ? atomic_load_explicit(&current->running, memory_order_relaxed)
               : NULL;
}

// Fibers that are ready ------------------------------------------------------

void sb__fiber_queue(struct sb_fiber *f)
{
    struct sb_loop *l = f->loop;

    f->state = SB__FIBER_READY;
    if (f->background) {
        CK_STAILQ_INSERT_TAIL(&l->background, f, next);
        return;
    }
    CK_STAILQ_INSERT_TAIL(&l->ready, f, next);
    l->nready++;
}

struct sb_fiber *sb__fiber_next(struct sb_loop *l)
{
    struct sb_fiber *f = CK_STAILQ_FIRST(&l->ready);

    assert(f->state == SB__FIBER_READY);
    CK_STAILQ_REMOVE_HEAD(&l->ready, next);
    l->nready--;
    return f;
}

void sb__fiber_make_ready(struct sb_fiber *f)
{
    struct sb_loop *l = f->loop;

    assert(f->state == SB__FIBER_SLEEPING || f->state == SB__FIBER_WAITING);
    sb_timers_clear(&l->timers, &f->timer);
    f->reported = l->now;
    sb__fiber_queue(f);
}

// Waiting --------------------------------------------------------------------

void sb_fiber_pin(struct sb_fiber *f, const char *text)
{
    f->pinned = text;
}

static void check_pin(const struct sb_fiber *f)
{
    if (SB_LIKELY(!f->pinned))
        return;
    sb_log(SB_LOG_FATAL, "%s", f->pinned);
    sb_log_flush();
    _exit(EXIT_FAILURE);
}

static void leave_as(struct sb_fiber *f, enum sb__fiber_state state)
{
    check_pin(f);
    assert(f->loop->running == f && f->state == SB__FIBER_RUNNING);
    f->state = state;
    sb_context_leave(&f->context);
    f->waits.count++;
    f->waits.late = sb_clock_monotonic() - f->reported;
}

void sb_fiber_set_background(struct sb_fiber *f, bool background)
{
    assert(f->loop->running == f);
    f->background = background;
}

void sb_fiber_yield(struct sb_fiber *f)
{
    check_pin(f);
    assert(f->loop->running == f && f->state == SB__FIBER_RUNNING);
    sb__fiber_queue(f);
    sb_context_leave(&f->context);
}

bool sb_fiber_sleep(struct sb_fiber *f, uint64_t until)
{
    if (atomic_exchange(&f->token, false))
        return true;
    if (until != SB_FOREVER)
        sb_timers_set(&f->loop->timers, &f->timer, until);
    leave_as(f, SB__FIBER_SLEEPING);
    return atomic_exchange(&f->token, false);
}

int sb__fiber_await(struct sb_fiber *f, uint64_t deadline)
{
    f->io.expired = false;
    if (deadline != SB_FOREVER)
        sb_timers_set(&f->loop->timers, &f->timer, deadline);
    f->loop->waiting++;
    leave_as(f, SB__FIBER_WAITING);
    f->loop->waiting--;
    return f->io.expired && f->io.result == -ECANCELED ? -ETIMEDOUT
                                                       : f->io.result;
}

void sb__fiber_complete(struct sb_fiber *f, int result)
{
    assert(f->state == SB__FIBER_WAITING);
    f->io.result = result;
    sb__fiber_make_ready(f);
}

void sb_fiber_trim(const struct sb_fiber *f)
{
    sb_context_trim(&f->context);
}

struct sb_loop *sb_fiber_loop(const struct sb_fiber *f)
{
    return f->loop;
}

void **sb_fiber_local(struct sb_fiber *f)
{
    return &f->local;
}

uint64_t sb_fiber_reported(const struct sb_fiber *f)
{
    return f->reported;
}

const struct sb_fiber_waits *sb_fiber_waits(const struct sb_fiber *f)
{
    return &f->waits;
}

struct sb_prefetch *sb_fiber_prefetch(struct sb_fiber *f)
{
    return &f->prefetch;
}

// Waking ---------------------------------------------------------------------

static void add_woken(struct sb_loop *l, struct sb_fiber *f)
{
    sb_spin_lock(&l->woken_lock);
    CK_STAILQ_INSERT_TAIL(&l->woken, f, woken_next);
    atomic_store(&l->any_woken, true);
    sb_spin_unlock(&l->woken_lock);
}

void sb_fiber_wake(struct sb_fiber *f)
{
    struct sb_loop *l = f->loop;

    atomic_store(&f->token, true);
    if (current == l) {
        if (f->state == SB__FIBER_SLEEPING) {
            sb__fiber_make_ready(f);
            f->reported = sb_clock_monotonic(); // not before the cause
        }
        return;
    }
    if (!atomic_exchange(&f->queued, true))
        add_woken(l, f);
    if (atomic_exchange(&l->asleep, false))
        l->poller->notify(l);
}
