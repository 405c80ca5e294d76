// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include "measure/stability.h"

#include "check.h"

static struct sb_stability stability(const double *value, const double *seconds,
    size_t n, struct sb_stability_opts o)
{
    struct sb_values s = { value, seconds, n, NAN };
    struct sb_stability out;

    CHECK_INT(sb_stability(&s, &o, &out), 0);
    return out;
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ALL(array)             \
    (struct sb_stability_opts) \
    {                          \
        .to = COUNT(array)     \
    }

static void quartiles_are_interpolated(void)
{
    static const double x[] = { 40, 10, 30, 20 };
    struct sb_stability s = stability(x, NULL, 4, ALL(x));

    CHECK_INT(s.n, 4);
    CHECK_NEAR(s.q1, 17.5, 1e-12);
    CHECK_NEAR(s.median, 25, 1e-12);
    CHECK_NEAR(s.q3, 32.5, 1e-12);
    CHECK_NEAR(s.cv, sqrt(500 / 3.) / 25, 1e-12);
    CHECK_NEAR(s.worst, 10, 0);
    CHECK_NEAR(s.worst_at, 1, 0);
}

static void the_last_half_is_the_default(void)
{
    static const double x[] = { 1, 1, 1, 1, 50, 60, 70, 80 };
    static const double seconds[] = { 2, 2, 2, 2, 2, 2, 2, 2 };
    struct sb_stability s = stability(
        x, seconds, 8, (struct sb_stability_opts){ 0 });

    CHECK_INT(s.n, 4);
    CHECK_NEAR(s.from, 8, 0);
    CHECK_NEAR(s.to, 16, 0);
    CHECK_NEAR(s.worst, 50, 0);
    CHECK_NEAR(s.worst_at, 8, 0);
    s = stability(
        x, seconds, 8, (struct sb_stability_opts){ .from = 3, .to = 11 });
    CHECK_INT(s.n, 4);
    CHECK_NEAR(s.q3, 1 + 49 / 4., 1e-12);
    s = stability(
        x, seconds, 8, (struct sb_stability_opts){ .from = 15, .to = 99 });
    CHECK_INT(s.n, 1);
    CHECK_NEAR(s.to, 16, 0);
    CHECK_NEAR(s.median, 80, 0);
    CHECK(isnan(s.cv));
    s = stability(
        x, seconds, 8, (struct sb_stability_opts){ .from = 20, .to = 30 });
    CHECK_INT(s.n, 0);
    CHECK(isnan(s.median) && isnan(s.worst) && isnan(s.dip_seconds));
}

static void the_longest_dip_is_found(void)
{
    static const double x[] = { 100, 40, 100, 49, 20, 45, 100, 51, 100, 3, 1,
        100, 100, 100, 100 };
    struct sb_stability s = stability(x, NULL, 15, ALL(x));

    CHECK_INT(s.dips, 3);
    CHECK_NEAR(s.dip_seconds, 3, 0);
    CHECK_NEAR(s.dip_at, 3, 0);
    CHECK_INT(s.dip_n, 3);
    CHECK_NEAR(s.dip_worst, 20, 0);
    CHECK_NEAR(s.dip_share, 6 / 15., 1e-12);
    CHECK_NEAR(s.worst, 1, 0);
    CHECK_NEAR(s.worst_at, 10, 0);
    s = stability(
        x, NULL, 15, (struct sb_stability_opts){ .to = 15, .dip = 0.1 });
    CHECK_INT(s.dips, 1);
    CHECK_NEAR(s.dip_at, 9, 0);
    s = stability(
        x, NULL, 15, (struct sb_stability_opts){ .to = 15, .dip = 0.01 });
    CHECK_INT(s.dips, 0);
    CHECK_NEAR(s.dip_seconds, 0, 0);
    CHECK(isnan(s.dip_at) && isnan(s.dip_worst));
}

// A dip is as long as its intervals, however many there are.
static void a_late_interval_is_a_long_dip(void)
{
    static const double x[] = { 100, 1, 1, 100, 20, 100, 100, 100, 100 };
    static const double seconds[] = { 1, 1, 1, 1, 7, 1, 1, 1, 1 };
    struct sb_stability s = stability(
        x, seconds, 9, (struct sb_stability_opts){ .to = 15 });

    CHECK_NEAR(s.dip_seconds, 7, 0);
    CHECK_NEAR(s.dip_at, 4, 0);
    CHECK_INT(s.dip_n, 1);
}

static void latency_dips_upwards(void)
{
    static const double x[] = { 10, 10, 21, 35, 10, 19, 10, 2, 10 };
    struct sb_stability s = stability(
        x, NULL, 9, (struct sb_stability_opts){ .to = 9, .latency = true });

    CHECK_INT(s.dips, 1);
    CHECK_NEAR(s.dip_at, 2, 0);
    CHECK_NEAR(s.dip_seconds, 2, 0);
    CHECK_NEAR(s.dip_worst, 35, 0);
    CHECK_NEAR(s.worst, 35, 0);
    CHECK_NEAR(s.worst_at, 3, 0);
}

static void missing_values_do_not_end_a_dip(void)
{
    static const double x[] = { 100, 100, 10, NAN, 10, 100, 100, 100, NAN };
    struct sb_stability s = stability(x, NULL, 9, ALL(x));

    CHECK_INT(s.n, 7);
    CHECK_INT(s.dips, 1);
    CHECK_INT(s.dip_n, 2);
    CHECK_NEAR(s.dip_seconds, 2, 0);
    CHECK_NEAR(s.dip_share, 2 / 7., 1e-12);
}

static void an_incomplete_last_interval_does_not_count(void)
{
    static const double x[] = { 100, 100, 100, 3 };
    double seconds[] = { 1, 1, 1, 0.4 };
    struct sb_stability_opts all = { .to = 4 };

    CHECK_NEAR(stability(x, seconds, 4, all).worst, 100, 0);
    seconds[3] = 0.6;
    CHECK_NEAR(stability(x, seconds, 4, all).worst, 3, 0);
}

static void an_empty_series_has_no_figures(void)
{
    struct sb_stability s = stability(
        NULL, NULL, 0, (struct sb_stability_opts){ 0 });

    CHECK_INT(s.n, 0);
    CHECK(isnan(s.q1) && isnan(s.cv) && isnan(s.dip_share));
}

CHECK_FILE
{
    RUN(quartiles_are_interpolated);
    RUN(the_last_half_is_the_default);
    RUN(the_longest_dip_is_found);
    RUN(a_late_interval_is_a_long_dip);
    RUN(latency_dips_upwards);
    RUN(missing_values_do_not_end_a_dip);
    RUN(an_incomplete_last_interval_does_not_count);
    RUN(an_empty_series_has_no_figures);
    return check_done();
}
