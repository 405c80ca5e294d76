// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a user on an event loop is told when its stack overflows.
#ifndef SB_RUN_OVERFLOW_H
#define SB_RUN_OVERFLOW_H

#include "run/run_private.h"

// From now on, the overflow of a user's stack ends the process with a message
// and status 1. Main thread, before the workers of the run.
void sb__overflow_catch(const struct sb_run *run);

#endif
