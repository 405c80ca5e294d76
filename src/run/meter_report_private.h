// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reports of this process.
#ifndef SB_METER_REPORT_PRIVATE_H
#define SB_METER_REPORT_PRIVATE_H

#include "run/meter.h"

// Fills in a report of diff, which ended at s.
void sb__meter_report_fill(struct sb_meter *m, struct sb_report *r,
    const struct sb_snap *diff, const struct sb_snap *s);
// Reports what has happened since the last checkpoint: diff, which ends at s.
// s becomes the start of the next checkpoint. failure: for a final report, why
// the run failed.
void sb__meter_report_cumulative(struct sb_meter *m, struct sb_snap *s,
    const struct sb_snap *diff,
    void (*tell)(void *data, const struct sb_report *r), bool final,
    const char *failure);

#endif
