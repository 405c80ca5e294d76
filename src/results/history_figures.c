// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/history_figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "out/result_file.h"

// Deviations below these are those of rounding: buckets of latencies are up to
// 0.1 % wide.
#define RESOLUTION        0.0005
#define RESOLUTION_ERRORS 0.01 // percentage points

// More errors are worse work, whatever the speed is: as in compare.
#define ERRORS_POINTS 0.1
#define ERRORS_TIMES  1.2

static const struct sb_history_series_figure figures[] = {
    [SB_HISTORY_THROUGHPUT] = { .name = "throughput",
        .unit = "/s",
        .relative = true },
    [SB_HISTORY_P95] = { .name = "p95",
        .unit = "ms",
        .less_is_better = true,
        .relative = true },
    [SB_HISTORY_P99] = { .name = "p99",
        .unit = "ms",
        .less_is_better = true,
        .relative = true },
    [SB_HISTORY_ERRORS] = { .name = "errors",
        .unit = "%",
        .less_is_better = true },
};

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
    const struct sb_history_series_figure *g, const struct sb_difference *d)
{
    return (d->value > 0) == g->less_is_better ? "worse" : "better";
}

const char *sb_history_change_text(char *out, size_t size,
    const struct sb_history_series_figure *g, double change)
{
    if (!isfinite(change))
        snprintf(out, size, "-");
    else if (g->relative)
        snprintf(out, size, "%+.2f %%", 100 * change);
    else
        snprintf(out, size, "%+.4g", change);
    return out;
}

const char *sb_history_run_name(const struct sb_history_run *r)
{
    return *r->label ? r->label : r->started;
}

const char *sb_history_point_name(const struct sb_history_point *p)
{
    return sb_history_run_name(p->run);
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
    const struct sb_history_series_figure *g, struct sb_difference d,
    double margin)
{
    double most = margin > 0 ? margin : SB_HISTORY_EXCLUDED;

    // The margin is a share. A level of 0 has none.
    if (!g->relative)
        margin = most = 0;
    if (isnan(d.low))
        return SB_HISTORY_FEW;
    if (d.low > margin || d.high < -margin)
        return (d.low > margin) == g->less_is_better ? SB_HISTORY_WORSE
                                                     : SB_HISTORY_BETTER;
    return !g->relative || (d.low > -most && d.high < most)
               ? SB_HISTORY_SAME
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

static void judge_newest(struct sb_history_series_figure *g, bool errors,
    double newest, const struct sb_changes_opts *o, double margin)
{
    const struct sb_changes *all = &g->all, *past = &g->past;
    const struct sb_change *last = all->n ? &all->change[all->n - 1] : NULL;

    g->level = g->relative ? exp(past->level) : past->level;
    if (past->results < SB_HISTORY_MIN)
        return;
    struct sb_difference d = sb_changes_next(past, newest, o);

    g->newest = g->relative ? as_shares(d) : d;
    g->verdict = errors ? verdict_of_errors(d, past->level)
                        : verdict_of(g, g->newest, margin);
    // A small change shows only in several results. The one with which it is
    // found is the one that is judged by it.
    if (errors || g->verdict == SB_HISTORY_WORSE || !last ||
        last->at <= past->first + SB_CHANGES_SIDE_MIN)
        return;
    struct sb_difference change = g->relative ? as_shares(last->difference)
                                              : last->difference;
    enum sb_history_verdict verdict = verdict_of(g, change, margin);

    if (verdict == SB_HISTORY_WORSE || verdict == SB_HISTORY_BETTER) {
        g->verdict = verdict;
        g->newest = change;
        g->level = g->relative ? exp(last->before) : last->before;
        g->shows = true;
    }
}

// The values of all points, if they are known. Relative figures are judged as
// logarithms, so that exchanging two levels inverts their ratio.
static void take_values(struct sb_history_series_figure *g,
    const struct sb_history_series *s, int figure, double *value)
{
    bool positive = true;

    g->known = true;
    for (size_t i = 0; i < s->n; i++) {
        value[i] = s->point[i].figure[figure];
        g->known = g->known && isfinite(value[i]);
        positive = positive && value[i] > 0;
    }
    if (figure == SB_HISTORY_HEADLINE)
        g->relative = positive;
    for (size_t i = 0; g->relative && i < s->n; i++)
        value[i] = log(value[i]);
    g->known = g->known && (positive || !g->relative);
}

// The deviation of rounding. Values of headlines may have any size.
static double resolution(const struct sb_history_series_figure *g, int figure,
    const double *value, size_t n)
{
    double largest = 1e-300;

    if (g->relative)
        return RESOLUTION;
    if (figure == SB_HISTORY_ERRORS)
        return RESOLUTION_ERRORS;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(value[i]));
    return RESOLUTION * largest;
}

static int judge_figure(struct sb_history_series_figure *g,
    const struct sb_history_series *s, int figure,
    const struct sb_history_limits *l)
{
    double *value = calloc(s->n, sizeof(*value));
    int rc = 0;

    if (!value)
        return SB_ENOMEM;
    g->verdict = SB_HISTORY_FEW;
    g->newest = (struct sb_difference){ NAN, NAN, NAN };
    take_values(g, s, figure, value);
    if (g->known) {
        const struct sb_changes_opts o = { l->confidence,
            resolution(g, figure, value, s->n) };

        rc = sb_changes_find(value, s->n, &o, &g->all);
        rc = rc ? rc : sb_changes_find(value, s->n - 1, &o, &g->past);
        if (rc == 0)
            judge_newest(
                g, figure == SB_HISTORY_ERRORS, value[s->n - 1], &o, l->margin);
        if (g->relative) {
            convert(&g->all);
            convert(&g->past);
        }
    }
    free(value);
    return rc;
}

static enum sb_history_figure deciding(const struct sb_history_judged *j)
{
    const struct sb_history_run *r = j->series->last;
    const char *name = sb_result_member(r->headline, "figure");

    if (json_is_true(json_object_get(r->headline, "chosen"))) {
        if (strcmp(name, "tps") == 0 || strcmp(name, "eps") == 0)
            return SB_HISTORY_THROUGHPUT;
        if (strcmp(name, "p95") == 0)
            return SB_HISTORY_P95;
        if (strcmp(name, "p99") == 0)
            return SB_HISTORY_P99;
        if (*sb_result_member(r->headline, "better"))
            return SB_HISTORY_HEADLINE;
    }
    return r->open_loop ? SB_HISTORY_P95 : SB_HISTORY_THROUGHPUT;
}

int sb_history_judge(struct sb_history_judged *j,
    const struct sb_history_series *s, const struct sb_history_limits *l)
{
    const json_t *headline = s->last->headline;
    int rc = 0;

    *j = (struct sb_history_judged){ .series = s };
    memcpy(j->figure, figures, sizeof(figures));
    j->figure[SB_HISTORY_HEADLINE] = (struct sb_history_series_figure){
        .name = sb_result_member(headline, "figure"),
        .unit = sb_result_member(headline, "unit"),
        .less_is_better = strcmp(sb_result_member(headline, "better"),
                              "lower") == 0
    };
    for (int f = 0; rc == 0 && f < SB_HISTORY_FIGURES; f++)
        rc = judge_figure(&j->figure[f], s, f, l);
    j->deciding = j->reason = deciding(j);
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
