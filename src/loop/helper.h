// SPDX-License-Identifier: GPL-2.0-or-later
//
// Threads that run what blocks and cannot be made to wait in a fiber: looking
// up the name of a host, or a client library that connects. The fiber waits
// until it is done, and its worker runs others meanwhile.
#ifndef SB_LOOP_HELPER_H
#define SB_LOOP_HELPER_H

#include <stdbool.h>
#include <stdint.h>

#include "loop/fiber.h"

// How often a call that waits for a thread checks whether it was canceled. The
// interval is long because thousands of users may wait at the start.
#define SB_HELPER_TICK_NS UINT64_C(250000000)

struct sb_helpers;

// most: the largest number of threads, at least 1. They are started when they
// are needed. NULL: out of memory.
struct sb_helpers *sb_helpers_new(unsigned most);
// Ends the threads. Nothing runs in them. NULL is allowed.
void sb_helpers_free(struct sb_helpers *h);

// Calls run(arg) in a thread of the caller's loop (sb_loop_helpers()), in the
// order of the calls, waits until it has returned, and returns 0. Returns
// SB_ETIMEOUT if all threads were busy until the deadline, a time of
// CLOCK_MONOTONIC in ns, or SB_FOREVER, and SB_ECANCELED if canceled(arg)
// returned true before a thread was free: then run() was not called.
// canceled: called every SB_HELPER_TICK_NS in the fiber, while the call waits
// for a thread, with a lock held, so it must not wait; NULL: never. A call that
// has begun has no deadline and cannot be canceled. Without a fiber, and if
// there are no helpers, calls run(arg) at once.
int sb_helper_run(void (*run)(void *arg), bool (*canceled)(void *arg),
    void *arg, uint64_t deadline);

// True if other users may run in this thread while the caller waits in a
// function of struct sb_host.
bool sb_helper_shared(void);

#endif
