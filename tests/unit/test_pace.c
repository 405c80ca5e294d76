// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/pace.h"

#include <pthread.h>
#include <stdlib.h>

#include "check.h"
#include "check_stat.h"

#define N         200000
#define UNITS     (1e9 * (1 << SB_PACE_FRACTION_BITS))
#define SEEDS     3
#define SATURATED UINT64_MAX

// Stores the gaps of N arrivals in units of the mean gap. Returns the time of
// the last arrival in seconds.
static double gaps_take(double rate, uint64_t seed, double *gap)
{
    struct sb_pace p;
    sb_pace_pos pos = 0;

    sb_pace_init(&p, SB_PACE_POISSON, rate, seed);
    for (int i = 0; i < N; i++) {
        sb_pace_pos next = sb_pace_after(&p, pos);

        CHECK(next > pos);
        gap[i] = (double)(next - pos) / p.gap;
        pos = next;
    }
    return (double)pos / UNITS;
}

static double cdf_exponential(double x, double mean)
{
    return -expm1(-x / mean);
}

static void poisson_gaps_are_exponential(void)
{
    static double gap[N];

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        gaps_take(500, seed, gap);
        CHECK(stat_ks(gap, N, cdf_exponential, 1) < 1);
        CHECK(stat_ks(gap, N, cdf_exponential, 1.02) > 1);
    }
}

static void poisson_gaps_are_unrelated(void)
{
    static double gap[N];

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        gaps_take(1e5, seed, gap);
        for (size_t lag = 1; lag <= 4; lag++)
            CHECK_NEAR(stat_autocorrelation(gap, N, lag), 0, STAT_Z / sqrt(N));
    }
}

// A stronger test than correlation: pairs of neighboring gaps fill the unit
// square evenly.
static void poisson_neighbors_are_independent(void)
{
    enum { SIDE = 16 };
    static double gap[N];

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint64_t seen[SIDE * SIDE] = { 0 };
        double share[SIDE * SIDE];

        gaps_take(1e6, seed, gap);
        for (int i = 1; i < N; i++) {
            int a = (int)(exp(-gap[i - 1]) * SIDE * 0.999999);
            int b = (int)(exp(-gap[i]) * SIDE * 0.999999);

            seen[a * SIDE + b]++;
        }
        for (int i = 0; i < SIDE * SIDE; i++)
            share[i] = 1.0 / (SIDE * SIDE);
        CHECK(stat_chi2(seen, share, SIDE * SIDE, N - 1) < 1);
    }
}

// A gap is a function of the position alone, so gaps at neighboring positions
// must be unrelated.
static void neighboring_positions_are_unrelated(void)
{
    static double gap[N];
    struct sb_pace p;

    sb_pace_init(&p, SB_PACE_POISSON, 500, 7);
    for (sb_pace_pos pos = 0; pos < N; pos++)
        gap[pos] = (double)(sb_pace_after(&p, pos) - pos) / p.gap;
    CHECK_NEAR(stat_autocorrelation(gap, N, 1), 0, STAT_Z / sqrt(N));
    CHECK_NEAR(stat_autocorrelation(gap, N, 1024), 0, STAT_Z / sqrt(N));
    CHECK(stat_ks(gap, N, cdf_exponential, 1) < 1);
}

// Arrivals with the same number and different seeds must be unrelated.
static void seeds_are_unrelated(void)
{
    static double a[N], b[N];
    double cov = 0;

    gaps_take(500, 1, a);
    gaps_take(500, 2, b);
    for (int i = 0; i < N; i++)
        cov += (a[i] - 1) * (b[i] - 1);
    CHECK_NEAR(cov / N, 0, STAT_Z / sqrt(N));
}

static void poisson_rate_is_met(void)
{
    static const double rates[] = { 0.37, 500, 12345.6, 2e6 };
    static double gap[N];

    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            double took = gaps_take(rates[i], seed, gap);

            CHECK_NEAR(N / took / rates[i], 1, 3 / sqrt(N));
        }
}

// In a Poisson process the variance of the counts per slot equals their mean.
// The index of dispersion of n slots has the standard error sqrt(2 / n).
static void counts_vary_as_poisson(void)
{
    enum { SLOTS = 5000 };

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        double sum = 0, squares = 0, mean;
        struct sb_pace p;
        sb_pace_pos pos = 0;

        sb_pace_init(&p, SB_PACE_POISSON, 40000, seed);
        for (uint64_t s = 1; s <= SLOTS; s++) {
            double n = (double)sb_pace_walk(&p, &pos, s * 1000000, UINT64_MAX);

            sum += n;
            squares += n * n;
        }
        mean = sum / SLOTS;
        CHECK_NEAR(mean, 40, STAT_Z * sqrt(40.0 / SLOTS));
        CHECK_NEAR((squares / SLOTS - mean * mean) / mean, 1,
            STAT_Z * sqrt(2.0 / SLOTS));
    }
}

static sb_pace_pos place(long double gap, uint64_t n)
{
    return (sb_pace_pos)(gap * n + 0.5L);
}

// Arrival n of a constant schedule is at n / rate, exact to one unit.
static void constant_is_exact(void)
{
    static const double rates[] = { 0.25, 1, 3, 333.3, 1000, 1e6 / 7, 7e8 };

    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        long double gap = (long double)(UNITS / rates[i]);
        struct sb_pace p;
        sb_pace_pos pos = 0;

        sb_pace_init(&p, SB_PACE_CONSTANT, rates[i], 1);
        for (uint64_t n = 1; n <= 1000; n++) {
            pos = sb_pace_after(&p, pos);
            CHECK(pos == place(gap, n));
        }
        for (uint64_t n = 1; n * gap < 0x1p60L; n *= 10) {
            pos = place(gap, n);
            CHECK(sb_pace_after(&p, pos) == place(gap, n + 1));
        }
    }
}

static void constant_does_not_drift(void)
{
    struct sb_pace p;
    sb_pace_pos pos = 0;

    sb_pace_init(&p, SB_PACE_CONSTANT, 3e6, 1);
    CHECK_INT(sb_pace_walk(&p, &pos, UINT64_C(1000000000), SATURATED), 3000000);
    CHECK_INT(sb_pace_ns(pos), 1000000000);
    // After a position between two arrivals comes the later one.
    CHECK_INT(sb_pace_ns(sb_pace_after(&p, 1)), 333);
}

static void end_of_time(void)
{
    static const double rates[] = { 1e-9, 1000, 1e15 };

    for (int kind = SB_PACE_POISSON; kind <= SB_PACE_CONSTANT; kind++)
        for (size_t i = 0; i < 3; i++) {
            struct sb_pace p;
            sb_pace_pos pos = SATURATED - 1;

            sb_pace_init(&p, (enum sb_pace_kind)kind, rates[i], 1);
            CHECK(p.gap >= 1);
            CHECK(sb_pace_after(&p, 0) > 0);
            CHECK(sb_pace_after(&p, pos) == SATURATED);
            CHECK(sb_pace_after(&p, SATURATED) == SATURATED);
            CHECK_INT(sb_pace_walk(&p, &pos, SATURATED, 10), 0);
        }
}

static void walk_counts_taken_arrivals(void)
{
    struct sb_pace p;
    sb_pace_pos reader = 0;
    _Atomic sb_pace_pos cursor = 0;
    uint64_t last = 0;

    sb_pace_init(&p, SB_PACE_POISSON, 1000, 3);
    for (int i = 0; i < 1000; i++)
        last = sb_pace_take(&p, &cursor);
    CHECK_INT(sb_pace_walk(&p, &reader, last, UINT64_MAX), 1000);
    CHECK(reader == atomic_load(&cursor));
    CHECK_INT(sb_pace_walk(&p, &reader, last, UINT64_MAX), 0);
    reader = 0;
    CHECK_INT(sb_pace_walk(&p, &reader, last, 10), 10);
    CHECK_INT(sb_pace_walk(&p, &reader, last, 990), 990);
    CHECK(reader == atomic_load(&cursor));
}

#define TAKERS 4
#define TAKES  50000

struct taker {
    const struct sb_pace *p;
    _Atomic sb_pace_pos *cursor;
    uint64_t *at;
};

static void *take_many(void *arg)
{
    struct taker *t = arg;

    for (int i = 0; i < TAKES; i++)
        t->at[i] = sb_pace_take(t->p, t->cursor);
    return NULL;
}

static int compare_ns(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

// Four threads share one schedule: no arrival is taken twice, none is missed.
static void share_schedule(const struct sb_pace *p)
{
    static uint64_t at[TAKERS * TAKES];
    _Atomic sb_pace_pos cursor = 0;
    struct taker t[TAKERS];
    pthread_t id[TAKERS];
    sb_pace_pos pos = 0;

    for (int i = 0; i < TAKERS; i++) {
        t[i] = (struct taker){ p, &cursor, at + i * TAKES };
        CHECK_INT(pthread_create(&id[i], NULL, take_many, &t[i]), 0);
    }
    for (int i = 0; i < TAKERS; i++)
        pthread_join(id[i], NULL);
    qsort(at, TAKERS * TAKES, sizeof(at[0]), compare_ns);
    for (int i = 0; i < TAKERS * TAKES; i++) {
        pos = sb_pace_after(p, pos);
        CHECK(at[i] == sb_pace_time(p, pos));
    }
}

static void takers_share_one_schedule(void)
{
    static const struct sb_pace_part ramp[] = { { UINT64_C(10000000000), 0,
                                                    4000, 0, 0 },
        { UINT64_C(10000000000), 4000, 0, 0, 0 },
        { UINT64_C(10000000000), 100, 100, 0, 0 } };
    struct sb_pace p;

    sb_pace_init(&p, SB_PACE_POISSON, 1000, 3);
    share_schedule(&p);
    sb_pace_init_parts(&p, SB_PACE_POISSON, ramp, 3, 3);
    share_schedule(&p);
    sb_pace_done(&p);
}

// Rates that change ----------------------------------------------------------

#define S UINT64_C(1000000000)

static const struct sb_pace_part parts[] = { { S, 100, 100, 0, 0 },
    { 2 * S, 100, 500, 0, 0 }, { S, 0, 0, 0, 0 }, { S, 700, 300, 0, 0 },
    { 2 * S, 0, 200, 0, 0 } };
enum { PARTS = sizeof(parts) / sizeof(parts[0]), RUNS = 2000 };

// The integral of the rate from the start of the part.
static long double area(const struct sb_pace_part *a, long double s)
{
    long double d = (long double)a->ns / S;

    return a->from * s + (a->to - a->from) * s * s / (2 * d);
}

// In each part the counts of many schedules have the mean and the variance of
// a Poisson distribution.
static void parts_have_poisson_counts(void)
{
    double sum[PARTS] = { 0 }, squares[PARTS] = { 0 };

    for (uint64_t seed = 0; seed < RUNS; seed++) {
        struct sb_pace p;
        sb_pace_pos pos = 0;
        uint64_t end = 0;

        CHECK_INT(
            sb_pace_init_parts(&p, SB_PACE_POISSON, parts, PARTS, seed), 0);
        for (int i = 0; i < PARTS; i++) {
            end += parts[i].ns;
            double n = (double)sb_pace_walk(&p, &pos, end, UINT64_MAX);

            sum[i] += n;
            squares[i] += n * n;
        }
        sb_pace_done(&p);
    }
    for (int i = 0; i < PARTS; i++) {
        double want = (double)area(&parts[i], (long double)parts[i].ns / S);
        double mean = sum[i] / RUNS;

        CHECK_NEAR(mean, want, STAT_Z * sqrt(want / RUNS));
        if (want > 0)
            CHECK_NEAR((squares[i] / RUNS - mean * mean) / want, 1,
                STAT_Z * sqrt(2.0 / RUNS));
    }
}

static double cdf_uniform(double x, double length)
{
    return x / length;
}

// The share of the integral that an arrival has reached is uniform in each
// part, and arrivals lie within parts that have a rate.
static void parts_have_the_right_shape(void)
{
    static double share[PARTS][N];
    size_t n[PARTS] = { 0 };

    for (uint64_t seed = 0; seed < 100; seed++) {
        struct sb_pace p;
        sb_pace_pos pos = 0;
        uint64_t start = 0, ns = 0;
        int i = 0;

        sb_pace_init_parts(&p, SB_PACE_POISSON, parts, PARTS, seed);
        while (true) {
            uint64_t before = ns;

            pos = sb_pace_after(&p, pos);
            ns = sb_pace_time(&p, pos);
            CHECK(ns >= before);
            while (i < PARTS && ns >= start + parts[i].ns)
                start += parts[i++].ns;
            if (i == PARTS)
                break;
            long double length = (long double)parts[i].ns / S;
            share[i][n[i]++] = (double)(area(&parts[i],
                                            (long double)(ns - start) / S) /
                                        area(&parts[i], length));
        }
        sb_pace_done(&p);
    }
    CHECK_INT(n[2], 0);
    for (int i = 0; i < PARTS; i++)
        if (n[i] > 0)
            CHECK(stat_ks(share[i], n[i], cdf_uniform, 1) < 1);
    // A ramp is not flat: shares of the time are not uniform.
    for (size_t k = 0; k < n[4]; k++)
        share[4][k] = sqrt(share[4][k]);
    CHECK(stat_ks(share[4], n[4], cdf_uniform, 1) > 1);
}

// Constant arrival k is where the integral of the rate is k.
static void constant_parts_are_exact(void)
{
    struct sb_pace p;
    sb_pace_pos pos = 0;
    long double done = 0, start = 0;
    int i = 0;

    sb_pace_init_parts(&p, SB_PACE_CONSTANT, parts, PARTS, 1);
    for (uint64_t k = 1; i < PARTS; k++) {
        long double length = (long double)parts[i].ns / S;

        // The last arrival of a part may be at its end.
        if (k > done + area(&parts[i], length)) {
            done += area(&parts[i++], length);
            start += length;
            k--;
            continue;
        }
        pos = sb_pace_after(&p, pos);
        long double at = (long double)sb_pace_time(&p, pos) / S - start;
        // Within a nanosecond, where the rate is at most 700 per second.
        CHECK_NEAR((double)(area(&parts[i], at) - (k - done)), 0, 2 * 700e-9);
    }
    sb_pace_done(&p);
}

static void one_part_is_a_constant_rate(void)
{
    static const struct sb_pace_part part = { 5 * S, 777, 777, 0, 0 };

    for (int kind = SB_PACE_POISSON; kind <= SB_PACE_CONSTANT; kind++) {
        struct sb_pace p, q;
        sb_pace_pos pos = 0;

        sb_pace_init(&p, (enum sb_pace_kind)kind, 777, 5);
        sb_pace_init_parts(&q, (enum sb_pace_kind)kind, &part, 1, 5);
        // Also after the end of the part.
        for (int i = 0; i < 10000; i++) {
            CHECK(sb_pace_after(&p, pos) == sb_pace_after(&q, pos));
            pos = sb_pace_after(&p, pos);
            CHECK(sb_pace_time(&p, pos) == sb_pace_time(&q, pos));
        }
        sb_pace_done(&p);
        sb_pace_done(&q);
    }
}

static void parts_that_end_with_rate_0(void)
{
    static const struct sb_pace_part stop[] = { { 0, 5, 5, 0, 0 },
        { S, 0, 0, 0, 0 }, { S, 50, 50, 0, 0 }, { S, 100, 0, 0, 0 } };
    struct sb_pace p;
    sb_pace_pos pos = 0;
    uint64_t last = 0;

    sb_pace_init_parts(&p, SB_PACE_CONSTANT, stop, 4, 1);
    CHECK_INT(sb_pace_walk(&p, &pos, S, UINT64_MAX), 0);
    CHECK_INT(sb_pace_walk(&p, &pos, 2 * S, UINT64_MAX), 50);
    CHECK_INT(sb_pace_time(&p, pos), 2 * S);
    CHECK_INT(sb_pace_walk(&p, &pos, 3 * S, UINT64_MAX), 50);
    CHECK_INT(sb_pace_walk(&p, &pos, UINT64_MAX >> 11, UINT64_MAX), 0);
    last = sb_pace_time(&p, pos);
    CHECK(last > 29 * S / 10 && last <= 3 * S);
    CHECK(sb_pace_time(&p, sb_pace_after(&p, pos)) >= UINT64_MAX >>
          SB_PACE_FRACTION_BITS);
    sb_pace_done(&p);
}

// A day of slow rates after a fast one, and the end of time.
static void long_parts(void)
{
    static const struct sb_pace_part slow[] = { { S, 1e6, 1e6, 0, 0 },
        { 86400 * S, 1, 3, 0, 0 }, { S, 3, 0.001, 0, 0 } };
    struct sb_pace p;
    sb_pace_pos pos = 0;
    _Atomic sb_pace_pos cursor = SATURATED;

    sb_pace_init_parts(&p, SB_PACE_CONSTANT, slow, 3, 1);
    CHECK_INT(sb_pace_walk(&p, &pos, S, UINT64_MAX), 1000000);
    CHECK_INT(sb_pace_walk(&p, &pos, 86401 * S, UINT64_MAX), 2 * 86400);
    CHECK_NEAR((double)sb_pace_time(&p, pos), 86401e9, 1);
    pos = 0;
    CHECK_INT(sb_pace_walk(&p, &pos, 86401 * S, 10), 10);
    CHECK(sb_pace_time(&p, SATURATED) == sb_pace_ns(SATURATED));
    CHECK(sb_pace_take(&p, &cursor) == sb_pace_ns(SATURATED));
    CHECK(sb_pace_time(&p, SATURATED - 1) <= sb_pace_ns(SATURATED));
    sb_pace_done(&p);
}

static void take_before_takes_none_after(void)
{
    struct sb_pace p;
    _Atomic sb_pace_pos cursor = 0;
    sb_pace_pos pos = 0;
    uint64_t ns, n = 0, last = 0;

    sb_pace_init_parts(&p, SB_PACE_POISSON, parts, PARTS, 9);
    while (sb_pace_take_before(&p, &cursor, 2 * S, &ns)) {
        CHECK(ns < 2 * S);
        last = ns;
        n++;
    }
    CHECK_INT(sb_pace_walk(&p, &pos, last, UINT64_MAX), n);
    CHECK_INT(sb_pace_walk(&p, &pos, 2 * S - 1, UINT64_MAX), 0);
    CHECK(pos == atomic_load(&cursor));
    // The limit itself is not before it.
    ns = sb_pace_time(&p, sb_pace_after(&p, pos));
    CHECK(!sb_pace_take_before(&p, &cursor, ns, &ns));
    CHECK(sb_pace_take_before(&p, &cursor, ns + 1, &ns));
    sb_pace_done(&p);
}

CHECK_FILE
{
    RUN(poisson_gaps_are_exponential);
    RUN(poisson_gaps_are_unrelated);
    RUN(poisson_neighbors_are_independent);
    RUN(neighboring_positions_are_unrelated);
    RUN(seeds_are_unrelated);
    RUN(poisson_rate_is_met);
    RUN(counts_vary_as_poisson);
    RUN(constant_is_exact);
    RUN(constant_does_not_drift);
    RUN(end_of_time);
    RUN(walk_counts_taken_arrivals);
    RUN(takers_share_one_schedule);
    RUN(parts_have_poisson_counts);
    RUN(parts_have_the_right_shape);
    RUN(constant_parts_are_exact);
    RUN(one_part_is_a_constant_rate);
    RUN(parts_that_end_with_rate_0);
    RUN(long_parts);
    RUN(take_before_takes_none_after);
    return check_done();
}
