// SPDX-License-Identifier: GPL-2.0-or-later
//
// Why a thread or a stack could not be created, and the message to the user of
// the program when a stack overflows.
#ifndef SB_THREAD_ERROR_H
#define SB_THREAD_ERROR_H

#include <stddef.h>

// Writes the likely reason why pthread_create() failed: rc is its return value,
// stack the requested stack size in bytes.
void sb__thread_error(int rc, size_t stack, char *out, size_t size);
// The same for a stack of this many bytes, of a thread or a fiber, for which
// the system refused memory.
void sb__stack_error(size_t stack, char *out, size_t size);

// From now on, the overflow of a user's stack ends the process with a message,
// which has the size of the stack, and status 1. Main thread, before the run
// starts threads.
void sb__overflow_message_enable(size_t stack);
// The same for the calling thread, which runs check() of the workload, until
// sb_overflow_unguard().
void sb__overflow_guard_check(void);
// The same for the stack of the main thread. Main thread, once, before it runs
// a script.
void sb_run_guard_main(void);

#endif
