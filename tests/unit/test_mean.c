// SPDX-License-Identifier: GPL-2.0-or-later
//
// How often the intervals are right is tested in test_compare.c.
// Not with tsan: one thread.
#include "measure/mean.h"

#include "check.h"
#include "simulate.h"

#define N 300

static struct sb_mean mean_of(const double *value, size_t n)
{
    struct sb_values s = { value, NULL, n, NAN };
    struct sb_mean m;

    sb_mean(&s, &m);
    return m;
}

static void noise(double *x, size_t n, double rho, uint64_t seed)
{
    struct sb_rng r;

    sb_rng_init(&r, seed, 0);
    sim_ar1(&r, SIM_NORMAL, rho, x, n);
}

static void values_are_weighted_by_length(void)
{
    double value[] = { 10, 20, 40 }, seconds[] = { 2, 1, 0.5 };
    struct sb_values s = { value, seconds, 3, NAN };
    struct sb_mean m;

    sb_mean(&s, &m);
    CHECK_NEAR(m.value, 60 / 3.5, 1e-12);
    CHECK_INT(m.n, 3);
    CHECK(isnan(m.error) && isnan(m.drift) && isnan(m.drift_error));
    CHECK(m.df <= 0 && m.effective <= 0);
}

static void missing_values_do_not_count(void)
{
    double full[N], gaps[2 * N], seconds[2 * N];
    struct sb_values s = { gaps, seconds, 2 * N, NAN };
    struct sb_mean a, b;

    noise(full, N, 0.5, 1);
    for (size_t i = 0; i < N; i++) {
        static const double missing[] = { NAN, INFINITY, -INFINITY, 5, 5, 5 };
        static const double length[] = { 2, 2, 2, 0, -1, NAN };

        gaps[2 * i] = full[i];
        seconds[2 * i] = 2;
        gaps[2 * i + 1] = missing[i % 6];
        seconds[2 * i + 1] = length[i % 6];
    }
    a = mean_of(full, N);
    sb_mean(&s, &b);
    CHECK_INT(b.n, N);
    CHECK_NEAR(b.value, a.value, 1e-12);
    CHECK_NEAR(b.error, a.error, 1e-12);
    CHECK_NEAR(b.drift, a.drift, 1e-12);
    CHECK(a.error > 0);
}

// The run ends a moment after its last full interval.
static void a_tiny_interval_has_little_weight(void)
{
    double x[61], seconds[61];
    struct sb_values s = { x, seconds, 61, NAN };
    struct sb_mean a, b;

    for (uint64_t seed = 0; seed < 20; seed++) {
        noise(x, 60, 0.5, seed);
        x[60] = -40;
        for (size_t i = 0; i < 61; i++)
            seconds[i] = i < 60 ? 1 : 0.002;
        a = mean_of(x, 60);
        sb_mean(&s, &b);
        CHECK_NEAR(b.value, a.value, 0.002);
        CHECK_NEAR(b.error, a.error, 0.02);
        CHECK_NEAR(b.df, a.df, 1);
    }
}

static void a_series_without_values_has_no_mean(void)
{
    double none[] = { NAN, NAN };
    struct sb_values s = { none, NULL, 2, 7 };
    struct sb_mean m = mean_of(none, 2);

    CHECK_INT(m.n, 0);
    CHECK(isnan(m.value) && isnan(m.error));
    CHECK(isnan(mean_of(none, 0).value));
    sb_mean(&s, &m);
    CHECK_NEAR(m.value, 7, 0);
    CHECK(isnan(m.error));
}

static void a_constant_series_has_no_error(void)
{
    double same[N];
    struct sb_mean m;

    for (size_t i = 0; i < N; i++)
        same[i] = 0.1;
    m = mean_of(same, N);
    CHECK_NEAR(m.error, 0, 0);
    CHECK_NEAR(m.drift, 0, 1e-12);
    CHECK(m.df > 0);
    CHECK_NEAR(m.effective, N, 0);
}

static void a_line_is_drift_and_not_error(void)
{
    double flat[N], rising[N];
    struct sb_mean a, b;

    noise(flat, N, 0.5, 2);
    for (size_t i = 0; i < N; i++)
        rising[i] = 100 + 3 * flat[i] + 40 * ((double)i + 0.5) / N;
    a = mean_of(flat, N);
    b = mean_of(rising, N);
    CHECK_NEAR(b.value, 120 + 3 * a.value, 1e-9);
    CHECK_NEAR(b.error, 3 * a.error, 1e-9);
    CHECK_NEAR(b.drift, 40 + 3 * a.drift, 1e-9);
    CHECK_NEAR(b.effective, a.effective, 1e-9);
}

static void the_error_of_a_whole_run_is_in_proportion(void)
{
    double x[N];
    struct sb_values s = { x, NULL, N, 60 };
    struct sb_mean a, b;

    noise(x, N, 0, 3);
    for (size_t i = 0; i < N; i++)
        x[i] += 20 + 0.01 * (double)i;
    a = mean_of(x, N);
    sb_mean(&s, &b);
    CHECK_NEAR(b.value, 60, 0);
    CHECK_NEAR(b.error, a.error * 60 / a.value, 1e-12);
    CHECK_NEAR(b.drift, a.drift * 60 / a.value, 1e-12);
    CHECK_NEAR(b.effective, a.effective, 1e-12);
    for (size_t i = 0; i < N; i++)
        x[i] = 0;
    sb_mean(&s, &b);
    CHECK_NEAR(b.value, 60, 0);
    CHECK(isnan(b.error));
}

// The variance of the mean of AR(1) is (1 + rho) / (1 - rho) / n, nearly. The
// estimate is up to 11 % above, because fewer cosines are used if the lowest
// ones happen to be high.
static void the_error_accounts_for_autocorrelation(void)
{
    static const double rhos[] = { -0.4, 0, 0.5, 0.8 };
    double x[2000];

    for (size_t k = 0; k < 4; k++) {
        double want = (1 + rhos[k]) / (1 - rhos[k]) / 2000, sum = 0;
        double effective = 0, drift = 0;

        for (uint64_t seed = 0; seed < 200; seed++) {
            struct sb_mean m;

            noise(x, 2000, rhos[k], seed);
            m = mean_of(x, 2000);
            sum += m.error * m.error / 200;
            drift += m.drift * m.drift / 200;
            CHECK_NEAR(m.drift_error, sqrt(12) * m.error, 1e-9);
            effective += m.effective / 200;
        }
        CHECK_NEAR(sum / want, 1.06, 0.07);
        CHECK_NEAR(drift / want / 12, 1, 0.4);
        CHECK_NEAR(effective / fmin(1 / want, 2000), 0.94, 0.07);
    }
}

// The correlation of neighboring values is only 0.29, but the variance of the
// mean is that of the slow part, 0.3 * 39 / n, and 0.7 / n.
static void slow_changes_that_noise_hides_count(void)
{
    double x[2000], want = (0.3 * 39 + 0.7) / 2000, sum = 0;

    for (uint64_t seed = 0; seed < 100; seed++) {
        struct sb_mean m;
        struct sb_rng r;

        sb_rng_init(&r, seed, 1);
        sim_hidden(&r, x, 2000);
        m = mean_of(x, 2000);
        sum += m.error * m.error / 100;
    }
    CHECK_NEAR(sum / want, 1, 0.1);
}

static void a_series_too_short_for_its_correlation_has_no_error(void)
{
    double x[N];
    int unknown = 0;

    for (uint64_t seed = 0; seed < 100; seed++) {
        noise(x, 40, 0.95, seed);
        unknown += isnan(mean_of(x, 40).error);
        noise(x, N, 0.3, seed);
        CHECK(mean_of(x, N).error > 0);
        CHECK(isnan(mean_of(x, 7).error));
    }
    CHECK(unknown > 75);
}

CHECK_FILE
{
    RUN(values_are_weighted_by_length);
    RUN(missing_values_do_not_count);
    RUN(a_tiny_interval_has_little_weight);
    RUN(a_series_without_values_has_no_mean);
    RUN(a_constant_series_has_no_error);
    RUN(a_line_is_drift_and_not_error);
    RUN(the_error_of_a_whole_run_is_in_proportion);
    RUN(the_error_accounts_for_autocorrelation);
    RUN(slow_changes_that_noise_hides_count);
    RUN(a_series_too_short_for_its_correlation_has_no_error);
    return check_done();
}
