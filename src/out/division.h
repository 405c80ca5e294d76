// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the division of an open loop among ranks costs: a user of one rank is
// idle while arrivals wait in another. Pure, except for the warning; any
// thread. docs/internals/ranks.md states the rule.
#ifndef SB_DIVISION_H
#define SB_DIVISION_H

#include <stdbool.h>
#include <stddef.h>

#include "measure/rank_figures.h"

// Means over all events; times in ns.
struct sb_division {
    unsigned ranks;
    double load;     // mean number of busy users
    double response; // measured
    double lag;      // measured
    // Wait for a user by Erlang's C formula. INFINITY if a rank had more load
    // than users.
    double wait;
    double wait_undivided; // if one process had all users
    double cost;           // part of the response time that is due to the
                           // division, >= 0
};

// Computes it from the figures of all n ranks of a run. Returns false if there
// is no such figure: a closed loop, one rank, a rank that is lost, no events,
// or more load than one process with all users could serve.
bool sb_division_of(
    struct sb_division *d, const struct sb_rank_figures *f, unsigned n);

// Returns true if the cost matters, and writes a sentence: "the division among
// 4 ranks costs ...".
bool sb_division_matters(const struct sb_division *d, char *why, size_t size);

// Logs this sentence as a warning, if the cost matters.
void sb_division_warn(const struct sb_rank_figures *f, unsigned n);

// Erlang's C formula: returns the mean time from arrival to start in a queue
// M/M/c (Poisson arrivals, exponential service times), in mean service times.
//
// users: c > 0. load: arrivals per second times the mean service time in
// seconds, >= 0: the mean number of busy users. INFINITY if load >= users. A
// wait below 1e-12 may be returned as 0. Takes some 10 sqrt(load) + users -
// load steps, at most a few times 10,000 for 1,000,000 users.
double sb_erlang_c_wait(unsigned users, double load);

#endif
