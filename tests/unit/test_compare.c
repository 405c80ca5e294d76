// SPDX-License-Identifier: GPL-2.0-or-later
//
// How often comparisons err is measured with simulated runs, from fixed seeds:
// sides that are the same, and sides that differ by 5 %. `test_compare -v`
// prints the tables of docs/internals/compare.md.
// Not with qemu, tsan: one thread, much arithmetic.
#include "measure/compare.h"

#include <stdlib.h>

#include "check.h"
#include "measure/student.h"
#include "check_stat.h"
#include "simulate.h"

#define RUNS_MAX 5
#define N_MAX    3600
#define EFFECT   0.05
#define LEVEL    1000

static bool verbose;

// What the simulated runs of both sides have in common.
struct world {
    const char *name;
    size_t n; // intervals of a run
    double rho;
    enum sim_noise noise;
    double deviation; // of an interval, relative, as all others
    double drift;     // rise during each run
    double own_drift; // standard deviation of what a run rises besides
    double between;   // standard deviation between runs
    double pairs;     // the same between pairs of runs
    size_t runs[2];   // of A and B, at most RUNS_MAX
    bool paired;
    double run_deviation; // the option
};

struct rates {
    double different, higher, none;
};

static struct sb_mean simulate_run(
    const struct world *w, struct sb_rng *r, double level)
{
    static double x[N_MAX];
    struct sb_values s = { x, NULL, w->n, NAN };
    double rise = w->drift + w->own_drift * sim_normal(r);
    struct sb_mean m;

    level *= 1 + w->between * sim_normal(r);
    sim_ar1(r, w->noise, w->rho, x, w->n);
    for (size_t i = 0; i < w->n; i++) {
        double place = ((double)i + 0.5) / (double)w->n;

        x[i] = level * (1 + rise * (place - 0.5) + w->deviation * x[i]);
    }
    sb_mean(&s, &m);
    return m;
}

static struct sb_compare simulate(
    const struct world *w, struct sb_rng *r, double effect, double margin)
{
    struct sb_compare_opts o = { 0.95, margin, w->run_deviation, w->paired };
    struct sb_mean side[2][RUNS_MAX];
    double pair[RUNS_MAX];
    struct sb_compare c;

    for (size_t i = 0; i < RUNS_MAX; i++)
        pair[i] = 1 + w->pairs * sim_normal(r);
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < w->runs[k]; i++)
            side[k][i] = simulate_run(
                w, r, LEVEL * pair[i] * (k == 0 ? 1 : 1 + effect));
    }
    sb_compare(side[0], w->runs[0], side[1], w->runs[1], &o, &c);
    return c;
}

static struct rates measure(
    const struct world *w, double effect, double margin, int comparisons)
{
    struct rates s = { 0 };
    struct sb_rng r;

    sb_rng_init(&r, 20, w->n);
    for (int i = 0; i < comparisons; i++) {
        struct sb_compare c = simulate(w, &r, effect, margin);
        double share = 1. / comparisons;

        s.none += c.verdict == SB_VERDICT_NONE ? share : 0;
        s.higher += c.verdict == SB_VERDICT_HIGHER ? share : 0;
        s.different += c.verdict > SB_VERDICT_SAME ? share : 0;
    }
    return s;
}

#define ONE .runs = { 1, 1 }

static const struct world same[] = {
    { "10 intervals", 10, .deviation = .03, ONE },
    { "20 intervals", 20, .deviation = .03, ONE },
    { "60 intervals", 60, .deviation = .03, ONE },
    { "60, rho -0.4", 60, -.4, .deviation = .03, ONE },
    { "10, rho 0.9", 10, .9, .deviation = .03, ONE },
    { "20, rho 0.5", 20, .5, .deviation = .03, ONE },
    { "60, rho 0.5", 60, .5, .deviation = .03, ONE },
    { "60, rho 0.9", 60, .9, .deviation = .03, ONE },
    { "120, rho 0.5", 120, .5, .deviation = .03, ONE },
    { "300, rho 0.9", 300, .9, .deviation = .03, ONE },
    { "600, rho 0.9", 600, .9, .deviation = .03, ONE },
    { "60, rho 0.5, skewed", 60, .5, SIM_SKEWED, .05, ONE },
    { "60, outliers", 60, 0, SIM_OUTLIERS, .05, ONE },
    { "60, rho 0.5, all rise by 20 %", 60, .5, .deviation = .03, .drift = .2,
        ONE },
    { "60, rho 0.5, rise or fall by 20 %", 60, .5, .deviation = .03,
        .own_drift = .2, ONE },
    { "60, 1 % between runs", 60, .deviation = .03, .between = .01, ONE,
        .run_deviation = SB_COMPARE_RUN_DEVIATION },
    { "2 and 2 runs of 10, 3 % between", 10, .deviation = .03, .between = .03,
        .runs = { 2, 2 } },
    { "3 and 3 runs of 10, 3 % between", 10, .deviation = .03, .between = .03,
        .runs = { 3, 3 } },
    { "5 and 5 runs of 60, 3 % between", 60, .5, .deviation = .03, .drift = .2,
        .between = .03, .runs = { 5, 5 } },
    { "5 and 2 runs of 10, skewed", 10, 0, SIM_SKEWED, .05, .between = .03,
        .runs = { 5, 2 } },
    { "4 runs and 1 of 60, 3 % between", 60, .5, .deviation = .03,
        .between = .03, .runs = { 4, 1 } },
    { "1 run and 4 of 60, 1 % between", 60, .5, .deviation = .1, .between = .01,
        .runs = { 1, 4 } },
    { "5 pairs of 20, 10 % between pairs", 20, .5, .deviation = .03,
        .between = .01, .pairs = .1, .runs = { 5, 5 }, .paired = true },
};

// Where a difference of 5 % is expected to be found, with the default options.
static const struct world found[] = {
    { "30 intervals", 30, .deviation = .02, ONE },
    { "60 intervals", 60, .deviation = .03, ONE },
    { "60, rho 0.5", 60, .5, .deviation = .02, ONE },
    { "120, rho 0.5", 120, .5, .deviation = .03, ONE },
    { "600, rho 0.9", 600, .9, .deviation = .03, ONE },
    { "120, rho 0.5, skewed", 120, .5, SIM_SKEWED, .03, ONE },
    { "120, outliers", 120, 0, SIM_OUTLIERS, .03, ONE },
    { "120, rho 0.5, all rise by 20 %", 120, .5, .deviation = .03, .drift = .2,
        ONE },
    { "300, 0.7 % between runs", 300, .5, .deviation = .03, .between = .007,
        ONE },
    { "3 and 3 runs of 10, 0.7 % between", 10, .deviation = .02,
        .between = .007, .runs = { 3, 3 } },
    { "5 and 5 runs of 60, 1.5 % between", 60, .5, .deviation = .03,
        .drift = .2, .between = .015, .runs = { 5, 5 } },
    { "5 runs and 1 of 60, 0.5 % between", 60, .5, .deviation = .02,
        .between = .005, .runs = { 5, 1 } },
    { "5 pairs of 20, 10 % between pairs", 20, .5, .deviation = .03,
        .between = .01, .pairs = .1, .runs = { 5, 5 }, .paired = true },
};

static void print_rates(const char *name, const struct rates *r)
{
    if (verbose)
        printf("# | %s | %.1f %% | %.1f %% |\n", name, 100 * r->different,
            100 * r->none);
}

// The bound is 5 % plus what chance adds in one of 10,000 tests; the mean of
// all worlds must keep 5 %.
static void runs_of_the_same_are_rarely_called_different(void)
{
    size_t worlds = sizeof(same) / sizeof(same[0]);
    int comparisons = verbose ? 20000 : 1200;
    double bound = 0.05 + STAT_Z * sqrt(0.05 * 0.95 / comparisons), sum = 0;

    for (size_t i = 0; i < worlds; i++) {
        struct rates r = measure(&same[i], 0, 0, comparisons);

        print_rates(same[i].name, &r);
        CHECK_NEAR(r.different, 0, bound);
        sum += r.different / (double)worlds;
    }
    CHECK_NEAR(sum, 0, 0.05);
}

static void a_difference_of_5_percent_is_found(void)
{
    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
        struct world w = found[i];
        struct rates up, down;

        w.run_deviation = SB_COMPARE_RUN_DEVIATION;
        up = measure(&w, EFFECT, 0, verbose ? 20000 : 400);
        down = measure(&w, -EFFECT, 0, 400);
        print_rates(w.name, &up);
        CHECK_NEAR(up.higher, 1, 0.1);
        CHECK_NEAR(down.different - down.higher, 1, 0.1);
    }
}

// A side that differs by exactly the margin is the worst case.
static void the_margin_is_rarely_exceeded_by_chance(void)
{
    static const struct world w = { "margin", 60, .5, .deviation = .02, ONE };

    CHECK_NEAR(measure(&w, EFFECT, EFFECT, 1500).different, 0.025, 0.016);
    CHECK_NEAR(measure(&w, -EFFECT, EFFECT, 1500).different, 0.025, 0.016);
    CHECK_NEAR(measure(&w, 0.1, EFFECT, 400).higher, 1, 0.1);
}

static void short_correlated_runs_get_no_verdict(void)
{
    static const struct world w = { "short", 30, .95, .deviation = .03, ONE };
    struct rates r = measure(&w, EFFECT, 0, 1000);

    CHECK(r.none > 0.9);
}

// Six figures of the same runs, which share part of their noise.
static void many_figures_are_rarely_called_different(void)
{
    static const struct world w = { "figures", 60, .deviation = .03, ONE };
    double plain = 0, holm = 0;
    struct sb_rng r;

    sb_rng_init(&r, 21, 0);
    for (int i = 0; i < 1500; i++) {
        struct sb_compare c[6];
        bool any = false, any_left = false;

        for (size_t k = 0; k < 6; k++) {
            c[k] = simulate(&w, &r, 0, 0);
            any |= c[k].verdict > SB_VERDICT_SAME;
        }
        CHECK_INT(sb_compare_holm(c, 6, 0.95), 0);
        for (size_t k = 0; k < 6; k++)
            any_left |= c[k].verdict > SB_VERDICT_SAME;
        plain += any / 1500.;
        holm += any_left / 1500.;
    }
    CHECK(plain > 0.15);
    CHECK_NEAR(holm, 0, 0.05 + STAT_Z * sqrt(0.05 * 0.95 / 1500));
    CHECK(holm > 0.02);
}

static struct sb_mean run_of(double value, double error, double df)
{
    return (struct sb_mean){
        .value = value, .error = error, .df = df, .effective = 10
    };
}

#define RUN_OF(value) run_of(value, NAN, 0)

static struct sb_compare compare(const struct sb_mean *a, size_t na,
    const struct sb_mean *b, size_t nb, struct sb_compare_opts o)
{
    struct sb_compare c;

    sb_compare(a, na, b, nb, &o, &c);
    return c;
}

static void check_interval(
    const struct sb_compare *c, double difference, double error, double df)
{
    double half = sb_student_t(0.05, df) * error;

    CHECK_NEAR(c->difference, difference, 1e-12);
    CHECK_NEAR(c->low, (1 + difference) * exp(-half) - 1, 1e-9);
    CHECK_NEAR(c->high, (1 + difference) * exp(half) - 1, 1e-9);
    CHECK_NEAR(c->p, sb_student_p(log1p(difference) / error, df), 1e-9);
}

// Relative variances: A 4 / 100^2 / 3, B 16 / 110^2 / 4.
static void repeats_are_compared_by_welchs_test(void)
{
    struct sb_mean a[] = { RUN_OF(98), RUN_OF(NAN), RUN_OF(102), RUN_OF(100) };
    struct sb_mean b[] = { RUN_OF(110 - sqrt(24)), RUN_OF(110 + sqrt(24)),
        RUN_OF(110), RUN_OF(110) };
    double x = 4e-4 / 3, y = 16 / 12100. / 4;
    struct sb_compare c = compare(a, 4, b, 4, (struct sb_compare_opts){ 0 });

    check_interval(
        &c, 0.1, sqrt(x + y), (x + y) * (x + y) / (x * x / 2 + y * y / 3));
    CHECK_INT(c.verdict, SB_VERDICT_HIGHER);
    CHECK_INT(c.a.runs, 3);
    CHECK_INT(c.b.runs, 4);
    CHECK_NEAR(c.a.value, 100, 1e-12);
    CHECK_NEAR(c.a.high - 100, 4.30265273 * 2 / sqrt(3), 1e-6);
    CHECK_NEAR(100 - c.a.low, 4.30265273 * 2 / sqrt(3), 1e-6);
    CHECK_NEAR(c.a.effective, 30, 0);
    CHECK(!c.drift_unknown && !c.too_short && !c.drifts_differ);
    c = compare(b, 4, a, 4, (struct sb_compare_opts){ 0 });
    CHECK_INT(c.verdict, SB_VERDICT_LOWER);
}

static void repeats_vary_at_least_as_within_runs(void)
{
    struct sb_mean a[] = { run_of(100, 3, 5), run_of(100, 3, 5) };
    struct sb_mean b[] = { run_of(100, 4, 5), run_of(100, 4, 5) };
    struct sb_compare c = compare(a, 2, b, 2, (struct sb_compare_opts){ 0 });
    double x = 9e-4 / 2, y = 16e-4 / 2;

    check_interval(&c, 0, sqrt(x + y), (x + y) * (x + y) / (x * x + y * y));
    c = compare(a, 2, b, 2, (struct sb_compare_opts){ .paired = true });
    check_interval(&c, 0, sqrt(x + y), 1);
}

static void pairs_cancel_what_they_share(void)
{
    struct sb_mean a[] = { RUN_OF(100), RUN_OF(200), RUN_OF(300) };
    struct sb_mean b[] = { RUN_OF(112), RUN_OF(218), RUN_OF(330) };
    struct sb_compare_opts paired = { .paired = true };
    struct sb_compare c = compare(a, 3, b, 3, paired);
    double d[] = { 112 / 220. - 0.5, 218 / 220. - 1, 330 / 220. - 1.5 };
    double sum = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];

    check_interval(&c, 0.1, sqrt(sum / 6), 2);
    CHECK_INT(c.verdict, SB_VERDICT_HIGHER);
    c = compare(a, 3, b, 3, (struct sb_compare_opts){ 0 });
    CHECK_INT(c.verdict, SB_VERDICT_SAME);
    c = compare(a, 3, b, 2, paired);
    CHECK_INT(c.verdict, SB_VERDICT_SAME);
    a[1].value = NAN;
    c = compare(a, 3, b, 3, paired);
    CHECK_INT(c.a.runs, 2);
    CHECK_INT(c.b.runs, 2);
    CHECK_NEAR(c.b.value, 221, 1e-9);
    d[0] = 112 / 221. - 0.5;
    d[2] = 330 / 221. - 1.5;
    check_interval(&c, 0.105, sqrt((d[0] * d[0] + d[2] * d[2]) / 2), 1);
    c = compare(b, 3, a, 3, paired);
    CHECK_NEAR(c.a.value, 221, 1e-9);
    CHECK_INT(c.a.runs, 2);
}

static void single_runs_get_the_assumed_deviation(void)
{
    struct sb_mean a = run_of(200, 2, 6), b = run_of(210, 2.1, 12);
    struct sb_compare_opts o = { 0.95, 0, 0.02, false };
    struct sb_compare c = compare(&a, 1, &b, 1, o);
    double v = 2e-4 + 8e-4;

    check_interval(&c, 0.05, sqrt(v), v * v / (1e-8 / 6 + 1e-8 / 12));
    CHECK_INT(c.verdict, SB_VERDICT_SAME);
    CHECK(c.drift_unknown);
    CHECK_NEAR(c.a.high, 200 + sb_student_t(0.05, 6) * 2, 1e-9);
    o.run_deviation = 0;
    c = compare(&a, 1, &b, 1, o);
    CHECK_INT(c.verdict, SB_VERDICT_HIGHER);
    b.df = 0;
    b.error = NAN;
    c = compare(&a, 1, &b, 1, o);
    CHECK(c.too_short);
    CHECK_INT(c.verdict, SB_VERDICT_NONE);
    CHECK(isnan(c.low) && isnan(c.high) && isnan(c.p) && isnan(c.b.low));
    CHECK_NEAR(c.difference, 0.05, 1e-12);
}

static void a_single_run_varies_as_the_other_side_does(void)
{
    struct sb_mean a[] = { RUN_OF(96), RUN_OF(104), RUN_OF(100) };
    struct sb_mean b = RUN_OF(120);
    struct sb_compare c = compare(a, 3, &b, 1, (struct sb_compare_opts){ 0 });
    double x, y;

    check_interval(&c, 0.2, 0.04 * sqrt(1 + 1 / 3.), 2);
    CHECK(c.drift_unknown && !c.too_short);
    b = run_of(120, 1.2, 9);
    c = compare(a, 3, &b, 1, (struct sb_compare_opts){ 0 });
    check_interval(&c, 0.2, 0.04 * sqrt(1 + 1 / 3.), 2);
    b.error = 12;
    c = compare(&b, 1, a, 3, (struct sb_compare_opts){ 0 });
    x = 0.01;
    y = 16e-4 / 3;
    check_interval(&c, 100 / 120. - 1, sqrt(x + y),
        (x + y) * (x + y) / (x * x / 9 + y * y / 2));
}

static struct sb_compare with_drifts(double a, double b)
{
    struct sb_mean x = run_of(100, 1, 20), y = run_of(110, 1.1, 20);

    x.drift = a;
    y.drift = b;
    x.drift_error = 3.4;
    y.drift_error = 3.8;
    return compare(&x, 1, &y, 1, (struct sb_compare_opts){ 0 });
}

static void different_drifts_extend_the_interval(void)
{
    struct sb_compare plain = with_drifts(0, 0), both = with_drifts(50, 55);
    struct sb_compare chance = with_drifts(0, 13), c = with_drifts(0, 33);

    CHECK(!plain.drifts_differ && !both.drifts_differ);
    CHECK(!chance.drifts_differ && c.drifts_differ);
    CHECK_INT(both.verdict, SB_VERDICT_HIGHER);
    CHECK_NEAR(both.low, plain.low, 1e-12);
    CHECK_NEAR(c.low, (1 + plain.low) * exp(-0.15) - 1, 1e-9);
    CHECK_NEAR(c.high, (1 + plain.high) * exp(0.15) - 1, 1e-9);
    CHECK_INT(c.verdict, SB_VERDICT_SAME);
}

static void margins_move_the_verdict(void)
{
    struct sb_mean a = run_of(100, 1, 50), b = run_of(110, 1, 50);
    struct sb_compare_opts o = { 0.95, 0, 0, false };
    struct sb_compare c = compare(&a, 1, &b, 1, o);

    CHECK(c.low > 0.06 && c.low < 0.08 && c.high > 0.12 && c.high < 0.14);
    CHECK(!c.within_margin);
    o.margin = 0.06;
    CHECK_INT(compare(&a, 1, &b, 1, o).verdict, SB_VERDICT_HIGHER);
    CHECK_INT(compare(&b, 1, &a, 1, o).verdict, SB_VERDICT_LOWER);
    o.margin = c.low;
    CHECK_NEAR(compare(&a, 1, &b, 1, o).p, 0.05, 1e-9);
    o.margin = 0.09;
    c = compare(&a, 1, &b, 1, o);
    CHECK_INT(c.verdict, SB_VERDICT_SAME);
    CHECK(!c.within_margin && c.p > 0.05);
    o.margin = 0.14;
    c = compare(&a, 1, &b, 1, o);
    CHECK(c.within_margin);
    CHECK_NEAR(c.p, 1, 0);
    c = compare(&b, 1, &a, 1, o);
    CHECK(c.within_margin && c.low > -0.14);
    o.margin = -c.low - 1e-6;
    CHECK(!compare(&b, 1, &a, 1, o).within_margin);
}

static void figures_without_a_ratio_get_no_verdict(void)
{
    static const double values[] = { 0, -1, NAN };
    struct sb_mean good[] = { RUN_OF(5), RUN_OF(6) };

    for (size_t i = 0; i < 3; i++) {
        struct sb_mean bad[] = { RUN_OF(values[i]), RUN_OF(values[i]) };
        struct sb_compare c = compare(
            bad, 2, good, 2, (struct sb_compare_opts){ 0 });

        CHECK_INT(c.verdict, SB_VERDICT_NONE);
        CHECK(isnan(c.difference) && isnan(c.p) && !c.too_short);
        c = compare(good, 2, bad, 2, (struct sb_compare_opts){ 0 });
        CHECK_INT(c.verdict, SB_VERDICT_NONE);
    }
    CHECK_INT(
        compare(good, 2, NULL, 0, (struct sb_compare_opts){ 0 }).b.runs, 0);
}

static void exact_runs_differ_or_not(void)
{
    struct sb_mean a[] = { run_of(5, 0, 4), run_of(5, 0, 4) };
    struct sb_mean b[] = { run_of(6, 0, 4), run_of(6, 0, 4) };

    for (size_t runs = 1; runs <= 2; runs++) {
        struct sb_compare c = compare(
            a, runs, b, runs, (struct sb_compare_opts){ 0 });

        CHECK_INT(c.verdict, SB_VERDICT_HIGHER);
        CHECK_NEAR(c.p, 0, 0);
        CHECK_NEAR(c.low, 0.2, 1e-12);
        c = compare(a, runs, a, runs, (struct sb_compare_opts){ 0 });
        CHECK_INT(c.verdict, SB_VERDICT_SAME);
        CHECK_NEAR(c.p, 1, 0);
    }
}

static void holm_adjusts_by_rank(void)
{
    static const double p[] = { 0.04, 0.005, NAN, 0.03, 0.01, 0.9 };
    static const double want[] = { 0.09, 0.025, NAN, 0.09, 0.04, 0.9 };
    struct sb_compare c[6] = { { .p = 0 } };

    for (size_t i = 0; i < 6; i++) {
        c[i].p = c[i].p_adjusted = p[i];
        c[i].verdict = isnan(p[i]) ? SB_VERDICT_NONE : SB_VERDICT_LOWER;
    }
    CHECK_INT(sb_compare_holm(c, 6, 0.95), 0);
    for (size_t i = 0; i < 6; i++) {
        if (isnan(want[i])) {
            CHECK(isnan(c[i].p_adjusted));
            CHECK_INT(c[i].verdict, SB_VERDICT_NONE);
            continue;
        }
        CHECK_NEAR(c[i].p_adjusted, want[i], 1e-12);
        CHECK_INT(
            c[i].verdict, want[i] < 0.05 ? SB_VERDICT_LOWER : SB_VERDICT_SAME);
    }
    CHECK_INT(sb_compare_holm(NULL, 0, 0), 0);
}

// Prints how often single runs of the same are called different, and how often
// they are too short.
static void print_grid(void)
{
    static const size_t n[] = { 10, 20, 30, 60, 120, 300, 600, N_MAX };
    static const double rho[] = { -0.4, 0, 0.3, 0.5, 0.7, 0.9, 0.95 };
    const size_t rhos = sizeof(rho) / sizeof(rho[0]);

    for (size_t i = 0; i < sizeof(n) / sizeof(n[0]); i++) {
        printf("# | %zu |", n[i]);
        for (size_t k = 0; k <= rhos; k++) {
            struct world w = { "grid", n[i], .deviation = .03, ONE };
            struct rates r;

            if (k < rhos)
                w.rho = rho[k];
            else
                w.noise = SIM_HIDDEN;
            r = measure(&w, 0, 0, n[i] < N_MAX ? 10000 : 2000);
            printf(" %.1f / %.0f |", 100 * r.different, 100 * r.none);
        }
        printf("\n");
    }
}

CHECK_FILE
{
    verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    if (verbose)
        print_grid();
    RUN(runs_of_the_same_are_rarely_called_different);
    RUN(a_difference_of_5_percent_is_found);
    RUN(the_margin_is_rarely_exceeded_by_chance);
    RUN(short_correlated_runs_get_no_verdict);
    RUN(many_figures_are_rarely_called_different);
    RUN(repeats_are_compared_by_welchs_test);
    RUN(repeats_vary_at_least_as_within_runs);
    RUN(pairs_cancel_what_they_share);
    RUN(single_runs_get_the_assumed_deviation);
    RUN(a_single_run_varies_as_the_other_side_does);
    RUN(different_drifts_extend_the_interval);
    RUN(margins_move_the_verdict);
    RUN(figures_without_a_ratio_get_no_verdict);
    RUN(exact_runs_differ_or_not);
    RUN(holm_adjusts_by_rank);
    return check_done();
}
