// SPDX-License-Identifier: GPL-2.0-or-later
//
// Controls a run: releases the users when all are ready (start.c), watches and
// stops them, and has reports printed. All of this is in the main thread.
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "run/joint.h"

#define SECOND UINT64_C(1000000000)
// Larger than the difference between the clocks of two threads.
#define CLOCK_SKEW (SECOND / 1000)
// Time for calls to end after SIGTERM, in a run of several processes.
#define JOINT_GRACE (SECOND * 4 / 10)

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
    sb_wait_list_wake(&run->go); // users at the gate
    pthread_mutex_unlock(&run->lock);
}

void sb__run_fail(struct sb_run *run, const struct sb_err *err)
{
    pthread_mutex_lock(&run->lock);
    // Users that were canceled because of the first failure add no
    // information.
    if (run->err.code == 0 || run->err.code == SB_ECANCELED)
        run->err = *err;
    pthread_mutex_unlock(&run->lock);
    sb__run_stop(run);
}

static void on_signal(void *arg, int sig)
{
    struct sb_run *run = arg;

    pthread_mutex_lock(&run->lock);
    run->signal = sig;
    pthread_mutex_unlock(&run->lock);
    sb__run_stop(run);
}

void sb__run_wait(struct sb_run *run, uint64_t until)
{
    if (run->joint) {
        uint64_t next = sb_clock_monotonic() +
                        (run->task ? SB_JOB_POLL_COMMAND : SB_JOB_POLL);

        pthread_mutex_unlock(&run->lock);
        sb__joint_poll(run);
        pthread_mutex_lock(&run->lock);
        until = until < next ? until : next;
    }
    struct timespec ts = { .tv_sec = (time_t)(until / SECOND),
        .tv_nsec = (long)(until % SECOND) };

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

// at: the start that the ranks of a job have agreed on; 0: now.
static void release(struct sb_run *run, struct sb_meter *m, uint64_t at)
{
    const struct sb_run_opts *o = run->o;
    uint64_t warm = (uint64_t)o->warmup_time;

    pthread_mutex_lock(&run->lock);
    run->began = run->t0 = sb_clock_monotonic();
    // A stop may come before the start.
    if (at && at < run->t0)
        run->began = run->t0 = at;
    run->warm_end = run->t0 + warm;
    run->deadline = o->time > 0 ? run->warm_end + (uint64_t)o->time
                                : UINT64_MAX;
    run->released = true;
    sb_wait_list_wake(&run->go);
    pthread_mutex_unlock(&run->lock);
    if (warm && run->l->warmup)
        run->l->warmup(run->l->data, o->warmup_time);
    sb__meter_start(m);
}

uint64_t sb__longest_event(const struct sb_run *run)
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

// State of the loop that watches a run.
struct watch {
    uint64_t stopped_at; // 0: not yet
    uint64_t cancel_at, leave_at, force_at;
    bool canceled; // calls were canceled
};

static void note_stop(struct sb_run *run, struct watch *w, uint64_t now)
{
    uint64_t grace = 5 * sb__longest_event(run);

    // A server that hangs must not delay the report forever; a slow one gets
    // five times the time of its slowest event.
    if (grace < (uint64_t)run->o->shutdown_grace)
        grace = (uint64_t)run->o->shutdown_grace;
    // The launcher of a job kills all processes a second after SIGTERM.
    if (run->joint && run->signal == SIGTERM && grace > JOINT_GRACE)
        grace = JOINT_GRACE;
    w->stopped_at = now < run->deadline ? now : run->deadline;
    w->cancel_at = now + grace / 2;
    w->leave_at = now + grace;
    w->force_at = UINT64_MAX;
    if (run->o->forced_shutdown_ns >= 0 && now >= run->deadline)
        w->force_at = run->deadline + (uint64_t)run->o->forced_shutdown_ns;
}

// Called for each step of the loop; `due` is the time that it was due. If it
// is late (a report or canceling took long, or the process was stopped), calls
// in progress get that much more time, because the server did not cause the
// delay. In this way every call is canceled before the process exits without
// its user. --forced-shutdown is not extended. Returns the delay.
static uint64_t extend_limits(struct watch *w, uint64_t due, uint64_t now)
{
    uint64_t late = w->stopped_at && now > due ? now - due : 0;

    w->cancel_at += late;
    w->leave_at += late;
    return late;
}

static uint64_t next_step(
    struct sb_run *run, const struct sb_meter *m, const struct watch *w)
{
    uint64_t next = sb__meter_next(m), mine = run->deadline;

    if (w->stopped_at) {
        // Reports are due only up to the limit.
        next = next <= w->stopped_at ? next : UINT64_MAX;
        mine = w->cancel_at < w->leave_at ? w->cancel_at : w->leave_at;
        mine = w->force_at < mine ? w->force_at : mine;
    }
    next = mine < next ? mine : next;
    return next == UINT64_MAX ? sb_clock_monotonic() + 3600 * SECOND : next;
}

static void log_stop(struct sb_run *run, uint64_t now)
{
    pthread_mutex_lock(&run->lock);
    int sig = run->signal;
    pthread_mutex_unlock(&run->lock);
    if (sig)
        sb_log(SB_LOG_NOTICE,
            "%s: stopping once the events in progress have ended; a second "
            "signal exits at once.",
            sb_signals_name(sig));
    else if (now >= run->deadline)
        sb_log(SB_LOG_INFO, "Time limit exceeded, exiting...");
}

static unsigned count_busy(struct sb_run *run)
{
    pthread_mutex_lock(&run->lock);
    unsigned busy = run->users - run->ended;
    pthread_mutex_unlock(&run->lock);
    return busy;
}

// One step of watching a run. Returns false if it must end now, even if users
// are still running.
static bool step_run(struct sb_run *run, struct sb_meter *m, struct watch *w,
    uint64_t now, enum sb_run_end *end)
{
    uint64_t limit = w->stopped_at ? w->stopped_at : run->deadline;

    while (sb__meter_next(m) <= (now < limit ? now : limit))
        sb__meter_tick(m, now);
    if (!w->stopped_at && (now >= run->deadline || atomic_load(&run->stop))) {
        note_stop(run, w, now);
        log_stop(run, now);
        if (!atomic_load(&run->stop))
            sb__run_stop(run);
    }
    if (w->stopped_at && now >= w->force_at) {
        sb_log(
            SB_LOG_FATAL, "The --time limit has expired, forcing shutdown...");
        *end = SB_END_FORCED;
        return false;
    }
    if (w->stopped_at && now >= w->leave_at) {
        *end = SB_END_HUNG;
        return false;
    }
    if (w->stopped_at && now >= w->cancel_at) {
        if (!w->canceled)
            sb_log(SB_LOG_WARNING,
                "%u of %u users are still busy %.1f s after the end of the "
                "run; canceling their calls",
                count_busy(run), run->users,
                (double)(now - w->stopped_at) / 1e9);
        w->canceled = true;
        w->cancel_at = now + SECOND;
        sb__run_cancel(run, UINT64_MAX);
        extend_limits(w, now, sb_clock_monotonic());
    }
    return true;
}

// Waits until every user has ended. Returns false if some are still running.
static bool watch_users(struct sb_run *run, struct sb_meter *m, struct watch *w,
    enum sb_run_end *end)
{
    bool all = false, go_on = true;

    while (go_on) {
        uint64_t next = next_step(run, m, w);

        pthread_mutex_lock(&run->lock);
        while (!(all = run->ended == run->users) &&
               sb_clock_monotonic() < next &&
               (w->stopped_at || !atomic_load(&run->stop)))
            sb__run_wait(run, next);
        pthread_mutex_unlock(&run->lock);
        uint64_t now = sb_clock_monotonic();
        extend_limits(w, next, now);
        // Leave out the delay of the reporter.
        if (all)
            now = run->ended_at;
        // Users have their own clocks: one may reach the limit slightly
        // earlier.
        if (all && now < run->deadline && run->deadline - now < CLOCK_SKEW)
            now = run->deadline;
        go_on = step_run(run, m, w, now, end) && !all;
    }
    return all;
}

static bool event_limit_reached(struct sb_run *run)
{
    return run->limited && atomic_load(&run->claims) > run->events;
}

static enum sb_run_end why_ended(struct sb_run *run, const struct watch *w)
{
    if (run->err.code)
        return SB_END_FAILED;
    if (run->signal)
        return SB_END_SIGNAL;
    if (w->canceled)
        return SB_END_FORCED;
    if (event_limit_reached(run))
        return SB_END_LIMIT;
    return w->stopped_at ? SB_END_LIMIT : SB_END_SCRIPT;
}

// The time up to which arrivals count as scheduled: the end of the run, or if
// the event limit ended it, the arrival of the last event that was started.
static uint64_t schedule_end(
    struct sb_run *run, const struct watch *w, uint64_t now)
{
    uint64_t last = run->t0;

    for (unsigned i = 0; i < run->users; i++) {
        uint64_t arrival = atomic_load_explicit(
            &run->user[i].arrival, memory_order_relaxed);

        last = arrival > last ? arrival : last;
    }
    if (!w->stopped_at)
        return run->limited ? last : now;
    return w->stopped_at > last ? w->stopped_at : last;
}

// err: why the run was to end before, if it is set.
static void set_hung(struct sb_run *run, struct sb_err *err)
{
    const struct sb_err first = *err;
    bool known = first.code != 0;

    sb_err_set(err, SB_ETIMEOUT,
        "%.250s%s%u of %u users are still busy although their calls were "
        "canceled; exiting without them (a call that cannot be canceled, or an "
        "event() that does not end)",
        known ? first.msg : "", known ? "; " : "", count_busy(run), run->users);
}

// From the release of the users to the final report. Returns true if every
// user was joined.
static bool perform(
    struct sb_run *run, struct sb_meter *m, struct sb_run_result *res)
{
    struct watch w = { 0 };
    enum sb_run_end end = SB_END_LIMIT;
    uint64_t at = run->joint ? run->joint->began : 0;

    if (!run->joint)
        sb__start_wait(run);
    if (!run->joint && run->l->started)
        run->l->started(run->l->data);
    if (at)
        sb__joint_wait_until(run, at);
    if (run->searching)
        sb__rate_search(run, m);
    else
        release(run, m, at);
    bool all = watch_users(run, m, &w, &end);
    uint64_t now = sb_clock_monotonic();

    pthread_mutex_lock(&run->lock);
    if (all)
        now = run->ended_at;
    res->err = run->err;
    res->signal = run->signal;
    res->end = all ? why_ended(run, &w) : run->signal ? SB_END_SIGNAL : end;
    pthread_mutex_unlock(&run->lock);
    if (res->end == SB_END_HUNG)
        set_hung(run, &res->err);
    else if (all && w.canceled)
        sb_log(SB_LOG_NOTICE, "All canceled calls have returned.");
    if (all)
        sb__workers_join(run);
    if (all && event_limit_reached(run))
        sb_log(SB_LOG_INFO, "Event limit exceeded, exiting...");
    sb_log(SB_LOG_INFO, "Done.");
    sb__meter_final(m, now, schedule_end(run, &w, now), all, res);
    return all;
}

// Users that are still running use the run, so it is not freed.
static int finish(struct sb_run *run, struct sb_run_result *res)
{
    int rc = res->err.code;

    if (res->unjoined)
        sb__joint_done(run);
    else
        sb__run_free(run);
    return rc;
}

static void end_workload(struct sb_workload *w, struct sb_run_result *res)
{
    if (res->unjoined || res->err.code) {
        if (w->ops->failed)
            w->ops->failed(
                w, res->err.code ? res->err.msg : "users are still busy");
        return;
    }
    // What done() finds must not be hidden by a signal.
    if (w->ops->end && w->ops->end(w, &res->err))
        res->end = SB_END_FAILED;
}

// init() and done() of a script run on rank 0 of a job.
static int begin_workload(struct sb_run *run, struct sb_err *err)
{
    const struct sb_workload_ops *ops = run->w->ops;

    return sb__joint_follows(run) || !ops->begin ? 0 : ops->begin(run->w, err);
}

static int start(struct sb_run *run, struct sb_run_result *res)
{
    int rc = sb__joint_follows(run) ? 0 : sb__check_data(run, res);

    if (rc == 0 && !sb__joint_go(run))
        return sb__start_interrupted(run, res);
    return rc ? rc : sb__start_users(run, res);
}

int sb_run(struct sb_workload *w, const struct sb_run_opts *o,
    struct sb_random_shared *random, const struct sb_listener *l,
    struct sb_run_result *res)
{
    struct sb_signals signals = { 0 };
    struct sb_meter meter = { 0 };
    struct sb_run *run = sb__run_new(w, o, random);

    memset(res, 0, sizeof(*res));
    res->end = SB_END_FAILED;
    if (!run)
        return sb_err_set(&res->err, SB_ENOMEM, "out of memory for a run");
    run->l = l;
    if (sb__run_init(run))
        sb_err_set(&res->err, SB_ENOMEM, "out of memory for %lld users",
            (long long)o->threads);
    else if (begin_workload(run, &res->err) == 0)
        sb_signals_start(&signals, on_signal, run, &res->err);
    if (!signals.running)
        return finish(run, res);
    sb__meter_init(&meter, run);
    if (start(run, res) == 0) {
        res->unjoined = !perform(run, &meter, res);
        if (!sb__joint_follows(run))
            end_workload(w, res);
    }
    sb_signals_stop(&signals);
    sb__meter_done(&meter);
    return finish(run, res);
}

// One step of watching an interrupted command. Calls in progress get some time
// to end, then they are canceled. Then users remove what they created, which
// may take as long as creating it did. Returns false if users take longer:
// they are not waited for.
static bool step_task(
    struct sb_run *run, struct watch *w, uint64_t since, uint64_t now)
{
    uint64_t grace = now - since;

    if (!w->stopped_at) {
        if (grace < (uint64_t)run->o->shutdown_grace)
            grace = (uint64_t)run->o->shutdown_grace;
        if (run->signal)
            sb_log(SB_LOG_NOTICE,
                "%s: interrupting '%s'; a second signal exits at once.",
                sb_signals_name(run->signal), run->command);
        w->stopped_at = now;
        w->leave_at = now + 2 * grace;
        // The launcher of a job kills all processes a second after SIGTERM.
        if (run->joint && run->signal == SIGTERM && grace > JOINT_GRACE)
            grace = JOINT_GRACE;
        w->cancel_at = now + (grace < 2 * SECOND ? grace / 2 : SECOND);
        w->force_at = now + grace;
    } else if (now >= w->leave_at) {
        return false;
    } else if (now >= w->cancel_at) {
        w->cancel_at = now + SECOND;
        if (sb_crew_hold(&run->crew) || now >= w->force_at)
            sb__run_cancel(run, UINT64_MAX);
    }
    return true;
}

// Waits until every user has ended. Returns false if some are still running.
static bool watch_task(struct sb_run *run)
{
    uint64_t since = sb_clock_monotonic(), now = since;
    struct watch w = { 0 };
    uint64_t shown = 0;
    char line[160];
    bool all = false, go_on = true;

    while (!all && go_on) {
        uint64_t next = now + SB__PROGRESS_EVERY;

        pthread_mutex_lock(&run->lock);
        all = run->ended == run->users;
        if (!all)
            sb__run_wait(run, next);
        all = run->ended == run->users;
        bool interrupted = run->signal != 0 ||
                           (run->joint && atomic_load(&run->stop));
        pthread_mutex_unlock(&run->lock);
        now = sb_clock_monotonic();
        w.force_at += extend_limits(&w, next, now);
        if (interrupted && !all)
            go_on = step_task(run, &w, since, now);
        if (!all && now >= shown + SB__PROGRESS_EVERY / 2 &&
            sb_crew_progress_line(&run->crew, now, line, sizeof(line))) {
            sb_log_progress("%s", line);
            shown = now;
        }
    }
    sb_log_progress_done();
    return all;
}

int sb_run_parallel(struct sb_workload *w, const char *command,
    const struct sb_run_opts *o, struct sb_random_shared *random,
    int (*task)(struct sb_workload *w, struct sb_user *u, struct sb_err *err),
    struct sb_run_result *res)
{
    struct sb_signals signals = { 0 };
    struct sb_run *run = sb__run_new(w, o, random);

    memset(res, 0, sizeof(*res));
    res->end = SB_END_FAILED;
    if (!run)
        return sb_err_set(
            &res->err, SB_ENOMEM, "out of memory for %s", command);
    run->task = task;
    run->command = command;
    if (sb__run_init(run))
        sb_err_set(&res->err, SB_ENOMEM, "out of memory for %s", command);
    else
        sb_signals_start(&signals, on_signal, run, &res->err);
    if (!signals.running)
        return finish(run, res);
    if (sb__start_users(run, res) == 0) {
        res->unjoined = !watch_task(run);
        if (res->unjoined)
            sb_log(SB_LOG_WARNING,
                "%u of %u users of '%s' are still busy; exiting without them; "
                "what they created is not removed",
                count_busy(run), run->users, command);
        else
            sb__workers_join(run);
        if (run->joint)
            sb__joint_crew_end(run);
        pthread_mutex_lock(&run->lock);
        res->err = run->err;
        res->signal = run->signal;
        pthread_mutex_unlock(&run->lock);
        res->end = run->signal     ? SB_END_SIGNAL
                   : run->err.code ? SB_END_FAILED
                                   : SB_END_SCRIPT;
    } else if (run->joint) {
        sb__joint_crew_end(run);
    }
    sb_signals_stop(&signals);
    return finish(run, res);
}
