// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a sweep says if users ran on workers in some of its points, and had
// threads of their own in others, as with --workers=auto.
#include <assert.h>
#include <string.h>

#include "results/sweep_private.h"

void sb__sweep_add_workers(
    struct sb_sweep_point *p, const struct sb_result_run *run)
{
    const json_t *workers = json_object_get(run->json, "workers");

    p->on_workers += json_is_integer(workers);
    p->on_threads += json_is_null(workers);
}

static const char *value_of(
    const struct sb_sweep_figures *f, unsigned point, int option)
{
    assert(point < f->npoints && option >= 0 && option < (int)f->noptions);
    return f->point[point].swept[option].value;
}

// Whether the value of the option says which points had workers.
static bool decides(const struct sb_sweep_figures *f, int option)
{
    for (unsigned i = 0; i < f->npoints; i++)
        for (unsigned k = 0; k < f->npoints; k++)
            if (f->point[i].on_workers && f->point[k].on_threads &&
                strcmp(value_of(f, i, option), value_of(f, k, option)) == 0)
                return false;
    return true;
}

// The option that decides, first the load; -1: none does.
static int deciding_option(const struct sb_sweep_figures *f)
{
    if (f->axis >= 0 && decides(f, f->axis))
        return f->axis;
    for (int i = 0; i < (int)f->noptions; i++)
        if (decides(f, i))
            return i;
    return -1;
}

// Whether the point is the first one with workers that has this value.
static bool is_listed(
    const struct sb_sweep_figures *f, unsigned point, int option)
{
    if (!f->point[point].on_workers)
        return false;
    for (unsigned i = 0; i < point; i++)
        if (f->point[i].on_workers &&
            strcmp(value_of(f, i, option), value_of(f, point, option)) == 0)
            return false;
    return true;
}

// "threads=16, 24 and 32"
static void print_values(
    const struct sb_sweep_figures *f, int option, FILE *out)
{
    unsigned n = 0, at = 0;

    for (unsigned i = 0; i < f->npoints; i++)
        n += is_listed(f, i, option);
    fprintf(out, "%s=", f->name[option]);
    for (unsigned i = 0; i < f->npoints; i++) {
        if (!is_listed(f, i, option))
            continue;
        fprintf(out, "%s%s",
            at == 0       ? ""
            : at == n - 1 ? " and "
                          : ", ",
            value_of(f, i, option));
        at++;
    }
}

void sb__sweep_print_workers(const struct sb_sweep_figures *f, FILE *out)
{
    unsigned workers = 0, threads = 0;
    int option;

    for (unsigned i = 0; i < f->npoints; i++) {
        workers += f->point[i].on_workers > 0;
        threads += f->point[i].on_threads > 0;
    }
    if (workers == 0 || threads == 0)
        return;
    option = deciding_option(f);
    fprintf(out, "Users shared workers with ");
    if (option >= 0)
        print_values(f, option, out);
    else
        fprintf(out, "%u of %u combinations", workers, f->npoints);
    fprintf(out, ": latencies there do not include client delay.\n");
}
