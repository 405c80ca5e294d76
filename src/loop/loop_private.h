// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared by the files of loop/.
#ifndef SB_LOOP_PRIVATE_H
#define SB_LOOP_PRIVATE_H

#include <ck_queue.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "kit/limits.h"
#include "kit/spin.h"
#include "loop/context.h"
#include "loop/fiber.h"
#include "loop/hold.h"
#include "loop/loop.h"
#include "loop/prefetch.h"
#include "loop/timers.h"

enum sb__fiber_state {
    SB__FIBER_READY,    // in the queue
    SB__FIBER_RUNNING,  // the loop runs it
    SB__FIBER_SLEEPING, // until its timer or a wake-up
    SB__FIBER_WAITING,  // until its io is complete
    SB__FIBER_OVER,
};

// What a fiber waits for: one at a time.
struct sb__io {
    int fd;
    int result;   // as of the system call: a number, or -errno
    bool expired; // its deadline has passed, and it was canceled
    bool unsent;  // of an exchange: it failed before all was sent
};

struct sb_fiber {
    struct sb_context context;
    struct sb_loop *loop;
    CK_STAILQ_ENTRY(sb_fiber) next; // in loop->ready
    struct sb_fiber *other;         // in the list of all fibers
    enum sb__fiber_state state;
    bool background;    // its turns are those of loop->background
    const char *pinned; // sb_fiber_pin()
    struct sb_timer timer;
    struct sb__io io;
    uint64_t reported;
    struct sb_fiber_waits waits;
    void *local; // its owner's
    struct sb_prefetch prefetch;
    // Written by other threads:
    _Atomic bool token;  // a wake-up that no sleep has consumed
    _Atomic bool queued; // in the list of the loop
    CK_STAILQ_ENTRY(sb_fiber) woken_next; // under loop->woken_lock
};

CK_STAILQ_HEAD(sb__fiber_queue, sb_fiber);

// How a loop waits for the kernel. io: of a fiber in state WAITING. After
// start_*() returned 0, complete() is called once for it, in wait().
struct sb__poller {
    const char *name;
    int (*open)(struct sb_loop *l, struct sb_err *err);
    void (*close)(struct sb_loop *l);
    // Waits for events of poll() on fd; the result is those that happened. 0 or
    // -errno.
    int (*start_poll)(struct sb_fiber *f, int fd, short events);
    // Sends out[0..len-1] completely and then receives at most `cap` bytes; the
    // result is the number received. NULL: the poller cannot do that.
    int (*start_exchange)(struct sb_fiber *f, int fd, const void *out,
        size_t len, void *in, size_t cap);
    // Has the io end early, with -ECANCELED. It may be too late for that, or
    // too early: the caller repeats it.
    void (*cancel)(struct sb_fiber *f);
    // Waits until something is complete, the time is reached, or notify() is
    // called. until 0: does not wait.
    void (*wait)(struct sb_loop *l, uint64_t until);
    // Ends a wait(). Any thread.
    void (*notify)(struct sb_loop *l);
};

// The turns of fibers: hold.c.
struct sb__turns {
    void (*held)(void *arg, const struct sb_hold *hold); // or NULL
    uint64_t until; // they are timed until then; 0: they are not
    uint64_t from;  // when the last one began, if they are timed
    struct sb_account before;
    long sleeps;   // how often the thread had slept when the round began
    int schedstat; // the file of the thread, or -1
};

// Whether the thread is blocked, as another thread sees it: hold.c.
struct sb__check {
    _Atomic int stat; // the file of the loop's thread, or -1
    // Of the last check; only the thread that checks.
    uint64_t at;
    uint64_t since;         // when its fiber was first seen in its turn
    struct sb_fiber *fiber; // that ran, in this round
    unsigned round;
    bool asleep; // the thread slept, in a turn that an earlier check had seen
    // For the loop: the fiber in whose turn the thread slept, the round, and
    // the time for which checks have seen the turn. If the round had several
    // such turns, the longest.
    struct sb_fiber *_Atomic blocked;
    _Atomic unsigned blocked_round;
    _Atomic uint64_t blocked_ns;
};

struct sb_loop {
    const struct sb__poller *poller; // NULL: not open
    void *kernel;                    // the poller's own
    unsigned max, alive, waiting;    // fibers: at most, not over, with an io
    struct sb_fiber *all;            // list
    // Read by the thread that checks the loop:
    struct sb_fiber *_Atomic running; // or NULL
    _Atomic unsigned round;           // number of the current one
    struct sb__fiber_queue ready;
    unsigned nready;
    // Those in the background that are ready, and when the next one may run.
    struct sb__fiber_queue background;
    uint64_t background_at;
    bool foreground;            // another fiber has run since the last of them
    struct sb_helpers *helpers; // or NULL
    struct sb_timers timers;
    bool exact;
    struct sb_alarm alarm;
    uint64_t now; // when the kernel was asked last
    struct sb__turns turns;
    struct sb__check check;
    void *fault_stack; // on which its thread handles faults, or NULL
    // Written by other threads: fibers to wake.
    _Alignas(64) struct sb_spin woken_lock;
    struct sb__fiber_queue woken;
    _Atomic bool any_woken;
    _Atomic bool asleep; // in wait(): notify() is needed
};

extern const struct sb__poller sb__epoll;
#ifdef HAVE_LIBURING
extern const struct sb__poller sb__uring;
#endif

// fiber.c. Sets the loop that the calling thread runs; NULL: none any more.
void sb__fiber_enter(struct sb_loop *l);
// Adds the fiber to those that are ready; removes the first of them.
void sb__fiber_queue(struct sb_fiber *f);
struct sb_fiber *sb__fiber_next(struct sb_loop *l);
// A fiber that sleeps or waits can run.
void sb__fiber_make_ready(struct sb_fiber *f);
// Called by the poller: the fiber's io is complete.
void sb__fiber_complete(struct sb_fiber *f, int result);
// The fiber, which has started an io, waits until it is complete, or until the
// deadline. Returns the result; -ETIMEDOUT after the deadline.
int sb__fiber_await(struct sb_fiber *f, uint64_t deadline);

// epoll.c. Fills err if the kernel refuses what a loop needs. no: the errno of
// the refused call. Returns SB_ELIMIT.
int sb__loop_refused(int no, struct sb_err *err);

// There is no memory for an event loop: SB_ENOMEM, with the limit.
static inline int sb__loop_no_memory(struct sb_err *err)
{
    char limit[80];

    sb_limit_of_memory(limit, sizeof(limit));
    return sb_err_set(
        err, SB_ENOMEM, "out of memory for an event loop%s", limit);
}

// hold.c. Called before and after the calling thread runs the fibers of the
// loop.
void sb__turns_begin(struct sb_loop *l);
void sb__turns_end(struct sb_loop *l);
// The loop is closed: no other thread checks it any more.
void sb__turns_close(struct sb_loop *l);
// A round begins, while turns are timed.
void sb__turns_ready(struct sb_loop *l);
// A round has ended: between these times the fibers ran.
void sb__turns_round(struct sb_loop *l, uint64_t from, uint64_t to);
// The loop has switched back from a fiber, while turns are timed.
void sb__turns_switched(struct sb_loop *l, struct sb_fiber *f);

// overflow.c. Called before and after the calling thread runs the fibers of the
// loop.
void sb__overflow_begin(struct sb_loop *l);
void sb__overflow_end(struct sb_loop *l);

#endif
