// SPDX-License-Identifier: GPL-2.0-or-later
//
// Table values have nine digits. Other degrees of freedom are compared with
// closed forms and with the integral of the density.
// Not with tsan: one thread.
#include "measure/student.h"

#include "check.h"

static void quantiles_are_those_of_tables(void)
{
    static const struct {
        double p, df, t;
    } table[] = {
        { 0.05, 1, 12.7062047 },
        { 0.05, 2, 4.30265273 },
        { 0.05, 3, 3.18244631 },
        { 0.05, 10, 2.22813885 },
        { 0.05, 30, 2.04227246 },
        { 0.01, 5, 4.03214298 },
        { 0.05, INFINITY, 1.95996398 },
        { 0.01, INFINITY, 2.57582930 },
        { 0.001, 1, 636.619249 },
        { 0.1, 20, 1.72471824 },
        { 0.5, 1, 1 },
        { 0.5, INFINITY, 0.674489750 },
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        CHECK_NEAR(sb_student_t(table[i].p, table[i].df) / table[i].t, 1, 3e-9);
}

static void few_degrees_have_closed_forms(void)
{
    for (double t = 1e-3; t < 1e5; t *= 1.7) {
        double one = t < 1 ? 1 - 2 / M_PI * atan(t) : 2 / M_PI * atan(1 / t);
        double root = sqrt(2 + t * t), two = 2 / (root * (root + t));
        // 1 - t (6 + t^2) / (4 + t^2)^(3/2), without cancellation.
        double cube = pow(4 + t * t, 1.5);
        double four = (64 + 12 * t * t) / (cube * (cube + t * (6 + t * t)));

        CHECK_NEAR(sb_student_p(t, 1) / one, 1, 1e-9);
        CHECK_NEAR(sb_student_p(-t, 2) / two, 1, 1e-9);
        CHECK_NEAR(sb_student_p(t, 4) / four, 1, 1e-9);
    }
}

// Simpson's rule over the density from 0 to t.
static double integral(double t, double df)
{
    double scale = exp(lgamma((df + 1) / 2) - lgamma(df / 2)) / sqrt(M_PI * df),
           sum = 0, step = t / 2000;

    for (int i = 0; i <= 2000; i++) {
        double weight = i == 0 || i == 2000 ? 1 : i % 2 ? 4 : 2, x = i * step;

        sum += weight * scale * pow(1 + x * x / df, -(df + 1) / 2);
    }
    return 1 - 2 * sum * step / 3;
}

static void any_degrees_are_the_integral_of_the_density(void)
{
    static const double df[] = { 0.5, 1.37, 3.3, 7.5, 41.2, 300, 12345.6 };

    for (size_t i = 0; i < sizeof(df) / sizeof(df[0]); i++) {
        for (double t = 0.1; t < 4; t += 0.3)
            CHECK_NEAR(sb_student_p(t, df[i]), integral(t, df[i]), 1e-9);
    }
}

static void quantile_and_p_value_are_inverse(void)
{
    for (double df = 0.7; df < 1e12; df *= 3.1) {
        for (double p = 1e-8; p < 1; p *= 2.3)
            CHECK_NEAR(sb_student_p(sb_student_t(p, df), df) / p, 1, 1e-7);
    }
}

static void ends_are_exact(void)
{
    CHECK_NEAR(sb_student_p(0, 3), 1, 0);
    CHECK_NEAR(sb_student_p(INFINITY, 3), 0, 0);
    CHECK_NEAR(sb_student_p(-INFINITY, INFINITY), 0, 0);
    CHECK(isnan(sb_student_p(NAN, 3)) && isnan(sb_student_p(1, NAN)));
    CHECK(isnan(sb_student_t(NAN, 3)) && isnan(sb_student_t(0.05, NAN)));
}

CHECK_FILE
{
    RUN(quantiles_are_those_of_tables);
    RUN(few_degrees_have_closed_forms);
    RUN(any_degrees_are_the_integral_of_the_density);
    RUN(quantile_and_p_value_are_inverse);
    RUN(ends_are_exact);
    return check_done();
}
