// SPDX-License-Identifier: GPL-2.0-or-later
//
// Why a rank ends the run of all.
#ifndef SB_JOINT_FAIL_H
#define SB_JOINT_FAIL_H

#include "run/joint.h"

// Fails the run if figures of other ranks could not be added.
void sb__joint_fail_if_broken(struct sb__joint *j);
// Says that a rank has failed, or was not heard.
void sb__joint_fail_lost(const struct sb__joint *j, unsigned rank, uint64_t now,
    struct sb_err *failure);

#endif
