// SPDX-License-Identifier: GPL-2.0-or-later
//
// The figures of stages.
#ifndef SB_METER_STAGES_PRIVATE_H
#define SB_METER_STAGES_PRIVATE_H

#include "run/meter.h"

// Called when the measured part begins.
void sb__meter_stages_start(struct sb_meter *m);
void sb__meter_stages_done(struct sb_meter *m);
// Ends the stage in progress, if any, at snapshot s: makes its report and
// passes it to the listener. 0 or SB_ENOMEM.
int sb__meter_stages_end(struct sb_meter *m, const struct sb_snap *s);
// Of a job: the sum over all ranks of a stage that has ended. Takes over *sum.
void sb__meter_stages_sum(
    struct sb_meter *m, unsigned stage, struct sb_snap *sum);
// The end of a stage is due. until: as for sb__meter_snap_take().
void sb__meter_stages_due(struct sb_meter *m, uint64_t now, uint64_t until);

#endif
