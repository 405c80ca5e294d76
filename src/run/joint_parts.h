// SPDX-License-Identifier: GPL-2.0-or-later
//
// A search for the rate by several ranks.
#ifndef SB_JOINT_PARTS_H
#define SB_JOINT_PARTS_H

#include "run/joint.h"

void sb__joint_parts_init(struct sb__joint *j);
void sb__joint_parts_done(struct sb__joint *j);
// Rank 0: a part begins; sets part->at.
void sb__joint_parts_begin(struct sb_run *run, struct sb__part *part);
// Waits for the figures of the other ranks and adds them. Returns false if the
// run is over.
bool sb__joint_parts_sum(struct sb_run *run, struct sb__part_figures *f);
// Another rank: waits for the next part; false if the run is over.
bool sb__joint_parts_next(struct sb_run *run, struct sb__part *part);
void sb__joint_parts_send(struct sb_run *run, const struct sb__part_figures *f);

#endif
