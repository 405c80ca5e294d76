// SPDX-License-Identifier: GPL-2.0-or-later
//
// Parts of a search for the rate: their properties, and their figures.
#ifndef SB_PART_H
#define SB_PART_H

#include "measure/snap.h"

// Part of a probe or trial that is not counted, as a divisor: the server and
// its queue get used to the new rate.
#define SB__PART_SETTLE 4
// A probe continues for this part of its length, so that the users still run
// if the main thread is late to count.
#define SB__PART_PROBE_REST 10

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

#endif
