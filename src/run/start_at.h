// SPDX-License-Identifier: GPL-2.0-or-later
//
// --start-at: the users are ready and wait for a moment.
#ifndef SB_START_AT_H
#define SB_START_AT_H

#include "run/run_private.h"

// Waits until --start-at, or until the run is stopped.
void sb__start_at_wait(struct sb_run *run);

#endif
