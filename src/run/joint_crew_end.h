// SPDX-License-Identifier: GPL-2.0-or-later
//
// The end of a parallel command of several ranks.
#ifndef SB_JOINT_CREW_END_H
#define SB_JOINT_CREW_END_H

#include "run/run_private.h"

// The users of this rank have ended; rank 0 waits for those of the others.
void sb__joint_crew_end(struct sb_run *run);

#endif
