// SPDX-License-Identifier: GPL-2.0-or-later
//
// The distributions of keys of YCSB, the Yahoo! Cloud Serving Benchmark, and
// its hash. They use its formulas, so that the same share of the operations
// uses the most popular keys. Pure.
#ifndef SB_YCSB_H
#define SB_YCSB_H

#include <stdint.h>

#include "kit/rng.h"

// The exponent of its zipfian distributions.
#define SB_YCSB_THETA 0.99

// FNV-1a of the 8 bytes of v, the lowest first, as a non-negative number.
int64_t sb_ycsb_hash(uint64_t v);

// The constants of the last number of items, so that repeated draws from one
// number are cheap. {0} is empty; belongs to one thread.
struct sb_ycsb_zipf {
    uint64_t n; // 0: empty
    double zeta, eta;
};

// Returns the sum of k^-theta for k = 1 to n.
double sb_ycsb_zeta(uint64_t n);

// Returns a number from 0 to n - 1, n > 0, by the method of Gray et al. (1994):
// 0 is the most frequent. The frequencies of 0 and 1 are exactly zipfian, those
// of the others approximately.
uint64_t sb_ycsb_zipfian(
    struct sb_ycsb_zipf *cache, struct sb_rng *r, uint64_t n);

// Returns a number from 0 to n - 1, n > 0: the hash, modulo n, of a zipfian
// number below 10^10 + 1. So the popular numbers are spread over the range, and
// their popularity does not depend on n.
uint64_t sb_ycsb_scrambled(
    struct sb_ycsb_zipf *cache, struct sb_rng *r, uint64_t n);

#endif
