// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the files of snapshots share.
#ifndef SB_SNAP_PRIVATE_H
#define SB_SNAP_PRIVATE_H

#include "measure/snap.h"

// NULL: the snapshot has no such code.
const struct sb_snap_code *sb__snap_code_find(
    const struct sb_snap *s, int native, const char *state, const char *driver);
// Room for one more. NULL: out of memory.
struct sb_snap_code *sb__snap_code_new(struct sb_snap *s);

#endif
