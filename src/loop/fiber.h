// SPDX-License-Identifier: GPL-2.0-or-later
//
// The fibers of an event loop (loop.h): how one waits, and how others wake it.
#ifndef SB_LOOP_FIBER_H
#define SB_LOOP_FIBER_H

#include <stdbool.h>
#include <stdint.h>

struct sb_fiber;
struct sb_loop;
struct sb_prefetch;

#define SB_FOREVER UINT64_MAX // as a time: no limit

// Returns the fiber that the calling thread runs; NULL: it runs none. Only this
// layer and functions that are called without a context (script/compat.c) may
// use it; other code calls sb_helper_shared().
struct sb_fiber *sb_fiber_current(void);

// The functions below, up to sb_fiber_wake(): called by the fiber itself.

// Lets the other fibers that are ready run.
void sb_fiber_yield(struct sb_fiber *f);
// Sleeps until a time of CLOCK_MONOTONIC in ns, or SB_FOREVER. Returns true if
// sb_fiber_wake() ended it, also one that was called before.
bool sb_fiber_sleep(struct sb_fiber *f, uint64_t until);
// Gives unused pages of the stack back to the system.
void sb_fiber_trim(const struct sb_fiber *f);
// Moves the running fiber to the background, or back, from its next wait on.
// While other fibers of its loop have something to do, fibers in the background
// run for only half of the time.
void sb_fiber_set_background(struct sb_fiber *f, bool background);
// Pins the running fiber: it must not wait, because data on its stack does not
// allow other fibers to run. If it waits nevertheless, the text is written and
// the process ends. NULL: it may wait, which is the default.
void sb_fiber_pin(struct sb_fiber *f, const char *text);
// The loop that it belongs to.
struct sb_loop *sb_fiber_loop(const struct sb_fiber *f);
// A place for one pointer of the fiber's owner, NULL at first.
void **sb_fiber_local(struct sb_fiber *f);
// Returns the time at which the last wait of the fiber ended, in ns of
// CLOCK_MONOTONIC: when the kernel reported the event, when another fiber of
// its loop woke it, or when its sleep was to end. The fiber may have run later,
// because others ran first.
uint64_t sb_fiber_reported(const struct sb_fiber *f);
// How the waits of a fiber ended, other than those of sb_fiber_yield(). Only
// the fiber reads it, as long as it exists.
struct sb_fiber_waits {
    uint64_t count; // waits that have ended
    uint64_t late;  // of the last one: ns from sb_fiber_reported() until it ran
    uint64_t queued; // ns for which sb_helper_run() waited for a thread, in all
};
const struct sb_fiber_waits *sb_fiber_waits(const struct sb_fiber *f);
// Returns the memory that the fiber uses when it continues. Only the fiber
// changes it.
struct sb_prefetch *sb_fiber_prefetch(struct sb_fiber *f);
// Ends sb_fiber_sleep(). Any thread, as long as the loop exists.
void sb_fiber_wake(struct sb_fiber *f);

#endif
