// SPDX-License-Identifier: GPL-2.0-or-later
//
// --rate=80% and --rate=max: finds the rate of the measured part. The search
// consists of parts; between them, all users wait. So do a warm-up and the
// measured part with a pause between them.
#ifndef SB_RATE_SEARCH_H
#define SB_RATE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

struct sb_meter;
struct sb_run;
struct sb_run_opts;
struct sb_user;

// How long the parts before the measured part take, in ns, if none is delayed;
// of a search: with all its trials.
uint64_t sb_rate_search_ns(const struct sb_run_opts *o);

// From the release of the users to the start of the measured part, if
// run->gated. Returns false if the run is over. Main thread.
bool sb__rate_search(struct sb_run *run, struct sb_meter *m);
// Called by a user that has nothing to do in this part. Returns true if the
// next part has begun, false if the run is over for it.
bool sb__rate_search_wait(struct sb_user *u);

#endif
