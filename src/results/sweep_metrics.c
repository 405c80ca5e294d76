// SPDX-License-Identifier: GPL-2.0-or-later
//
// The distributions of a script in the figures of a sweep: their averages.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "results/sweep_private.h"
#include "out/json_parts.h"

#define WIDTH_MIN   10
#define HEADING_MAX 200

// Returns the index of the metric, SB_SWEEP_METRICS_MAX if there is no room.
static unsigned metric_of(
    struct sb_sweep_figures *f, const struct sb_metric *def)
{
    unsigned i = 0;

    while (i < f->nmetrics && strcmp(f->metric[i].name, def->name) != 0)
        i++;
    if (i == f->nmetrics && i < SB_SWEEP_METRICS_MAX) {
        struct sb_sweep_metric *m = &f->metric[f->nmetrics++];

        snprintf(m->name, sizeof(m->name), "%s", def->name);
        snprintf(m->unit, sizeof(m->unit), "%s", def->unit);
    }
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

// Writes the heading of the column of a metric; returns the width of the
// column. The name is printed, and a file may contain anything.
static int column(const struct sb_sweep_metric *m, char *out, size_t size)
{
    char text[sizeof(m->name) + sizeof(m->unit) + 1];

    snprintf(
        text, sizeof(text), "%s%s%s", m->name, *m->unit ? " " : "", m->unit);
    int n = (int)sb_escape_line(out, size, text);

    return n > WIDTH_MIN ? n : WIDTH_MIN;
}

void sb__sweep_print_metric_names(const struct sb_sweep_figures *f, FILE *out)
{
    char text[HEADING_MAX];

    for (unsigned i = 0; i < f->nmetrics; i++) {
        int width = column(&f->metric[i], text, sizeof(text));

        fprintf(out, " %*s", width, text);
    }
}

void sb__sweep_print_metrics(
    const struct sb_sweep_figures *f, const struct sb_sweep_point *p, FILE *out)
{
    char text[HEADING_MAX], value[32];

    for (unsigned i = 0; i < f->nmetrics; i++)
        fprintf(out, " %*s", column(&f->metric[i], text, sizeof(text)),
            sb__sweep_value(value, sizeof(value), average(p, i)));
}

json_t *sb__sweep_metrics_json(
    const struct sb_sweep_figures *f, const struct sb_sweep_point *p)
{
    json_t *o = json_object();
    int rc = 0;

    for (unsigned i = 0; rc == 0 && i < f->nmetrics; i++) {
        // As in the list of metrics of a run.
        json_t *name = sb_json_text(f->metric[i].name);

        rc = json_object_set_new(
            o, json_string_value(name), sb_json_number(average(p, i)));
        json_decref(name);
    }
    if (rc) {
        json_decref(o);
        return NULL;
    }
    return o;
}
