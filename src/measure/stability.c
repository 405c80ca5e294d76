// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/stability.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"

#define DIP 0.5

// An interval of the stretch.
struct part {
    double value, at, seconds;
};

static double length(const struct sb_values *s, size_t i)
{
    double seconds = s->seconds ? s->seconds[i] : 1;

    return isfinite(seconds) && seconds > 0 ? seconds : 0;
}

// The number of intervals without an incomplete last one.
static size_t complete_values(const struct sb_values *s)
{
    if (s->n >= 2 && length(s, s->n - 1) < length(s, s->n - 2) / 2)
        return s->n - 1;
    return s->n;
}

static void choose_stretch(const struct sb_values *s, size_t n,
    const struct sb_stability_opts *o, struct sb_stability *out)
{
    double total = 0;

    for (size_t i = 0; i < n; i++)
        total += length(s, i);
    out->from = o->from;
    out->to = o->to;
    if (o->from <= 0 && o->to <= 0) {
        out->from = total / 2;
        out->to = total;
    }
    out->from = fmin(fmax(out->from, 0), total);
    out->to = fmax(fmin(out->to, total), out->from);
}

static size_t collect_values(const struct sb_values *s, size_t n,
    const struct sb_stability *o, struct part *part)
{
    double at = 0;
    size_t parts = 0;

    for (size_t i = 0; i < n; i++) {
        double seconds = length(s, i), middle = at + seconds / 2;

        if (seconds > 0 && isfinite(s->value[i]) && middle >= o->from &&
            middle < o->to)
            part[parts++] = (struct part){ s->value[i], at, seconds };
        at += seconds;
    }
    return parts;
}

static double deviation(const struct part *part, size_t n)
{
    double mean = 0, squares = 0;

    for (size_t i = 0; i < n; i++)
        mean += part[i].value / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (part[i].value - mean) * (part[i].value - mean);
    return n > 1 ? sqrt(squares / (double)(n - 1)) / fabs(mean) : NAN;
}

static bool worse(double a, double b, bool latency)
{
    return latency ? a > b : a < b;
}

static void find_worst(
    const struct part *part, size_t n, bool latency, struct sb_stability *out)
{
    for (size_t i = 0; i < n; i++) {
        if (isnan(out->worst) || worse(part[i].value, out->worst, latency)) {
            out->worst = part[i].value;
            out->worst_at = part[i].at;
        }
    }
}

static void find_dips(const struct part *part, size_t n, double limit,
    bool latency, struct sb_stability *out)
{
    double seconds = 0, total = 0, worst = NAN;
    size_t first = 0, length_n = 0;

    for (size_t i = 0; i < n; i++) {
        total += part[i].seconds;
        if (!worse(part[i].value, limit, latency)) {
            length_n = 0;
            continue;
        }
        if (length_n++ == 0) {
            out->dips++;
            first = i;
            seconds = 0;
            worst = part[i].value;
        }
        seconds += part[i].seconds;
        out->dip_share += part[i].seconds;
        if (worse(part[i].value, worst, latency))
            worst = part[i].value;
        if (seconds > out->dip_seconds) {
            out->dip_seconds = seconds;
            out->dip_at = part[first].at;
            out->dip_n = length_n;
            out->dip_worst = worst;
        }
    }
    out->dip_share /= total;
}

static int by_value(const void *a, const void *b)
{
    double x = ((const struct part *)a)->value;
    double y = ((const struct part *)b)->value;

    return (x > y) - (x < y);
}

// Interpolates between the two neighbors (Hyndman and Fan's type 7).
static double quantile(const struct part *sorted, size_t n, double share)
{
    double place = share * (double)(n - 1);
    size_t i = (size_t)place;

    if (i + 1 >= n)
        return sorted[n - 1].value;
    return sorted[i].value +
           (place - (double)i) * (sorted[i + 1].value - sorted[i].value);
}

static void figures(struct part *part, struct part *sorted,
    const struct sb_stability_opts *o, struct sb_stability *out)
{
    double dip = o->dip > 0 ? o->dip : DIP;
    size_t n = out->n;

    qsort(sorted, n, sizeof(*sorted), by_value);
    out->q1 = quantile(sorted, n, 0.25);
    out->median = quantile(sorted, n, 0.5);
    out->q3 = quantile(sorted, n, 0.75);
    out->cv = deviation(part, n);
    find_worst(part, n, o->latency, out);
    out->dip_share = out->dip_seconds = 0;
    find_dips(part, n, o->latency ? out->median / dip : out->median * dip,
        o->latency, out);
}

int sb_stability(const struct sb_values *s, const struct sb_stability_opts *o,
    struct sb_stability *out)
{
    size_t n = complete_values(s);
    struct part *part = malloc((2 * n + 1) * sizeof(*part));

    *out = (struct sb_stability){ .q1 = NAN,
        .median = NAN,
        .q3 = NAN,
        .cv = NAN,
        .worst = NAN,
        .worst_at = NAN,
        .dip_seconds = NAN,
        .dip_at = NAN,
        .dip_worst = NAN,
        .dip_share = NAN };
    if (!part)
        return SB_ENOMEM;
    choose_stretch(s, n, o, out);
    out->n = collect_values(s, n, out, part);
    if (out->n > 0) {
        collect_values(s, n, out, part + out->n);
        figures(part, part + out->n, o, out);
    }
    free(part);
    return 0;
}
