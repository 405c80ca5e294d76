// SPDX-License-Identifier: GPL-2.0-or-later
//
// Tables of the metrics of a script: one for each kind that it uses.
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "out/text_private.h"

#define NUMBER 12 // width of a column

static const struct sb_metric *metric_of(const struct sb_text *t, unsigned i)
{
    assert(i < SB_METRICS_MAX);
    return &t->stats->metrics.metric[i];
}

// "name (unit)"
static void label(const struct sb_text *t, unsigned i, char *out, size_t size)
{
    const struct sb_metric *m = metric_of(t, i);
    char text[sizeof(m->name) + sizeof(m->unit) + 4];

    snprintf(
        text, sizeof(text), m->unit[0] ? "%s (%s)" : "%s", m->name, m->unit);
    sb_escape_line(out, size, text);
}

// Integers as they are, otherwise six significant digits.
static void write_number(const struct sb_text *t, double v)
{
    if (isnan(v))
        fprintf(t->out, " %*s", NUMBER, "unknown");
    else if (v == floor(v) && v < 1e15)
        fprintf(t->out, " %*.0f", NUMBER, v);
    else
        fprintf(t->out, " %*.6g", NUMBER, v);
}

static void heading(const struct sb_text *t, int width, enum sb_metric_kind k)
{
    static const char *const titles[] = { [SB_METRIC_COUNTER] = "Counter",
        [SB_METRIC_GAUGE] = "Gauge",
        [SB_METRIC_DISTRIBUTION] = "Distribution" };
    static const char *const first[] = { [SB_METRIC_COUNTER] = "sum",
        [SB_METRIC_GAUGE] = "value",
        [SB_METRIC_DISTRIBUTION] = "count" };
    char pct[24];

    assert(k < sizeof(titles) / sizeof(titles[0])); // see kind_of()
    fprintf(t->out, "%-*s %*s", width, titles[k], NUMBER, first[k]);
    if (k == SB_METRIC_COUNTER)
        fprintf(t->out, " %*s", NUMBER, "per sec.");
    if (k == SB_METRIC_DISTRIBUTION) {
        fprintf(t->out, " %*s %*s", NUMBER, "min", NUMBER, "avg");
        for (unsigned i = 0; i < t->npct; i++) {
            snprintf(pct, sizeof(pct), "%.12g%%", t->pct[i]);
            fprintf(t->out, " %*s", NUMBER, pct);
        }
        fprintf(t->out, " %*s", NUMBER, "max");
    }
    fprintf(t->out, "\n");
}

static void distribution(
    const struct sb_text *t, const struct sb_snap_metric *m)
{
    write_number(t, (double)m->count);
    if (m->count == 0) {
        for (unsigned i = 0; i < t->npct + 3; i++) // min, avg, max
            fprintf(t->out, " %*s", NUMBER, "-");
        return;
    }
    write_number(t, m->min);
    write_number(t, m->value / (double)m->count);
    for (unsigned i = 0; i < t->npct; i++)
        write_number(t, sb_snap_metric_percentile(m, t->pct[i]));
    write_number(t, m->max);
}

static void row(
    const struct sb_text *t, const struct sb_snap_metric *m, double seconds)
{
    if (m->kind == SB_METRIC_DISTRIBUTION) {
        distribution(t, m);
    } else {
        write_number(t, m->value);
        if (m->kind != SB_METRIC_GAUGE)
            fprintf(t->out, " %*.2f", NUMBER, m->value / seconds);
    }
    fprintf(t->out, "\n");
}

// The rest of the table of metrics is a counter.
static enum sb_metric_kind kind_of(const struct sb_snap_metric *m)
{
    return m->kind == SB_METRIC_REST ? SB_METRIC_COUNTER : m->kind;
}

static void table(const struct sb_text *t, const struct sb_report *r,
    enum sb_metric_kind kind, int width)
{
    const struct sb_snap *s = r->snap;
    double seconds = r->interval_s > 0 ? r->interval_s : 1;
    char name[512];
    bool any = false;

    for (unsigned i = 0; i < s->nmetrics; i++) {
        if (kind_of(&s->metric[i]) != kind)
            continue;
        if (!any)
            heading(t, width, kind);
        any = true;
        label(t, i, name, sizeof(name));
        fprintf(t->out, "%-*s", width, name);
        row(t, &s->metric[i], seconds);
    }
    if (any)
        fprintf(t->out, "\n");
}

void sb__text_metrics(const struct sb_text *t, const struct sb_report *r)
{
    int width = (int)strlen("Distribution");
    char name[512];

    if (!t->stats || r->snap->nmetrics == 0)
        return;
    for (unsigned i = 0; i < r->snap->nmetrics; i++) {
        label(t, i, name, sizeof(name));
        if ((int)strlen(name) > width)
            width = (int)strlen(name);
    }
    table(t, r, SB_METRIC_COUNTER, width);
    table(t, r, SB_METRIC_GAUGE, width);
    table(t, r, SB_METRIC_DISTRIBUTION, width);
}
