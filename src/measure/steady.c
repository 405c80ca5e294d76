// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/steady.h"

#include <math.h>

#include "measure/student.h"

#define BINS_MAX 200 // the search takes the square of their number
#define BINS_MIN SB_STEADY_VALUES_MIN
#define PART_MIN 3 // bins

// Of series of one level, of 10 to 200 bins with a correlation up to 0.6, 1 in
// 400 has a window with a higher statistic among all bins, and 1 in 400 in one
// of the sections, as simulated.
#define CRITICAL         400.0
#define CRITICAL_SECTION 800.0
#define CRITICAL_CUT     100.0 // of one given place
#define SECTION_MIN      20    // bins
#define ROUNDING         1e-12 // relative deviation of a series that is constant
#define DRIFT_CHANCE     0.002

// A bin is the mean of consecutive intervals with a value, so that long series
// are searched in little time. The sums cover bins 0 to i - 1. S is the sum of
// the deviations from the mean of all bins.
struct bins {
    size_t n;
    double value[BINS_MAX];
    size_t first[BINS_MAX + 1]; // interval with which a bin begins; of bin n:
                                // the number of intervals
    double s[BINS_MAX + 1], sum_s[BINS_MAX + 1], sum_s2[BINS_MAX + 1],
        sum_is[BINS_MAX + 1];
};

static bool counts(const struct sb_values *v, size_t i)
{
    return isfinite(v->value[i]) &&
           (!v->seconds || (isfinite(v->seconds[i]) && v->seconds[i] > 0));
}

static double mean_between(const struct sb_values *v, size_t first, size_t end)
{
    double sum = 0, seconds = 0;

    for (size_t i = first; i < end; i++) {
        double length = v->seconds ? v->seconds[i] : 1;

        if (counts(v, i)) {
            sum += v->value[i] * length;
            seconds += length;
        }
    }
    return sum / seconds;
}

static void fill_bins(struct bins *b, const struct sb_values *v)
{
    size_t n = 0, size, filled = 0;

    for (size_t i = 0; i < v->n; i++)
        n += counts(v, i);
    size = (n + BINS_MAX - 1) / BINS_MAX;
    b->n = 0;
    for (size_t i = 0; i < v->n; i++) {
        if (!counts(v, i))
            continue;
        if (filled++ % size == 0)
            b->first[b->n++] = i;
    }
    b->first[0] = 0;
    b->first[b->n] = v->n;
    for (size_t i = 0; i < b->n; i++)
        b->value[i] = mean_between(v, b->first[i], b->first[i + 1]);
}

// Returns false if the bins are equal.
static bool add_up(struct bins *b, size_t first, size_t end)
{
    double mean = 0, largest = 0;

    for (size_t i = first; i < end; i++)
        mean += b->value[i] / (double)(end - first);
    b->s[first] = b->sum_s[first] = b->sum_s2[first] = b->sum_is[first] = 0;
    for (size_t i = first; i < end; i++) {
        double s = b->s[i] + b->value[i] - mean;

        largest = fmax(largest, fabs(b->value[i] - mean));
        b->s[i + 1] = s;
        b->sum_s[i + 1] = b->sum_s[i] + s;
        b->sum_s2[i + 1] = b->sum_s2[i] + s * s;
        b->sum_is[i + 1] = b->sum_is[i] + (double)(i + 1) * s;
    }
    return largest > fabs(mean) * ROUNDING;
}

// The sum of the squares of the cumulated deviations of bins from their own
// mean: with d(t) = s[first + t] - s[first] and n bins, the sum over t = 1...n
// of (d(t) - t / n d(n))^2.
static double cumulated(const struct bins *b, size_t first, size_t end)
{
    double n = (double)(end - first), start = b->s[first];
    double rise = b->s[end] - start, squares, products;

    if (end - first < 2)
        return 0;
    squares = b->sum_s2[end] - b->sum_s2[first] -
              2 * start * (b->sum_s[end] - b->sum_s[first]) + n * start * start;
    products = b->sum_is[end] - b->sum_is[first] -
               (double)first * (b->sum_s[end] - b->sum_s[first]) -
               start * n * (n + 1) / 2;
    return squares - 2 * rise / n * products +
           rise * rise * (n + 1) * (2 * n + 1) / (6 * n);
}

struct window {
    size_t first, end;
    double statistic;
};

// Finds the window of bins whose mean differs most from that of the others. A
// window at the begin or the end is a change at one place. The difference is
// divided by what deviations within the three pieces cumulate to, which grows
// with their correlation as the difference itself does.
static struct window find_window(struct bins *b, size_t first, size_t end)
{
    size_t n = end - first;
    size_t min = n / 20 > PART_MIN ? n / 20 : PART_MIN;
    struct window best = { 0 };

    if (!add_up(b, first, end))
        return best;
    for (size_t i = first; i + min <= end; i++) {
        if (i > first && i - first < min)
            continue;
        for (size_t j = i + min; j <= end; j++) {
            double difference = b->s[j] - b->s[i], within, statistic;

            if (n - (j - i) < min || (j < end && end - j < min))
                continue;
            within = cumulated(b, first, i) + cumulated(b, i, j) +
                     cumulated(b, j, end);
            statistic = (double)n * difference * difference / within;
            if (statistic > best.statistic)
                best = (struct window){ i, j, statistic };
        }
    }
    // A begin or an end of the section is no change.
    best.first = best.first == first ? 0 : best.first;
    best.end = best.end == end ? 0 : best.end;
    return best;
}

// Finds a change that others hide in the whole: they are part of what deviates
// within the pieces. Sections of half overlap, each length is 0.7 of the one
// before ("seeded" sections).
static struct window find_in_sections(struct bins *b, size_t first, size_t end)
{
    double length = (double)(end - first);
    struct window best = { 0 };

    while ((length *= M_SQRT1_2) >= SECTION_MIN) {
        size_t size = (size_t)ceil(length), rest = end - first - size;
        size_t steps = (2 * rest + size - 1) / size;

        for (size_t i = 0; i <= steps; i++) {
            size_t at = first + rest * i / steps;
            struct window w = find_window(b, at, at + size);

            if (w.statistic > best.statistic)
                best = w;
        }
    }
    return best;
}

// Marks the bins with which a part begins.
static void mark_changes(
    struct bins *b, size_t first, size_t end, bool *begins, size_t *nparts)
{
    size_t cut[4] = { first };
    size_t n = 1;
    struct window w;

    if (end - first < BINS_MIN || *nparts + 2 > SB_STEADY_PARTS_MAX)
        return;
    w = find_window(b, first, end);
    if (w.statistic <= CRITICAL) {
        w = find_in_sections(b, first, end);
        if (w.statistic <= CRITICAL_SECTION)
            return;
    }
    if (w.first)
        cut[n++] = w.first;
    if (w.end)
        cut[n++] = w.end;
    *nparts += n - 1;
    cut[n] = end;
    for (size_t i = 0; i < n; i++) {
        begins[cut[i]] = true;
        mark_changes(b, cut[i], cut[i + 1], begins, nparts);
    }
}

// The statistic of a change from bins first to cut - 1 to the next ones.
static double statistic_of_cut(
    struct bins *b, size_t first, size_t cut, size_t end)
{
    double difference;

    if (!add_up(b, first, end))
        return 0;
    difference = b->s[cut];
    return (double)(end - first) * difference * difference /
           (cumulated(b, first, cut) + cumulated(b, cut, end));
}

// Removes changes that are none between the two parts beside them. A window
// has two ends, also where there is one change.
static void remove_changes(struct bins *b, bool *begins)
{
    size_t weakest;

    do {
        double lowest = CRITICAL_CUT;
        size_t first = 0, cut = 0;

        weakest = 0;
        for (size_t i = 1; i <= b->n; i++) {
            double statistic;

            if (i < b->n && !begins[i])
                continue;
            statistic = cut ? statistic_of_cut(b, first, cut, i) : INFINITY;
            if (statistic < lowest) {
                lowest = statistic;
                weakest = cut;
            }
            first = cut;
            cut = i;
        }
        begins[weakest] = weakest == 0;
    } while (weakest);
}

static void set_drift(const struct sb_values *v, struct sb_steady *out)
{
    const struct sb_steady_part *last = &out->part[out->nparts - 1];
    struct sb_values s = { v->value + last->first,
        v->seconds ? v->seconds + last->first : NULL, last->end - last->first,
        NAN };
    struct sb_mean m;

    sb_mean(&s, &m);
    out->drift = m.drift / m.value;
    if (m.df > 0 && m.drift_error > 0)
        out->drifts = sb_student_p(m.drift / m.drift_error, m.df) <
                      DRIFT_CHANCE;
}

void sb_steady(const struct sb_values *s, struct sb_steady *out)
{
    struct bins b;
    bool begins[BINS_MAX] = { true };
    size_t nparts = 1;

    *out = (struct sb_steady){ .drift = NAN };
    fill_bins(&b, s);
    if (b.n < BINS_MIN)
        return;
    mark_changes(&b, 0, b.n, begins, &nparts);
    remove_changes(&b, begins);
    for (size_t i = 0; i < b.n; i++) {
        if (begins[i])
            out->part[out->nparts++].first = b.first[i];
    }
    for (size_t i = 0; i < out->nparts; i++) {
        struct sb_steady_part *p = &out->part[i];

        p->end = i + 1 < out->nparts ? out->part[i + 1].first : s->n;
        p->mean = mean_between(s, p->first, p->end);
    }
    set_drift(s, out);
}
