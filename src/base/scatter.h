// SPDX-License-Identifier: GPL-2.0-or-later
//
// Permutations of ranges: where the hot values of a skewed distribution, which
// are neighbours, go in the range. Pure.
#ifndef SB_SCATTER_H
#define SB_SCATTER_H

#include <stdint.h>

#define SB_SCATTER_ROUNDS 4

// Read-only once it is initialized; any thread.
struct sb_scatter {
    uint64_t add[SB_SCATTER_ROUNDS];
    uint64_t factor[SB_SCATTER_ROUNDS]; // odd
};

// Any key is as good as any other, 0 included.
void sb_scatter_init(struct sb_scatter *s, uint64_t key);

// The value that takes the place of v. For a key and a range this is a
// bijection of [a, b]; a > b is taken as [b, a]. A v outside the range stays
// as it is. The full int64 range is allowed.
int64_t sb_scatter(const struct sb_scatter *s, int64_t v, int64_t a, int64_t b);

#endif
