// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/history_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

// Deviations below these are those of rounding: buckets of latencies are up to
// 0.1 % wide.
#define RESOLUTION        0.0005
#define RESOLUTION_ERRORS 0.01 // percentage points

// More errors are worse work, whatever the speed is: as in compare.
#define ERRORS_POINTS 0.1
#define ERRORS_TIMES  1.2

static const struct {
    const char *name, *unit;
    bool less_is_better, relative;
} figures[SB_HISTORY_FIGURES] = {
    [SB_HISTORY_THROUGHPUT] = { "throughput", "/s", false, true },
    [SB_HISTORY_P95] = { "p95", "ms", true, true },
    [SB_HISTORY_P99] = { "p99", "ms", true, true },
    [SB_HISTORY_ERRORS] = { "errors", "%", true, false },
};

const char *sb_history_figure_name(enum sb_history_figure f)
{
    return figures[f].name;
}

const char *sb_history_figure_unit(enum sb_history_figure f)
{
    return figures[f].unit;
}

bool sb_history_less_is_better(enum sb_history_figure f)
{
    return figures[f].less_is_better;
}

const char *sb_history_verdict_name(enum sb_history_verdict v)
{
    static const char *const names[SB_HISTORY_VERDICTS] = {
        [SB_HISTORY_BETTER] = "better",
        [SB_HISTORY_SAME] = "as before",
        [SB_HISTORY_UNDECIDED] = "undecided",
        [SB_HISTORY_FEW] = "not enough history",
        [SB_HISTORY_WORSE] = "worse"
    };

    return names[v];
}

const char *sb_history_word(
    enum sb_history_figure f, const struct sb_difference *d)
{
    return (d->value > 0) == figures[f].less_is_better ? "worse" : "better";
}

const char *sb_history_point_name(const struct sb_history_point *p)
{
    return *p->run->label ? p->run->label : p->run->started;
}

// Relative figures are judged as logarithms, so that exchanging two levels
// inverts their ratio.
static double value_of(const struct sb_history_point *p, int figure)
{
    double v = p->figure[figure];

    if (!figures[figure].relative)
        return v;
    return v > 0 ? log(v) : NAN;
}

static struct sb_difference as_shares(struct sb_difference d)
{
    return (
        struct sb_difference){ expm1(d.value), expm1(d.low), expm1(d.high) };
}

static void convert(struct sb_changes *c)
{
    for (size_t i = 0; i < c->n; i++) {
        struct sb_change *one = &c->change[i];

        one->before = exp(one->before);
        one->after = exp(one->after);
        one->difference = as_shares(one->difference);
    }
    c->level = exp(c->level);
}

static enum sb_history_verdict verdict_of(
    enum sb_history_figure f, struct sb_difference d, double margin)
{
    double most = margin > 0 ? margin : SB_HISTORY_EXCLUDED;

    if (isnan(d.low))
        return SB_HISTORY_FEW;
    if (d.low > margin || d.high < -margin)
        return (d.low > margin) == figures[f].less_is_better
                   ? SB_HISTORY_WORSE
                   : SB_HISTORY_BETTER;
    return d.low > -most && d.high < most ? SB_HISTORY_SAME
                                          : SB_HISTORY_UNDECIDED;
}

static enum sb_history_verdict verdict_of_errors(
    struct sb_difference d, double level)
{
    if (isnan(d.low))
        return SB_HISTORY_FEW;
    return d.low > 0 && d.value >= ERRORS_POINTS &&
                   level + d.value >= ERRORS_TIMES * level
               ? SB_HISTORY_WORSE
               : SB_HISTORY_SAME;
}

static void judge_newest(struct sb_history_series_figure *g,
    enum sb_history_figure f, double newest, const struct sb_changes_opts *o,
    double margin)
{
    const struct sb_changes *all = &g->all, *past = &g->past;
    const struct sb_change *last = all->n ? &all->change[all->n - 1] : NULL;
    bool relative = figures[f].relative;

    g->verdict = SB_HISTORY_FEW;
    g->level = relative ? exp(past->level) : past->level;
    g->newest = (struct sb_difference){ NAN, NAN, NAN };
    if (past->results < SB_HISTORY_MIN)
        return;
    struct sb_difference d = sb_changes_next(past, newest, o);

    g->newest = relative ? as_shares(d) : d;
    g->verdict = relative ? verdict_of(f, g->newest, margin)
                          : verdict_of_errors(d, past->level);
    // A small change shows only in several results. The one with which it is
    // found is the one that is judged by it.
    if (!relative || g->verdict == SB_HISTORY_WORSE || !last ||
        last->at <= past->first + SB_CHANGES_SIDE_MIN)
        return;
    struct sb_difference change = as_shares(last->difference);
    enum sb_history_verdict verdict = verdict_of(f, change, margin);

    if (verdict == SB_HISTORY_WORSE || verdict == SB_HISTORY_BETTER) {
        g->verdict = verdict;
        g->newest = change;
        g->level = exp(last->before);
        g->shows = true;
    }
}

static int judge_figure(struct sb_history_series_figure *g,
    const struct sb_history_series *s, enum sb_history_figure f,
    const struct sb_history_limits *l)
{
    const struct sb_changes_opts o = { .confidence = l->confidence,
        .resolution = figures[f].relative ? RESOLUTION : RESOLUTION_ERRORS };
    double *value = calloc(s->n, sizeof(*value));

    if (!value)
        return SB_ENOMEM;
    g->known = true;
    for (size_t i = 0; i < s->n; i++) {
        value[i] = value_of(&s->point[i], f);
        g->known = g->known && isfinite(value[i]);
    }
    g->verdict = SB_HISTORY_FEW;
    int rc = 0;

    if (g->known) {
        rc = sb_changes_find(value, s->n, &o, &g->all);
        rc = rc ? rc : sb_changes_find(value, s->n - 1, &o, &g->past);
        if (rc == 0)
            judge_newest(g, f, value[s->n - 1], &o, l->margin);
        if (figures[f].relative) {
            convert(&g->all);
            convert(&g->past);
        }
    }
    free(value);
    return rc;
}

int sb_history_judge(struct sb_history_judged *j,
    const struct sb_history_series *s, const struct sb_history_limits *l)
{
    int rc = 0;

    *j = (struct sb_history_judged){ .series = s,
        .deciding = s->first->open_loop ? SB_HISTORY_P95
                                        : SB_HISTORY_THROUGHPUT };
    for (int f = 0; rc == 0 && f < SB_HISTORY_FIGURES; f++)
        rc = judge_figure(&j->figure[f], s, (enum sb_history_figure)f, l);
    j->reason = j->deciding;
    j->verdict = j->figure[j->deciding].verdict;
    if (j->figure[SB_HISTORY_ERRORS].verdict == SB_HISTORY_WORSE) {
        j->reason = SB_HISTORY_ERRORS;
        j->verdict = SB_HISTORY_WORSE;
    }
    return rc;
}

void sb_history_judged_done(struct sb_history_judged *j)
{
    for (int f = 0; f < SB_HISTORY_FIGURES; f++) {
        sb_changes_done(&j->figure[f].all);
        sb_changes_done(&j->figure[f].past);
    }
}
