// SPDX-License-Identifier: GPL-2.0-or-later
//
// The reports that each run of a sweep writes itself, and their names:
// run.csv becomes run-threads=4-1.csv. Main thread.
#ifndef SB_SWEEP_NAMES_H
#define SB_SWEEP_NAMES_H

#include "results/sweep_plan.h"
#include "out/reporter.h"

struct sb_sweep_names {
    const struct sb_reporters *rs;
    const struct sb_sweep_plan *plan;
    bool numbered; // names have the number of the point: the values would be
                   // cut, or two points would have the same name
    // Of the reports of a run, the first of which is its result file: whether
    // it keeps the user's name, as devices, pipes and addresses do.
    bool kept[SB_REPORTERS_MAX + 1];
    unsigned nkept;
};

// Decides on the names, and checks that no run fails because of them. rs and
// plan must outlive *n. SB_EUSAGE: a report cannot be written for each run.
// SB_ESYS: a folder does not exist or is not writable. SB_ERANGE: a name, or
// the list for a run, is too long. SB_ENOMEM.
int sb_sweep_names_init(struct sb_sweep_names *n, const struct sb_reporters *rs,
    const struct sb_sweep_plan *plan, struct sb_err *err);

// Writes the list of reports of a run: `text` or none, its result file, and the
// other reports, whose names get the values of the run and its round, unless
// they are kept. SB_ERANGE: the list is too long.
int sb_sweep_names_reports(const struct sb_sweep_names *n, unsigned run,
    bool text, const char *result, char *out, size_t size, struct sb_err *err);
// In the process of a run, rs: of that list. Marks those whose names the sweep
// has chosen.
void sb_sweep_names_mark(
    const struct sb_sweep_names *n, struct sb_reporters *rs);

#endif
