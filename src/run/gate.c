// SPDX-License-Identifier: GPL-2.0-or-later
//
// The gate of a search: users wait there between its parts. While all of them
// wait, the main thread may change what they read without a lock: the schedule,
// the kind of loop, the limits of time.
#include <assert.h>
#include <stdio.h>

#include "base/log.h"
#include "run/gate.h"
#include "run/holds.h"
#include "run/user_private.h"

#define SHOW_EVERY UINT64_C(1000000000) // ns between calls of searching()

static bool all_there(const struct sb_run *run)
{
    return run->waiting + run->ended >= run->users;
}

static bool run_is_over(struct sb_run *run)
{
    return atomic_load(&run->stop) || run->ended >= run->users;
}

bool sb__gate_wait(struct sb_user *u)
{
    struct sb_run *run = u->run;

    if (u->rec)
        sb_rec_flush(u->rec);
    pthread_mutex_lock(&run->lock);
    uint64_t part = run->part;
    run->waiting++;
    assert(run->waiting <= run->users);
    if (all_there(run))
        pthread_cond_signal(&run->changed);
    while (run->part == part && !atomic_load(&run->stop))
        sb_wait_list_wait(&run->go, &run->lock, &u->priv->waiter, SB_FOREVER);
    bool next = run->part != part && !atomic_load(&run->stop);
    pthread_mutex_unlock(&run->lock);
    return next;
}

static uint64_t time_after(uint64_t now, uint64_t ns)
{
    return ns < UINT64_MAX - now ? now + ns : UINT64_MAX;
}

static void set_measured(struct sb_run *run)
{
    uint64_t time = (uint64_t)run->o->time;

    run->searching = false;
    run->warm_end = run->t0;
    run->deadline = time > 0 ? run->t0 + time : UINT64_MAX;
}

void sb__gate_open(struct sb_run *run, const struct sb__part *part,
    uint64_t end, uint64_t close)
{
    bool measured = part->kind == SB__PART_MEASURED;
    double rate = part->rate;
    // Each trial has arrivals of its own. The measured part has the arrivals of
    // a run with this rate.
    uint64_t seed = run->random->seed + (measured ? 0 : run->part);

    pthread_mutex_lock(&run->lock);
    // Otherwise a user might read the fields that change here.
    assert(run->searching && (!run->released || all_there(run)));
    run->t0 = sb_clock_monotonic();
    if (part->at && part->at < run->t0) // a stop may come before the start
        run->t0 = part->at;
    run->warm_end = run->deadline = UINT64_MAX;
    if (measured)
        set_measured(run);
    run->open_loop = rate > 0;
    // With stages, the schedule exists already.
    if (rate > 0 && !run->staged) {
        sb_pace_init(&run->pace, (enum sb_pace_kind)run->o->arrivals, rate,
            sb_rng_mix(seed));
        sb_pace_divide(&run->pace, &run->share);
    }
    atomic_store(&run->cursor, 0);
    for (unsigned i = 0; i < run->users; i++) {
        run->priv[i].before = time_after(run->t0, end);
        run->priv[i].leave = time_after(run->t0, close);
    }
    run->waiting = 0;
    run->part++;
    run->part_rate = rate;
    run->part_end = time_after(run->t0, end);
    run->released = true;
    sb_wait_list_wake(&run->go);
    pthread_mutex_unlock(&run->lock);
}

static void show_search(const struct sb_run *run, uint64_t now)
{
    const struct sb_searching s = {
        .warmup = run->part == 1 && run->o->warmup_time > 0,
        .trial = run->part_rate > 0 ? run->found.trials + 1 : 0,
        .max_trials = run->o->rate_search ? (unsigned)run->o->rate_trials : 0,
        .rate = run->part_rate,
        .left = run->part_end > now ? (double)(run->part_end - now) / 1e9 : 0,
    };

    run->l->searching(run->l->data, &s);
}

// As sb__run_wait(), but tells the listener from time to time how the search is
// going. May return early.
static void wait_and_show(struct sb_run *run, uint64_t until)
{
    uint64_t now, next = run->shown + SHOW_EVERY;

    if (!run->l || !run->l->searching) {
        sb__run_wait(run, until);
        return;
    }
    if (sb_clock_monotonic() < next)
        sb__run_wait(run, next < until ? next : until);
    now = sb_clock_monotonic();
    if (now < next)
        return;
    run->shown = now;
    pthread_mutex_unlock(&run->lock);
    show_search(run, now);
    pthread_mutex_lock(&run->lock);
}

// Waits until the time or, if meet is set, until all users are there. Returns
// false if the run is over.
static bool wait_in_part(struct sb_run *run, bool meet, uint64_t until)
{
    bool over, met;

    do {
        uint64_t check = sb__holds_check(run);

        pthread_mutex_lock(&run->lock);
        met = meet && all_there(run);
        if (!run_is_over(run) && !met)
            wait_and_show(run, check < until ? check : until);
        over = run_is_over(run);
        pthread_mutex_unlock(&run->lock);
    } while (!over && !met && sb_clock_monotonic() < until);
    return !over;
}

bool sb__gate_sleep(struct sb_run *run, uint64_t until)
{
    return wait_in_part(run, false, until);
}

bool sb__gate_meet(struct sb_run *run, uint64_t limit)
{
    bool go_on = wait_in_part(run, true, limit);
    char where[40] = "";
    struct sb_err err;

    pthread_mutex_lock(&run->lock);
    bool met = all_there(run);
    unsigned busy = run->users - run->waiting - run->ended;
    pthread_mutex_unlock(&run->lock);
    if (!go_on || met)
        return go_on;
    // Before the first trial, the loop is closed. Rank 0 counts them.
    if (run->open_loop && !sb__run_follows(run))
        snprintf(where, sizeof(where), "trial %u: ", run->found.trials + 1);
    sb_err_set(&err, SB_ETIMEOUT,
        "%s%u of %u users do not return from their events; the search for the "
        "rate cannot continue (--shutdown-grace)",
        where, busy, run->users);
    sb__run_fail(run, &err);
    return false;
}
