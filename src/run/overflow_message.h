// SPDX-License-Identifier: GPL-2.0-or-later
//
// The message to the user of the program when a stack overflows.
#ifndef SB_RUN_OVERFLOW_MESSAGE_H
#define SB_RUN_OVERFLOW_MESSAGE_H

#include "run/run_private.h"

// From now on, the overflow of a user's stack ends the process with a message
// and status 1. Main thread, before the run starts threads.
void sb__overflow_message_enable(const struct sb_run *run);
// The same for the calling thread, which runs check() of the workload, until
// sb_overflow_unguard().
void sb__overflow_guard_check(void);

#endif
