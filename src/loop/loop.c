// SPDX-License-Identifier: GPL-2.0-or-later
#include "loop/loop.h"

#include <assert.h>
#include <ck_pr.h>
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/likely.h"
#include "loop/fiber_private.h"
#include "loop/hold.h"
#include "loop/overflow.h"
#include "loop/poller.h"

// How long after its deadline an io that has not ended is canceled again.
#define CANCEL_AGAIN_NS UINT64_C(10000000)

// Fibers ---------------------------------------------------------------------

static void run_fiber(struct sb_loop *l, struct sb_fiber *f)
{
    f->state = SB__FIBER_RUNNING;
    atomic_store_explicit(&l->running, f, memory_order_release);
    sb_context_resume(&f->context);
    atomic_store_explicit(&l->running, NULL, memory_order_release);
    if (f->context.over) {
        f->state = SB__FIBER_OVER;
        l->alive--;
    }
    assert(f->state != SB__FIBER_RUNNING);
    if (l->turns.until)
        sb__turns_switched(l, f);
}

static void prefetch(const struct sb_fiber *f)
{
    sb_context_prefetch(&f->context);
    sb_prefetch_all(&f->prefetch);
}

// Runs one fiber of the background. The next one has to wait as long as its
// turn took, so that the others have half of the time.
static void run_background(struct sb_loop *l)
{
    uint64_t from = sb_clock_monotonic(), to;
    struct sb_fiber *f = CK_STAILQ_FIRST(&l->background);

    if (from < l->background_at)
        return;
    assert(f->state == SB__FIBER_READY);
    CK_STAILQ_REMOVE_HEAD(&l->background, next);
    run_fiber(l, f);
    to = sb_clock_monotonic();
    l->background_at = l->foreground ? to + (to - from) : to;
    l->foreground = false;
}

// Runs the fibers that are ready. Fibers that become ready meanwhile run in the
// next round, so that the kernel is asked in between.
static void run_ready(struct sb_loop *l)
{
    l->foreground |= l->nready > 0;
    l->turns.from = l->now;
    if (l->turns.until)
        sb__turns_ready(l);
    atomic_store_explicit(&l->round,
        atomic_load_explicit(&l->round, memory_order_relaxed) + 1,
        memory_order_relaxed);
    for (unsigned n = l->nready; n > 0; n--) {
        struct sb_fiber *f = sb__fiber_next(l);

        if (!CK_STAILQ_EMPTY(&l->ready))
            prefetch(CK_STAILQ_FIRST(&l->ready));
        run_fiber(l, f);
    }
    if (SB_UNLIKELY(!CK_STAILQ_EMPTY(&l->background)))
        run_background(l);
}

// Wake-ups and timers --------------------------------------------------------

static void remove_woken(struct sb_loop *l, struct sb__fiber_queue *to)
{
    sb_spin_lock(&l->woken_lock);
    CK_STAILQ_MOVE(to, &l->woken, woken_next);
    CK_STAILQ_INIT(&l->woken);
    atomic_store(&l->any_woken, false);
    sb_spin_unlock(&l->woken_lock);
}

// Makes the fibers that other threads woke ready, if they sleep.
static void run_woken(struct sb_loop *l)
{
    struct sb__fiber_queue woken;
    struct sb_fiber *f, *next;

    if (!atomic_load(&l->any_woken))
        return;
    remove_woken(l, &woken);
    CK_STAILQ_FOREACH_SAFE(f, &woken, woken_next, next)
    {
        // As soon as `queued` is false, the fiber can be added again.
        atomic_store(&f->queued, false);
        if (f->state == SB__FIBER_SLEEPING && atomic_load(&f->token))
            sb__fiber_make_ready(f);
    }
}

static void expire(struct sb_loop *l, struct sb_fiber *f)
{
    if (f->state == SB__FIBER_SLEEPING) {
        uint64_t at = f->timer.at;

        sb__fiber_make_ready(f);
        f->reported = at;
        return;
    }
    assert(f->state == SB__FIBER_WAITING);
    f->io.expired = true;
    sb_timers_set(&l->timers, &f->timer, l->now + CANCEL_AGAIN_NS);
    l->poller->cancel(f);
}

static void expire_timers(struct sb_loop *l)
{
    struct sb_timer *t;

    while ((t = sb_timers_first(&l->timers)) && t->at <= l->now)
        expire(l, (void *)((char *)t - offsetof(struct sb_fiber, timer)));
}

// The kernel -----------------------------------------------------------------

// When the loop has something to do without the kernel: 0: now.
static uint64_t next_time(const struct sb_loop *l)
{
    const struct sb_timer *t = sb_timers_first(&l->timers);
    uint64_t at = t ? t->at : SB_FOREVER;

    if (l->nready > 0)
        return 0;
    if (CK_STAILQ_EMPTY(&l->background) || at <= l->background_at)
        return at;
    return l->background_at;
}

// If no fiber waits for the kernel, it need not be asked.
static void busy_wait(struct sb_loop *l, uint64_t until)
{
    if (l->waiting > 0) {
        l->poller->wait(l, 0);
        return;
    }
    while (
        !atomic_load(&l->any_woken) && (l->now = sb_clock_monotonic()) < until)
        ck_pr_stall();
}

// Waits for the kernel until the time of the next timer. With exact timers,
// waits only until some time before it, or not at all, and the loop calls this
// function again until the time is reached. now: the current time, if there is
// a timer; l->now is the time before the round.
static void wait_until(struct sb_loop *l, uint64_t until, uint64_t now)
{
    uint64_t margin = sb_alarm_margin(&l->alarm), early;

    if (!l->exact || until == 0 || until == SB_FOREVER) {
        l->poller->wait(l, until);
        return;
    }
    early = until > margin ? until - margin : 0;
    if (now >= early) { // there is no wake-up whose delay could be learned
        busy_wait(l, until);
        return;
    }
    l->poller->wait(l, early);
    if (l->now >= early)
        sb_alarm_learn(&l->alarm, l->now - early);
}

static void ask_kernel(struct sb_loop *l)
{
    uint64_t until = next_time(l), from = l->now, to = 0;

    // The time at which the round ended. If the loop does not wait, the time at
    // which the kernel answers is close enough.
    if (until != 0)
        to = sb_clock_monotonic();
    // A waker pushes first and reads `asleep` second: either it sees `asleep`,
    // or this sees what it has pushed.
    atomic_store(&l->asleep, true);
    if (atomic_load(&l->any_woken))
        until = 0;
    wait_until(l, until, to);
    atomic_store_explicit(&l->asleep, false, memory_order_relaxed);
    sb__turns_round(l, from, to ? to : l->now);
}

// The loop -------------------------------------------------------------------

struct sb_loop *sb_loop_new(unsigned max, bool exact)
{
    struct sb_loop *l = aligned_alloc(64, sizeof(*l));

    if (!l)
        return NULL;
    *l = (struct sb_loop){ .max = max, .exact = exact, .check.stat = -1 };
    CK_STAILQ_INIT(&l->ready);
    CK_STAILQ_INIT(&l->background);
    CK_STAILQ_INIT(&l->woken);
    if (sb_timers_init(&l->timers, max) == 0)
        return l;
    free(l);
    return NULL;
}

void sb_loop_free(struct sb_loop *l)
{
    if (!l)
        return;
    assert(!l->poller);
    while (l->all) {
        struct sb_fiber *f = l->all;

        l->all = f->other;
        sb_context_done(&f->context);
        free(f);
    }
    sb_timers_done(&l->timers);
    free(l);
}

struct sb_fiber *sb_loop_add(
    struct sb_loop *l, size_t stack, void (*run)(void *arg), void *arg)
{
    struct sb_fiber *f = calloc(1, sizeof(*f));

    assert(l->alive < l->max);
    if (!f)
        return NULL;
    if (sb_context_init(&f->context, stack, run, arg)) {
        int no = errno;

        free(f);
        errno = no;
        return NULL;
    }
    f->loop = l;
    f->other = l->all;
    l->all = f;
    l->alive++;
    sb__fiber_queue(f);
    return f;
}

void sb_loop_helpers(struct sb_loop *l, struct sb_helpers *h)
{
    l->helpers = h;
}

int sb_loop_open(struct sb_loop *l, enum sb_loop_kind kind, struct sb_err *err)
{
    int rc = sb_err_set(err, SB_EUNSUPPORTED,
        "io_uring is not available: sysbench was built without liburing");

    assert(!l->poller);
#ifdef HAVE_LIBURING
    if (kind != SB_LOOP_EPOLL) {
        rc = sb__uring.open(l, err);
        l->poller = rc ? NULL : &sb__uring;
    }
#endif
    if (kind == SB_LOOP_EPOLL || (rc && kind == SB_LOOP_ANY)) {
        rc = sb__epoll.open(l, err);
        l->poller = rc ? NULL : &sb__epoll;
    }
    if (rc == 0)
        sb_err_clear(err); // the error of the kind that was tried before
    return rc;
}

void sb_loop_close(struct sb_loop *l)
{
    if (!l->poller)
        return;
    l->poller->close(l);
    l->poller = NULL;
    sb__turns_close(l);
}

const char *sb_loop_kind_name(const struct sb_loop *l)
{
    return l->poller->name;
}

void sb_loop_run(struct sb_loop *l)
{
    assert(l->poller);
    sb__fiber_enter(l);
    sb__overflow_begin(l);
    sb__turns_begin(l);
    l->now = sb_clock_monotonic();
    for (;;) {
        run_ready(l);
        if (l->alive == 0)
            break;
        ask_kernel(l);
        run_woken(l);
        expire_timers(l);
    }
    sb__turns_end(l);
    sb__overflow_end(l);
    sb__fiber_enter(NULL);
}
