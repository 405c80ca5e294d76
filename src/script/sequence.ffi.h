// SPDX-License-Identifier: GPL-2.0-or-later
//
// Sequences of numbers that all Lua states of a script share: each number is
// returned once, in ascending order. Any thread.
#ifndef SB_SEQUENCE_FFI_H
#define SB_SEQUENCE_FFI_H

#include "base/export.h"

struct sb_sequences; // the sequences of one script, by name
struct sb_sequence;  // valid as long as its struct sb_sequences

// Returns the sequence `name`; the first call creates it, starting with 1.
// After the call it returns only numbers greater than `after`. NULL: out of
// memory.
SB_FFI struct sb_sequence *sb_sequence_get(
    struct sb_sequences *all, const char *name, double after);
// Takes n >= 1 consecutive numbers and returns the first. Exact up to 2^53.
SB_FFI double sb_sequence_next(struct sb_sequence *q, double n);
// The greatest number returned or skipped so far; initially 0.
SB_FFI double sb_sequence_last(const struct sb_sequence *q);

#endif
