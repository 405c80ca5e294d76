// SPDX-License-Identifier: GPL-2.0-or-later
//
// --connect-parallel: slots, their queue, and users that leave it.
#include "db/slots.h"

#include <stdatomic.h>
#include <time.h>

#include "check.h"
#include "loop/loop.h"

#define USERS 8

static struct sb__slots slots;

static void nap(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
}

// A user in a thread of its own: takes a slot, notes when that was, and
// releases it.
struct user {
    struct sb__slot_wait wait;
    struct sb_waiter waiter;
    struct sb_err err;
    pthread_t thread;
    _Atomic int rc; // 1: it waits
    int nth;        // that got a slot, from 1
};

static _Atomic int served;

static _Atomic bool is_over;

static bool over(void *arg)
{
    return is_over;
}

static void *use(void *arg)
{
    struct user *u = arg;
    int rc = sb__slot_take(&u->wait, 1, &u->err);

    if (rc == 0) {
        u->nth = ++served;
        sb__slot_release(&slots);
    }
    u->rc = rc;
    return NULL;
}

static unsigned in_queue(void)
{
    const struct sb__slot_wait *w;
    unsigned n = 0;

    pthread_mutex_lock(&slots.lock);
    CK_STAILQ_FOREACH(w, &slots.queue, next)
    n++;
    pthread_mutex_unlock(&slots.lock);
    return n;
}

// Starts a user, and returns when it is in the queue.
static void queue(struct user *u)
{
    unsigned n = in_queue();

    *u = (struct user){ .rc = 1 };
    CHECK_INT(sb_waiter_init(&u->waiter), 0);
    u->wait.slots = &slots;
    u->wait.waiter = &u->waiter;
    u->wait.over = over;
    CHECK_INT(pthread_create(&u->thread, NULL, use, u), 0);
    while (in_queue() == n)
        nap();
}

static void end(struct user *u)
{
    pthread_join(u->thread, NULL);
    sb_waiter_done(&u->waiter);
}

// Takes one of `most` slots; one of them is free.
static void take(uint64_t most)
{
    struct sb__slot_wait w = { .slots = &slots };
    struct sb_err err = { 0 };

    CHECK_INT(sb__slot_take(&w, most, &err), 0);
}

static void begin(void)
{
    sb__slots_init(&slots);
    served = 0;
    is_over = false;
}

static void free_slots(void)
{
    begin();
    take(2);
    take(2);
    CHECK_INT(slots.taken, 2);
    sb__slot_release(&slots);
    take(2);
    sb__slot_release(&slots);
    sb__slot_release(&slots);
    CHECK_INT(slots.taken, 0);
    sb__slots_done(&slots);
}

static void slots_pass_in_order(void)
{
    struct user u[USERS];

    begin();
    take(1);
    for (int i = 0; i < USERS; i++)
        queue(&u[i]);
    CHECK_INT(served, 0);
    sb__slot_release(&slots);
    for (int i = 0; i < USERS; i++) {
        end(&u[i]);
        CHECK_INT(u[i].rc, 0);
        CHECK_INT(u[i].nth, i + 1);
    }
    CHECK_INT(slots.taken, 0);
    sb__slots_done(&slots);
}

// First, last and in the middle.
static void canceled_users_leave_the_queue(void)
{
    struct user u[5], later;

    begin();
    take(1);
    for (int i = 0; i < 5; i++)
        queue(&u[i]);
    for (int i = 0; i < 5; i += 2) {
        sb__slot_cancel(&u[i].wait);
        end(&u[i]);
        CHECK_INT(u[i].rc, SB_ECANCELED);
        CHECK_STR(u[i].err.msg, "connecting was canceled");
    }
    CHECK_INT(in_queue(), 2);
    queue(&later);
    sb__slot_release(&slots);
    end(&u[1]);
    end(&u[3]);
    end(&later);
    CHECK_INT(u[1].nth, 1);
    CHECK_INT(u[3].nth, 2);
    CHECK_INT(later.nth, 3);
    CHECK_INT(slots.taken, 0);
    sb__slots_done(&slots);
}

// A user is canceled when it has got a slot and does not run yet: the slot
// passes on.
static void canceled_with_a_slot(void)
{
    struct user u, later;

    begin();
    take(1);
    queue(&u);
    queue(&later);
    pthread_mutex_lock(&slots.lock); // holds up both users
    u.wait.canceled = true;
    CK_STAILQ_REMOVE_HEAD(&slots.queue, next);
    u.wait.queued = false;
    pthread_mutex_unlock(&slots.lock);
    sb_waiter_wake(&u.waiter);
    end(&u);
    end(&later);
    CHECK_INT(u.rc, SB_ECANCELED);
    CHECK_INT(later.rc, 0);
    CHECK_INT(slots.taken, 0);
    sb__slots_done(&slots);
}

static void the_end_of_the_run(void)
{
    struct user u[3];

    begin();
    take(1);
    for (int i = 0; i < 3; i++)
        queue(&u[i]);
    is_over = true;
    for (int i = 0; i < 3; i++)
        sb_waiter_wake(&u[i].waiter);
    for (int i = 0; i < 3; i++) {
        end(&u[i]);
        CHECK_INT(u[i].rc, SB_ECANCELED);
    }
    CHECK_INT(slots.taken, 1);
    sb__slot_release(&slots);
    take(1); // a slot that is free can be taken after the end, too
    sb__slot_release(&slots);
    sb__slots_done(&slots);
}

static void canceled_before(void)
{
    struct sb__slot_wait w = { .slots = &slots };
    struct sb_waiter waiter;
    struct sb_err err = { 0 };

    begin();
    CHECK_INT(sb_waiter_init(&waiter), 0);
    w.waiter = &waiter;
    sb__slot_cancel(&w);
    CHECK_INT(sb__slot_take(&w, 1, &err), SB_ECANCELED);
    CHECK_INT(slots.taken, 0);
    take(1);
    CHECK_INT(sb__slot_take(&w, 1, &err), SB_ECANCELED);
    CHECK_INT(in_queue(), 0);
    sb__slot_release(&slots);
    sb__slots_done(&slots);
}

// Fibers of one thread, at most two with a slot.
static struct {
    struct sb_fiber *fiber[USERS];
    int inside, most, done;
} f;

static void visit(void *arg)
{
    struct sb_fiber **self = arg;
    struct sb_waiter waiter;
    struct sb__slot_wait w = { .slots = &slots, .waiter = &waiter };
    struct sb_err err = { 0 };

    CHECK_INT(sb_waiter_init(&waiter), 0);
    waiter.fiber = *self;
    for (int i = 0; i < 3; i++) {
        CHECK_INT(sb__slot_take(&w, 2, &err), 0);
        if (++f.inside > f.most)
            f.most = f.inside;
        sb_fiber_yield(*self);
        f.inside--;
        sb__slot_release(&slots);
    }
    sb_waiter_done(&waiter);
    f.done++;
}

static void fibers_wait_without_their_thread(void)
{
    struct sb_loop *l = sb_loop_new(USERS, false);
    struct sb_err err = { 0 };

    begin();
    for (int i = 0; i < USERS; i++)
        f.fiber[i] = sb_loop_add(l, 256 * 1024, visit, &f.fiber[i]);
    CHECK_INT(sb_loop_open(l, SB_LOOP_ANY, &err), 0);
    sb_loop_run(l);
    sb_loop_close(l);
    sb_loop_free(l);
    CHECK_INT(f.done, USERS);
    CHECK_INT(f.most, 2);
    CHECK_INT(slots.taken, 0);
    sb__slots_done(&slots);
}

CHECK_FILE
{
    RUN(free_slots);
    RUN(slots_pass_in_order);
    RUN(canceled_users_leave_the_queue);
    RUN(canceled_with_a_slot);
    RUN(the_end_of_the_run);
    RUN(canceled_before);
    RUN(fibers_wait_without_their_thread);
    return check_done();
}
