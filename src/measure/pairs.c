// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/pairs.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "measure/student.h"

// The model -------------------------------------------------------------------
//
// The logarithm of B / A of a pair is the difference of the sides, plus or
// minus half of the effect of the order, plus what the run before each of both
// has left.

enum { SIDES, ORDER, CARRY, TERMS };

// A least-squares fit of the first `terms` terms.
struct fit {
    unsigned terms;
    double df;
    double variance;       // of a pair
    double value[TERMS];   // of the coefficients
    double inverse[TERMS]; // their variances over `variance`
};

// The terms of pair i, with the run that came before it, if there is one.
static void terms_of(const struct sb_pair *pair, size_t i, double term[TERMS])
{
    bool after_b = i > 0 && !pair[i - 1].b_first;

    term[SIDES] = 1;
    term[ORDER] = pair[i].b_first ? -0.5 : 0.5;
    // A and B have different predecessors only if one of them follows its own
    // side.
    term[CARRY] = pair[i].b_first == after_b ? 0 : -1;
}

static double ratio_of(const struct sb_pair *pair)
{
    return log(pair->b / pair->a);
}

// Solves the normal equations by elimination, with the inverse matrix beside
// them. Returns false if the pairs cannot tell the terms apart.
static bool solve(double m[TERMS][2 * TERMS + 1], unsigned k, struct fit *f)
{
    for (unsigned i = 0; i < k; i++) {
        double pivot = m[i][i];

        if (fabs(pivot) < 1e-9)
            return false;
        for (unsigned c = 0; c <= 2 * TERMS; c++)
            m[i][c] /= pivot;
        for (unsigned r = 0; r < k; r++) {
            double factor = m[r][i];

            for (unsigned c = 0; r != i && c <= 2 * TERMS; c++)
                m[r][c] -= factor * m[i][c];
        }
    }
    for (unsigned i = 0; i < k; i++) {
        f->value[i] = m[i][2 * TERMS];
        f->inverse[i] = m[i][TERMS + i];
    }
    return true;
}

// Fits the pairs from `first` on.
static bool fit_pairs(const struct sb_pair *pair, size_t first, size_t n,
    unsigned terms, struct fit *f)
{
    // The normal equations, the unit matrix, the right-hand side.
    double m[TERMS][2 * TERMS + 1] = { { 0 } }, squares = 0;

    *f = (struct fit){ .terms = terms,
        .df = (double)(n - first) - (double)terms };
    for (size_t i = first; i < n; i++) {
        double term[TERMS];

        terms_of(pair, i, term);
        for (unsigned r = 0; r < terms; r++) {
            for (unsigned c = 0; c < terms; c++)
                m[r][c] += term[r] * term[c];
            m[r][TERMS + r] = 1;
            m[r][2 * TERMS] += term[r] * ratio_of(&pair[i]);
        }
    }
    if (f->df < 1 || !solve(m, terms, f))
        return false;
    for (size_t i = first; i < n; i++) {
        double term[TERMS], rest = ratio_of(&pair[i]);

        terms_of(pair, i, term);
        for (unsigned t = 0; t < terms; t++)
            rest -= f->value[t] * term[t];
        squares += rest * rest;
    }
    f->variance = squares / f->df;
    return true;
}

static struct sb_pairs_effect effect_of(const struct fit *f, unsigned term)
{
    double error = sqrt(f->variance * f->inverse[term]);
    double value = f->value[term];

    return (struct sb_pairs_effect){ expm1(value),
        error > 0 ? sb_student_p(value / error, f->df) : value == 0 };
}

// The answer ------------------------------------------------------------------

static enum sb_pairs_verdict judge(double low, double high, double margin)
{
    if (low > margin)
        return SB_PAIRS_HIGHER;
    if (high < -margin)
        return SB_PAIRS_LOWER;
    if (low > -margin && high < margin)
        return SB_PAIRS_EQUIVALENT;
    return SB_PAIRS_UNKNOWN;
}

// The levels of looks are those of a known deviation. An estimated one causes
// up to 1.3 times as many errors (docs/internals/pairs.md).
#define T_SHARE 0.75

// Half of the interval of a logarithm; INFINITY: no look.
static double half_of(double deviation, double n, double df, double level)
{
    if (!(level > 0) || df < 1)
        return INFINITY;
    return sb_student_t(level, df) * deviation / sqrt(n);
}

// Runs in two modes look by chance as if the order made the difference, so the
// variance is at least this share of the variance without the order.
#define ORDER_SHARE 0.5

static double careful_variance(
    const struct sb_pair *pair, size_t n, const struct fit *f)
{
    struct fit alone;

    fit_pairs(pair, 0, n, SIDES + 1, &alone);
    return fmax(f->variance, ORDER_SHARE * alone.variance);
}

int sb_pairs_design(const struct sb_pairs_opts *o, struct sb_sequential **out)
{
    return sb_sequential_new(T_SHARE * (1 - o->confidence), o->planned, out);
}

void sb_pairs_judge(const struct sb_pair *pair, size_t n,
    const struct sb_pairs_opts *o, struct sb_sequential *levels,
    struct sb_pairs_answer *answer)
{
    const struct sb_pairs_effect unknown = { NAN, NAN };
    struct fit f;

    *answer = (struct sb_pairs_answer){ SB_PAIRS_UNKNOWN, NAN, NAN, NAN, NAN,
        unknown, unknown };
    if (!fit_pairs(pair, 0, n, ORDER + 1, &f))
        return;
    answer->order = effect_of(&f, ORDER);
    f.variance = careful_variance(pair, n, &f);
    double level = sb_sequential_level(levels, (unsigned)n);
    double half = half_of(sqrt(f.variance), 1 / f.inverse[SIDES], f.df, level);

    answer->difference = expm1(f.value[SIDES]);
    answer->deviation = sqrt(f.variance);
    if (isfinite(half)) {
        answer->low = expm1(f.value[SIDES] - half);
        answer->high = expm1(f.value[SIDES] + half);
        answer->verdict = judge(answer->low, answer->high, o->margin);
    }
    if (fit_pairs(pair, 1, n, CARRY + 1, &f))
        answer->carry = effect_of(&f, CARRY);
}

unsigned sb_pairs_more(const struct sb_pairs_answer *answer, size_t n,
    const struct sb_pairs_opts *o, struct sb_sequential *levels, unsigned most)
{
    if (answer->verdict != SB_PAIRS_UNKNOWN)
        return 0;
    for (unsigned more = 1; more < most; more++) {
        double all = (double)n + more, d = log1p(answer->difference);
        double half = half_of(answer->deviation, all, all - 2,
            sb_sequential_level(levels, (unsigned)n + more));

        if (judge(expm1(d - half), expm1(d + half), o->margin) !=
            SB_PAIRS_UNKNOWN)
            return more;
    }
    return most;
}

// The true deviation over an estimated one, at this quantile of chi squared,
// which is given as one of the normal distribution (Wilson and Hilferty 1931).
static double true_over_estimated(double df, double z)
{
    double c = 2 / (9 * df), root = 1 - c + z * sqrt(c);

    return root > 0 ? pow(root, -1.5) : INFINITY;
}

void sb_pairs_resolve(double deviation, double df,
    const struct sb_pairs_opts *o, struct sb_sequential *levels,
    struct sb_pairs_resolution *r)
{
    // Nine of ten normal values are below this.
    const double most = sb_student_t(0.2, INFINITY);
    double n = o->planned;
    double level = sb_sequential_level(levels, o->planned);
    double z = sb_student_t(1 - o->confidence, INFINITY);
    double half = half_of(deviation, n, n - 2, level);

    *r = (struct sb_pairs_resolution){ NAN, NAN, NAN };
    if (!(df > 0) || !isfinite(half))
        return;
    r->value = expm1(half + most * deviation / sqrt(n));
    r->low = r->value * true_over_estimated(df, z);
    r->high = r->value * true_over_estimated(df, -z);
}
