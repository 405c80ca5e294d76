// SPDX-License-Identifier: GPL-2.0-or-later
//
// How a user waits for a time, and for others of its worker.
#include <ck_pr.h>
#include <sched.h>

#include "run/run_private.h"
#include "run/user_private.h"

// --pace=spin: the time before an arrival at which sleeping ends and spinning
// starts. On virtual machines, timers are late by 0.1 ms and more; 99 % are
// late by less than this.
#define SPIN_NS 400000u

static void sleep_until(struct sb_user *u, uint64_t until)
{
    while (!sb__user_stopped(u) && sb_waiter_sleep(&u->priv->waiter, until))
        ;
}

// How long before the end of a wait the user's thread begins to busy-wait. A
// loop does that itself. With --pace=auto, only arrivals are worth that.
static uint64_t spin_ns(const struct sb_user *u, bool arrival)
{
    int pace = u->run ? u->run->o->pace : SB_PACE_SLEEP;

    if (u->priv->waiter.fiber || pace == SB_PACE_SLEEP)
        return 0;
    if (pace == SB_PACE_SPIN)
        return SPIN_NS;
    return arrival ? sb_alarm_margin(&u->priv->alarm) : 0;
}

// Sleeps until a time and learns how late the thread wakes up. A loop learns
// that itself.
static uint64_t sleep_and_learn(struct sb_user *u, uint64_t until)
{
    sleep_until(u, until);

    uint64_t now = sb__user_now(u);
    if (now >= until && !u->priv->waiter.fiber)
        sb_alarm_learn(&u->priv->alarm, now - until);
    return now;
}

static uint64_t wait_until(struct sb_user *u, uint64_t until, uint64_t spin)
{
    uint64_t now = sb__user_now(u);

    while (now < until && !sb__user_stopped(u)) {
        if (until - now > spin) {
            now = sleep_and_learn(u, until - spin);
            continue;
        }
        if (u->run->crowded)
            sched_yield(); // a user that is due may need this processor
        else
            ck_pr_stall();
        now = sb__user_now(u);
    }
    return now;
}

uint64_t sb__user_wait(struct sb_user *u, uint64_t until)
{
    return wait_until(u, until, spin_ns(u, false));
}

uint64_t sb__user_wait_arrival(struct sb_user *u, uint64_t until)
{
    return wait_until(u, until, spin_ns(u, true));
}

bool sb__user_await(struct sb_user *u, uint64_t until)
{
    bool over;

    while (!(over = sb__user_stopped(u) || atomic_load(&u->run->used_up)) &&
           sb_waiter_sleep(&u->priv->waiter, until))
        ;
    return !over;
}

bool sb_user_sleep(struct sb_user *u, uint64_t ns)
{
    uint64_t now = sb__user_now(u);
    uint64_t end = u->run ? u->run->deadline : UINT64_MAX;
    uint64_t until = ns < end && now < end - ns ? now + ns : end;

    if (u->rec)
        sb_rec_flush(u->rec);
    return sb__user_wait(u, until) < end && !sb__user_stopped(u);
}

struct sb_waiter *sb_user_waiter(const struct sb_user *u)
{
    return &u->priv->waiter;
}

bool sb_user_stopped(const struct sb_user *u)
{
    return sb__user_stopped(u);
}

bool sb_user_has_task(const struct sb_user *u)
{
    return u->run && u->run->task;
}

bool sb_user_all_start(const struct sb_user *u)
{
    return u->run && !u->run->staged && !u->run->mixed;
}

const struct sb_fiber_waits *sb_user_waits(const struct sb_user *u)
{
    struct sb_fiber *f = u->priv->waiter.fiber;

    return f ? sb_fiber_waits(f) : NULL;
}

struct sb_prefetch *sb_user_prefetch(const struct sb_user *u)
{
    struct sb_fiber *f = u->priv->waiter.fiber;

    return f ? sb_fiber_prefetch(f) : NULL;
}

bool sb__user_is_to_yield(const struct sb_user *u, uint64_t now)
{
    const struct sb_fiber *f = u->priv->waiter.fiber;

    // Signed: the loop has another clock, which may be a little ahead.
    return f && now - u->priv->slice >= SB__USER_SLICE_NS &&
           (int64_t)(now - sb_fiber_reported(f)) >= SB__USER_SLICE_NS;
}

uint64_t sb__user_take_turns(struct sb_user *u, uint64_t now)
{
    if (!sb__user_is_to_yield(u, now))
        return now;
    sb_fiber_yield(u->priv->waiter.fiber);
    return u->priv->slice = sb__user_now(u);
}
