// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include "kit/rng.h"

#include "check.h"
#include "check_stat.h"

#define CELLS 256

// Published vectors of splitmix64 and xoshiro256++.
static void known_answers(void)
{
    struct sb_rng r = { { 1, 2, 3, 4 } };

    CHECK(sb_rng_mix(1234567) == UINT64_C(6457827717110365317));
    CHECK(sb_rng_mix(1234567 + UINT64_C(0x9e3779b97f4a7c15)) ==
          UINT64_C(3203168211198807973));
    CHECK(sb_rng_next(&r) == UINT64_C(41943041));
    CHECK(sb_rng_next(&r) == UINT64_C(58720359));
    CHECK(sb_rng_next(&r) == UINT64_C(3588806011781223));
    CHECK(sb_rng_next(&r) == UINT64_C(3591011842654386));
}

// A seed gives the same sequence in all versions, since result files refer to
// seeds.
static void stays_the_same(void)
{
    struct sb_rng a, b;

    sb_rng_init(&a, 42, 7);
    sb_rng_init(&b, 42, 7);
    for (int i = 0; i < 100; i++)
        CHECK(sb_rng_next(&a) == sb_rng_next(&b));
    sb_rng_init(&a, 42, 7);
    for (int i = 0; i < 9; i++)
        sb_rng_next(&a);
    CHECK(sb_rng_next(&a) == UINT64_C(14050104848671105030));
    sb_rng_init_row(&a, 42, 1, 7);
    for (int i = 0; i < 9; i++)
        sb_rng_next(&a);
    CHECK(sb_rng_next(&a) == UINT64_C(16709403009437941442));
}

static double fit_uniform(const uint64_t *seen, uint64_t n)
{
    double share[CELLS];

    for (int i = 0; i < CELLS; i++)
        share[i] = 1.0 / CELLS;
    return stat_chi2(seen, share, CELLS, (double)n);
}

static void zero_seed_is_good(void)
{
    uint64_t seen[CELLS] = { 0 };
    struct sb_rng r;

    sb_rng_init(&r, 0, 0);
    for (int i = 0; i < 100000; i++)
        seen[sb_rng_next(&r) >> 56]++;
    CHECK(fit_uniform(seen, 100000) < 1);
}

enum family { STREAMS, SEEDS, ROWS, TABLES, FAMILIES };

static void member(struct sb_rng *r, int family, uint64_t i)
{
    if (family == STREAMS)
        sb_rng_init(r, 1, i);
    else if (family == SEEDS)
        sb_rng_init(r, i, 0);
    else if (family == ROWS)
        sb_rng_init_row(r, 1, 1, i);
    else
        sb_rng_init_row(r, 1, i, 1);
}

// The first numbers of streams with neighboring keys agree in half of the bits,
// and are uniform and uncorrelated.
static void neighbors_are_unrelated(void)
{
    enum { N = 100000 };
    static double first[N];

    for (int f = 0; f < FAMILIES; f++) {
        uint64_t seen[CELLS] = { 0 }, last = 0;
        double bits = 0;

        for (uint64_t i = 0; i < N; i++) {
            struct sb_rng r;
            uint64_t x;

            member(&r, f, i);
            x = sb_rng_next(&r);
            seen[x & 255]++;
            bits += __builtin_popcountll(x ^ last);
            last = x;
            first[i] = (double)x;
        }
        CHECK(fit_uniform(seen, N) < 1);
        CHECK_NEAR(bits / N, 32, STAT_Z * 4 / sqrt(N));
        CHECK_NEAR(stat_autocorrelation(first, N, 1), 0, STAT_Z / sqrt(N));
    }
}

// Related words in an initial state would make a weak start.
static void words_of_a_state_are_unrelated(void)
{
    enum { N = 10000 };
    double bits[4][4] = { 0 };

    for (uint64_t i = 0; i < N; i++) {
        struct sb_rng r;

        sb_rng_init(&r, 0, i);
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++)
                bits[a][b] += __builtin_popcountll(r.s[a] ^ r.s[b]);
    }
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < a; b++)
            CHECK_NEAR(bits[a][b] / N, 32, STAT_Z * 4 / sqrt(N));
}

static void seed_and_stream_are_not_added(void)
{
    struct sb_rng a, b, c;

    sb_rng_init(&a, 1, 2);
    sb_rng_init(&b, 2, 1);
    sb_rng_init_row(&c, 1, 0, 2);
    CHECK(sb_rng_next(&a) != sb_rng_next(&b));
    sb_rng_init(&a, 1, 2);
    CHECK(sb_rng_next(&a) != sb_rng_next(&c));
    sb_rng_init_row(&a, 1, 2, 7);
    sb_rng_init_row(&c, 2, 1, 7);
    CHECK(sb_rng_next(&a) != sb_rng_next(&c));
}

static void double_is_below_one(void)
{
    struct sb_rng r;
    double sum = 0;

    sb_rng_init(&r, 3, 3);
    for (int i = 0; i < 100000; i++) {
        double u = sb_rng_double(&r);

        CHECK(u >= 0 && u < 1);
        sum += u;
    }
    CHECK_NEAR(sum / 1e5, 0.5, STAT_Z * sqrt(1 / 12.0 / 1e5));
}

static void below_stays_below(void)
{
    static const uint64_t limits[] = { 1, 2, 3, 7, 1000, UINT64_C(1) << 32,
        (UINT64_C(1) << 63) + 1, UINT64_MAX };
    struct sb_rng r;

    sb_rng_init(&r, 5, 0);
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        for (int k = 0; k < 1000; k++)
            CHECK(sb_rng_below(&r, limits[i]) < limits[i]);
}

// With a bound of 3 * 2^62, multiplication without rejection would return every
// third value twice as often.
static void below_has_no_bias(void)
{
    const double third[] = { 1 / 3.0, 1 / 3.0, 1 / 3.0 };
    const double biased[] = { 0.5, 0.25, 0.25 };
    uint64_t small[3] = { 0 }, large[3] = { 0 };
    struct sb_rng r;

    sb_rng_init(&r, 6, 0);
    for (int i = 0; i < 30000; i++) {
        small[sb_rng_below(&r, 3)]++;
        large[sb_rng_below(&r, UINT64_C(3) << 62) % 3]++;
    }
    CHECK(stat_chi2(small, third, 3, 30000) < 1);
    CHECK(stat_chi2(large, third, 3, 30000) < 1);
    CHECK(stat_chi2(large, biased, 3, 30000) > 1);
}

CHECK_FILE
{
    RUN(known_answers);
    RUN(stays_the_same);
    RUN(zero_seed_is_good);
    RUN(neighbors_are_unrelated);
    RUN(words_of_a_state_are_unrelated);
    RUN(seed_and_stream_are_not_added);
    RUN(double_is_below_one);
    RUN(below_stays_below);
    RUN(below_has_no_bias);
    return check_done();
}
