// SPDX-License-Identifier: GPL-2.0-or-later
// Not with tsan: one thread.
#include "kit/timedist.h"

#include "check.h"
#include "check_stat.h"

static double cdf_exponential(double x, double mean)
{
    return -expm1(-x / mean);
}

static void exponential(void)
{
    enum { N = 100000 };
    static double v[N];
    struct sb_rng r;

    sb_rng_init(&r, 2, 0);
    for (int i = 0; i < N; i++)
        v[i] = sb_timedist_exponential(&r, 3e6);
    CHECK(stat_ks(v, N, cdf_exponential, 3e6) < 1);
    CHECK(stat_ks(v, N, cdf_exponential, 3.1e6) > 1);
}

static double mean_of(const char *text, double *deviation)
{
    enum { N = 100000 };
    struct sb_timedist t = { 0 };
    double sum = 0, squares = 0;
    struct sb_rng r;

    CHECK_INT(sb_timedist_parse(text, &t, NULL), 0);
    sb_rng_init(&r, 1, 0);
    for (int i = 0; i < N; i++) {
        int64_t ns = sb_timedist_draw(&t, &r);

        CHECK(ns >= 0);
        sum += (double)ns;
        squares += (double)ns * (double)ns;
    }
    *deviation = sqrt(squares / N - sum / N * (sum / N));
    return sum / N;
}

// Tolerances: 4 standard errors of the mean and of the deviation.
static void means_and_deviations(void)
{
    double sd;

    CHECK_NEAR(mean_of("2ms", &sd), 2e6, 0);
    CHECK_NEAR(mean_of("constant:3us", &sd), 3e3, 0);
    CHECK_NEAR(mean_of("0.5", &sd), 5e8, 0);
    CHECK_NEAR(mean_of("uniform:1ms,3ms", &sd), 2e6, 7.3e3);
    CHECK_NEAR(sd, 2e6 / sqrt(12), 3.3e3);
    CHECK_NEAR(mean_of("exp:2ms", &sd), 2e6, 25.3e3);
    CHECK_NEAR(sd, 2e6, 36e3);
    CHECK_NEAR(mean_of("normal:2ms,0.1ms", &sd), 2e6, 1.3e3);
    CHECK_NEAR(sd, 1e5, 9e2);
    // Minimum 1, shape 4: mean 4/3, variance 2/9.
    CHECK_NEAR(mean_of("pareto:1ms,4", &sd), 4e6 / 3, 6e3);
    CHECK_NEAR(sd, 1e6 * sqrt(2 / 9.0), 5e4);
    // Truncated at 0: half of the draws are 0, the mean is sd / sqrt(2 pi).
    CHECK_NEAR(mean_of("normal:0,1ms", &sd), 1e6 / sqrt(2 * M_PI), 7.4e3);
    CHECK(mean_of("pareto:1s,0.001", &sd) <= 1e18);
}

static void zero(void)
{
    struct sb_timedist t = { 0 };

    CHECK(sb_timedist_is_zero(&t));
    CHECK_INT(sb_timedist_parse("0", &t, NULL), 0);
    CHECK(sb_timedist_is_zero(&t));
    CHECK_INT(sb_timedist_parse("exp:0", &t, NULL), 0);
    CHECK(sb_timedist_is_zero(&t));
    CHECK_INT(sb_timedist_parse("exp:1ms", &t, NULL), 0);
    CHECK(!sb_timedist_is_zero(&t));
}

static void rejects(void)
{
    static const char *const bad[] = { "", "x", "uniform:", "uniform:1ms",
        "uniform:1ms,2ms,3ms", "uniform:3ms,1ms", "exp:1ms,2ms",
        "exp:", "exp:-1ms", "-1ms", "normal:1ms,-1ms", "pareto:1ms,0",
        "pareto:1ms,x", "gauss:1ms", "2ms,3ms", ":1ms", "exp:nan" };
    const struct sb_timedist before = { 77, 1, 2 };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct sb_timedist t = before;
        struct sb_err err = { 0 };

        CHECK(sb_timedist_parse(bad[i], &t, &err) < 0);
        CHECK(t.kind == before.kind && t.a == before.a && t.b == before.b);
        CHECK(strstr(err.msg, "not a time distribution") != NULL);
    }
}

CHECK_FILE
{
    RUN(exponential);
    RUN(means_and_deviations);
    RUN(zero);
    RUN(rejects);
    return check_done();
}
