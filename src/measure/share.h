// SPDX-License-Identifier: GPL-2.0-or-later
//
// The division of one run among several processes, its ranks. Every rank
// computes the whole division, so the parts fit together without any exchange
// between them. Pure; docs/internals/ranks.md.
#ifndef SB_SHARE_H
#define SB_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define SB_RANKS_MAX 100000

// The users of a run have the numbers 0 ... total - 1; each rank has a range of
// them.
struct sb_share {
    unsigned rank, ranks; // ranks <= 1: the whole run
    uint64_t first;       // number of the first user of this rank
    uint64_t users;       // of this rank
    uint64_t total;       // of all ranks
    uint64_t step;        // of sb_share_spread(); 0: the ranks take turns
};

// One process carries out the whole run.
void sb_share_whole(struct sb_share *s, uint64_t total);
// weight: of each rank, > 0; NULL: all are equal. SB_ERANGE if a rank would
// have no user.
int sb_share_init(struct sb_share *s, unsigned rank, unsigned ranks,
    const double *weight, uint64_t total, struct sb_err *err);

// Returns the part of n that belongs to this rank, in proportion to its users.
// The sum of the parts of all ranks is n.
uint64_t sb_share_of(const struct sb_share *s, uint64_t n);

// Returns the user that is number n if the users of all ranks take turns: a
// permutation of 0 ... total - 1. The first n numbers have users of all ranks
// in proportion to their users, to within two users, with weights a few. n may
// be larger: the order repeats.
uint64_t sb_share_spread(const struct sb_share *s, uint64_t n);

// The inverse for n < total: which number a user has if the users of all ranks
// take turns.
uint64_t sb_share_turn(const struct sb_share *s, uint64_t user);

// Whether the user with this number belongs to this rank.
static inline bool sb_share_owns(const struct sb_share *s, uint64_t user)
{
    return user - s->first < s->users;
}

#endif
