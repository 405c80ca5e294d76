// SPDX-License-Identifier: GPL-2.0-or-later
//
// Workers that run several users each, in fibers on an event loop (--workers).
#ifndef SB_LOOPS_H
#define SB_LOOPS_H

#include "run/run_state.h"

// Creates the fibers of all users and starts run->workers threads. Returns 0,
// SB_ENOMEM, or SB_ELIMIT naming the limit: run->made is the number of users
// whose thread was started.
int sb__loops_start(struct sb_run *run, struct sb_err *err);
// How the users are run. All of them are ready.
void sb__loops_describe(
    const struct sb_run *run, struct sb_run_workers *workers);
// Joins every worker whose users have ended; returns true if all have.
bool sb__loops_join_ended(struct sb_run *run);
// Frees the stacks of users and the loops. No worker is running.
void sb__loops_free(struct sb_run *run);

#endif
