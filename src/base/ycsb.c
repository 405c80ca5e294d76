// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/ycsb.h"

#include <assert.h>
#include <math.h>

#include "kit/hash.h"

#define THETA SB_YCSB_THETA

// The number of items of the scrambled distribution.
#define SCRAMBLED_ITEMS (UINT64_C(10000000000) + 1)

// Terms of a sum that are added one by one.
#define HEAD 32

int64_t sb_ycsb_hash(uint64_t v)
{
    uint64_t hash = SB_HASH_START;

    for (int i = 0; i < 8; i++) {
        hash = sb_hash_byte(hash, (unsigned char)v);
        v >>= 8;
    }
    if (hash >> 63)
        hash = -hash;
    // -2^63 has no positive counterpart.
    return (int64_t)(hash & INT64_MAX);
}

// After HEAD terms, the formula of Euler and Maclaurin: the integral, half of
// the two ends, and two corrections. The next one would be less than 1e-11.
double sb_ycsb_zeta(uint64_t n)
{
    uint64_t last = n < HEAD ? n : HEAD;
    double sum = 0, a = HEAD, b = (double)n, pa, pb;

    for (uint64_t k = 1; k <= last; k++)
        sum += pow((double)k, -THETA);
    if (n <= HEAD)
        return sum;
    pa = pow(a, -THETA);
    pb = pow(b, -THETA);
    sum += (b * pb - a * pa) / (1 - THETA);
    sum += (pb - pa) / 2;
    sum += THETA / 12 * (pa / a - pb / b);
    return sum - THETA * (THETA + 1) * (THETA + 2) / 720 *
                     (pa / (a * a * a) - pb / (b * b * b));
}

static void prepare_zipf(struct sb_ycsb_zipf *z, uint64_t n)
{
    double zeta2 = 1 + pow(0.5, THETA);

    assert(n > 0);
    z->n = n;
    z->zeta = sb_ycsb_zeta(n);
    z->eta = (1 - pow(2 / (double)n, 1 - THETA)) / (1 - zeta2 / z->zeta);
}

uint64_t sb_ycsb_zipfian(
    struct sb_ycsb_zipf *cache, struct sb_rng *r, uint64_t n)
{
    double u = sb_rng_double(r), uz, v;

    if (cache->n != n)
        prepare_zipf(cache, n);
    uz = u * cache->zeta;
    if (n == 1 || uz < 1)
        return 0;
    if (n == 2 || uz < 1 + pow(0.5, THETA))
        return 1;
    v = (double)n * pow(cache->eta * u - cache->eta + 1, 1 / (1 - THETA));
    return v < (double)(n - 1) ? (uint64_t)v : n - 1;
}

uint64_t sb_ycsb_scrambled(
    struct sb_ycsb_zipf *cache, struct sb_rng *r, uint64_t n)
{
    uint64_t item = sb_ycsb_zipfian(cache, r, SCRAMBLED_ITEMS);

    return (uint64_t)sb_ycsb_hash(item) % n;
}
