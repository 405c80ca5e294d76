// SPDX-License-Identifier: GPL-2.0-or-later
#include "kit/rng.h"

// The first two words determine a and b, so different pairs never share a
// state; the mixer removes the arithmetic relation between the words. The bit
// set in the last word keeps the state from being all zero.
static void fill_state(struct sb_rng *r, uint64_t a, uint64_t b)
{
    r->s[0] = sb_rng_mix(a + b);
    r->s[1] = sb_rng_mix(a + 2 * b);
    r->s[2] = sb_rng_mix(a + 3 * b);
    r->s[3] = sb_rng_mix(a + 4 * b) | 1;
}

void sb_rng_init(struct sb_rng *r, uint64_t seed, uint64_t stream)
{
    fill_state(r, sb_rng_mix(seed), sb_rng_mix(~stream));
}

void sb_rng_init_row(
    struct sb_rng *r, uint64_t seed, uint64_t table, uint64_t id)
{
    // The seed is mixed twice, so that no row shares the stream of a user. The
    // table is not mixed: (seed 1, table 2) would equal (seed 2, table 1).
    fill_state(r, sb_rng_mix(sb_rng_mix(seed) ^ table), sb_rng_mix(id));
}
