// SPDX-License-Identifier: GPL-2.0-or-later
//
// Joins a run to the other ranks of its job.
#ifndef SB_JOIN_H
#define SB_JOIN_H

struct sb_run;

// For sb_run_opts.join, with the job in sb_run_opts.job: sets run->group, which
// its leave() frees. Also after an error. 0 or SB_ENOMEM.
int sb_ranks_join(struct sb_run *run);

#endif
