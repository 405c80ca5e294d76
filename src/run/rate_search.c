// SPDX-License-Identifier: GPL-2.0-or-later
//
// --rate=80% and --rate=max: finds the rate of the measured part, with its
// users and connections. docs/internals/search.md. In the main thread.
#include <math.h>
#include <stdlib.h>

#include "run/run_private.h"

// Part of a probe or trial that is not counted, as a divisor: the server and
// its queue get used to the new rate.
#define SETTLE 4
// A probe continues for this part of its length, so that the users still run
// if the main thread is late to count.
#define PROBE_REST 10
// Bounds of the search, relative to the maximum of the closed loop. Above it
// the queue grows, but a cold cache or a busy machine may have made it too low.
#define LOWEST  1e-3
#define HIGHEST 4
// Near the limit for a percentile, most rates are below the maximum.
#define GUESS 0.7
// A trial in which the main thread was late is repeated, so many times at most.
#define REPEATS 100
// Minimum number of arrivals in a trial, and at the maximum.
#define EVENTS_MIN     10
#define EVENTS_MAXIMUM 20
#define WALK_MAX       (UINT64_C(1) << 32)

struct trial {
    struct sb_snap before, after, diff;
    uint64_t queue; // at the start of what counts
    uint64_t settled, end;
    bool late; // the main thread did not count in time
};

uint64_t sb_rate_search_ns(const struct sb_run_opts *o)
{
    uint64_t trial = (uint64_t)o->rate_trial_time;
    uint64_t probe = (uint64_t)o->rate_probe_time;
    uint64_t trials = o->rate_search ? (uint64_t)o->rate_trials : 0;

    return (uint64_t)o->warmup_time + probe + probe / PROBE_REST +
           trials * (trial + trial / SETTLE);
}

static uint64_t grace(const struct sb_run *run)
{
    uint64_t longest = 5 * sb__longest_event(run);
    uint64_t minimum = (uint64_t)run->o->shutdown_grace;

    return longest > minimum ? longest : minimum;
}

static bool fail(struct sb_run *run, const struct sb_err *err)
{
    sb__run_fail(run, err);
    return false;
}

static bool no_memory(struct sb_run *run)
{
    struct sb_err err;

    sb_err_set(&err, SB_ENOMEM, "out of memory for the search of the rate");
    return fail(run, &err);
}

static bool warm_up(struct sb_run *run)
{
    uint64_t ns = (uint64_t)run->o->warmup_time;

    if (ns == 0)
        return true;
    sb__gate_open(run, 0, ns, ns, false);
    if (run->l->warmup)
        run->l->warmup(run->l->data, run->o->warmup_time);
    return sb__gate_sleep(run, run->t0 + ns) &&
           sb__gate_meet(run, run->t0 + ns + grace(run));
}

static uint64_t completed(const struct sb_run *run)
{
    const struct sb_stats *s = &run->stats[SB_PHASE_WARMUP];
    uint64_t n = 0;

    for (unsigned i = 0; i < s->users; i++)
        n += atomic_load_explicit(
            &s->rec[i].tally.completed, memory_order_relaxed);
    return n;
}

// Measures how many events per second the users complete in a closed loop.
static bool probe(struct sb_run *run, struct sb_meter *m)
{
    uint64_t ns = (uint64_t)run->o->rate_probe_time;
    uint64_t close = ns + ns / PROBE_REST;

    if (sb__meter_part(m))
        return no_memory(run);
    sb__gate_open(run, 0, close, close, false);
    if (!sb__gate_sleep(run, run->t0 + ns / SETTLE))
        return false;
    uint64_t from = sb_clock_monotonic(), first = completed(run);
    if (!sb__gate_sleep(run, run->t0 + ns))
        return false;
    uint64_t to = sb_clock_monotonic(), n = completed(run) - first;

    if (to > run->t0 + close)
        to = run->t0 + close;
    if (to > from)
        run->found.max = (double)n * 1e9 / (double)(to - from);
    return sb__gate_meet(run, run->t0 + close + grace(run));
}

static bool check_probe(struct sb_run *run)
{
    double trial = (double)run->o->rate_trial_time / 1e9;
    struct sb_err err = { 0 };

    if (run->found.max <= 0)
        sb_err_set(&err, SB_ELIMIT,
            "no event was completed in %g s, so the maximum rate is unknown "
            "(--rate-probe-time)",
            (double)run->o->rate_probe_time / 1e9);
    else if (run->o->rate_search && run->found.max * trial < EVENTS_MAXIMUM)
        sb_err_set(&err, SB_ELIMIT,
            "a trial of %g s would have at most %.2g events; the minimum is %d "
            "(--rate-trial-time)",
            trial, run->found.max * trial, EVENTS_MAXIMUM);
    if (err.code)
        return fail(run, &err);
    if (run->l->rate_found)
        run->l->rate_found(run->l->data, &run->found);
    return true;
}

// Returns the number of arrivals that were due by this time and no user took.
static uint64_t queue(struct sb_run *run, uint64_t until)
{
    sb_pace_pos pos = atomic_load(&run->cursor);

    return sb_pace_walk(&run->pace, &pos, until - run->t0, WALK_MAX);
}

// What happened between the two snapshots of a trial.
static bool judge(struct sb_run *run, struct sb_meter *m, struct trial *t,
    struct sb_search_trial *out)
{
    struct sb_report r;

    if (sb_snap_sub(&t->diff, &t->after, &t->before))
        return no_memory(run);
    sb__meter_report(m, &r, &t->diff, &t->after);
    out->value = NAN;
    out->missed = SB_SEARCH_NONE;
    out->kept = run->l->judge(run->l->data, &r, &out->value, &out->missed) &&
                !out->grew;
    return true;
}

// True if the main thread woke up when half of what counts was over: the queue
// is not known for that time, and the figures are those of few events.
static bool late(const struct trial *t, uint64_t due, uint64_t now)
{
    return now > due && now - due > (t->end - t->settled) / 2;
}

// The part of a trial that counts: all arrivals from settled to end.
static bool observe(struct sb_run *run, struct sb_meter *m, struct trial *t,
    struct sb_search_trial *out)
{
    uint64_t close = 2 * t->end - run->t0, now;

    if (!sb__gate_sleep(run, t->settled))
        return false;
    now = sb_clock_monotonic();
    t->late = late(t, t->settled, now);
    if (now >= t->end)
        now = t->end - 1;
    if (sb__meter_snapshot(m, &t->before, SB_SNAP_FULL, NULL, now, now))
        return no_memory(run);
    t->queue = queue(run, now);
    if (!sb__gate_sleep(run, t->end))
        return false;
    double growth = (double)queue(run, t->end) - (double)t->queue;
    t->late = t->late || late(t, t->end, sb_clock_monotonic());
    double arrivals = out->rate * (double)(t->end - now) / 1e9;
    out->grew = sb_search_grew(growth, arrivals, run->users);
    // The users start what has arrived, for as long as the trial lasted.
    if (!sb__gate_meet(run, close + grace(run)))
        return false;
    out->grew = out->grew || queue(run, t->end) > 0;
    return sb__meter_snapshot(
               m, &t->after, SB_SNAP_FULL, &t->before, t->end, t->end) == 0 ||
           no_memory(run);
}

// Sets *again if the trial has no outcome and must be repeated.
static bool perform(struct sb_run *run, struct sb_meter *m,
    struct sb_search_trial *out, bool *again)
{
    uint64_t ns = (uint64_t)run->o->rate_trial_time, all = ns + ns / SETTLE;
    struct trial t = { .queue = 0 };

    if (sb__meter_part(m))
        return no_memory(run);
    sb__gate_open(run, out->rate, all, 2 * all, false);
    t.settled = run->t0 + ns / SETTLE;
    t.end = run->t0 + all;
    bool go_on = observe(run, m, &t, out);
    *again = t.late;
    go_on = go_on && (t.late || judge(run, m, &t, out));
    sb_snap_done(&t.diff);
    sb_snap_done(&t.after);
    sb_snap_done(&t.before);
    return go_on;
}

// Performs a trial that has an outcome.
static bool try_rate(
    struct sb_run *run, struct sb_meter *m, struct sb_search_trial *t)
{
    struct sb_err err;
    bool again = true;

    for (unsigned i = 0; i <= REPEATS && again; i++)
        if (!perform(run, m, t, &again))
            return false;
    if (!again)
        return true;
    sb_err_set(&err, SB_ELIMIT,
        "this machine is too busy for trials of %g s: %d after each other were "
        "not counted in time (--rate-trial-time)",
        (double)run->o->rate_trial_time / 1e9, REPEATS + 1);
    return fail(run, &err);
}

static bool search_with(
    struct sb_run *run, struct sb_meter *m, struct sb_search *s)
{
    struct sb_rate_search *f = &run->found;

    while (f->result.end == SB_SEARCH_GOES_ON) {
        struct sb_search_trial *t = &run->trials[f->trials];

        t->rate = sb_search_next(s);
        if (!try_rate(run, m, t))
            return false;
        sb_search_add(s, t->rate, t->kept);
        sb_search_result(s, &f->result);
        f->trials++;
        if (run->l->rate_found)
            run->l->rate_found(run->l->data, f);
    }
    f->rate = isnan(f->result.safe) ? f->lowest : f->result.safe;
    return true;
}

static bool search(struct sb_run *run, struct sb_meter *m)
{
    const struct sb_run_opts *o = run->o;
    struct sb_rate_search *f = &run->found;
    struct sb_search s = { 0 };
    bool found = false;

    f->highest = HIGHEST * f->max;
    f->lowest = EVENTS_MIN * 1e9 / (double)o->rate_trial_time;
    if (f->lowest < LOWEST * f->max)
        f->lowest = LOWEST * f->max;
    run->trials = calloc((size_t)o->rate_trials, sizeof(*run->trials));
    f->trial = run->trials;
    if (run->trials &&
        sb_search_init(&s, GUESS * f->max, f->lowest, f->highest,
            o->rate_tolerance / 100, (unsigned)o->rate_trials) == 0)
        found = search_with(run, m, &s);
    else
        no_memory(run);
    sb_search_done(&s);
    return found;
}

bool sb__rate_search(struct sb_run *run, struct sb_meter *m)
{
    const struct sb_run_opts *o = run->o;
    struct sb_rate_search *f = &run->found;
    uint64_t interval = m->interval;

    f->percent = o->rate_percent;
    f->limit = o->rate_search ? o->rate_limit : NULL;
    f->unit = run->l->judge_unit;
    // Until the first part begins, there are no events.
    run->began = run->t0 = sb_clock_monotonic();
    run->warm_end = run->deadline = UINT64_MAX;
    m->interval = 0; // no intervals before the measured part
    sb__meter_start(m);
    m->interval = interval;
    if (!warm_up(run) || !probe(run, m) || !check_probe(run))
        return false;
    if (o->rate_search && !search(run, m))
        return false;
    if (!o->rate_search)
        f->rate = f->max * f->percent / 100;
    sb__gate_open(run, f->rate, UINT64_MAX, UINT64_MAX, true);
    sb__meter_measured(m);
    if (run->l->measured)
        run->l->measured(run->l->data, f);
    return true;
}
