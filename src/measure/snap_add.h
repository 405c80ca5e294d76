// SPDX-License-Identifier: GPL-2.0-or-later
//
// Adds the results of processes that ran side by side, or the intervals of one
// run, without loss: counters by sum, histograms by bucket, users one after the
// other. Pure; any thread.
#ifndef SB_SNAP_ADD_H
#define SB_SNAP_ADD_H

#include "measure/snap.h"

// Adds *from to *to. Both are final snapshots of a whole run. Operations and
// metrics are matched by the names in the stats, and error codes by driver,
// number and SQLSTATE. New operations and metrics are registered in to_stats.
// {0} as *to is a run of nothing. later_ns: how much later than *to the run of
// *from started; error codes were first seen so much later. A distribution
// whose `largest` differs between the runs is added within the width of a
// bucket, everything else exactly. SB_ENOMEM; SB_EUSAGE: a metric is of another
// kind in *to. After an error, *to can only be freed.
int sb_snap_add(struct sb_snap *to, struct sb_stats *to_stats,
    const struct sb_snap *from, const struct sb_stats *from_stats,
    uint64_t later_ns, struct sb_err *err);

// Adds the executions of an operation, which is registered on first use. Not
// min and max if op->count is 0. 0 or SB_ENOMEM.
int sb_snap_add_op(struct sb_snap *to, struct sb_stats *to_stats,
    const char *name, enum sb_op_kind kind, const struct sb_snap_op *from);

// Adds the values of a metric, which is registered on first use. Errors as
// above.
int sb_snap_add_metric(struct sb_snap *to, struct sb_stats *to_stats,
    const struct sb_metric_def *def, const struct sb_snap_metric *from,
    struct sb_err *err);

// Adds an interval to the sum of earlier intervals of the same run. Operations
// and metrics are matched by their number. Users are left out. States (the
// running users, events in progress, the queue, gauges) become those of *from.
// Extremes are those of the intervals. {0} as *to is the start of the run. 0 or
// SB_ENOMEM; *to can then only be freed.
int sb_snap_add_interval(struct sb_snap *to, const struct sb_snap *from);

#endif
