// SPDX-License-Identifier: GPL-2.0-or-later
//
// Distributions over inclusive ranges [a, b] of 64-bit signed integers, named
// as in sysbench; permutations of ranges; the distributions of YCSB. Pure.
#ifndef SB_DIST_H
#define SB_DIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/option.h"
#include "kit/rng.h"

// Permutations of ranges: spread the hot values of a skewed distribution,
// which are adjacent, over the range.

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

enum sb_dist_type {
    SB_DIST_UNIFORM,
    SB_DIST_GAUSSIAN,
    SB_DIST_SPECIAL,
    SB_DIST_PARETO,
    SB_DIST_ZIPFIAN,
    SB_DIST_TYPES // their number
};

// Filled from the --rand-* options. sb_dist_prepare() derives constants from
// it.
struct sb_dist_opts {
    int type;           // enum sb_dist_type, --rand-type
    int64_t seed;       // --rand-seed, 0: from the time
    int64_t spec_iter;  // --rand-spec-iter
    int64_t spec_pct;   // --rand-spec-pct
    int64_t spec_res;   // --rand-spec-res
    double pareto_h;    // --rand-pareto-h
    double zipfian_exp; // --rand-zipfian-exp
    bool scatter;       // --rand-scatter
};

extern const struct sb_opt_table sb_dist_opt_table;

struct sb_dist {
    struct sb_dist_opts o;
    double pareto_power;       // ln h / ln (1 - h)
    double special_share;      // share of special values among all
    double spec_width;         // rand-spec-pct as a fraction of the range
    struct sb_scatter scatter; // of key 0
};

// Derives the constants. Returns SB_ERANGE if a parameter is out of range.
int sb_dist_prepare(
    struct sb_dist *d, const struct sb_dist_opts *o, struct sb_err *err);

// Each returns one value in [a, b] of its distribution; if a > b, the range is
// [b, a]. The full int64_t range is allowed.
int64_t sb_dist_uniform(struct sb_rng *r, int64_t a, int64_t b);
int64_t sb_dist_gaussian(
    const struct sb_dist *d, struct sb_rng *r, int64_t a, int64_t b);
int64_t sb_dist_special(
    const struct sb_dist *d, struct sb_rng *r, int64_t a, int64_t b);
int64_t sb_dist_pareto(
    const struct sb_dist *d, struct sb_rng *r, int64_t a, int64_t b);
// Rejection-inversion after Hormann and Derflinger (1996). The caller's cache
// keeps the constants of the last range, so repeated use of one range is
// cheap. {0} is an empty cache; a cache belongs to one thread.
struct sb_zipf {
    uint64_t span; // b - a; 0: empty
    double exponent, h_x1, h_n, s;
};
int64_t sb_dist_zipfian(const struct sb_dist *d, struct sb_zipf *cache,
    struct sb_rng *r, int64_t a, int64_t b);
// The distribution selected by --rand-type. With --rand-scatter, the values of
// all distributions except uniform are permuted by d->scatter, which is the
// same in all runs.
int64_t sb_dist_default(const struct sb_dist *d, struct sb_zipf *cache,
    struct sb_rng *r, int64_t a, int64_t b);

// Fills out with exactly len bytes, without a terminator: '#' in fmt becomes a
// digit, '@' a letter a-z, any other character is copied.
void sb_dist_string(struct sb_rng *r, const char *fmt, size_t len, char *out);
// Fills out with len random characters '0' to 'z'; len is uniform in [min,
// max] (max if min > max). Returns len. out holds max bytes and gets no
// terminator.
size_t sb_dist_varstring(struct sb_rng *r, size_t min, size_t max, char *out);
// Fills out with len random digits and letters A-Z and a-z, without a
// terminator.
void sb_dist_alphanumeric(struct sb_rng *r, size_t len, char *out);

// The distributions of keys of YCSB, the Yahoo! Cloud Serving Benchmark, and
// its hash. They use its formulas, so that the same share of the operations
// uses the most popular keys.

// The exponent of its zipfian distributions.
#define SB_YCSB_THETA 0.99
// The number of items of the scrambled one.
#define SB_YCSB_ITEMS (UINT64_C(10000000000) + 1)

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
// number below SB_YCSB_ITEMS. So the popular numbers are spread over the range,
// and their popularity does not depend on n.
uint64_t sb_ycsb_scrambled(
    struct sb_ycsb_zipf *cache, struct sb_rng *r, uint64_t n);

#endif
