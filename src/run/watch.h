// SPDX-License-Identifier: GPL-2.0-or-later
//
// The limits of a run that has been stopped: when its calls are canceled, and
// when users that are still busy are left behind.
#ifndef SB_WATCH_H
#define SB_WATCH_H

#include "run/run_state.h"

struct sb__watch {
    uint64_t stopped_at; // 0: not yet
    uint64_t cancel_at, leave_at, force_at;
    // When users that were coming at the end are canceled again.
    uint64_t coming_at;
    bool canceled; // calls were canceled
};

// Fixes the limits: a measured run is over at `now`.
void sb__watch_stop(
    struct sb__watch *w, const struct sb_run *run, uint64_t now);
// The same for an interrupted parallel command that began at `since`.
void sb__watch_stop_task(struct sb__watch *w, const struct sb_run *run,
    uint64_t since, uint64_t now);
// Called for each step of the loop that watches; `due` is the time that it was
// due. If it is late (a report or canceling took long, or the process was
// stopped), calls in progress get that much more time, because the server did
// not cause the delay. In this way every call is canceled before the process
// exits without its user. --forced-shutdown is not extended. Returns the delay.
uint64_t sb__watch_extend(struct sb__watch *w, uint64_t due, uint64_t now);
// Returns when the loop has to act; report: when the next report is due.
uint64_t sb__watch_next(
    const struct sb__watch *w, const struct sb_run *run, uint64_t report);

#endif
