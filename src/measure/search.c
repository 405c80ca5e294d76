// SPDX-License-Identifier: GPL-2.0-or-later
//
// Bayesian estimation of a threshold, as in probabilistic bisection. The
// probability that a trial keeps the limit falls with the rate, as a logistic
// function of its logarithm. Its middle (the result) and its slope (how noisy
// trials are) are unknown: the posterior over both is kept on a grid.
#include "measure/search.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

// A trial has the wrong outcome with this probability at any rate: something
// else disturbed it. So one outcome never excludes anything.
#define LAPSE 0.02
// The rates at which 27 % and 73 % of trials keep the limit differ by the
// factor exp(2 / slope): from 65 % to 0.2 %.
static const double slopes[] = { 4, 12, 36, 108, 324, 972 };
// Their probabilities before the first trial, as ratios. Trials of some seconds
// are seldom noisier or less noisy than those in the middle.
static const double expected[] = { 0.5, 1, 1, 0.7, 0.4, 0.2 };
#define SLOPES (sizeof(slopes) / sizeof(slopes[0]))

#define POINTS_PER_TOLERANCE 10
// Probability of the interval in the posterior. A search stops when the
// interval looks narrow, and the slope is a guess, so an interval of 95 % would
// be right in only 88 % of the searches in the worst case of the tests.
#define SURE       0.98
#define GUESS_OFF  0.5 // logarithm of the typical error of a guess
#define TRIALS_MIN 8
#define SAFE       0.95

static double rate_at(const struct sb_search *s, unsigned i)
{
    return s->min + i * s->step;
}

static void normalize(struct sb_search *s)
{
    double all = 0;

    for (size_t i = 0; i < SLOPES * s->points; i++)
        all += s->weight[i];
    memset(s->sum, 0, s->points * sizeof(*s->sum));
    for (size_t k = 0; k < SLOPES; k++)
        for (unsigned i = 0; i < s->points; i++) {
            double *w = &s->weight[k * s->points + i];

            *w /= all;
            s->sum[i] += *w;
        }
}

int sb_search_init(struct sb_search *s, double guess, double min, double max,
    double tolerance, unsigned max_trials)
{
    assert(min > 0 && max > min && tolerance > 0);
    *s = (struct sb_search){
        .min = log(min), .tolerance = tolerance, .max_trials = max_trials
    };
    s->step = log1p(tolerance) / POINTS_PER_TOLERANCE;
    s->points = (unsigned)((log(max) - s->min) / s->step) + 2;
    s->step = (log(max) - s->min) / (s->points - 1);
    s->weight = calloc(SLOPES * s->points, sizeof(*s->weight));
    s->sum = calloc(s->points, sizeof(*s->sum));
    if (!s->weight || !s->sum) {
        sb_search_done(s);
        return SB_ENOMEM;
    }
    // Heavy tails: a guess that is off by orders of magnitude costs few trials.
    for (size_t k = 0; k < SLOPES; k++)
        for (unsigned i = 0; i < s->points; i++) {
            double off = (rate_at(s, i) - log(guess)) / GUESS_OFF;

            s->weight[k * s->points + i] = expected[k] / (1 + off * off);
        }
    normalize(s);
    return 0;
}

void sb_search_done(struct sb_search *s)
{
    free(s->weight);
    free(s->sum);
    memset(s, 0, sizeof(*s));
}

static double quantile(const struct sb_search *s, double q)
{
    double below = 0;

    for (unsigned i = 0; i < s->points; i++) {
        below += s->sum[i];
        if (below >= q)
            return exp(rate_at(s, i));
    }
    return exp(rate_at(s, s->points - 1));
}

// The median divides what is unknown in halves. Rates on both sides of it show
// how noisy trials are; they are tried once both outcomes were seen.
double sb_search_next(const struct sb_search *s)
{
    static const double share[] = { 0.5, 0.2, 0.8 };
    bool both = s->kept > 0 && s->kept < s->trials;

    return quantile(s, both ? share[s->trials % 3] : 0.5);
}

void sb_search_add(struct sb_search *s, double rate, bool kept)
{
    double x = log(rate);

    for (size_t k = 0; k < SLOPES; k++)
        for (unsigned i = 0; i < s->points; i++) {
            double p = 1 / (1 + exp(slopes[k] * (x - rate_at(s, i))));

            p = LAPSE + (1 - 2 * LAPSE) * p;
            s->weight[k * s->points + i] *= kept ? p : 1 - p;
        }
    s->trials++;
    s->kept += kept;
    normalize(s);
}

// The probability that a trial at the rate exp(x) keeps the limit, if nothing
// else disturbs it.
static double probability(const struct sb_search *s, double x)
{
    double sum = 0;

    for (size_t k = 0; k < SLOPES; k++)
        for (unsigned i = 0; i < s->points; i++)
            sum += s->weight[k * s->points + i] /
                   (1 + exp(slopes[k] * (x - rate_at(s, i))));
    return sum;
}

static double find_safe(const struct sb_search *s)
{
    unsigned low = 0, high = s->points;

    if (probability(s, rate_at(s, 0)) < SAFE)
        return NAN;
    // The probability falls with the rate.
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;

        if (probability(s, rate_at(s, middle)) >= SAFE)
            low = middle;
        else
            high = middle;
    }
    return exp(rate_at(s, low));
}

void sb_search_result(const struct sb_search *s, struct sb_search_result *r)
{
    double lowest = exp(rate_at(s, 0)),
           highest = exp(rate_at(s, s->points - 1));

    *r = (struct sb_search_result){ .end = SB_SEARCH_GOES_ON,
        .rate = quantile(s, 0.5),
        .low = quantile(s, (1 - SURE) / 2),
        .high = quantile(s, (1 + SURE) / 2),
        .safe = find_safe(s),
        .trials = s->trials,
        .kept = s->kept };
    if (s->trials < TRIALS_MIN && s->trials < s->max_trials)
        return;
    // At the bounds the interval is narrow, because nothing is beyond them.
    if (s->kept == 0 && r->high <= lowest * (1 + s->tolerance))
        r->end = SB_SEARCH_BELOW;
    else if (s->kept == s->trials && r->low >= highest / (1 + s->tolerance))
        r->end = SB_SEARCH_ABOVE;
    else if (r->high <= r->low * (1 + s->tolerance))
        r->end = SB_SEARCH_FOUND;
    else if (s->trials >= s->max_trials)
        r->end = SB_SEARCH_EXHAUSTED;
    // The grid ends at the bounds, and the true rate is beyond them.
    if (r->end == SB_SEARCH_BELOW || r->end == SB_SEARCH_ABOVE)
        r->rate = r->low = r->high = NAN;
}

// The limit is one standard deviation of the number of arrivals: at the maximum
// rate, half of the trials end with a longer queue, but few with a queue that
// has grown by more than this. `users` is added because one burst may keep all
// users busy at the end of a trial.
bool sb_search_grew(double growth, double arrivals, unsigned users)
{
    return growth > sqrt(arrivals) + users;
}

// Returns true if most trials that failed only did so because the queue grew:
// the limit is not what restricts the rate.
static bool is_maximum(const struct sb_rate_search *f)
{
    unsigned failed = 0, grew = 0;

    for (unsigned i = 0; i < f->trials; i++) {
        failed += !f->trial[i].kept;
        grew += !f->trial[i].kept && f->trial[i].missed == SB_SEARCH_NONE;
    }
    return 2 * grew > failed;
}

bool sb_search_found(const struct sb_rate_search *f)
{
    return f->limit && f->trials > 0 &&
           (f->result.end == SB_SEARCH_FOUND ||
               f->result.end == SB_SEARCH_EXHAUSTED);
}

// Writes how much is known of the rate, without the end of the sentence. only:
// says that this is not enough.
static void known(
    const struct sb_search_result *r, bool only, char *out, size_t size)
{
    double width = r->low > 0 ? 100 * (r->high / r->low - 1) : INFINITY;

    if (width > 100)
        snprintf(out, size, "The rate is %sbetween %.6g and %.6g per sec.",
            only ? "only known to be " : "", r->low, r->high);
    else
        snprintf(out, size, "The rate is known to %.*f %%%s", width < 9.95,
            width, only ? " only" : "");
}

const char *sb_search_sentence(
    const struct sb_rate_search *f, char *out, size_t size)
{
    const struct sb_search_result *r = &f->result;
    char rate[100];

    known(r, r->end == SB_SEARCH_EXHAUSTED, rate, sizeof(rate));
    switch (r->end) {
    case SB_SEARCH_FOUND:
        snprintf(out, size, "%s%s.", rate,
            is_maximum(f) ? "; this is the maximum rate of these users: the "
                            "limit does not lower it"
                          : "");
        break;
    case SB_SEARCH_BELOW:
        snprintf(out, size,
            "The limit is not kept even at %.6g per sec., the lowest rate of "
            "the search.",
            f->lowest);
        break;
    case SB_SEARCH_ABOVE:
        snprintf(out, size,
            "The limit is kept even at %.6g per sec., the highest rate of the "
            "search.",
            f->highest);
        break;
    case SB_SEARCH_EXHAUSTED:
        snprintf(out, size,
            "%s: %u trials were not enough (--rate-trials; longer ones "
            "are less noisy: --rate-trial-time).",
            rate, r->trials);
        break;
    case SB_SEARCH_GOES_ON:
        snprintf(out, size, "The search was interrupted.");
        break;
    }
    return out;
}
