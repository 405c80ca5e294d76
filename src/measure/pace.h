// SPDX-License-Identifier: GPL-2.0-or-later
//
// The schedule of an open loop: the times of the arrivals. All users share one
// schedule; a free user takes the next arrival, so nothing is split among
// workers. Pure and lock-free: the state is one 64-bit word, and the next gap
// is a function of (seed, state). So the sequence does not depend on which
// user takes an arrival, and a reader can follow it with a copy of the state.
//
// The rate may change over time: then the state is a time on a second clock,
// which runs at the speed rate / maximum rate. On that clock the rate is
// constant; only the times of arrivals are converted.
//
// Several processes can divide a schedule: each follows all of it, and takes
// the arrivals that a function of their position assigns to it. So together
// they have the arrivals of one process, each of them once.
#ifndef SB_PACE_H
#define SB_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "measure/share.h"

enum sb_pace_kind { SB_PACE_POISSON, SB_PACE_CONSTANT };

#define SB_PACE_FRACTION_BITS 10 // of a nanosecond; 54 bits: 208 days

struct sb_pace_piece;

struct sb_pace {
    int kind;
    unsigned npieces;            // of a rate that changes; 0: it is constant
    struct sb_pace_piece *piece; // owned
    uint64_t seed;
    double gap;     // mean gap in units of 2^-10 ns, at least 1
    uint64_t step;  // the same as a fraction, step / 2^shift, for constant
    unsigned shift; // arrivals: number n is at n * step / 2^shift, rounded
    bool divided;   // only arrivals of `share` are taken and counted
    struct sb_share share;
};

// A position in the schedule: the time of the arrival last taken, in 2^-10 ns
// since the start. 0 is the start, which is not an arrival. If the rate
// changes, a time on the second clock.
typedef uint64_t sb_pace_pos;

// A part of a schedule, in which the rate changes linearly.
struct sb_pace_part {
    uint64_t ns;     // length
    double from, to; // arrivals per second at its start and at its end
    // Users that run then; they change linearly. Only for divided schedules.
    uint64_t users_from, users_to;
};

// rate: arrivals per second, > 0, fractions allowed.
void sb_pace_init(
    struct sb_pace *p, enum sb_pace_kind kind, double rate, uint64_t seed);

// The same with a rate that changes: n parts, n > 0, one after the other.
// Within a part of rate 0 there are no arrivals; one part has a rate above 0.
// After the last part its final rate continues. The number of arrivals between
// two moments has the mean that is the integral of the rate. With
// SB_PACE_CONSTANT, arrival k is where the integral reaches k. 0 or SB_ENOMEM.
int sb_pace_init_parts(struct sb_pace *p, enum sb_pace_kind kind,
    const struct sb_pace_part *part, unsigned n, uint64_t seed);
void sb_pace_done(struct sb_pace *p); // {0} allowed

// Returns the arrival after `pos`, or UINT64_MAX if that is beyond the end of
// the schedule (208 days). UINT64_MAX follows itself.
sb_pace_pos sb_pace_after(const struct sb_pace *p, sb_pace_pos pos);

// From now on, only this part of the arrivals is taken and counted: a random
// part of a Poisson process, which is one, too; of constant arrivals every n-th
// one, as nearly as the weights allow. In a schedule of parts, the ranks get
// arrivals in proportion to the users that they have at that time, in the order
// of sb_share_spread().
void sb_pace_divide(struct sb_pace *p, const struct sb_share *share);

// Takes the next arrival from the shared cursor and returns it in nanoseconds
// since the start. Any number of threads.
uint64_t sb_pace_take(const struct sb_pace *p, _Atomic sb_pace_pos *cursor);
// The same if the next arrival is before limit_ns: *ns is its time. Otherwise
// returns false and takes none.
bool sb_pace_take_before(const struct sb_pace *p, _Atomic sb_pace_pos *cursor,
    uint64_t limit_ns, uint64_t *ns);

static inline uint64_t sb_pace_ns(sb_pace_pos pos)
{
    return pos >> SB_PACE_FRACTION_BITS;
}

// Returns the time of the arrival at `pos` in nanoseconds since the start, also
// if the rate changes.
uint64_t sb_pace_time(const struct sb_pace *p, sb_pace_pos pos);

// Returns the number of arrivals of this process after *pos and at or before
// until_ns, and moves *pos to the last arrival before until_ns. Counts at most
// `limit`.
uint64_t sb_pace_walk(const struct sb_pace *p, sb_pace_pos *pos,
    uint64_t until_ns, uint64_t limit);

#endif
