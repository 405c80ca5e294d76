// SPDX-License-Identifier: GPL-2.0-or-later
//
// The course of a run: releases the users when all are ready (start.c), watches
// and stops them, and has reports printed. All of this is in the main thread.
#include <assert.h>
#include <string.h>

#include "base/log.h"
#include "kit/clock.h"
#include "run/holds.h"
#include "run/group.h"
#include "run/loops.h"
#include "run/meter.h"
#include "run/rate_search.h"
#include "run/run_private.h"
#include "run/signals.h"
#include "run/start.h"
#include "run/start_at.h"
#include "run/watch.h"
#include "run/worker.h"

// Larger than the difference between the clocks of two threads.
#define CLOCK_SKEW (SB_SECOND / 1000)

// at: the start that the ranks have agreed on; 0: now.
static void release_users(struct sb_run *run, struct sb_meter *m, uint64_t at)
{
    const struct sb_run_opts *o = run->o;
    uint64_t warm = (uint64_t)o->warmup_time;

    pthread_mutex_lock(&run->lock);
    assert(run->ready == run->users && !run->released);
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

// Cancels users that are still being created: they would have no event. Must be
// repeated, because a cancel has no effect on a user that begins to connect
// only afterwards.
static void cancel_coming(
    struct sb_run *run, struct sb__watch *w, uint64_t now, bool first)
{
    unsigned n = sb__run_cancel_coming(run);

    if (n > 0 && first)
        sb_log(SB_LOG_NOTICE, "%u user%s %s still starting when the run ended",
            n, n == 1 ? "" : "s", n == 1 ? "was" : "were");
    w->coming_at = n > 0 ? now + SB_SECOND / 20 : UINT64_MAX;
}

// One step of watching a run. Returns false if it must end now, even if users
// are still running.
static bool step_run(struct sb_run *run, struct sb_meter *m,
    struct sb__watch *w, uint64_t now, enum sb_run_end *end)
{
    uint64_t limit = w->stopped_at ? w->stopped_at : run->deadline;

    while (sb__meter_next(m) <= (now < limit ? now : limit))
        sb__meter_tick(m, now);
    if (!w->stopped_at && (now >= run->deadline || atomic_load(&run->stop))) {
        sb__watch_stop(w, run, now);
        log_stop(run, now);
        if (!atomic_load(&run->stop))
            sb__run_stop(run);
        cancel_coming(run, w, now, true);
    } else if (w->stopped_at && now >= w->coming_at) {
        cancel_coming(run, w, now, false);
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
        if (!w->canceled) {
            sb_log(SB_LOG_WARNING,
                "%u of %u users are still busy %.1f s after the end of the "
                "run; canceling their calls",
                sb__run_busy(run), run->users,
                (double)(now - w->stopped_at) / 1e9);
            sb__holds_stuck(run, now);
        }
        w->canceled = true;
        w->cancel_at = now + SB_SECOND;
        sb__run_cancel(run, UINT64_MAX);
        sb__watch_extend(w, now, sb_clock_monotonic());
    }
    return true;
}

// Waits until every user has ended. Returns false if some are still running.
static bool watch_users(struct sb_run *run, struct sb_meter *m,
    struct sb__watch *w, enum sb_run_end *end)
{
    bool all = false, go_on = true;

    while (go_on) {
        uint64_t next = sb__watch_next(w, run, sb__meter_next(m));

        if (next == UINT64_MAX)
            next = sb_clock_monotonic() + 3600 * SB_SECOND;
        uint64_t check = sb__holds_check(run);
        uint64_t until = check < next ? check : next;

        pthread_mutex_lock(&run->lock);
        while (!(all = run->ended == run->users) &&
               sb_clock_monotonic() < until &&
               (w->stopped_at || !atomic_load(&run->stop)))
            sb__run_wait(run, until);
        pthread_mutex_unlock(&run->lock);
        uint64_t now = sb_clock_monotonic();
        sb__watch_extend(w, next, now);
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

static enum sb_run_end why_ended(struct sb_run *run, const struct sb__watch *w)
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
    struct sb_run *run, const struct sb__watch *w, uint64_t now)
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

// err: the reason why the run was ending already, if there is one.
static void set_hung(struct sb_run *run, struct sb_err *err)
{
    const struct sb_err first = *err;
    bool known = first.code != 0;

    sb_err_set(err, SB_ETIMEOUT,
        "%.250s%s%u of %u users are still busy although their calls were "
        "canceled; exiting without them (a call that cannot be canceled, or an "
        "event() that does not end)",
        known ? first.msg : "", known ? "; " : "", sb__run_busy(run),
        run->users);
}

// From the release of the users to the final report. Returns true if every
// user was joined.
static bool perform_run(
    struct sb_run *run, struct sb_meter *m, struct sb_run_result *res)
{
    struct sb__watch w = { 0 };
    enum sb_run_end end = SB_END_LIMIT;
    uint64_t at = run->group ? run->group->began : 0;

    if (!run->group)
        sb__start_at_wait(run);
    if (!run->group && run->l->started)
        run->l->started(run->l->data);
    if (at)
        run->group->ops->wait(run, at);
    if (run->searching)
        sb__rate_search(run, m);
    else
        release_users(run, m, at);
    bool all = watch_users(run, m, &w, &end);
    uint64_t now = sb_clock_monotonic();

    atomic_store(&run->over, true);
    sb__holds_end(run);

    pthread_mutex_lock(&run->lock);
    assert(!all || run->running == 0);
    if (all)
        now = run->ended_at;
    res->err = run->err;
    res->told = run->told;
    res->signal = run->signal;
    res->end = all ? why_ended(run, &w) : run->signal ? SB_END_SIGNAL : end;
    pthread_mutex_unlock(&run->lock);
    if (res->end == SB_END_HUNG) {
        set_hung(run, &res->err);
        res->told = false;
    } else if (all && w.canceled) {
        sb_log(SB_LOG_NOTICE, "All canceled calls have returned.");
    }
    if (all)
        sb__start_join_ended(run);
    if (all && event_limit_reached(run))
        sb_log(SB_LOG_INFO, "Event limit exceeded, exiting...");
    sb_log(SB_LOG_INFO, "Done.");
    sb__meter_final(m, now, schedule_end(run, &w, now), all, res);
    return all;
}

static void end_workload(struct sb_workload *w, struct sb_run_result *res)
{
    if (res->unjoined || res->err.code) {
        if (w->ops->failed)
            w->ops->failed(
                w, res->err.code ? res->err.msg : "users are still busy");
        return;
    }
    // An earlier signal must not hide an error that done() reports.
    if (w->ops->end && w->ops->end(w, &res->err))
        res->end = SB_END_FAILED;
}

// init() and done() of a script run on rank 0.
static int begin_workload(struct sb_run *run, struct sb_err *err)
{
    const struct sb_workload_ops *ops = run->w->ops;

    return sb__run_follows(run) || !ops->begin ? 0 : ops->begin(run->w, err);
}

static int start_users(struct sb_run *run, struct sb_run_result *res)
{
    int rc = sb__run_follows(run) ? 0 : sb__start_check_data(run, res);

    if (rc == 0 && run->group && !run->group->ops->go(run))
        return sb__start_interrupted(run, res);
    return rc ? rc : sb__start_users(run, res);
}

int sb_run(struct sb_workload *w, const struct sb_run_opts *o,
    struct sb_random_shared *random, const struct sb_listener *l,
    struct sb_run_result *res)
{
    struct sb_signals signals = { 0 };
    struct sb_meter meter = { 0 };
    struct sb_run *run = sb__run_state_new(w, o, random);

    memset(res, 0, sizeof(*res));
    res->end = SB_END_FAILED;
    if (!run)
        return sb_err_set(&res->err, SB_ENOMEM, "out of memory for a run");
    run->l = l;
    if (sb__run_state_init(run))
        sb_err_set(&res->err, SB_ENOMEM, "out of memory for %lld users",
            (long long)o->threads);
    else if (begin_workload(run, &res->err) == 0)
        sb_signals_start(&signals, sb__run_on_signal, run, &res->err);
    if (!signals.running)
        return sb__run_state_end(run, res);
    sb__meter_init(&meter, run);
    if (start_users(run, res) == 0) {
        res->unjoined = !perform_run(run, &meter, res);
        if (!sb__run_follows(run))
            end_workload(w, res);
    }
    sb_signals_stop(&signals);
    sb__meter_done(&meter);
    return sb__run_state_end(run, res);
}

// A parallel command: one task for each user, at the same time.

// One step of watching an interrupted command. Returns false if users take too
// long to remove what they created: they are not waited for.
static bool step_task(
    struct sb_run *run, struct sb__watch *w, uint64_t since, uint64_t now)
{
    if (!w->stopped_at) {
        if (run->signal)
            sb_log(SB_LOG_NOTICE,
                "%s: interrupting '%s'; a second signal exits at once.",
                sb_signals_name(run->signal), run->command);
        sb__watch_stop_task(w, run, since, now);
    } else if (now >= w->leave_at) {
        return false;
    } else if (now >= w->cancel_at) {
        w->cancel_at = now + SB_SECOND;
        if (sb_crew_hold(&run->crew) || now >= w->force_at)
            sb__run_cancel(run, UINT64_MAX);
    }
    return true;
}

// Waits until every user has ended. Returns false if some are still running.
static bool watch_task(struct sb_run *run)
{
    uint64_t since = sb_clock_monotonic(), now = since;
    struct sb__watch w = { 0 };
    uint64_t shown = 0;
    char line[160];
    bool all = false, go_on = true;

    while (!all && go_on) {
        uint64_t next = now + SB__RUN_PROGRESS_EVERY;

        pthread_mutex_lock(&run->lock);
        all = run->ended == run->users;
        if (!all)
            sb__run_wait(run, next);
        all = run->ended == run->users;
        bool interrupted = run->signal != 0 ||
                           (run->group && atomic_load(&run->stop));
        pthread_mutex_unlock(&run->lock);
        now = sb_clock_monotonic();
        w.force_at += sb__watch_extend(&w, next, now);
        if (interrupted && !all)
            go_on = step_task(run, &w, since, now);
        if (!all && now >= shown + SB__RUN_PROGRESS_EVERY / 2 &&
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
    struct sb_run *run = sb__run_state_new(w, o, random);

    memset(res, 0, sizeof(*res));
    res->end = SB_END_FAILED;
    if (!run)
        return sb_err_set(
            &res->err, SB_ENOMEM, "out of memory for %s", command);
    run->task = task;
    run->command = command;
    if (sb__run_state_init(run))
        sb_err_set(&res->err, SB_ENOMEM, "out of memory for %s", command);
    else
        sb_signals_start(&signals, sb__run_on_signal, run, &res->err);
    if (!signals.running)
        return sb__run_state_end(run, res);
    if (sb__start_users(run, res) == 0) {
        res->unjoined = !watch_task(run);
        if (res->unjoined)
            sb_log(SB_LOG_WARNING,
                "%u of %u users of '%s' are still busy; exiting without them; "
                "the objects that they created are not removed",
                sb__run_busy(run), run->users, command);
        else
            sb__worker_join_ended(run);
        if (run->group)
            run->group->ops->end_command(run);
        pthread_mutex_lock(&run->lock);
        res->err = run->err;
        res->told = run->told;
        res->signal = run->signal;
        pthread_mutex_unlock(&run->lock);
        res->end = run->signal     ? SB_END_SIGNAL
                   : run->err.code ? SB_END_FAILED
                                   : SB_END_SCRIPT;
    } else if (run->group) {
        run->group->ops->end_command(run);
    }
    sb_signals_stop(&signals);
    return sb__run_state_end(run, res);
}
