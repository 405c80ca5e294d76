// SPDX-License-Identifier: GPL-2.0-or-later
//
// A user from its creation to its end; and worker threads that run one user
// each (--workers=users).
#ifndef SB_WORKER_H
#define SB_WORKER_H

#include "run/run_state.h"

// When --thread-init-timeout ends the start. It began with the creation of the
// first user: a system may be slow at that, too.
uint64_t sb__worker_limit(const struct sb_run *run);
// Starts a thread for each user and shows how many users are ready. Returns 0,
// or SB_ELIMIT naming the limit. A stop of the run and the limit of the start
// end it early: run->made is the number of threads then.
int sb__worker_start_all(struct sb_run *run, struct sb_err *err);
// Names the calling thread, "user-12" or "worker-1", and makes its timers
// exact.
void sb__worker_begin(const char *what, unsigned number);
// Runs a user from its creation to its end.
void sb__worker_run(struct sb_user *u);
// Marks a user as ended that will not run.
void sb__worker_end(struct sb_user *u);
// Shows how many users are ready. since: creation of the first one.
void sb__worker_progress(struct sb_run *run, uint64_t since, uint64_t now);
// Joins every user that has ended; returns true if all have.
bool sb__worker_join_ended(struct sb_run *run);

#endif
