// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/student.h"

#include <math.h>

#define NORMAL_DF 1e10 // from here on, t and normal agree to ten digits
#define MAX_STEPS 500

static const double ln_pi = 1.1447298858494002;

// ln(Gamma(a + 1/2) / Gamma(a)), a > 0: Stirling's series for large a, reached
// by the recurrence of Gamma. lgamma() would do, but it writes to a global.
static double ln_gamma_ratio(double a)
{
    double sum = 0, r;

    for (; a < 20; a++)
        sum += log(a / (a + 0.5));
    r = 1 / a;
    return sum + 0.5 * log(a) - r * (1. / 8 - r * r * (1. / 192 - r * r / 640));
}

// The continued fraction of the incomplete beta function, DLMF 8.17.22, by
// Lentz's method. Converges fast for x < (a + 1) / (a + b + 2).
static double beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1), f;

    d = 1 / (fabs(d) < tiny ? tiny : d);
    f = d;
    for (int m = 1; m < MAX_STEPS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x /
                     ((a + 2 * m) * (a + 2 * m + 1)),
               step;

        d = 1 / (1 + even * d);
        c = 1 + even / c;
        f *= c * d;
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        step = c * d;
        f *= step;
        if (fabs(step - 1) < 1e-14)
            break;
    }
    return f;
}

// P(|T| > t) is the regularized incomplete beta function I_x(df / 2, 1 / 2) at
// x = df / (df + t^2).
double sb_student_p(double t, double df)
{
    double a = df / 2, x, y, front;

    if (isnan(t) || isnan(df))
        return NAN;
    if (isinf(t))
        return 0;
    if (t == 0)
        return 1;
    if (df > NORMAL_DF)
        return erfc(fabs(t) / sqrt(2));
    // y = 1 - x, without cancellation.
    x = df / (df + t * t);
    y = t * t / (df + t * t);
    front = exp(
        ln_gamma_ratio(a) - ln_pi / 2 - a * log1p(t * t / df) + 0.5 * log(y));
    if (x < (a + 1) / (a + 2.5))
        return fmin(front * beta_fraction(x, a, 0.5) / a, 1);
    return fmax(1 - front * beta_fraction(y, 0.5, a) / 0.5, 0);
}

// Twice the density at t: the slope of the p value, with its sign reversed.
static double slope(double t, double df)
{
    if (df > NORMAL_DF)
        return sqrt(2 / M_PI) * exp(-t * t / 2);
    return 2 * exp(ln_gamma_ratio(df / 2) - ln_pi / 2 - log(df) / 2 -
                   (df + 1) / 2 * log1p(t * t / df));
}

// Newton's method on ln p as a function of ln t, which is close to a straight
// line in the tails, inside a bracket that is halved when a step leaves it.
double sb_student_t(double p, double df)
{
    double low = 0, high = INFINITY, t = 1;

    if (isnan(p) || isnan(df))
        return NAN;
    for (int i = 0; i < MAX_STEPS; i++) {
        double seen = sb_student_p(t, df), next;

        if (seen > p)
            low = t;
        else
            high = t;
        next = t * exp((log(seen) - log(p)) * seen / (slope(t, df) * t));
        if (!(next > low && next < high))
            next = isinf(high) ? 2 * t : (low + high) / 2;
        if (fabs(next - t) <= 1e-9 * t)
            return next;
        t = next;
    }
    return t;
}
