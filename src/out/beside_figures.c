// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/beside_figures.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Times of an interval are rounded to nanoseconds.
#define ROUNDING 1e-6

void sb_beside_figures_done(struct sb_beside_figures *f)
{
    for (unsigned i = 0; i < SB_BESIDE_PHASES; i++) {
        struct sb_beside_phase *p = &f->phase[i];

        for (unsigned k = 0; k < SB_BESIDE_VALUES; k++)
            free(p->value[k]);
        free(p->length);
        sb_hist_snap_done(&p->latency);
    }
    memset(f->phase, 0, sizeof(f->phase));
}

// Intervals ------------------------------------------------------------------

static unsigned phase_of(
    const struct sb_beside_command *c, double from, double to)
{
    if (!c->started || to <= c->start + ROUNDING)
        return SB_BESIDE_BEFORE;
    if (c->ended && from >= c->end - ROUNDING)
        return SB_BESIDE_AFTER;
    if (from >= c->start - ROUNDING && (!c->ended || to <= c->end + ROUNDING))
        return SB_BESIDE_DURING;
    return SB_BESIDE_EDGES;
}

static bool grow_list(double **list, size_t room)
{
    double *more = realloc(*list, room * sizeof(**list));

    *list = more ? more : *list;
    return more != NULL;
}

static int reserve(struct sb_beside_phase *p)
{
    size_t room = p->room ? 2 * p->room : 64;
    bool ok = true;

    if (p->n < p->room)
        return 0;
    for (unsigned k = 0; ok && k < SB_BESIDE_VALUES; k++)
        ok = grow_list(&p->value[k], room);
    ok = ok && grow_list(&p->length, room);
    p->room = ok ? room : p->room;
    return ok ? 0 : SB_ENOMEM;
}

int sb_beside_figures_add(
    struct sb_beside_figures *f, const struct sb_report *r)
{
    double length = r->interval_s, to = r->total_s;
    unsigned phase = phase_of(&f->command, to - length, to);
    uint64_t n = r->latency->total;

    if (r->warmup || r->final || (r->partial && phase != SB_BESIDE_EDGES))
        return 0;
    struct sb_beside_phase *p = &f->phase[phase];

    if (reserve(p) || sb_hist_snap_add(&p->latency, r->latency))
        return SB_ENOMEM;
    assert(p->n < p->room);
    p->value[SB_BESIDE_RATE][p->n] = (double)r->snap->c.completed / length;
    p->value[SB_BESIDE_AVG][p->n] = n ? (double)r->lat_sum / (double)n / 1e6
                                      : NAN;
    p->value[SB_BESIDE_PCT][p->n] =
        n ? sb_hist_snap_percentile(r->latency, f->pct, r->lat_max) / 1e6 : NAN;
    p->length[p->n] = length;
    p->n++;
    p->seconds += length;
    p->events += r->snap->c.completed;
    p->errors += r->errors;
    p->lat_sum += r->lat_sum;
    if (r->lat_max > p->lat_max)
        p->lat_max = r->lat_max;
    return 0;
}

// Figures --------------------------------------------------------------------

double sb_beside_figure(
    const struct sb_beside_figures *f, unsigned phase, unsigned value)
{
    const struct sb_beside_phase *p = &f->phase[phase];
    double n = (double)p->latency.total;

    assert(phase < SB_BESIDE_PHASES && value < SB_BESIDE_VALUES);
    if (value == SB_BESIDE_RATE)
        return p->n ? (double)p->events / p->seconds : NAN;
    if (!(n > 0))
        return NAN;
    if (value == SB_BESIDE_AVG)
        return (double)p->lat_sum / n / 1e6;
    return sb_hist_snap_percentile(&p->latency, f->pct, p->lat_max) / 1e6;
}

unsigned sb_beside_base(const struct sb_beside_figures *f)
{
    return f->phase[SB_BESIDE_BEFORE].n ? SB_BESIDE_BEFORE : SB_BESIDE_AFTER;
}

static void mean(const struct sb_beside_figures *f, unsigned phase,
    unsigned value, struct sb_mean *m)
{
    const struct sb_beside_phase *p = &f->phase[phase];
    const struct sb_values v = { .value = p->value[value],
        .seconds = p->length,
        .n = p->n,
        .whole = sb_beside_figure(f, phase, value) };

    sb_mean(&v, m);
}

void sb_beside_compare(
    const struct sb_beside_figures *f, struct sb_compare c[SB_BESIDE_VALUES])
{
    // Both phases belong to one run: there is no difference between runs.
    static const struct sb_compare_opts o = { .confidence = 0.95 };

    for (unsigned k = 0; k < SB_BESIDE_VALUES; k++) {
        struct sb_mean a, b;

        mean(f, sb_beside_base(f), k, &a);
        mean(f, SB_BESIDE_DURING, k, &b);
        sb_compare(&a, 1, &b, 1, &o, &c[k]);
    }
}

// Summary ---------------------------------------------------------------------

static void summarize_phase(const struct sb_beside_figures *f, unsigned phase,
    struct sb_beside_column *c)
{
    const struct sb_beside_phase *p = &f->phase[phase];

    *c = (struct sb_beside_column){ .intervals = (double)p->n,
        .seconds = p->seconds,
        .events = (double)p->events,
        .errors = (double)p->errors,
        .max = p->latency.total ? (double)p->lat_max / 1e6 : NAN };
    for (unsigned k = 0; k < SB_BESIDE_VALUES; k++)
        c->value[k] = sb_beside_figure(f, phase, k);
}

void sb_beside_summarize(
    const struct sb_beside_figures *f, struct sb_beside_summary *s)
{
    struct sb_compare c[SB_BESIDE_VALUES];

    *s = (struct sb_beside_summary){ .name = f->name,
        .pct = f->pct,
        .tried_alone = f->tried_alone,
        .alone = f->alone,
        .command = f->command,
        .base = sb_beside_base(f) };
    for (unsigned i = 0; i < SB_BESIDE_PHASES; i++)
        summarize_phase(f, i, &s->column[i]);
    sb_beside_compare(f, c);
    for (unsigned k = 0; k < SB_BESIDE_VALUES; k++)
        s->difference[k] = (struct sb_beside_difference){
            .value = c[k].difference, .low = c[k].low, .high = c[k].high
        };
}
