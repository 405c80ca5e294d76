// SPDX-License-Identifier: GPL-2.0-or-later
//
// Permutations of ranges: spread the hot values of a skewed distribution,
// which are adjacent, over the range. Pure.
#ifndef SB_SCATTER_H
#define SB_SCATTER_H

#include <stdint.h>

#define SB_SCATTER_ROUNDS 4

// Read-only after initialization; any thread may use it.
struct sb_scatter {
    uint64_t add[SB_SCATTER_ROUNDS];
    uint64_t factor[SB_SCATTER_ROUNDS]; // odd
};

// Any key is valid, including 0.
void sb_scatter_init(struct sb_scatter *s, uint64_t key);

// Returns the value that replaces v. For one key and range this is a bijection
// of [a, b]; if a > b, the range is [b, a]. Returns v if it is outside of the
// range. The full int64_t range is allowed.
int64_t sb_scatter(const struct sb_scatter *s, int64_t v, int64_t a, int64_t b);

#endif
