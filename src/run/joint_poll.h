// SPDX-License-Identifier: GPL-2.0-or-later
//
// What each rank does from time to time.
#ifndef SB_JOINT_POLL_H
#define SB_JOINT_POLL_H

#include "run/joint.h"

// Handles messages, detects ranks that are lost, and passes on a stop of the
// run.
void sb__joint_poll(struct sb_run *run);
// Polls until done(joint), a stop of the run or the time. Returns done().
bool sb__joint_poll_until(
    struct sb_run *run, bool (*done)(struct sb__joint *j), uint64_t until);

#endif
