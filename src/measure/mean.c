// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/mean.h"

#include <math.h>
#include <stdbool.h>

#include "measure/student.h"

#define COSINES_MIN 2
#define COSINES_MAX 64 // more would hardly shorten the interval
#define VALUES_MIN  8
#define BLOCKS_MIN  24 // fewer say little about their correlation
#define LEVELS      24
#define RHO_MAX     0.999
#define BATCHES     10
#define ROUNDING    1e-12 // relative deviation of a series that is constant

// The intervals that count, as a line and the residuals around it.
struct fit {
    size_t n;
    double seconds;  // their total length
    double mean;     // weighted by length
    double rise;     // of the line, from start to end
    double variance; // of the residuals
    double rho;      // autocorrelation of neighboring residuals
};

// Visits the intervals that count. `place` is the middle of the interval, as a
// fraction of the total length; `weight` is its share of that.
struct walk {
    const struct sb_values *s;
    size_t next;
    double total, before;
    double value, weight, place;
};

// Returns 0 if the interval does not count.
static double length(const struct sb_values *s, size_t i)
{
    double seconds = s->seconds ? s->seconds[i] : 1;

    return isfinite(s->value[i]) && isfinite(seconds) && seconds > 0 ? seconds
                                                                     : 0;
}

static struct walk walk_start(const struct sb_values *s, const struct fit *f)
{
    return (struct walk){ .s = s, .total = f->seconds };
}

static bool walk_next(struct walk *w)
{
    while (w->next < w->s->n) {
        size_t i = w->next++;
        double seconds = length(w->s, i);

        if (seconds > 0) {
            w->value = w->s->value[i];
            w->weight = seconds / w->total;
            w->place = (w->before + seconds / 2) / w->total;
            w->before += seconds;
            return true;
        }
    }
    return false;
}

static double residual(const struct fit *f, const struct walk *w)
{
    return w->value - f->mean - f->rise * (w->place - 0.5);
}

static void fit_line(const struct sb_values *s, struct fit *f)
{
    double squares = 0, products = 0;
    struct walk w;

    for (size_t i = 0; i < s->n; i++) {
        double seconds = length(s, i);

        f->n += seconds > 0;
        f->seconds += seconds;
    }
    for (w = walk_start(s, f); walk_next(&w);)
        f->mean += w.weight * w.value;
    for (w = walk_start(s, f); walk_next(&w);) {
        double x = w.place - 0.5;

        squares += w.weight * x * x;
        products += w.weight * x * (w.value - f->mean);
    }
    f->rise = squares > 0 ? products / squares : 0;
}

// Correlation of neighboring blocks of 2^level residuals. Noise that hides a
// slow change of single intervals averages out in blocks.
struct level {
    double sum;      // of the block that is being filled
    size_t filled;   // number of its residuals
    double previous; // mean of the block before
    double squares, products;
    size_t blocks;
};

static void level_add(struct level *l, size_t size, double value)
{
    double mean;

    l->sum += value;
    if (++l->filled < size)
        return;
    mean = l->sum / (double)size;
    l->squares += mean * mean;
    if (l->blocks > 0)
        l->products += mean * l->previous;
    l->previous = mean;
    l->blocks++;
    l->sum = 0;
    l->filled = 0;
}

// The plain estimate is too low by about (2 + 4 rho) / n, because mean and
// slope come from the same values.
static double level_rho(const struct level *l)
{
    double n = (double)l->blocks;
    double rho = l->squares > 0 ? l->products / l->squares : 0;

    return rho + (2 + 4 * rho) / n;
}

// The number of cosines at which the spectrum of an AR(1) series of n values
// has fallen to half of its value at frequency 0; the first cosine is number 2.
static double cosines_until_half(double n, double rho)
{
    return rho > 0 ? n * (1 - rho) / (M_PI * sqrt(rho)) - 1 : INFINITY;
}

// Computes variance and rho, and returns the number of cosines to use, 0 if
// the series is too short.
static size_t fit_residuals(const struct sb_values *s, struct fit *f)
{
    struct level level[LEVELS] = { { 0 } };
    double n = (double)f->n, cosines = 1 + 0.41 * pow(n, 2. / 3);
    struct walk w;

    for (w = walk_start(s, f); walk_next(&w);) {
        double r = residual(f, &w);

        f->variance += w.weight * r * r * n / (n - 2);
        // The last interval of a run is often tiny, and its value extreme.
        r *= w.weight * n;
        level_add(&level[0], 1, r);
        for (size_t i = 1; i < LEVELS && f->n >> i >= BLOCKS_MIN; i++)
            level_add(&level[i], (size_t)1 << i, r);
    }
    if (f->variance <= f->mean * f->mean * ROUNDING * ROUNDING) {
        f->variance = 0;
        return (size_t)fmin(cosines, COSINES_MAX);
    }
    // 3 / n is a margin for the spread of rho, which matters in short series.
    f->rho = fmin(fmax(level_rho(&level[0]) + 3 / n, 0), RHO_MAX);
    cosines = fmin(cosines, cosines_until_half(n, f->rho));
    for (size_t i = 1; i < LEVELS && level[i].blocks > 0; i++)
        cosines = fmin(cosines,
            cosines_until_half((double)level[i].blocks, level_rho(&level[i])));
    cosines = fmin(cosines, COSINES_MAX);
    return cosines < COSINES_MIN ? 0 : (size_t)cosines;
}

// Spectrum of AR(1) at cosine number j, as a fraction of that at frequency 0.
static double spectrum(const struct fit *f, size_t j)
{
    double below = 1 - f->rho, angle = M_PI * (double)j / (double)f->n;

    return below * below / (below * below + 2 * f->rho * (1 - cos(angle)));
}

// Variance of the mean: the spectrum at frequency 0, from the cosine transforms
// number 2 to cosines + 1 of the residuals. Number 1 is nearly the line.
static double variance_of_mean(
    const struct sb_values *s, const struct fit *f, size_t cosines)
{
    double sum[COSINES_MAX + 2] = { 0 }, squares = 0, share = 0;
    struct walk w;

    for (w = walk_start(s, f); walk_next(&w);) {
        double r = w.weight * residual(f, &w);
        double first = cos(M_PI * w.place), before = 1, now = first;

        for (size_t j = 2; j < cosines + 2; j++) {
            double next = 2 * first * now - before;

            before = now;
            now = next;
            sum[j] += r * now;
        }
    }
    for (size_t j = 2; j < cosines + 2; j++) {
        squares += 2 * sum[j] * sum[j];
        share += spectrum(f, j);
    }
    return squares / share;
}

static void set_error(
    const struct sb_values *s, struct fit *f, double scale, struct sb_mean *m)
{
    size_t cosines = f->n < VALUES_MIN ? 0 : fit_residuals(s, f);
    double variance;

    if (cosines == 0)
        return;
    variance = f->variance > 0 ? variance_of_mean(s, f, cosines) : 0;
    m->error = sqrt(variance) * fabs(scale);
    m->df = (double)cosines;
    m->effective = (double)f->n;
    if (f->variance < variance * m->effective)
        m->effective = f->variance / variance;
    // The slope of a line through n points has 12 times the variance of their
    // mean, if the spectrum is flat at low frequencies, otherwise less.
    m->drift = f->rise * scale;
    m->drift_error = sqrt(12) * m->error;
}

void sb_mean(const struct sb_values *s, struct sb_mean *m)
{
    struct fit f = { 0 };
    double scale = 1;

    *m = (struct sb_mean){
        .value = NAN, .error = NAN, .drift = NAN, .drift_error = NAN
    };
    fit_line(s, &f);
    m->n = f.n;
    if (f.n > 0)
        m->value = f.mean;
    if (isfinite(s->whole)) {
        m->value = s->whole;
        scale = s->whole / f.mean;
    }
    if (isfinite(scale))
        set_error(s, &f, scale, m);
}

static double half_of_batches(
    const struct sb_values *s, double chance, double mean)
{
    double sum[BATCHES] = { 0 }, seconds[BATCHES] = { 0 }, square = 0;

    for (size_t i = 0; i < s->n; i++) {
        size_t k = i * BATCHES / s->n;

        if (length(s, i) > 0) {
            sum[k] += s->value[i] * length(s, i);
            seconds[k] += length(s, i);
        }
    }
    for (int k = 0; k < BATCHES; k++) {
        double off = sum[k] / seconds[k] - mean;

        square += off * off / (BATCHES - 1);
    }
    return sb_student_t(chance, BATCHES - 1) * sqrt(square / BATCHES);
}

double sb_mean_half(const struct sb_values *s, double chance, double *mean)
{
    const struct sb_values values = { s->value, s->seconds, s->n, NAN };
    struct sb_mean m;

    sb_mean(&values, &m);
    *mean = m.value;
    if (!(m.df > 0))
        return NAN;
    return fmax(sb_student_t(chance, m.df) * m.error,
        half_of_batches(s, chance, m.value));
}
