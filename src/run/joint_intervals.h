// SPDX-License-Identifier: GPL-2.0-or-later
//
// Intervals of several ranks.
#ifndef SB_JOINT_INTERVALS_H
#define SB_JOINT_INTERVALS_H

#include "run/joint.h"

int sb__joint_intervals_init(struct sb__joint *j);
void sb__joint_intervals_done(struct sb__joint *j);
// This rank has recorded *diff since the last call. from, key: the planned end
// of the last interval and of this one; full: see sb__joint_slot.
void sb__joint_intervals_add(struct sb_run *run, const struct sb_snap *diff,
    const struct sb_stats *stats, uint64_t from, uint64_t key, bool full);
// Whether rank 0 has the last intervals of all ranks.
bool sb__joint_intervals_complete(const struct sb__joint *j);

#endif
