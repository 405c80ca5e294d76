// SPDX-License-Identifier: GPL-2.0-or-later
//
// The start of a run of several ranks.
#ifndef SB_JOINT_START_H
#define SB_JOINT_START_H

#include "run/joint.h"

// Before users are created: the other ranks wait until rank 0 has called
// init(). Returns false if the run is over.
bool sb__joint_start_go(struct sb_run *run);
// All users of this rank are ready: agrees on the start, j->began. Returns
// false if the run is over.
bool sb__joint_start_agree(struct sb_run *run);
// From the choice of a start to it: messages to all ranks must arrive by then.
uint64_t sb__joint_start_lead_ns(const struct sb__joint *j);
// Waits for a start, or a stop of the run.
void sb__joint_start_wait(struct sb_run *run, uint64_t at);
void sb__joint_start_handlers(struct sb__joint *j);

#endif
