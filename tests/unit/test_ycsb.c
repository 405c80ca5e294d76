// SPDX-License-Identifier: GPL-2.0-or-later
//
// The expected hashes are those of the keys user6284781860667377211 and so on,
// which YCSB inserts first. The distributions are compared with their formulas
// by chi-square, and with slightly different ones, which must not fit.
#include "base/dist.h"

#include "check.h"
#include "check_stat.h"

#define RANGE   1000
#define DRAWS   1000000
#define ITEMS   1e10
#define POPULAR 1000000 // items whose cells are computed one by one

static void hashes(void)
{
    CHECK_INT(sb_ycsb_hash(0), INT64_C(6284781860667377211));
    CHECK_INT(sb_ycsb_hash(1), INT64_C(8517097267634966620));
    CHECK_INT(sb_ycsb_hash(2), INT64_C(1820151046732198393));
    for (uint64_t v = 1; v < 1000; v++)
        CHECK(sb_ycsb_hash(UINT64_MAX / v) >= 0);
}

static double plain_zeta(uint64_t n)
{
    double sum = 0;

    for (uint64_t k = n; k > 0; k--)
        sum += pow((double)k, -SB_YCSB_THETA);
    return sum;
}

static void zeta(void)
{
    static const uint64_t n[] = { 1, 2, 31, 32, 33, 34, 100, 5000, 1000000 };

    for (size_t i = 0; i < sizeof(n) / sizeof(n[0]); i++)
        CHECK_NEAR(sb_ycsb_zeta(n[i]), plain_zeta(n[i]), 1e-9);
    // The constant that YCSB contains for 10^10 items.
    CHECK_NEAR(sb_ycsb_zeta(10000000000), 26.46902820178302, 1e-6);
}

// Returns the probability that a zipfian number below n is at most k.
static double cdf(double k, double n, double theta)
{
    double zeta_n = plain_zeta((uint64_t)n), two = 1 + pow(0.5, theta);
    double eta = (1 - pow(2 / n, 1 - theta)) / (1 - two / zeta_n);

    if (k < 1)
        return 1 / zeta_n;
    if (k < 2)
        return two / zeta_n;
    return fmax((pow((k + 1) / n, 1 - theta) - 1 + eta) / eta, two / zeta_n);
}

static double fit_zipfian(const uint64_t *seen, double theta)
{
    static double share[RANGE];
    double last = 0;

    for (int k = 0; k < RANGE; k++) {
        double p = cdf(k, RANGE, theta);

        share[k] = p - last;
        last = p;
    }
    return stat_chi2(seen, share, RANGE, DRAWS);
}

static void zipfian(void)
{
    for (uint64_t seed = 0; seed < 3; seed++) {
        static uint64_t seen[RANGE];
        struct sb_ycsb_zipf cache = { 0 };
        struct sb_rng r;

        memset(seen, 0, sizeof(seen));
        sb_rng_init(&r, seed, 0);
        for (int i = 0; i < DRAWS; i++) {
            uint64_t v = sb_ycsb_zipfian(&cache, &r, RANGE);

            CHECK(v < RANGE);
            seen[v < RANGE ? v : 0]++;
        }
        CHECK(fit_zipfian(seen, SB_YCSB_THETA) < 1);
        CHECK(fit_zipfian(seen, SB_YCSB_THETA - 0.02) > 1);
    }
}

// Returns the share of the items up to k among `items`, for k > 1.
static double scrambled_cdf(double k, double items, double theta)
{
    // The sum for 10^10 items by its integral and the constant of YCSB.
    double zeta_n = 26.46902820178302 +
                    (pow(items, 1 - theta) - pow(ITEMS, 1 - theta)) /
                        (1 - theta);
    double two = 1 + pow(0.5, theta);
    double eta = (1 - pow(2 / items, 1 - theta)) / (1 - two / zeta_n);

    if (k < 1)
        return 1 / zeta_n;
    if (k < 2)
        return two / zeta_n;
    return fmax(
        (pow((k + 1) / items, 1 - theta) - 1 + eta) / eta, two / zeta_n);
}

// The popular items are in the cells of their hashes, the others are spread.
static double fit_scrambled(const uint64_t *seen, double items)
{
    static double share[RANGE];
    double last = 0;

    memset(share, 0, sizeof(share));
    for (uint64_t k = 0; k < POPULAR; k++) {
        double p = scrambled_cdf((double)k, items, SB_YCSB_THETA);

        share[(uint64_t)sb_ycsb_hash(k) % RANGE] += p - last;
        last = p;
    }
    for (int i = 0; i < RANGE; i++)
        share[i] += (1 - last) / RANGE;
    return stat_chi2(seen, share, RANGE, DRAWS);
}

static void scrambled(void)
{
    static uint64_t seen[RANGE];
    struct sb_ycsb_zipf cache = { 0 };
    struct sb_rng r;
    int top = 0;

    sb_rng_init(&r, 5, 0);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t v = sb_ycsb_scrambled(&cache, &r, RANGE);

        CHECK(v < RANGE);
        seen[v < RANGE ? v : 0]++;
    }
    CHECK(fit_scrambled(seen, ITEMS + 1) < 1);
    CHECK(fit_scrambled(seen, ITEMS / 2) > 1);
    for (int i = 0; i < RANGE; i++)
        if (seen[i] > seen[top])
            top = i;
    CHECK_INT(top, INT64_C(6284781860667377211) % RANGE);
}

// Draws from a growing range, as with inserts, equal those with a new cache.
static void caches(void)
{
    struct sb_ycsb_zipf cache = { 0 };
    struct sb_rng a, b;

    sb_rng_init(&a, 1, 0);
    sb_rng_init(&b, 1, 0);
    for (uint64_t n = 1; n < 3000; n++) {
        struct sb_ycsb_zipf fresh = { 0 };
        uint64_t v = sb_ycsb_zipfian(&cache, &a, n);

        CHECK_INT(v, sb_ycsb_zipfian(&fresh, &b, n));
        CHECK(v < n);
    }
}

static void small_and_large(void)
{
    static const uint64_t n[] = { 1, 2, 3, 40, UINT64_C(1) << 40, INT64_MAX };
    struct sb_ycsb_zipf cache = { 0 }, other = { 0 };
    struct sb_rng r;
    uint64_t two = 0;

    sb_rng_init(&r, 2, 0);
    for (size_t i = 0; i < sizeof(n) / sizeof(n[0]); i++)
        for (int k = 0; k < 1000; k++) {
            CHECK(sb_ycsb_zipfian(&cache, &r, n[i]) < n[i]);
            CHECK(sb_ycsb_scrambled(&other, &r, n[i]) < n[i]);
        }
    for (int k = 0; k < 1000; k++)
        two += sb_ycsb_zipfian(&cache, &r, 2);
    CHECK(two > 250 && two < 420); // 1/2^0.99 of the draws of 0
}

CHECK_FILE
{
    RUN(hashes);
    RUN(zeta);
    RUN(zipfian);
    RUN(scrambled);
    RUN(caches);
    RUN(small_and_large);
    return check_done();
}
