// SPDX-License-Identifier: GPL-2.0-or-later
//
// --connect-parallel: a slot for each connection that may be opened at the same
// time. Users that find no free slot wait in a queue.
#ifndef SB_SLOTS_H
#define SB_SLOTS_H

#include <ck_queue.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "loop/waiter.h"

struct sb__slot_wait;

struct sb__slots {
    pthread_mutex_t lock; // of what follows
    uint64_t taken;
    CK_STAILQ_HEAD(, sb__slot_wait) queue;
};

// What a user needs to wait for a slot, on its stack.
struct sb__slot_wait {
    CK_STAILQ_ENTRY(sb__slot_wait) next;
    struct sb__slots *slots;
    struct sb_waiter *waiter;
    bool (*over)(void *arg); // the user gives up, and is woken then; NULL: no
    void *arg;
    bool queued; // protected by the lock of the slots, like `canceled`
    bool canceled;
};

void sb__slots_init(struct sb__slots *s);
// No slot may be taken.
void sb__slots_done(struct sb__slots *s);

// Takes one of `most` slots (at least 1), after all users that came earlier.
// The caller has set slots, waiter, over and arg of *w. Returns 0, or
// SB_ECANCELED without a slot.
int sb__slot_take(struct sb__slot_wait *w, uint64_t most, struct sb_err *err);
// Ends sb__slot_take(), also if called before. Any thread, as long as *w
// exists.
void sb__slot_cancel(struct sb__slot_wait *w);
// Returns a slot. Any thread.
void sb__slot_release(struct sb__slots *s);

#endif
