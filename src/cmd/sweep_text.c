// SPDX-License-Identifier: GPL-2.0-or-later
//
// The figures of a sweep as a table, and as JSON.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cmd/json.h"
#include "cmd/sweep_figures.h"
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

// Writes a time, or "-" for no value.
static const char *time_text(char *out, size_t size, double ms)
{
    if (isfinite(ms))
        snprintf(out, size, "%.*f", sb_units_ms_decimals(ms, 2), ms);
    else
        snprintf(out, size, "-");
    return out;
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
    char rate[32] = "-", a[32], b[32], c[32], d[32], e[32], runs[32];

    if (isfinite(p->figure[SB_SWEEP_RATE].value))
        snprintf(rate, sizeof(rate), "%.2f", p->figure[SB_SWEEP_RATE].value);
    for (unsigned i = 0; i < f->noptions; i++)
        fprintf(out, "%*s  ", column_width(f, i), p->swept[i].value);
    snprintf(runs, sizeof(runs), "%u", p->runs);
    fprintf(out, "%4s %12s %7s %10s %10s %7s %10s %8.0f", runs, rate,
        margin(a, sizeof(a), &p->figure[SB_SWEEP_RATE]),
        time_text(b, sizeof(b), p->figure[SB_SWEEP_P50].value),
        time_text(c, sizeof(c), p->figure[SB_SWEEP_P95].value),
        margin(d, sizeof(d), &p->figure[SB_SWEEP_P95]),
        time_text(e, sizeof(e), p->figure[SB_SWEEP_P99].value), p->errors);
    if (p->failed)
        fprintf(out, "  %u failed", p->failed);
    if (p->missed)
        fprintf(out, "  %u did not keep a limit", p->missed);
    fprintf(out, "\n");
}

static const char *value_at(
    const struct sb_sweep_figures *f, const struct sb_sweep_group *g, size_t i)
{
    const struct sb_sweep_point *p = &f->point[g->point[i]];

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
    char text[400];

    sb_sweep_text(p->swept, f->noptions, text, sizeof(text));
    fprintf(
        out, "Peak: %.2f events/s at %s", p->figure[SB_SWEEP_RATE].value, text);
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
    fprintf(out, ": %s=%s, the lowest with %d %% of the peak", f->name[f->axis],
        value_at(f, g, k->knee), KNEE_PERCENT);
    if (k->estimated)
        fprintf(out, "%s", no_margins);
    else if (k->knee_low != k->knee_high)
        fprintf(out, " (within the error margins from %s to %s)",
            value_at(f, g, k->knee_low), value_at(f, g, k->knee_high));
    fprintf(out, "\n");
}

void sb_sweep_figures_print(const struct sb_sweep_figures *f, FILE *out)
{
    for (unsigned i = 0; i < f->noptions; i++)
        fprintf(out, "%*s  ", column_width(f, i), f->name[i]);
    fprintf(out, "%4s %12s %7s %10s %10s %7s %10s %8s\n", "runs", "events/s",
        "+/-", "p50 ms", "p95 ms", "+/-", "p99 ms", "errors");
    for (unsigned i = 0; i < f->npoints; i++)
        print_point(f, &f->point[i], out);
    fprintf(out, "\n");
    for (unsigned i = 0; i < f->ngroups; i++) {
        if (!f->group[i].found)
            continue;
        if (f->noptions)
            print_peak(f, &f->group[i], out);
        print_knee(f, &f->group[i], out);
    }
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
    return json_pack("{s:o,s:i,s:i,s:o,s:o,s:o,s:o}", "options",
        options_json(f, p, -1), "runs", (int)p->runs, "failed", (int)p->failed,
        "throughput", sb_estimate_json(&p->figure[SB_SWEEP_RATE], false), "p50",
        sb_estimate_json(&p->figure[SB_SWEEP_P50], false), "p95",
        sb_estimate_json(&p->figure[SB_SWEEP_P95], false), "p99",
        sb_estimate_json(&p->figure[SB_SWEEP_P99], false));
}

static json_t *group_json(
    const struct sb_sweep_figures *f, const struct sb_sweep_group *g)
{
    const struct sb_knee *k = &g->knee;
    json_t *o = json_pack(
        "{s:o}", "options", options_json(f, &f->point[g->point[0]], f->axis));

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

json_t *sb_sweep_figures_json(const struct sb_sweep_figures *f)
{
    json_t *points = json_array(), *groups = json_array();
    json_t *axis = f->axis >= 0 ? sb_json_text(f->name[f->axis]) : json_null();
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < f->npoints; i++)
        rc = json_array_append_new(points, point_json(f, &f->point[i]));
    for (unsigned i = 0; rc == 0 && i < f->ngroups; i++)
        rc = json_array_append_new(groups, group_json(f, &f->group[i]));
    json_t *o = json_pack("{s:o,s:f,s:o,s:o}", "axis", axis, "confidence", 0.95,
        "points", points, "groups", groups);
    if (rc) {
        json_decref(o);
        return NULL;
    }
    return o;
}
