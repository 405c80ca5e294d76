// SPDX-License-Identifier: GPL-2.0-or-later
//
// Parallel commands of several ranks: exchanges what users wait for.
#ifndef SB_JOINT_CREW_H
#define SB_JOINT_CREW_H

#include "run/joint.h"

void sb__joint_crew_init(struct sb__joint *j);
void sb__joint_crew_poll(struct sb__joint *j, uint64_t now);

#endif
