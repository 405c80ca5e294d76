// SPDX-License-Identifier: GPL-2.0-or-later
//
// The start of a run: creates users until all of them are ready. If one fails,
// none of them starts. In the main thread.
#include "run/start.h"

#include <assert.h>

#include "base/log.h"
#include "kit/clock.h"
#include "kit/locale.h"
#include "loop/overflow.h"
#include "run/group.h"
#include "run/signals.h"
#include "run/thread_error.h"
#include "run/loops.h"
#include "run/overflow_message.h"
#include "run/worker.h"

// How long to wait for users to return after a failed start-up, while their
// calls are canceled. The wait is shorter after an interrupted start-up.
#define ABORT_GRACE     (3 * SB_SECOND)
#define INTERRUPT_GRACE (SB_SECOND / 4)
#define CANCEL_EVERY    (SB_SECOND / 10)

bool sb__start_join_ended(struct sb_run *run)
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
        sb__run_cancel(run, until);
        pthread_mutex_lock(&run->lock);
        uint64_t next = sb_clock_monotonic() + CANCEL_EVERY;
        if (run->ended < run->made)
            sb__run_wait(run, next < until ? next : until);
    }
    assert(run->ended <= run->made);
    bool all = run->ended == run->made;
    pthread_mutex_unlock(&run->lock);
    // If some did not return, the process exits without joining any.
    return all && sb__start_join_ended(run);
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

    sb__overflow_message_enable(run);
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

int sb__start_check_data(struct sb_run *run, struct sb_run_result *res)
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

int sb__start_interrupted(struct sb_run *run, struct sb_run_result *res)
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

int sb__start_users(struct sb_run *run, struct sb_run_result *res)
{
    int rc;

    if (run->l && run->l->connecting)
        run->l->connecting(run->l->data);
    sb__overflow_message_enable(run);
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
