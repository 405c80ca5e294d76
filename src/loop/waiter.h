// SPDX-License-Identifier: GPL-2.0-or-later
//
// Waiting of one user, in its fiber or in its thread, for a time or for another
// thread. And lists of waiting users, which correspond to condition variables
// of threads.
#ifndef SB_LOOP_WAITER_H
#define SB_LOOP_WAITER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "loop/fiber.h"

struct sb_waiter {
    struct sb_fiber *_Atomic fiber; // NULL: the user has a thread of its own
    pthread_mutex_t lock;           // of `token`
    pthread_cond_t moved;           // CLOCK_MONOTONIC
    bool token;                     // a wake-up that no sleep has consumed
};

// Initializes a lock and a condition with the monotonic clock. 0 or SB_ENOMEM.
int sb_lock_init(pthread_mutex_t *lock, pthread_cond_t *cond);

// 0 or SB_ENOMEM. The owner sets `fiber` before the user runs, or leaves NULL.
int sb_waiter_init(struct sb_waiter *w);
void sb_waiter_done(struct sb_waiter *w);
// Sleeps until a time of CLOCK_MONOTONIC in ns, or SB_FOREVER. Returns true if
// sb_waiter_wake() ended it, even if that was called before. A wake-up may have
// no reason any more, so callers check what they wait for. Only the user
// itself.
bool sb_waiter_sleep(struct sb_waiter *w, uint64_t until);
// Any thread, until sb_waiter_done().
void sb_waiter_wake(struct sb_waiter *w);

// Users that wait for something that a mutex protects. {0}: none waits.
struct sb_wait_list {
    struct sb_wait_entry *first, *last; // in the order in which they came
};

// As pthread_cond_timedwait(): with `lock` held, which it releases while the
// user waits. May return early; the caller checks what it waits for. until: as
// above. Returns false after that time.
bool sb_wait_list_wait(struct sb_wait_list *l, pthread_mutex_t *lock,
    struct sb_waiter *w, uint64_t until);
// As sb_wait_list_wait(), but without a time limit, and returns without the
// lock. If hundreds of threads that are woken at once each needed the lock, a
// thread would get it only after the thread before it has got a processor.
void sb_wait_list_sleep(
    struct sb_wait_list *l, pthread_mutex_t *lock, struct sb_waiter *w);
// Wakes all that wait. With the lock held.
void sb_wait_list_wake(struct sb_wait_list *l);

#endif
