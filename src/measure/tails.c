// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/tails.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/mean.h"
#include "measure/student.h"

void sb_tails_init(struct sb_tails *t, const double *pct, unsigned n)
{
    *t = (struct sb_tails){ .n = n };
    memcpy(t->pct, pct, n * sizeof(*pct));
}

void sb_tails_done(struct sb_tails *t)
{
    sb_hist_snap_done(&t->sum);
    free(t->events);
    for (unsigned i = 0; i < t->n; i++)
        free(t->share[i]);
    *t = (struct sb_tails){ 0 };
}

static bool resize(double **array, size_t n)
{
    double *larger = realloc(*array, n * sizeof(**array));

    if (larger)
        *array = larger;
    return larger != NULL;
}

static int make_room(struct sb_tails *t)
{
    size_t n = t->capacity ? 2 * t->capacity : 64;
    bool done;

    if (t->intervals < t->capacity)
        return 0;
    done = resize(&t->events, n);
    for (unsigned i = 0; i < t->n; i++)
        done = resize(&t->share[i], n) && done;
    if (!done)
        return SB_ENOMEM;
    t->capacity = n;
    return 0;
}

struct beyond {
    double limit, events;
};

static void add_beyond(void *arg, uint64_t low, uint64_t width, uint64_t count)
{
    struct beyond *b = arg;
    double share = ((double)low + (double)width - b->limit) / (double)width;

    b->events += (double)count * fmin(fmax(share, 0), 1);
}

// The number of events above the limit, interpolated as percentiles are.
static double events_beyond(const struct sb_hist_snap *s, double limit)
{
    struct beyond b = { .limit = limit };

    sb_hist_snap_each(s, add_beyond, &b);
    return b.events;
}

int sb_tails_add(struct sb_tails *t, const struct sb_hist_snap *interval)
{
    if (interval->total == 0)
        return 0;
    if (make_room(t) || sb_hist_snap_add(&t->sum, interval))
        return SB_ENOMEM;
    t->events[t->intervals] = (double)interval->total;
    for (unsigned i = 0; i < t->n; i++) {
        double limit = sb_hist_snap_percentile(&t->sum, t->pct[i], UINT64_MAX);

        t->share[i][t->intervals] = events_beyond(interval, limit) /
                                    (double)interval->total;
    }
    t->intervals++;
    return 0;
}

// The variance of the share of events beyond a percentile, by the intervals,
// in units of the variance that independent events have. At least 1.
static double inflation(const struct sb_tails *t, unsigned i, double *df)
{
    struct sb_values s = { t->share[i], t->events, t->intervals, NAN };
    double p = t->pct[i] / 100, n = 0;
    struct sb_mean m;

    for (size_t k = 0; k < t->intervals; k++)
        n += t->events[k];
    sb_mean(&s, &m);
    *df = m.df;
    return m.df > 0 ? fmax(m.error * m.error * n / (p * (1 - p)), 1) : NAN;
}

void sb_tails_estimate(const struct sb_tails *t, unsigned i,
    const struct sb_hist_snap *whole, uint64_t max, double confidence,
    struct sb_tail *out)
{
    double p = t->pct[i] / 100, n = (double)whole->total, df, half;

    out->value = sb_hist_snap_percentile(whole, t->pct[i], max);
    out->beyond = n * (1 - p);
    out->effective = n / inflation(t, i, &df);
    half = sb_student_t(1 - confidence, df) *
           sqrt(p * (1 - p) / out->effective);
    out->low = out->high = NAN;
    if (!(half >= 0))
        return;
    out->low = sb_hist_snap_percentile(whole, 100 * fmax(p - half, 0), max);
    out->high = sb_hist_snap_percentile(whole, 100 * fmin(p + half, 1), max);
}
