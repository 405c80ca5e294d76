// SPDX-License-Identifier: GPL-2.0-or-later
//
// The course of a run: creates the users, releases them when all are ready,
// watches and stops them, has reports printed, and frees all. In the main
// thread.
#include "run/run.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/host.h"
#include "base/log.h"
#include "kit/clock.h"
#include "kit/locale.h"
#include "loop/overflow.h"
#include "run/events.h"
#include "run/group.h"
#include "run/holds.h"
#include "run/loops.h"
#include "run/meter.h"
#include "run/mix_user.h"
#include "run/rate_search.h"
#include "run/run_state.h"
#include "run/signals.h"
#include "run/thread_error.h"
#include "run/watch.h"
#include "run/worker.h"

// The state of a run: created before its first thread, freed after the last.

// Returns NULL if out of memory.
static struct sb_run *new_run(struct sb_workload *w,
    const struct sb_run_opts *o, struct sb_random_shared *random)
{
    struct sb_run *run = calloc(1, sizeof(*run));

    if (run) {
        run->w = w;
        run->o = o;
        run->random = random;
        if (o->share.ranks)
            run->share = o->share;
        else
            sb_share_whole(&run->share, (uint64_t)o->threads);
        run->users = (unsigned)run->share.users;
        run->events = sb_share_of(&run->share, (uint64_t)o->events);
    }
    return run;
}

static int init_stats(struct sb_run *run)
{
    unsigned n = run->users;
    unsigned shards = sb_stats_shards(n, sb_host_usable());
    int rc = sb_stats_init(
        &run->stats[SB_PHASE_MEASURED], n, shards, run->open_loop);

    bool warm = run->o->warmup_time > 0 || run->searching;
    if (rc == 0 && run->workers > 0)
        rc = sb_stats_add_delays(&run->stats[SB_PHASE_MEASURED]);
    if (rc == 0 && warm)
        rc = sb_stats_init(
            &run->stats[SB_PHASE_WARMUP], n, shards, run->open_loop);
    if (rc == 0 && warm && run->workers > 0)
        rc = sb_stats_add_delays(&run->stats[SB_PHASE_WARMUP]);
    if (rc == 0 && warm)
        sb_stats_twin(
            &run->stats[SB_PHASE_MEASURED], &run->stats[SB_PHASE_WARMUP]);
    return rc;
}

static int init_pace(struct sb_run *run)
{
    if (run->gated)
        return 0; // each part has a schedule of its own
    if (run->staged)
        return sb__run_pace_stages(run, (uint64_t)run->o->warmup_time);
    sb_pace_init(&run->pace, (enum sb_pace_kind)run->o->arrivals, run->o->rate,
        sb_rng_mix(run->random->seed));
    sb_pace_divide(&run->pace, &run->share);
    return 0;
}

// The rates of the stages are parts of the one that the search finds.
static int init_stages(struct sb_run *run)
{
    const struct sb_stages *s = &run->o->stages;

    run->staged = !run->task && !run->searching && s->n > 0;
    if (!run->searching || s->n == 0)
        return 0;
    run->search.stages = malloc(sizeof(*s));
    if (!run->search.stages)
        return SB_ENOMEM;
    *run->search.stages = *s;
    return 0;
}

// Whether users wait for each other before the measured part.
static bool has_parts(const struct sb_run *run)
{
    return run->searching || (!run->task && run->l->pause &&
                                 run->o->warmup_time > 0 && !run->staged);
}

// 0 or SB_ENOMEM. Call end_run() in either case.
static int init_run(struct sb_run *run)
{
    unsigned processors = sb_host_usable();
    size_t n = run->users;

    sb_clock_init(&run->clock);
    run->open_loop = !run->task && sb_run_opts_open_loop(run->o);
    run->searching = !run->task && sb_run_opts_finds_rate(run->o);
    if (init_stages(run))
        return SB_ENOMEM;
    run->gated = has_parts(run);
    run->limited = !run->task && run->o->events > 0;
    if (!run->task && !run->w->blocks)
        run->workers = sb_run_opts_workers(run->o, run->users, processors);
    run->crowded = run->users > processors;
    run->user = aligned_alloc(64, n * sizeof(*run->user));
    run->priv = calloc(n, sizeof(*run->priv));
    if (run->user)
        memset(run->user, 0, n * sizeof(*run->user));
    if (!run->user || !run->priv || sb_lock_init(&run->lock, &run->changed))
        return SB_ENOMEM;
    run->has_lock = true;
    if (sb_crew_init(&run->crew, (unsigned)n))
        return SB_ENOMEM;
    if (run->open_loop && init_pace(run))
        return SB_ENOMEM;
    int rc = run->task ? 0 : init_stats(run);
    if (rc == 0)
        rc = sb__mix_user_register(run);
    // Before the first thread, because that may have to stop all users.
    for (unsigned i = 0; rc == 0 && i < n; i++)
        rc = sb__user_init(&run->user[i], run, i);
    if (rc == 0 && run->o->job)
        rc = run->o->join(run);
    return rc;
}

static void leave_group(struct sb_run *run)
{
    if (run->group)
        run->group->ops->leave(run);
}

static void free_run(struct sb_run *run)
{
    leave_group(run);
    sb__loops_free(run);
    for (size_t i = 0; run->user && i < run->users; i++) {
        assert(!run->priv || !run->priv[i].has_thread); // it uses the run
        sb__user_done(&run->user[i]);
    }
    sb_stats_done(&run->stats[SB_PHASE_WARMUP]);
    sb_stats_done(&run->stats[SB_PHASE_MEASURED]);
    sb__mix_user_unregister(run);
    sb_crew_done(&run->crew);
    sb_pace_done(&run->pace);
    if (run->has_lock) {
        pthread_cond_destroy(&run->changed);
        pthread_mutex_destroy(&run->lock);
    }
    free(run->search.stages);
    free(run->search.trials);
    free(run->priv);
    free(run->user);
    free(run);
}

// Frees a run that has ended as *res says. Users that are still running use the
// run, so it is not freed then. Returns the code of its error.
static int end_run(struct sb_run *run, const struct sb_run_result *res)
{
    int rc = res->err.code;

    if (res->unjoined)
        leave_group(run);
    else
        free_run(run);
    return rc;
}

// Stops, and calls that are canceled.

// A signal stops the run: see sb_signals_start().
static void on_signal(void *arg, int sig)
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

// Cancels the calls of all users that have not ended; stops trying at `until`.
static void cancel_users(struct sb_run *run, uint64_t until)
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

// The same for users that come with a stage and have no event yet. Returns how
// many there are.
static unsigned cancel_coming_users(struct sb_run *run)
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

// Number of users that have not ended.
static unsigned busy_users(struct sb_run *run)
{
    pthread_mutex_lock(&run->lock);
    assert(run->ended <= run->users);
    unsigned busy = run->users - run->ended;
    pthread_mutex_unlock(&run->lock);
    return busy;
}

// The start: creates users until all of them are ready. If one fails, none of
// them starts.

// How long to wait for users to return after a failed start-up, while their
// calls are canceled. The wait is shorter after an interrupted start-up.
#define ABORT_GRACE     (3 * SB_SECOND)
#define INTERRUPT_GRACE (SB_SECOND / 4)
#define CANCEL_EVERY    (SB_SECOND / 10)

// Joins the threads of all users that have ended. Returns true if all have.
static bool join_ended(struct sb_run *run)
{
    return run->workers > 0 ? sb__loops_join_ended(run)
                            : sb__worker_join_ended(run);
}

// Ends and joins users that must not start. Returns false if some did not
// return.
static bool abort_users(struct sb_run *run, uint64_t grace)
{
    uint64_t until = sb_clock_monotonic() + grace;

    sb__run_stop(run);
    pthread_mutex_lock(&run->lock);
    run->aborted = true;
    sb_wait_list_wake(&run->go);
    while (run->ended < run->made && sb_clock_monotonic() < until) {
        pthread_mutex_unlock(&run->lock);
        cancel_users(run, until);
        pthread_mutex_lock(&run->lock);
        uint64_t next = sb_clock_monotonic() + CANCEL_EVERY;
        if (run->ended < run->made)
            sb__run_wait(run, next < until ? next : until);
    }
    assert(run->ended <= run->made);
    bool all = run->ended == run->made;
    pthread_mutex_unlock(&run->lock);
    // If some did not return, the process exits without joining any.
    return all && join_ended(run);
}

// Members of a parallel command that were not created count as finished.
static void leave_for_unmade(struct sb_run *run)
{
    unsigned n = run->users;

    assert(run->made <= n);
    for (unsigned i = run->made; i < n; i++)
        sb_crew_leave(&run->crew);
    pthread_mutex_lock(&run->lock);
    run->ended += n - run->made;
    pthread_mutex_unlock(&run->lock);
}

static int name_interruption(struct sb_run *run, struct sb_err *err)
{
    pthread_mutex_lock(&run->lock);
    unsigned ready = run->ready;
    int sig = run->signal;
    *err = run->err;
    pthread_mutex_unlock(&run->lock);
    if (sig)
        sb_log(SB_LOG_NOTICE,
            "%s: interrupted during startup, %u of %u users were ready",
            sb_signals_name(sig), ready, run->users);
    return err->code ? err->code : sb_err_set(err, SB_ECANCELED, "interrupted");
}

static int too_slow(
    const struct sb_run *run, unsigned ready, struct sb_err *err)
{
    return sb_err_set(err, SB_ETIMEOUT,
        "Worker threads failed to initialize within %.10g seconds! (%u of %u "
        "users are ready; --thread-init-timeout sets the limit)",
        (double)run->o->thread_init_timeout / SB_SECOND, ready, run->users);
}

// Waits until every user is ready. Returns SB_ETIMEOUT or the error of the
// start-up.
static int wait_for_users(struct sb_run *run, struct sb_err *err)
{
    unsigned n = run->users, ready;
    uint64_t since = run->start_at, now = sb_clock_monotonic();
    uint64_t until = sb__worker_limit(run);
    bool over;

    pthread_mutex_lock(&run->lock);
    while (!(over = atomic_load(&run->stop)) && run->ready < n && now < until) {
        uint64_t next = now + SB__RUN_PROGRESS_EVERY;

        sb__run_wait(run, next < until ? next : until);
        now = sb_clock_monotonic();
        pthread_mutex_unlock(&run->lock);
        if (now - since > SB__RUN_PROGRESS_EVERY)
            sb__worker_progress(run, since, now);
        pthread_mutex_lock(&run->lock);
    }
    ready = run->ready;
    pthread_mutex_unlock(&run->lock);
    sb_log_progress_done();
    if (over)
        return name_interruption(run, err);
    if (ready < n)
        return too_slow(run, ready, err);
    return 0;
}

static int signal_of(struct sb_run *run)
{
    pthread_mutex_lock(&run->lock);
    int sig = run->signal;
    pthread_mutex_unlock(&run->lock);
    return sig;
}

// Fills in how a start-up that failed with rc ended. sig: the signal that
// interrupted it, or 0.
static void set_end(struct sb_run_result *res, int rc, int sig)
{
    res->signal = sig;
    res->end = rc == SB_ETIMEOUT ? SB_END_FORCED
               : sig             ? SB_END_SIGNAL
                                 : SB_END_FAILED;
}

static void *run_check(void *arg)
{
    struct sb_run *run = arg;
    struct sb_err err = { 0 };

    sb_locale_keep();
    sb__overflow_guard_check();
    int rc = run->w->ops->check(run->w, &err);
    sb_overflow_unguard();

    pthread_mutex_lock(&run->lock);
    run->check.rc = rc;
    run->check.err = err;
    run->check.done = true;
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

// Waits until check() has returned, the run is stopped (if stoppable) or the
// time is reached. Returns true if check() has returned.
static bool wait_for_check(struct sb_run *run, uint64_t until, bool stoppable)
{
    pthread_mutex_lock(&run->lock);
    while (!run->check.done && !(stoppable && atomic_load(&run->stop)) &&
           sb_clock_monotonic() < until)
        sb__run_wait(run, until);
    bool done = run->check.done;
    pthread_mutex_unlock(&run->lock);
    return done;
}

static bool cancel_check(struct sb_run *run, uint64_t grace)
{
    uint64_t now = sb_clock_monotonic(), until = now + grace;
    bool done = false;

    while (!done && now < until) {
        run->w->ops->cancel_check(run->w);
        done = wait_for_check(run, now + CANCEL_EVERY, false);
        now = sb_clock_monotonic();
    }
    return done;
}

static int start_check(
    struct sb_run *run, pthread_t *thread, struct sb_err *err)
{
    size_t stack = (size_t)run->o->thread_stack_size;
    pthread_attr_t attr;
    char why[256];

    sb__overflow_message_enable((size_t)run->o->thread_stack_size);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, stack);
    pthread_attr_setguardsize(&attr, SB_OVERFLOW_GUARD);
    int rc = pthread_create(thread, &attr, run_check, run);
    pthread_attr_destroy(&attr);
    if (rc == 0)
        return 0;
    sb__thread_error(rc, stack, why, sizeof(why));
    return sb_err_set(err, SB_ELIMIT, "cannot create a thread for %s: %s",
        run->w->check_name, why);
}

// Calls check() of the workload before there are users. Returns 0 if it
// succeeds; otherwise *res says how the run ended.
static int check_data(struct sb_run *run, struct sb_run_result *res)
{
    uint64_t limit = (uint64_t)run->o->thread_init_timeout;
    pthread_t thread;
    int rc = 0;

    if (!run->w->check_name)
        return 0;
    if (start_check(run, &thread, &res->err))
        return res->err.code;
    bool done = wait_for_check(run, sb_clock_monotonic() + limit, true);
    int sig = signal_of(run);

    if (atomic_load(&run->stop))
        rc = name_interruption(run, &res->err);
    else if (!done)
        rc = sb_err_set(&res->err, SB_ETIMEOUT,
            "%s took longer than %g seconds (--thread-init-timeout)",
            run->w->check_name, (double)limit / SB_SECOND);
    if (!done)
        done = cancel_check(run, sig ? INTERRUPT_GRACE : ABORT_GRACE);
    res->unjoined = !done;
    if (done)
        pthread_join(thread, NULL);
    if (rc == 0 && run->check.rc) {
        rc = run->check.rc;
        res->err = run->check.err;
    }
    if (rc)
        set_end(res, rc, sig);
    return rc;
}

// The run was stopped before its users were created: *res says how it ended.
// Returns SB_E*.
static int interrupted_start(struct sb_run *run, struct sb_run_result *res)
{
    int rc = name_interruption(run, &res->err);

    run->group->ops->poll(run); // tells the others
    set_end(res, rc, signal_of(run));
    return rc;
}

static void tell_workers(const struct sb_run *run)
{
    struct sb_run_workers w;

    if (!run->l || !run->l->workers)
        return;
    sb__loops_describe(run, &w);
    run->l->workers(run->l->data, &w);
}

// The end of a start that hangs takes time, and may hang as well.
static void tell_at_once(struct sb_run *run, const struct sb_err *err)
{
    pthread_mutex_lock(&run->lock);
    run->err = *err;
    pthread_mutex_unlock(&run->lock);
    sb__run_tell_failure(run);
}

// Creates the users. Returns 0 if all are ready (in a parallel command:
// working). Otherwise none of them starts, and *res says how the run ended.
static int create_users(struct sb_run *run, struct sb_run_result *res)
{
    int rc;

    if (run->l && run->l->connecting)
        run->l->connecting(run->l->data);
    sb__overflow_message_enable((size_t)run->o->thread_stack_size);
    rc = run->workers > 0 ? sb__loops_start(run, &res->err)
                          : sb__worker_start_all(run, &res->err);
    if (rc == 0 && run->task)
        leave_for_unmade(run);
    else if (rc == 0)
        rc = wait_for_users(run, &res->err);
    if (rc == 0 && !run->task)
        tell_workers(run);
    if (rc == 0 && !run->task && run->group && !run->group->ops->agree(run))
        rc = name_interruption(run, &res->err);
    if (rc && run->group)
        run->group->ops->poll(run); // tells the others
    else if (rc == SB_ETIMEOUT)
        tell_at_once(run, &res->err);
    if (rc) {
        set_end(res, rc, signal_of(run));
        res->unjoined = !abort_users(
            run, res->signal ? INTERRUPT_GRACE : ABORT_GRACE);
        pthread_mutex_lock(&run->lock);
        res->told = run->told && res->err.code == run->err.code;
        pthread_mutex_unlock(&run->lock);
    }
    return rc;
}

// The course.

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
    unsigned n = cancel_coming_users(run);

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
                busy_users(run), run->users,
                (double)(now - w->stopped_at) / 1e9);
            sb__holds_stuck(run, now);
        }
        w->canceled = true;
        w->cancel_at = now + SB_SECOND;
        cancel_users(run, UINT64_MAX);
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
        known ? first.msg : "", known ? "; " : "", busy_users(run), run->users);
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
        sb__run_wait_start_at(run);
    if (!run->group && run->l->started)
        run->l->started(run->l->data);
    if (at)
        run->group->ops->wait(run, at);
    if (run->gated)
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
        join_ended(run);
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
    int rc = sb__run_follows(run) ? 0 : check_data(run, res);

    if (rc == 0 && run->group && !run->group->ops->go(run))
        return interrupted_start(run, res);
    return rc ? rc : create_users(run, res);
}

int sb_run(struct sb_workload *w, const struct sb_run_opts *o,
    struct sb_random_shared *random, const struct sb_listener *l,
    struct sb_run_result *res)
{
    struct sb_signals signals = { 0 };
    struct sb_meter meter = { 0 };
    struct sb_run *run = new_run(w, o, random);

    memset(res, 0, sizeof(*res));
    res->end = SB_END_FAILED;
    if (!run)
        return sb_err_set(&res->err, SB_ENOMEM, "out of memory for a run");
    run->l = l;
    if (init_run(run))
        sb_err_set(&res->err, SB_ENOMEM, "out of memory for %lld users",
            (long long)o->threads);
    else if (begin_workload(run, &res->err) == 0)
        sb_signals_start(&signals, on_signal, run, &res->err);
    if (!signals.running)
        return end_run(run, res);
    sb__meter_init(&meter, run);
    if (start_users(run, res) == 0) {
        res->unjoined = !perform_run(run, &meter, res);
        if (!sb__run_follows(run))
            end_workload(w, res);
    }
    sb_signals_stop(&signals);
    sb__meter_done(&meter);
    return end_run(run, res);
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
            cancel_users(run, UINT64_MAX);
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
    struct sb_run *run = new_run(w, o, random);

    memset(res, 0, sizeof(*res));
    res->end = SB_END_FAILED;
    if (!run)
        return sb_err_set(
            &res->err, SB_ENOMEM, "out of memory for %s", command);
    run->task = task;
    run->command = command;
    if (init_run(run))
        sb_err_set(&res->err, SB_ENOMEM, "out of memory for %s", command);
    else
        sb_signals_start(&signals, on_signal, run, &res->err);
    if (!signals.running)
        return end_run(run, res);
    if (create_users(run, res) == 0) {
        res->unjoined = !watch_task(run);
        if (res->unjoined)
            sb_log(SB_LOG_WARNING,
                "%u of %u users of '%s' are still busy; exiting without them; "
                "the objects that they created are not removed",
                busy_users(run), run->users, command);
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
    return end_run(run, res);
}
