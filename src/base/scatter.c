// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/scatter.h"

#include "kit/rng.h"

// No other stream uses this number, so a key may equal the seed of the run.
#define STREAM (UINT64_C(1) << 63)

// With fewer bits, there are too few permutations to choose from.
#define MIN_BITS 8

void sb_scatter_init(struct sb_scatter *s, uint64_t key)
{
    struct sb_rng r;

    sb_rng_init(&r, key, STREAM);
    for (int i = 0; i < SB_SCATTER_ROUNDS; i++) {
        s->add[i] = sb_rng_next(&r);
        s->factor[i] = sb_rng_next(&r) | 1;
    }
}

// A bijection of the integers of `bits` bits: each step is reversible.
// Multiplication only affects higher bits; the shift mixes the upper half into
// the lower.
static uint64_t permute(const struct sb_scatter *s, uint64_t x, unsigned bits)
{
    uint64_t mask = UINT64_MAX >> (64 - bits);
    unsigned half = (bits + 1) / 2;

    for (int i = 0; i < SB_SCATTER_ROUNDS; i++) {
        x = ((x + s->add[i]) * s->factor[i]) & mask;
        x ^= x >> half;
    }
    return x;
}

int64_t sb_scatter(const struct sb_scatter *s, int64_t v, int64_t a, int64_t b)
{
    int64_t low = a < b ? a : b, high = a < b ? b : a;
    uint64_t span = (uint64_t)high - (uint64_t)low;
    uint64_t x = (uint64_t)v - (uint64_t)low;
    unsigned bits;

    if (span == 0 || v < low || v > high)
        return v;
    bits = 64 - (unsigned)__builtin_clzll(span);
    if (bits < MIN_BITS)
        bits = MIN_BITS;
    // If the result is out of range, permute it again. The cycle of x leads
    // back to x, which is in the range, so the loop ends, and different values
    // give different results. Except for short ranges, at least half of the
    // integers of `bits` bits are in the range.
    do
        x = permute(s, x, bits);
    while (x > span);
    return (int64_t)((uint64_t)low + x);
}
