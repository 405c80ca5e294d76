// SPDX-License-Identifier: GPL-2.0-or-later
//
// The gate of a search: users wait there between its parts, while the main
// thread changes what they use.
#ifndef SB_GATE_H
#define SB_GATE_H

#include "run/part.h"
#include "run/run_private.h"

// Called by a user that has nothing to do in this part. Returns true if the
// next part has begun, false if the run is over for it.
bool sb__gate_wait(struct sb_user *u);
// Lets the users go, for arrivals before `end`, and events that begin before
// `close`: times in ns since the start of the part; UINT64_MAX: no limit. Main
// thread, as the following.
void sb__gate_open(struct sb_run *run, const struct sb__part *part,
    uint64_t end, uint64_t close);
// Waits until the time. Returns false if the run is over.
bool sb__gate_sleep(struct sb_run *run, uint64_t until);
// Waits until all users are at the gate; at most until the time. Returns false
// if the run is over or they were not there in time, which fails the run.
bool sb__gate_meet(struct sb_run *run, uint64_t limit);

#endif
