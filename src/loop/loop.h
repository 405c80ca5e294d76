// SPDX-License-Identifier: GPL-2.0-or-later
//
// An event loop with fibers: one thread runs many users. A fiber runs until it
// waits; then the thread runs the next one that is ready. io_uring or epoll
// report what fibers wait for.
//
//     sb_loop_new() in any thread; sb_loop_add() for each fiber;
//     sb_loop_open(), sb_loop_run() and sb_loop_close() in its own thread;
//     sb_loop_free() after that.
//
// Fibers that are ready run in the order in which they became ready, each once
// before any of them runs again.
#ifndef SB_LOOP_H
#define SB_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum sb_loop_kind {
    SB_LOOP_ANY,   // io_uring if the system allows it, otherwise epoll
    SB_LOOP_URING, // SB_EUNSUPPORTED if it is refused
    SB_LOOP_EPOLL,
};

struct sb_loop;
struct sb_fiber;

#define SB_FOREVER UINT64_MAX // as a time: no limit

// max: the largest number of fibers. exact: sleeping ends at its time and not,
// as timers do, some time later; the thread busy-waits for the last part. NULL:
// out of memory.
struct sb_loop *sb_loop_new(unsigned max, bool exact);
// The loop is not running. Frees its fibers. NULL is allowed.
void sb_loop_free(struct sb_loop *l);
// Adds a fiber, which is ready to run run(arg) on a stack of `stack` bytes.
// Before sb_loop_run(), or in a fiber of this loop. NULL: out of memory.
struct sb_fiber *sb_loop_add(
    struct sb_loop *l, size_t stack, void (*run)(void *arg), void *arg);

// The functions below: in the thread of the loop.

// 0; SB_EUNSUPPORTED; SB_ELIMIT or SB_ESYS if the system refuses descriptors or
// memory.
int sb_loop_open(struct sb_loop *l, enum sb_loop_kind kind, struct sb_err *err);
// Runs the fibers until all of them are over.
void sb_loop_run(struct sb_loop *l);
void sb_loop_close(struct sb_loop *l);
// "io_uring" or "epoll", after sb_loop_open().
const char *sb_loop_kind_name(const struct sb_loop *l);

// The fiber that the calling thread runs; NULL: it runs none. Only this layer
// and the functions that client libraries call without a context may ask.
struct sb_fiber *sb_fiber_current(void);

// The functions below, up to sb_fiber_wake(): called by the fiber itself.

// Lets the other fibers that are ready run.
void sb_fiber_yield(struct sb_fiber *f);
// Sleeps until a time of CLOCK_MONOTONIC in ns, or SB_FOREVER. Returns true if
// sb_fiber_wake() ended it, also one that was called before.
bool sb_fiber_sleep(struct sb_fiber *f, uint64_t until);
// Gives unused pages of the stack back to the system.
void sb_fiber_trim(const struct sb_fiber *f);
// A place for one pointer of the fiber's owner, NULL at first.
void **sb_fiber_local(struct sb_fiber *f);
// When the kernel reported what the fiber waited for last, in ns of
// CLOCK_MONOTONIC. The fiber may have run later, because others ran first.
uint64_t sb_fiber_reported(const struct sb_fiber *f);
// Ends sb_fiber_sleep(). Any thread, as long as the loop exists.
void sb_fiber_wake(struct sb_fiber *f);

#endif
