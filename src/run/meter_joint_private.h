// SPDX-License-Identifier: GPL-2.0-or-later
//
// The reporting side of a job: gives the figures of this rank to rank 0, and
// reports the sums over all ranks.
#ifndef SB_METER_JOINT_PRIVATE_H
#define SB_METER_JOINT_PRIVATE_H

#include "run/meter.h"

// Reports the sums of sections that all ranks have ended.
void sb__meter_joint_init(struct sb_meter *m);
// Gives an interval of this rank to the others. partial: the rest of one.
void sb__meter_joint_interval(
    struct sb_meter *m, const struct sb_snap *diff, uint64_t now, bool partial);
// Gives what precedes a checkpoint to rank 0: diff, which ends at s. s becomes
// the start of the next one.
void sb__meter_joint_checkpoint(
    struct sb_meter *m, struct sb_snap *s, const struct sb_snap *diff);
// The final report of all ranks, with the figures of this one: s, and the
// difference to the last checkpoint. 0 or SB_ENOMEM.
int sb__meter_joint_final(struct sb_meter *m, const struct sb_snap *s,
    const struct sb_snap *diff, uint64_t left, bool all_ended,
    struct sb_run_result *res);

#endif
