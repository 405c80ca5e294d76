// SPDX-License-Identifier: GPL-2.0-or-later
//
// The state of a run: created before its first thread, freed after the last.
#ifndef SB_RUN_STATE_H
#define SB_RUN_STATE_H

#include "run/run_private.h"

// Returns NULL if out of memory.
struct sb_run *sb__run_state_new(struct sb_workload *w,
    const struct sb_run_opts *o, struct sb_random_shared *random);
// 0 or SB_ENOMEM. Call sb__run_state_end() in either case.
int sb__run_state_init(struct sb_run *run);
// Frees a run that has ended as *res says. Returns the code of its error.
int sb__run_state_end(struct sb_run *run, const struct sb_run_result *res);

#endif
