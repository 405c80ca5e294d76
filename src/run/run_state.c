// SPDX-License-Identifier: GPL-2.0-or-later
//
#include "run/run_state.h"

#include <assert.h>
#include <time.h>

#include "base/log.h"
#include "kit/clock.h"
#include "run/group.h"

void sb__run_stop(struct sb_run *run)
{
    atomic_store_explicit(&run->stop, true, memory_order_seq_cst);
    for (unsigned i = 0; i < run->users; i++) {
        struct sb_user *u = &run->user[i];

        if (!u->priv)
            continue;
        atomic_store_explicit(&u->boundary, 0, memory_order_seq_cst);
        sb_waiter_wake(&u->priv->waiter);
    }
    sb_crew_cancel(&run->crew);
    pthread_mutex_lock(&run->lock);
    pthread_cond_broadcast(&run->changed);
    sb_wait_list_wake(&run->go); // users between parts
    pthread_mutex_unlock(&run->lock);
}

void sb__run_fail(struct sb_run *run, const struct sb_err *err)
{
    assert(err->code < 0);
    pthread_mutex_lock(&run->lock);
    // Users that were canceled because of the first failure add no
    // information.
    if (run->err.code == 0 || run->err.code == SB_ECANCELED)
        run->err = *err;
    pthread_mutex_unlock(&run->lock);
    sb__run_stop(run);
}

void sb__run_tell_failure(struct sb_run *run)
{
    pthread_mutex_lock(&run->lock);
    bool told = run->told;
    struct sb_err err = run->err;
    run->told = true;
    pthread_mutex_unlock(&run->lock);
    assert(err.code < 0);
    if (!told)
        sb_log(SB_LOG_FATAL, "%s", err.msg);
}

void sb__run_wait(struct sb_run *run, uint64_t until)
{
    if (run->group) {
        uint64_t next = sb_clock_monotonic() + run->group->poll_every;

        pthread_mutex_unlock(&run->lock);
        run->group->ops->poll(run);
        pthread_mutex_lock(&run->lock);
        until = until < next ? until : next;
    }
    struct timespec ts = sb_clock_timespec(until);

    pthread_cond_timedwait(&run->changed, &run->lock, &ts);
}

uint64_t sb__run_longest_event(const struct sb_run *run)
{
    uint64_t longest = 0;

    for (int phase = 0; phase < SB_PHASES; phase++) {
        const struct sb_stats *s = &run->stats[phase];

        for (unsigned i = 0; i < s->users; i++) {
            uint64_t max = atomic_load_explicit(
                &s->rec[i].tally.service_max, memory_order_relaxed);
            longest = max > longest ? max : longest;
        }
    }
    return longest;
}

int sb__run_pace_stages(struct sb_run *run, uint64_t warmup)
{
    const struct sb_stages *s = sb__run_stages(run);
    enum sb_pace_kind kind = (enum sb_pace_kind)run->o->arrivals;
    struct sb_pace_part part[SB_STAGES_MAX + 1];

    part[0].ns = warmup;
    part[0].from = part[0].to = s->stage[0].rate_from;
    part[0].users_from = part[0].users_to = s->stage[0].users_from;
    for (unsigned i = 0; i < s->n; i++)
        part[i + 1] = (struct sb_pace_part){ s->stage[i].ns,
            s->stage[i].rate_from, s->stage[i].rate_to, s->stage[i].users_from,
            s->stage[i].users_to };
    if (sb_pace_init_parts(
            &run->pace, kind, part, s->n + 1, sb_rng_mix(run->random->seed)))
        return SB_ENOMEM;
    sb_pace_divide(&run->pace, &run->share);
    return 0;
}

bool sb__run_follows(const struct sb_run *run)
{
    return run->group && run->group->rank > 0;
}

// --start-at: the users are ready and wait for a moment.

static int64_t left_until(int64_t at)
{
    return at - (int64_t)sb_clock_wall();
}

// The wall clock may be set meanwhile, so it is read again from time to time.
void sb__run_wait_start_at(struct sb_run *run)
{
    int64_t at = run->o->start_at, left = at ? left_until(at) : 0;

    if (at && left <= 0)
        sb_log(SB_LOG_WARNING,
            "all users were ready %.3g s after --start-at; the run starts now",
            (double)-left / SB_SECOND);
    for (; left > 0 && !atomic_load(&run->stop); left = left_until(at)) {
        uint64_t step = left < (int64_t)SB_SECOND ? (uint64_t)left : SB_SECOND;
        uint64_t until = sb_clock_monotonic() + step;

        sb_log_progress("all users are ready, %.0f s until --start-at",
            (double)left / SB_SECOND);
        pthread_mutex_lock(&run->lock);
        while (!atomic_load(&run->stop) && sb_clock_monotonic() < until)
            sb__run_wait(run, until);
        pthread_mutex_unlock(&run->lock);
    }
    sb_log_progress_done();
}
