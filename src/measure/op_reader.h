// SPDX-License-Identifier: GPL-2.0-or-later
//
// Operations by interval: the executions of each operation of a run since the
// last reading. A snapshot of 100 operations of 1,000 users would read 50 MB of
// histograms; a reader only reads the parts that have changed, and reuses its
// memory.
#ifndef SB_OP_READER_H
#define SB_OP_READER_H

#include "measure/snap.h"

struct sb_op_reader {
    struct sb_stats *stats; // NULL: not in use
    unsigned turn;          // operation that is read completely next time
    unsigned nops;
    struct sb_op_source *source; // SB_OPS_MAX entries, nops in use
    struct sb_snap_op *op;       // the last interval, nops entries
};

// Starts before the first execution of s was recorded: the first interval
// includes everything. At most one reader per s. 0 or SB_ENOMEM.
int sb_op_reader_init(struct sb_op_reader *r, struct sb_stats *s);
void sb_op_reader_done(struct sb_op_reader *r); // {0} allowed

// Replaces r->op and r->nops by what was recorded since the last call. Always
// in the same thread; users continue. Counts and times are current and add up
// over intervals: no execution is lost or counted twice. Histograms may lack
// executions that were recorded during the call; a later interval has them.
// Extremes come from the histogram. 0 or SB_ENOMEM; what was read before memory
// ran out is then missing in histograms.
int sb_op_reader_take(struct sb_op_reader *r);

#endif
