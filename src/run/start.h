// SPDX-License-Identifier: GPL-2.0-or-later
//
// The start of a run: creates users until all of them are ready.
#ifndef SB_START_H
#define SB_START_H

#include "run/run_private.h"

// Calls check() of the workload before there are users. Returns 0 if it
// succeeds; otherwise *res says how the run ended.
int sb__start_check_data(struct sb_run *run, struct sb_run_result *res);
// Creates the users. Returns 0 if all are ready (in a parallel command:
// working). Otherwise none of them starts, and *res says how the run ended.
int sb__start_users(struct sb_run *run, struct sb_run_result *res);
// The run was stopped before its users were created: *res says how it ended.
// Returns SB_E*.
int sb__start_interrupted(struct sb_run *run, struct sb_run_result *res);

// Joins the threads of all users that have ended. Returns true if all have.
bool sb__start_join_ended(struct sb_run *run);

#endif
