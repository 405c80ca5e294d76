// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/slots.h"

#include <assert.h>

void sb__slots_init(struct sb__slots *s)
{
    *s = (struct sb__slots){ .taken = 0 };
    CK_STAILQ_INIT(&s->queue);
    pthread_mutex_init(&s->lock, NULL);
}

void sb__slots_done(struct sb__slots *s)
{
    assert(s->taken == 0 && CK_STAILQ_EMPTY(&s->queue));
    pthread_mutex_destroy(&s->lock);
}

static void leave_queue(struct sb__slots *s, struct sb__slot_wait *w)
{
    CK_STAILQ_REMOVE(&s->queue, w, sb__slot_wait, next);
    w->queued = false;
}

// Waits in the queue until a slot passes to this user (true), it is canceled,
// or it gives up. With the lock held.
static bool await_slot(struct sb__slots *s, struct sb__slot_wait *w)
{
    CK_STAILQ_INSERT_TAIL(&s->queue, w, next);
    w->queued = true;
    while (w->queued && !w->canceled && !(w->over && w->over(w->arg))) {
        pthread_mutex_unlock(&s->lock);
        sb_waiter_sleep(w->waiter, SB_FOREVER);
        pthread_mutex_lock(&s->lock);
    }
    if (!w->queued)
        return true;
    leave_queue(s, w);
    return false;
}

int sb__slot_take(struct sb__slot_wait *w, uint64_t most, struct sb_err *err)
{
    struct sb__slots *s = w->slots;
    bool taken, canceled;

    assert(most > 0 && !w->queued);
    pthread_mutex_lock(&s->lock);
    canceled = w->canceled;
    taken = !canceled && s->taken < most;
    if (taken) {
        s->taken++;
    } else if (!canceled) {
        taken = await_slot(s, w);
        canceled = w->canceled;
    }
    pthread_mutex_unlock(&s->lock);
    if (taken && !canceled)
        return 0;
    if (taken)
        sb__slot_release(s);
    return sb_err_set(err, SB_ECANCELED, "connecting was canceled");
}

void sb__slot_cancel(struct sb__slot_wait *w)
{
    pthread_mutex_lock(&w->slots->lock);
    w->canceled = true;
    pthread_mutex_unlock(&w->slots->lock);
    sb_waiter_wake(w->waiter);
}

// The slot passes to the first user in the queue, so that users that come later
// cannot take it first.
void sb__slot_release(struct sb__slots *s)
{
    struct sb__slot_wait *first;

    pthread_mutex_lock(&s->lock);
    assert(s->taken > 0);
    first = CK_STAILQ_FIRST(&s->queue);
    if (first) {
        leave_queue(s, first);
        // With the lock: the user may end its wait as soon as it sees this.
        sb_waiter_wake(first->waiter);
    } else {
        s->taken--;
    }
    pthread_mutex_unlock(&s->lock);
}
