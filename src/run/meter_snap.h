// SPDX-License-Identifier: GPL-2.0-or-later
//
// Snapshots of the phase that is being reported.
#ifndef SB_METER_SNAP_H
#define SB_METER_SNAP_H

#include "run/meter.h"

// until: arrivals due by then were scheduled.
int sb__meter_snap_take(struct sb_meter *m, struct sb_snap *s,
    enum sb_snap_detail detail, const struct sb_snap *earlier, uint64_t now,
    uint64_t until);
// Returns the number of arrivals of the measured part that were due by `until`
// and not started: no user took them, or the run was over when one did.
uint64_t sb__meter_snap_pending(
    struct sb_meter *m, uint64_t until, const struct sb_snap *s);

#endif
