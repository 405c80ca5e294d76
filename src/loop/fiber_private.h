// SPDX-License-Identifier: GPL-2.0-or-later
//
// Fibers and their loop, as the files of loop/ share them.
#ifndef SB_FIBER_PRIVATE_H
#define SB_FIBER_PRIVATE_H

#include <ck_queue.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "kit/spin.h"
#include "loop/context.h"
#include "loop/fiber.h"
#include "loop/prefetch.h"
#include "loop/timers.h"

struct sb_hold;
struct sb__poller;

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

// The account of a thread since its start: hold.h. Times in ns.
struct sb_account {
    uint64_t at;    // when it was taken
    uint64_t cpu;   // time with a processor
    uint64_t delay; // time ready, without a processor
    bool has_delay;
    // How often it lost its processor, and gave it up; < 0: not known.
    long preempted, sleeps;
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

// Sets the loop that the calling thread runs; NULL: none any more.
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

#endif
