// SPDX-License-Identifier: GPL-2.0-or-later
//
// The distributions of a script in the figures of a sweep: their averages.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "cmd/sweep_private.h"
#include "out/json_parts.h"

#define WIDTH_MIN 10

// Returns the index of the metric, SB_SWEEP_METRICS_MAX if there is no room.
static unsigned metric_of(
    struct sb_sweep_figures *f, const struct sb_metric *def)
{
    struct sb_sweep_metric m;
    unsigned i = 0;

    // The texts are printed, and a file may contain anything.
    sb_escape_line(m.name, sizeof(m.name), def->name);
    sb_escape_line(m.unit, sizeof(m.unit), def->unit);
    while (i < f->nmetrics && strcmp(f->metric[i].name, m.name) != 0)
        i++;
    if (i == f->nmetrics && i < SB_SWEEP_METRICS_MAX)
        f->metric[f->nmetrics++] = m;
    return i;
}

void sb__sweep_add_metrics(struct sb_sweep_figures *f, struct sb_sweep_point *p,
    const struct sb_result_run *run)
{
    for (unsigned i = 0; i < run->snap.nmetrics; i++) {
        const struct sb_snap_metric *m = &run->snap.metric[i];
        unsigned at;

        if (m->kind != SB_METRIC_DISTRIBUTION)
            continue;
        at = metric_of(f, &run->stats.metrics.metric[i]);
        if (at == SB_SWEEP_METRICS_MAX)
            continue;
        p->metric_sum[at] += m->value;
        p->metric_count[at] += (double)m->count;
    }
}

static double average(const struct sb_sweep_point *p, unsigned metric)
{
    return p->metric_count[metric] > 0
               ? p->metric_sum[metric] / p->metric_count[metric]
               : NAN;
}

static int column(const struct sb_sweep_metric *m, char *out, size_t size)
{
    int n = snprintf(
        out, size, "%s%s%s", m->name, *m->unit ? " " : "", m->unit);

    return n > WIDTH_MIN ? n : WIDTH_MIN;
}

void sb__sweep_print_metric_names(const struct sb_sweep_figures *f, FILE *out)
{
    char text[SB_SWEEP_METRIC_TEXT];

    for (unsigned i = 0; i < f->nmetrics; i++) {
        int width = column(&f->metric[i], text, sizeof(text));

        fprintf(out, " %*s", width, text);
    }
}

void sb__sweep_print_metrics(
    const struct sb_sweep_figures *f, const struct sb_sweep_point *p, FILE *out)
{
    char text[SB_SWEEP_METRIC_TEXT], value[32];

    for (unsigned i = 0; i < f->nmetrics; i++)
        fprintf(out, " %*s", column(&f->metric[i], text, sizeof(text)),
            sb__sweep_number(value, sizeof(value), average(p, i)));
}

json_t *sb__sweep_metrics_json(
    const struct sb_sweep_figures *f, const struct sb_sweep_point *p)
{
    json_t *o = json_object();

    for (unsigned i = 0; o && i < f->nmetrics; i++)
        if (json_object_set_new(
                o, f->metric[i].name, sb_json_number(average(p, i)))) {
            json_decref(o);
            o = NULL;
        }
    return o;
}
