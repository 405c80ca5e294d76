// SPDX-License-Identifier: GPL-2.0-or-later
//
// The end of a run of several ranks.
#ifndef SB_JOINT_END_H
#define SB_JOINT_END_H

#include "run/joint.h"

// How a run has ended: in this rank, or in all of them.
struct sb__joint_end {
    struct sb_snap sum;   // rank 0: figures of all; the caller frees it
    bool has_since;       // it may have checkpoints; then
    struct sb_snap since; // the same since the last one
    uint64_t pending;     // arrivals that were due and not started
    bool all_ended;       // every user has ended, so the figures are final
    enum sb_run_end end;
    int signal; // SB_END_SIGNAL
    struct sb_err err;
};

// The users of this rank have ended: whole is its final snapshot,
// since the same from the last checkpoint on, or NULL without checkpoints, *e
// how it ended. On rank 0, *e becomes the end of all ranks. Another rank sends
// its figures and waits until the ranks below it have ended.
enum sb__joint_report {
    SB__JOINT_ALL,  // rank 0 reports *e
    SB__JOINT_NONE, // rank 0 reports the figures of this rank
    SB__JOINT_ALONE // rank 0 is lost: this rank reports its own figures
};
enum sb__joint_report sb__joint_end_final(struct sb_run *run,
    const struct sb_snap *whole, const struct sb_snap *since,
    const struct sb_stats *stats, struct sb__joint_end *e);
void sb__joint_end_start(struct sb__joint *j); // the measured part begins
void sb__joint_end_handlers(struct sb__joint *j);

#endif
