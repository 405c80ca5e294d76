// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/sweep_figures.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "results/sides.h"
#include "results/sweep_private.h"
#include "kit/array.h"

// Degrees of freedom of an interval that is no estimate from few values.
#define KNOWN     1e6
#define NORMAL_95 1.96

static const struct sb_figure figures[SB_SWEEP_FOUND] = {
    { "run", "", "throughput", "/s", false },
    { "run", "", "p50", "ms", true },
    { "run", "", "p95", "ms", true },
    { "run", "", "p99", "ms", true },
};

void sb_sweep_figures_init(struct sb_sweep_figures *f)
{
    memset(f, 0, sizeof(*f));
}

void sb_sweep_figures_done(struct sb_sweep_figures *f)
{
    for (unsigned i = 0; i < f->npoints; i++) {
        for (unsigned k = 0; k < f->noptions; k++) {
            free((char *)f->point[i].swept[k].name);
            free((char *)f->point[i].swept[k].value);
        }
        for (int k = 0; k < SB_SWEEP_N; k++)
            free(f->point[i].run[k]);
    }
    for (unsigned i = 0; i < f->ngroups; i++) {
        free(f->group[i].point);
        free(f->group[i].to_peak);
    }
    free(f->point);
    free(f->group);
    memset(f, 0, sizeof(*f));
}

// Adding ----------------------------------------------------------------------

static bool same_values(
    const struct sb_sweep_point *p, const struct sb_fact *swept, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (strcmp(p->swept[i].value, swept[i].value) != 0)
            return false;
    return true;
}

// The texts are printed, and a file may contain anything.
static char *clean_copy(const char *text)
{
    char out[512];

    sb_escape_line(out, sizeof(out), text);
    return strdup(out);
}

static struct sb_sweep_point *new_point(
    struct sb_sweep_figures *f, const struct sb_fact *swept, unsigned n)
{
    struct sb_sweep_point *p = sb_array_least(
        f->point, &f->npoints, f->npoints + 1, sizeof(*p));
    bool ok = true;

    if (!p)
        return NULL;
    f->point = p;
    p += f->npoints - 1;
    for (unsigned i = 0; i < n; i++) {
        p->swept[i] = (struct sb_fact){ clean_copy(swept[i].name),
            clean_copy(swept[i].value) };
        ok = ok && p->swept[i].name && p->swept[i].value;
    }
    return ok ? p : NULL;
}

static struct sb_sweep_point *find_point(
    struct sb_sweep_figures *f, const struct sb_fact *swept, unsigned n)
{
    for (unsigned i = 0; i < f->npoints; i++)
        if (same_values(&f->point[i], swept, n))
            return &f->point[i];
    return new_point(f, swept, n);
}

static double count_errors(const struct sb_result_run *run)
{
    const json_t *list = json_object_get(run->json, "errors");
    double sum = 0;

    for (size_t i = 0; i < json_array_size(list); i++)
        sum += json_number_value(
            json_object_get(json_array_get(list, i), "count"));
    return sum;
}

// The rates of a search whose interval says something.
static void add_found(struct sb_sweep_point *p, const struct sb_result_run *run,
    struct sb_mean *found, struct sb_mean *safe)
{
    const struct sb_rate_search *s = run->report.search;

    *found = *safe = (struct sb_mean){ .value = NAN, .error = NAN };
    if (!s || !s->limit)
        return;
    p->searched++;
    if (!sb_search_found(s)) {
        p->unfound++;
        return;
    }
    p->found_low = s->result.low;
    p->found_high = s->result.high;
    *found = (struct sb_mean){ .value = s->result.rate,
        .error = (s->result.high - s->result.low) / (2 * NORMAL_95),
        .df = KNOWN,
        .effective = s->result.trials };
    safe->value = s->result.safe;
}

// The arrivals that were due. A run that ends after a number of events has no
// others, however long it takes: then as many as usually arrive in this time,
// less two standard deviations.
static double due(const struct sb_sweep_figures *f,
    const struct sb_sweep_point *p, const struct sb_result_run *run)
{
    const char *events = sb_result_option(run, "events");
    double n = (double)run->snap.scheduled - (double)run->snap.skipped;
    double rate, usual;

    if (!events || strcmp(events, "0") == 0 || run->report.nstages)
        return n;
    for (unsigned i = 0; i < f->noptions; i++) {
        if (strcmp(p->swept[i].name, "rate") != 0 ||
            sb_sweep_number(p->swept[i].value, &rate))
            continue;
        usual = rate * run->report.total_s;
        n = fmax(n, usual - 2 * sqrt(usual));
    }
    return n;
}

// --rate=80% measures the maximum first, so that the throughput says what the
// system can do.
static bool is_share(const struct sb_result_run *run)
{
    const struct sb_rate_search *s = run->report.search;

    return run->report.open_loop && s && !s->limit;
}

static int add_figures(struct sb_sweep_figures *f, struct sb_sweep_point *p,
    const struct sb_result_run *run)
{
    for (int k = 0; k < SB_SWEEP_N; k++) {
        struct sb_mean *m = realloc(p->run[k], (p->runs + 1) * sizeof(*m));

        if (!m)
            return SB_ENOMEM;
        p->run[k] = m;
        if (k < SB_SWEEP_FOUND &&
            sb_result_run_mean(run, &figures[k], &m[p->runs]))
            return SB_ENOMEM;
    }
    add_found(p, run, &p->run[SB_SWEEP_FOUND][p->runs],
        &p->run[SB_SWEEP_SAFE][p->runs]);
    p->runs++;
    p->shares += is_share(run);
    p->given += run->report.open_loop && !is_share(run);
    p->due += due(f, p, run);
    p->completed += (double)run->snap.c.completed;
    p->errors += count_errors(run);
    sb__sweep_add_workers(p, run);
    sb__sweep_add_metrics(f, p, run);
    return 0;
}

int sb_sweep_figures_add(struct sb_sweep_figures *f,
    const struct sb_fact *swept, unsigned n, const struct sb_result_run *run,
    int status)
{
    assert(n <= SB_SWEEP_OPTIONS_MAX);
    if (f->npoints == 0)
        f->noptions = n;
    if (n != f->noptions)
        return SB_EUSAGE;
    for (unsigned i = 0; f->npoints && i < n; i++)
        if (strcmp(f->point[0].swept[i].name, swept[i].name) != 0)
            return SB_EUSAGE;
    assert(!f->group); // the figures were not computed yet
    struct sb_sweep_point *p = find_point(f, swept, n);

    if (!p)
        return SB_ENOMEM;
    if (sb_sweep_failed(status) || !run || !run->has_totals) {
        p->failed++;
        return 0;
    }
    p->missed += status == SB_STATUS_LIMITS;
    return add_figures(f, p, run);
}

bool sb_sweep_failed(int status)
{
    return status != 0 && status != SB_STATUS_LIMITS;
}

int sb_sweep_figures_add_run(
    struct sb_sweep_figures *f, const struct sb_result_run *run)
{
    json_t *swept = json_object_get(run->json, "swept");
    struct sb_fact fact[SB_SWEEP_OPTIONS_MAX];
    const char *name;
    json_t *value;
    unsigned n = 0;

    if (!json_is_object(swept))
        return 0;
    json_object_foreach(swept, name, value)
    {
        if (n < SB_SWEEP_OPTIONS_MAX && json_is_string(value))
            fact[n++] = (struct sb_fact){ name, json_string_value(value) };
    }
    return sb_sweep_figures_add(f, fact, n, run,
        (int)json_integer_value(
            json_object_get(json_object_get(run->json, "end"), "status")));
}

// Computing -------------------------------------------------------------------

static bool only_numbers(const struct sb_sweep_figures *f, unsigned option)
{
    double number;

    for (unsigned i = 0; i < f->npoints; i++)
        if (sb_sweep_number(f->point[i].swept[option].value, &number))
            return false;
    return true;
}

// Whether the points are compared over shares of the maximum: only the rate
// tells them apart.
static bool over_shares(const struct sb_sweep_figures *f)
{
    bool rate = false;

    for (unsigned i = 0; i < f->noptions; i++) {
        if (only_numbers(f, i))
            return false;
        rate = rate || strcmp(f->name[i], "rate") == 0;
    }
    return rate;
}

static void find_peak_of(struct sb_sweep_figures *f)
{
    unsigned runs = 0, given = 0, searched = 0;
    bool set = over_shares(f);

    for (unsigned i = 0; i < f->npoints; i++) {
        runs += f->point[i].runs;
        given += f->point[i].given + (set ? f->point[i].shares : 0);
        searched += f->point[i].searched;
    }
    f->searched = searched > 0;
    f->peak = runs == 0          ? SB_SWEEP_PEAK_RATE
              : searched == runs ? SB_SWEEP_PEAK_FOUND
              : given == runs    ? SB_SWEEP_PEAK_NONE
                                 : SB_SWEEP_PEAK_RATE;
}

static void find_axis(struct sb_sweep_figures *f)
{
    const char *load = f->peak == SB_SWEEP_PEAK_NONE ? "rate" : "threads";

    f->axis = -1;
    for (unsigned i = f->noptions; i-- > 0;)
        if (only_numbers(f, i))
            f->axis = (int)i;
    for (unsigned i = 0; i < f->noptions; i++)
        if (strcmp(f->name[i], "threads") == 0 && only_numbers(f, i))
            f->axis = (int)i;
    for (unsigned i = 0; i < f->noptions; i++)
        if (strcmp(f->name[i], load) == 0 && only_numbers(f, i))
            f->axis = (int)i;
}

bool sb_sweep_has_reached(const struct sb_sweep_figures *f)
{
    return f->peak == SB_SWEEP_PEAK_NONE && f->axis >= 0 &&
           strcmp(f->name[f->axis], "rate") == 0;
}

static bool same_group(const struct sb_sweep_figures *f,
    const struct sb_sweep_point *a, const struct sb_sweep_point *b)
{
    for (int i = 0; f->axis >= 0 && i < (int)f->noptions; i++)
        if (i != f->axis && strcmp(a->swept[i].value, b->swept[i].value) != 0)
            return false;
    return true;
}

// Puts the point behind all points of the group with a lower load.
static void insert(
    const struct sb_sweep_figures *f, struct sb_sweep_group *g, unsigned point)
{
    unsigned i = g->npoints++;

    assert(i < f->npoints); // the room of a group
    for (; i > 0 && f->point[g->point[i - 1]].load > f->point[point].load; i--)
        g->point[i] = g->point[i - 1];
    g->point[i] = point;
}

static int add_to_group(struct sb_sweep_figures *f, unsigned point)
{
    struct sb_sweep_point *p = &f->point[point];
    unsigned i = 0;

    while (i < f->ngroups && !same_group(f, &f->point[f->group[i].point[0]], p))
        i++;
    if (i == f->ngroups) {
        struct sb_sweep_group *g = &f->group[f->ngroups++];

        assert(f->ngroups <= f->npoints);
        g->point = calloc(f->npoints, sizeof(*g->point));
        g->to_peak = calloc(f->npoints, sizeof(*g->to_peak));
        if (!g->point || !g->to_peak)
            return SB_ENOMEM;
    }
    p->group = i;
    insert(f, &f->group[i], point);
    return 0;
}

static void find_reached(
    const struct sb_sweep_figures *f, struct sb_sweep_group *g)
{
    for (g->reached = 0; g->reached < g->npoints; g->reached++) {
        const struct sb_sweep_point *p = &f->point[g->point[g->reached]];

        if (p->runs == 0 || p->completed < SB_SWEEP_REACHED * p->due)
            return;
    }
}

static int compute_group(
    const struct sb_sweep_figures *f, struct sb_sweep_group *g)
{
    int main_figure = f->peak == SB_SWEEP_PEAK_FOUND ? SB_SWEEP_FOUND
                                                     : SB_SWEEP_RATE;

    find_reached(f, g);
    if (f->peak == SB_SWEEP_PEAK_NONE)
        return 0;
    struct sb_load *load = calloc(g->npoints, sizeof(*load));
    int rc = load ? 0 : SB_ENOMEM;

    for (unsigned i = 0; rc == 0 && i < g->npoints; i++) {
        const struct sb_sweep_point *p = &f->point[g->point[i]];

        load[i] = (struct sb_load){ p->load, p->run[main_figure], p->runs };
    }
    if (rc == 0) {
        const struct sb_knee_opts o = {
            .run_deviation = SB_COMPARE_RUN_DEVIATION
        };

        rc = sb_knee(load, g->npoints, &o, g->to_peak, &g->knee);
        g->found = rc == 0;
    }
    free(load);
    return rc == SB_ENOTFOUND ? 0 : rc;
}

static void compute_point(struct sb_sweep_figures *f, struct sb_sweep_point *p)
{
    const struct sb_compare_opts o = {
        .run_deviation = SB_COMPARE_RUN_DEVIATION
    };

    for (int k = 0; k < SB_SWEEP_N; k++) {
        struct sb_compare c;

        sb_compare(p->run[k], p->runs, p->run[k], p->runs, &o, &c);
        p->figure[k] = c.a;
    }
    // Of a single search, the interval that its own report shows.
    if (p->figure[SB_SWEEP_FOUND].runs == 1) {
        p->figure[SB_SWEEP_FOUND].low = p->found_low;
        p->figure[SB_SWEEP_FOUND].high = p->found_high;
    }
    p->load = 0;
    if (f->axis >= 0)
        sb_sweep_number(p->swept[f->axis].value, &p->load);
}

int sb_sweep_figures_compute(struct sb_sweep_figures *f)
{
    int rc = 0;

    assert(!f->group);
    for (unsigned i = 0; f->npoints && i < f->noptions; i++)
        f->name[i] = f->point[0].swept[i].name;
    find_peak_of(f);
    find_axis(f);
    for (unsigned i = 0; i < f->npoints; i++)
        compute_point(f, &f->point[i]);
    f->group = calloc(f->npoints + 1, sizeof(*f->group));
    if (!f->group)
        return SB_ENOMEM;
    for (unsigned i = 0; rc == 0 && i < f->npoints; i++)
        rc = add_to_group(f, i);
    for (unsigned i = 0; rc == 0 && i < f->ngroups; i++)
        rc = compute_group(f, &f->group[i]);
    return rc;
}
