// SPDX-License-Identifier: GPL-2.0-or-later
//
// The events of one user, as the other files of run/ use them.
#ifndef SB_EVENTS_H
#define SB_EVENTS_H

#include "run/run_state.h"

int sb__user_init(struct sb_user *u, struct sb_run *run, unsigned id);
void sb__user_done(struct sb_user *u);
// An error ended the loop of this user, possibly during an event.
void sb__user_failed(struct sb_user *u, const struct sb_err *err);
// Marks errors as ignored that no event will settle.
void sb__user_ignore_errors(struct sb_user *u);
// Called once by the user's thread when the run is released.
void sb__user_start(struct sb_user *u);
// Converts the pause of a script to ns; at most a year.
static inline uint64_t sb__user_pause_ns(double ns)
{
    return ns < 3.2e16 ? (uint64_t)ns : (uint64_t)3.2e16;
}
// Waits until the given time or a stop; returns the current time.
uint64_t sb__user_wait(struct sb_user *u, uint64_t until);
// For a user that is away: waits until the given time. Returns false if the run
// is over, or all of --events are used up.
bool sb__user_await(struct sb_user *u, uint64_t until);
// On an event loop: how long a user whose events do not wait may run before the
// others of its worker do.
#define SB__USER_SLICE_NS 100000
// Lets the other users of the worker run if this user has run for so long.
// Returns the current time.
uint64_t sb__user_take_turns(struct sb_user *u, uint64_t now);

#endif
