// SPDX-License-Identifier: GPL-2.0-or-later
//
// The figures of a sweep as a table, and as JSON.
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/cmd_private.h"
#include "results/sweep_private.h"
#include "out/json_parts.h"

#define KNEE_PERCENT 95

static const char no_margins[] =
    " (no error margins: measure longer or use --repeat)";

// Text ------------------------------------------------------------------------

static int column_width(const struct sb_sweep_figures *f, unsigned option)
{
    size_t width = strlen(f->name[option]);

    for (unsigned i = 0; i < f->npoints; i++) {
        size_t n = strlen(f->point[i].swept[option].value);

        width = n > width ? n : width;
    }
    return (int)width;
}

// Half the width of the interval, in percent of the value. The interval of a
// percentile may be asymmetric: the wider half counts.
static const char *margin(char *out, size_t size, const struct sb_estimate *e)
{
    double half = fmax(e->high - e->value, e->value - e->low);

    if (isfinite(half) && e->value > 0)
        snprintf(out, size, "%.1f%%", 100 * half / e->value);
    else
        snprintf(out, size, "-");
    return out;
}

static void print_point(
    const struct sb_sweep_figures *f, const struct sb_sweep_point *p, FILE *out)
{
    const struct sb_estimate *rate = &p->figure[SB_SWEEP_RATE];
    const struct sb_estimate *found = &p->figure[SB_SWEEP_FOUND];
    char a[32], b[32], c[32], d[32], e[32], runs[32];

    for (unsigned i = 0; i < f->noptions; i++)
        fprintf(out, "%*s  ", column_width(f, i), p->swept[i].value);
    snprintf(runs, sizeof(runs), "%u", p->runs);
    fprintf(out, "%4s %12s %7s", runs,
        sb__sweep_value(a, sizeof(a), rate->value), margin(b, sizeof(b), rate));
    if (f->searched)
        fprintf(out, " %12s %7s", sb__sweep_value(a, sizeof(a), found->value),
            margin(b, sizeof(b), found));
    fprintf(out, " %10s %10s %7s %10s %8.0f",
        sb__sweep_value(b, sizeof(b), p->figure[SB_SWEEP_P50].value),
        sb__sweep_value(c, sizeof(c), p->figure[SB_SWEEP_P95].value),
        margin(d, sizeof(d), &p->figure[SB_SWEEP_P95]),
        sb__sweep_value(e, sizeof(e), p->figure[SB_SWEEP_P99].value),
        p->errors);
    sb__sweep_print_metrics(f, p, out);
    if (p->failed)
        fprintf(out, "  %u failed", p->failed);
    if (p->unfound)
        fprintf(out, "  %u found no rate", p->unfound);
    if (p->missed)
        fprintf(out, "  %u did not keep a limit", p->missed);
    fprintf(out, "\n");
}

static const char *value_at(
    const struct sb_sweep_figures *f, const struct sb_sweep_group *g, size_t i)
{
    const struct sb_sweep_point *p = &f->point[g->point[i]];

    assert(i < g->npoints);
    return f->axis >= 0 ? p->swept[f->axis].value : "";
}

// The values of the other options of a group: " (rate=100)".
static void print_group_name(
    const struct sb_sweep_figures *f, const struct sb_sweep_group *g, FILE *out)
{
    const struct sb_sweep_point *p = &f->point[g->point[0]];
    const char *before = " (";

    for (int i = 0; i < (int)f->noptions; i++) {
        if (i == f->axis || f->ngroups == 1)
            continue;
        fprintf(out, "%s%s=%s", before, f->name[i], p->swept[i].value);
        before = ", ";
    }
    fprintf(out, "%s", before[0] == ',' ? ")" : "");
}

static void print_peak(
    const struct sb_sweep_figures *f, const struct sb_sweep_group *g, FILE *out)
{
    const struct sb_knee *k = &g->knee;
    const struct sb_sweep_point *p = &f->point[g->point[k->peak]];
    bool found = f->peak == SB_SWEEP_PEAK_FOUND;
    char value[32], text[400];

    sb_sweep_text(p->swept, f->noptions, text, sizeof(text));
    sb__sweep_value(value, sizeof(value),
        p->figure[found ? SB_SWEEP_FOUND : SB_SWEEP_RATE].value);
    fprintf(out, "%s: %s events/s at %s",
        found ? "Highest rate that keeps the limit" : "Peak", value, text);
    if (k->estimated) {
        fprintf(out, "%s\n", no_margins);
        return;
    }
    if (f->axis >= 0 && k->first_like_peak < k->last_like_peak)
        fprintf(out, "; no difference seen from %s to %s",
            value_at(f, g, k->first_like_peak),
            value_at(f, g, k->last_like_peak));
    if (f->axis >= 0 && k->still_rising)
        fprintf(out, "; still rising at the highest value");
    fprintf(out, "\n");
}

static void print_knee(
    const struct sb_sweep_figures *f, const struct sb_sweep_group *g, FILE *out)
{
    const struct sb_knee *k = &g->knee;

    if (f->axis < 0 || g->npoints == 1)
        return;
    fprintf(out, "Knee");
    print_group_name(f, g, out);
    fprintf(out, ": %s=%s, the lowest with %d %% of the %s", f->name[f->axis],
        value_at(f, g, k->knee), KNEE_PERCENT,
        f->peak == SB_SWEEP_PEAK_FOUND ? "highest rate" : "peak");
    if (k->estimated)
        fprintf(out, "%s", no_margins);
    else if (k->knee_low != k->knee_high)
        fprintf(out, " (within the error margins from %s to %s)",
            value_at(f, g, k->knee_low), value_at(f, g, k->knee_high));
    fprintf(out, "\n");
}

// What is said of an open loop, whose throughput has no peak of its own.
static void print_reached(
    const struct sb_sweep_figures *f, const struct sb_sweep_group *g, FILE *out)
{
    unsigned n = g->reached;

    fprintf(out, "Rates reached");
    print_group_name(f, g, out);
    if (n == 0)
        fprintf(out, ": none");
    else if (n == g->npoints)
        fprintf(out, ": all, up to rate=%s", value_at(f, g, n - 1));
    else
        fprintf(out, ": up to rate=%s, not rate=%s", value_at(f, g, n - 1),
            value_at(f, g, n));
    fprintf(out, " (at least %.0f %% of the arrivals completed)\n",
        100 * SB_SWEEP_REACHED);
}

static void print_found(const struct sb_sweep_figures *f, FILE *out)
{
    if (f->peak == SB_SWEEP_PEAK_NONE && !sb_sweep_has_reached(f))
        fprintf(out, "No peak: the rate is given.\n");
    for (unsigned i = 0; i < f->ngroups; i++) {
        const struct sb_sweep_group *g = &f->group[i];

        if (sb_sweep_has_reached(f))
            print_reached(f, g, out);
        if (!g->found)
            continue;
        if (f->noptions)
            print_peak(f, g, out);
        print_knee(f, g, out);
    }
}

void sb_sweep_figures_print(const struct sb_sweep_figures *f, FILE *out)
{
    for (unsigned i = 0; i < f->noptions; i++)
        fprintf(out, "%*s  ", column_width(f, i), f->name[i]);
    fprintf(out, "%4s %12s %7s", "runs", "events/s", "+/-");
    if (f->searched)
        fprintf(out, " %12s %7s", "highest/s", "+/-");
    fprintf(out, " %10s %10s %7s %10s %8s", "p50 ms", "p95 ms", "+/-", "p99 ms",
        "errors");
    sb__sweep_print_metric_names(f, out);
    fprintf(out, "\n");
    for (unsigned i = 0; i < f->npoints; i++)
        print_point(f, &f->point[i], out);
    fprintf(out, "\n");
    print_found(f, out);
    sb__sweep_print_workers(f, out);
}

// JSON ------------------------------------------------------------------------

static json_t *options_json(
    const struct sb_sweep_figures *f, const struct sb_sweep_point *p, int skip)
{
    json_t *o = json_object();

    for (int i = 0; i < (int)f->noptions; i++)
        if (i != skip && json_object_set_new(o, p->swept[i].name,
                             sb_json_text(p->swept[i].value))) {
            json_decref(o);
            return NULL;
        }
    return o;
}

static json_t *point_json(
    const struct sb_sweep_figures *f, const struct sb_sweep_point *p)
{
    json_t *o = json_pack("{s:o,s:i,s:i,s:o,s:o,s:o,s:o}", "options",
        options_json(f, p, -1), "runs", (int)p->runs, "failed", (int)p->failed,
        "throughput", sb_estimate_json(&p->figure[SB_SWEEP_RATE], false), "p50",
        sb_estimate_json(&p->figure[SB_SWEEP_P50], false), "p95",
        sb_estimate_json(&p->figure[SB_SWEEP_P95], false), "p99",
        sb_estimate_json(&p->figure[SB_SWEEP_P99], false));
    const struct sb_estimate *found = &p->figure[SB_SWEEP_FOUND];

    if (o && f->nmetrics &&
        json_object_set_new(o, "metrics", sb__sweep_metrics_json(f, p))) {
        json_decref(o);
        return NULL;
    }
    if (o && p->searched &&
        json_object_set_new(o, "search",
            json_pack("{s:o,s:o,s:i}", "highest",
                sb_estimate_json(found, false), "safe",
                sb_json_number(p->figure[SB_SWEEP_SAFE].value), "found",
                (int)found->runs))) {
        json_decref(o);
        return NULL;
    }
    return o;
}

// The highest rate that was reached.
static json_t *reached_json(
    const struct sb_sweep_figures *f, const struct sb_sweep_group *g)
{
    return json_pack("{s:o,s:f,s:b}", "value",
        g->reached ? sb_json_text(value_at(f, g, g->reached - 1)) : json_null(),
        "share", SB_SWEEP_REACHED, "all", g->reached == g->npoints);
}

static json_t *group_json(
    const struct sb_sweep_figures *f, const struct sb_sweep_group *g)
{
    const struct sb_knee *k = &g->knee;
    json_t *o = json_pack(
        "{s:o}", "options", options_json(f, &f->point[g->point[0]], f->axis));

    if (o && sb_sweep_has_reached(f) &&
        json_object_set_new(o, "reached", reached_json(f, g))) {
        json_decref(o);
        return NULL;
    }
    if (!g->found || f->axis < 0)
        return o;
    json_t *peak = json_pack("{s:o,s:o,s:o,s:b,s:b}", "value",
        sb_json_text(value_at(f, g, k->peak)), "low",
        sb_json_text(value_at(f, g, k->first_like_peak)), "high",
        sb_json_text(value_at(f, g, k->last_like_peak)), "estimated",
        k->estimated, "still_rising", k->still_rising);
    json_t *knee = json_pack("{s:o,s:o,s:o,s:f}", "value",
        sb_json_text(value_at(f, g, k->knee)), "low",
        sb_json_text(value_at(f, g, k->knee_low)), "high",
        sb_json_text(value_at(f, g, k->knee_high)), "share",
        KNEE_PERCENT / 100.0);
    if (json_object_set_new(o, "peak", peak) ||
        json_object_set_new(o, "knee", knee)) {
        json_decref(o);
        return NULL;
    }
    return o;
}

static json_t *peak_of_json(const struct sb_sweep_figures *f)
{
    switch (f->peak) {
    case SB_SWEEP_PEAK_RATE:
        return json_string("throughput");
    case SB_SWEEP_PEAK_FOUND:
        return json_string("search");
    case SB_SWEEP_PEAK_NONE:
        break;
    }
    return json_null();
}

json_t *sb_sweep_figures_json(const struct sb_sweep_figures *f)
{
    json_t *points = json_array(), *groups = json_array();
    json_t *axis = f->axis >= 0 ? sb_json_text(f->name[f->axis]) : json_null();
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < f->npoints; i++)
        rc = json_array_append_new(points, point_json(f, &f->point[i]));
    for (unsigned i = 0; rc == 0 && i < f->ngroups; i++)
        rc = json_array_append_new(groups, group_json(f, &f->group[i]));
    json_t *o = json_pack("{s:o,s:o,s:f,s:o,s:o}", "axis", axis, "peak_of",
        peak_of_json(f), "confidence", 0.95, "points", points, "groups",
        groups);
    if (rc) {
        json_decref(o);
        return NULL;
    }
    return o;
}
