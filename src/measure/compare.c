// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/compare.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/err.h"
#include "measure/student.h"

// Figures --------------------------------------------------------------------

#define DRIFT_P 0.01 // drifts that differ by chance are rarer than this

// A variance and its degrees of freedom. Variances are relative to the square
// of the value, except in side.
struct variance {
    double v, df;
};

struct side {
    size_t runs;
    double value;         // mean over the runs
    struct variance mean; // of value; df is 0 if unknown
    double between;       // variance of one run, from the runs
    double effective;
    const struct sb_mean *single; // the only run
};

// With `partner`, run i counts if both have a value.
static bool counts(
    const struct sb_mean *run, const struct sb_mean *partner, size_t i)
{
    return isfinite(run[i].value) && (!partner || isfinite(partner[i].value));
}

// The variance of the sum of two independent estimates (Welch, Satterthwaite).
static struct variance add_variances(struct variance a, struct variance b)
{
    double v = a.v + b.v;

    if (v <= 0)
        return (struct variance){ 0, fmin(a.df, b.df) };
    return (
        struct variance){ v, v * v / (a.v * a.v / a.df + b.v * b.v / b.df) };
}

// A few runs may be close to each other by chance. So their variance is taken
// to be at least the variance that the intervals within the runs show.
static void between_runs(struct side *s, const struct sb_mean *run,
    const struct sb_mean *partner, size_t n)
{
    double squares = 0, within = 0, runs = (double)s->runs;

    assert(s->runs > 1);
    for (size_t i = 0; i < n; i++) {
        if (!counts(run, partner, i))
            continue;
        squares += (run[i].value - s->value) * (run[i].value - s->value);
        if (run[i].df > 0)
            within += run[i].error * run[i].error;
    }
    s->between = fmax(squares / (runs - 1), within / runs);
    s->mean = (struct variance){ s->between / runs, runs - 1 };
}

static struct side side_of(
    const struct sb_mean *run, const struct sb_mean *partner, size_t n)
{
    struct side s = { .value = NAN };
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        if (!counts(run, partner, i))
            continue;
        s.runs++;
        sum += run[i].value;
        s.effective += run[i].effective;
        s.single = &run[i];
    }
    if (s.runs > 0)
        s.value = sum / (double)s.runs;
    if (s.runs > 1) {
        s.single = NULL;
        between_runs(&s, run, partner, n);
    } else if (s.single && s.single->df > 0) {
        s.mean.v = s.single->error * s.single->error;
        s.mean.df = s.single->df;
    }
    return s;
}

static struct sb_estimate estimate(const struct side *s, double alpha)
{
    struct sb_estimate e = { s->value, NAN, NAN, s->effective, s->runs };

    if (s->mean.df > 0) {
        double half = sb_student_t(alpha, s->mean.df) * sqrt(s->mean.v);

        e.low = s->value - half;
        e.high = s->value + half;
    }
    return e;
}

static struct variance relative(const struct side *s)
{
    return (struct variance){ s->mean.v / (s->value * s->value), s->mean.df };
}

// For several runs on one side and a single run on the other: the single run is
// assumed to vary as the several runs do, or as its own intervals do if they
// vary more.
static struct variance one_and_many(
    const struct side *one, const struct side *many)
{
    struct variance single = relative(one), several = relative(many);
    double between = many->between / (many->value * many->value);

    if (single.df > 0 && single.v > between)
        return add_variances(several, single);
    return (struct variance){ several.v + between, several.df };
}

static struct variance unpaired(
    const struct side *a, const struct side *b, double run_deviation)
{
    struct variance assumed = { 2 * run_deviation * run_deviation, INFINITY };

    if (!a->single && !b->single)
        return add_variances(relative(a), relative(b));
    if (!a->single)
        return one_and_many(b, a);
    if (!b->single)
        return one_and_many(a, b);
    if (a->mean.df <= 0 || b->mean.df <= 0)
        return (struct variance){ NAN, 0 };
    return add_variances(add_variances(relative(a), relative(b)), assumed);
}

// Disturbances that affect both runs of a pair cancel out.
static struct variance of_pairs(const struct side *a, const struct side *b,
    const struct sb_mean *run_a, const struct sb_mean *run_b, size_t n)
{
    double squares = 0, within = 0, pairs = (double)a->runs;

    assert(a->runs == b->runs && a->runs > 1);
    for (size_t i = 0; i < n; i++) {
        const struct sb_mean *x = &run_a[i], *y = &run_b[i];
        double d = y->value / b->value - x->value / a->value;

        if (!counts(run_a, run_b, i))
            continue;
        squares += d * d;
        if (x->df > 0)
            within += x->error * x->error / (a->value * a->value);
        if (y->df > 0)
            within += y->error * y->error / (b->value * b->value);
    }
    return (struct variance){
        fmax(squares / (pairs - 1), within / pairs) / pairs, pairs - 1
    };
}

// If two single runs drift differently, the difference between them changes
// from the start to the end. Returns half of the difference between the drifts
// if it is not due to chance.
static double drift_allowance(const struct side *a, const struct side *b)
{
    double rise, error;

    if (!a->single || !b->single)
        return 0;
    rise = b->single->drift / b->value - a->single->drift / a->value;
    error = hypot(
        b->single->drift_error / b->value, a->single->drift_error / a->value);
    if (rise == 0 ||
        !(sb_student_p(rise / error,
              add_variances(relative(a), relative(b)).df) < DRIFT_P))
        return 0;
    return fabs(rise) / 2;
}

// p value of a distance from the margin, both as differences of logarithms.
static double p_value(double beyond, struct variance v)
{
    if (beyond <= 0)
        return 1;
    return v.v > 0 ? sb_student_p(beyond / sqrt(v.v), v.df) : 0;
}

static void judge_change(struct sb_compare *c, struct variance v,
    double allowance, const struct sb_compare_opts *o, double alpha)
{
    double d = log1p(c->difference);
    double half = allowance + sb_student_t(alpha, v.df) * sqrt(v.v);
    double edge = d > 0 ? log1p(o->margin) : -log1p(-o->margin);

    c->low = expm1(d - half);
    c->high = expm1(d + half);
    c->p = c->p_adjusted = p_value(fabs(d) - edge - allowance, v);
    c->within_margin = c->low > -o->margin && c->high < o->margin;
    c->verdict = SB_VERDICT_SAME;
    if (c->p < alpha)
        c->verdict = d > 0 ? SB_VERDICT_HIGHER : SB_VERDICT_LOWER;
}

void sb_compare(const struct sb_mean *a, size_t na, const struct sb_mean *b,
    size_t nb, const struct sb_compare_opts *o, struct sb_compare *c)
{
    double alpha = o->confidence > 0 ? 1 - o->confidence : 0.05;
    bool paired = o->paired && na == nb;
    struct side x = side_of(a, paired ? b : NULL, na);
    struct side y = side_of(b, paired ? a : NULL, nb);
    struct variance v;
    double allowance;

    *c = (struct sb_compare){ .a = estimate(&x, alpha),
        .b = estimate(&y, alpha),
        .difference = NAN,
        .low = NAN,
        .high = NAN,
        .p = NAN,
        .p_adjusted = NAN };
    c->drift_unknown = x.runs == 1 || y.runs == 1;
    if (!(x.value > 0) || !(y.value > 0))
        return;
    c->difference = y.value / x.value - 1;
    v = paired && x.runs > 1 ? of_pairs(&x, &y, a, b, na)
                             : unpaired(&x, &y, o->run_deviation);
    c->too_short = !(v.df > 0);
    if (c->too_short)
        return;
    allowance = drift_allowance(&x, &y);
    c->drifts_differ = allowance > 0;
    judge_change(c, v, allowance, o, alpha);
}

struct rank {
    double p;
    size_t i;
};

static int by_p(const void *a, const void *b)
{
    double x = ((const struct rank *)a)->p, y = ((const struct rank *)b)->p;

    return (x > y) - (x < y);
}

int sb_compare_holm(struct sb_compare *c, size_t n, double confidence)
{
    struct rank *rank = malloc((n + 1) * sizeof(*rank));
    double alpha = confidence > 0 ? 1 - confidence : 0.05, highest = 0;
    size_t ranks = 0;

    if (!rank)
        return SB_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        if (!isnan(c[i].p))
            rank[ranks++] = (struct rank){ c[i].p, i };
    }
    qsort(rank, ranks, sizeof(*rank), by_p);
    for (size_t k = 0; k < ranks; k++) {
        struct sb_compare *figure = &c[rank[k].i];

        highest = fmax(highest, fmin(rank[k].p * (double)(ranks - k), 1));
        figure->p_adjusted = highest;
        if (highest >= alpha)
            figure->verdict = SB_VERDICT_SAME;
    }
    free(rank);
    return 0;
}

// Shares and rates -----------------------------------------------------------

struct variation {
    double chi2; // Pearson's statistic of the parts
    double df;
};

// The variance of occurrences per expected one, if they are independent.
static double variance_of(double share, bool rates)
{
    return rates ? 1 : 1 - share;
}

// Whether occurrences can vary: not if there are none, or if there cannot be
// more.
static bool varies(double share, bool rates)
{
    return share > 0 && (rates || share < 1);
}

static void add_parts(
    struct variation *v, const struct sb_share_side *s, bool rates)
{
    double n = 0, of = 0;
    size_t used = 0;

    for (size_t i = 0; i < s->nparts; i++) {
        n += s->part[i].n;
        of += s->part[i].of;
        used += s->part[i].of > 0;
    }
    double share = n / of;

    if (used < 2 || !varies(share, rates))
        return;
    for (size_t i = 0; i < s->nparts; i++) {
        double expected = share * s->part[i].of;
        double difference = s->part[i].n - expected;

        if (expected > 0)
            v->chi2 += difference * difference /
                       (expected * variance_of(share, rates));
    }
    v->df += (double)used - 1;
}

static double p_of(
    const struct sb_share_side *a, const struct sb_share_side *b, bool rates)
{
    struct sb_occurrences x = a->total, y = b->total;
    double share = (x.n + y.n) / (x.of + y.of);
    struct variation v = { 0, 0 };

    if (!(x.of > 0) || !(y.of > 0))
        return NAN;
    if (!varies(share, rates))
        return 1;
    add_parts(&v, a, rates);
    add_parts(&v, b, rates);
    double dispersion = v.df > 0 ? v.chi2 / v.df : 1;
    double independent = share * variance_of(share, rates) *
                         (1 / x.of + 1 / y.of);

    // Independent occurrences have a known variance.
    if (dispersion <= 1)
        return sb_student_p(
            (x.n / x.of - y.n / y.of) / sqrt(independent), INFINITY);
    return sb_student_p(
        (x.n / x.of - y.n / y.of) / sqrt(dispersion * independent), v.df);
}

double sb_share_p(const struct sb_share_side *a, const struct sb_share_side *b)
{
    return p_of(a, b, false);
}

double sb_rate_p(const struct sb_share_side *a, const struct sb_share_side *b)
{
    return p_of(a, b, true);
}
