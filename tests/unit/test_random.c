// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include "base/random.h"

#include "check.h"

static const struct sb_dist_opts opts = { .seed = 42,
    .spec_iter = 12,
    .spec_pct = 1,
    .spec_res = 75,
    .pareto_h = 0.2,
    .zipfian_exp = 0.8 };

static void streams_follow_seed_and_user(void)
{
    struct sb_random_shared s, s2;
    struct sb_random a, b, c;

    CHECK_INT(sb_random_share(&s, &opts, 1, NULL), 0);
    CHECK_INT(sb_random_share(&s2, &opts, 999, NULL), 0);
    sb_random_init(&a, &s, 3);
    sb_random_init(&b, &s2, 3);
    sb_random_init(&c, &s, 4);
    uint64_t x = sb_random_uint64(&a);
    CHECK(x == sb_random_uint64(&b));
    CHECK(x != sb_random_uint64(&c));
}

static void without_a_seed_the_time_is_used(void)
{
    struct sb_dist_opts o = opts;
    struct sb_random_shared s, t;

    o.seed = 0;
    CHECK_INT(sb_random_share(&s, &o, 1000, NULL), 0);
    CHECK_INT(sb_random_share(&t, &o, 1001, NULL), 0);
    CHECK(s.seed != t.seed);
    for (uint64_t ns = 0; ns < 1000; ns++) {
        CHECK_INT(sb_random_share(&s, &o, ns * 1000003, NULL), 0);
        CHECK(s.seed > 0 && s.seed <= INT32_MAX);
    }
}

static void the_drawn_seed_repeats_the_numbers(void)
{
    struct sb_dist_opts o = opts;
    struct sb_random_shared s, t;
    struct sb_random a, b;

    o.seed = 0;
    CHECK_INT(sb_random_share(&s, &o, 1000, NULL), 0);
    o.seed = (int64_t)s.seed;
    CHECK_INT(sb_random_share(&t, &o, 2000, NULL), 0);
    sb_random_init(&a, &s, 3);
    sb_random_init(&b, &t, 3);
    CHECK(sb_random_uint64(&a) == sb_random_uint64(&b));
    CHECK(sb_random_unique(&a) == sb_random_unique(&b));
}

static void rows_depend_on_seed_table_and_id_only(void)
{
    struct sb_random_shared s;
    struct sb_random a, b;

    CHECK_INT(sb_random_share(&s, &opts, 1, NULL), 0);
    sb_random_init(&a, &s, 0);
    sb_random_init(&b, &s, 7);
    sb_random_uint64(&b);
    sb_random_row(&a, 2, 100);
    sb_random_row(&b, 2, 100);
    uint64_t row = sb_random_uint64(&a);
    CHECK(row == sb_random_uint64(&b));
    sb_random_row(&b, 3, 100);
    CHECK(row != sb_random_uint64(&b));
    sb_random_row(&b, 2, 101);
    CHECK(row != sb_random_uint64(&b));
}

static void resume_continues_the_stream(void)
{
    struct sb_random_shared s;
    struct sb_random a, b;

    CHECK_INT(sb_random_share(&s, &opts, 1, NULL), 0);
    sb_random_init(&a, &s, 5);
    sb_random_init(&b, &s, 5);
    CHECK(sb_random_uint64(&a) == sb_random_uint64(&b));
    sb_random_row(&a, 1, 1);
    sb_random_uint64(&a);
    sb_random_row(&a, 1, 2);
    sb_random_uint64(&a);
    sb_random_resume(&a);
    CHECK(sb_random_uint64(&a) == sb_random_uint64(&b));
}

static void two_users(
    struct sb_random_shared *s, struct sb_random *a, struct sb_random *b)
{
    CHECK_INT(sb_random_share(s, &opts, 1, NULL), 0);
    sb_random_init(a, s, 0);
    sb_random_init(b, s, 1);
}

static void unique_numbers_do_not_repeat(void)
{
    static unsigned char seen[1 << 16];
    struct sb_random_shared s;
    struct sb_random a, b;
    int twice = 0;

    two_users(&s, &a, &b);
    // Checks the numbers with one value of the upper half, which must differ in
    // the lower half.
    for (int i = 0; i < 3000000; i++) {
        uint32_t n = sb_random_unique(i % 2 ? &a : &b);

        if (n >> 16 == 77)
            twice += seen[n & 0xffff]++;
    }
    CHECK_INT(twice, 0);
}

// Two runs that insert the numbers of different seeds must not collide.
static void unique_numbers_of_other_seeds_differ(void)
{
    static const int64_t seeds[] = { 1, 2, 3, 20261126, 20261127 };
    static unsigned char seen[1u << 29];
    int twice = 0;

    for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
        struct sb_dist_opts o = opts;
        struct sb_random_shared s;
        struct sb_random r;

        o.seed = seeds[i];
        CHECK_INT(sb_random_share(&s, &o, 1, NULL), 0);
        sb_random_init(&r, &s, 0);
        for (int k = 0; k < 20000; k++) {
            uint32_t n = sb_random_unique(&r);

            twice += seen[n >> 3] >> (n & 7) & 1;
            seen[n >> 3] |= (unsigned char)(1 << (n & 7));
        }
    }
    CHECK_INT(twice, 0);
}

static void unique_numbers_of_a_range_do_not_repeat(void)
{
    static const double high[] = { 1, 100, 100000, 1e9 };

    for (size_t i = 0; i < sizeof(high) / sizeof(high[0]); i++) {
        static unsigned char seen[125000001];
        struct sb_random_shared s;
        struct sb_random r;
        int twice = 0, outside = 0;

        memset(seen, 0, sizeof(seen));
        CHECK_INT(sb_random_share(&s, &opts, 1, NULL), 0);
        sb_random_init(&r, &s, 0);
        for (int k = 0; k < 100000 && k < high[i]; k++) {
            double v = sb_random_unique_in(&r, 1, high[i]);
            size_t n = (size_t)v;

            outside += v < 1 || v > high[i];
            if (n <= 1000000000) {
                twice += seen[n >> 3] >> (n & 7) & 1;
                seen[n >> 3] |= (unsigned char)(1 << (n & 7));
            }
        }
        CHECK_INT(twice, 0);
        CHECK_INT(outside, 0);
    }
}

// Two users in turn use two ranges of an even width. A counter of both would
// give each range only every second number.
static void unique_numbers_of_ranges_in_turn_do_not_repeat(void)
{
    enum { FEW = 1000, MANY = 5000 };
    unsigned char few[FEW + 1] = { 0 }, many[MANY + 1] = { 0 };
    struct sb_random_shared s;
    struct sb_random a, b;
    int twice = 0;

    two_users(&s, &a, &b);
    for (int i = 0; i < MANY; i++) {
        if (i < FEW)
            twice += few[(size_t)sb_random_unique_in(&a, 1, FEW)]++;
        twice += many[(size_t)sb_random_unique_in(&b, MANY, 1)]++;
        sb_random_unique(&a);
    }
    CHECK_INT(twice, 0);
    CHECK(sb_random_unique_in(&a, 1, FEW) >= 1); // starts again
    for (int n = 1; n <= 2 * SB_RANDOM_RANGES; n++) {
        double v = sb_random_unique_in(&a, 1, n);

        CHECK(v >= 1 && v <= n);
    }
}

static void scattered_values_depend_on_the_key_only(void)
{
    struct sb_dist_opts o = opts;
    struct sb_random_shared s, t;
    struct sb_random a, b;
    bool moved = false, keyed = false;

    o.seed = 7;
    CHECK_INT(sb_random_share(&s, &opts, 1, NULL), 0);
    CHECK_INT(sb_random_share(&t, &o, 1, NULL), 0);
    sb_random_init(&a, &s, 0);
    sb_random_init(&b, &t, 1);
    for (int v = 1; v <= 100; v++) {
        double x = sb_random_scatter(&a, v, 1, 100, 0);

        CHECK(x >= 1 && x <= 100);
        CHECK(x == sb_random_scatter(&b, v, 1, 100, 0));
        CHECK(sb_random_scatter(&a, v, 1, 100, 5) ==
              sb_random_scatter(&b, v, 1, 100, 5));
        moved = moved || x != v;
        keyed = keyed || x != sb_random_scatter(&a, v, 1, 100, 5);
    }
    CHECK(moved && keyed);
    CHECK(sb_random_uint64(&a) != sb_random_uint64(&b));
}

CHECK_FILE
{
    RUN(streams_follow_seed_and_user);
    RUN(without_a_seed_the_time_is_used);
    RUN(the_drawn_seed_repeats_the_numbers);
    RUN(rows_depend_on_seed_table_and_id_only);
    RUN(resume_continues_the_stream);
    RUN(unique_numbers_do_not_repeat);
    RUN(unique_numbers_of_other_seeds_differ);
    RUN(unique_numbers_of_a_range_do_not_repeat);
    RUN(unique_numbers_of_ranges_in_turn_do_not_repeat);
    RUN(scattered_values_depend_on_the_key_only);
    return check_done();
}
