// SPDX-License-Identifier: GPL-2.0-or-later
//
// --rate=80% and --rate=max: finds the rate of the measured part. The search
// consists of parts; between them, all users wait.
#ifndef SB_RATE_SEARCH_H
#define SB_RATE_SEARCH_H

#include "measure/snap.h"

struct sb_meter;
struct sb_run;
struct sb_user;

enum sb__part_kind {
    SB__PART_WARMUP,
    SB__PART_PROBE, // of the maximum, in a closed loop
    SB__PART_TRIAL,
    SB__PART_MEASURED // no search any more
};

struct sb__part {
    enum sb__part_kind kind;
    double rate; // 0: a closed loop
    uint64_t at; // its start; 0: now
};

// Of this process, or the sum of all ranks.
struct sb__part_figures {
    double rate; // of a probe: events that were completed per second
    // Of a trial:
    bool late;       // the main thread did not count in time: no outcome
    double growth;   // of the queue while it counted,
    double arrivals; // and expected arrivals meanwhile
    uint64_t left;   // arrivals that no user has started
    struct sb_snap sum;
};

// From the release of the users to the start of the measured part. Returns
// false if the run is over. Main thread.
bool sb__rate_search(struct sb_run *run, struct sb_meter *m);
// Called by a user that has nothing to do in this part. Returns true if the
// next part has begun, false if the run is over for it.
bool sb__rate_search_wait(struct sb_user *u);

#endif
