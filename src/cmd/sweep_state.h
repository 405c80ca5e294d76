// SPDX-License-Identifier: GPL-2.0-or-later
//
// The folder that keeps the finished runs of a sweep until the sweep is
// complete: FILE.sweep beside the result file. Main thread.
//
//     plan.json       what is measured; also the lock
//     run-0001.json   the result file of the first run
#ifndef SB_SWEEP_STATE_H
#define SB_SWEEP_STATE_H

#include <stdbool.h>

#include "cmd/sweep_plan.h"

struct sb_sweep_state {
    char dir[4096];
    int lock; // file descriptor; processes that inherit it hold the lock, too
    bool temporary; // there is no result file: removed in any case
};

// Creates or continues the folder for a result file; target NULL: a temporary
// folder. SB_EUSAGE: an unfinished sweep exists but `resume` is not set, or
// `resume` is set but no unfinished sweep exists, or the plans differ.
// SB_ELIMIT: another process uses the folder. SB_ESYS, SB_ENOMEM. Call
// sb_sweep_state_done() in either case.
int sb_sweep_state_open(struct sb_sweep_state *s, const char *target,
    bool resume, struct sb_sweep_plan *plan, struct sb_opts *opts,
    struct sb_err *err);
// Writes the path of the file of a run, counted from 0.
void sb_sweep_state_file(
    const struct sb_sweep_state *s, unsigned run, char *out, size_t size);
// Closes the folder. Removes it if `remove` is set or it is temporary.
void sb_sweep_state_done(struct sb_sweep_state *s, bool remove);

#endif
