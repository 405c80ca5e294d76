// SPDX-License-Identifier: GPL-2.0-or-later
//
// Numbers that all Lua states of a script share: each is given out once, in
// order. Any thread.
#ifndef SB_SEQUENCE_FFI_H
#define SB_SEQUENCE_FFI_H

#include "base/export.h"

struct sb_sequences; // those of one script, by name
struct sb_sequence;  // lives as long as they do

// The sequence `name`, made with the first call, which begins with 1. No
// number up to `after` is given out from now on. NULL: out of memory.
SB_FFI struct sb_sequence *sb_sequence_get(
    struct sb_sequences *all, const char *name, double after);
// Takes n >= 1 numbers: the first of them, the others follow. Exact up to 2^53.
SB_FFI double sb_sequence_next(struct sb_sequence *q, double n);
// The greatest number given out or left out so far; 0 at first.
SB_FFI double sb_sequence_last(const struct sb_sequence *q);

#endif
