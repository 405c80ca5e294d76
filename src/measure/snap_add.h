// SPDX-License-Identifier: GPL-2.0-or-later
//
// Adds the results of processes that ran side by side, or the intervals of one
// run, without loss: counters by sum, histograms by bucket, users one after the
// other. Pure; any thread.
#ifndef SB_SNAP_ADD_H
#define SB_SNAP_ADD_H

#include "measure/snap.h"

// Adds *from to *to. Both are final snapshots of a whole run. Operations are
// matched by the names in the stats, and error codes by driver, number and
// SQLSTATE. New operations are registered in to_stats. {0} as *to is a run of
// nothing. Metrics are not added. 0 or SB_ENOMEM; *to can then only be freed.
int sb_snap_add(struct sb_snap *to, struct sb_stats *to_stats,
    const struct sb_snap *from, const struct sb_stats *from_stats);

// Adds an interval to the sum of earlier intervals of the same run. Operations
// and metrics are matched by their number. Users are left out. States (the
// running users, events in progress, the queue, gauges) become those of *from.
// Extremes are those of the intervals. {0} as *to is the start of the run. 0 or
// SB_ENOMEM; *to can then only be freed.
int sb_snap_add_interval(struct sb_snap *to, const struct sb_snap *from);

#endif
