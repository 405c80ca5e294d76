// SPDX-License-Identifier: GPL-2.0-or-later
//
// 64-bit random numbers: xoshiro256++ streams derived from keys by splitmix64.
// Pure: state is the caller's, nothing is shared.
#ifndef SB_RNG_H
#define SB_RNG_H

#include <assert.h>
#include <stdint.h>

struct sb_rng {
    uint64_t s[4];
};

#define SB_RNG_STEP 0x9e3779b97f4a7c15u // of splitmix64

// A bijective 64-bit mixer (the finalizer of splitmix64). Of x, x + SB_RNG_STEP
// and so on, it makes the sequence of splitmix64.
static inline uint64_t sb_rng_mix(uint64_t x)
{
    x += SB_RNG_STEP;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// Initializes stream number `stream` of `seed`. The same pair always gives the
// same numbers; different pairs give unrelated streams.
void sb_rng_init(struct sb_rng *r, uint64_t seed, uint64_t stream);
// Initializes a stream for a row: depends only on (seed, table, id). Fast.
void sb_rng_init_row(
    struct sb_rng *r, uint64_t seed, uint64_t table, uint64_t id);

static inline uint64_t sb_rng_next(struct sb_rng *r)
{
    uint64_t *s = r->s, x = s[0] + s[3], t = s[1] << 17;
    uint64_t result = ((x << 23) | (x >> 41)) + s[0];

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return result;
}

// Uniform in [0, 1), 53 bits.
static inline double sb_rng_double(struct sb_rng *r)
{
    return (double)(sb_rng_next(r) >> 11) * 0x1.0p-53;
}

// Uniform in [0, n), n > 0, without bias (Lemire's multiply-shift with
// rejection).
static inline uint64_t sb_rng_below(struct sb_rng *r, uint64_t n)
{
    unsigned __int128 m = (unsigned __int128)sb_rng_next(r) * n;

    assert(n > 0);
    if ((uint64_t)m < n) {
        uint64_t surplus = -n % n;

        while ((uint64_t)m < surplus)
            m = (unsigned __int128)sb_rng_next(r) * n;
    }
    return (uint64_t)(m >> 64);
}

#endif
