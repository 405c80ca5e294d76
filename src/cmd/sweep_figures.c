// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/sweep_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "cmd/sides.h"

static const struct sb_figure figures[SB_SWEEP_N] = {
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
    struct sb_sweep_point *p = realloc(f->point, (f->npoints + 1) * sizeof(*p));
    bool ok = true;

    if (!p)
        return NULL;
    f->point = p;
    p += f->npoints++;
    memset(p, 0, sizeof(*p));
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

static int add_figures(
    struct sb_sweep_point *p, const struct sb_result_run *run)
{
    for (int k = 0; k < SB_SWEEP_N; k++) {
        struct sb_mean *m = realloc(p->run[k], (p->runs + 1) * sizeof(*m));

        if (!m)
            return SB_ENOMEM;
        p->run[k] = m;
        if (sb_run_mean(run, &figures[k], &m[p->runs]))
            return SB_ENOMEM;
    }
    p->runs++;
    p->errors += count_errors(run);
    return 0;
}

int sb_sweep_figures_add(struct sb_sweep_figures *f,
    const struct sb_fact *swept, unsigned n, const struct sb_result_run *run,
    int status)
{
    if (f->npoints == 0)
        f->noptions = n;
    if (n != f->noptions)
        return SB_EUSAGE;
    for (unsigned i = 0; f->npoints && i < n; i++)
        if (strcmp(f->point[0].swept[i].name, swept[i].name) != 0)
            return SB_EUSAGE;
    struct sb_sweep_point *p = find_point(f, swept, n);

    if (!p)
        return SB_ENOMEM;
    if (sb_sweep_failed(status) || !run || !run->has_totals) {
        p->failed++;
        return 0;
    }
    p->missed += status == SB_STATUS_LIMITS;
    return add_figures(p, run);
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

static void find_axis(struct sb_sweep_figures *f)
{
    f->axis = -1;
    for (unsigned i = f->noptions; i-- > 0;)
        if (only_numbers(f, i))
            f->axis = (int)i;
    for (unsigned i = 0; i < f->noptions; i++)
        if (strcmp(f->name[i], "threads") == 0 && only_numbers(f, i))
            f->axis = (int)i;
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

        g->point = calloc(f->npoints, sizeof(*g->point));
        g->to_peak = calloc(f->npoints, sizeof(*g->to_peak));
        if (!g->point || !g->to_peak)
            return SB_ENOMEM;
    }
    p->group = i;
    insert(f, &f->group[i], point);
    return 0;
}

static int compute_group(
    const struct sb_sweep_figures *f, struct sb_sweep_group *g)
{
    struct sb_load *load = calloc(g->npoints, sizeof(*load));
    int rc = load ? 0 : SB_ENOMEM;

    for (unsigned i = 0; rc == 0 && i < g->npoints; i++) {
        const struct sb_sweep_point *p = &f->point[g->point[i]];

        load[i] = (struct sb_load){ p->load, p->run[SB_SWEEP_RATE], p->runs };
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
    p->load = 0;
    if (f->axis >= 0)
        sb_sweep_number(p->swept[f->axis].value, &p->load);
}

int sb_sweep_figures_compute(struct sb_sweep_figures *f)
{
    int rc = 0;

    for (unsigned i = 0; f->npoints && i < f->noptions; i++)
        f->name[i] = f->point[0].swept[i].name;
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
