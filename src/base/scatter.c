// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/scatter.h"

#include "base/rng.h"

// No other stream has this number, so that keys may be seeds, too.
#define STREAM (UINT64_C(1) << 63)

// With fewer bits a key has too few permutations to choose from.
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

// A bijection of the numbers of so many bits: each step can be undone. Products
// carry upwards only; the shift brings the upper half down.
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
    // The cycle of x leads back to x, which is in the range. So it comes to a
    // value in the range, and different values come to different ones. Half of
    // the numbers of so many bits are in the range, but for short ranges.
    do
        x = permute(s, x, bits);
    while (x > span);
    return (int64_t)((uint64_t)low + x);
}
