// SPDX-License-Identifier: GPL-2.0-or-later
//
// Whether figures are consistent, and whether a run was successful.
#ifndef SB_METER_CHECK_H
#define SB_METER_CHECK_H

#include "run/meter.h"

// Inconsistent figures fail the run at its end.
void sb__meter_check_printed(struct sb_meter *m, const struct sb_snap *diff);
// Decides whether the run was successful, from the figures of the whole run,
// s, and those to be printed, diff. left: arrivals that were due and not
// started. Figures of users that are still busy may change, so they are not
// checked.
void sb__meter_check_success(struct sb_meter *m, const struct sb_snap *s,
    const struct sb_snap *diff, uint64_t left, bool all_ended,
    struct sb_run_result *res);

#endif
