// SPDX-License-Identifier: GPL-2.0-or-later
//
// The schedule of an open loop: when each arrival is due. One schedule for
// all users; whoever is free takes the next arrival, so nothing is split
// among workers. Pure and lock-free: the whole state is one 64-bit word, the
// next gap is a function of (seed, state), so the sequence of arrivals is the
// same whoever takes them, and a reader can walk it with a copy of its own.
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
    unsigned shift; // arrivals: place n is n * step / 2^shift, rounded
};

// A place in the schedule: the time of the arrival last taken, in 2^-10 ns
// since the start. 0 is the start, which is no arrival itself.
typedef uint64_t sb_pace_pos;

// rate: arrivals a second, > 0, fractions allowed.
void sb_pace_init(
    struct sb_pace *p, enum sb_pace_kind kind, double rate, uint64_t seed);

// The arrival that follows `pos`; UINT64_MAX, which follows itself, when that
// is past the end of the schedule (208 days).
sb_pace_pos sb_pace_after(const struct sb_pace *p, sb_pace_pos pos);

// Takes the next arrival from the shared cursor; nanoseconds since the start.
// Any number of threads.
uint64_t sb_pace_take(const struct sb_pace *p, _Atomic sb_pace_pos *cursor);

static inline uint64_t sb_pace_ns(sb_pace_pos pos)
{
    return pos >> SB_PACE_FRACTION_BITS;
}

// Number of arrivals after *pos and at or before until_ns; *pos moves on to
// the last of them. At most `limit` are walked.
uint64_t sb_pace_walk(const struct sb_pace *p, sb_pace_pos *pos,
    uint64_t until_ns, uint64_t limit);

#endif
