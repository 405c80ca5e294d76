// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the division of an open loop among ranks costs: a user of one rank is
// idle while arrivals wait in another. Pure, except for the warning;
// docs/internals/ranks.md states the rule.
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

#endif
