// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/changes.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "measure/student.h"

#define SIDE_MIN ((size_t)SB_CHANGES_SIDE_MIN)

// The p values of steps, as simulated (docs/internals/history.md).
#define P_STEP    0.001
#define P_SECTION 0.0002 // of a step that only a section shows

// Outliers: results that are farther than this from the median of their
// neighbors are moved to this distance, in standard deviations.
#define REACH   3 // neighbors on each side
#define OUTLIER 3.5

// The first search assumes this correlation; what it leaves shows the true one.
#define RHO_ASSUMED 0.5
#define RHO_MAX     0.9
#define RHO_WEIGHT  20 // results that are taken for uncorrelated

#define NORMAL_MAD 0.6744897501960817 // of a standard normal variable

struct search {
    const double *x; // without outliers
    size_t n;
    double *sum, *squares; // of values 0 to i - 1
    bool *begins;          // a level begins with this result
    double inflation;      // of the variance of means, by the correlation
    double floor;          // lowest variance
};

// Outliers ----------------------------------------------------------------

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
    qsort(v, n, sizeof(*v), by_value);
    return (v[(n - 1) / 2] + v[n / 2]) / 2;
}

// The standard deviation by differences of neighbors, which few steps and
// outliers do not change. work: n values.
static double robust_deviation(const double *value, size_t n, double *work)
{
    for (size_t i = 1; i < n; i++)
        work[i - 1] = fabs(value[i] - value[i - 1]);
    return median(work, n - 1) / NORMAL_MAD / M_SQRT2;
}

// Hampel's filter.
static void move_outliers(
    const double *value, size_t n, double *x, double resolution)
{
    double most = OUTLIER * fmax(robust_deviation(value, n, x), resolution);
    double near[2 * REACH + 1];

    for (size_t i = 0; i < n; i++) {
        size_t first = i < REACH ? 0 : i - REACH;
        size_t end = i + REACH + 1 < n ? i + REACH + 1 : n;

        memcpy(near, value + first, (end - first) * sizeof(*near));
        double middle = median(near, end - first);
        x[i] = fmin(fmax(value[i], middle - most), middle + most);
    }
}

// Steps -------------------------------------------------------------------

static double mean_of(const struct search *s, size_t first, size_t end)
{
    return (s->sum[end] - s->sum[first]) / (double)(end - first);
}

// The sum of the squares of deviations from the mean.
static double deviations(const struct search *s, size_t first, size_t end)
{
    double sum = s->sum[end] - s->sum[first];

    return fmax(
        s->squares[end] - s->squares[first] - sum * sum / (double)(end - first),
        0);
}

// The sum of squares that a step explains.
static double explained(
    const struct search *s, size_t first, size_t at, size_t end)
{
    double d = mean_of(s, at, end) - mean_of(s, first, at);

    return d * d * (double)(at - first) * (double)(end - at) /
           (double)(end - first);
}

// The p value of a step at a given place, by Student's t.
static double p_of_step(
    const struct search *s, size_t first, size_t at, size_t end)
{
    double df = (double)(end - first) - 2;
    double within = (deviations(s, first, at) + deviations(s, at, end)) / df;

    return sb_student_p(sqrt(explained(s, first, at, end) /
                             (s->inflation * fmax(within, s->floor))),
        df);
}

// The most likely place of a step; 0: too few results.
static size_t best_step(const struct search *s, size_t first, size_t end)
{
    double most = -1;
    size_t best = 0;

    for (size_t at = first + SIDE_MIN; at + SIDE_MIN <= end; at++) {
        double e = explained(s, first, at, end);

        if (e > most) {
            most = e;
            best = at;
        }
    }
    return best;
}

// Finds a step that others hide in the whole: the most significant one of
// sections of half overlap, each length is 0.7 of the one before ("seeded").
static size_t step_in_sections(const struct search *s, size_t first, size_t end)
{
    double length = (double)(end - first), lowest = P_SECTION;
    size_t best = 0;

    while ((length *= M_SQRT1_2) >= 2 * (double)SIDE_MIN) {
        size_t size = (size_t)ceil(length), rest = end - first - size;
        size_t steps = (2 * rest + size - 1) / size;

        for (size_t i = 0; i <= steps; i++) {
            size_t from = first + (steps ? rest * i / steps : 0);
            size_t at = best_step(s, from, from + size);
            double p = p_of_step(s, from, at, from + size);

            if (p < lowest) {
                lowest = p;
                best = at;
            }
        }
    }
    return best;
}

static void mark_steps(struct search *s, size_t first, size_t end)
{
    size_t at = best_step(s, first, end);

    if (at == 0)
        return;
    if (!(p_of_step(s, first, at, end) < P_STEP))
        at = step_in_sections(s, first, end);
    if (at == 0)
        return;
    s->begins[at] = true;
    mark_steps(s, first, at);
    mark_steps(s, at, end);
}

// The next begin of a level behind `at`, or the end.
static size_t next_step(const struct search *s, size_t at)
{
    do
        at++;
    while (at < s->n && !s->begins[at]);
    return at;
}

// Moves each step to the best place between its neighbors.
static void move_steps(struct search *s)
{
    size_t first = 0, at = next_step(s, 0);

    while (at < s->n) {
        size_t end = next_step(s, at), best = best_step(s, first, end);

        s->begins[at] = false;
        s->begins[best] = true;
        first = best;
        at = end;
    }
}

// Removes steps that are none between the levels beside them, the weakest
// first.
static void remove_steps(struct search *s)
{
    size_t weakest;

    do {
        size_t first = 0, at = next_step(s, 0);
        double highest = P_STEP;

        weakest = 0;
        while (at < s->n) {
            size_t end = next_step(s, at);
            double p = p_of_step(s, first, at, end);

            if (!(p < highest)) {
                highest = p;
                weakest = at;
            }
            first = at;
            at = end;
        }
        if (weakest)
            s->begins[weakest] = false;
    } while (weakest);
}

static void find_steps(struct search *s, double rho)
{
    s->inflation = (1 + rho) / (1 - rho);
    memset(s->begins, 0, s->n * sizeof(*s->begins));
    mark_steps(s, 0, s->n);
    move_steps(s);
    remove_steps(s);
}

// Deviations from the levels, and their correlation.
static void describe(const struct search *s, struct sb_changes *c)
{
    double squares = 0, products = 0, levels = 0;

    for (size_t first = 0, end; first < s->n; first = end) {
        end = next_step(s, first);
        double mean = mean_of(s, first, end);

        levels++;
        for (size_t i = first; i < end; i++) {
            squares += (s->x[i] - mean) * (s->x[i] - mean);
            if (i > first)
                products += (s->x[i] - mean) * (s->x[i - 1] - mean);
        }
    }
    double n = (double)s->n, rho = squares > 0 ? products / squares : 0;

    // The estimate of a short series is too low (Marriott and Pope 1954), and
    // says little.
    rho += levels * (1 + 3 * rho) / n;
    rho *= n / (n + RHO_WEIGHT);
    c->rho = fmin(fmax(rho, 0), RHO_MAX);
    c->df = (n - levels) * (1 - c->rho) / (1 + c->rho);
    c->deviation = sqrt(fmax(squares / fmax(n - levels, 1), s->floor));
}

// The change -----------------------------------------------------------------

static struct sb_difference interval(
    double value, double error, double df, const struct sb_changes_opts *o)
{
    struct sb_difference d = { value, NAN, NAN };

    if (df > 0) {
        double half = sb_student_t(1 - o->confidence, df) * error;

        d.low = value - half;
        d.high = value + half;
    }
    return d;
}

static int list_changes(const struct search *s, struct sb_changes *c,
    const struct sb_changes_opts *o)
{
    size_t n = 0, first = 0;

    for (size_t at = next_step(s, 0); at < s->n; at = next_step(s, at))
        n++;
    c->change = calloc(n + 1, sizeof(*c->change));
    if (!c->change)
        return SB_ENOMEM;
    for (size_t at = next_step(s, 0); at < s->n;) {
        size_t end = next_step(s, at);
        struct sb_change *one = &c->change[c->n++];
        double error = c->deviation *
                       sqrt(s->inflation * (1 / (double)(at - first) +
                                               1 / (double)(end - at)));

        one->at = at;
        one->before = mean_of(s, first, at);
        one->after = mean_of(s, at, end);
        one->difference = interval(one->after - one->before, error, c->df, o);
        first = at;
        at = end;
    }
    c->first = first;
    c->level = mean_of(s, first, s->n);
    return 0;
}

static int find(struct search *s, const double *value, double *x,
    struct sb_changes *c, const struct sb_changes_opts *o)
{
    double middle = value[0];

    move_outliers(value, s->n, x, o->resolution);
    // Relative to a value, so that squares keep their digits.
    for (size_t i = 0; i < s->n; i++) {
        x[i] -= middle;
        s->sum[i + 1] = s->sum[i] + x[i];
        s->squares[i + 1] = s->squares[i] + x[i] * x[i];
    }
    s->x = x;
    find_steps(s, RHO_ASSUMED);
    describe(s, c);
    find_steps(s, c->rho);
    describe(s, c);
    int rc = list_changes(s, c, o);

    for (size_t i = 0; i < c->n; i++) {
        c->change[i].before += middle;
        c->change[i].after += middle;
    }
    c->level += middle;
    return rc;
}

int sb_changes_find(const double *value, size_t n,
    const struct sb_changes_opts *o, struct sb_changes *c)
{
    struct search s = { .n = n, .floor = o->resolution * o->resolution };
    double *memory = calloc(3 * n + 2, sizeof(*memory));
    int rc = SB_ENOMEM;

    assert(o->resolution > 0);
    *c = (struct sb_changes){ .results = n, .level = n ? value[0] : NAN };
    s.begins = calloc(n + 1, sizeof(*s.begins));
    if (memory && s.begins) {
        s.sum = memory + n;
        s.squares = memory + 2 * n + 1;
        rc = n > 1 ? find(&s, value, memory, c, o) : 0;
    }
    free(memory);
    free(s.begins);
    return rc;
}

void sb_changes_done(struct sb_changes *c)
{
    free(c->change);
    c->change = NULL;
}

struct sb_difference sb_changes_next(
    const struct sb_changes *c, double value, const struct sb_changes_opts *o)
{
    double n = (double)(c->results - c->first);
    double inflation = (1 + c->rho) / (1 - c->rho);

    return interval(
        value - c->level, c->deviation * sqrt(1 + inflation / n), c->df, o);
}
