// SPDX-License-Identifier: GPL-2.0-or-later
//
// Snapshots as bytes, for the exchange between the processes of a run. Only
// buckets with counts are written: an interval takes a few kilobytes. Pure.
#ifndef SB_SNAP_WIRE_H
#define SB_SNAP_WIRE_H

#include "base/wire.h"
#include "measure/snap.h"

// Appends *s, an interval or a whole run, with the names of its operations and
// metrics. Operations and codes without an occurrence are left out. A failure
// is in b->failed.
void sb_snap_write(
    struct sb_buf *b, const struct sb_snap *s, const struct sb_stats *stats);

// Reads what sb_snap_write() has written, and adds it as sb_snap_add() does.
// later_ns: as there. SB_EUSAGE and SB_ENOMEM as there; SB_EINTERNAL: the data
// is invalid. After an error, *to can only be freed.
int sb_snap_read_add(struct sb_wire *w, struct sb_snap *to,
    struct sb_stats *to_stats, uint64_t later_ns, struct sb_err *err);

#endif
