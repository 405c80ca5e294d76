// SPDX-License-Identifier: GPL-2.0-or-later
//
// Workers that run several users each, in fibers on an event loop (--workers).
#ifndef SB_LOOPS_H
#define SB_LOOPS_H

#include "run/run_private.h"

// Creates the fibers of all users and starts run->workers threads. Returns 0,
// or SB_ELIMIT naming the limit: run->made is the number of users whose thread
// was started.
int sb__loops_start(struct sb_run *run, struct sb_err *err);
// Joins every worker whose users have ended; returns true if all have.
bool sb__loops_join_ended(struct sb_run *run);
// Finds workers that are blocked, so that the hold is known even if it is the
// only one. Returns when to call it again; UINT64_MAX: not needed. Main thread,
// until every worker is joined.
uint64_t sb__loops_check(struct sb_run *run);
// Frees the stacks of users and the loops. No worker is running.
void sb__loops_free(struct sb_run *run);

#endif
