// SPDX-License-Identifier: GPL-2.0-or-later
//
// A run that is in progress, as all parts of run/ use it: stop, failure,
// waiting.
#include <assert.h>
#include <time.h>

#include "base/log.h"
#include "kit/clock.h"
#include "run/group.h"
#include "run/run_private.h"
#include "run/signals.h"
#include "run/user_private.h"

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

void sb__run_on_signal(void *arg, int sig)
{
    struct sb_run *run = arg;

    assert(sig > 0);
    pthread_mutex_lock(&run->lock);
    run->signal = sig;
    pthread_mutex_unlock(&run->lock);
    if (atomic_load(&run->over))
        sb_log(SB_LOG_NOTICE,
            "%s: the run has ended; waiting for its report and the script's "
            "done(). A second signal exits at once.",
            sb_signals_name(sig));
    sb__run_stop(run);
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

void sb__run_cancel(struct sb_run *run, uint64_t until)
{
    for (unsigned i = 0; i < run->users; i++) {
        if (sb_clock_monotonic() >= until)
            break;
        pthread_mutex_lock(&run->lock);
        enum sb_user_state state = run->priv[i].state;
        pthread_mutex_unlock(&run->lock);
        if (run->w->ops->cancel && run->user[i].priv && state != SB_USER_ENDED)
            run->w->ops->cancel(run->w, &run->user[i]);
    }
    sb_crew_let_go(&run->crew);
}

unsigned sb__run_cancel_coming(struct sb_run *run)
{
    unsigned n = 0;

    for (unsigned i = 0; run->staged && i < run->users; i++) {
        if (!atomic_load(&run->priv[i].coming))
            continue;
        n++;
        if (run->w->ops->cancel)
            run->w->ops->cancel(run->w, &run->user[i]);
    }
    return n;
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

unsigned sb__run_busy(struct sb_run *run)
{
    pthread_mutex_lock(&run->lock);
    assert(run->ended <= run->users);
    unsigned busy = run->users - run->ended;
    pthread_mutex_unlock(&run->lock);
    return busy;
}

bool sb__run_follows(const struct sb_run *run)
{
    return run->group && run->group->rank > 0;
}

void sb__run_report_stage(
    const struct sb_run *run, struct sb_report *r, unsigned stage)
{
    const struct sb_stage *s = &sb__run_stages(run)->stage[stage];

    assert(stage < sb__run_stages(run)->n);
    r->stage = stage;
    r->stage_name = s->name;
    r->stage_users[0] = s->users_from;
    r->stage_users[1] = s->users_to;
    r->stage_rate[0] = s->rate_from;
    r->stage_rate[1] = s->rate_to;
    r->stage_mix = s->mix_text;
}

void sb__run_report_stage_at(
    const struct sb_run *run, struct sb_report *r, uint64_t now)
{
    uint64_t start = run->warm_end;
    uint64_t middle = now - r->snap->ns / 2;

    if (run->staged)
        sb__run_report_stage(run, r,
            sb_stages_at(
                sb__run_stages(run), middle > start ? middle - start : 0));
}

unsigned sb__run_report_users(const struct sb_run *run)
{
    return (unsigned)(run->group ? run->o->threads : run->users);
}

unsigned sb__run_report_users_at_end(const struct sb_run *run)
{
    uint64_t last = run->deadline - run->warm_end - 1;
    unsigned n = 0;

    if (!run->staged)
        return sb__run_report_users(run);
    if (run->group)
        return sb_stages_users(sb__run_stages(run), last);
    for (unsigned i = 0; i < run->users; i++) {
        uint64_t until;

        n += sb_stages_user(
            sb__run_stages(run), run->priv[i].turn, last, &until);
    }
    return n;
}

const struct sb_stats *sb__run_report_names(
    const struct sb_run *run, enum sb_phase phase)
{
    return run->group ? run->group->names : &run->stats[phase];
}

void sb__run_report_fill(struct sb_run *run, struct sb_report *r,
    const struct sb_snap *sum, uint64_t now, bool warmup)
{
    uint64_t start = warmup ? run->t0 : run->warm_end;
    enum sb_phase phase = warmup ? SB_PHASE_WARMUP : SB_PHASE_MEASURED;

    sb_report_fill(r, sum, sb__run_report_users(run), run->open_loop,
        (double)(now - start) / 1e9);
    r->warmup = warmup;
    r->warmup_s = run->searching ? 0 : (double)run->o->warmup_time / 1e9;
    r->start_ns = start;
    r->stats = sb__run_report_names(run, phase);
    r->queue = sum->queue;
    r->concurrency = sum->unfinished;
    r->running = now >= run->deadline ? sb__run_report_users_at_end(run)
                                      : sum->running;
    sb__run_report_stage_at(run, r, now);
}
