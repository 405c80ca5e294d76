// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include "base/dist.h"

#include <stdbool.h>

#include "check.h"
#include "check_stat.h"

static struct sb_scatter with(uint64_t key)
{
    struct sb_scatter s;

    sb_scatter_init(&s, key);
    return s;
}

// Whether the values of [a, a + n - 1] are permuted.
static bool is_bijection(const struct sb_scatter *s, int64_t a, uint64_t n)
{
    int64_t b = (int64_t)((uint64_t)a + n - 1);
    bool *seen = calloc(n, sizeof(*seen)), good = seen != NULL;

    for (uint64_t i = 0; good && i < n; i++) {
        int64_t v = sb_scatter(s, (int64_t)((uint64_t)a + i), a, b);

        good = v >= a && v <= b && !seen[v - a];
        if (good)
            seen[v - a] = true;
    }
    free(seen);
    return good;
}

static void every_value_occurs_once(void)
{
    static const int64_t starts[] = { 0, 1, -7, 1000000007, INT64_MIN,
        INT64_MAX - 5000 };

    for (uint64_t key = 0; key < 4; key++) {
        struct sb_scatter s = with(key);

        for (uint64_t n = 1; n <= 600; n++)
            CHECK(is_bijection(&s, starts[n % 6], n));
        for (uint64_t n = 1024; n <= 1 << 20; n *= 4) {
            CHECK(is_bijection(&s, 1, n - 1));
            CHECK(is_bijection(&s, 1, n));
            CHECK(is_bijection(&s, 1, n + 1));
        }
    }
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

// In ranges too large to try all values, no value occurs twice.
static void large_ranges(void)
{
    enum { N = 200000 };
    static const int64_t ranges[][2] = { { INT64_MIN, INT64_MAX },
        { INT64_MIN, INT64_MAX - 1 }, { 0, INT64_MAX }, { -1, INT64_MAX },
        { 1, INT64_C(1) << 53 }, { -(INT64_C(1) << 40), 12345 },
        { 1, (INT64_C(1) << 32) + 1 } };
    static int64_t v[N];

    for (size_t r = 0; r < sizeof(ranges) / sizeof(ranges[0]); r++) {
        int64_t a = ranges[r][0], b = ranges[r][1];
        struct sb_scatter s = with(r);
        bool inside = true, twice = false;

        for (int64_t i = 0; i < N; i++) {
            v[i] = sb_scatter(&s, a + i, a, b);
            inside = inside && v[i] >= a && v[i] <= b;
        }
        qsort(v, N, sizeof(v[0]), compare);
        for (int64_t i = 1; i < N; i++)
            twice = twice || v[i] == v[i - 1];
        CHECK(inside);
        CHECK(!twice);
    }
}

static void edges(void)
{
    struct sb_scatter s = with(1);

    CHECK_INT(sb_scatter(&s, 5, 5, 5), 5);
    CHECK_INT(sb_scatter(&s, 0, 1, 100), 0);
    CHECK_INT(sb_scatter(&s, 101, 1, 100), 101);
    CHECK_INT(sb_scatter(&s, INT64_MIN, 1, 100), INT64_MIN);
    for (int64_t v = 1; v <= 100; v++)
        CHECK_INT(sb_scatter(&s, v, 100, 1), sb_scatter(&s, v, 1, 100));
}

// The values are the same as in earlier versions.
static void recorded_values(void)
{
    struct sb_scatter zero = with(0), other = with(42);

    CHECK_INT(sb_scatter(&zero, 1, 1, 10000), 8535);
    CHECK_INT(sb_scatter(&zero, 2, 1, 10000), 1144);
    CHECK_INT(sb_scatter(&other, 1, 1, 10000), 1798);
    CHECK_INT(sb_scatter(&zero, 1, 1, 1000000000000), 37930728900);
    CHECK_INT(sb_scatter(&zero, 0, INT64_MIN, INT64_MAX), 6008509495574469841);
}

// The hottest 1 % of the keys of a table are distributed evenly over it.
static void hot_values_are_spread(void)
{
    enum { N = 2000003, HOT = 20000, CELLS = 200 };
    double share[CELLS];

    for (int i = 0; i < CELLS; i++)
        share[i] = 1.0 / CELLS;
    for (uint64_t key = 0; key < 20; key++) {
        uint64_t seen[CELLS] = { 0 }, gaps[CELLS] = { 0 };
        struct sb_scatter s = with(key);
        int64_t last = 0;

        for (int64_t i = 0; i <= HOT; i++) {
            int64_t v = sb_scatter(&s, i, 0, N - 1);

            if (i > 0) {
                seen[v * CELLS / N]++;
                gaps[(v - last + N) % N * CELLS / N]++;
            }
            last = v;
        }
        CHECK(stat_chi2(seen, share, CELLS, HOT) < 1);
        // The distances between successive values are uniform, too.
        CHECK(stat_chi2(gaps, share, CELLS, HOT) < 1);
    }
}

// With random keys, every place is equally likely for a value, in small ranges
// too.
static void keys_give_different_permutations(void)
{
    enum { KEYS = 20000 };

    for (uint64_t n = 2; n <= 100; n = n * 3 / 2 + 1) {
        uint64_t first[100] = { 0 }, pairs[10000] = { 0 };
        double share[100], pair_share[10000];

        for (uint64_t i = 0; i < n * n; i++) {
            share[i / n] = 1.0 / (double)n;
            pair_share[i] = i / n == i % n ? 0 : 1.0 / (double)(n * (n - 1));
        }
        for (uint64_t key = 0; key < KEYS; key++) {
            struct sb_scatter s = with(key);
            uint64_t x = (uint64_t)sb_scatter(&s, 0, 0, (int64_t)n - 1);
            uint64_t y = (uint64_t)sb_scatter(&s, 1, 0, (int64_t)n - 1);

            first[x]++;
            pairs[x * n + y]++;
        }
        CHECK(stat_chi2(first, share, n, KEYS) < 1);
        if (n > 2)
            CHECK(stat_chi2(pairs, pair_share, n * n, KEYS) < 1);
    }
}

CHECK_FILE
{
    RUN(every_value_occurs_once);
    RUN(large_ranges);
    RUN(edges);
    RUN(recorded_values);
    RUN(hot_values_are_spread);
    RUN(keys_give_different_permutations);
    return check_done();
}
