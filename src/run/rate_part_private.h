// SPDX-License-Identifier: GPL-2.0-or-later
//
// The parts of a search for the rate, in this process.
#ifndef SB_RATE_PART_PRIVATE_H
#define SB_RATE_PART_PRIVATE_H

#include "run/meter.h"
#include "run/part.h"

// Carries out a part, from its start until all users are at the gate again
// (SB__PART_MEASURED: only its start). Returns false if the run is over. The
// caller frees f->sum.
bool sb__rate_part(struct sb_run *run, struct sb_meter *m,
    const struct sb__part *part, struct sb__part_figures *f);
bool sb__rate_part_no_memory(struct sb_run *run); // fails the run; false

#endif
