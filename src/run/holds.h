// SPDX-License-Identifier: GPL-2.0-or-later
//
// Users on an event loop whose events hold the worker, so that its others wait
// (loop/hold.h): finds out what does so and warns once.
//
// A user that has held its worker is watched during its next events, unless
// that was the first hold of the run: its workload notes which line runs. For
// that, the user's loop in the workload ends and begins again, and the same
// when the watch is over. In a mix, only events of the component that held are
// watched.
#ifndef SB_HOLDS_H
#define SB_HOLDS_H

#include "loop/hold.h"

struct sb_run;
struct sb_user;

// Called by the loop of a worker: `user` has held it.
void sb__holds_held(void *user, const struct sb_hold *hold);
// Between two events: whether the user's loop has to end because a watch begins
// or ends. now: a recent time. Only the user's thread.
bool sb__holds_leave(struct sb_user *u, uint64_t now);
// Finds workers that are blocked, so that the hold is known even if it is the
// only one. Returns when to call it again; UINT64_MAX: not needed. Main thread,
// until every worker is joined.
uint64_t sb__holds_check(struct sb_run *run);
// Users are still busy some time after the end of the run: warns of those whose
// turn does not end. Main thread.
void sb__holds_stuck(struct sb_run *run, uint64_t now);
// At the end of a run: warns if there were holds, but no line was found. Main
// thread.
void sb__holds_end(struct sb_run *run);

#endif
