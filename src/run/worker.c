// SPDX-License-Identifier: GPL-2.0-or-later
//
// A user from its creation to its end; and threads that run one user each.
#define _GNU_SOURCE // pthread_getattr_np
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/log.h"
#include "kit/locale.h"
#include "loop/overflow.h"
#include "run/events.h"
#include "run/mix_user.h"
#include "run/run_state.h"
#include "run/thread_error.h"
#include "run/worker.h"

// Maximum delay of timers; the kernel's default is 50 us.
#define TIMER_SLACK_NS 1

// Bits: the states that may follow.
static const uint8_t next_states[] = {
    [SB_USER_NEW] = 1 << SB_USER_READY | 1 << SB_USER_RUNNING |
                    1 << SB_USER_ENDED,
    [SB_USER_READY] = 1 << SB_USER_RUNNING | 1 << SB_USER_ENDED,
    [SB_USER_RUNNING] = 1 << SB_USER_AWAY | 1 << SB_USER_ENDED,
    [SB_USER_AWAY] = 1 << SB_USER_RUNNING | 1 << SB_USER_ENDED,
    [SB_USER_ENDED] = 0,
};

static void move_user(
    struct sb_run *run, struct sb_user *u, enum sb_user_state state)
{
    assert(next_states[u->priv->state] >> state & 1);
    // Without the lock, so that users start at once: see sb_wait_list_sleep().
    if (state == SB_USER_RUNNING) {
        atomic_fetch_add(&run->running, 1);
        u->priv->state = state;
        return;
    }
    pthread_mutex_lock(&run->lock);
    if (u->priv->state == SB_USER_RUNNING) {
        assert(run->running > 0);
        atomic_fetch_sub(&run->running, 1);
    }
    u->priv->state = state;
    run->ready += state == SB_USER_READY;
    run->ended += state == SB_USER_ENDED;
    assert(run->ready <= run->users);
    assert(run->running + run->ended <= run->users);
    if (run->ended == run->users)
        run->ended_at = sb_clock_monotonic();
    // The main thread waits for all users: one wake-up, not one per user.
    if (state == SB_USER_READY ? run->ready == run->users
                               : run->ended + run->search.waiting >= run->made)
        pthread_cond_signal(&run->changed);
    pthread_mutex_unlock(&run->lock);
}

// Returns false if the run was aborted before its start.
static bool wait_for_release(struct sb_run *run, struct sb_user *u)
{
    while (!run->released && !run->aborted) {
        pthread_mutex_lock(&run->lock);
        if (run->released || run->aborted)
            pthread_mutex_unlock(&run->lock);
        else
            sb_wait_list_sleep(&run->go, &run->lock, &u->priv->waiter);
    }
    return !run->aborted;
}

// Runs the events of a user. Returns true if the user may come again.
static bool run_events(
    struct sb_run *run, struct sb_user *u, struct sb_err *err)
{
    const struct sb_workload_ops *ops = run->w->ops;
    int rc;

    sb__user_start(u);
    move_user(run, u, SB_USER_RUNNING);
    u->priv->coming = false;
    u->visit++;
    u->priv->loop_since = sb_clock_monotonic();
    u->priv->in_loop = true;
    rc = ops->user_run(run->w, u, err);
    u->priv->in_loop = false;
    if (rc == SB_ECANCELED && atomic_load(&run->stop)) {
        // The end of the run interrupted this event: it stays unfinished.
        sb__user_ignore_errors(u);
        return false;
    }
    if (rc) {
        sb__user_failed(u, err);
    } else {
        sb_user_drop(u); // the script's own loop ended during an event
        rc = ops->user_done ? ops->user_done(run->w, u, err) : 0;
    }
    sb__user_ignore_errors(u);
    if (rc == SB_ECANCELED && atomic_load(&run->stop))
        return false;
    if (rc)
        sb__run_fail(run, err);
    return rc == 0 && u->priv->gone && !atomic_load(&run->stop);
}

void sb_user_trim(const struct sb_user *u)
{
    if (u->priv->waiter.fiber) {
        sb_fiber_trim(u->priv->waiter.fiber);
        return;
    }
#ifdef __GLIBC__
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    pthread_attr_t attr;
    void *base;
    size_t size;
    char here = 0;

    if (pthread_getattr_np(pthread_self(), &attr))
        return;
    if (pthread_attr_getstack(&attr, &base, &size) == 0) {
        // One page stays for calls made from here.
        uintptr_t low = (uintptr_t)base;
        uintptr_t end = ((uintptr_t)&here - page) & ~(page - 1);

        if (end > low && end - low < size)
            madvise(base, end - low, MADV_DONTNEED);
    }
    pthread_attr_destroy(&attr);
#endif
}

static int create_user(
    struct sb_run *run, struct sb_user *u, struct sb_err *err)
{
    const struct sb_workload_ops *ops = run->w->ops;
    int rc = 0;

    // The start may have been interrupted while this thread waited for a
    // processor.
    if (atomic_load(&run->stop))
        return SB_ECANCELED;
    if (ops->user_init)
        rc = ops->user_init(run->w, u, err);
    // The failure is set before the user counts as ready, because the last user
    // to be ready starts the run.
    if (rc)
        sb__run_fail(run, err);
    sb_user_trim(u);
    move_user(run, u, SB_USER_READY);
    return rc;
}

static void free_data(struct sb_run *run, struct sb_user *u)
{
    if (run->w->ops->user_free)
        run->w->ops->user_free(run->w, u);
}

// Counts how long a user took to come, unless the final report was made.
static void count_connect(struct sb_run *run, struct sb_user *u, uint64_t ns)
{
    struct sb_stats *s = &run->stats[SB_PHASE_MEASURED];
    struct sb_rec *rec = &s->rec[u->id];
    const struct sb_workload_ops *ops = run->w->ops;
    int op;

    if (ops->user_connected && !ops->user_connected(run->w, u))
        return;
    op = sb_stats_op(s, "connect", SB_OP_CUSTOM);
    if (!sb_rec_enter(rec))
        return;
    sb_rec_op(rec, op, ns);
    sb_rec_leave(rec);
}

static bool is_over(const struct sb_run *run)
{
    return atomic_load(&run->stop) || atomic_load(&run->used_up) ||
           sb_clock_monotonic() >= run->deadline;
}

// Creating or freeing a user may take milliseconds of its worker, on which
// other users have events.
static void enter_background(struct sb_user *u)
{
    struct sb_fiber *f = u->priv->waiter.fiber;

    if (!f)
        return;
    sb_fiber_set_background(f, true);
    sb_fiber_yield(f);
}

static void leave_background(struct sb_user *u)
{
    if (u->priv->waiter.fiber)
        sb_fiber_set_background(u->priv->waiter.fiber, false);
}

static void free_leaving_user(struct sb_run *run, struct sb_user *u)
{
    enter_background(u);
    free_data(run, u);
    leave_background(u);
}

// A user comes while the run is in progress.
static int create_late_user(
    struct sb_run *run, struct sb_user *u, struct sb_err *err)
{
    int rc = 0;

    u->pause = 0;      // of its last event, when it was here before
    sb__user_start(u); // it may wait for a server
    u->priv->leave = UINT64_MAX;
    u->priv->coming = true;
    enter_background(u);
    uint64_t since = sb_clock_monotonic();
    if (is_over(run))
        rc = SB_ECANCELED;
    else if (run->w->ops->user_init)
        rc = run->w->ops->user_init(run->w, u, err);
    leave_background(u);
    if (rc)
        u->priv->coming = false;
    if (rc == SB_ECANCELED && is_over(run))
        return rc;
    if (rc)
        sb__run_fail(run, err);
    else
        count_connect(run, u, sb_clock_monotonic() - since);
    sb_user_trim(u);
    return rc;
}

// Returns whether the stages have this user at this moment; *until is when that
// changes. The warm-up is part of the first moment.
static bool has_user(
    const struct sb_run *run, const struct sb_user *u, uint64_t *until)
{
    uint64_t now = sb_clock_monotonic();
    uint64_t ns = now > run->warm_end ? now - run->warm_end : 0;
    bool has = sb_stages_user(sb__run_stages(run), u->priv->turn, ns, until);
    uint64_t change = sb__mix_user_until(run, u->id, ns);

    if (has && change < *until)
        *until = change; // it comes again, with another workload
    if (*until != UINT64_MAX)
        *until += run->warm_end;
    return has;
}

// The events of a user while its stage has it. Returns true if it may come
// again.
static bool run_visit(
    struct sb_run *run, struct sb_user *u, uint64_t until, struct sb_err *err)
{
    assert(!u->rec); // it has left the last visit behind
    u->priv->leave = u->priv->before = until;
    u->priv->gone = false;
    u->resume = 0;
    bool more = run_events(run, u, err);
    u->rec = NULL;
    if (more) {
        sb_metrics_leave(&run->stats[SB_PHASE_MEASURED].metrics, u->id);
        move_user(run, u, SB_USER_AWAY);
    }
    return more;
}

// A user of a run with stages: comes and goes until the run ends. It gets its
// state and its connections when it comes, and frees them when it goes.
static void come_and_go(
    struct sb_run *run, struct sb_user *u, struct sb_err *err)
{
    uint64_t until;
    bool here = sb_stages_user(sb__run_stages(run), u->priv->turn, 0, &until);
    bool more = true;

    if (!here)
        move_user(run, u, SB_USER_READY);
    else
        more = create_user(run, u, err) == 0;
    more = more && wait_for_release(run, u);
    while (more) {
        bool has = has_user(run, u, &until);

        if (has) {
            more = here || create_late_user(run, u, err) == 0;
            more = more && run_visit(run, u, until, err);
        }
        if (has || here)
            free_leaving_user(run, u);
        here = false;
        if (!has)
            more = sb__user_await(
                       u, until < run->deadline ? until : run->deadline) &&
                   sb_clock_monotonic() < run->deadline;
    }
    if (here)
        free_data(run, u);
}

static void run_user(struct sb_run *run, struct sb_user *u)
{
    struct sb_err err = { 0 };
    int rc;

    if (run->task) {
        move_user(run, u, SB_USER_RUNNING);
        rc = run->task(run->w, u, &err);
        if (rc)
            sb__run_fail(run, &err);
        sb_crew_leave(&run->crew);
        free_data(run, u);
    } else if (run->staged) {
        come_and_go(run, u, &err);
    } else {
        rc = create_user(run, u, &err);
        if (rc == 0 && wait_for_release(run, u))
            run_events(run, u, &err);
        free_data(run, u);
    }
}

void sb__worker_begin(const char *what, unsigned number)
{
    char name[16];

    sb_locale_keep();
    snprintf(name, sizeof(name), "%s-%u", what, number);
    prctl(PR_SET_NAME, name);
    prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
}

void sb__worker_run(struct sb_user *u)
{
    run_user(u->run, u);
    sb__worker_end(u);
}

void sb__worker_end(struct sb_user *u)
{
    move_user(u->run, u, SB_USER_ENDED);
}

static void *worker_main(void *arg)
{
    struct sb_user *u = arg;

    sb__worker_begin("user", u->id);
    sb_overflow_guard(u);
    sb__worker_run(u);
    sb_overflow_unguard();
    return NULL;
}

void sb__worker_progress(struct sb_run *run, uint64_t since, uint64_t now)
{
    unsigned n = run->users;
    double passed = (double)(now - since) / 1e9;

    pthread_mutex_lock(&run->lock);
    unsigned ready = run->ready;
    pthread_mutex_unlock(&run->lock);
    double rate = ready / (passed > 0 ? passed : 1);

    if (rate > 0)
        sb_log_progress("starting users: %u of %u ready, %.0f/s, %.0f s left",
            ready, n, rate, (n - ready) / rate);
    else
        sb_log_progress("starting users: %u of %u ready", ready, n);
}

static int start_failed(struct sb_run *run, int rc, struct sb_err *err)
{
    char why[200];

    sb__thread_error(rc, (size_t)run->o->thread_stack_size, why, sizeof(why));
    return sb_err_set(err, SB_ELIMIT, "cannot start thread %u of %lld: %s",
        run->made + 1, (long long)run->users, why);
}

static int start_one(
    struct sb_run *run, const pthread_attr_t *attr, struct sb_err *err)
{
    struct sb_user *u = &run->user[run->made];

    assert(run->made < run->users && u->priv->state == SB_USER_NEW);
    int rc = pthread_create(&u->priv->thread, attr, worker_main, u);

    if (rc)
        return start_failed(run, rc, err);
    u->priv->has_thread = true;
    pthread_mutex_lock(&run->lock);
    run->made++;
    pthread_mutex_unlock(&run->lock);
    return 0;
}

uint64_t sb__worker_limit(const struct sb_run *run)
{
    return run->start_at + (uint64_t)run->o->thread_init_timeout;
}

int sb__worker_start_all(struct sb_run *run, struct sb_err *err)
{
    uint64_t shown = run->start_at = sb_clock_monotonic(), now = shown;
    uint64_t limit = run->task ? UINT64_MAX : sb__worker_limit(run);
    pthread_attr_t attr;
    int rc = 0;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, (size_t)run->o->thread_stack_size);
    pthread_attr_setguardsize(&attr, SB_OVERFLOW_GUARD);
    while (rc == 0 && run->made < run->users && !atomic_load(&run->stop) &&
           now < limit) {
        if (!run->task && now - shown > SB__RUN_PROGRESS_EVERY)
            sb__worker_progress(run, run->start_at, shown = now);
        rc = start_one(run, &attr, err);
        now = sb_clock_monotonic();
    }
    pthread_attr_destroy(&attr);
    return rc;
}

bool sb__worker_join_ended(struct sb_run *run)
{
    bool all = true;

    for (unsigned i = 0; i < run->users; i++) {
        struct sb_user_priv *p = &run->priv[i];

        if (!p->has_thread)
            continue;
        pthread_mutex_lock(&run->lock);
        bool ended = p->state == SB_USER_ENDED;
        pthread_mutex_unlock(&run->lock);
        if (ended) {
            pthread_join(p->thread, NULL);
            p->has_thread = false;
        } else {
            all = false;
        }
    }
    return all;
}
