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

#endif
