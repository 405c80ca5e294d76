// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the checks of several runs' figures say together. Main thread.
#ifndef SB_CHECKS_H
#define SB_CHECKS_H

#include "out/validity.h"

struct sb_checks { // {0}: no runs
    unsigned runs;
    unsigned doubtful, bad;       // of them
    unsigned failed[SB_CHECKS];   // runs in which a check is doubtful or bad
    double censored;              // the greatest share: sb_validity_censored()
    enum sb_validity_state worst; // of the runs
};

// Adds a run of a result file. A run whose figures were not checked has no
// doubts.
void sb_checks_add(struct sb_checks *c, const json_t *run);
void sb_checks_sum(struct sb_checks *c, const struct sb_checks *other);
// Writes which checks are doubtful or bad: "steady, samples" of one run,
// "steady in 2, samples in 1" of several. Returns out.
const char *sb_checks_names(const struct sb_checks *c, char *out, size_t size);
// {"doubtful": 2, "bad": 0, "checks": {"steady": 2}}: numbers of runs. A new
// reference, or NULL if out of memory.
json_t *sb_checks_json(const struct sb_checks *c);

#endif
