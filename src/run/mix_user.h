// SPDX-License-Identifier: GPL-2.0-or-later
//
// A user in a mix: which component its next event or its visit has, and the
// figures of components; the workload of a mix.
#ifndef SB_MIX_USER_H
#define SB_MIX_USER_H

#include "run/mix.h"
#include "run/workload.h"

struct sb_run;

// Registers the components of a mix, after the recorders were made. 0 or
// SB_ENOMEM; call sb__mix_user_unregister() in either case.
int sb__mix_user_register(struct sb_run *run);
void sb__mix_user_unregister(struct sb_run *run);
void sb__mix_user_init(struct sb_user *u);
// Returns when the component of user id changes after ns; UINT64_MAX: never.
// Times are in ns since the start of the first stage.
uint64_t sb__mix_user_until(const struct sb_run *run, unsigned id, uint64_t ns);
// Called when an event is due, by the loop of a component: chooses the
// component of the event. Returns false if it is another one, and hands the
// event over to it.
bool sb__mix_user_keeps(struct sb_user *u, uint64_t arrival, uint64_t now);
// The event in progress has started, or was completed.
void sb__mix_user_started(struct sb_user *u);
void sb__mix_user_completed(struct sb_user *u, uint64_t now);

// The workload of a mix: its parts, by component, which must outlive it. Slots
// are the numbers of components.
struct sb_mixed {
    struct sb_workload workload; // for sb_run() with o->mix
    const struct sb_mix *mix;
    struct sb_workload *part[SB_MIX_MAX];
};

// Fills m->workload for m->mix and m->part.
void sb_mixed_init(struct sb_mixed *m);

#endif
