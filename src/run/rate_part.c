// SPDX-License-Identifier: GPL-2.0-or-later
//
// The parts of a search for the rate, in this process: warm-up, probe, trials.
#include <assert.h>

#include "run/rate_part_private.h"

#include "run/gate.h"
#include "run/group.h"

struct trial {
    struct sb_snap before, after;
    uint64_t settled, end;
};

static uint64_t grace_of_users(const struct sb_run *run)
{
    uint64_t longest = 5 * sb__run_longest_event(run);
    uint64_t minimum = (uint64_t)run->o->shutdown_grace;

    return longest > minimum ? longest : minimum;
}

bool sb__rate_part_no_memory(struct sb_run *run)
{
    struct sb_err err;

    sb_err_set(&err, SB_ENOMEM, "out of memory for the search of the rate");
    sb__run_fail(run, &err);
    return false;
}

static bool carry_out_warmup(struct sb_run *run, const struct sb__part *part)
{
    uint64_t ns = (uint64_t)run->o->warmup_time;

    sb__gate_open(run, part, ns, ns);
    if (run->l->warmup)
        run->l->warmup(run->l->data, run->o->warmup_time);
    return sb__gate_sleep(run, run->t0 + ns) &&
           sb__gate_meet(run, run->t0 + ns + grace_of_users(run));
}

static uint64_t count_completed(const struct sb_run *run)
{
    const struct sb_stats *s = &run->stats[SB_PHASE_WARMUP];
    uint64_t n = 0;

    for (unsigned i = 0; i < s->users; i++)
        n += atomic_load_explicit(
            &s->rec[i].tally.completed, memory_order_relaxed);
    return n;
}

// Measures how many events per second the users complete in a closed loop.
static bool measure_maximum(
    struct sb_run *run, const struct sb__part *part, struct sb__part_figures *f)
{
    uint64_t ns = (uint64_t)run->o->rate_probe_time;
    uint64_t close = ns + ns / SB__PART_PROBE_REST;

    sb__gate_open(run, part, close, close);
    if (!sb__gate_sleep(run, run->t0 + ns / SB__PART_SETTLE))
        return false;
    uint64_t from = sb_clock_monotonic(), first = count_completed(run);
    if (!sb__gate_sleep(run, run->t0 + ns))
        return false;
    uint64_t to = sb_clock_monotonic(), n = count_completed(run) - first;

    if (to > run->t0 + close)
        to = run->t0 + close;
    if (to > from)
        f->rate = (double)n * 1e9 / (double)(to - from);
    return sb__gate_meet(run, run->t0 + close + grace_of_users(run));
}

// Returns the number of arrivals that were due by this time, after those before
// pos, which users had taken.
static uint64_t queue_at(
    const struct sb_run *run, sb_pace_pos pos, uint64_t until)
{
    return sb_pace_walk(&run->pace, &pos, until - run->t0, SB__RUN_WALK_MAX);
}

// True if the main thread woke up when half of what counts was over: the queue
// is not known for that time, and the figures are those of few events.
static bool woke_late(const struct trial *t, uint64_t due, uint64_t now)
{
    return now > due && now - due > (t->end - t->settled) / 2;
}

// The part of a trial that counts: all arrivals from settled to end.
static bool observe_trial(struct sb_run *run, struct sb_meter *m,
    struct trial *t, double rate, struct sb__part_figures *f)
{
    uint64_t close = 2 * t->end - run->t0, now;
    double part = (double)run->share.users / (double)run->share.total;
    // Arrivals are counted after the trial: a queue of millions takes longer to
    // walk than a short trial lasts.
    sb_pace_pos at_settled, at_end;

    if (!sb__gate_sleep(run, t->settled))
        return false;
    now = sb_clock_monotonic();
    at_settled = atomic_load(&run->cursor);
    f->late = woke_late(t, t->settled, now);
    if (now >= t->end)
        now = t->end - 1;
    if (sb__meter_snap_take(m, &t->before, SB_SNAP_FULL, NULL, now, now))
        return sb__rate_part_no_memory(run);
    if (!sb__gate_sleep(run, t->end))
        return false;
    at_end = atomic_load(&run->cursor);
    f->late = f->late || woke_late(t, t->end, sb_clock_monotonic());
    f->arrivals = part * rate * (double)(t->end - now) / 1e9;
    // The users get as much time as the trial lasted to start the events that
    // have arrived.
    if (!sb__gate_meet(run, close + grace_of_users(run)))
        return false;
    f->growth = (double)queue_at(run, at_end, t->end) -
                (double)queue_at(run, at_settled, now);
    f->left = queue_at(run, atomic_load(&run->cursor), t->end);
    return sb__meter_snap_take(
               m, &t->after, SB_SNAP_FULL, &t->before, t->end, t->end) == 0 ||
           sb__rate_part_no_memory(run);
}

static bool carry_out_trial(struct sb_run *run, struct sb_meter *m,
    const struct sb__part *part, struct sb__part_figures *f)
{
    uint64_t ns = (uint64_t)run->o->rate_trial_time,
             all = ns + ns / SB__PART_SETTLE;
    struct trial t = { .settled = 0 };

    sb__gate_open(run, part, all, 2 * all);
    t.settled = run->t0 + ns / SB__PART_SETTLE;
    t.end = run->t0 + all;
    bool go_on = observe_trial(run, m, &t, part->rate, f);
    if (go_on && !f->late && sb_snap_sub(&f->sum, &t.after, &t.before))
        go_on = sb__rate_part_no_memory(run);
    sb_snap_done(&t.after);
    sb_snap_done(&t.before);
    return go_on;
}

bool sb__rate_part(struct sb_run *run, struct sb_meter *m,
    const struct sb__part *part, struct sb__part_figures *f)
{
    bool first = part->kind == SB__PART_WARMUP;

    assert(run->searching);
    assert((part->kind > SB__PART_PROBE) == (part->rate > 0));
    *f = (struct sb__part_figures){ .late = false };
    if (part->at)
        run->group->ops->wait(run, part->at);
    if (part->kind == SB__PART_MEASURED) {
        if (run->own_stages && sb__run_begin_stages(run, part->rate))
            return sb__rate_part_no_memory(run);
        sb__gate_open(run, part, UINT64_MAX, UINT64_MAX);
        if (run->group)
            run->group->began = run->t0;
        sb__meter_measured(m);
        return true;
    }
    if (!first && sb__meter_part(m))
        return sb__rate_part_no_memory(run);
    return first                          ? carry_out_warmup(run, part)
           : part->kind == SB__PART_PROBE ? measure_maximum(run, part, f)
                                          : carry_out_trial(run, m, part, f);
}
