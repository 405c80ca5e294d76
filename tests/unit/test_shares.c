// SPDX-License-Identifier: GPL-2.0-or-later
//
// How often the test of shares errs is measured with simulated runs, from fixed
// seeds: occurrences that are independent, and such that come in clusters.
// Not with tsan: one thread.
#include "measure/compare.h"

#include <math.h>

#include "kit/rng.h"
#include "check.h"
#include "check_stat.h"

#define PARTS    10
#define PER_PART 6 // intervals
#define PAIRS    4000

struct world {
    double share;     // of A
    double ratio;     // of B to A
    double events;    // of an interval
    double disturbed; // share of the intervals in which a disturbance begins
    double times;     // so much more occurs in a disturbance
    int length;       // of a disturbance, intervals
};

static double poisson(struct sb_rng *r, double mean)
{
    double sum = 0;
    int n = -1;

    for (; sum <= mean; n++)
        sum -= log(1 - sb_rng_double(r));
    return n;
}

static struct sb_share_side simulate(const struct world *w, struct sb_rng *r,
    double share, struct sb_occurrences part[PARTS])
{
    struct sb_share_side s = { .part = part, .nparts = PARTS };
    int left = 0;

    for (int i = 0; i < PARTS * PER_PART; i++) {
        struct sb_occurrences *p = &part[i / PER_PART];

        if (i % PER_PART == 0)
            *p = (struct sb_occurrences){ 0, 0 };
        if (sb_rng_double(r) < w->disturbed)
            left = w->length;
        p->n += poisson(r, share * w->events * (left > 0 ? w->times : 1));
        p->of += w->events;
        left -= left > 0;
    }
    for (int i = 0; i < PARTS; i++) {
        s.total.n += part[i].n;
        s.total.of += part[i].of;
    }
    return s;
}

// The share of pairs with a p value below `level`.
static double called_different(const struct world *w, double level)
{
    struct sb_occurrences x[PARTS], y[PARTS];
    struct sb_rng r;
    int n = 0;

    sb_rng_init(&r, 31, (uint64_t)w->events);
    for (int i = 0; i < PAIRS; i++) {
        struct sb_share_side a = simulate(w, &r, w->share, x);
        struct sb_share_side b = simulate(w, &r, w->share * w->ratio, y);

        n += sb_share_p(&a, &b) < level;
    }
    return (double)n / PAIRS;
}

static void same_shares_are_seldom_different(void)
{
    static const struct world worlds[] = {
        { 0.002, 1, 83, 0, 1, 0 },  // 10 occurrences
        { 0.005, 1, 167, 0, 1, 0 }, // 50
        { 0.01, 1, 167, 0, 1, 0 },
        { 0.3, 1, 40, 0, 1, 0 },
        { 0.002, 1, 500, 0.1, 20, 3 }, // short outages
        { 0.01, 1, 100, 0.3, 10, 2 },
    };
    static const double levels[] = { 0.05, 0.01, 0.001 };

    for (size_t i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++) {
        for (size_t k = 0; k < sizeof(levels) / sizeof(levels[0]); k++) {
            // Counts are discrete, and neighboring parts share disturbances.
            double level = 1.3 * levels[k];

            CHECK(called_different(&worlds[i], levels[k]) <=
                  level + STAT_Z * sqrt(level / PAIRS));
        }
    }
}

static void different_shares_are_found(void)
{
    static const struct world worlds[] = {
        { 0.01, 2, 167, 0, 1, 0 },      // 100 and 200 occurrences
        { 0.002, 20, 500, 0.1, 20, 3 }, // also with outages
    };

    CHECK(called_different(&worlds[0], 0.001) > 0.95);
    CHECK(called_different(&worlds[1], 0.001) > 0.5);
}

static void without_parts_occurrences_are_independent(void)
{
    struct sb_share_side a = { .total = { 30, 1000 } };
    struct sb_share_side b = { .total = { 60, 1000 } };
    double z = 0.03 / sqrt(0.045 * 0.955 * 2 / 1000);

    CHECK_NEAR(sb_share_p(&a, &b), erfc(z / sqrt(2)), 1e-9);
    CHECK_NEAR(sb_share_p(&b, &a), erfc(z / sqrt(2)), 1e-9);
}

static void parts_that_vary_raise_the_p_value(void)
{
    const struct sb_occurrences even[] = { { 15, 500 }, { 15, 500 } };
    const struct sb_occurrences uneven[] = { { 0, 500 }, { 30, 500 } };
    struct sb_share_side a = { { 30, 1000 }, even, 2 };
    struct sb_share_side b = { { 60, 1000 }, even, 2 };
    struct sb_share_side c = { { 30, 1000 }, uneven, 2 };
    struct sb_share_side alone = { .total = { 60, 1000 } };

    // Parts that vary less than by chance do not lower it.
    CHECK_NEAR(sb_share_p(&a, &b), sb_share_p(&a, &alone), 0);
    CHECK(sb_share_p(&c, &b) > 0.3);
}

static void ends_have_values(void)
{
    struct sb_share_side none = { .total = { 0, 1000 } };
    struct sb_share_side all = { .total = { 1000, 1000 } };
    struct sb_share_side nothing = { .total = { 0, 0 } };

    CHECK_NEAR(sb_share_p(&none, &none), 1, 0);
    CHECK_NEAR(sb_share_p(&all, &all), 1, 0);
    CHECK(sb_share_p(&none, &all) < 1e-100);
    CHECK(isnan(sb_share_p(&none, &nothing)));
    CHECK(isnan(sb_share_p(&nothing, &none)));
}

// An event may have several errors.
static void rates_may_exceed_one(void)
{
    const struct sb_occurrences even[] = { { 600, 500 }, { 600, 500 } };
    const struct sb_occurrences uneven[] = { { 100, 500 }, { 1100, 500 } };
    struct sb_share_side a = { .total = { 1200, 1000 } };
    struct sb_share_side b = { .total = { 1500, 1000 } };
    struct sb_share_side none = { .total = { 0, 1000 } };
    struct sb_share_side nothing = { .total = { 0, 0 } };
    double z = 0.3 / sqrt(1.35 * 2 / 1000);

    CHECK_NEAR(sb_rate_p(&a, &b), erfc(z / sqrt(2)), 1e-9);
    CHECK_NEAR(sb_rate_p(&b, &a), erfc(z / sqrt(2)), 1e-9);
    CHECK_NEAR(sb_rate_p(&none, &none), 1, 0);
    CHECK(isnan(sb_rate_p(&a, &nothing)));
    a.part = even;
    a.nparts = 2;
    CHECK_NEAR(sb_rate_p(&a, &b), erfc(z / sqrt(2)), 1e-9);
    a.part = uneven;
    CHECK(sb_rate_p(&a, &b) > 0.3);
}

CHECK_FILE
{
    RUN(same_shares_are_seldom_different);
    RUN(different_shares_are_found);
    RUN(without_parts_occurrences_are_independent);
    RUN(parts_that_vary_raise_the_p_value);
    RUN(ends_have_values);
    RUN(rates_may_exceed_one);
    return check_done();
}
