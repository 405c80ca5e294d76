// SPDX-License-Identifier: GPL-2.0-or-later
//
// Random numbers of a user: its stream, the distribution options of the run,
// and constants cached between calls.
#ifndef SB_RANDOM_H
#define SB_RANDOM_H

#include <stdatomic.h>

#include "base/dist.h"
#include "base/draws.h"
#include "base/random.ffi.h"

#define SB_RANDOM_RANGES 64 // that have counters of their own

// The counter of one range of sb_random_unique_in().
struct sb_random_range {
    _Atomic uint64_t key; // of the range, 0 in a free entry
    _Atomic uint64_t calls;
};

// Shared by all users of a run; read-only except for the counters.
struct sb_random_shared {
    struct sb_dist dist;
    uint64_t seed;            // of the run, never 0
    _Atomic uint32_t uniques; // calls of sb_random_unique() so far
    struct sb_random_range range[SB_RANDOM_RANGES];
    // The struct whose counters are used: in a mix, that of the run; NULL: this
    // one.
    struct sb_random_shared *counter;
    // A sample of the draws of all users who are created from now on; that of
    // `counter` is used. NULL: none.
    struct sb_draws *draws;
    // Of this process: unique numbers differ between ranks.
    uint32_t rank, ranks;
};

struct sb_random {
    struct sb_rng rng; // the stream in use
    struct sb_rng own; // the user's stream, saved while a row's is in use
    struct sb_zipf zipf;
    struct sb_ycsb_zipf latest, scrambled;
    struct sb_random_shared *shared;
    bool in_row;
    // The draw that makes it 0 is offered for the sample, `gap` draws after the
    // last one; 0: none is.
    uint64_t left, gap;
};

// If the seed in the options is 0, a seed from 1 to 2^31 - 1 is derived from
// now_ns; --rand-seed with that number repeats the run. SB_ERANGE as in
// sb_dist_prepare().
int sb_random_share(struct sb_random_shared *s, const struct sb_dist_opts *o,
    uint64_t now_ns, struct sb_err *err);
// Initializes the stream of user number `user`, among the users of all ranks.
void sb_random_init(
    struct sb_random *r, struct sb_random_shared *s, uint64_t user);
// Returns a seed for another generator, an integer below 2^53: another one for
// each stream. Does not advance the stream.
double sb_random_seed_of(const struct sb_random *r);

#endif
