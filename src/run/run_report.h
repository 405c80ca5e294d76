// SPDX-License-Identifier: GPL-2.0-or-later
//
// What all reports of a run have in common.
#ifndef SB_RUN_REPORT_H
#define SB_RUN_REPORT_H

#include "run/run_private.h"

// The number of users of this process, or of all ranks of a job.
unsigned sb__run_report_users(const struct sb_run *run);
// The same of those that run until the end.
unsigned sb__run_report_users_at_end(const struct sb_run *run);
// What names the operations and metrics of reports.
const struct sb_stats *sb__run_report_names(
    const struct sb_run *run, enum sb_phase phase);
// Fills in a report of figures that ended at `now`: of the sum over all ranks,
// or without a job, of this process.
void sb__run_report_fill(struct sb_run *run, struct sb_report *r,
    const struct sb_snap *sum, uint64_t now, bool warmup);
// Fills in this stage.
void sb__run_report_stage(
    const struct sb_run *run, struct sb_report *r, unsigned stage);
// Fills in the stage of a report that ended at `now`.
void sb__run_report_stage_at(
    const struct sb_run *run, struct sb_report *r, uint64_t now);

#endif
