// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared by the files of snapshots.
#ifndef SB_SNAP_PRIVATE_H
#define SB_SNAP_PRIVATE_H

#include "measure/snap.h"

// Returns the entry of a code, or NULL if the snapshot has none.
const struct sb_snap_code *sb__snap_code_find(
    const struct sb_snap *s, int native, const char *state, const char *driver);
// Adds an entry. Returns NULL if out of memory.
struct sb_snap_code *sb__snap_code_new(struct sb_snap *s);
// Takes the extremes of a difference from its histogram, limited by the exact
// extremes of the whole run, which the caller has stored in *min and *max. They
// are exact if the difference covers the run.
void sb__snap_bounds(
    const struct sb_hist_snap *h, uint64_t *min, uint64_t *max);

// snap.c. live: users are writing. 0 or SB_ENOMEM.
int sb__snap_take_metrics(
    struct sb_snap *out, const struct sb_stats *s, bool live);

#endif
