// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // SCHED_BATCH
#include "run/loops.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "loop/helper.h"
#include "loop/loop.h"
#include "run/holds.h"
#include "run/run_state.h"
#include "run/thread_error.h"
#include "run/worker.h"

// Threads of the run for what blocks: enough to keep servers on one machine
// busy with logins, and few compared with a thread per user.
#define HELPERS 32

// User i belongs to worker i modulo their number, so that each worker has its
// share of every stage and component.
static struct sb__loop_worker *worker_of(struct sb_run *run, unsigned user)
{
    return &run->worker[user % run->workers];
}

static unsigned users_of(const struct sb__loop_worker *w)
{
    const struct sb_run *run = w->run;

    return (run->users - w->number + run->workers - 1) / run->workers;
}

static void run_user(void *arg)
{
    sb__worker_run(arg);
}

// The users of a loop that cannot be used do not start.
static void end_users(struct sb__loop_worker *w)
{
    for (unsigned i = w->number; i < w->run->users; i += w->run->workers)
        sb__worker_end(&w->run->user[i]);
}

// The policy of this thread. musl has no sched_getscheduler().
static int policy(void)
{
    struct sched_param p;
    int found = -1;

    pthread_getschedparam(pthread_self(), &found, &p);
    return found;
}

// With SCHED_BATCH, an answer does not interrupt what runs on the worker's
// processor, such as the server that is about to send the next one: the worker
// then receives several at once. Helper threads get the policy of the worker
// that starts them. A policy that the program was started with stays. Returns
// whether the system has set it.
static bool set_batch(void)
{
    const struct sched_param p = { 0 };

    return policy() == SCHED_OTHER &&
           pthread_setschedparam(pthread_self(), SCHED_BATCH, &p) == 0;
}

// The policy that this thread has, whoever has set it.
static const char *policy_name(void)
{
    switch (policy()) {
    case SCHED_OTHER:
        return "normal";
    case SCHED_BATCH:
        return "batch";
    case SCHED_IDLE:
        return "idle";
    case SCHED_FIFO:
        return "fifo";
    case SCHED_RR:
        return "rr";
    default:
        return "other";
    }
}

static void *run_loop(void *arg)
{
    struct sb__loop_worker *w = arg;
    struct sb_run *run = w->run;
    struct sb_err err = { 0 };
    bool batch = sb_run_opts_batch(run->o) && set_batch();

    sb__worker_begin("worker", w->number);
    if (sb_loop_open(w->loop, (enum sb_loop_kind)run->o->event_loop, &err)) {
        sb__run_fail(run, &err);
        end_users(w);
    } else {
        w->event_loop = sb_loop_kind_name(w->loop);
        w->policy = policy_name();
        sb_log(SB_LOG_DEBUG, "worker %u: %u users, %s%s", w->number,
            users_of(w), w->event_loop, batch ? ", batch" : "");
        sb_loop_run(w->loop); // closed at the end: another thread may wake it
    }
    pthread_mutex_lock(&run->lock);
    w->ended = true;
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

static int cannot_create_user(
    const struct sb_run *run, unsigned i, struct sb_err *err)
{
    char why[200];

    sb__stack_error((size_t)run->o->thread_stack_size, why, sizeof(why));
    return sb_err_set(err, SB_ELIMIT, "cannot create user %u of %u: %s", i + 1,
        run->users, why);
}

static int add_users(struct sb_run *run, struct sb_err *err)
{
    for (unsigned i = 0; i < run->users; i++) {
        struct sb_user *u = &run->user[i];

        u->priv->waiter.fiber = sb_loop_add(worker_of(run, i)->loop,
            (size_t)run->o->thread_stack_size, run_user, u);
        if (!u->priv->waiter.fiber)
            return cannot_create_user(run, i, err);
    }
    return 0;
}

static int start_thread(
    struct sb__loop_worker *w, const pthread_attr_t *attr, struct sb_err *err)
{
    struct sb_run *run = w->run;
    int rc = pthread_create(&w->thread, attr, run_loop, w);
    char why[200];

    if (rc) {
        sb__thread_error(
            rc, (size_t)run->o->thread_stack_size, why, sizeof(why));
        return sb_err_set(err, SB_ELIMIT, "cannot start worker %u of %u: %s",
            w->number + 1, run->workers, why);
    }
    w->has_thread = true;
    pthread_mutex_lock(&run->lock);
    run->made += users_of(w);
    pthread_mutex_unlock(&run->lock);
    return 0;
}

static int create_loops(struct sb_run *run, struct sb_err *err)
{
    run->worker = calloc(run->workers, sizeof(*run->worker));
    run->helpers = sb_helpers_new(HELPERS);
    if (!run->worker || !run->helpers)
        return sb_err_set(err, SB_ENOMEM, "out of memory for workers");
    for (unsigned i = 0; i < run->workers; i++) {
        struct sb__loop_worker *w = &run->worker[i];

        w->run = run;
        w->number = i;
        w->loop = sb_loop_new(users_of(w), run->o->pace != SB_PACE_SLEEP);
        if (!w->loop)
            return sb_err_set(err, SB_ENOMEM, "out of memory for workers");
        sb_loop_helpers(w->loop, run->helpers);
        sb_loop_watch(w->loop, sb__holds_held);
    }
    return 0;
}

int sb__loops_start(struct sb_run *run, struct sb_err *err)
{
    pthread_attr_t attr;
    int rc;

    assert(run->workers > 0 && run->workers <= run->users && !run->task);
    rc = create_loops(run, err);
    run->start_at = sb_clock_monotonic();
    if (rc == 0)
        rc = add_users(run, err);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, (size_t)run->o->thread_stack_size);
    for (unsigned i = 0; rc == 0 && i < run->workers; i++)
        rc = start_thread(&run->worker[i], &attr, err);
    pthread_attr_destroy(&attr);
    return rc;
}

// A system that refuses io_uring to one worker may have given it to others.
void sb__loops_describe(
    const struct sb_run *run, struct sb_run_workers *workers)
{
    *workers = (struct sb_run_workers){ .n = run->workers };
    for (unsigned i = 0; i < run->workers; i++) {
        const struct sb__loop_worker *w = &run->worker[i];

        assert(w->event_loop && w->policy); // its users are ready
        if (i == 0)
            workers->event_loop = w->event_loop;
        else if (strcmp(w->event_loop, workers->event_loop) != 0)
            workers->event_loop = "mixed";
        workers->policy = w->policy;
    }
}

bool sb__loops_join_ended(struct sb_run *run)
{
    bool all = true;

    for (unsigned i = 0; run->worker && i < run->workers; i++) {
        struct sb__loop_worker *w = &run->worker[i];

        if (!w->has_thread)
            continue;
        pthread_mutex_lock(&run->lock);
        // The last user ends a moment before its thread.
        bool ended = w->ended || run->ended == run->made;
        pthread_mutex_unlock(&run->lock);
        if (ended) {
            pthread_join(w->thread, NULL);
            w->has_thread = false;
        } else {
            all = false;
        }
    }
    return all;
}

void sb__loops_free(struct sb_run *run)
{
    sb_helpers_free(run->helpers); // their threads may still use the loops
    run->helpers = NULL;
    for (unsigned i = 0; run->worker && i < run->workers; i++) {
        assert(!run->worker[i].has_thread);
        if (run->worker[i].loop)
            sb_loop_close(run->worker[i].loop);
        sb_loop_free(run->worker[i].loop);
    }
    free(run->worker);
    run->worker = NULL;
}
