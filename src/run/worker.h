// SPDX-License-Identifier: GPL-2.0-or-later
//
// Worker threads: each runs one user from its creation to its end.
#ifndef SB_WORKER_H
#define SB_WORKER_H

#include "run/run_private.h"

// Starts a thread for each user and shows how many users are ready. Returns 0,
// or SB_ELIMIT naming the limit. A stop of the run ends it early: run->made is
// the number of threads then.
int sb__worker_start_all(struct sb_run *run, struct sb_err *err);
// Shows how many users are ready. since: creation of the first one.
void sb__worker_progress(struct sb_run *run, uint64_t since, uint64_t now);
// Joins every user that has ended; returns true if all have.
bool sb__worker_join_ended(struct sb_run *run);

#endif
