// SPDX-License-Identifier: GPL-2.0-or-later
//
// The schedule of an open loop: the times of the arrivals. All users share one
// schedule; a free user takes the next arrival, so nothing is split among
// workers. Pure and lock-free: the state is one 64-bit word, and the next gap
// is a function of (seed, state). So the sequence does not depend on which
// user takes an arrival, and a reader can follow it with a copy of the state.
#ifndef SB_PACE_H
#define SB_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum sb_pace_kind { SB_PACE_POISSON, SB_PACE_CONSTANT };

#define SB_PACE_FRACTION_BITS 10 // of a nanosecond; 54 bits: 208 days

struct sb_pace {
    int kind;
    uint64_t seed;
    double gap;     // mean gap in units of 2^-10 ns, at least 1
    uint64_t step;  // the same as a fraction, step / 2^shift, for constant
    unsigned shift; // arrivals: number n is at n * step / 2^shift, rounded
};

// A position in the schedule: the time of the arrival last taken, in 2^-10 ns
// since the start. 0 is the start, which is not an arrival.
typedef uint64_t sb_pace_pos;

// rate: arrivals per second, > 0, fractions allowed.
void sb_pace_init(
    struct sb_pace *p, enum sb_pace_kind kind, double rate, uint64_t seed);

// Returns the arrival after `pos`, or UINT64_MAX if that is beyond the end of
// the schedule (208 days). UINT64_MAX follows itself.
sb_pace_pos sb_pace_after(const struct sb_pace *p, sb_pace_pos pos);

// Takes the next arrival from the shared cursor and returns it in nanoseconds
// since the start. Any number of threads.
uint64_t sb_pace_take(const struct sb_pace *p, _Atomic sb_pace_pos *cursor);

static inline uint64_t sb_pace_ns(sb_pace_pos pos)
{
    return pos >> SB_PACE_FRACTION_BITS;
}

// Returns the number of arrivals after *pos and at or before until_ns, and
// moves *pos to the last of them. Counts at most `limit`.
uint64_t sb_pace_walk(const struct sb_pace *p, sb_pace_pos *pos,
    uint64_t until_ns, uint64_t limit);

#endif
