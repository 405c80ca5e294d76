// SPDX-License-Identifier: GPL-2.0-or-later
#include "loop/helper.h"

#include <assert.h>
#include <ck_queue.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/err.h"
#include "kit/locale.h"
#include "loop/fiber_private.h"

// Name services and TLS libraries need more than fibers do.
#define STACK (1024u * 1024)

enum state { QUEUED, RUNNING, DONE };

// A call, on the stack of the fiber that waits for it.
struct job {
    CK_STAILQ_ENTRY(job) next;
    void (*run)(void *arg);
    bool (*canceled)(void *arg); // or NULL
    void *arg;
    struct sb_fiber *fiber;
    enum state state;
    uint64_t begun; // when run() was called
};

struct sb_helpers {
    pthread_mutex_t lock; // of all that follows
    pthread_cond_t added; // a job, or `over`
    CK_STAILQ_HEAD(, job) queue;
    unsigned queued;
    bool over;
    unsigned most, threads, idle;
    pthread_t thread[];
};

struct sb_helpers *sb_helpers_new(unsigned most)
{
    struct sb_helpers *h;

    assert(most > 0);
    h = calloc(1, sizeof(*h) + most * sizeof(h->thread[0]));
    if (!h)
        return NULL;
    h->most = most;
    CK_STAILQ_INIT(&h->queue);
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->added, NULL);
    return h;
}

void sb_helpers_free(struct sb_helpers *h)
{
    if (!h)
        return;
    pthread_mutex_lock(&h->lock);
    assert(CK_STAILQ_EMPTY(&h->queue));
    h->over = true;
    pthread_cond_broadcast(&h->added);
    pthread_mutex_unlock(&h->lock);
    for (unsigned i = 0; i < h->threads; i++)
        pthread_join(h->thread[i], NULL);
    pthread_cond_destroy(&h->added);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

// The functions below, up to help(): with the lock held.

static void add_job(struct sb_helpers *h, struct job *j)
{
    CK_STAILQ_INSERT_TAIL(&h->queue, j, next);
    h->queued++;
}

static void remove_job(struct sb_helpers *h, struct job *j)
{
    CK_STAILQ_REMOVE(&h->queue, j, job, next);
    h->queued--;
}

static void run_job(struct sb_helpers *h, struct job *j)
{
    struct sb_fiber *f = j->fiber; // the job is gone when its state is DONE

    remove_job(h, j);
    j->state = RUNNING;
    j->begun = sb_clock_monotonic();
    pthread_mutex_unlock(&h->lock);
    j->run(j->arg);
    pthread_mutex_lock(&h->lock);
    j->state = DONE;
    sb_fiber_wake(f);
}

static void *help(void *arg)
{
    struct sb_helpers *h = arg;

    prctl(PR_SET_NAME, "helper");
    sb_locale_keep();
    pthread_mutex_lock(&h->lock);
    while (!h->over) {
        if (!CK_STAILQ_EMPTY(&h->queue)) {
            run_job(h, CK_STAILQ_FIRST(&h->queue));
            continue;
        }
        h->idle++;
        pthread_cond_wait(&h->added, &h->lock);
        h->idle--;
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

static bool start_thread(struct sb_helpers *h)
{
    pthread_attr_t attr;
    int rc;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK);
    rc = pthread_create(&h->thread[h->threads], &attr, help, h);
    pthread_attr_destroy(&attr);
    h->threads += rc == 0;
    return rc == 0;
}

// Wakes or starts a thread for the jobs in the queue. Returns false if no
// thread exists and none can be started.
static bool find_thread(struct sb_helpers *h)
{
    // Threads that were woken for an earlier job may still count as idle.
    if (h->queued <= h->idle || h->threads == h->most || !start_thread(h))
        pthread_cond_signal(&h->added);
    return h->threads > 0;
}

// Until when the fiber sleeps.
static uint64_t next_look(const struct job *j, uint64_t deadline)
{
    if (j->state == RUNNING)
        return SB_FOREVER;
    return j->canceled ? sb_clock_until(deadline, SB_HELPER_TICK_NS) : deadline;
}

// Whether to give up a job that no thread has begun: 0, SB_ECANCELED or
// SB_ETIMEOUT. With the lock held, so that no thread begins it meanwhile.
static int why_not(const struct job *j, uint64_t deadline)
{
    assert(j->state == QUEUED);
    if (j->canceled && j->canceled(j->arg))
        return SB_ECANCELED;
    return sb_clock_monotonic() >= deadline ? SB_ETIMEOUT : 0;
}

// Waits until the job is done, or given up before it was begun. Returns as
// sb_helper_run().
static int await(struct sb_helpers *h, struct job *j, uint64_t deadline)
{
    int rc = 0;

    pthread_mutex_lock(&h->lock);
    while (j->state != DONE && !rc) {
        uint64_t until = next_look(j, deadline);

        pthread_mutex_unlock(&h->lock);
        sb_fiber_sleep(j->fiber, until);
        pthread_mutex_lock(&h->lock);
        if (j->state == QUEUED)
            rc = why_not(j, deadline);
    }
    if (rc)
        remove_job(h, j);
    pthread_mutex_unlock(&h->lock);
    return rc;
}

// Waits as await(), and adds up for how long the fiber's jobs were in the
// queue.
static int run_apart(struct sb_helpers *h, struct job *j, uint64_t deadline)
{
    uint64_t since = sb_clock_monotonic();
    int rc = await(h, j, deadline);

    if (rc == 0 && j->begun > since)
        j->fiber->waits.queued += j->begun - since;
    return rc;
}

int sb_helper_run(void (*run)(void *arg), bool (*canceled)(void *arg),
    void *arg, uint64_t deadline)
{
    struct sb_fiber *f = sb_fiber_current();
    struct sb_helpers *h = f ? f->loop->helpers : NULL;
    struct job j = { .run = run, .canceled = canceled, .arg = arg, .fiber = f };
    bool found = false;

    if (h) {
        pthread_mutex_lock(&h->lock);
        add_job(h, &j);
        found = find_thread(h);
        if (!found)
            remove_job(h, &j);
        pthread_mutex_unlock(&h->lock);
    }
    if (found)
        return run_apart(h, &j, deadline);
    run(arg);
    return 0;
}

bool sb_helper_shared(void)
{
    return sb_fiber_current() != NULL;
}
