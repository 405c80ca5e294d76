// SPDX-License-Identifier: GPL-2.0-or-later
#include "loop/waiter.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <time.h>

#include "kit/clock.h"

// An entry is on the stack of the user that waits.
struct sb_wait_entry {
    struct sb_wait_entry *next, *prev;
    struct sb_waiter *waiter;
    _Atomic bool listed;
};

static int init_cond(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    int rc;

    if (pthread_condattr_init(&attr))
        return SB_ENOMEM;
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    rc = pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
    return rc ? SB_ENOMEM : 0;
}

int sb_lock_init(pthread_mutex_t *lock, pthread_cond_t *cond)
{
    if (pthread_mutex_init(lock, NULL))
        return SB_ENOMEM;
    if (init_cond(cond) == 0)
        return 0;
    pthread_mutex_destroy(lock);
    return SB_ENOMEM;
}

int sb_waiter_init(struct sb_waiter *w)
{
    *w = (struct sb_waiter){ .fiber = NULL };
    return sb_lock_init(&w->lock, &w->moved);
}

void sb_waiter_done(struct sb_waiter *w)
{
    pthread_cond_destroy(&w->moved);
    pthread_mutex_destroy(&w->lock);
}

static bool thread_sleep(struct sb_waiter *w, uint64_t until)
{
    struct timespec ts = sb_clock_timespec(until);
    bool woken;
    int rc = 0;

    pthread_mutex_lock(&w->lock);
    while (!w->token && rc == 0)
        rc = until == SB_FOREVER
                 ? pthread_cond_wait(&w->moved, &w->lock)
                 : pthread_cond_timedwait(&w->moved, &w->lock, &ts);
    woken = w->token;
    w->token = false;
    pthread_mutex_unlock(&w->lock);
    return woken;
}

bool sb_waiter_sleep(struct sb_waiter *w, uint64_t until)
{
    if (!w->fiber)
        return thread_sleep(w, until);
    assert(w->fiber == sb_fiber_current());
    return sb_fiber_sleep(w->fiber, until);
}

void sb_waiter_wake(struct sb_waiter *w)
{
    struct sb_fiber *f = w->fiber;

    if (f) {
        sb_fiber_wake(f);
        return;
    }
    pthread_mutex_lock(&w->lock);
    w->token = true;
    pthread_cond_signal(&w->moved);
    pthread_mutex_unlock(&w->lock);
}

static void list_add(struct sb_wait_list *l, struct sb_wait_entry *e)
{
    e->listed = true;
    e->prev = l->last;
    if (l->last)
        l->last->next = e;
    else
        l->first = e;
    l->last = e;
}

static void list_remove(struct sb_wait_list *l, struct sb_wait_entry *e)
{
    if (e->prev)
        e->prev->next = e->next;
    else
        l->first = e->next;
    if (e->next)
        e->next->prev = e->prev;
    else
        l->last = e->prev;
}

bool sb_wait_list_wait(struct sb_wait_list *l, pthread_mutex_t *lock,
    struct sb_waiter *w, uint64_t until)
{
    struct sb_wait_entry mine = { .waiter = w };
    bool woken;

    list_add(l, &mine);
    pthread_mutex_unlock(lock);
    woken = sb_waiter_sleep(w, until);
    pthread_mutex_lock(lock);
    if (atomic_load(&mine.listed))
        list_remove(l, &mine);
    return woken;
}

void sb_wait_list_sleep(
    struct sb_wait_list *l, pthread_mutex_t *lock, struct sb_waiter *w)
{
    struct sb_wait_entry mine = { .waiter = w };

    list_add(l, &mine);
    pthread_mutex_unlock(lock);
    do {
        sb_waiter_sleep(w, SB_FOREVER);
    } while (atomic_load(&mine.listed));
}

void sb_wait_list_wake(struct sb_wait_list *l)
{
    struct sb_wait_entry *e = l->first;

    *l = (struct sb_wait_list){ 0 };
    while (e) {
        struct sb_wait_entry *next = e->next;
        struct sb_waiter *w = e->waiter;

        atomic_store(&e->listed, false); // from here on, *e may be gone
        sb_waiter_wake(w);
        e = next;
    }
}
