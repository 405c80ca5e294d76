// SPDX-License-Identifier: GPL-2.0-or-later
//
// Sequences of numbers that all Lua states of a script share: each number is
// returned once, in ascending order. If several processes carry out a run, each
// of them has blocks of SB_SEQUENCE_BLOCK numbers, so that no number is
// returned in two of them. Any thread.
#ifndef SB_SEQUENCE_FFI_H
#define SB_SEQUENCE_FFI_H

#include <stdbool.h>

#include "base/export.h"

struct sb_sequences; // the sequences of one script, by name
struct sb_sequence;  // valid as long as its struct sb_sequences

// Returns the sequence `name`; the first call creates it, starting with 1.
// After the call it returns only numbers greater than `after`. local: the
// sequence belongs to this process and is not divided among ranks; it differs
// from the divided sequence of the same name. NULL: out of memory.
SB_FFI struct sb_sequence *sb_sequence_get(
    struct sb_sequences *all, const char *name, double after, bool local);
// Skips all numbers up to this one.
SB_FFI void sb_sequence_raise(struct sb_sequence *q, double number);
// How many consecutive numbers can be taken at a time.
SB_FFI double sb_sequence_most(const struct sb_sequence *q);
// Takes n >= 1 consecutive numbers, at most sb_sequence_most(), and returns the
// first. Exact up to 2^53.
SB_FFI double sb_sequence_next(struct sb_sequence *q, double n);
// Like sb_sequence_next(), but takes no numbers and returns 0 if one of them
// would be greater than max.
SB_FFI double sb_sequence_next_below(
    struct sb_sequence *q, double n, double max);
// The greatest number returned or skipped so far; initially 0.
SB_FFI double sb_sequence_last(const struct sb_sequence *q);
// Declares that the work for a number is finished. Returns -1 if memory is
// missing.
SB_FFI int sb_sequence_finish(struct sb_sequence *q, double number);
// The greatest number up to which the work for all numbers is finished. Skipped
// numbers count as finished. So does a number n once number
// n + SB_SEQUENCE_WINDOW is finished.
SB_FFI double sb_sequence_finished(const struct sb_sequence *q);

#endif
