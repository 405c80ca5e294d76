// SPDX-License-Identifier: GPL-2.0-or-later
//
// --rate=80% and --rate=max: finds the rate of the measured part, with its
// users and connections. docs/internals/search.md. In the main thread; rank 0
// of a job decides, the others follow.
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "run/group.h"
#include "run/rate_part_private.h"
#include "run/rate_search.h"
#include "run/run_private.h"

// Bounds of the search, relative to the maximum of the closed loop. Above the
// maximum the queue grows; but a cold cache or a busy machine may have made the
// measured maximum too low.
#define LOWEST  1e-3
#define HIGHEST 4
// Near the limit for a percentile, most rates are below the maximum.
#define GUESS 0.7
// A trial in which the main thread was late is repeated, so many times at most.
#define REPEATS 100
// Minimum number of arrivals in a trial, and at the maximum.
#define EVENTS_MIN     10
#define EVENTS_MAXIMUM 20

uint64_t sb_rate_search_ns(const struct sb_run_opts *o)
{
    uint64_t trial = (uint64_t)o->rate_trial_time;
    uint64_t probe = (uint64_t)o->rate_probe_time;
    uint64_t trials = o->rate_search ? (uint64_t)o->rate_trials : 0;

    return (uint64_t)o->warmup_time + probe + probe / SB__PART_PROBE_REST +
           trials * (trial + trial / SB__PART_SETTLE);
}

static bool fail_run(struct sb_run *run, const struct sb_err *err)
{
    sb__run_fail(run, err);
    return false;
}

// Carries out a part on all ranks; *f are the figures of all. The caller frees
// f->sum.
static bool carry_out(struct sb_run *run, struct sb_meter *m,
    enum sb__part_kind kind, double rate, struct sb__part_figures *f)
{
    struct sb__part part = { .kind = kind, .rate = rate };

    if (run->group)
        run->group->ops->begin_part(run, &part);
    return sb__rate_part(run, m, &part, f) &&
           (!run->group || run->group->ops->add_part(run, f));
}

static bool warm_up(struct sb_run *run, struct sb_meter *m)
{
    struct sb__part_figures f;

    if (run->o->warmup_time == 0)
        return true;
    bool done = carry_out(run, m, SB__PART_WARMUP, 0, &f);

    sb_snap_done(&f.sum);
    return done;
}

static bool find_maximum(struct sb_run *run, struct sb_meter *m)
{
    struct sb__part_figures f;
    bool done = carry_out(run, m, SB__PART_PROBE, 0, &f);

    run->found.max = f.rate;
    sb_snap_done(&f.sum);
    return done;
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
        return fail_run(run, &err);
    if (run->l->rate_found)
        run->l->rate_found(run->l->data, &run->found);
    return true;
}

// Whether the limits were kept: the figures are those of the part of a trial
// that counts.
static void judge_trial(struct sb_run *run, const struct sb__part_figures *f,
    struct sb_search_trial *out)
{
    struct sb_report r;
    unsigned users = sb__run_report_users(run);

    out->grew = sb_search_grew(f->growth, f->arrivals, users) || f->left > 0;
    sb__run_report_fill(run, &r, &f->sum, run->part_end, true);
    out->value = NAN;
    out->missed = SB_SEARCH_NONE;
    out->kept = run->l->judge(run->l->data, &r, &out->value, &out->missed) &&
                !out->grew;
}

// Sets *again if the trial has no outcome and must be repeated.
static bool perform_trial(struct sb_run *run, struct sb_meter *m,
    struct sb_search_trial *out, bool *again)
{
    struct sb__part_figures f;
    bool go_on = carry_out(run, m, SB__PART_TRIAL, out->rate, &f);

    *again = f.late;
    if (go_on && !f.late)
        judge_trial(run, &f, out);
    sb_snap_done(&f.sum);
    return go_on;
}

// Performs a trial that has an outcome.
static bool try_rate(
    struct sb_run *run, struct sb_meter *m, struct sb_search_trial *t)
{
    struct sb_err err;
    bool again = true;

    for (unsigned i = 0; i <= REPEATS && again; i++)
        if (!perform_trial(run, m, t, &again))
            return false;
    if (!again)
        return true;
    sb_err_set(&err, SB_ELIMIT,
        "this machine is too busy for trials of %g s: %d consecutive trials "
        "were not counted in time (--rate-trial-time)",
        (double)run->o->rate_trial_time / 1e9, REPEATS + 1);
    return fail_run(run, &err);
}

static bool search_with(
    struct sb_run *run, struct sb_meter *m, struct sb_search *s)
{
    struct sb_rate_search *f = &run->found;

    while (f->result.end == SB_SEARCH_GOES_ON) {
        struct sb_search_trial *t = &run->trials[f->trials];

        assert(f->trials < (unsigned)run->o->rate_trials);
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

static bool search_rate(struct sb_run *run, struct sb_meter *m)
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
        sb__rate_part_no_memory(run);
    sb_search_done(&s);
    return found;
}

static bool lead_search(struct sb_run *run, struct sb_meter *m)
{
    const struct sb_run_opts *o = run->o;
    struct sb_rate_search *f = &run->found;
    struct sb__part_figures none;

    f->percent = o->rate_percent;
    f->limit = o->rate_search ? o->rate_limit : NULL;
    f->unit = run->l->judge_unit;
    if (!warm_up(run, m) || !find_maximum(run, m) || !check_probe(run))
        return false;
    if (o->rate_search && !search_rate(run, m))
        return false;
    if (!o->rate_search)
        f->rate = f->max * f->percent / 100;
    bool begun = carry_out(run, m, SB__PART_MEASURED, f->rate, &none);

    sb_snap_done(&none.sum);
    if (begun && run->l->measured)
        run->l->measured(run->l->data, f);
    return begun;
}

// Another rank: carries out the parts that rank 0 begins.
static bool follow_search(struct sb_run *run, struct sb_meter *m)
{
    struct sb__part part = { .kind = SB__PART_WARMUP };
    struct sb__part_figures f;
    bool go_on = true;

    while (go_on && part.kind != SB__PART_MEASURED) {
        go_on = run->group->ops->next_part(run, &part) &&
                sb__rate_part(run, m, &part, &f);
        if (!go_on)
            break;
        run->group->ops->give_part(run, &f);
        sb_snap_done(&f.sum);
    }
    // For the report of this rank, if rank 0 is lost.
    if (go_on)
        run->found.rate = part.rate;
    return go_on;
}

// Fails the run if nothing has stopped the search: the users were then ended by
// the script or the built-in test.
static void fail_if_users_ended(struct sb_run *run)
{
    struct sb_err err;

    pthread_mutex_lock(&run->lock);
    bool stopped = atomic_load(&run->stop) || run->err.code;
    pthread_mutex_unlock(&run->lock);
    if (stopped)
        return;
    sb_err_set(&err, SB_ELIMIT,
        "the users ended before the search for the rate did, so there is no "
        "measured part");
    sb__run_fail(run, &err);
}

bool sb__rate_search(struct sb_run *run, struct sb_meter *m)
{
    uint64_t interval = m->interval;

    // Until the first part begins, there are no events.
    run->began = run->t0 = sb_clock_monotonic();
    run->warm_end = run->deadline = UINT64_MAX;
    m->interval = 0; // no intervals before the measured part
    sb__meter_start(m);
    m->interval = interval;
    bool found = sb__run_follows(run) ? follow_search(run, m)
                                      : lead_search(run, m);

    if (!found && !sb__run_follows(run))
        fail_if_users_ended(run);
    // The other ranks wait for the next part.
    if (!found && run->group)
        sb__run_stop(run);
    return found;
}
