// SPDX-License-Identifier: GPL-2.0-or-later
//
// How often steps are found, missed, and found where there are none, with
// simulated series from fixed seeds. `test_changes -v` prints the table of
// docs/internals/history.md, with more series. Not with qemu, tsan: one thread,
// much arithmetic.
#include "measure/changes.h"

#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "simulate.h"

#define N      100
#define NEAR   3 // results
#define NOISE  0.02
#define STEP   0.05
#define DELAYS 8

static const struct sb_changes_opts opts = { 0.99, 0.0005 };
static int series_count = 200;

static struct sb_changes changes(const double *x, size_t n)
{
    struct sb_changes c;

    CHECK_INT(sb_changes_find(x, n, &opts, &c), 0);
    return c;
}

// Results around 0 with a deviation of NOISE, which fall at `at` by `step`.
static void simulate(struct sb_rng *r, enum sim_noise kind, double rho,
    size_t at, double step, double *x, size_t n)
{
    sim_ar1(r, kind, rho, x, n);
    for (size_t i = 0; i < n; i++)
        x[i] = NOISE * x[i] - (i >= at ? step : 0);
}

static bool has(const struct sb_changes *c, size_t at)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->change[i].at + NEAR >= at && c->change[i].at <= at + NEAR)
            return true;
    return false;
}

static void few_results_have_no_steps(void)
{
    const double x[] = { 1, 2, 1, 2, 90, 91 };
    struct sb_changes c = changes(x, 0);

    CHECK_INT(c.n, 0);
    sb_changes_done(&c);
    c = changes(x, 1);
    CHECK_INT(c.n, 0);
    CHECK_NEAR(c.level, 1, 0);
    CHECK(isnan(sb_changes_next(&c, 3, &opts).low));
    sb_changes_done(&c);
    c = changes(x, 4);
    CHECK_INT(c.n, 0);
    CHECK_NEAR(c.level, 1.5, 1e-12);
    sb_changes_done(&c);
}

static void steps_are_found_where_they_are(void)
{
    double x[60];
    struct sb_rng r;

    sb_rng_init(&r, 1, 0);
    simulate(&r, SIM_NORMAL, 0, 20, 0.2, x, 60);
    for (size_t i = 45; i < 60; i++)
        x[i] += 0.1;
    struct sb_changes c = changes(x, 60);

    CHECK_INT(c.n, 2);
    CHECK_INT(c.change[0].at, 20);
    CHECK_INT(c.change[1].at, 45);
    CHECK_NEAR(c.change[0].before, 0, 0.02);
    CHECK_NEAR(c.change[0].after, -0.2, 0.02);
    CHECK_NEAR(c.change[0].difference.value, -0.2, 0.02);
    CHECK(c.change[0].difference.low < -0.2);
    CHECK(c.change[0].difference.high > -0.2 &&
          c.change[0].difference.high < -0.17);
    CHECK_NEAR(c.change[1].difference.value, 0.1, 0.02);
    CHECK_INT(c.first, 45);
    CHECK_NEAR(c.level, -0.1, 0.02);
    CHECK_NEAR(c.deviation, NOISE, 0.005);
    sb_changes_done(&c);
}

// Values that are equal up to rounding have a step if the level changes, and
// none if single values differ.
static void values_that_are_equal(void)
{
    double x[30] = { 0 };

    x[7] = x[20] = 5;
    struct sb_changes c = changes(x, 30);

    CHECK_INT(c.n, 0);
    CHECK_NEAR(c.level, 0, 1e-3);
    sb_changes_done(&c);
    for (size_t i = 25; i < 30; i++)
        x[i] = 1;
    c = changes(x, 30);
    CHECK_INT(c.n, 1);
    CHECK_INT(c.change[0].at, 25);
    sb_changes_done(&c);
}

static void large_values_keep_their_digits(void)
{
    double x[40];

    for (size_t i = 0; i < 40; i++)
        x[i] = 1e12 + (double)(i % 3) + (i >= 20 ? 10 : 0);
    struct sb_changes c = changes(x, 40);

    CHECK_INT(c.n, 1);
    CHECK_INT(c.change[0].at, 20);
    CHECK_NEAR(c.change[0].difference.value, 10, 0.2);
    CHECK_NEAR(c.level, 1e12 + 11, 0.2);
    sb_changes_done(&c);
}

struct world {
    const char *name;
    enum sim_noise noise;
    double rho;
    double found;  // at least, percent
    double falses; // at most, per 1,000 results
    double looks;  // the same over all looks; 0: not simulated in the tests
};

static const struct world worlds[] = {
    { "normal", SIM_NORMAL, 0, 95, 1, 3 },
    { "correlation 0.3", SIM_NORMAL, 0.3, 90, 1, 0 },
    { "correlation 0.5", SIM_NORMAL, 0.5, 0, 1, 0 },
    { "correlation 0.7", SIM_NORMAL, 0.7, 0, 5, 0 },
    { "outliers", SIM_OUTLIERS, 0, 90, 2, 5 },
    { "outliers, correlation 0.3", SIM_OUTLIERS, 0.3, 0, 3, 0 },
    { "skewed", SIM_SKEWED, 0, 95, 2, 0 },
    { "hidden slow changes", SIM_HIDDEN, 0, 0, 10, 0 },
};

#define WORLDS (sizeof(worlds) / sizeof(*worlds))

// Percent of the series in which the step is found within NEAR results.
static double found_steps(const struct world *w, struct sb_rng *r)
{
    double x[N];
    int found = 0;

    for (int s = 0; s < series_count; s++) {
        size_t at = 20 + (size_t)(sb_rng_double(r) * (N - 40));

        simulate(r, w->noise, w->rho, at, STEP, x, N);
        struct sb_changes c = changes(x, N);

        found += has(&c, at);
        sb_changes_done(&c);
    }
    return 100. * found / series_count;
}

// Steps per 1,000 results of series without one.
static double false_steps(const struct world *w, struct sb_rng *r)
{
    double x[N], n = 0;

    for (int s = 0; s < series_count; s++) {
        simulate(r, w->noise, w->rho, N, 0, x, N);
        struct sb_changes c = changes(x, N);

        n += (double)c.n;
        sb_changes_done(&c);
    }
    return 1000 * n / (N * series_count);
}

// The same if the series is looked at after each result: all different steps
// that are found at any time.
static double false_steps_of_looks(const struct world *w, struct sb_rng *r)
{
    double x[N], found = 0;

    for (int s = 0; s < series_count; s++) {
        bool seen[N + 1] = { false };

        simulate(r, w->noise, w->rho, N, 0, x, N);
        for (size_t n = 2 * SB_CHANGES_SIDE_MIN; n <= N; n++) {
            struct sb_changes c = changes(x, n);

            for (size_t i = 0; i < c.n; i++) {
                size_t at = c.change[i].at;
                bool is_new = true;

                for (size_t k = at < NEAR ? 0 : at - NEAR;
                     k <= at + NEAR && k <= N; k++)
                    is_new = is_new && !seen[k];
                found += is_new;
                seen[at] = true;
            }
            sb_changes_done(&c);
        }
    }
    return 1000 * found / (N * series_count);
}

static void steps_are_found_and_not_invented(void)
{
    for (size_t k = 0; k < WORLDS; k++) {
        const struct world *w = &worlds[k];
        struct sb_rng r;

        sb_rng_init(&r, 7, k);
        CHECK(found_steps(w, &r) >= w->found);
        CHECK(false_steps(w, &r) <= w->falses);
        if (w->looks > 0)
            CHECK(false_steps_of_looks(w, &r) <= w->looks);
    }
}

// A step that lasts for ten results: both ends are found.
static void a_short_regression_is_found(void)
{
    double x[200];
    int found = 0;

    for (uint64_t seed = 0; seed < 200; seed++) {
        struct sb_rng r;

        sb_rng_init(&r, seed, 1);
        simulate(&r, SIM_NORMAL, 0, 100, STEP, x, 200);
        for (size_t i = 110; i < 200; i++)
            x[i] += STEP;
        struct sb_changes c = changes(x, 200);

        found += has(&c, 100) && has(&c, 110);
        sb_changes_done(&c);
    }
    CHECK(found >= 180);
}

// Of the intervals of steps and of the next result.
static void intervals_cover_what_they_should(void)
{
    double x[N + 1];
    struct sb_rng r;
    int steps = 0, missed = 0, next = 0;

    sb_rng_init(&r, 9, 0);
    for (int s = 0; s < 400; s++) {
        simulate(&r, SIM_NORMAL, s % 2 ? 0.3 : 0, 50, 0.1, x, N + 1);
        struct sb_changes c = changes(x, N);
        struct sb_difference d = sb_changes_next(&c, x[N], &opts);

        next += d.low > 0 || d.high < 0;
        for (size_t i = 0; i < c.n; i++) {
            if (c.change[i].at < 47 || c.change[i].at > 53)
                continue;
            steps++;
            missed += c.change[i].difference.low > -0.1 ||
                      c.change[i].difference.high < -0.1;
        }
        sb_changes_done(&c);
    }
    CHECK(steps >= 395);
    CHECK(missed <= 16); // 1 % nominal, after a search
    CHECK(next <= 12);   // 1 % nominal
}

// For the page: how soon a step is found, and how often the newest result alone
// is called different.
static void print_world(const struct world *w)
{
    double x[N];
    int step[DELAYS + 1] = { 0 }, any[DELAYS + 1] = { 0 };
    struct sb_rng r;

    sb_rng_init(&r, 8, 0);
    for (int s = 0; s < series_count; s++) {
        const size_t at = 60;
        bool newest = false;

        simulate(&r, w->noise, w->rho, at, STEP, x, N);
        for (size_t n = 1; n <= DELAYS; n++) {
            struct sb_changes c = changes(x, at + n);
            struct sb_changes past = changes(x, at + n - 1);
            bool found = has(&c, at);

            newest = newest ||
                     sb_changes_next(&past, x[at + n - 1], &opts).high < 0;
            step[n] += found;
            any[n] += found || newest;
            sb_changes_done(&c);
            sb_changes_done(&past);
        }
    }
    printf("# | %s | %.1f %% | 1/%.0f | 1/%.0f |", w->name, found_steps(w, &r),
        1000 / false_steps(w, &r), 1000 / false_steps_of_looks(w, &r));
    for (int n = 1; n <= DELAYS; n += n < 5 ? 2 : 3)
        printf(" %.0f / %.0f |", 100. * step[n] / series_count,
            100. * any[n] / series_count);
    printf("\n");
}

CHECK_FILE
{
    RUN(few_results_have_no_steps);
    RUN(steps_are_found_where_they_are);
    RUN(values_that_are_equal);
    RUN(large_values_keep_their_digits);
    RUN(steps_are_found_and_not_invented);
    RUN(a_short_regression_is_found);
    RUN(intervals_cover_what_they_should);
    if (argc > 1 && strcmp(argv[1], "-v") == 0) {
        series_count = 1000;
        for (size_t k = 0; k < WORLDS; k++)
            print_world(&worlds[k]);
    }
    return check_done();
}
