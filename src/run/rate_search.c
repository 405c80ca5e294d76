// SPDX-License-Identifier: GPL-2.0-or-later
//
// What precedes the measured part, with its users and connections, in parts.
// --rate=80% and --rate=max: warm-up, probe, trials: docs/internals/search.md.
// Otherwise a warm-up with a pause behind it: docs/internals/run.md. In the
// main thread; rank 0 of a job decides, the others follow.
#include "run/rate_search.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kit/clock.h"
#include "run/group.h"
#include "run/holds.h"
#include "run/meter.h"
#include "run/run_state.h"

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
// Part of a probe or trial that is not counted, as a divisor: the server and
// its queue get used to the new rate.
#define SETTLE 4
// A probe continues for this part of its length, so that the users still run
// if the main thread is late to count.
#define PROBE_REST 10
#define SHOW_EVERY SB_SECOND // between calls of searching()

// The gate --------------------------------------------------------------------

// Users wait at the gate between two parts. While all of them wait, the main
// thread may change the data that they read without a lock: the schedule, the
// kind of loop, the limits of time.

static bool all_there(const struct sb_run *run)
{
    return run->search.waiting + run->ended >= run->users;
}

static bool run_is_over(struct sb_run *run)
{
    return atomic_load(&run->stop) || run->ended >= run->users;
}

bool sb__rate_search_wait(struct sb_user *u)
{
    struct sb_run *run = u->run;

    if (u->rec)
        sb_rec_flush(u->rec);
    pthread_mutex_lock(&run->lock);
    uint64_t part = run->search.part;
    run->search.waiting++;
    assert(run->search.waiting <= run->users);
    if (all_there(run))
        pthread_cond_signal(&run->changed);
    while (run->search.part == part && !atomic_load(&run->stop))
        sb_wait_list_wait(&run->go, &run->lock, &u->priv->waiter, SB_FOREVER);
    bool next = run->search.part != part && !atomic_load(&run->stop);
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

    run->gated = run->searching = false;
    run->warm_end = run->t0;
    run->deadline = time > 0 ? run->t0 + time : UINT64_MAX;
}

// Think times that the pause has interrupted continue.
static void move_think_times(struct sb_run *run, uint64_t from, uint64_t to)
{
    for (unsigned i = 0; i < run->users; i++) {
        uint64_t *resume = &run->user[i].resume;

        if (*resume > from)
            *resume += to - from;
    }
}

// Lets the users go, for arrivals before `end`, and events that begin before
// `close`: times in ns since the start of the part; UINT64_MAX: no limit.
static void open_gate(struct sb_run *run, const struct sb__part *part,
    uint64_t end, uint64_t close)
{
    bool measured = part->kind == SB__PART_MEASURED;
    double rate = part->rate;
    // Each trial has arrivals of its own. The measured part has the arrivals of
    // a run with this rate.
    uint64_t seed = run->random->seed + (measured ? 0 : run->search.part);

    pthread_mutex_lock(&run->lock);
    // Otherwise a user might read the fields that change here.
    assert(run->gated && (!run->released || all_there(run)));
    run->t0 = sb_clock_monotonic();
    if (part->at && part->at < run->t0) // a stop may come before the start
        run->t0 = part->at;
    if (measured && !run->searching)
        move_think_times(run, run->search.end, run->t0);
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
    run->search.waiting = 0;
    run->search.part++;
    run->search.rate = rate;
    run->search.end = time_after(run->t0, end);
    run->released = true;
    sb_wait_list_wake(&run->go);
    pthread_mutex_unlock(&run->lock);
}

static void show_search(const struct sb_run *run, uint64_t now)
{
    const struct sb_searching s = {
        .warmup = run->search.part == 1 && run->o->warmup_time > 0,
        .trial = run->search.rate > 0 ? run->search.found.trials + 1 : 0,
        .max_trials = run->o->rate_search ? (unsigned)run->o->rate_trials : 0,
        .rate = run->search.rate,
        .left = run->search.end > now ? (double)(run->search.end - now) / 1e9
                                      : 0,
    };

    run->l->searching(run->l->data, &s);
}

// As sb__run_wait(), but tells the listener from time to time how the search is
// going. May return early.
static void wait_and_show(struct sb_run *run, uint64_t until)
{
    uint64_t now, next = run->search.shown + SHOW_EVERY;

    if (!run->searching || !run->l || !run->l->searching) {
        sb__run_wait(run, until);
        return;
    }
    if (sb_clock_monotonic() < next)
        sb__run_wait(run, next < until ? next : until);
    now = sb_clock_monotonic();
    if (now < next)
        return;
    run->search.shown = now;
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

// Waits until the time. Returns false if the run is over.
static bool sleep_in_part(struct sb_run *run, uint64_t until)
{
    return wait_in_part(run, false, until);
}

// Waits until all users are at the gate; at most until the time. Returns false
// if the run is over or they were not there in time, which fails the run.
static bool meet_at_gate(struct sb_run *run, uint64_t limit)
{
    bool go_on = wait_in_part(run, true, limit);
    char where[40] = "";
    struct sb_err err;

    pthread_mutex_lock(&run->lock);
    bool met = all_there(run);
    unsigned busy = run->users - run->search.waiting - run->ended;
    pthread_mutex_unlock(&run->lock);
    if (!go_on || met)
        return go_on;
    // Before the first trial, the loop is closed. Rank 0 counts them.
    if (run->open_loop && !sb__run_follows(run))
        snprintf(
            where, sizeof(where), "trial %u: ", run->search.found.trials + 1);
    sb_err_set(&err, SB_ETIMEOUT,
        "%s%u of %u users do not return from their events; the search for the "
        "rate cannot continue (--shutdown-grace)",
        where, busy, run->users);
    sb__run_fail(run, &err);
    return false;
}

// The parts, in this process --------------------------------------------------

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

static bool fail_no_memory(struct sb_run *run)
{
    struct sb_err err;

    sb_err_set(&err, SB_ENOMEM, "out of memory for the search of the rate");
    sb__run_fail(run, &err);
    return false;
}

static bool carry_out_warmup(struct sb_run *run, const struct sb__part *part)
{
    uint64_t ns = (uint64_t)run->o->warmup_time;

    open_gate(run, part, ns, ns);
    if (run->l->warmup)
        run->l->warmup(run->l->data, run->o->warmup_time);
    return sleep_in_part(run, run->t0 + ns) &&
           meet_at_gate(run, run->t0 + ns + grace_of_users(run));
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
    uint64_t close = ns + ns / PROBE_REST;

    open_gate(run, part, close, close);
    if (!sleep_in_part(run, run->t0 + ns / SETTLE))
        return false;
    uint64_t from = sb_clock_monotonic(), first = count_completed(run);
    if (!sleep_in_part(run, run->t0 + ns))
        return false;
    uint64_t to = sb_clock_monotonic(), n = count_completed(run) - first;

    if (to > run->t0 + close)
        to = run->t0 + close;
    if (to > from)
        f->rate = (double)n * 1e9 / (double)(to - from);
    return meet_at_gate(run, run->t0 + close + grace_of_users(run));
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

    if (!sleep_in_part(run, t->settled))
        return false;
    now = sb_clock_monotonic();
    at_settled = atomic_load(&run->cursor);
    f->late = woke_late(t, t->settled, now);
    if (now >= t->end)
        now = t->end - 1;
    if (sb__meter_snap_take(m, &t->before, SB_SNAP_FULL, NULL, now, now))
        return fail_no_memory(run);
    if (!sleep_in_part(run, t->end))
        return false;
    at_end = atomic_load(&run->cursor);
    f->late = f->late || woke_late(t, t->end, sb_clock_monotonic());
    f->arrivals = part * rate * (double)(t->end - now) / 1e9;
    // The users get as much time as the trial lasted to start the events that
    // have arrived.
    if (!meet_at_gate(run, close + grace_of_users(run)))
        return false;
    f->growth = (double)queue_at(run, at_end, t->end) -
                (double)queue_at(run, at_settled, now);
    f->left = queue_at(run, atomic_load(&run->cursor), t->end);
    return sb__meter_snap_take(
               m, &t->after, SB_SNAP_FULL, &t->before, t->end, t->end) == 0 ||
           fail_no_memory(run);
}

static bool carry_out_trial(struct sb_run *run, struct sb_meter *m,
    const struct sb__part *part, struct sb__part_figures *f)
{
    uint64_t ns = (uint64_t)run->o->rate_trial_time, all = ns + ns / SETTLE;
    struct trial t = { .settled = 0 };

    open_gate(run, part, all, 2 * all);
    t.settled = run->t0 + ns / SETTLE;
    t.end = run->t0 + all;
    bool go_on = observe_trial(run, m, &t, part->rate, f);
    if (go_on && !f->late && sb_snap_sub(&f->sum, &t.after, &t.before))
        go_on = fail_no_memory(run);
    sb_snap_done(&t.after);
    sb_snap_done(&t.before);
    return go_on;
}

// The rates of the stages are parts of the one that was found.
static int begin_stages(struct sb_run *run, double rate)
{
    struct sb_stages *s = run->search.stages;

    assert(run->searching && !run->staged);
    for (unsigned i = 0; i < s->n; i++) {
        s->stage[i].rate_from *= rate;
        s->stage[i].rate_to *= rate;
    }
    run->staged = true;
    return sb__run_pace_stages(run, 0);
}

// Carries out a part, from its start until all users are at the gate again
// (SB__PART_MEASURED: only its start). Returns false if the run is over. The
// caller frees f->sum.
static bool carry_out_here(struct sb_run *run, struct sb_meter *m,
    const struct sb__part *part, struct sb__part_figures *f)
{
    bool first = part->kind == SB__PART_WARMUP;

    assert(run->searching);
    assert((part->kind > SB__PART_PROBE) == (part->rate > 0));
    *f = (struct sb__part_figures){ .late = false };
    if (part->at)
        run->group->ops->wait(run, part->at);
    if (part->kind == SB__PART_MEASURED) {
        if (run->search.stages && begin_stages(run, part->rate))
            return fail_no_memory(run);
        open_gate(run, part, UINT64_MAX, UINT64_MAX);
        if (run->group)
            run->group->began = run->t0;
        sb__meter_measured(m);
        return true;
    }
    if (!first && sb__meter_part(m))
        return fail_no_memory(run);
    return first                          ? carry_out_warmup(run, part)
           : part->kind == SB__PART_PROBE ? measure_maximum(run, part, f)
                                          : carry_out_trial(run, m, part, f);
}

// The pause -------------------------------------------------------------------

// Returns false if the run is over.
static bool pause_users(struct sb_run *run)
{
    uint64_t until;

    if (!run->l->pause || run->group)
        return true;
    until = (uint64_t)run->l->pause(run->l->data, &run->stop);
    return sleep_in_part(run, sb_clock_monotonic() + until);
}

// Longer than any event.
#define FAR_NS (UINT64_C(365) * 24 * 3600 * SB_SECOND)

// Waits until all users are at the gate behind a warm-up that ends at `end`,
// with its reports. Returns false if the run is over.
static bool end_warmup(struct sb_run *run, struct sb_meter *m, uint64_t end)
{
    uint64_t now = sb_clock_monotonic();
    bool go_on = true;

    while (go_on && now < end) {
        uint64_t next = sb__meter_next(m);

        go_on = sleep_in_part(run, next < end ? next : end);
        now = sb_clock_monotonic();
        if (go_on && next < end && next <= now)
            sb__meter_tick(m, now);
    }
    return go_on && wait_in_part(run, true, now + FAR_NS);
}

// A warm-up at the rate of the measured part, a pause, the measured part.
static bool warm_up_and_pause(struct sb_run *run, struct sb_meter *m)
{
    uint64_t ns = (uint64_t)run->o->warmup_time;
    struct sb__part part = { .kind = SB__PART_WARMUP, .rate = run->o->rate };

    open_gate(run, &part, ns, ns);
    run->began = run->t0;
    if (run->l->warmup)
        run->l->warmup(run->l->data, run->o->warmup_time);
    sb__meter_start(m);
    if (!end_warmup(run, m, run->t0 + ns))
        return false;
    sb__meter_pause(m);
    if (!pause_users(run))
        return false;
    sb__meter_resume(m);
    part.kind = SB__PART_MEASURED;
    open_gate(run, &part, UINT64_MAX, UINT64_MAX);
    sb__meter_measured(m);
    return true;
}

// The search ------------------------------------------------------------------

uint64_t sb_rate_search_ns(const struct sb_run_opts *o)
{
    uint64_t trial = (uint64_t)o->rate_trial_time;
    uint64_t probe = (uint64_t)o->rate_probe_time;
    uint64_t trials = o->rate_search ? (uint64_t)o->rate_trials : 0;

    return (uint64_t)o->warmup_time + probe + probe / PROBE_REST +
           trials * (trial + trial / SETTLE);
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
    return carry_out_here(run, m, &part, f) &&
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

    run->search.found.max = f.rate;
    sb_snap_done(&f.sum);
    return done;
}

static bool check_probe(struct sb_run *run)
{
    double trial = (double)run->o->rate_trial_time / 1e9;
    struct sb_err err = { 0 };

    if (run->search.found.max <= 0)
        sb_err_set(&err, SB_ELIMIT,
            "no event was completed in %g s, so the maximum rate is unknown "
            "(--rate-probe-time)",
            (double)run->o->rate_probe_time / 1e9);
    else if (run->o->rate_search &&
             run->search.found.max * trial < EVENTS_MAXIMUM)
        sb_err_set(&err, SB_ELIMIT,
            "a trial of %g s would have at most %.2g events; the minimum is %d "
            "(--rate-trial-time)",
            trial, run->search.found.max * trial, EVENTS_MAXIMUM);
    if (err.code)
        return fail_run(run, &err);
    if (run->l->rate_found)
        run->l->rate_found(run->l->data, &run->search.found);
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
    sb__run_report_fill(run, &r, &f->sum, run->search.end, true);
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
    struct sb_rate_search *f = &run->search.found;

    while (f->result.end == SB_SEARCH_GOES_ON) {
        struct sb_search_trial *t = &run->search.trials[f->trials];

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
    struct sb_rate_search *f = &run->search.found;
    struct sb_search s = { 0 };
    bool found = false;

    f->highest = HIGHEST * f->max;
    f->lowest = EVENTS_MIN * 1e9 / (double)o->rate_trial_time;
    if (f->lowest < LOWEST * f->max)
        f->lowest = LOWEST * f->max;
    run->search.trials = calloc(
        (size_t)o->rate_trials, sizeof(*run->search.trials));
    f->trial = run->search.trials;
    if (run->search.trials &&
        sb_search_init(&s, GUESS * f->max, f->lowest, f->highest,
            o->rate_tolerance / 100, (unsigned)o->rate_trials) == 0)
        found = search_with(run, m, &s);
    else
        fail_no_memory(run);
    sb_search_done(&s);
    return found;
}

static bool lead_search(struct sb_run *run, struct sb_meter *m)
{
    const struct sb_run_opts *o = run->o;
    struct sb_rate_search *f = &run->search.found;
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
    if (!pause_users(run))
        return false;
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
                carry_out_here(run, m, &part, &f);
        if (!go_on)
            break;
        run->group->ops->give_part(run, &f);
        sb_snap_done(&f.sum);
    }
    // For the report of this rank, if rank 0 is lost.
    if (go_on)
        run->search.found.rate = part.rate;
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

    if (!run->searching)
        return warm_up_and_pause(run, m);
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
