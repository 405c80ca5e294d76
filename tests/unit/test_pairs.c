// SPDX-License-Identifier: GPL-2.0-or-later
//
// How often experiments of pairs err is measured with simulated ones, from
// fixed seeds. `test_pairs -v` prints the tables of docs/internals/pairs.md.
// Not with qemu, tsan: one thread, much arithmetic.
#include "measure/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "check_stat.h"
#include "measure/student.h"
#include "simulate.h"

#define PAIRS_MAX 80
#define MARGIN    0.02

static bool verbose;
static int count = 1000; // of experiments

// Runs of both sides, one after the other. Deviations are relative.
struct world {
    const char *name;
    enum sim_noise noise;
    double deviation; // of a run
    double rho;       // of runs that follow each other
    double drift;     // from one run to the next
    double carry;     // of a run that follows one of B
    double modes;     // by which half of the runs are lower
    double rising;    // factor of the deviation of B; 0: 1
};

// What the experiments of a world said, as shares.
struct rates {
    double higher, lower, equivalent;
    double pairs; // mean of the pairs that they took
};

static void simulate(const struct world *w, double difference, struct sb_rng *r,
    struct sb_pair *pair, size_t n)
{
    double noise[2 * PAIRS_MAX];
    bool after_b = false, b_first = false;

    sim_ar1(r, w->noise, w->rho, noise, 2 * n);
    for (size_t run = 0; run < 2 * n; run++) {
        struct sb_pair *p = &pair[run / 2];

        // Two pairs have opposite orders.
        if (run % 4 == 0)
            b_first = sb_rng_double(r) < 0.5;
        else if (run % 4 == 2)
            b_first = !b_first;
        bool is_b = (run % 2 == 0) == b_first;
        double deviation = w->deviation;

        if (is_b && w->rising > 0)
            deviation *= w->rising;
        double level = 1000 * (1 + w->drift * (double)run) *
                       (1 + deviation * noise[run]) *
                       (1 + (after_b ? w->carry : 0)) *
                       (sb_rng_double(r) < 0.5 ? 1 - w->modes : 1);

        p->b_first = b_first;
        *(is_b ? &p->b : &p->a) = is_b ? level * (1 + difference) : level;
        after_b = is_b;
    }
}

// Looks at most at `most` pairs.
static struct rates experiments(const struct world *w, double difference,
    const struct sb_pairs_opts *o, unsigned most)
{
    struct sb_sequential *levels = NULL;
    struct sb_pair pair[PAIRS_MAX];
    struct rates rates = { 0 };
    struct sb_rng r;

    CHECK(most <= PAIRS_MAX);
    CHECK_INT(sb_pairs_design(o, &levels), 0);
    sb_rng_init(&r, 35, (uint64_t)(difference * 1000 + most));
    for (int i = 0; i < count; i++) {
        struct sb_pairs_answer a = { 0 };
        unsigned n = SB_SEQUENTIAL_FIRST - 1;

        simulate(w, difference, &r, pair, most);
        while (n < most && a.verdict == SB_PAIRS_UNKNOWN)
            sb_pairs_judge(pair, ++n, o, levels, &a);
        rates.higher += a.verdict == SB_PAIRS_HIGHER;
        rates.lower += a.verdict == SB_PAIRS_LOWER;
        rates.equivalent += a.verdict == SB_PAIRS_EQUIVALENT;
        rates.pairs += n;
    }
    sb_sequential_free(levels);
    rates.higher /= count;
    rates.lower /= count;
    rates.equivalent /= count;
    rates.pairs /= count;
    if (verbose)
        printf("# | %s | %u | %.3g | %.1f | %.1f | %.1f | %.1f |\n", w->name,
            o->planned, 100 * difference, 100 * rates.higher, 100 * rates.lower,
            100 * rates.equivalent, rates.pairs);
    return rates;
}

static const struct world worlds[] = {
    { .name = "normal", .deviation = 0.02 },
    { .name = "large", .deviation = 0.1 },
    { .name = "rho 0.8", .deviation = 0.03, .rho = 0.8 },
    { .name = "skewed", .noise = SIM_SKEWED, .deviation = 0.02 },
    { .name = "outliers", .noise = SIM_OUTLIERS, .deviation = 0.02 },
    { .name = "drift", .deviation = 0.01, .drift = 0.02 },
    { .name = "two modes", .deviation = 0.005, .modes = 0.1 },
    { .name = "B deviates more", .deviation = 0.01, .rising = 3 },
};

#define WORLDS (sizeof(worlds) / sizeof(worlds[0]))

static struct sb_pairs_opts options(double margin, unsigned planned)
{
    return (struct sb_pairs_opts){ 0.95, margin, planned };
}

// The share, plus what chance adds in one of 10,000 tests.
static double at_most(double share)
{
    return share + STAT_Z * sqrt(share * (1 - share) / count);
}

// Up to twice the planned number of pairs.
static void equal_sides(void)
{
    static const unsigned planned[] = { 6, 20, 10, 40 };

    for (size_t w = 0; w < WORLDS; w++)
        for (int i = 0; i < (verbose ? 4 : 2); i++) {
            const struct sb_pairs_opts o = options(0, planned[i]);
            struct rates r = experiments(&worlds[w], 0, &o, 2 * planned[i]);

            CHECK(r.higher + r.lower <= at_most(0.05));
        }
}

static void sides_that_differ_by_the_margin(void)
{
    const struct sb_pairs_opts o = options(MARGIN, 20);

    for (size_t w = 0; w < WORLDS; w++) {
        struct rates r = experiments(&worlds[w], MARGIN, &o, 20);

        CHECK(r.equivalent <= at_most(0.05));
        CHECK(r.higher + r.lower <= at_most(0.05));
        r = experiments(&worlds[w], -MARGIN, &o, 20);
        CHECK(r.equivalent <= at_most(0.05));
        CHECK(r.higher + r.lower <= at_most(0.05));
    }
}

// The resolution of 20 pairs is the margin or less here.
static void twice_the_margin(void)
{
    const struct world w = { .name = "resolved", .deviation = 0.015 };
    const struct sb_pairs_opts o = options(MARGIN, 20);
    struct rates r = experiments(&w, 2 * MARGIN, &o, 20);

    CHECK(r.higher >= 0.9);
    CHECK(r.lower == 0);
    r = experiments(&w, -2 * MARGIN, &o, 20);
    CHECK(r.lower >= 0.9);
}

static void equivalent_sides(void)
{
    const struct world w = { .name = "equivalent", .deviation = 0.0125 };
    const struct sb_pairs_opts o = options(MARGIN, 20);

    CHECK(experiments(&w, 0, &o, 20).equivalent >= 0.9);
}

// With a known deviation, nine tenths of the errors are made up to the planned
// number of values, and the others later.
static void levels(void)
{
    struct sb_sequential *s = NULL;
    double limit[PAIRS_MAX + 1];
    int early = 0, all = 0, paths = 20000;
    struct sb_rng r;

    CHECK_INT(sb_sequential_new(0.2, 20, &s), 0);
    CHECK(sb_sequential_level(s, SB_SEQUENTIAL_FIRST - 1) == 0);
    for (unsigned n = SB_SEQUENTIAL_FIRST; n <= PAIRS_MAX; n++)
        limit[n] = sb_student_t(sb_sequential_level(s, n), INFINITY) * sqrt(n);
    sb_rng_init(&r, 1, 0);
    for (int i = 0; i < paths; i++) {
        double sum = 0;
        unsigned end = 0;

        for (unsigned n = 1; n <= PAIRS_MAX && !end; n++) {
            sum += sim_normal(&r);
            if (n >= SB_SEQUENTIAL_FIRST && fabs(sum) > limit[n])
                end = n;
        }
        early += end > 0 && end <= 20;
        all += end > 0;
    }
    // 80 values are four times the planned ones: a sixteenth of the last tenth
    // is left.
    CHECK_NEAR((double)early / paths, 0.18, 0.01);
    CHECK_NEAR((double)all / paths, 0.2 * (1 - 0.1 / 16), 0.01);
    sb_sequential_free(s);
}

// What the order and the predecessors of runs do is found, and rarely by
// chance.
static void effects(void)
{
    static const struct world none = { .deviation = 0.01 },
                              drift = { .deviation = 0.01, .drift = 0.02 },
                              carry = { .deviation = 0.01, .carry = -0.05 };
    const struct sb_pairs_opts o = options(MARGIN, 20);
    struct sb_sequential *levels = NULL;
    struct sb_pair pair[PAIRS_MAX];
    int orders = 0, carries = 0, by_chance = 0;
    struct sb_rng r;

    CHECK_INT(sb_pairs_design(&o, &levels), 0);
    sb_rng_init(&r, 2, 0);
    for (int i = 0; i < count; i++) {
        struct sb_pairs_answer a;

        simulate(&drift, 0, &r, pair, 20);
        sb_pairs_judge(pair, 20, &o, levels, &a);
        orders += a.order.p < 0.01 && a.order.value > 0;
        simulate(&carry, 0, &r, pair, 20);
        sb_pairs_judge(pair, 20, &o, levels, &a);
        carries += a.carry.p < 0.01 && a.carry.value < 0;
        simulate(&none, 0, &r, pair, 20);
        sb_pairs_judge(pair, 20, &o, levels, &a);
        by_chance += (a.order.p < 0.01) + (a.carry.p < 0.01);
    }
    CHECK(orders >= 0.9 * count);
    CHECK(carries >= 0.9 * count);
    CHECK(by_chance <= 2 * at_most(0.01) * count);
    sb_sequential_free(levels);
}

// The forecast is right on average, and the resolution is what is found.
static void forecasts(void)
{
    const struct sb_pairs_opts o = options(MARGIN, 20);
    struct sb_pairs_answer a = {
        .verdict = SB_PAIRS_UNKNOWN, .difference = 0, .deviation = 0.03
    };
    struct sb_pairs_resolution few, many;
    struct sb_sequential *levels = NULL;

    CHECK_INT(sb_pairs_design(&o, &levels), 0);
    unsigned more = sb_pairs_more(&a, 10, &o, levels, 100);

    CHECK(more > 1 && more < 100);
    a.deviation = 0.06;
    CHECK(sb_pairs_more(&a, 10, &o, levels, 200) > 2 * more);
    // A difference that equals the margin is never known to be on one side.
    a.difference = MARGIN;
    CHECK_INT(sb_pairs_more(&a, 10, &o, levels, 100), 100);
    a.verdict = SB_PAIRS_HIGHER;
    CHECK_INT(sb_pairs_more(&a, 10, &o, levels, 100), 0);
    sb_pairs_resolve(0.0212, 4, &o, levels, &few);
    sb_pairs_resolve(0.0212, 40, &o, levels, &many);
    CHECK_NEAR(few.value, many.value, 1e-12);
    CHECK(few.low < many.low && many.low < many.value);
    CHECK(many.high < few.high && many.high > many.value);
    // sqrt(4 / 0.4844) and sqrt(40 / 24.43): 2.5 % quantiles of chi squared.
    CHECK_NEAR(many.high / many.value, 1.2796, 0.001);
    CHECK_NEAR(few.high / few.value, 2.874, 0.15);
    CHECK_NEAR(many.value, 0.0187, 0.0001);
    sb_sequential_free(levels);
}

CHECK_FILE
{
    verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    if (verbose)
        count = 20000;
    RUN(equal_sides);
    RUN(sides_that_differ_by_the_margin);
    RUN(twice_the_margin);
    RUN(equivalent_sides);
    RUN(levels);
    RUN(effects);
    RUN(forecasts);
    return check_done();
}
